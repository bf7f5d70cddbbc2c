//! A rule applied to one person step by step, in the units of the policy document.

use rarely_live::{RecordField, RecordReader};
use rarely_policy::number::{read, short};
use rarely_policy::{Coefficient, PolicyDocument, WrittenRule};

/// The key of the constant in a linear rule.
const INTERCEPT: &str = "intercept";

/// The steps from a record to an option.
pub(crate) fn steps(document: &PolicyDocument, rule: &WrittenRule, record: &[RecordField]) -> Vec<String> {
    let person = PersonData::new(document, record);
    match rule {
        WrittenRule::Threshold(threshold) => {
            let unit = document.feature(&threshold.feature).and_then(|(_, feature)| feature.unit()).unwrap_or_default();
            match person.number(&threshold.feature) {
                Some(at) => vec![option_at(
                    &format!("{} is {}", threshold.feature, with(at, unit)),
                    at,
                    &threshold.cuts,
                    &threshold.options,
                    unit,
                )],
                None => Vec::new(),
            }
        }
        WrittenRule::Score(score) => {
            let (sum, terms) = person.sum(0.0, &score.coefficients);
            let words = format!("the score is {} = {}", terms, short(sum));
            vec![option_at(&words, sum, &score.cuts, &score.options, "")]
        }
        WrittenRule::Linear(linear) => {
            let lines = document.options().iter().map(|option| {
                let own = linear.scores.get(option);
                let constant = match own.and_then(|own| own.get(INTERCEPT)) {
                    Some(Coefficient::Slope(constant)) => *constant,
                    _ => 0.0,
                };
                let others = own.into_iter().flatten().filter(|(name, _)| *name != INTERCEPT);
                let (sum, terms) = person.sum(constant, others);
                format!("{option} scores {terms} = {}", short(sum))
            });
            lines.chain(["the option with the highest score is given; the first one in a tie".to_owned()]).collect()
        }
    }
}

/// The number that a threshold or score rule compares with its cuts; `None` for a linear rule.
pub(crate) fn score(document: &PolicyDocument, rule: &WrittenRule, record: &[RecordField]) -> Option<f64> {
    let person = PersonData::new(document, record);
    match rule {
        WrittenRule::Threshold(threshold) => person.number(&threshold.feature),
        WrittenRule::Score(score) => Some(person.sum(0.0, &score.coefficients).0),
        WrittenRule::Linear(_) => None,
    }
}

struct PersonData<'a> {
    document: &'a PolicyDocument,
    record: &'a [RecordField],
    /// Of what is derived, or missing.
    context: Option<Vec<f64>>,
}

impl<'a> PersonData<'a> {
    fn new(document: &'a PolicyDocument, record: &'a [RecordField]) -> Self {
        Self { document, record, context: RecordReader::new(document).context(record).ok() }
    }

    fn number(&self, column: &str) -> Option<f64> {
        let (at, _) = self.document.feature(column)?;
        match self.record.get(at) {
            Some(RecordField::Number(number)) => Some(*number),
            Some(RecordField::Text(text)) if read(text).is_some() => read(text),
            _ => self.document.raw_value(at, self.context.as_ref()?[self.document.offset(at)]),
        }
    }

    fn level(&self, column: &str) -> Option<String> {
        let (at, _) = self.document.feature(column)?;
        Some(match self.record.get(at) {
            Some(RecordField::Text(text)) if !text.trim().is_empty() => text.clone(),
            Some(RecordField::Number(number)) => short(*number),
            _ => self.document.level_at(at, self.context.as_ref()?)?.to_owned(),
        })
    }

    /// A weighted sum, and its terms: `2 × 61 (age) + 10 (smoker is yes)`.
    fn sum<'b>(
        &self,
        constant: f64,
        coefficients: impl IntoIterator<Item = (&'b String, &'b Coefficient)>,
    ) -> (f64, String) {
        let mut sum = constant;
        let mut terms = if constant == 0.0 { Vec::new() } else { vec![short(constant)] };
        for (column, coefficient) in coefficients {
            match coefficient {
                Coefficient::Slope(slope) => {
                    let number = self.number(column).unwrap_or(0.0);
                    sum += slope * number;
                    terms.push(format!("{} × {} ({column})", short(*slope), short(number)));
                }
                Coefficient::Levels(levels) => {
                    let Some(level) = self.level(column) else { continue };
                    let adds = levels.get(&level).copied().unwrap_or(0.0);
                    sum += adds;
                    terms.push(format!("{} ({column} is {level})", short(adds)));
                }
            }
        }
        let terms = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        (sum, terms)
    }
}

/// The option for a value between the cuts. A value equal to a cut gets the upper option.
fn option_at(words: &str, at: f64, cuts: &[f64], options: &[String], unit: &str) -> String {
    let below = cuts.iter().filter(|cut| at >= **cut).count();
    let option = options.get(below).map_or("", String::as_str);
    let lower = below.checked_sub(1).map(|index| cuts[index]);
    match (lower, cuts.get(below)) {
        (None, None) => format!("everyone gets {option}"),
        (None, Some(upper)) => format!("{words}, which is below {}: {option}", with(*upper, unit)),
        (Some(lower), None) => format!("{words}, which is at least {}: {option}", with(lower, unit)),
        (Some(lower), Some(upper)) => {
            format!("{words}, which is from {} to below {}: {option}", short(lower), with(*upper, unit))
        }
    }
}

fn with(value: f64, unit: &str) -> String {
    if unit.is_empty() { short(value) } else { format!("{} {unit}", short(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(rule: &str, record: &[RecordField]) -> Vec<String> {
        let text = format!(
            "policy = \"p\"\noptions = [\"watch\", \"treat\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n\
             [[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [40, 90]\n\
             [[features]]\ncolumn = \"smoker\"\nlevels = [\"no\", \"yes\"]\n[rule]\n{rule}\n"
        );
        let document = PolicyDocument::parse(&text, "p.toml").unwrap_or_else(|error| panic!("{error}"));
        steps(&document, document.rule(), record)
    }

    #[test]
    fn each_form_of_rule_has_its_steps() {
        let person = |age: f64, smoker: &str| [RecordField::Number(age), RecordField::Text(smoker.to_owned())];
        let threshold = "threshold = { feature = \"age\", cuts = [60], options = [\"watch\", \"treat\"] }";
        assert_eq!(steps_of(threshold, &person(59.9, "no")), ["age is 59.9 years, which is below 60 years: watch"]);
        assert_eq!(steps_of(threshold, &person(60.0, "no")), ["age is 60 years, which is at least 60 years: treat"]);
        let score = "score = { coefficients = { age = 1, smoker = { yes = 10 } }, cuts = [65], options = [\"watch\", \"treat\"] }";
        assert_eq!(
            steps_of(score, &person(58.0, "yes")),
            ["the score is 1 × 58 (age) + 10 (smoker is yes) = 68, which is at least 65: treat"]
        );
        let linear = "linear = { watch = { intercept = 1 }, treat = { age = 0.02 } }";
        let found = steps_of(linear, &person(60.0, "no"));
        assert_eq!(found[0], "watch scores 1 = 1");
        assert_eq!(found[1], "treat scores 0.02 × 60 (age) = 1.2");
    }
}

//! Rules in words, and the changes between two rules.

use indexmap::IndexMap;

use crate::document::PolicyDocument;
use crate::number::written;
use crate::rule::numbers::named_coefficients;
use crate::rule::{Coefficient, INTERCEPT, LinearRule, ScoreRule, ThresholdRule, WrittenRule};

impl WrittenRule {
    /// The rule in words, a line for each option, with a line for the score before them where there is one, and one for each derived
    /// feature that it uses after them.
    pub fn words(&self, document: &PolicyDocument) -> Vec<String> {
        match self {
            Self::Threshold(ThresholdRule { feature, cuts, options }) => {
                intervals(cuts, options, &unit(document, feature))
            }
            Self::Score(ScoreRule { coefficients, cuts, options }) => {
                let score = format!("score = {}", sum(None, coefficients));
                let intervals = intervals(cuts, options, "");
                if cuts.is_empty() {
                    return intervals;
                }
                std::iter::once(score).chain(intervals).chain(meanings(document, coefficients.keys())).collect()
            }
            Self::Linear(linear) => {
                let line = |option: &String| format!("{option} scores {}", linear.line(option));
                let mut words: Vec<String> = document.options().iter().map(line).collect();
                words.push("the highest score decides; ties go to the first named".to_owned());
                words.extend(meanings(document, linear.scores.values().flat_map(IndexMap::keys)));
                words
            }
        }
    }
}

impl LinearRule {
    fn line(&self, option: &str) -> String {
        let Some(coefficients) = self.scores.get(option) else { return "0".to_owned() };
        let intercept = coefficients.get(INTERCEPT).and_then(|intercept| intercept.numbers().next());
        let mut others = coefficients.clone();
        others.shift_remove(INTERCEPT);
        sum(intercept, &others)
    }
}

/// What each derived feature among some is: `age squared is (age − 40)²`.
fn meanings<'a>(document: &PolicyDocument, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let names: std::collections::HashSet<&String> = names.collect();
    let features = document.features().iter().enumerate().filter(|(_, feature)| names.contains(&feature.column));
    features.filter_map(|(at, feature)| Some(format!("{} is {}", feature.column, document.meaning(at)?))).collect()
}

/// The changes between two rules, in words; empty if there are none.
pub fn difference(old: (&PolicyDocument, &WrittenRule), new: (&PolicyDocument, &WrittenRule)) -> Vec<String> {
    if old.1 == new.1 {
        return Vec::new();
    }
    match (old.1, new.1) {
        (WrittenRule::Threshold(was), WrittenRule::Threshold(is))
            if was.feature == is.feature && was.options == is.options =>
        {
            let units = (unit(old.0, &was.feature), unit(new.0, &is.feature));
            moved_cuts(&is.options, (&was.cuts, &is.cuts), "", (&units.0, &units.1))
        }
        (WrittenRule::Score(was), WrittenRule::Score(is)) if was.options == is.options => {
            let mut words = moved_coefficients("", &was.coefficients, &is.coefficients);
            words.extend(moved_cuts(&is.options, (&was.cuts, &is.cuts), "score ", ("", "")));
            words
        }
        (WrittenRule::Linear(was), WrittenRule::Linear(is)) => {
            let nothing = IndexMap::new();
            let lines = new.0.options().iter().flat_map(|option| {
                let [was, is] = [was, is].map(|rule| rule.scores.get(option).unwrap_or(&nothing));
                moved_coefficients(&format!("{option}: "), was, is)
            });
            lines.collect()
        }
        (was, is) => {
            vec![format!("{} (was: {})", is.words(new.0).join("; "), was.words(old.0).join("; "))]
        }
    }
}

fn moved_cuts(options: &[String], (was, is): (&[f64], &[f64]), what: &str, units: (&str, &str)) -> Vec<String> {
    let moved = is.iter().zip(was).zip(&options[1..]).filter(|((is, was), _)| is != was || units.0 != units.1);
    let words = moved.map(|((is, was), option)| {
        let (is, was) = (written(*is), written(*was));
        let old_unit = if units.0 == units.1 { "" } else { units.0 };
        format!("{option} from {what}{is}{}, was {was}{old_unit}", units.1)
    });
    words.collect()
}

fn moved_coefficients(
    start: &str,
    was: &IndexMap<String, Coefficient>,
    is: &IndexMap<String, Coefficient>,
) -> Vec<String> {
    let [was, is] =
        [was, is].map(|numbers| named_coefficients("", numbers).into_iter().collect::<IndexMap<String, f64>>());
    let names = is.keys().chain(was.keys().filter(|name| !is.contains_key(*name)));
    let moved = names.filter_map(|name| {
        let [was, is] = [&was, &is].map(|numbers| numbers.get(name).copied().unwrap_or(0.0));
        (is != was).then(|| format!("{start}{name} counts {}, was {}", written(is), written(was)))
    });
    moved.collect()
}

fn unit(document: &PolicyDocument, feature: &str) -> String {
    let unit = document.feature(feature).and_then(|(_, feature)| feature.unit());
    unit.map(|unit| format!(" {unit}")).unwrap_or_default()
}

fn intervals(cuts: &[f64], options: &[String], unit: &str) -> Vec<String> {
    let number = |at: usize| written(cuts[at]);
    let last = cuts.len();
    let words = options.iter().enumerate().map(|(at, option)| match at {
        0 if last == 0 => format!("everyone gets {option}"),
        0 => format!("{option} below {}{unit}", number(0)),
        at if at == last => format!("{option} from {}{unit}", number(at - 1)),
        at => format!("{option} from {} to below {}{unit}", number(at - 1), number(at)),
    });
    words.collect()
}

/// A weighted sum: `0.3 + 0.002 × systolic − 15 if diabetic is yes`.
fn sum(constant: Option<f64>, coefficients: &IndexMap<String, Coefficient>) -> String {
    let mut terms: Vec<(f64, String)> = Vec::new();
    terms.extend(constant.filter(|&constant| constant != 0.0).map(|constant| (constant, written(constant.abs()))));
    for (name, coefficient) in coefficients {
        match coefficient {
            Coefficient::Slope(slope) if slope.abs() == 1.0 => terms.push((*slope, name.clone())),
            Coefficient::Slope(slope) => terms.push((*slope, format!("{} × {name}", written(slope.abs())))),
            Coefficient::Levels(levels) => terms.extend(
                levels
                    .iter()
                    .map(|(level, number)| (*number, format!("{} if {name} is {level}", written(number.abs())))),
            ),
        }
    }
    let mut text = String::new();
    for (number, term) in terms.into_iter().filter(|(number, _)| *number != 0.0) {
        text.push_str(match (text.is_empty(), number < 0.0) {
            (true, false) => "",
            (true, true) => "−",
            (false, false) => " + ",
            (false, true) => " − ",
        });
        text.push_str(&term);
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

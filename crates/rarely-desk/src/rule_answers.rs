//! The rule in force, as a form has it.

use rarely_policy::{
    Coefficient, Feature, FeatureKind, LinearRule, PolicyDocument, ScoreRule, ThresholdRule, WrittenRule, number::read,
};

use crate::fields::Fields;
use crate::problem::Problem;

/// Steps that a form has at most.
pub(crate) const MOST_STEPS: usize = 12;

/// The form of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleForm {
    Everyone,
    Threshold,
    Score,
    Linear,
}

impl RuleForm {
    pub(crate) const ALL: [Self; 4] = [Self::Everyone, Self::Threshold, Self::Score, Self::Linear];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Threshold => "threshold",
            Self::Score => "score",
            Self::Linear => "linear",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Everyone => "Everyone gets the same option",
            Self::Threshold => "A threshold on one feature decides",
            Self::Score => "A score, a weighted sum of features, decides",
            Self::Linear => "Every option has a score of its own, and the highest decides",
        }
    }
}

/// An option, and the value from which it applies; the first applies below all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RuleStep {
    pub(crate) cut: String,
    pub(crate) option: String,
}

/// The rule in force, as a form has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleAnswers {
    pub(crate) form: RuleForm,
    pub(crate) everyone: String,
    pub(crate) feature: String,
    pub(crate) threshold: Vec<RuleStep>,
    pub(crate) score: Vec<RuleStep>,
    /// By the name of their field.
    pub(crate) coefficients: Vec<(String, String)>,
}

impl RuleAnswers {
    /// The rule of a draft.
    pub(crate) fn everyone_gets(option: &str) -> Self {
        Self {
            form: RuleForm::Everyone,
            everyone: option.to_owned(),
            feature: String::new(),
            threshold: Vec::new(),
            score: Vec::new(),
            coefficients: Vec::new(),
        }
    }

    /// What the form of the rule says.
    pub(crate) fn of_form(fields: &Fields, document: &PolicyDocument) -> Self {
        let form = RuleForm::ALL.into_iter().find(|form| Some(form.name()) == fields.get("form"));
        let steps = |name: &str| -> Vec<RuleStep> {
            let steps = (0..document.options().len().min(MOST_STEPS)).map(|at| RuleStep {
                cut: fields.get(&format!("{name}.cut.{at}")).unwrap_or_default().trim().to_owned(),
                option: fields.get(&format!("{name}.option.{at}")).unwrap_or_default().to_owned(),
            });
            steps.collect()
        };
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let names = coefficient_names(document);
        Self {
            form: form.unwrap_or(RuleForm::Everyone),
            everyone: text("everyone"),
            feature: text("feature"),
            threshold: steps("threshold"),
            score: steps("score"),
            coefficients: names.map(|name| (name.clone(), text(&name).trim().to_owned())).collect(),
        }
    }

    /// The coefficient in a field, as it was typed.
    pub(crate) fn coefficient(&self, field: &str) -> &str {
        self.coefficients.iter().find(|(name, _)| name == field).map_or("", |(_, value)| value)
    }

    /// The rule, if the form is complete and it fits the document.
    pub(crate) fn rule(&self, document: &PolicyDocument) -> Result<WrittenRule, Problem> {
        let rule = match self.form {
            RuleForm::Everyone => everyone(document, &self.everyone),
            RuleForm::Threshold => {
                let (cuts, options) = ladder(&self.threshold)?;
                WrittenRule::Threshold(ThresholdRule { feature: self.feature.clone(), cuts, options })
            }
            RuleForm::Score => {
                let (cuts, options) = ladder(&self.score)?;
                let coefficients = self.weights(document, "")?.into_iter().collect();
                WrittenRule::Score(ScoreRule { coefficients, cuts, options })
            }
            RuleForm::Linear => WrittenRule::Linear(LinearRule { scores: self.scores(document)? }),
        };
        document.check_rule(&rule).map_err(|error| Problem::of(&error))?;
        Ok(rule)
    }

    /// The score of every option.
    fn scores<S: FromIterator<(String, I)>, I: FromIterator<(String, Coefficient)>>(
        &self,
        document: &PolicyDocument,
    ) -> Result<S, Problem> {
        let scores = document.options().iter().enumerate().map(|(at, option)| {
            let constant = self.typed(&constant_field(at), &format!("the constant of {option}"))?;
            let constant = constant.map(|value| (INTERCEPT.to_owned(), Coefficient::Slope(value)));
            let weights = self.weights(document, &of_option(at))?;
            Ok((option.clone(), constant.into_iter().chain(weights).collect()))
        });
        scores.collect()
    }

    /// The coefficients of the fields whose names begin like this.
    fn weights(&self, document: &PolicyDocument, prefix: &str) -> Result<Vec<(String, Coefficient)>, Problem> {
        let mut found = Vec::new();
        for (at, feature) in document.features().iter().enumerate() {
            found.extend(self.weight_of(at, feature, prefix)?.map(|weight| (feature.column.clone(), weight)));
        }
        Ok(found)
    }

    fn weight_of(&self, at: usize, feature: &Feature, prefix: &str) -> Result<Option<Coefficient>, Problem> {
        let mut levels = Vec::new();
        for (field, level) in coefficient_fields(at, feature) {
            let what = level.as_deref().unwrap_or(&feature.column);
            let value = self.typed(&format!("{prefix}{field}"), &format!("the weight of {what}"))?;
            match level {
                None => return Ok(value.map(Coefficient::Slope)),
                Some(level) => levels.extend(value.map(|value| (level, value))),
            }
        }
        Ok((!levels.is_empty()).then(|| Coefficient::Levels(levels.into_iter().collect())))
    }

    /// The number in a field; `None` if it is empty.
    fn typed(&self, field: &str, what: &str) -> Result<Option<f64>, Problem> {
        match self.coefficient(field) {
            "" => Ok(None),
            text => number(text, what).map(Some),
        }
    }
}

/// The name of an option's constant in a rule.
const INTERCEPT: &str = "intercept";

/// How the names of the fields of an option's score begin.
pub(crate) fn of_option(at: usize) -> String {
    format!("option.{at}.")
}

/// The field of an option's constant.
pub(crate) fn constant_field(at: usize) -> String {
    format!("{}constant", of_option(at))
}

/// The fields of all coefficients: those of a score, then those of each option's.
fn coefficient_names(document: &PolicyDocument) -> impl Iterator<Item = String> {
    let weights = |prefix: String| {
        let features = document.features().iter().enumerate();
        features.flat_map(move |(at, feature)| {
            let prefix = prefix.clone();
            coefficient_fields(at, feature).into_iter().map(move |(name, _)| format!("{prefix}{name}"))
        })
    };
    let options = (0..document.options().len()).map(move |at| (constant_field(at), weights(of_option(at))));
    weights(String::new()).chain(options.flat_map(|(constant, weights)| std::iter::once(constant).chain(weights)))
}

/// The fields of a feature's coefficients: one for a number, one for each level but the first.
pub(crate) fn coefficient_fields(at: usize, feature: &Feature) -> Vec<(String, Option<String>)> {
    match &feature.kind {
        FeatureKind::Numeric { .. } => vec![(format!("weight.{at}"), None)],
        FeatureKind::Levels(levels) => {
            let others = levels.iter().enumerate().skip(1);
            others.map(|(level, name)| (format!("weight.{at}.{level}"), Some(name.clone()))).collect()
        }
    }
}

/// Everyone gets one option: a threshold without a cut, or a score where no feature is a number.
fn everyone(document: &PolicyDocument, option: &str) -> WrittenRule {
    let (cuts, options) = (Vec::new(), vec![option.to_owned()]);
    match document.feature_columns().iter().find(|feature| feature.range().is_some()) {
        Some(feature) => WrittenRule::Threshold(ThresholdRule { feature: feature.column.clone(), cuts, options }),
        None => WrittenRule::Score(ScoreRule { coefficients: [].into_iter().collect(), cuts, options }),
    }
}

/// The cuts and the options of the steps that are filled in.
fn ladder(steps: &[RuleStep]) -> Result<(Vec<f64>, Vec<String>), Problem> {
    let (mut cuts, mut options) = (Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        if at > 0 {
            if step.cut.is_empty() {
                continue;
            }
            cuts.push(number(&step.cut, "a cut")?);
        }
        options.push(step.option.clone());
    }
    Ok((cuts, options))
}

/// A number that was typed.
pub(crate) fn number(text: &str, what: &str) -> Result<f64, Problem> {
    read(text).ok_or_else(|| {
        Problem::new(
            format!("{what} is “{text}”"),
            "write a number with a decimal point, such as 2.5, and no separator of thousands",
        )
    })
}

//! The rule in force, as a form has it.

use rarely_policy::{
    Coefficient, Feature, FeatureKind, PolicyDocument, ScoreRule, ThresholdRule, WrittenRule, number::read,
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
}

impl RuleForm {
    pub(crate) const ALL: [Self; 3] = [Self::Everyone, Self::Threshold, Self::Score];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Threshold => "threshold",
            Self::Score => "score",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Everyone => "Everyone gets the same option",
            Self::Threshold => "A threshold on one feature decides",
            Self::Score => "A score, a weighted sum of features, decides",
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
        let names = document.features().iter().enumerate().flat_map(|(at, feature)| coefficient_fields(at, feature));
        Self {
            form: form.unwrap_or(RuleForm::Everyone),
            everyone: text("everyone"),
            feature: text("feature"),
            threshold: steps("threshold"),
            score: steps("score"),
            coefficients: names.map(|(name, _)| (name.clone(), text(&name).trim().to_owned())).collect(),
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
                let mut coefficients = Vec::new();
                for (at, feature) in document.features().iter().enumerate() {
                    coefficients.extend(self.coefficient_of(at, feature)?.map(|found| (feature.column.clone(), found)));
                }
                let coefficients = coefficients.into_iter().collect();
                WrittenRule::Score(ScoreRule { coefficients, cuts, options })
            }
        };
        document.check_rule(&rule).map_err(|error| Problem::of(&error))?;
        Ok(rule)
    }

    fn coefficient_of(&self, at: usize, feature: &Feature) -> Result<Option<Coefficient>, Problem> {
        let number = |field: &str, what: &str| match self.coefficient(field) {
            "" => Ok(None),
            text => number(text, &format!("the weight of {what}")).map(Some),
        };
        let mut levels = Vec::new();
        for (field, level) in coefficient_fields(at, feature) {
            match level {
                None => return Ok(number(&field, &feature.column)?.map(Coefficient::Slope)),
                Some(level) => levels.extend(number(&field, &level)?.map(|value| (level, value))),
            }
        }
        Ok((!levels.is_empty()).then(|| Coefficient::Levels(levels.into_iter().collect())))
    }
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

//! Checks that a rule fits its document.

use std::collections::HashSet;

use indexmap::IndexMap;
use rarely_core::MAX_PARAMETER;
use rarely_error::scientific;

use crate::document::PolicyDocument;
use crate::document::locate::{Path, PathStep, keys};
use crate::feature::{Feature, FeatureKind};
use crate::names::{count, did_you_mean, list, shown};
use crate::number::plainly;
use crate::rule::{Coefficient, INTERCEPT, LinearRule, ScoreRule, ThresholdRule, WrittenRule};

/// A mistake before its place in the text is known: the path to it, the problem, and what to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DocumentFault {
    pub(crate) path: Path,
    pub(crate) problem: String,
    pub(crate) remedy: String,
}

impl DocumentFault {
    pub(crate) fn new(path: Path, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path, problem: problem.into(), remedy: remedy.into() }
    }
}

impl WrittenRule {
    pub(crate) fn check(&self, document: &PolicyDocument) -> Result<(), DocumentFault> {
        match self {
            Self::Threshold(threshold) => threshold.check(document)?,
            Self::Score(score) => score.check(document)?,
            Self::Linear(linear) => linear.check(document)?,
        }
        let parameters = self.parameters(document);
        match parameters.values().iter().find(|value| !(value.abs() <= MAX_PARAMETER)) {
            Some(value) => {
                let (value, limit) = (scientific(*value, 6), scientific(MAX_PARAMETER, 6));
                let problem = format!("the rule has a parameter of {value}, beyond the limit of {limit}");
                Err(DocumentFault::new(
                    keys(&["rule"]),
                    problem,
                    "write smaller numbers, or scale all of them by one factor",
                ))
            }
            None => Ok(()),
        }
    }
}

impl ThresholdRule {
    fn check(&self, document: &PolicyDocument) -> Result<(), DocumentFault> {
        let path = |key: &str| keys(&["rule", "threshold", key]);
        let Some((_, feature)) = document.feature(&self.feature) else {
            return Err(unknown_feature(document, &self.feature, path("feature")));
        };
        if let (false, Some(&parent)) =
            (feature.source.is_column(), feature.source.parents().collect::<Vec<_>>().first())
        {
            let problem =
                format!("{} is derived from {}", shown(&self.feature), shown(&document.features()[parent].column));
            let remedy = "write the threshold on a column, or use the score form";
            return Err(DocumentFault::new(path("feature"), problem, remedy));
        }
        let Some((low, high)) = feature.range() else {
            let problem = format!("{} has levels, so it cannot have a threshold", shown(&self.feature));
            return Err(DocumentFault::new(path("feature"), problem, "use a numeric feature, or the score form"));
        };
        check_cuts(document, "threshold", &self.cuts, &self.options)?;
        match self.cuts.iter().position(|cut| !(low <= *cut && *cut <= high)) {
            Some(at) => {
                let (cut, low, high) = (plainly(self.cuts[at]), plainly(low), plainly(high));
                let problem = format!("the cut {cut} is outside the range {low}–{high} of {}", self.feature);
                let place = [path("cuts"), vec![PathStep::At(at)]].concat();
                Err(DocumentFault::new(place, problem, "move the cut, or widen the range of the feature"))
            }
            None => Ok(()),
        }
    }
}

impl ScoreRule {
    fn check(&self, document: &PolicyDocument) -> Result<(), DocumentFault> {
        let path = keys(&["rule", "score", "coefficients"]);
        check_coefficients(document, &self.coefficients, &path)?;
        check_cuts(document, "score", &self.cuts, &self.options)?;
        let all_zero = self.coefficients.values().flat_map(Coefficient::numbers).all(|number| number == 0.0);
        if all_zero && !self.cuts.is_empty() {
            let remedy = "give a feature a coefficient, or remove the cuts and name one option for everyone";
            return Err(DocumentFault::new(
                path,
                "every coefficient is 0, so the score is the same for everyone",
                remedy,
            ));
        }
        Ok(())
    }
}

impl LinearRule {
    fn check(&self, document: &PolicyDocument) -> Result<(), DocumentFault> {
        let path = keys(&["rule", "linear"]);
        let options = || document.options().iter().map(String::as_str);
        for (option, coefficients) in &self.scores {
            if !document.options().contains(option) {
                let place = [path.clone(), vec![PathStep::Key(option.clone())]].concat();
                return Err(unknown_option(document, option, place));
            }
            let place = [path.clone(), vec![PathStep::In(option.clone())]].concat();
            check_coefficients(document, coefficients, &place)?;
        }
        if let Some(missing) = options().find(|option| !self.scores.contains_key(*option)) {
            let problem = format!("the option {} has no score", shown(missing));
            return Err(DocumentFault::new(path, problem, format!("give every option a score: {}", list(options()))));
        }
        if document.has_intercept() {
            return Ok(());
        }
        let constants: Vec<(f64, f64)> =
            document.options().iter().map(|option| self.constant(document, option)).collect();
        let differs = |&(constant, size): &(f64, f64)| {
            (constant - constants[0].0).abs() > super::ladder::HAIR * size.max(constants[0].1)
        };
        match constants.iter().position(differs) {
            Some(at) => {
                let option = &document.options()[at];
                let problem = format!(
                    "without an intercept, all options must score alike where every feature is lowest, but {} scores {} there \
                     and {} scores {}",
                    shown(&document.options()[0]),
                    plainly(constants[0].0),
                    shown(option),
                    plainly(constants[at].0),
                );
                let place = [path, vec![PathStep::In(option.clone())]].concat();
                Err(DocumentFault::new(
                    place,
                    problem,
                    "set intercept = true in the document, or choose intercepts that make them equal",
                ))
            }
            None => Ok(()),
        }
    }
}

fn check_cuts(document: &PolicyDocument, form: &str, cuts: &[f64], options: &[String]) -> Result<(), DocumentFault> {
    let path = |key: &str| keys(&["rule", form, key]);
    let at = |key: &str, index: usize| [path(key), vec![PathStep::At(index)]].concat();
    if !document.has_intercept() {
        let problem = format!("a {form} needs an intercept, but the document has intercept = false");
        return Err(DocumentFault::new(
            keys(&["intercept"]),
            problem,
            "set intercept = true, or write the rule in the linear form",
        ));
    }
    for (index, cut) in cuts.iter().enumerate() {
        check_number(*cut, at("cuts", index))?;
        if index > 0 && *cut <= cuts[index - 1] {
            let problem =
                format!("the cut {} is not above the previous cut {}", plainly(*cut), plainly(cuts[index - 1]));
            return Err(DocumentFault::new(at("cuts", index), problem, "write the cuts in ascending order, each once"));
        }
    }
    let mut seen = HashSet::new();
    for (index, option) in options.iter().enumerate() {
        if !document.options().contains(option) {
            return Err(unknown_option(document, option, at("options", index)));
        }
        if !seen.insert(option) {
            let problem = format!("the option {} is in the rule twice", shown(option));
            return Err(DocumentFault::new(
                at("options", index),
                problem,
                "name each option once: it has one interval",
            ));
        }
    }
    if options.len() != cuts.len() + 1 {
        let problem = format!("{} for {}", count(options.len(), "option"), count(cuts.len(), "cut"));
        return Err(DocumentFault::new(path("options"), problem, "name one option more than there are cuts"));
    }
    Ok(())
}

fn check_coefficients(
    document: &PolicyDocument,
    coefficients: &IndexMap<String, Coefficient>,
    path: &Path,
) -> Result<(), DocumentFault> {
    for (name, coefficient) in coefficients {
        let place = |step: fn(String) -> PathStep| [path.as_slice(), &[step(name.clone())]].concat();
        let is_score = path.last() == Some(&PathStep::In("coefficients".to_owned()));
        if name == INTERCEPT && !is_score {
            match coefficient {
                Coefficient::Slope(number) => check_number(*number, place(PathStep::In))?,
                Coefficient::Levels(_) => {
                    return Err(DocumentFault::new(
                        place(PathStep::In),
                        "the intercept is a table",
                        "write one number",
                    ));
                }
            }
            continue;
        }
        let Some((_, feature)) = document.feature(name) else {
            return Err(unknown_feature(document, name, place(PathStep::Key)));
        };
        check_coefficient(feature, coefficient, &place(PathStep::In))?;
    }
    Ok(())
}

fn check_coefficient(feature: &Feature, coefficient: &Coefficient, path: &Path) -> Result<(), DocumentFault> {
    match (&feature.kind, coefficient) {
        (FeatureKind::Numeric { .. }, Coefficient::Slope(number)) => check_number(*number, path.clone()),
        (FeatureKind::Numeric { .. }, Coefficient::Levels(_)) => {
            let problem = format!("{} is numeric, but has a coefficient for each level", shown(&feature.column));
            Err(DocumentFault::new(path.clone(), problem, "write one number: what one unit adds"))
        }
        (FeatureKind::Levels(levels), Coefficient::Slope(_)) => {
            let problem = format!("{} has levels, but only one coefficient", shown(&feature.column));
            let remedy = format!("write a number for a level: {} = {{ {} = 15 }}", feature.column, levels[1]);
            Err(DocumentFault::new(path.clone(), problem, remedy))
        }
        (FeatureKind::Levels(levels), Coefficient::Levels(numbers)) => {
            for (level, number) in numbers {
                let place = |step: fn(String) -> PathStep| [path.as_slice(), &[step(level.clone())]].concat();
                if !levels.contains(level) {
                    let problem = format!("{} has no level {}", shown(&feature.column), shown(level));
                    let remedy = did_you_mean(level, "its levels are", levels.iter().map(String::as_str));
                    return Err(DocumentFault::new(place(PathStep::Key), problem, remedy));
                }
                check_number(*number, place(PathStep::In))?;
                if level == &levels[0] && *number != 0.0 {
                    let problem = format!("{} is the reference level of {}", shown(level), shown(&feature.column));
                    let remedy = "its coefficient is 0: subtract it from those of the other levels, and from the cuts or \
                                  add it to the intercept";
                    return Err(DocumentFault::new(place(PathStep::In), problem, remedy));
                }
            }
            Ok(())
        }
    }
}

fn check_number(number: f64, path: Path) -> Result<(), DocumentFault> {
    if number.abs() <= MAX_PARAMETER {
        return Ok(());
    }
    let remedy = format!("write a finite number of at most {MAX_PARAMETER:e} in magnitude");
    Err(DocumentFault::new(path, format!("the number is {}", plainly(number)), remedy))
}

fn unknown_feature(document: &PolicyDocument, name: &str, path: Path) -> DocumentFault {
    let columns = document.features().iter().map(|feature| feature.column.as_str());
    let remedy = did_you_mean(name, "the features are", columns);
    DocumentFault::new(path, format!("unknown feature {}", shown(name)), remedy)
}

fn unknown_option(document: &PolicyDocument, name: &str, path: Path) -> DocumentFault {
    let remedy = did_you_mean(name, "the options are", document.options().iter().map(String::as_str));
    DocumentFault::new(path, format!("unknown option {}", shown(name)), remedy)
}

//! The checks that types cannot make: numbers in order and in range, names that exist and differ.

use std::collections::HashSet;

use rarely_core::{
    Algorithm, ErrorProbability, Exploration, MAX_ARMS, MAX_DIMENSION, MAX_REWARD, MinimumGain, Noise, NormBound,
    Penalty, SettingsError, Shape, Share,
};
use rarely_error::Explain as _;

use crate::code::canonical_code;
use crate::document::features::check_features;
use crate::document::groups;
use crate::document::guardrails;
use crate::document::labels;
use crate::document::limits;
use crate::document::locate::{Path, PathStep, keys};
use crate::document::log_columns;
use crate::document::toml::{TomlChange, TomlDocument, TomlEvidence, TomlOutcome};
use crate::document::{ChangeSettings, EvidenceSettings, OutcomeColumn, PolicyDocument};
use crate::feature::Feature;
use crate::names::{count, did_you_mean, shown};
use crate::number::plainly;
use crate::rule::DocumentFault;

/// Largest magnitude of an end of a feature's range.
pub(super) const MAX_RANGE_END: f64 = 1e12;
/// Smallest width of a range relative to its ends; below it, `f64` cannot distinguish enough values.
const LEAST_WIDTH: f64 = 1e-9;
/// Ends below this count as this.
const LEAST_SIZE: f64 = 1e-3;

impl PolicyDocument {
    pub(crate) fn check(mut written: TomlDocument) -> Result<Self, DocumentFault> {
        if written.policy.trim().is_empty() {
            return Err(DocumentFault::new(keys(&["policy"]), "the policy has no name", "name it"));
        }
        check_options(&written.options)?;
        let option_codes = labels::replace_codes(&mut written)?;
        check_options(&written.options)?;
        check_column(&written.option_column, keys(&["option_column"]))?;
        let outcome = check_outcome(&written.outcome)?;
        let features = check_features(&written)?;
        let dimension = usize::from(written.intercept) + features.iter().map(Feature::coordinates).sum::<usize>();
        let shape = Shape::new(written.options.len(), dimension).map_err(|_| {
            let problem = format!("the features make {dimension} context coordinates");
            let remedy =
                format!("a policy has 1 to {MAX_DIMENSION}: give it features or an intercept, or fewer levels");
            DocumentFault::new(keys(&["features"]), problem, remedy)
        })?;
        let evidence = check_evidence(&written.evidence, &outcome)?;
        let standard = limits::check_standard(&written.evidence)?;
        let log_columns = log_columns::check(&written)?;
        let guardrails = guardrails::check(&written)?;
        let change = check_change(&written.change)?;
        let limits = limits::check_limits(&written, &features)?;
        let control = written.control.check()?;
        let data_format = written.data.check()?;
        let TomlDocument { policy, options, option_column, intercept, rule, groups, .. } = written;
        let mut document = Self {
            policy,
            options,
            option_codes,
            option_column,
            outcome,
            intercept,
            features,
            evidence,
            standard,
            log_columns,
            guardrails,
            data_format,
            change,
            limits,
            control,
            rule,
            groups: None,
            shape,
        };
        let bound = document.norm_bound().map_or(Ok(()), |bound| NormBound::new(bound).map(|_| ()));
        in_range(bound, keys(&["evidence", "norm_bound"]))?;
        document.rule.check(&document)?;
        document.check_bounds()?;
        document.groups = groups.map(|groups| groups::check(groups, &document)).transpose()?;
        Ok(document)
    }
}

fn check_options(options: &[String]) -> Result<(), DocumentFault> {
    let path = keys(&["options"]);
    if !(2..=MAX_ARMS).contains(&options.len()) {
        let verb = if options.len() == 1 { "is" } else { "are" };
        let problem = format!("there {verb} {}", count(options.len(), "option"));
        return Err(DocumentFault::new(path, problem, format!("name 2 to {MAX_ARMS} options")));
    }
    check_names(options, "option", &path)
}

/// Names must not be empty, must differ, and must not have spaces around them.
pub(super) fn check_names(names: &[String], what: &str, path: &Path) -> Result<(), DocumentFault> {
    let mut seen = HashSet::new();
    for (at, name) in names.iter().enumerate() {
        let place = [path.as_slice(), &[PathStep::At(at)]].concat();
        if name.trim().is_empty() {
            return Err(DocumentFault::new(place, format!("{} {what} without a name", article(what)), "name it"));
        }
        if name.trim() != name {
            let problem = format!("the {what} {} has spaces around it", shown(name));
            return Err(DocumentFault::new(place, problem, "remove them: spaces in the data are removed too"));
        }
        if !seen.insert(name) {
            return Err(DocumentFault::new(
                place,
                format!("the {what} {} is named twice", shown(name)),
                "name it once",
            ));
        }
        let same = |other: &&String| canonical_code(name).is_some_and(|code| canonical_code(other) == Some(code));
        if let Some(other) = names[..at].iter().find(same) {
            let problem = format!("the {what}s {} and {} are one code, written in two ways", shown(other), shown(name));
            return Err(DocumentFault::new(place, problem, "keep one of them: data may write it either way"));
        }
    }
    Ok(())
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

pub(super) fn check_column(name: &str, path: Path) -> Result<(), DocumentFault> {
    if name.trim().is_empty() {
        return Err(DocumentFault::new(
            path,
            "a column without a name",
            "use the name that the column has in the data",
        ));
    }
    Ok(())
}

fn check_outcome(written: &TomlOutcome) -> Result<OutcomeColumn, DocumentFault> {
    check_column(&written.column, keys(&["outcome", "column"]))?;
    let path = keys(&["outcome", "range"]);
    let range = written.range.as_deref().map(|range| check_range(range, MAX_REWARD, &path)).transpose()?;
    Ok(OutcomeColumn { column: written.column.clone(), range, better: written.better })
}

pub(super) fn check_range(range: &[f64], limit: f64, path: &Path) -> Result<(f64, f64), DocumentFault> {
    let &[low, high] = range else {
        let problem = format!("the range has {}", count(range.len(), "number"));
        return Err(DocumentFault::new(
            path.clone(),
            problem,
            "write two: the lowest and the highest, range = [80, 220]",
        ));
    };
    for (at, end) in [low, high].into_iter().enumerate() {
        if !(end.abs() <= limit) {
            let place = [path.as_slice(), &[PathStep::At(at)]].concat();
            let remedy = format!("write a finite number of at most {limit:e}; if it is larger, use a larger unit");
            return Err(DocumentFault::new(place, format!("the range ends at {}", plainly(end)), remedy));
        }
    }
    if let Some((problem, remedy)) = range_problem(low, high) {
        let problem = format!("the range [{}, {}] {problem}", plainly(low), plainly(high));
        return Err(DocumentFault::new(path.clone(), problem, remedy));
    }
    Ok((low, high))
}

/// What is wrong with a range, and what to do.
pub(crate) fn range_problem(low: f64, high: f64) -> Option<(&'static str, &'static str)> {
    let size = low.abs().max(high.abs());
    if !(size <= MAX_RANGE_END) {
        Some(("is too large", "use a larger unit"))
    } else if low >= high {
        Some(("is not in ascending order", "write the lowest value first and the highest second"))
    } else if high - low < LEAST_WIDTH * size.max(LEAST_SIZE) {
        Some(("is too narrow to distinguish its numbers", "use a smaller unit, or subtract a constant from the column"))
    } else {
        None
    }
}

fn check_evidence(written: &TomlEvidence, outcome: &OutcomeColumn) -> Result<EvidenceSettings, DocumentFault> {
    let path = |key: &str| keys(&["evidence", key]);
    let noise = written.noise.number.or(outcome.range.map(|(low, high)| 0.5 * (high - low)));
    noise.map(|noise| in_range(Noise::new(noise), path("noise"))).transpose()?;
    written.norm_bound.number.map(|bound| in_range(NormBound::new(bound), path("norm_bound"))).transpose()?;
    in_range(Penalty::new(written.penalty), path("penalty"))?;
    in_range(ErrorProbability::new(written.error_probability), path("error_probability"))?;
    Ok(EvidenceSettings {
        noise: written.noise.number,
        norm_bound: written.norm_bound.number,
        penalty: written.penalty,
        error_probability: written.error_probability,
        design: written.design,
        order: written.order,
        missing: written.missing,
    })
}

fn check_change(written: &TomlChange) -> Result<ChangeSettings, DocumentFault> {
    let path = |key: &str| keys(&["change", key]);
    let switching = || Algorithm::all().filter(|algorithm| algorithm.is_switching()).map(Algorithm::name);
    let algorithm = match written.algorithm.parse::<Algorithm>() {
        Ok(algorithm) if algorithm.is_switching() => algorithm,
        Ok(algorithm) => {
            let problem = format!("the algorithm {algorithm} does not hold a rule");
            let remedy = format!("choose one of {}", switching().collect::<Vec<_>>().join(", "));
            return Err(DocumentFault::new(path("algorithm"), problem, remedy));
        }
        Err(_) => {
            let known: Vec<&str> = switching().collect();
            let problem = format!("unknown algorithm {}", shown(&written.algorithm));
            let remedy = did_you_mean(&written.algorithm, "the algorithms that hold a rule are", known);
            return Err(DocumentFault::new(path("algorithm"), problem, remedy));
        }
    };
    let explore = in_range(written.explore.parse::<Exploration>(), path("explore"))?;
    in_range(MinimumGain::new(written.minimum_gain), path("minimum_gain"))?;
    if let Some(worth) = written.worth
        && !(worth > 0.0 && worth <= MAX_REWARD && worth >= written.minimum_gain)
    {
        let problem = format!("the gain worth a change is {}", plainly(worth));
        let remedy = "write a number above 0 that is at least the minimum gain";
        return Err(DocumentFault::new(path("worth"), problem, remedy));
    }
    for (key, name, value) in
        [("tolerance", "tolerance", written.tolerance), ("excluded_share", "excluded share", written.excluded_share)]
    {
        value.map(|value| in_range(Share::named(name, value), path(key))).transpose()?;
    }
    let TomlChange { minimum_gain, tolerance, excluded_share, digits, worth, .. } = *written;
    Ok(ChangeSettings { algorithm, minimum_gain, explore, tolerance, excluded_share, digits, worth })
}

/// The core's error about a number, at its place in the document.
pub(super) fn in_range<T>(result: Result<T, SettingsError>, path: Path) -> Result<T, DocumentFault> {
    result.map_err(|error| {
        let remedy = error.remedy().map_or_else(|| "correct the number".to_owned(), |remedy| remedy.to_string());
        DocumentFault::new(path, error.to_string(), remedy)
    })
}

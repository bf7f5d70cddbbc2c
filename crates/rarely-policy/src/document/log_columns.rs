//! What a log says of its rows besides features, option and outcome: keys, times, clusters, weights and propensities.

use crate::document::PolicyDocument;
use crate::document::check::check_column;
use crate::document::locate::{Path, PathStep, keys};
use crate::document::toml::TomlDocument;
use crate::names::{did_you_mean, list, shown};
use crate::number::plainly;
use crate::rule::DocumentFault;

/// The largest minimum that a propensity can have: two options that are given equally often.
const MOST: f64 = 0.5;
/// The smallest that can be declared.
const LEAST: f64 = 1e-6;

/// The columns of a log besides features, option and outcome.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogColumns {
    /// What tells rows apart.
    pub key: Option<String>,
    /// The time of a case.
    pub time: Option<String>,
    /// The cluster of a case.
    pub cluster: Option<String>,
    /// The weight of a case.
    pub weight: Option<String>,
    /// The probability of the option that was given.
    pub propensity: Option<String>,
    /// The probability of every option, in the order of the document's; empty if there is no such column.
    pub propensities: Vec<String>,
    /// Columns by whose values a review shows who changes; no features.
    pub fairness: Vec<String>,
    /// `p_min`: the probability that every option has wherever its gain is judged by propensities.
    pub minimum_propensity: Option<f64>,
}

impl LogColumns {
    /// Whether a log has propensities.
    pub fn has_propensities(&self) -> bool {
        self.propensity.is_some() || !self.propensities.is_empty()
    }

    /// Whether rows are independent and count alike: neither clusters nor weights are declared.
    pub fn rows_are_alike(&self) -> bool {
        self.cluster.is_none() && self.weight.is_none()
    }

    /// The columns without the numbers.
    pub(super) fn columns(&self) -> Self {
        Self { minimum_propensity: None, ..self.clone() }
    }

    /// Each key's name and what it is; `none` where there is none.
    pub fn lines(&self, document: &PolicyDocument) -> [(&'static str, String); 8] {
        let column = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
        let by_option = document.options().iter().zip(&self.propensities);
        let by_option: Vec<String> = by_option.map(|(option, column)| format!("{option} {column}")).collect();
        [
            ("key column", column(&self.key)),
            ("time column", column(&self.time)),
            ("cluster column", column(&self.cluster)),
            ("weight column", column(&self.weight)),
            ("propensity column", column(&self.propensity)),
            ("propensity columns", if by_option.is_empty() { "none".to_owned() } else { by_option.join(", ") }),
            ("fairness columns", if self.fairness.is_empty() { "none".to_owned() } else { self.fairness.join(", ") }),
            ("minimum propensity", self.minimum_propensity.map_or("none".to_owned(), plainly)),
        ]
    }
}

pub(super) fn check(written: &TomlDocument) -> Result<LogColumns, DocumentFault> {
    let evidence = &written.evidence;
    let path = |key: &str| keys(&["evidence", key]);
    if evidence.propensity.is_some() && !evidence.propensities.is_empty() {
        let problem = "both propensity and propensities are declared";
        let remedy = "keep one: propensities, where the log has a column for every option";
        return Err(DocumentFault::new(path("propensity"), problem, remedy));
    }
    let mut columns = LogColumns {
        key: evidence.key.clone(),
        time: evidence.time.clone(),
        cluster: evidence.cluster.clone(),
        weight: evidence.weight.clone(),
        propensity: evidence.propensity.clone(),
        propensities: Vec::new(),
        fairness: Vec::new(),
        minimum_propensity: evidence.minimum_propensity,
    };
    let named = [
        ("key", &evidence.key),
        ("time", &evidence.time),
        ("cluster", &evidence.cluster),
        ("weight", &evidence.weight),
        ("propensity", &evidence.propensity),
    ];
    let mut taken: Vec<(&str, &str)> = Vec::new();
    for (key, column) in named {
        if let Some(column) = column {
            check_free(written, &taken, column, path(key))?;
            taken.push((column, key));
        }
    }
    columns.propensities = check_propensities(written, &mut taken)?;
    for (at, column) in written.fairness.iter().enumerate() {
        let place = vec![PathStep::In("fairness".to_owned()), PathStep::At(at)];
        if columns.fairness.contains(column) {
            let problem = format!("the column {} is named twice", shown(column));
            return Err(DocumentFault::new(place, problem, "name it once"));
        }
        check_free(written, &[], column, place)?;
        columns.fairness.push(column.clone());
    }
    if let Some(minimum) = evidence.minimum_propensity {
        check_minimum(minimum, columns.has_propensities())?;
    }
    Ok(columns)
}

/// The columns of all options, in the order of the document's.
fn check_propensities<'a>(
    written: &'a TomlDocument,
    taken: &mut Vec<(&'a str, &'a str)>,
) -> Result<Vec<String>, DocumentFault> {
    let by_option = &written.evidence.propensities;
    let place = |option: &str| [keys(&["evidence", "propensities"]), vec![PathStep::In(option.to_owned())]].concat();
    for (option, column) in by_option {
        if !written.options.contains(option) {
            let known: Vec<&str> = written.options.iter().map(String::as_str).collect();
            let remedy = did_you_mean(option, "the options are", known);
            return Err(DocumentFault::new(place(option), format!("unknown option {}", shown(option)), remedy));
        }
        check_free(written, taken, column, place(option))?;
        taken.push((column, "propensities"));
    }
    if by_option.is_empty() {
        return Ok(Vec::new());
    }
    let missing: Vec<&str> =
        written.options.iter().map(String::as_str).filter(|option| !by_option.contains_key(*option)).collect();
    if !missing.is_empty() {
        let problem = format!("propensities has no column for {}", list(missing.iter().copied()));
        let remedy =
            "name a column for every option, or declare propensity, the probability of the option that was given";
        return Err(DocumentFault::new(keys(&["evidence", "propensities"]), problem, remedy));
    }
    Ok(written.options.iter().map(|option| by_option[option].clone()).collect())
}

/// A column must have a name, and no other meaning.
pub(super) fn check_free(
    written: &TomlDocument,
    taken: &[(&str, &str)],
    column: &str,
    path: Path,
) -> Result<(), DocumentFault> {
    check_column(column, path.clone())?;
    let is_feature = written.features.iter().any(|feature| feature.column.as_deref() == Some(column));
    let other = if is_feature {
        "a feature".to_owned()
    } else if column == written.outcome.column {
        "the outcome".to_owned()
    } else if column == written.option_column {
        "the option".to_owned()
    } else if let Some((_, key)) = taken.iter().find(|(name, _)| *name == column) {
        format!("evidence.{key}")
    } else {
        return Ok(());
    };
    let problem = format!("the column {} is also that of {other}", shown(column));
    Err(DocumentFault::new(path, problem, "name the column that holds it in the log"))
}

fn check_minimum(minimum: f64, has_propensities: bool) -> Result<(), DocumentFault> {
    let path = keys(&["evidence", "minimum_propensity"]);
    if !(LEAST..=MOST).contains(&minimum) {
        let problem = format!("the minimum propensity is {}", plainly(minimum));
        let remedy = "write a number from 0.000001 to 0.5: the probability that every option had at least";
        return Err(DocumentFault::new(path, problem, remedy));
    }
    if !has_propensities {
        let problem = "a minimum propensity is declared, but no column with propensities";
        let remedy = "declare propensity = \"column\" or propensities = { option = \"column\" } too";
        return Err(DocumentFault::new(path, problem, remedy));
    }
    Ok(())
}

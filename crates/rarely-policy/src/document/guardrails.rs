//! Outcomes that a change must not make worse (mathematics §18).

use std::fmt;

use rarely_core::MAX_REWARD;
use schemars::JsonSchema;

use crate::document::check::{check_column, check_range};
use crate::document::locate::{Path, PathStep};
use crate::document::log_columns::check_free;
use crate::document::toml::{Better, TomlDocument};
use crate::names::shown;
use crate::number::plainly;
use crate::rule::DocumentFault;

/// An outcome that a change must not make worse by more than a margin.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Guardrail")]
pub(crate) struct TomlGuardrail {
    /// The outcome.
    pub(crate) outcome: TomlGuardedOutcome,
    /// Whether higher or lower values are worse.
    pub(crate) worse: Better,
    /// How much worse it may get per case: a change is proposed only if it is shown not to be worse by more. Above 0.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) margin: f64,
}

/// The column of a guard-rail.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GuardedOutcome")]
pub(crate) struct TomlGuardedOutcome {
    /// The column.
    #[schemars(length(min = 1))]
    pub(crate) column: String,
    /// The lowest and the highest possible value; values outside are rejected.
    #[schemars(length(min = 2, max = 2))]
    pub(crate) range: Vec<f64>,
}

/// An outcome that a change must not make worse by more than a margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Guardrail {
    /// The column.
    pub column: String,
    /// The lowest and the highest possible value.
    pub range: (f64, f64),
    /// Whether higher or lower values are better.
    pub better: Better,
    /// How much worse it may get per case.
    pub margin: f64,
}

impl Guardrail {
    /// −1 where lower values are better, else 1: a gain is in the good direction.
    pub fn sign(&self) -> f64 {
        if self.better == Better::Lower { -1.0 } else { 1.0 }
    }

    /// The smallest and the largest of its values in the good direction.
    pub fn good_range(&self) -> (f64, f64) {
        let (low, high) = self.range;
        if self.better == Better::Lower { (-high, -low) } else { (low, high) }
    }
}

impl fmt::Display for Guardrail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moves = if self.better == Better::Lower { "rise" } else { "fall" };
        write!(formatter, "{} must not {moves} by more than {} per case", self.column, plainly(self.margin))
    }
}

pub(super) fn check(written: &TomlDocument) -> Result<Vec<Guardrail>, DocumentFault> {
    let mut found: Vec<Guardrail> = Vec::new();
    for (at, guardrail) in written.guardrails.iter().enumerate() {
        let path = |keys: &[&str]| -> Path {
            let start = [PathStep::In("guardrails".to_owned()), PathStep::At(at)];
            start.into_iter().chain(keys.iter().map(|key| PathStep::In((*key).to_owned()))).collect()
        };
        let column = &guardrail.outcome.column;
        check_column(column, path(&["outcome", "column"]))?;
        check_free(written, &[], column, path(&["outcome", "column"]))?;
        if found.iter().any(|other| other.column == *column) {
            let problem = format!("the column {} has two guard-rails", shown(column));
            return Err(DocumentFault::new(path(&["outcome", "column"]), problem, "keep one of the two"));
        }
        let range = check_range(&guardrail.outcome.range, MAX_REWARD, &path(&["outcome", "range"]))?;
        let width = range.1 - range.0;
        if !(guardrail.margin > 0.0 && guardrail.margin < width) {
            let problem = format!("the margin of {} is {}", shown(column), plainly(guardrail.margin));
            let remedy = format!(
                "write a number above 0 and below {}, the width of its range: the loss per case that is still tolerable",
                plainly(width)
            );
            return Err(DocumentFault::new(path(&["margin"]), problem, remedy));
        }
        let better = if guardrail.worse == Better::Higher { Better::Lower } else { Better::Higher };
        found.push(Guardrail { column: column.clone(), range, better, margin: guardrail.margin });
    }
    Ok(found)
}

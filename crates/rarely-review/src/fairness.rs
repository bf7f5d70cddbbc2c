//! What a change does for whom, by the values of columns that are no features. No verdict depends on it.

use rarely_core::Confirmed;
use serde::Serialize;

use crate::candidate_gain::side_gain;
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::side_regression::SideRows;

/// What a change does for the people with one value of a fairness column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelImpact {
    /// The column.
    pub column: String,
    /// Its value.
    pub level: String,
    /// Rows with it.
    pub rows: u64,
    /// People with it, of a sample of these rows.
    pub people: usize,
    /// Those who get another option.
    pub changed: usize,
    /// How many of them get each option now, …
    pub before: Vec<usize>,
    /// … and after the change.
    pub after: Vec<usize>,
    /// The gain per case over all people with this value, by the outcomes of their rows alone.
    pub gain: Confirmed,
    /// Why least squares cannot say it, where they cannot.
    pub not_confirmed: Option<String>,
}

/// What a candidate does for the people with each value of each fairness column.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub(crate) fn level_impacts(
    base: &EvidenceBase<'_>,
    candidate: Option<usize>,
) -> Result<Vec<LevelImpact>, ReviewError> {
    let Some(candidate) = candidate else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for side in base.sides() {
        let SideRows::Level { column, name } = &side.of else { continue };
        let (before, after) = (&side.before, &side.after[candidate]);
        let shares = |arms: &[rarely_core::Arm]| {
            let mut counted = vec![0; base.document.options().len()];
            for arm in arms {
                counted[arm.index()] += 1;
            }
            counted
        };
        let (gain, not_confirmed) = side_gain(base, side, candidate, base.error_probability()?.get())?;
        found.push(LevelImpact {
            column: base.document.log_columns().fairness[*column].clone(),
            level: name.clone(),
            rows: side.rows,
            people: before.len(),
            changed: before.iter().zip(after).filter(|(old, new)| old != new).count(),
            before: shares(before),
            after: shares(after),
            gain,
            not_confirmed,
        });
    }
    Ok(found)
}

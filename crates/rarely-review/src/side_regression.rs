//! Regressions beside the main one, in which the same candidates are judged: of a guard-rail's outcome, or of the people with one value of a
//! fairness column (mathematics §18).

use rarely_core::{
    Arm, Confidence, Contexts, LeastSquares, Noise, NormBound, Parameters, Rule, Statistics, gain_functional,
};
use rarely_policy::Guardrail;

use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::people_sample::PeopleSample;
use crate::second_reading::GainErrors;
use crate::stretch_sums::Stretch;
use crate::tally::{Tally, regression};
use crate::tally_error::TallyError;
use crate::tally_row::TallyRow;

/// A regression beside the main one.
#[derive(Debug, Clone)]
pub(crate) struct SideRegression {
    pub(crate) of: SideRows,
    /// Of the rows that confirm.
    pub(crate) fit: LeastSquares,
    /// The gain of each candidate, `⟨g,θ⟩`.
    pub(crate) functionals: Vec<Parameters>,
    /// The errors of those gains from a second reading, if there was one.
    pub(crate) errors: Option<GainErrors>,
    /// The people over whom a gain is an average, …
    pub(crate) people: Vec<f64>,
    /// … what the rule in force decides for them, …
    pub(crate) before: Vec<Arm>,
    /// … and each candidate.
    pub(crate) after: Vec<Vec<Arm>>,
    /// Of all rows, for sets that hold for every change at once.
    pub(crate) statistics: Statistics,
    pub(crate) confidence: Confidence,
    /// All rows.
    pub(crate) rows: u64,
}

/// Which rows, with which outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SideRows {
    /// All rows, with the outcome of a guard-rail.
    Guardrail(usize),
    /// The rows with one value of a fairness column.
    Level {
        /// The column, as an index.
        column: usize,
        /// The value.
        name: String,
    },
}

impl SideRows {
    /// The outcome of a row; `None` if the row does not belong to these.
    #[inline]
    pub(crate) fn outcome(&self, row: &TallyRow<'_>) -> Option<f64> {
        match self {
            Self::Guardrail(at) => row.guardrails.get(*at).copied(),
            Self::Level { column, name } => row.levels.get(*column).filter(|level| *level == name).map(|_| row.reward),
        }
    }
}

/// The regressions beside the main one, in the order of the document's guard-rails and fairness columns.
///
/// # Errors
/// [`ReviewError`] if a column has too many values.
pub(crate) fn side_regressions(base: &EvidenceBase<'_>, tally: &Tally) -> Result<Vec<SideRegression>, ReviewError> {
    let document = base.document;
    let mut found = Vec::new();
    for (at, (guardrail, sums)) in document.guardrails().iter().zip(tally.guardrails()).enumerate() {
        let confidence = guardrail_confidence(base, guardrail)?;
        found.push(side(base, tally, (SideRows::Guardrail(at), sums), base.people.clone(), confidence)?);
    }
    for (column, levels) in tally.levels().iter().enumerate() {
        let Some(levels) = levels.all() else {
            let column = document.log_columns().fairness[column].clone();
            return Err(TallyError::TooManyLevels { column }.into());
        };
        for (name, level) in levels {
            let of = SideRows::Level { column, name: name.clone() };
            let people = PeopleSample::contexts(&level.sample);
            found.push(side(base, tally, (of, &level.sums), people, base.confidence())?);
        }
    }
    Ok(found)
}

fn side(
    base: &EvidenceBase<'_>,
    tally: &Tally,
    (of, sums): (SideRows, &Stretch),
    people: Vec<f64>,
    confidence: Confidence,
) -> Result<SideRegression, ReviewError> {
    let (document, shape) = (base.document, base.document.shape());
    let contexts = Contexts::new(&people, shape.dimension())?;
    let decide = |rule: &rarely_policy::WrittenRule| Rule::new(rule.parameters(document)).choose_many(contexts);
    let before = decide(document.rule())?;
    let after = base.candidates().iter().map(|candidate| decide(&candidate.rule)).collect::<Result<Vec<_>, _>>()?;
    let functionals = after.iter().map(|after| gain_functional(shape, contexts, &before, after));
    let functionals = functionals.collect::<Result<Vec<_>, _>>()?;
    let scale = tally.weight_scale();
    let mut totals: Vec<_> = sums.both().collect();
    for total in &mut totals {
        total.scale(scale);
    }
    Ok(SideRegression {
        of,
        fit: LeastSquares::from_sums(shape, &sums.confirming_sums(scale))?,
        functionals,
        errors: None,
        before,
        after,
        statistics: regression(document, &totals)?,
        confidence,
        rows: sums.rows(),
        people,
    })
}

/// The assumptions about a guard-rail's outcome: its noise and norm bound follow from its range.
fn guardrail_confidence(base: &EvidenceBase<'_>, guardrail: &Guardrail) -> Result<Confidence, ReviewError> {
    let (low, high) = guardrail.range;
    Ok(Confidence {
        noise: Noise::new(0.5 * (high - low))?,
        norm_bound: Some(NormBound::new(base.document.guardrail_norm_bound(guardrail))?),
        ..base.confidence()
    })
}

//! A review: the judgement of a rule, what the data cannot say, and checks of the model.

use rarely_core::Stuck;

use crate::checks::{Check, checks};
use crate::design_effect::DesignEffect;
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::exploration_forecast::{ExplorationForecast, forecast};
use crate::fairness::{LevelImpact, level_impacts};
use crate::judgement::{Judgement, VerdictReason, examine};
use crate::missing_rows::MissingRows;
use crate::moments::Moments;
use crate::off_policy::{NotWeightable, WeightedValue};
use crate::support::{ThinSupport, thin};
use crate::tally::Tally;
use crate::verdict::Verdict;

/// A review of a rule, in numbers. [`Findings`](crate::Findings) says them.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// Rows of each option.
    pub per_option: Vec<u64>,
    /// Rows that could not be used.
    pub rejected: u64,
    /// What rows lack, those that were dropped for it included; `None` if nothing is missing.
    pub missing: Option<MissingRows>,
    /// People over whom shares and gains are averages.
    pub people: usize,
    /// Keep, change, or cannot tell, and what that rests on.
    pub judgement: Judgement,
    /// What the data cannot say.
    pub gaps: Gaps,
    /// What clusters and weights do to variances; `None` if the rows were not read again.
    pub design_effect: Option<DesignEffect>,
    /// Whether straight lines are good enough.
    pub checks: Vec<Check>,
    /// What the best candidate does for whom, by the values of the document's fairness columns.
    pub fairness: Vec<LevelImpact>,
    /// What the rule in force and the best candidate are worth by the propensities of the log, where the document declares some.
    pub off_policy: Option<RuleValues>,
}

/// What rules are worth by the propensities of a log, or why that is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleValues {
    /// The rule in force.
    pub in_force: Result<WeightedValue, NotWeightable>,
    /// The best candidate, as an index into the judgement's.
    pub best: Option<(usize, Result<WeightedValue, NotWeightable>)>,
}

/// What the data cannot say.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaps {
    /// Options that may be best for many but are hardly ever given.
    pub stuck: Vec<Stuck>,
    /// Where options were never or hardly ever tried.
    pub thin: Vec<ThinSupport>,
    /// How many cases with exploration would settle an open question.
    pub forecast: Option<ExplorationForecast>,
}

/// Reviews the rule in force on the sums of a log: [`examine`], then [`complete`].
///
/// # Errors
/// [`ReviewError`] if the document's settings exclude each other.
pub fn review(base: &EvidenceBase<'_>, tally: &Tally) -> Result<Review, ReviewError> {
    complete(base, tally, examine(base, tally)?)
}

/// Adds to a judgement what the data cannot say, and the checks of the model.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub fn complete(base: &EvidenceBase<'_>, tally: &Tally, judgement: Judgement) -> Result<Review, ReviewError> {
    let stuck = base.stuck();
    // Where more cases of the same kind would decide, no experiment is needed.
    let waits = judgement.reasons.iter().any(|reason| {
        matches!(
            reason,
            VerdictReason::NotShown { further_cases: Some(_), .. }
                | VerdictReason::NotCertain { .. }
                | VerdictReason::Guardrail { .. }
        )
    });
    let open = judgement.verdict == Verdict::CannotTell && !waits || !stuck.is_empty();
    let gaps = Gaps {
        thin: thin(base, tally),
        forecast: if open { Some(forecast(base, &judgement.standing, &stuck)?) } else { None },
        stuck,
    };
    Ok(Review {
        per_option: tally.totals().iter().map(Moments::rows).collect(),
        rejected: tally.rejected(),
        missing: MissingRows::new(base.document, tally),
        people: base.contexts().len(),
        off_policy: RuleValues::new(base, judgement.best),
        fairness: level_impacts(base, judgement.best)?,
        judgement,
        design_effect: base.design_effect(),
        gaps,
        checks: checks(base, tally),
    })
}

impl RuleValues {
    fn new(base: &EvidenceBase<'_>, best: Option<usize>) -> Option<Self> {
        let part = base.confirming().filter(|part| part.propensities.is_some())?;
        let value = |rule: usize| part.values.get(rule).copied().unwrap_or(Err(NotWeightable::NotReadAgain));
        Some(Self { in_force: value(0), best: best.map(|at| (at, value(at + 1))) })
    }
}

impl Review {
    /// Rows that were used.
    pub fn rows(&self) -> u64 {
        self.per_option.iter().sum()
    }
}

//! The gain of a candidate, with what its interval rests on (mathematics §§12–14).
//!
//! Where the design allows, the part of the log that confirms judges it: least squares with robust errors, at planned looks or at any time.
//! Where that is known to fail (too few cases, rare outcomes) or the design is adaptive, sharp sets do, which hold for every change at once.

use rarely_core::{
    Confidence, ConfirmError, Confirmation, Confirmed, Contexts, ErrorBudget, ErrorProbability, Interval, LeastSquares,
    Look, Method, Mixture, Parameters, Standard, Timing, anytime_multiplier, planned_multiplier,
};
use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};

use crate::candidates::CandidateKind;
use crate::error::ReviewError;
use crate::evidence_base::{ConfirmingPart, EvidenceBase};
use crate::model_free::{ModelFreeGain, expected_cases};
use crate::second_reading::GainErrors;
use crate::side_regression::{SideRegression, SideRows};

/// The error probability of the plain interval that is shown beside.
const PLAIN: f64 = 0.05;

/// A candidate and its gain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedCandidate {
    /// Its kind.
    pub kind: CandidateKind,
    /// The rule.
    pub rule: WrittenRule,
    /// The share of the people who get another option.
    pub changed_share: f64,
    /// The gain per case, and what its interval rests on.
    pub gain: Confirmed,
    /// A plain 95 % interval of the same gain, as a statistician would compute it for one look.
    pub plain: Option<Interval>,
    /// Why the gain could not be confirmed by least squares, where it could not.
    pub not_confirmed: Option<String>,
    /// The gain by the propensities of the log, where it has them.
    #[serde(default)]
    pub model_free: Option<ModelFreeGain>,
    /// Why there is none, where the document declares propensities.
    #[serde(default)]
    pub not_model_free: Option<String>,
    /// What it does to the outcomes that must not get worse, in the order of the document's guard-rails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guardrails: Vec<JudgedGuardrail>,
    /// Whether it was judged: candidates are judged in the order of their evidence in the proposing part, until one fails.
    pub judged: bool,
}

/// What a candidate does to an outcome that must not get worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedGuardrail {
    /// The column.
    pub column: String,
    /// How much better it gets per case, and what the interval rests on; negative where it gets worse.
    pub gain: Confirmed,
    /// How much worse it may get.
    pub margin: f64,
    /// Why least squares cannot say it, where they cannot.
    pub not_confirmed: Option<String>,
}

impl JudgedGuardrail {
    /// Whether it is shown not to get worse by more than the margin.
    pub fn holds(&self) -> bool {
        self.gain.interval.lower > -self.margin
    }

    /// Whether it is shown to get worse by more than the margin.
    pub fn is_broken(&self) -> bool {
        self.gain.interval.upper < -self.margin
    }
}

impl JudgedCandidate {
    /// Whether no guard-rail is in the way.
    pub fn keeps_guardrails(&self) -> bool {
        self.guardrails.iter().all(JudgedGuardrail::holds)
    }

    /// Whether it is shown to break a guard-rail, so that no further case can bring it back.
    pub fn breaks_a_guardrail(&self) -> bool {
        self.guardrails.iter().any(JudgedGuardrail::is_broken)
    }

    /// Whether the gain rests on propensities alone: they cover the whole change.
    pub fn is_model_free(&self) -> bool {
        self.model_free.is_some_and(|found| found.left_out == 0.0)
    }

    /// The gain that the verdict rests on: the model-free one where it covers the whole change. Where it leaves people out, the rest
    /// of the change is seen by straight lines only, so that the interval reaches over both.
    pub fn decisive(&self) -> Confirmed {
        let Some(found) = self.model_free else { return self.gain };
        if self.is_model_free() {
            return found.gain;
        }
        let (line, free) = (self.gain.interval, found.gain.interval);
        let interval = Interval { lower: line.lower.min(free.lower), upper: line.upper.max(free.upper), ..line };
        Confirmed { interval, standard: Standard::Approximate, ..self.gain }
    }

    /// A plain 95 % interval of the gain that the verdict rests on.
    pub(crate) fn decisive_plain(&self) -> Option<Interval> {
        if !self.is_model_free() {
            return self.plain;
        }
        let gain = self.decisive();
        let degrees = gain.degrees.unwrap_or(f64::INFINITY).min(1e9);
        let half_width = planned_multiplier(degrees, PLAIN) * gain.standard_error?;
        let estimate = gain.interval.estimate;
        Some(Interval::around(estimate, half_width))
    }
}

/// Every candidate with its gain, in the order of the base.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub(crate) fn gains(base: &EvidenceBase<'_>) -> Result<Vec<JudgedCandidate>, ReviewError> {
    let mut found = Vec::new();
    for (at, candidate) in base.candidates().iter().enumerate() {
        let (before, after) = base.decisions(at);
        let changed = before.iter().zip(after).filter(|(old, new)| old != new).count();
        let (gain, plain, not_confirmed) = gain(base, at)?;
        let (model_free, not_model_free) = model_free(base, at);
        found.push(JudgedCandidate {
            kind: candidate.kind,
            rule: candidate.rule.clone(),
            changed_share: changed as f64 / before.len() as f64,
            gain,
            plain,
            not_confirmed,
            model_free,
            not_model_free,
            guardrails: guardrails(base, at)?,
            judged: base.order().contains(&at),
        });
    }
    Ok(found)
}

/// The model-free gain of a candidate, or why there is none.
fn model_free(base: &EvidenceBase<'_>, at: usize) -> (Option<ModelFreeGain>, Option<String>) {
    let Some(part) = base.confirming() else { return (None, None) };
    match (part.model_free_gains.get(at), &part.propensities) {
        (Some(Ok(found)), _) => (Some(*found), None),
        (Some(Err(reason)), _) => (None, Some(reason.clone())),
        (None, Some(reading)) => {
            let not_read = || "it needs the rows in a second reading; review the log itself, as a file".to_owned();
            (None, Some(reading.not_model_free().cloned().unwrap_or_else(not_read)))
        }
        (None, None) => (None, None),
    }
}

/// What a candidate does to the outcomes that must not get worse. One of the candidates is chosen afterwards, so that where each has its own
/// interval they share the error probability; sets hold for all of them (mathematics §18). Each guard-rail is one more condition on a change, so that
/// they and the gain need not share it [berger-1982].
fn guardrails(base: &EvidenceBase<'_>, at: usize) -> Result<Vec<JudgedGuardrail>, ReviewError> {
    let sides = base.sides().iter().filter_map(|side| match side.of {
        SideRows::Guardrail(guardrail) => Some((&base.document.guardrails()[guardrail], side)),
        SideRows::Level { .. } => None,
    });
    let sharing = if base.confirming().is_some() { base.order().len().max(1) as f64 } else { 1.0 };
    let judged = sides.map(|(guardrail, side)| {
        let (gain, not_confirmed) = side_gain(base, side, at, base.error_probability()?.get() / sharing)?;
        Ok(JudgedGuardrail { column: guardrail.column.clone(), gain, margin: guardrail.margin, not_confirmed })
    });
    judged.collect()
}

/// The gain of a candidate in a regression beside the main one, by the same intervals, and why least squares cannot say it, where they cannot.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub(crate) fn side_gain(
    base: &EvidenceBase<'_>,
    side: &SideRegression,
    at: usize,
    error_probability: f64,
) -> Result<(Confirmed, Option<String>), ReviewError> {
    let (before, after) = (&side.before, &side.after[at]);
    let sharp = || -> Result<Confirmed, ReviewError> {
        let error_probability = ErrorProbability::new(error_probability)?;
        let set = Confidence { error_probability, ..side.confidence }.sharp(&side.statistics);
        let contexts = Contexts::new(&side.people, base.document.shape().dimension())?;
        Ok(by_sets(base, set.gain(contexts, before, after)?.0.interval))
    };
    if before == after {
        let nothing = Interval { estimate: 0.0, lower: 0.0, upper: 0.0 };
        return Ok((Confirmed { interval: nothing, ..sharp()? }, None));
    }
    let judged = side.judged(at);
    let (alike, divided) = (base.document.log_columns().rows_are_alike(), base.confirming().is_some());
    let reason = match (divided, judged.errors.is_none() && !alike) {
        (false, _) if alike => return Ok((sharp()?, None)),
        (false, _) => NOT_DIVIDED.to_owned(),
        (true, true) => NOT_READ_AGAIN.to_owned(),
        (true, false) => match confirmed(base, &judged, ErrorProbability::new(error_probability)?) {
            Ok(gain) => return Ok((gain, None)),
            Err(error) => why_not(base, &error),
        },
    };
    let found = sharp()?;
    Ok((if alike { found } else { without_bounds(base, found) }, Some(reason)))
}

type FoundGain = (Confirmed, Option<Interval>, Option<String>);

fn gain(base: &EvidenceBase<'_>, at: usize) -> Result<FoundGain, ReviewError> {
    let alike = base.document.log_columns().rows_are_alike();
    let Some(part) = base.confirming() else {
        return Ok(if alike {
            (sharp(base, at)?, None, None)
        } else {
            (unbounded(base, at)?, None, Some(NOT_DIVIDED.to_owned()))
        });
    };
    if part.errors.is_none() && !alike {
        return Ok((unbounded(base, at)?, None, Some(NOT_READ_AGAIN.to_owned())));
    }
    let plain = plain(part, at);
    match base
        .error_probability()
        .map_err(|_| ConfirmError::NoChange)
        .and_then(|delta| confirmed(base, &part.judged(at), delta))
    {
        Ok(gain) => Ok((gain, plain, None)),
        Err(error) => {
            let gain = if alike { sharp(base, at)? } else { unbounded(base, at)? };
            Ok((gain, plain, Some(why_not(base, &error))))
        }
    }
}

/// Why least squares cannot confirm a gain, as a sentence.
fn why_not(base: &EvidenceBase<'_>, error: &ConfirmError) -> String {
    let option = |arm: &usize| &base.document.options()[*arm];
    match error {
        ConfirmError::NotEstimable { arm, cases, .. } => format!(
            "The {cases} cases of {} among those that confirm do not determine its line for everyone who would change: features that say the \
             same of them, or too few cases.",
            option(arm)
        ),
        ConfirmError::TooFewCases { arm, cases, needed } => format!(
            "There are {cases} cases of {} among those that confirm, where an approximate interval needs {needed}.",
            option(arm)
        ),
        ConfirmError::RareOutcomes { arm, rarer, needed } => format!(
            "Only {rarer} outcomes of {} among the cases that confirm differ from the most frequent one, where an approximate interval needs \
             {needed}.",
            option(arm)
        ),
        other => format!("Least squares cannot confirm it: {other}."),
    }
}

/// Why the rows of clusters, or rows with weights, are not judged.
const NOT_DIVIDED: &str = "with clusters or weights only a log of fixed design is judged; other intervals assume independent rows that \
                           count alike";
const NOT_READ_AGAIN: &str = "with clusters or weights an error needs the rows again, which saved sums and a pipe do not give; review the log itself, as a file";

/// An estimate that nothing bounds.
fn unbounded(base: &EvidenceBase<'_>, at: usize) -> Result<Confirmed, ReviewError> {
    Ok(without_bounds(base, sharp(base, at)?))
}

fn without_bounds(base: &EvidenceBase<'_>, gain: Confirmed) -> Confirmed {
    let interval = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY, ..gain.interval };
    let clustered = base.document.log_columns().cluster.is_some();
    let method = if clustered { Method::LeastSquaresCr2 } else { Method::LeastSquaresHc3 };
    Confirmed { interval, standard: Standard::Approximate, method, ..gain }
}

/// A candidate's change in a regression of rows that confirm.
pub(crate) struct DeclaredChange<'a> {
    pub(crate) fit: &'a LeastSquares,
    pub(crate) functional: &'a Parameters,
    pub(crate) errors: Option<&'a GainErrors>,
    /// The candidate.
    pub(crate) at: usize,
}

impl ConfirmingPart {
    fn judged(&self, at: usize) -> DeclaredChange<'_> {
        DeclaredChange { fit: &self.fit, functional: &self.functionals[at], errors: self.errors.as_ref(), at }
    }
}

impl SideRegression {
    fn judged(&self, at: usize) -> DeclaredChange<'_> {
        DeclaredChange { fit: &self.fit, functional: &self.functionals[at], errors: self.errors.as_ref(), at }
    }
}

/// By least squares on rows that confirm.
fn confirmed(
    base: &EvidenceBase<'_>,
    &DeclaredChange { fit, functional, errors, at }: &DeclaredChange<'_>,
    error_probability: ErrorProbability,
) -> Result<Confirmed, ConfirmError> {
    let (confirmation, cases) = match errors {
        Some(errors @ GainErrors::Rows { .. }) => {
            (Confirmation::from_error(fit.clone(), errors.error(at)?.0), fit.cases())
        }
        Some(GainErrors::Clusters(errors)) => {
            let error = errors[at].clone()?;
            (Confirmation::from_cluster_error(fit.clone(), error), error.clusters)
        }
        None => (Confirmation::from_fit(fit.clone()), fit.cases()),
    };
    let budget = ErrorBudget::new(error_probability);
    if base.is_anytime() {
        let mixture = mixture(cases, budget.share())?;
        confirmation.anytime(functional, budget, mixture)
    } else {
        confirmation.planned(functional, budget, Look::only(fit.cases()))
    }
}

/// The mixture that is sharpest at the power of four next to the number of cases: it stays the same while they grow fourfold.
fn mixture(cases: u64, share: f64) -> Result<Mixture, ConfirmError> {
    let expected = expected_cases(cases) as f64;
    Ok(Mixture::sharpest_at(expected, expected, share)?)
}

/// By sets that hold for every change at once.
fn sharp(base: &EvidenceBase<'_>, at: usize) -> Result<Confirmed, ReviewError> {
    let (before, after) = base.decisions(at);
    let (gain, _) = base.sharp().gain(base.contexts(), before, after)?;
    Ok(by_sets(base, gain.interval))
}

fn by_sets(base: &EvidenceBase<'_>, interval: Interval) -> Confirmed {
    Confirmed {
        interval,
        standard: if base.document.noise().is_some() { Standard::Certain } else { Standard::Approximate },
        method: Method::SharpSets,
        timing: Timing::Anytime,
        standard_error: None,
        degrees: None,
    }
}

fn plain(part: &ConfirmingPart, at: usize) -> Option<Interval> {
    let functional = &part.functionals[at];
    let (error, limit) = standard_error(part, at)?;
    let degrees = part.fit.degrees(functional).ok()?.min(limit.unwrap_or(f64::INFINITY));
    let half_width = planned_multiplier(degrees, PLAIN) * error;
    let estimate = part.fit.estimate(functional).ok()?;
    Some(Interval::around(estimate, half_width))
}

/// With the degrees of freedom to which clusters limit it.
fn standard_error(part: &ConfirmingPart, at: usize) -> Option<(f64, Option<f64>)> {
    match &part.errors {
        Some(errors) => errors.error(at).ok(),
        None => Some((part.fit.sums_error(&part.functionals[at]).ok()?, None)),
    }
}

/// How many standard errors an interval of the base reaches to either side, for estimates with so many degrees of freedom from so many
/// cases.
///
/// # Errors
/// [`ReviewError`] if the error probability is out of its range.
pub(crate) fn multiplier(base: &EvidenceBase<'_>, degrees: f64, cases: u64) -> Result<f64, ReviewError> {
    Ok(multiplier_at(base, degrees, cases, base.error_probability()?.get()))
}

/// The same for another error probability.
pub(crate) fn multiplier_at(base: &EvidenceBase<'_>, degrees: f64, cases: u64, share: f64) -> f64 {
    if base.is_anytime() {
        mixture(cases, share).map_or(f64::INFINITY, |mixture| anytime_multiplier(degrees, cases as f64, mixture, share))
    } else {
        planned_multiplier(degrees, share)
    }
}

/// The interval of the gain of any change that is made of the people's decisions, for parts of them: with each option's own residual
/// variance where the design allows, by sharp sets otherwise.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub(crate) fn part_gain(
    base: &EvidenceBase<'_>,
    contexts: Contexts<'_>,
    before: &[rarely_core::Arm],
    after: &[rarely_core::Arm],
) -> Result<Interval, ReviewError> {
    if let Some(part) = base.confirming() {
        let functional = rarely_core::gain_functional(base.document.shape(), contexts, before, after)?;
        if functional.values().iter().all(|&value| value == 0.0) {
            return Ok(Interval { estimate: 0.0, lower: 0.0, upper: 0.0 });
        }
        if let (Ok(estimate), Ok(error), Ok(degrees)) =
            (part.fit.estimate(&functional), part.fit.sums_error(&functional), part.fit.degrees(&functional))
        {
            let effect = base.known_design_effect();
            let error = effect.factor.sqrt() * error;
            let half_width = multiplier(base, effect.degrees(degrees), part.fit.cases())? * error;
            return Ok(Interval::around(estimate, half_width));
        }
    }
    Ok(base.sharp().gain(contexts, before, after)?.0.interval)
}

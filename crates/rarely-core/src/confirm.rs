//! Propose, then confirm (mathematics §14): the interval of one declared change's gain, in any dimension.
//!
//! The gain of a change that was declared before these rows were read is one number, `⟨g,θ⟩`, so that its interval need not pay for kd
//! directions: `⟨g,θ̂⟩ ± q·se` by least squares, with HC3 errors, CR2 errors for clusters, or errors from sums alone, and `q` from t for a planned
//! look or from the t-type mixture at any time. Both are approximate. They are refused where they are known to fail: fewer than 100 cases, or
//! fewer than 30 outcomes of a class, in an arm that changes.

use std::fmt;

use crate::anytime::{Mixture, anytime_multiplier, planned_multiplier};
use crate::arm::{Arm, Parameters, Shape};
use crate::confidence::Interval;
use crate::context::Contexts;
use crate::error::ConfirmError;
use crate::least_squares::{ArmSums, CaseLog, Concerned, LeastSquares};
use crate::number::MinimumGain;
use crate::planned::{Look, check_choices};
use crate::robust::ClusterError;
use crate::standard::{Confirmed, ErrorBudget, Method, Standard, Timing};
use crate::symmetric::add_scaled;

/// Cases that an approximate interval needs in every arm that changes.
pub const MIN_CASES: u64 = 100;
/// Outcomes of each class that an approximate interval needs in every arm that changes.
pub const MIN_OF_A_CLASS: u64 = 30;
/// Degrees of freedom that an approximate interval needs where rows belong to clusters.
pub const MIN_CLUSTER_DEGREES: f64 = 10.0;

/// The functional `g` of a gain: `⟨g,θ⟩ = (1/m)Σ_s sᵀ(θ^{π′(s)} − θ^{π(s)})` for a change from `before` to `after` at these contexts.
///
/// # Errors
/// [`ConfirmError`]: contexts or arms that do not fit.
pub fn gain_functional(
    shape: Shape,
    contexts: Contexts<'_>,
    before: &[Arm],
    after: &[Arm],
) -> Result<Parameters, ConfirmError> {
    check_choices(contexts, shape, before, after)?;
    let dimension = shape.dimension();
    let mut values = vec![0.0; shape.parameters()];
    for (context, (old, new)) in contexts.iter().zip(before.iter().zip(after)).filter(|(_, (old, new))| old != new) {
        for (arm, sign) in [(old, -1.0), (new, 1.0)] {
            add_scaled(&mut values[arm.index() * dimension..][..dimension], sign, context.values());
        }
    }
    let share = 1.0 / contexts.len() as f64;
    for value in &mut values {
        *value *= share;
    }
    Ok(Parameters::from_computed(shape, values))
}

/// The rows that confirm: declared changes are judged on them, and on nothing else.
///
/// ```
/// use rarely_core::*;
/// let mut rng = Rng::new(1, 0);
/// let arms: Vec<Arm> = (0..400).map(|row| Arm::new(row % 2)).collect();
/// let rewards: Vec<f64> = arms.iter().map(|arm| 0.5 * arm.index() as f64 + rng.normal()).collect();
/// let (shape, contexts) = (Shape::new(2, 1)?, Contexts::new(&[1.0; 400], 1)?);
/// let confirmation = Confirmation::new(CaseLog::new(shape, contexts, &arms, &rewards)?);
/// let gain = gain_functional(shape, contexts, &[Arm::new(0); 400], &[Arm::new(1); 400])?;
/// let budget = ErrorBudget::new(ErrorProbability::new(0.05)?);
/// assert!(confirmation.planned(&gain, budget, Look::only(400))?.interval.contains(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Confirmation<'a> {
    fit: LeastSquares,
    errors: Errors<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Errors<'a> {
    Hc3(CaseLog<'a>),
    Cr2(CaseLog<'a>, &'a [u64]),
    Sums,
    /// HC3, of one functional, from rows that were streamed.
    Streamed(f64),
    /// CR2, of one functional.
    Clustered(ClusterError),
}

/// A standard error, the degrees of freedom of its t, and the independent cases behind it.
struct Precision {
    method: Method,
    standard_error: f64,
    degrees: f64,
    cases: u64,
}

impl<'a> Confirmation<'a> {
    /// From independent rows, with HC3 errors.
    pub fn new(log: CaseLog<'a>) -> Self {
        Self { fit: LeastSquares::fit(&log), errors: Errors::Hc3(log) }
    }

    /// From rows that belong to clusters, with CR2 errors.
    ///
    /// # Errors
    /// [`ConfirmError::Length`] if there is not one cluster for each row.
    pub fn clustered(log: CaseLog<'a>, clusters: &'a [u64]) -> Result<Self, ConfirmError> {
        if clusters.len() != log.len() {
            return Err(ConfirmError::Length { name: "clusters", expected: log.len(), found: clusters.len() });
        }
        Ok(Self { fit: LeastSquares::fit(&log), errors: Errors::Cr2(log, clusters) })
    }

    /// From sums alone, with each arm's residual variance.
    ///
    /// # Errors
    /// [`ConfirmError::Length`] if they do not have the shape.
    pub fn from_sums(shape: Shape, sums: &[ArmSums]) -> Result<Self, ConfirmError> {
        Ok(Self::from_fit(LeastSquares::from_sums(shape, sums)?))
    }

    /// From regressions, with each arm's residual variance.
    pub fn from_fit(fit: LeastSquares) -> Self {
        Self { fit, errors: Errors::Sums }
    }

    /// From regressions and the HC3 error of one functional, which [`StreamedErrors`](crate::StreamedErrors) computes without keeping rows.
    pub fn from_error(fit: LeastSquares, standard_error: f64) -> Self {
        Self { fit, errors: Errors::Streamed(standard_error) }
    }

    /// From regressions and the CR2 error of one functional.
    pub fn from_cluster_error(fit: LeastSquares, error: ClusterError) -> Self {
        Self { fit, errors: Errors::Clustered(error) }
    }

    /// The regressions.
    pub fn fit(&self) -> &LeastSquares {
        &self.fit
    }

    /// The interval of `⟨g,θ⟩` at a planned look, `q = t_ν(1−δ/(2Km))`.
    ///
    /// # Errors
    /// [`ConfirmError`]: the look is not at these cases, nothing changes, or an arm that changes has too few cases.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn planned(&self, functional: &Parameters, budget: ErrorBudget, look: Look) -> Result<Confirmed, ConfirmError> {
        look.check(self.fit.cases())?;
        let precision = self.precision(functional)?;
        let multiplier = planned_multiplier(precision.degrees, budget.share() / look.looks() as f64);
        self.confirmed(functional, &precision, multiplier, Timing::Planned)
    }

    /// The interval of `⟨g,θ⟩` that holds after every case at once, within a hold. The mixture is chosen beforehand.
    ///
    /// # Errors
    /// [`ConfirmError`]: nothing changes, or an arm that changes has too few cases.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn anytime(
        &self,
        functional: &Parameters,
        budget: ErrorBudget,
        mixture: Mixture,
    ) -> Result<Confirmed, ConfirmError> {
        let precision = self.precision(functional)?;
        let multiplier = anytime_multiplier(precision.degrees, precision.cases as f64, mixture, budget.share());
        self.confirmed(functional, &precision, multiplier, Timing::Anytime)
    }

    fn confirmed(
        &self,
        functional: &Parameters,
        precision: &Precision,
        multiplier: f64,
        timing: Timing,
    ) -> Result<Confirmed, ConfirmError> {
        Ok(Confirmed {
            interval: Interval::around(self.fit.estimate(functional)?, multiplier * precision.standard_error),
            standard: Standard::Approximate,
            method: precision.method,
            timing,
            standard_error: Some(precision.standard_error),
            degrees: Some(precision.degrees),
        })
    }

    /// Refuses what is known to fail, and computes the error of the rest. `ν = min_a n_a − d` over the arms that change.
    fn precision(&self, functional: &Parameters) -> Result<Precision, ConfirmError> {
        let mut degrees = f64::INFINITY;
        for Concerned { arm, fit, .. } in self.fit.concerned(functional)? {
            check_counts(arm, fit.count(), self.fit.rarer(arm))?;
            degrees = degrees.min(fit.degrees());
        }
        let cases = self.fit.cases();
        match &self.errors {
            Errors::Hc3(log) => {
                let standard_error = self.fit.hc3_error(log, functional)?;
                Ok(Precision { method: Method::LeastSquaresHc3, standard_error, degrees, cases })
            }
            &Errors::Streamed(standard_error) => {
                Ok(Precision { method: Method::LeastSquaresHc3, standard_error, degrees, cases })
            }
            Errors::Sums => {
                let standard_error = self.fit.sums_error(functional)?;
                Ok(Precision { method: Method::LeastSquaresSums, standard_error, degrees, cases })
            }
            Errors::Cr2(log, clusters) => by_clusters(self.fit.cr2_error(log, clusters, functional)?, degrees),
            Errors::Clustered(error) => by_clusters(*error, degrees),
        }
    }
}

/// The precision of a CR2 error, at most with the degrees of freedom of the rows.
fn by_clusters(error: ClusterError, degrees: f64) -> Result<Precision, ConfirmError> {
    let degrees = degrees.min(error.degrees);
    if !(degrees >= MIN_CLUSTER_DEGREES) {
        return Err(ConfirmError::TooFewClusters { degrees, needed: MIN_CLUSTER_DEGREES });
    }
    let ClusterError { standard_error, clusters: cases, .. } = error;
    Ok(Precision { method: Method::LeastSquaresCr2, standard_error, degrees, cases })
}

/// Whether an arm that changes has the cases that an approximate interval needs.
pub(crate) fn check_counts(arm: usize, cases: u64, rarer: u64) -> Result<(), ConfirmError> {
    if cases < MIN_CASES {
        return Err(ConfirmError::TooFewCases { arm, cases, needed: MIN_CASES });
    }
    if rarer < MIN_OF_A_CLASS {
        return Err(ConfirmError::RareOutcomes { arm, rarer, needed: MIN_OF_A_CLASS });
    }
    Ok(())
}

/// What the intervals of all candidates say, by equivalence testing [schuirmann-1987].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Conclusion {
    /// A candidate gains more than the minimum.
    Change,
    /// No candidate gains what is worth a change.
    Keep,
    /// Neither is shown yet.
    CannotTell,
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "change",
            Self::Keep => "keep",
            Self::CannotTell => "cannot tell",
        })
    }
}

/// A conclusion with the candidate that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Concluded {
    /// What to do.
    pub conclusion: Conclusion,
    /// The best candidate: to change to, the one with the highest lower end; otherwise the one with the highest estimate.
    pub best: usize,
    /// The most that keeping can cost per decision, against the candidates tried.
    pub keeping_costs_at_most: f64,
}

/// Concludes from the gains of all candidates: *change* if the lower end of one is above `minimum_gain`, *keep* if the upper end of every
/// one is below `worth`, the smallest gain that is worth a change.
///
/// ```
/// use rarely_core::{Conclusion, Interval, MinimumGain, conclude};
/// let gain = |lower, upper| Interval { estimate: 0.5 * (lower + upper), lower, upper };
/// let gains = [gain(-0.2, 0.1), gain(0.01, 0.03)];
/// let concluded = conclude(&gains, MinimumGain::new(0.0)?, MinimumGain::new(0.01)?);
/// assert_eq!((concluded.conclusion, concluded.best), (Conclusion::Change, 1));
/// # Ok::<(), rarely_core::SettingsError>(())
/// ```
///
/// # Panics
/// If there is no candidate.
pub fn conclude(gains: &[Interval], minimum_gain: MinimumGain, worth: MinimumGain) -> Concluded {
    assert!(!gains.is_empty(), "a conclusion needs a candidate");
    let highest = |end: fn(&Interval) -> f64| {
        let candidates = gains.iter().map(end).enumerate();
        // The first of equals: candidates come with the simplest first.
        candidates.reduce(|best, other| if other.1 > best.1 { other } else { best }).unwrap_or((0, f64::NAN))
    };
    let (surest, lower) = highest(|gain| gain.lower);
    let (_, upper) = highest(|gain| gain.upper);
    let (likeliest, _) = highest(|gain| gain.estimate);
    let (conclusion, best) = if lower > minimum_gain.get() {
        (Conclusion::Change, surest)
    } else if upper < worth.get() {
        (Conclusion::Keep, likeliest)
    } else {
        (Conclusion::CannotTell, likeliest)
    };
    Concluded { conclusion, best, keeping_costs_at_most: upper.max(0.0) }
}

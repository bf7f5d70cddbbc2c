//! What an interval rests on: how far it can be trusted, which method made it, and its share of the error probability.

use std::fmt;
use std::num::NonZeroU32;

use crate::confidence::Interval;
use crate::number::ErrorProbability;

/// How far the error probability of an interval can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Standard {
    /// At most δ, if what was declared is true: the range or the σ of the outcomes, the propensities.
    Certain,
    /// Exactly δ if outcomes are normal around their means, with the variances that the method assumes.
    ExactIfNormal,
    /// About δ with many cases.
    Approximate,
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certain => "certain",
            Self::ExactIfNormal => "exact if outcomes are normal",
            Self::Approximate => "approximate",
        })
    }
}

/// The method that made an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Method {
    /// Planned sets of arms, each with its own variance.
    PlannedArms,
    /// Planned sets of pairs with one variance for all arms, which the owner declared.
    PlannedPooled,
    /// Planned sets of pairs for a declared σ, such as half the range of the outcomes.
    PlannedBounded,
    /// Least squares with HC3 errors.
    LeastSquaresHc3,
    /// Least squares with CR2 errors for clusters.
    LeastSquaresCr2,
    /// Least squares with each arm's residual variance, from sums alone.
    LeastSquaresSums,
    /// The mean of model-free scores with its t interval.
    ScoreMean,
    /// Model-free scores with an empirical-Bernstein confidence sequence.
    EmpiricalBernstein,
    /// Model-free scores with an asymptotic confidence sequence.
    AsymptoticSequence,
    /// Percentiles of an estimate on rows that were drawn again.
    Bootstrap,
    /// The mean of a model's predictions with its t interval.
    Predictions,
    /// Sharp sets, which hold for every change at once.
    SharpSets,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PlannedArms => "planned sets, each arm with its own variance",
            Self::PlannedPooled => "planned sets, equal variances declared",
            Self::PlannedBounded => "planned sets, noise declared",
            Self::LeastSquaresHc3 => "least squares with HC3 errors",
            Self::LeastSquaresCr2 => "least squares with CR2 cluster errors",
            Self::LeastSquaresSums => "least squares with each arm's residual variance",
            Self::ScoreMean => "model-free scores, t interval",
            Self::EmpiricalBernstein => "model-free scores, empirical Bernstein",
            Self::AsymptoticSequence => "model-free scores, asymptotic confidence sequence",
            Self::Bootstrap => "percentile bootstrap",
            Self::Predictions => "predictions of a reward model, t interval",
            Self::SharpSets => "sharp sets",
        })
    }
}

/// When an interval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timing {
    /// At the looks that were planned beforehand.
    Planned,
    /// At all times at once.
    Anytime,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Planned => "planned",
            Self::Anytime => "anytime",
        })
    }
}

/// The interval of a gain or a value, with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Confirmed {
    /// The gain or the value per decision.
    pub interval: Interval,
    /// How far it can be trusted.
    pub standard: Standard,
    /// What made it.
    pub method: Method,
    /// When it holds.
    pub timing: Timing,
    /// The standard error, for methods that have one.
    pub standard_error: Option<f64>,
    /// Degrees of freedom `ν`, for methods that have them.
    pub degrees: Option<f64>,
}

impl Confirmed {
    /// Whether two intervals of one gain have no number in common. Neither certifies anything then: an assumption failed, or the
    /// event of probability δ occurred.
    pub fn contradicts(&self, other: &Self) -> bool {
        self.interval.lower > other.interval.upper || other.interval.lower > self.interval.upper
    }
}

impl fmt::Display for Confirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}, {}, {}", self.interval, self.standard, self.timing, self.method)
    }
}

/// `δ`, and what shares it besides the looks: the candidates that go over from the proposing part, and the methods that can each
/// yield a verdict.
///
/// ```
/// use rarely_core::{ErrorBudget, ErrorProbability};
/// let budget = ErrorBudget::new(ErrorProbability::new(0.1)?).candidates(5).methods(2);
/// assert!((budget.share() - 0.01).abs() < 1e-15);
/// # Ok::<(), rarely_core::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorBudget {
    error_probability: ErrorProbability,
    candidates: NonZeroU32,
    methods: NonZeroU32,
}

impl ErrorBudget {
    /// All of δ for one candidate and one method.
    pub fn new(error_probability: ErrorProbability) -> Self {
        Self { error_probability, candidates: NonZeroU32::MIN, methods: NonZeroU32::MIN }
    }

    /// Shared by `m` candidates.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn candidates(self, candidates: u32) -> Self {
        Self { candidates: NonZeroU32::new(candidates).expect("at least one candidate"), ..self }
    }

    /// Shared by several methods that can each yield a verdict.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn methods(self, methods: u32) -> Self {
        Self { methods: NonZeroU32::new(methods).expect("at least one method"), ..self }
    }

    /// `δ` for one candidate and one method, before it is shared by looks.
    pub fn share(&self) -> f64 {
        self.error_probability.get() / (f64::from(self.candidates.get()) * f64::from(self.methods.get()))
    }
}

//! Why an interval is refused: looks that were not planned, too few cases, missing propensities.

use rarely_error::{Explain, Remedy, Topic};
use thiserror::Error;

use super::{ContextError, ObserveError, SettingsError, short};

/// A look that the plan does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LookError {
    /// A plan without a look.
    #[error("the plan has no look")]
    Empty,
    /// Sizes that do not grow.
    #[error(
        "the planned looks are at {before} and then at {after} cases, but each must be at more cases than the one before"
    )]
    Order {
        /// A size.
        before: u64,
        /// The next one.
        after: u64,
    },
    /// A look at a size that was not recorded beforehand.
    #[error("{cases} cases are not a planned look; the next one is at {next}")]
    NotPlanned {
        /// Cases at hand.
        cases: u64,
        /// The next planned size.
        next: u64,
    },
    /// A look after the last one.
    #[error("{cases} cases are beyond the last planned look, which was at {last}")]
    AfterLast {
        /// Cases at hand.
        cases: u64,
        /// The last planned size.
        last: u64,
    },
    /// A look that was granted for another number of cases.
    #[error("the look is at {planned} cases, but the log has {cases}")]
    OtherLog {
        /// The look's size.
        planned: u64,
        /// Cases of the log.
        cases: u64,
    },
}

impl Explain for LookError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NotPlanned { .. } | Self::AfterLast { .. } => Some(
                Remedy::new("use an interval that holds at any time, or the cases of a planned look").see(Topic::Looks),
            ),
            Self::OtherLog { .. } => Some(Remedy::new("use exactly the cases of the look").see(Topic::Looks)),
            Self::Empty | Self::Order { .. } => None,
        }
    }
}

/// Why the gain of a declared change has no interval.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ConfirmError {
    /// Contexts that do not fit.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A row that cannot be used.
    #[error(transparent)]
    Outcome(#[from] ObserveError),
    /// A number out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A look that the plan does not allow.
    #[error(transparent)]
    Look(#[from] LookError),
    /// A list that does not have one entry for each row.
    #[error("there are {expected} rows, but {found} {name}")]
    Length {
        /// Which list.
        name: &'static str,
        /// Rows.
        expected: usize,
        /// Entries.
        found: usize,
    },
    /// A change that changes nothing.
    #[error("the change alters no decision, so that there is no gain to confirm")]
    NoChange,
    /// An arm whose coefficients the rows do not determine.
    #[error("arm {arm} has {cases} cases, which do not determine its {coefficients} coefficients and their error")]
    NotEstimable {
        /// The arm.
        arm: usize,
        /// Its cases.
        cases: u64,
        /// `d`.
        coefficients: usize,
    },
    /// A row that alone determines a coefficient, so that its residual says nothing about its error.
    #[error("row {row} alone determines a coefficient of its arm, so that no robust error can be computed")]
    Leverage {
        /// The row, from 0.
        row: usize,
    },
    /// Too few cases for an approximate interval.
    #[error("arm {arm} has {cases} cases, but an approximate interval needs {needed} in every arm that changes")]
    TooFewCases {
        /// The arm.
        arm: usize,
        /// Its cases.
        cases: u64,
        /// What is needed.
        needed: u64,
    },
    /// Too few outcomes of a class for an approximate interval.
    #[error(
        "arm {arm} has {rarer} outcomes that differ from its most frequent one, but an approximate interval needs {needed} in every arm \
         that changes"
    )]
    RareOutcomes {
        /// The arm.
        arm: usize,
        /// Outcomes other than the most frequent one.
        rarer: u64,
        /// What is needed.
        needed: u64,
    },
    /// Too few clusters for an approximate interval.
    #[error("the clusters give the error {degrees:.1} degrees of freedom, but an approximate interval needs {needed}")]
    TooFewClusters {
        /// Bell and McCaffrey's degrees of freedom.
        degrees: f64,
        /// What is needed.
        needed: f64,
    },
}

const CERTAIN: &str = "wait for more cases, declare the range of the outcome and use planned sets, or log propensities and use empirical Bernstein";

impl Explain for ConfirmError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Context(error) => error.remedy(),
            Self::Outcome(error) => error.remedy(),
            Self::Settings(error) => error.remedy(),
            Self::Look(error) => error.remedy(),
            Self::TooFewCases { .. } | Self::RareOutcomes { .. } => Some(Remedy::new(CERTAIN)),
            Self::TooFewClusters { .. } => Some(Remedy::new("wait for more clusters")),
            Self::NotEstimable { .. } | Self::Leverage { .. } => {
                Some(Remedy::new("wait for more cases, or use fewer context variables"))
            }
            Self::Length { .. } | Self::NoChange => None,
        }
    }
}

/// Why a case has no model-free score.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// A list that does not have one number for each arm.
    #[error("{found} {name} were given, but there must be one for each of the {arms} arms")]
    Length {
        /// Which list.
        name: &'static str,
        /// `k`.
        arms: usize,
        /// Numbers given.
        found: usize,
    },
    /// Numbers that are no probabilities: negative, or with another sum than 1.
    #[error("the {name} are no probabilities: one is negative, or their sum is not 1")]
    Probabilities {
        /// Which list.
        name: &'static str,
    },
    /// An arm that does not exist.
    #[error("arm {arm} does not exist; there are arms 0 to {}", arms - 1)]
    UnknownArm {
        /// The arm named.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// An arm that changes, and that was too improbable.
    #[error("the change concerns arm {arm}, whose propensity is {}, below the declared minimum of {}", short(*propensity), short(*minimum))]
    Overlap {
        /// The arm.
        arm: usize,
        /// Its probability in the log.
        propensity: f64,
        /// The declared minimum.
        minimum: f64,
    },
    /// An outcome outside its declared range.
    #[error("the outcome is {}, but its declared range is from {} to {}", short(*reward), short(*low), short(*high))]
    OutcomeRange {
        /// The outcome.
        reward: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A prediction that is not a number.
    #[error("the prediction for arm {arm} is not a number")]
    Prediction {
        /// The arm.
        arm: usize,
    },
    /// A rule that draws at random, where deterministic rules were declared.
    #[error("the rules were declared deterministic, but one of them gives probabilities")]
    NotDeterministic,
}

impl Explain for ScoreError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Length { name: "propensities", .. } => Some(Remedy::new(
                "log the probability of every arm, not only of the one that was given: that one is always positive",
            )),
            Self::Overlap { .. } => Some(Remedy::new(
                "let the changed rule decide like the rule in force where an arm is too improbable, or declare a smaller minimum",
            )
            .see(Topic::Exploration)),
            Self::OutcomeRange { .. } => Some(Remedy::new("declare the range that outcomes can have")),
            Self::NotDeterministic => Some(Remedy::new("declare that the rules draw at random")),
            Self::Length { .. } | Self::Probabilities { .. } | Self::UnknownArm { .. } | Self::Prediction { .. } => {
                None
            }
        }
    }
}

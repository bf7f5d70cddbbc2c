//! Policies from outside the workspace: what they must do to play beside ours.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rarely_core::{Algorithm, Contexts, Decision, Rng, Shape};
use serde::{Serialize, Serializer};

/// Why a policy from outside failed, in its own words.
pub type CustomError = Box<dyn Error + Send + Sync>;

/// A policy from outside that plays one run.
pub trait CustomPolicy: Send {
    /// Decides a block of contexts, row by row. `rng` is the run's stream for policies: whoever draws from it and nothing else gives the
    /// same decisions for any number of threads. Set `arm` and, where it is known, `propensity`; [`Decision::recorded`] makes one.
    ///
    /// # Errors
    /// Anything; the run ends with it.
    fn decide(&mut self, contexts: Contexts<'_>, rng: &mut Rng, decisions: &mut [Decision]) -> Result<(), CustomError>;

    /// Learns from outcomes: those of the block, or those that came in during it if outcomes come late.
    ///
    /// # Errors
    /// Anything; the run ends with it.
    fn observe(&mut self, contexts: Contexts<'_>, decisions: &[Decision], rewards: &[f64]) -> Result<(), CustomError>;
}

/// The run that a policy is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomRun {
    /// Arms and context variables.
    pub shape: Shape,
    /// Rounds of the run.
    pub rounds: u64,
    /// Seed of the experiment.
    pub seed: u64,
    /// Number of the run, from 0.
    pub run: u64,
}

/// An algorithm from outside: it makes a fresh policy for every run. A [`Contestant`](crate::Contestant) is made of it.
///
/// ```
/// use rarely_core::{Algorithm, Arm, Contexts, Decision, Profile, Rng};
/// use rarely_lab::{
///     Contestant, CustomAlgorithm, CustomError, CustomPolicy, CustomRun, Experiment, RunContext, WorldSource,
/// };
///
/// /// Plays the arms in turn, whoever comes.
/// #[derive(Debug)]
/// struct InTurn;
///
/// struct Turn { next: usize, arms: usize }
///
/// impl CustomAlgorithm for InTurn {
///     fn build(&self, run: &CustomRun) -> Result<Box<dyn CustomPolicy>, CustomError> {
///         Ok(Box::new(Turn { next: 0, arms: run.shape.arms() }))
///     }
/// }
///
/// impl CustomPolicy for Turn {
///     fn decide(&mut self, _: Contexts<'_>, _: &mut Rng, decisions: &mut [Decision]) -> Result<(), CustomError> {
///         for decision in decisions {
///             *decision = Decision::recorded(Arm::new(self.next % self.arms));
///             self.next += 1;
///         }
///         Ok(())
///     }
///
///     fn observe(&mut self, _: Contexts<'_>, _: &[Decision], _: &[f64]) -> Result<(), CustomError> {
///         Ok(())
///     }
/// }
///
/// let contestants = [Contestant::new(Algorithm::Rarely, Profile::Rigorous), Contestant::custom("in turn", InTurn)];
/// let experiment = Experiment { rounds: Some(200), ..Experiment::new(WorldSource::linear(3, 2), 2, 1) };
/// let results = experiment.run(&contestants, &RunContext::quiet())?;
/// assert!(results[0].summary().regret_per_step.mean < results[1].summary().regret_per_step.mean);
/// # Ok::<(), rarely_lab::ExperimentError>(())
/// ```
pub trait CustomAlgorithm: fmt::Debug + Send + Sync {
    /// The policy of one run.
    ///
    /// # Errors
    /// Anything; the experiment ends with it.
    fn build(&self, run: &CustomRun) -> Result<Box<dyn CustomPolicy>, CustomError>;

    /// Rounds that are decided at a time. Outcomes are learned at the end of a block.
    fn block(&self) -> usize {
        1
    }

    /// Everything that its results depend on, as text. Finished runs are found again by it; without it they are played again.
    fn fingerprint(&self) -> Option<String> {
        None
    }
}

/// Which algorithm a contestant plays.
#[derive(Debug, Clone)]
pub enum PlayedAlgorithm {
    /// One of the core's table.
    Core(Algorithm),
    /// One from outside.
    Custom(Arc<dyn CustomAlgorithm>),
}

impl PlayedAlgorithm {
    /// The row of the core's table, if it is one.
    pub fn core(&self) -> Option<Algorithm> {
        match self {
            Self::Core(algorithm) => Some(*algorithm),
            Self::Custom(_) => None,
        }
    }

    /// Whether it holds a rule and switches it.
    pub fn is_switching(&self) -> bool {
        self.core().is_some_and(Algorithm::is_switching)
    }

    /// Its name in the core's table, or "custom".
    pub fn name(&self) -> &'static str {
        self.core().map_or("custom", Algorithm::name)
    }
}

impl From<Algorithm> for PlayedAlgorithm {
    fn from(algorithm: Algorithm) -> Self {
        Self::Core(algorithm)
    }
}

impl PartialEq for PlayedAlgorithm {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Core(one), Self::Core(other)) => one == other,
            (Self::Custom(one), Self::Custom(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl PartialEq<Algorithm> for PlayedAlgorithm {
    fn eq(&self, other: &Algorithm) -> bool {
        self.core() == Some(*other)
    }
}

impl Serialize for PlayedAlgorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Core(algorithm) => algorithm.serialize(serializer),
            Self::Custom(custom) => custom.fingerprint().serialize(serializer),
        }
    }
}

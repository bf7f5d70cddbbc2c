//! What can be wrong with an input: the value, the limit it broke, and what to do about it.
//!
//! The limits exist so that no finite input can overflow or silently lose the digits that a confidence set depends on.

mod arms;
mod confirm;
mod evaluate;
mod remedy;

use thiserror::Error;

use crate::statistics::MAX_WEIGHT;

pub use arms::ArmsError;
pub use confirm::{ConfirmError, LookError, ScoreError};
pub use evaluate::EvaluateError;

/// Largest magnitude of an entry of a context.
pub const MAX_CONTEXT_ENTRY: f64 = 1e9;
/// Largest magnitude of a reward.
pub const MAX_REWARD: f64 = 1e12;
/// Largest magnitude of an entry of a parameter vector.
pub const MAX_PARAMETER: f64 = 1e12;
/// Largest ratio of what an arm has observed (`tr Σssᵀ`) to the penalty; beyond it `f64` no longer resolves the penalty in
/// directions that were never observed, and confidence sets would be too small there.
pub const MAX_INFORMATION_RATIO: f64 = 1e12;
/// The largest number of arms.
pub const MAX_ARMS: usize = 256;
/// The largest number of context variables.
pub const MAX_DIMENSION: usize = 4096;

/// A shape, a number or a combination of settings that no policy can be built from.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Fewer than two arms, or more than [`MAX_ARMS`].
    #[error("the number of arms is {arms}, but it must be from 2 to {MAX_ARMS}")]
    Arms {
        /// The number given.
        arms: usize,
    },
    /// No context variable, or more than [`MAX_DIMENSION`].
    #[error("the number of context variables is {dimension}, but it must be from 1 to {MAX_DIMENSION}")]
    Dimension {
        /// The number given.
        dimension: usize,
    },
    /// A number outside its range.
    #[error("the {name} is {}, but it must be from {} to {}", short(*value), short(*low), short(*high))]
    OutOfRange {
        /// What the number is.
        name: &'static str,
        /// The number given.
        value: f64,
        /// The smallest allowed.
        low: f64,
        /// The largest allowed.
        high: f64,
        /// What the number means, or which one is usual.
        remedy: Option<&'static str>,
    },
    /// A parameter array of the wrong length.
    #[error("{found} numbers were given for the {name}, but {expected} are needed")]
    Length {
        /// Which array.
        name: &'static str,
        /// Numbers needed.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// Features of arms that are not one row for each arm.
    #[error("{found} numbers are not as many features for each of {arms} arms")]
    ArmFeatures {
        /// Numbers given.
        found: usize,
        /// Arms.
        arms: usize,
    },
    /// A parameter that is not finite or too large.
    #[error("{name}[{index}] is {}, but it must be finite and at most {MAX_PARAMETER:e} in magnitude", short(*value))]
    Parameter {
        /// Which array.
        name: &'static str,
        /// Place in it.
        index: usize,
        /// The number given.
        value: f64,
    },
    /// An arm the policy does not have.
    #[error("arm {arm} does not exist; the policy has arms 0 to {}", arms - 1)]
    UnknownArm {
        /// The arm named.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// An algorithm name that is not in the table.
    #[error("unknown algorithm \"{name}\"")]
    UnknownAlgorithm {
        /// The name given.
        name: String,
        /// Every name there is.
        known: String,
    },
    /// A name of confidence sets that does not exist.
    #[error("unknown confidence sets \"{name}\"")]
    UnknownSets {
        /// The name given.
        name: String,
    },
    /// Text that is neither a standard deviation nor a name of unknown noise.
    #[error("`{found}` is no noise")]
    Noise {
        /// What was given.
        found: String,
    },
    /// Text that is no way to forget.
    #[error("`{found}` is no way to forget")]
    Forgetting {
        /// What was given.
        found: String,
    },
    /// A declaration about delays that does not exist.
    #[error("unknown delay \"{name}\"")]
    UnknownDelay {
        /// The name given.
        name: String,
    },
    /// Text that does not name a way to explore.
    #[error("`{found}` is not a way to explore")]
    Exploration {
        /// What was given.
        found: String,
    },
    /// Two settings that exclude each other.
    #[error("{setting} cannot be combined with {algorithm}")]
    Incompatible {
        /// The setting.
        setting: &'static str,
        /// The algorithm.
        algorithm: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// An algorithm without a setting that it needs.
    #[error("{algorithm} needs {what}")]
    Missing {
        /// The algorithm.
        algorithm: &'static str,
        /// What it needs.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A population sample without a context in it, or of the wrong width.
    #[error("the population sample: {0}")]
    Population(#[from] ContextError),
}

/// A context that cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ContextError {
    /// An entry that is NaN, infinite or too large.
    #[error("context variable {index} is {}, but it must be finite and at most {MAX_CONTEXT_ENTRY:e} in magnitude", short(*value))]
    Entry {
        /// Place in the context.
        index: usize,
        /// The number given.
        value: f64,
    },
    /// An entry of a block that is NaN, infinite or too large.
    #[error(
        "context variable {index} in row {row} is {}, but it must be finite and at most {MAX_CONTEXT_ENTRY:e} in magnitude",
        short(*value)
    )]
    BlockEntry {
        /// Row of the block, from 0.
        row: usize,
        /// Place in the context.
        index: usize,
        /// The number given.
        value: f64,
    },
    /// A context of the wrong length.
    #[error("the context has {found} variables, but the policy has {expected}")]
    DimensionMismatch {
        /// Variables of the policy.
        expected: usize,
        /// Variables given.
        found: usize,
    },
    /// A block whose length is not a whole number of contexts.
    #[error("{found} numbers are not a whole number of contexts of {dimension} variables")]
    RaggedBlock {
        /// Numbers given.
        found: usize,
        /// Variables of a context.
        dimension: usize,
    },
    /// No context at all.
    #[error("no context was given")]
    Empty,
}

/// A decision that cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DecideError {
    /// The context does not fit the policy.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A mask that does not have one flag for each arm, or allows none.
    #[error(
        "the mask has {found} flags of which {allowed} allow their arm, but there are {arms} arms, and one must be allowed"
    )]
    Mask {
        /// Flags given.
        found: usize,
        /// Arms that are allowed.
        allowed: usize,
        /// Arms of the policy.
        arms: usize,
    },
    /// A mask for an algorithm that decides among all arms only.
    #[error("{algorithm} decides among all arms only")]
    Masked {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The buffer for the answers has the wrong length.
    #[error("there are {contexts} contexts, but room for {room} decisions")]
    Room {
        /// Contexts given.
        contexts: usize,
        /// Places for decisions.
        room: usize,
    },
}

/// An outcome that cannot be learned from. The policy is as it was before the call.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ObserveError {
    /// The context does not fit the policy.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// An arm the policy does not have.
    #[error("arm {arm} does not exist; the policy has arms 0 to {}", arms - 1)]
    UnknownArm {
        /// The arm named.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// A reward that is NaN, infinite or too large.
    #[error("the reward is {}, but it must be finite and at most {MAX_REWARD:e} in magnitude", short(*reward))]
    Reward {
        /// The number given.
        reward: f64,
    },
    /// A reward that an algorithm for outcomes from 0 to 1 cannot learn.
    #[error("the reward is {}, but {algorithm} learns outcomes from 0 to 1", short(*reward))]
    NoShare {
        /// The number given.
        reward: f64,
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A weight that is not above 0, or too large.
    #[error("the weight is {}, but it must be above 0 and at most {MAX_WEIGHT:e}", short(*weight))]
    Weight {
        /// The number given.
        weight: f64,
    },
    /// Not one weight for each row.
    #[error("there are {rewards} rewards, but {weights} weights")]
    WeightCount {
        /// Rewards given.
        rewards: usize,
        /// Weights given.
        weights: usize,
    },
    /// Weights for an algorithm that has none.
    #[error("{algorithm} learns no weights")]
    Weights {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// Contexts too large for the penalty.
    #[error(
        "with this context arm {arm} would hold {} times the penalty, more than the limit {}", large(*ratio), large(MAX_INFORMATION_RATIO)
    )]
    IllConditioned {
        /// The arm.
        arm: usize,
        /// `tr Σssᵀ / λ`.
        ratio: f64,
    },
    /// The arrays of a batch do not have one row each per observation.
    #[error(
        "the batch has {contexts} contexts, {decisions} decisions and {rewards} rewards, but needs the same number of each"
    )]
    BatchLength {
        /// Contexts given.
        contexts: usize,
        /// Decisions given.
        decisions: usize,
        /// Rewards given.
        rewards: usize,
    },
    /// A row of a batch. Nothing of the batch was learned.
    #[error("row {row}: {source}")]
    Row {
        /// Which row, from 0.
        row: usize,
        /// What was wrong with it.
        source: Box<ObserveError>,
    },
}

impl ObserveError {
    pub(crate) fn in_row(self, row: usize) -> Self {
        Self::Row { row, source: Box::new(self) }
    }
}

/// Statistics that cannot be added.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Different numbers of arms or context variables.
    #[error("{arms} arms × {dimension} context variables cannot be merged with {other_arms} × {other_dimension}")]
    Shape {
        /// Arms here.
        arms: usize,
        /// Context variables here.
        dimension: usize,
        /// Arms there.
        other_arms: usize,
        /// Context variables there.
        other_dimension: usize,
    },
    /// Different penalties or prior means.
    #[error("the two sets of statistics have different penalties or prior means")]
    Prior,
    /// Policies of different algorithms.
    #[error("`{mine}` cannot be merged with `{theirs}`")]
    Algorithm {
        /// The algorithm here.
        mine: &'static str,
        /// The algorithm there.
        theirs: &'static str,
    },
    /// Policies built with different settings.
    #[error("the two policies have different {what}")]
    Settings {
        /// What differs.
        what: &'static str,
    },
    /// Statistics that forget.
    #[error(
        "statistics that forget old outcomes cannot be merged: it depends on the order of all outcomes in time what they forget"
    )]
    Forgetting,
    /// Policies that estimate the noise from the order of their outcomes.
    #[error("a policy that estimates the noise cannot be merged: it needs the order of all outcomes in time")]
    UnknownNoise,
    /// Sums that are of another shape, not finite, or too many.
    #[error("the sums for arm {arm} have the wrong length, or one of them is not finite")]
    Sums {
        /// The arm.
        arm: usize,
    },
    /// Merged, they would hold more than `f64` resolves.
    #[error(
        "merged, arm {arm} would hold {} times the penalty, more than the limit {}", large(*ratio), large(MAX_INFORMATION_RATIO)
    )]
    IllConditioned {
        /// The arm.
        arm: usize,
        /// `tr Σssᵀ / λ`.
        ratio: f64,
    },
}

/// A snapshot that no policy can be restored from.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Written by a version of the format that this one does not read.
    #[error("the snapshot has format {found}, but this version reads format {expected}")]
    Format {
        /// The format found.
        found: u32,
        /// The format read here.
        expected: u32,
    },
    /// The parts do not fit together.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
}

/// A number beyond a limit, to be compared with it.
fn large(value: f64) -> String {
    rarely_error::scientific(value, 6)
}

/// A number as people write it: plain where that is short, with an exponent where it is not.
fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e7).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

//! What can be wrong with an input, each with the value that was wrong and the limit it broke.
//!
//! The limits exist so that no finite input can overflow or silently lose the digits that a confidence set depends on.

use thiserror::Error;

/// Largest magnitude of an entry of a context.
pub const MAX_CONTEXT_ENTRY: f64 = 1e9;
/// Largest magnitude of a reward.
pub const MAX_REWARD: f64 = 1e12;
/// Largest magnitude of an entry of a parameter vector.
pub const MAX_PARAMETER: f64 = 1e12;
/// Largest ratio of what an arm has observed (`tr Σssᵀ`) to the penalty; beyond it `f64` no longer resolves the penalty in
/// directions that were never observed, and confidence sets would be too small there.
pub const MAX_INFORMATION_RATIO: f64 = 1e12;
/// Most arms a policy may have.
pub const MAX_ARMS: usize = 256;
/// Most context variables a policy may have.
pub const MAX_DIMENSION: usize = 4096;

/// A shape, a number or a combination of settings that no policy can be built from.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Fewer than two arms, or more than [`MAX_ARMS`].
    #[error("{arms} arms: a policy chooses between 2 and {MAX_ARMS}")]
    Arms {
        /// The number given.
        arms: usize,
    },
    /// No context variable, or more than [`MAX_DIMENSION`].
    #[error("{dimension} context variables: a policy has between 1 and {MAX_DIMENSION}")]
    Dimension {
        /// The number given.
        dimension: usize,
    },
    /// A number outside its range.
    #[error("{name} = {} is outside {} to {}: {remedy}", short(*value), short(*low), short(*high))]
    OutOfRange {
        /// What the number is.
        name: &'static str,
        /// The number given.
        value: f64,
        /// The smallest allowed.
        low: f64,
        /// The largest allowed.
        high: f64,
        /// What to do.
        remedy: &'static str,
    },
    /// A parameter array of the wrong length.
    #[error("{name}: {found} numbers were given and {expected} are needed")]
    Length {
        /// Which array.
        name: &'static str,
        /// Numbers needed.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// A parameter that is not finite or too large.
    #[error("{name}[{index}] = {}: parameters are finite and at most {MAX_PARAMETER:e} in magnitude", short(*value))]
    Parameter {
        /// Which array.
        name: &'static str,
        /// Place in it.
        index: usize,
        /// The number given.
        value: f64,
    },
    /// An arm the policy does not have.
    #[error("arm {arm} does not exist: the policy has arms 0 to {}", arms - 1)]
    UnknownArm {
        /// The arm named.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// An algorithm name that is not in the table.
    #[error("no algorithm is called \"{name}\"; there are: {known}")]
    UnknownAlgorithm {
        /// The name given.
        name: String,
        /// Every name there is.
        known: String,
    },
    /// A way to explore that is not one.
    #[error("`{found}` is not none, equipoise:0.05, pilot:10 or pilot:6+equipoise:0.02")]
    Exploration {
        /// What was given.
        found: String,
    },
    /// Two settings that exclude each other.
    #[error("{setting} does not go with {algorithm}: {remedy}")]
    Incompatible {
        /// The setting.
        setting: &'static str,
        /// The algorithm.
        algorithm: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// An algorithm that needs something more.
    #[error("{algorithm} needs {what}: {remedy}")]
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
    #[error("context variable {index} = {}: it must be finite and at most {MAX_CONTEXT_ENTRY:e} in magnitude", short(*value))]
    Entry {
        /// Place in the context.
        index: usize,
        /// The number given.
        value: f64,
    },
    /// The same in a block.
    #[error(
        "row {row}, context variable {index} = {}: it must be finite and at most {MAX_CONTEXT_ENTRY:e} in magnitude",
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
    #[error("the context has {found} variables, the policy {expected}")]
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
    /// The buffer for the answers has the wrong length.
    #[error("{contexts} contexts were given and room for {room} decisions")]
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
    #[error("arm {arm} does not exist: the policy has arms 0 to {}", arms - 1)]
    UnknownArm {
        /// The arm named.
        arm: usize,
        /// How many there are.
        arms: usize,
    },
    /// A reward that is NaN, infinite or too large.
    #[error("the reward is {}: it must be finite and at most {MAX_REWARD:e} in magnitude", short(*reward))]
    Reward {
        /// The number given.
        reward: f64,
    },
    /// Contexts too large for the penalty.
    #[error(
        "after this context arm {arm} would have observed {ratio:e} times the penalty, more than {MAX_INFORMATION_RATIO:e}: \
         scale the context variables to about one, or raise the penalty"
    )]
    IllConditioned {
        /// The arm.
        arm: usize,
        /// `tr Σssᵀ / λ`.
        ratio: f64,
    },
    /// The arrays of a batch do not have one row each per observation.
    #[error("{contexts} contexts, {decisions} decisions and {rewards} rewards: a batch needs as many of each")]
    BatchLength {
        /// Contexts given.
        contexts: usize,
        /// Decisions given.
        decisions: usize,
        /// Rewards given.
        rewards: usize,
    },
    /// A row of a batch, of which nothing was learned.
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
    #[error("`{mine}` cannot be merged with `{theirs}`; merge policies of one algorithm")]
    Algorithm {
        /// The algorithm here.
        mine: &'static str,
        /// The algorithm there.
        theirs: &'static str,
    },
    /// Policies built with different settings.
    #[error("the two policies have different {what}; build both with the same")]
    Settings {
        /// What differs.
        what: &'static str,
    },
    /// Sums that are of another shape, not finite, or too many.
    #[error("the sums for arm {arm} do not fit: they need a number for each pair of context variables, all finite")]
    Sums {
        /// The arm.
        arm: usize,
    },
    /// Together they hold more than `f64` resolves.
    #[error("together arm {arm} would hold {ratio:e} times the penalty, more than {MAX_INFORMATION_RATIO:e}")]
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
    #[error("the snapshot has format {found}; this version reads format {expected}")]
    Format {
        /// The format found.
        found: u32,
        /// The format read here.
        expected: u32,
    },
    /// Its parts do not fit together.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
}

/// A number as a person would write it: plain where that is short, with an exponent where it is not.
fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e7).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

//! A policy's whole state as plain data, with a format version.

use crate::algorithm::Algorithm;
use crate::error::{MergeError, RestoreError};
use crate::policy::Policy;
use crate::policy::batched::Batched;
use crate::policy::bootstrap::Bootstrap;
use crate::policy::conservative::Clucb;
use crate::policy::constant_width::ConstantWidth;
use crate::policy::epsilon_greedy::EpsilonGreedy;
use crate::policy::indexed::Indexed;
use crate::policy::local_threshold::LocalThreshold;
use crate::policy::logistic_thompson::LogisticThompson;
use crate::policy::optimistic::Optimistic;
use crate::policy::random::Unlearned;
use crate::policy::rs_glincb::RsGlinCb;
use crate::policy::shared::Shared;
use crate::policy::square_cb::SquareCb;
use crate::policy::switching::Switching;
use crate::policy::thompson::Thompson;

/// The format that this version writes and reads.
pub const SNAPSHOT_FORMAT: u32 = 1;

/// The state of a policy. A restored policy decides and learns bit for bit as the original.
///
/// With the feature `serde` it can be written in any format that keeps `f64` exactly (for JSON: `serde_json` with its feature
/// `float_roundtrip`).
///
/// ```
/// use rarely_core::Settings;
/// let policy = Settings::new(2, 2).unwrap().build().unwrap();
/// let copy = policy.snapshot().restore().unwrap();
/// assert_eq!(copy.snapshot(), policy.snapshot());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot {
    format: u32,
    state: State,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum State {
    Switching(Box<Switching>),
    Optimistic(Box<Optimistic>),
    Clucb(Box<Clucb>),
    Thompson(Box<Thompson>),
    Unlearned(Box<Unlearned>),
    Batched(Box<Batched>),
    Bootstrap(Box<Bootstrap>),
    EpsilonGreedy(Box<Indexed<EpsilonGreedy>>),
    LinUcbAlpha(Box<Indexed<ConstantWidth>>),
    SquareCb(Box<Indexed<SquareCb>>),
    LogisticThompson(Box<LogisticThompson>),
    RsGlinCb(Box<RsGlinCb>),
    Shared(Box<Shared>),
    LocalThreshold(Box<LocalThreshold>),
}

impl State {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Switching(policy) => policy.algorithm(),
            Self::Optimistic(policy) => policy.algorithm(),
            Self::Clucb(policy) => policy.algorithm(),
            Self::Thompson(policy) => policy.algorithm(),
            Self::Unlearned(policy) => policy.algorithm(),
            Self::Batched(policy) => policy.algorithm(),
            Self::Bootstrap(policy) => policy.algorithm(),
            Self::EpsilonGreedy(policy) => policy.algorithm(),
            Self::LinUcbAlpha(policy) => policy.algorithm(),
            Self::SquareCb(policy) => policy.algorithm(),
            Self::LogisticThompson(policy) => policy.algorithm(),
            Self::RsGlinCb(policy) => policy.algorithm(),
            Self::Shared(policy) => policy.algorithm(),
            Self::LocalThreshold(policy) => policy.algorithm(),
        }
    }
}

impl Snapshot {
    pub(crate) fn new(state: State) -> Self {
        let mut snapshot = Self { format: SNAPSHOT_FORMAT, state };
        if let State::Switching(policy) = &mut snapshot.state {
            policy.revive();
        }
        snapshot
    }

    /// The format version.
    pub fn format(&self) -> u32 {
        self.format
    }

    /// Adds what another policy of the same settings learned, as if one had seen both logs. Rule, number of changes and adopted
    /// estimates stay those of this one; [`Policy::reconsider`] tests the rule with the merged statistics.
    ///
    /// ```
    /// use rarely_core::{Arm, Context, Decision, Settings};
    /// let mut policies = [0.0, 1.0].map(|reward| {
    ///     let mut policy = Settings::new(2, 1).unwrap().build().unwrap();
    ///     let _ = policy.observe(Context::new(&[1.0]).unwrap(), &Decision::recorded(Arm::new(1)), reward).unwrap();
    ///     policy.snapshot()
    /// });
    /// let [first, second] = &mut policies;
    /// first.merge(second).unwrap();
    /// assert_eq!(first.clone().restore().unwrap().rounds(), 2);
    /// ```
    ///
    /// # Errors
    /// [`MergeError`] if the two were not built alike or hold too much together; nothing is changed in that case.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let (mine, theirs) = (self.state.algorithm(), other.state.algorithm());
        if mine != theirs {
            return Err(MergeError::Algorithm { mine: mine.name(), theirs: theirs.name() });
        }
        match (&mut self.state, &other.state) {
            (State::Switching(mine), State::Switching(theirs)) => mine.merge(theirs),
            (State::Optimistic(mine), State::Optimistic(theirs)) => mine.merge(theirs),
            (State::Clucb(mine), State::Clucb(theirs)) => mine.merge(theirs),
            (State::Thompson(mine), State::Thompson(theirs)) => mine.merge(theirs),
            (State::Unlearned(mine), State::Unlearned(theirs)) => mine.merge(theirs),
            (State::Batched(mine), State::Batched(theirs)) => mine.merge(theirs),
            (State::Bootstrap(mine), State::Bootstrap(theirs)) => mine.merge(theirs),
            (State::EpsilonGreedy(mine), State::EpsilonGreedy(theirs)) => mine.merge(theirs),
            (State::LinUcbAlpha(mine), State::LinUcbAlpha(theirs)) => mine.merge(theirs),
            (State::SquareCb(mine), State::SquareCb(theirs)) => mine.merge(theirs),
            (State::LogisticThompson(mine), State::LogisticThompson(theirs)) => mine.merge(theirs),
            (State::RsGlinCb(mine), State::RsGlinCb(theirs)) => mine.merge(theirs),
            (State::Shared(mine), State::Shared(theirs)) => mine.merge(theirs),
            (State::LocalThreshold(mine), State::LocalThreshold(theirs)) => mine.merge(theirs),
            _ => Err(MergeError::Algorithm { mine: mine.name(), theirs: theirs.name() }),
        }
    }

    /// Restores the policy.
    ///
    /// # Errors
    /// [`RestoreError`] if the format is another one or the parts do not fit together.
    pub fn restore(self) -> Result<Box<dyn Policy>, RestoreError> {
        if self.format != SNAPSHOT_FORMAT {
            return Err(RestoreError::Format { found: self.format, expected: SNAPSHOT_FORMAT });
        }
        let sound = match &self.state {
            State::Switching(policy) => policy.is_sound(),
            State::Optimistic(policy) => policy.is_sound(),
            State::Clucb(policy) => policy.is_sound(),
            State::Thompson(policy) => policy.is_sound(),
            State::Unlearned(policy) => policy.is_sound(),
            State::Batched(policy) => policy.is_sound(),
            State::Bootstrap(policy) => policy.is_sound(),
            State::EpsilonGreedy(policy) => policy.is_sound(),
            State::LinUcbAlpha(policy) => policy.is_sound(),
            State::SquareCb(policy) => policy.is_sound(),
            State::LogisticThompson(policy) => policy.is_sound(),
            State::RsGlinCb(policy) => policy.is_sound(),
            State::Shared(policy) => policy.is_sound(),
            State::LocalThreshold(policy) => policy.is_sound(),
        };
        if !sound {
            return Err(RestoreError::Damaged(
                "an array has the wrong length, a number is not finite, or counts disagree",
            ));
        }
        Ok(match self.state {
            State::Switching(mut policy) => {
                policy.revive();
                policy
            }
            State::Optimistic(policy) => policy,
            State::Clucb(policy) => policy,
            State::Thompson(policy) => policy,
            State::Unlearned(policy) => policy,
            State::Batched(policy) => policy,
            State::Bootstrap(policy) => policy,
            State::EpsilonGreedy(policy) => policy,
            State::LinUcbAlpha(policy) => policy,
            State::SquareCb(policy) => policy,
            State::LogisticThompson(policy) => policy,
            State::RsGlinCb(policy) => policy,
            State::Shared(policy) => policy,
            State::LocalThreshold(policy) => policy,
        })
    }
}

//! A policy's whole state as plain data, with a format version.

use crate::error::RestoreError;
use crate::policy::Policy;
use crate::policy::conservative::Clucb;
use crate::policy::optimistic::Optimistic;
use crate::policy::random::Unlearned;
use crate::policy::switching::Switching;
use crate::policy::thompson::Thompson;

/// The format that this version writes and reads.
pub const SNAPSHOT_FORMAT: u32 = 1;

/// The state of a policy, restored bit for bit: what it decides and how it learns afterwards is the same.
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

    /// The policy again.
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
        })
    }
}

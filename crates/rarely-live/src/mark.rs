//! The names under which events are found again.

use rarely_store::Mark;

/// The decision that was asked for under a key.
pub(crate) fn of_ask(policy: u64, key: &str) -> Mark {
    Mark::new(1, &[&policy.to_be_bytes(), key.as_bytes()].concat())
}

/// What was last said of how a decision went.
pub(crate) fn of_outcome(decision: u64) -> Mark {
    Mark::new(2, &decision.to_be_bytes())
}

/// The observation that was reported under a key.
pub(crate) fn of_observation(policy: u64, key: &str) -> Mark {
    Mark::new(3, &[&policy.to_be_bytes(), key.as_bytes()].concat())
}

//! The keys under which events are looked up in the log.

use rarely_store::LookupKey;

/// The decision with this idempotency key.
pub(crate) fn of_request(policy: u64, key: &str) -> LookupKey {
    LookupKey::new(1, &[&policy.to_be_bytes(), key.as_bytes()].concat())
}

/// The latest outcome or correction of a decision.
pub(crate) fn of_outcome(decision: u64) -> LookupKey {
    LookupKey::new(2, &decision.to_be_bytes())
}

/// The external observation with this idempotency key.
pub(crate) fn of_observation(policy: u64, key: &str) -> LookupKey {
    LookupKey::new(3, &[&policy.to_be_bytes(), key.as_bytes()].concat())
}

/// The event that overrode a decision.
pub(crate) fn of_override(decision: u64) -> LookupKey {
    LookupKey::new(4, &decision.to_be_bytes())
}

//! The keys under which events are looked up in the log.

use rarely_store::{LookupKey, SubjectKey};

/// The decision with this idempotency key.
pub(crate) fn of_request(policy: u64, key: &str) -> LookupKey {
    LookupKey::new(1, &[&policy.to_be_bytes(), key.as_bytes()].concat())
}

/// The decision about a person with this idempotency key. When the key of the person is destroyed, nothing tells the idempotency key.
pub(crate) fn of_request_about(policy: u64, person: &SubjectKey, key: &str) -> LookupKey {
    LookupKey::new(1, &[&policy.to_be_bytes(), &person.digest(key).0[..]].concat())
}

/// The external observation about a person with this idempotency key.
pub(crate) fn of_observation_about(policy: u64, person: &SubjectKey, key: &str) -> LookupKey {
    LookupKey::new(3, &[&policy.to_be_bytes(), &person.digest(key).0[..]].concat())
}

/// The latest outcome or correction of a decision.
pub(crate) fn of_outcome(decision: u64) -> LookupKey {
    LookupKey::new(2, &decision.to_be_bytes())
}

/// The external observation with this idempotency key.
pub(crate) fn of_observation(policy: u64, key: &str) -> LookupKey {
    LookupKey::new(3, &[&policy.to_be_bytes(), key.as_bytes()].concat())
}

/// The copy of an act of the service's own chain.
pub(crate) fn of_act(number: u64) -> LookupKey {
    LookupKey::new(5, &number.to_be_bytes())
}

/// The event that overrode a decision.
pub(crate) fn of_override(decision: u64) -> LookupKey {
    LookupKey::new(4, &decision.to_be_bytes())
}

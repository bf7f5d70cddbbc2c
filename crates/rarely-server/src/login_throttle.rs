//! Limits how many invalid tokens a client can try. Valid tokens are never held up.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::client_address::network;

/// Failures that a client may make at once.
const AT_ONCE: u64 = 10;
/// After how long one more is allowed.
const ONE_MORE_MS: u64 = 6_000;
/// Clients share this many buckets, by a hash that they cannot foresee. However many addresses an attacker has, memory stays the
/// same and no bucket is forgotten; a client that shares one is told to wait only after a failure of its own.
const BUCKETS: usize = 1 << 16;

/// When the failures of each bucket will be forgiven, in milliseconds since the start (the generic cell rate algorithm).
#[derive(Debug)]
pub(crate) struct LoginThrottle {
    started: Instant,
    hasher: RandomState,
    forgiven_ms: Vec<AtomicU64>,
}

impl Default for LoginThrottle {
    fn default() -> Self {
        let forgiven_ms = std::iter::repeat_with(AtomicU64::default).take(BUCKETS).collect();
        Self { started: Instant::now(), hasher: RandomState::new(), forgiven_ms }
    }
}

impl LoginThrottle {
    /// Records a failed attempt. Returns how many seconds the client must wait, if there were too many.
    pub(crate) fn record_failure(&self, address: IpAddr) -> Option<u64> {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.record_at(address, now_ms)
    }

    fn record_at(&self, address: IpAddr, now_ms: u64) -> Option<u64> {
        let at = self.hasher.hash_one(network(address));
        let bucket = &self.forgiven_ms[usize::try_from(at % BUCKETS as u64).unwrap_or(0)];
        let later = |forgiven: u64| {
            let next = forgiven.max(now_ms) + ONE_MORE_MS;
            // A client that goes on is not locked out for longer and longer.
            (next <= now_ms + AT_ONCE * ONE_MORE_MS).then_some(next)
        };
        match bucket.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later) {
            Ok(_) => None,
            Err(forgiven) => Some((forgiven + ONE_MORE_MS - now_ms - AT_ONCE * ONE_MORE_MS).div_ceil(1000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_failures_are_allowed_and_then_one_every_six_seconds() {
        let (throttle, here) = (LoginThrottle::default(), IpAddr::from([127, 0, 0, 1]));
        for time in 0..10 {
            assert_eq!(throttle.record_at(here, 100 * time), None);
        }
        assert_eq!(throttle.record_at(here, 1000), Some(5));
        assert_eq!(throttle.record_at(here, 1000), Some(5), "refused attempts do not count");
        assert_eq!(throttle.record_at(here, 6000), None);
        assert_eq!(throttle.record_at(here, 6000), Some(6));
        assert_eq!(throttle.record_at(here, 100_000), None);
    }

    #[test]
    fn an_attacker_with_many_addresses_is_not_forgotten() {
        let throttle = LoginThrottle::default();
        let addresses: Vec<IpAddr> = (0..100_000_u32).map(|number| IpAddr::from(number.to_be_bytes())).collect();
        for _ in 0..10 {
            for address in &addresses {
                throttle.record_at(*address, 0);
            }
        }
        assert!(addresses.iter().all(|address| throttle.record_at(*address, 1).is_some()));
    }
}

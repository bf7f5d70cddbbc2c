//! Limits how many invalid tokens an address can try.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Failed attempts allowed per address and window.
const MOST_FAILURES: usize = 10;
const WINDOW_MS: u64 = 60_000;
/// Addresses remembered at most.
const ADDRESSES: usize = 10_000;

/// The times of failed attempts within the last minute, by address.
#[derive(Debug, Default)]
pub(crate) struct LoginThrottle {
    failures: Mutex<HashMap<IpAddr, Vec<u64>>>,
}

impl LoginThrottle {
    /// How many seconds an address must wait, if it is throttled.
    pub(crate) fn wait_seconds(&self, address: IpAddr, now_ms: u64) -> Option<u64> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let recent: Vec<u64> =
            failures.get(&address)?.iter().copied().filter(|time| time + WINDOW_MS > now_ms).collect();
        let oldest = *recent.get(recent.len().checked_sub(MOST_FAILURES)?)?;
        Some((oldest + WINDOW_MS - now_ms).div_ceil(1000))
    }

    /// Records a failed attempt.
    pub(crate) fn record_failure(&self, address: IpAddr, now_ms: u64) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= ADDRESSES {
            failures.retain(|_, times| times.last().is_some_and(|time| time + WINDOW_MS > now_ms));
        }
        if failures.len() >= ADDRESSES && !failures.contains_key(&address) {
            // So many addresses mean an attack. Known addresses stay limited; new ones are not added, to bound memory.
            return;
        }
        let own = failures.entry(address).or_default();
        own.retain(|time| time + WINDOW_MS > now_ms);
        own.push(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_failures_per_minute_are_allowed() {
        let (throttle, here) = (LoginThrottle::default(), IpAddr::from([127, 0, 0, 1]));
        for time in 0..10 {
            assert_eq!(throttle.wait_seconds(here, 100 * time), None);
            throttle.record_failure(here, 100 * time);
        }
        assert_eq!(throttle.wait_seconds(here, 1000), Some(59));
        assert_eq!(throttle.wait_seconds(IpAddr::from([127, 0, 0, 2]), 1000), None);
        assert_eq!(throttle.wait_seconds(here, 60_000), None, "the first failure is a minute old");
    }
}

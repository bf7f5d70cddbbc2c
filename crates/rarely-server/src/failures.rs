//! Wrong tokens, counted by the address they came from.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// So many wrong tokens …
const MOST: usize = 10;
/// … in so much time are let pass.
const WINDOW_MS: u64 = 60_000;
/// Addresses that are remembered at most.
const ADDRESSES: usize = 10_000;

/// Wrong tokens of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    times: Mutex<HashMap<IpAddr, Vec<u64>>>,
}

impl Failures {
    /// How many seconds an address has to wait, if it has to.
    pub(crate) fn wait(&self, address: IpAddr, now_ms: u64) -> Option<u64> {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let recent: Vec<u64> = times.get(&address)?.iter().copied().filter(|time| time + WINDOW_MS > now_ms).collect();
        let oldest = *recent.get(recent.len().checked_sub(MOST)?)?;
        Some((oldest + WINDOW_MS - now_ms).div_ceil(1000))
    }

    /// A wrong token came from an address.
    pub(crate) fn note(&self, address: IpAddr, now_ms: u64) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() >= ADDRESSES {
            times.retain(|_, times| times.last().is_some_and(|time| time + WINDOW_MS > now_ms));
        }
        if times.len() >= ADDRESSES && !times.contains_key(&address) {
            // More addresses than anybody has who is not attacking: those known already stay limited.
            return;
        }
        let own = times.entry(address).or_default();
        own.retain(|time| time + WINDOW_MS > now_ms);
        own.push(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_in_a_minute_are_enough() {
        let (failures, here) = (Failures::default(), IpAddr::from([127, 0, 0, 1]));
        for time in 0..10 {
            assert_eq!(failures.wait(here, 100 * time), None);
            failures.note(here, 100 * time);
        }
        assert_eq!(failures.wait(here, 1000), Some(59));
        assert_eq!(failures.wait(IpAddr::from([127, 0, 0, 2]), 1000), None);
        assert_eq!(failures.wait(here, 60_000), None, "the first is a minute old");
    }
}

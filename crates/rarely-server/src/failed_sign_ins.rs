//! Failed sign-ins, summarised: one event a minute, however many there are.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use rarely_live::event::SignInsFailed;

/// Addresses that a summary counts by themselves: those that failed first.
const ADDRESSES: usize = 20;

/// Failed sign-ins: all since the start, and those that no event reports yet.
#[derive(Debug, Default)]
pub(crate) struct FailedSignIns(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    total: u64,
    since_ms: u64,
    count: u64,
    by_address: BTreeMap<IpAddr, u64>,
}

impl FailedSignIns {
    /// Counts one.
    pub(crate) fn count(&self, address: IpAddr, now_ms: u64) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.count == 0 {
            counted.since_ms = now_ms;
        }
        counted.total += 1;
        counted.count += 1;
        if counted.by_address.len() < ADDRESSES || counted.by_address.contains_key(&address) {
            *counted.by_address.entry(address).or_default() += 1;
        }
    }

    /// All since the start.
    pub(crate) fn total(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// Those since the last call, if there are any.
    pub(crate) fn take(&self) -> Option<SignInsFailed> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, since_ms) = (std::mem::take(&mut counted.count), counted.since_ms);
        let by_address = std::mem::take(&mut counted.by_address);
        let named: u64 = by_address.values().sum();
        let addresses = by_address.into_iter().map(|(address, count)| (address.to_string(), count)).collect();
        (count > 0).then_some(SignInsFailed { count, since_ms, addresses, others: count - named })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_few_addresses_and_counts_all() {
        let failed = FailedSignIns::default();
        assert_eq!(failed.take(), None);
        for number in 0..1000_u64 {
            let last = u8::try_from(number % 50).expect("below 50");
            failed.count(IpAddr::from([10, 0, 0, last]), 5 + number);
        }
        let summary = failed.take().expect("there were some");
        assert_eq!((summary.count, summary.since_ms, summary.addresses.len()), (1000, 5, ADDRESSES));
        assert_eq!(summary.addresses["10.0.0.0"], 20);
        assert_eq!(summary.others, 600);
        assert_eq!((failed.take(), failed.total()), (None, 1000));
    }
}

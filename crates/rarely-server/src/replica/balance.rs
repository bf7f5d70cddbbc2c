//! How many chains each replica owns: whoever has fewest takes the next one first, and whoever has too many hands one over.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rarely_store::ChainStatus;

/// The chains of this replica beside those of the others.
pub(super) struct Balance {
    /// The id of this replica.
    pub(super) id: String,
    /// How many chains it owns.
    owned: AtomicUsize,
    /// How many the replica with the fewest chains owned when they were last counted.
    fewest: AtomicUsize,
    /// How many more this replica owned then; 0 if a chain was free, which is taken first.
    surplus: AtomicUsize,
    /// When it last handed a chain over.
    handed_over: Mutex<Instant>,
    /// Whether this program can own chains.
    fit: AtomicBool,
}

impl Balance {
    pub(super) fn new(id: String) -> Self {
        let [owned, fewest, surplus] = [const { AtomicUsize::new(0) }; 3];
        Self { id, owned, fewest, surplus, handed_over: Mutex::new(Instant::now()), fit: AtomicBool::new(true) }
    }

    /// Counts the chains of all replicas that are alive.
    pub(super) fn count(&self, alive: &[String], chains: &[ChainStatus]) {
        let mut counts: BTreeMap<&str, usize> = alive.iter().map(|id| (id.as_str(), 0)).collect();
        for chain in chains.iter().filter(|chain| !chain.lease.expired) {
            if let Some(count) = counts.get_mut(chain.lease.owner.as_str()) {
                *count += 1;
            }
        }
        let fewest = counts.values().copied().min().unwrap_or(0);
        self.fewest.store(fewest, Ordering::SeqCst);
        let is_free = chains.iter().any(|chain| chain.lease.expired);
        let own = counts.get(self.id.as_str()).copied().filter(|_| !is_free);
        self.surplus.store(own.map_or(0, |own| own - fewest), Ordering::SeqCst);
    }

    pub(super) fn took_one(&self) {
        self.owned.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn lost_one(&self) {
        self.owned.fetch_sub(1, Ordering::SeqCst);
    }

    /// How long a chain without an owner is left to replicas with fewer chains.
    pub(super) fn patience(&self, step: Duration) -> Duration {
        let more = self.owned.load(Ordering::SeqCst).saturating_sub(self.fewest.load(Ordering::SeqCst));
        step * u32::try_from(more).unwrap_or(u32::MAX)
    }

    /// Whether one of this replica's chains is to go to another replica now: at most one per term. All replicas are compared as they were
    /// when they were counted, since others may have taken chains, too, meanwhile.
    pub(super) fn hands_one_over(&self, term: Duration) -> bool {
        if self.surplus.load(Ordering::SeqCst) < 2 {
            return false;
        }
        let mut last = self.handed_over.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.elapsed() >= term;
        if due {
            *last = Instant::now();
        }
        due
    }

    /// Says that only a newer program can own chains.
    pub(super) fn set_fit(&self, fit: bool) {
        self.fit.store(fit, Ordering::SeqCst);
    }

    pub(super) fn is_fit(&self) -> bool {
        self.fit.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use rarely_store::LeaseStatus;

    use super::*;

    fn owned_by(owners: &[&str]) -> Vec<ChainStatus> {
        let status = |(number, owner): (u64, &&str)| ChainStatus {
            number,
            id: format!("id-{number}"),
            lease: LeaseStatus {
                epoch: 1,
                owner: (*owner).to_owned(),
                address: String::new(),
                expired: owner.is_empty(),
            },
        };
        (0..).zip(owners).map(status).collect()
    }

    #[test]
    fn whoever_has_two_more_than_another_hands_one_over_once_per_term() {
        let balance = Balance::new("a".to_owned());
        let alive = ["a".to_owned(), "b".to_owned()];
        balance.count(&alive, &owned_by(&["a", "a", "a", "b", "gone"]));
        assert!(balance.hands_one_over(Duration::ZERO), "three and one");
        assert!(!balance.hands_one_over(Duration::from_secs(60)), "not twice in a term");
        balance.count(&alive, &owned_by(&["a", "a", "b", "b", "gone"]));
        assert!(!balance.hands_one_over(Duration::ZERO), "two and two");
        balance.count(&alive, &owned_by(&["a", "a", "a", "", "b"]));
        assert!(!balance.hands_one_over(Duration::ZERO), "the other one takes the free chain first");
    }

    #[test]
    fn chains_taken_since_the_count_are_not_handed_over() {
        let balance = Balance::new("a".to_owned());
        balance.count(&["a".to_owned()], &owned_by(&["a", "", ""]));
        (0..3).for_each(|_| balance.took_one());
        assert!(!balance.hands_one_over(Duration::ZERO), "there is nobody to hand them to");
        balance.count(&["a".to_owned(), "b".to_owned()], &owned_by(&["a", "a", "b", "b"]));
        balance.took_one();
        assert!(!balance.hands_one_over(Duration::ZERO), "the other one may have taken one, too");
    }

    #[test]
    fn whoever_has_fewest_takes_a_free_chain_first() {
        let step = Duration::from_secs(1);
        let (one, other) = (Balance::new("a".to_owned()), Balance::new("b".to_owned()));
        let alive = ["a".to_owned(), "b".to_owned()];
        one.took_one();
        for balance in [&one, &other] {
            balance.count(&alive, &owned_by(&["a", ""]));
        }
        assert_eq!((one.patience(step), other.patience(step)), (step, Duration::ZERO));
        one.count(&alive[..1], &owned_by(&["a", ""]));
        assert_eq!(one.patience(step), Duration::ZERO, "nobody else is alive");
    }
}

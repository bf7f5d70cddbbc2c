//! One of several chains, as its owner sees the others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rarely_live::Engine;
use rarely_live::engine::{ChangeError, has_followed};
use rarely_live::event::CoveredChain;
use rarely_store::{EventLog as _, Lease, PostgresLog, PostgresStore, StoreError};
use serde::de::DeserializeOwned;

use super::links::Links;
use crate::division::ChainRequest;
use crate::problem::ProblemDetails;

/// The chain of the service itself.
pub(super) const SERVICE: u64 = 0;
/// How often it is looked up whether every chain has what the service did.
const LOOK: Duration = Duration::from_millis(20);

/// The chains of a store, for the owner of one of them.
pub(crate) struct Chains {
    store: PostgresStore,
    lease: Arc<Lease>,
    term: Duration,
    links: Arc<Links>,
    /// The service's own chain, for reading.
    service: PostgresLog,
    /// Up to which event that chain was read, …
    read: AtomicU64,
    /// … and when the last reading that succeeded began.
    read_at: Mutex<Instant>,
}

impl Chains {
    /// For the owner of the chain of this store.
    pub(super) fn new(
        store: &PostgresStore,
        lease: Arc<Lease>,
        term: Duration,
        links: Arc<Links>,
    ) -> Result<Self, StoreError> {
        let service = store.chain(SERVICE).read()?;
        let (read, read_at) = (AtomicU64::new(0), Mutex::new(Instant::now()));
        Ok(Self { store: store.chain(store.number()), lease, term, links, service, read, read_at })
    }

    /// The chain that is owned here.
    pub(crate) fn number(&self) -> u64 {
        self.store.number()
    }

    /// Whether there are several.
    pub(crate) fn is_divided(&self) -> bool {
        self.links.is_divided()
    }

    /// Whether a chain is this one.
    pub(crate) fn is_own(&self, chain: u64) -> bool {
        chain == self.number()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<u64> {
        self.links.chains()
    }

    /// The other chains.
    pub(crate) fn others(&self) -> Vec<u64> {
        self.all().into_iter().filter(|chain| !self.is_own(*chain)).collect()
    }

    /// Asks the owner of a chain.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        chain: u64,
        request: ChainRequest,
    ) -> Result<T, ProblemDetails> {
        self.links.ask(chain, request).await
    }

    /// Decides in which chain a new policy is. One that has its place keeps it.
    pub(crate) fn place(&self, policy: &str) -> Result<u64, StoreError> {
        if self.number() == SERVICE { self.store.place(&self.lease, policy) } else { Ok(self.number()) }
    }

    /// Makes the chains that are wanted beside the service's own, and records which policies are in that one.
    pub(super) fn divide(&self, wanted: u64, engine: &Engine) -> Result<(), StoreError> {
        if self.number() != SERVICE {
            return Ok(());
        }
        let have = self.store.chains(self.term)?.len() as u64;
        if wanted >= have {
            self.store.add_chains(&self.lease, wanted)?;
        }
        if wanted > 0 || have > 1 {
            let own: Vec<String> = engine.policies().iter().map(|handle| handle.name.clone()).collect();
            self.store.place_at(&self.lease, &own, SERVICE)?;
        }
        Ok(())
    }

    /// Copies what the service did into this chain.
    pub(crate) fn follow(&self, engine: &Engine) -> Result<(), ChangeError> {
        if self.number() != SERVICE {
            let began = Instant::now();
            let read = engine.follow(&self.service, self.read.load(Ordering::SeqCst))?;
            self.read.fetch_max(read, Ordering::SeqCst);
            let mut read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
            *read_at = began.max(*read_at);
        }
        Ok(())
    }

    /// Whether this chain may lack an act of the service for which its owner does not wait any more: the owner then gives it up.
    pub(super) fn is_behind(&self) -> bool {
        let read_at = *self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        self.number() != SERVICE && read_at.elapsed() >= self.term * 3 / 4
    }

    /// Waits until every chain that has an owner has an act of the service, for the term of a lease at most: by then whoever has not
    /// written it [has given its chain up](Self::is_behind).
    pub(crate) fn wait_until_followed(&self, act: u64) {
        let deadline = Instant::now() + self.term;
        loop {
            let lacking = self.lacking(act);
            match &lacking {
                Ok(lacking) if lacking.is_empty() => return,
                _ if Instant::now() < deadline => std::thread::sleep(LOOK),
                Ok(lacking) => {
                    tracing::warn!(
                        act,
                        ?lacking,
                        "these chains have not followed the service in time; they follow when they can"
                    );
                    return;
                }
                Err(error) => {
                    tracing::warn!(act, %error, "it is unknown whether all chains have followed the service");
                    return;
                }
            }
        }
    }

    /// The chains with an owner that lack an act of the service.
    fn lacking(&self, act: u64) -> Result<Vec<u64>, StoreError> {
        let mut lacking = Vec::new();
        for chain in self.store.chains(self.term)? {
            let follows = chain.number == SERVICE || chain.lease.expired;
            if !follows && !has_followed(&self.store.chain(chain.number).read()?, act)? {
                lacking.push(chain.number);
            }
        }
        Ok(lacking)
    }

    /// The ends of the chains that have a new checkpoint since they had these sizes.
    pub(super) fn ends_beyond(&self, covered: &[CoveredChain]) -> Result<Vec<CoveredChain>, StoreError> {
        let mut ends = Vec::new();
        for chain in self.others() {
            let Some(last) = self.store.chain(chain).read()?.last_checkpoint()? else { continue };
            let before = covered.iter().rev().find(|known| known.chain == chain).map_or(0, |known| known.size);
            if last.size() > before {
                ends.push(CoveredChain { chain, size: last.size(), root: last.root().to_string() });
            }
        }
        Ok(ends)
    }
}

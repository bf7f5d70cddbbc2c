//! What the data say about a policy, computed once for all visitors.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rarely_live::Engine;
use rarely_live::engine::PolicyHandle;
use rarely_live::event::Drawing;
use rarely_report::{Picture, pictures};
use rarely_review::Findings;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::super::blocking;
use super::super::page_error::PageError;

/// Policies whose evidence is cached.
const KEPT: usize = 64;
/// Concurrent computations. Decisions need the processors too.
const AT_A_TIME: usize = 2;
/// Evidence stays cached for this multiple of the time that it took to compute …
const PATIENCE: u32 = 10;
/// … but not longer than this, while new outcomes arrive.
const STALE: Duration = Duration::from_secs(60);

/// The cached evidence, by policy.
pub(in crate::dashboard) struct EvidenceCache {
    entries: Mutex<HashMap<u64, Arc<CacheEntry>>>,
    turns: Semaphore,
}

/// The evidence of one policy. The holder of the lock computes it.
type CacheEntry = AsyncMutex<Option<Kept>>;

struct Kept {
    basis: Basis,
    shown: Option<Arc<Shown>>,
    took: Duration,
    made: Instant,
}

/// What the evidence depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Basis {
    version: u64,
    outcomes: u64,
    corrections: u64,
}

/// What the data say, in words and figures.
#[derive(Debug, Clone)]
pub(in crate::dashboard) struct Shown {
    pub(super) findings: Findings,
    pub(super) pictures: Vec<Drawing>,
}

impl Default for EvidenceCache {
    fn default() -> Self {
        Self { entries: Mutex::default(), turns: Semaphore::new(AT_A_TIME) }
    }
}

impl EvidenceCache {
    /// The evidence about a policy, at most [`STALE`] old; `None` if there is no outcome yet.
    pub(in crate::dashboard) async fn of(
        &self,
        engine: &Arc<Engine>,
        handle: &Arc<PolicyHandle>,
    ) -> Result<Option<Arc<Shown>>, PageError> {
        let entry = self.entry(handle.id);
        let mut kept = entry.lock().await;
        let basis = Basis::of(handle);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.serves(basis)) {
            return Ok(kept.shown.clone());
        }
        let _turn = self.turns.acquire().await;
        let (engine, handle, started) = (engine.clone(), handle.clone(), Instant::now());
        let made = blocking(move || {
            let found = engine.evidence(&handle, |base, review, _| {
                Shown::new(Findings::new(base.document, review), pictures(base, review))
            });
            match found {
                Ok(shown) => Ok(Some(Arc::new(shown))),
                Err(rarely_review::ReviewError::Empty) => Ok(None),
                Err(error) => Err(PageError::from(error)),
            }
        });
        let shown = made.await?;
        *kept = Some(Kept { basis, shown: shown.clone(), took: started.elapsed(), made: Instant::now() });
        Ok(shown)
    }

    fn entry(&self, policy: u64) -> Arc<CacheEntry> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= KEPT && !entries.contains_key(&policy) {
            // Drop the entries that no request waits for.
            entries.retain(|_, entry| Arc::strong_count(entry) > 1);
        }
        entries.entry(policy).or_default().clone()
    }
}

impl Kept {
    /// Whether the evidence is current, or too recent to compute it again.
    fn serves(&self, now: Basis) -> bool {
        let patience = (PATIENCE * self.took).min(STALE);
        self.basis == now
            || (self.basis.version == now.version && self.shown.is_some() && self.made.elapsed() < patience)
    }
}

impl Basis {
    fn of(handle: &PolicyHandle) -> Self {
        let live = handle.live.lock();
        let state = live.state();
        let (version, outcomes) = (live.version().number, state.learned.outcomes());
        Self { version, outcomes, corrections: state.counts.corrections }
    }
}

impl Shown {
    fn new(findings: Findings, pictures: Vec<Picture>) -> Self {
        // The figure of the gain is on the page of the proposal, beside what speaks against the change.
        let pictures = pictures.into_iter().filter(|picture| picture.name != "gain");
        let draw =
            |picture: Picture| Drawing { svg: picture.figure.svg(), title: picture.title, caption: picture.caption };
        Self { findings, pictures: pictures.map(draw).collect() }
    }
}

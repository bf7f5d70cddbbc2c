//! What the data say of a policy, worked out once for everybody who looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rarely_live::Engine;
use rarely_live::engine::PolicyHandle;
use rarely_live::event::Drawing;
use rarely_report::{Picture, pictures};
use rarely_review::Findings;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::super::refusal::Refusal;

/// Policies whose evidence is kept.
const KEPT: usize = 64;
/// Policies that are worked out at a time, whoever asks: deciding needs the processors too.
const AT_A_TIME: usize = 2;
/// What was worked out serves newcomers for so many times as long as it took …
const PATIENCE: u32 = 10;
/// … and no longer than this, while outcomes keep coming.
const STALE: Duration = Duration::from_secs(60);

/// What the data say, by policy.
pub(in crate::dashboard) struct Evidence {
    places: Mutex<HashMap<u64, Arc<Place>>>,
    turns: Semaphore,
}

/// The evidence of one policy; whoever holds it works it out.
type Place = AsyncMutex<Option<Kept>>;

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

/// What the data say, in words and pictures.
#[derive(Debug, Clone)]
pub(in crate::dashboard) struct Shown {
    pub(super) findings: Findings,
    pub(super) pictures: Vec<Drawing>,
}

impl Default for Evidence {
    fn default() -> Self {
        Self { places: Mutex::default(), turns: Semaphore::new(AT_A_TIME) }
    }
}

impl Evidence {
    /// What the data say of a policy now, or said a moment ago; nothing if there is no outcome yet.
    pub(in crate::dashboard) async fn of(
        &self,
        engine: &Arc<Engine>,
        handle: &Arc<PolicyHandle>,
    ) -> Result<Option<Arc<Shown>>, Refusal> {
        let place = self.place(handle.id);
        let mut kept = place.lock().await;
        let basis = Basis::of(handle);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.serves(basis)) {
            return Ok(kept.shown.clone());
        }
        let _turn = self.turns.acquire().await;
        let (engine, handle, started) = (engine.clone(), handle.clone(), Instant::now());
        let made = tokio::task::spawn_blocking(move || {
            let found = engine.evidence(&handle, |base, review, _| {
                Shown::new(Findings::new(base.document, review), pictures(base, review))
            });
            match found {
                Ok(shown) => Ok(Some(Arc::new(shown))),
                Err(rarely_review::ReviewError::Empty) => Ok(None),
                Err(error) => Err(Refusal::fault(format!("The evidence cannot be looked at: {error}."))),
            }
        });
        let shown = made.await.map_err(|error| Refusal::fault(error.to_string()))??;
        *kept = Some(Kept { basis, shown: shown.clone(), took: started.elapsed(), made: Instant::now() });
        Ok(shown)
    }

    fn place(&self, policy: u64) -> Arc<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= KEPT && !places.contains_key(&policy) {
            // Those that nobody waits for make room; they are worked out again when somebody asks.
            places.retain(|_, place| Arc::strong_count(place) > 1);
        }
        places.entry(policy).or_default().clone()
    }
}

impl Kept {
    /// Whether this still is what the data say, or was so short a while ago that it is not worth the work.
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
        // What a change would gain belongs to a proposal, which shows it beside what speaks against it.
        let pictures = pictures.into_iter().filter(|picture| picture.name != "gain");
        let draw =
            |picture: Picture| Drawing { svg: picture.figure.svg(), title: picture.title, caption: picture.caption };
        Self { findings, pictures: pictures.map(draw).collect() }
    }
}

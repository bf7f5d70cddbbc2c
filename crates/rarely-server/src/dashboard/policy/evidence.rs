//! What the data say of a policy, worked out once for everybody who looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rarely_live::Engine;
use rarely_live::engine::PolicyHandle;
use rarely_live::event::Drawing;
use rarely_policy::{PolicyDocument, difference};
use rarely_report::pictures;
use rarely_review::{Check, Remedy, Review, Thin, Verdict, words};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::super::format::{count, percent};
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
    /// Outcomes it rests on.
    pub(super) outcomes: u64,
    /// People on whom shares are taken.
    pub(super) people: u64,
    pub(super) verdict: Verdict,
    /// The verdict as a sentence.
    pub(super) sentence: String,
    pub(super) reasons: Vec<String>,
    /// Every boundary, in words.
    pub(super) boundaries: Vec<String>,
    /// Whether the rule as a whole stands, where its boundaries do not say.
    pub(super) together: Option<&'static str>,
    pub(super) excluded_share: f64,
    pub(super) pictures: Vec<Drawing>,
    /// Options that nobody gets although they may be best.
    pub(super) stuck: Vec<String>,
    /// What would settle an open question.
    pub(super) settle: Option<String>,
    pub(super) thin: Vec<Thin>,
    /// Where the straight lines or the noise look wrong.
    pub(super) warnings: Vec<String>,
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
            let found = engine
                .evidence(&handle, |ground, review, _| Shown::of(ground.document, review, pictures(ground, review)));
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
    fn of(document: &PolicyDocument, review: &Review, pictures: Vec<rarely_report::Picture>) -> Self {
        let standing = &review.standing;
        let together = match (standing.jointly_plausible, standing.boundaries.iter().all(|pair| pair.plausible)) {
            (true, _) => None,
            (false, true) => Some("Each boundary is plausible by itself, but not all of them at once."),
            (false, false) => Some("The rule as a whole is ruled out."),
        };
        let stuck = review.gaps.stuck.iter().map(|stuck| {
            format!(
                "{} may be best for {} of people but was given in {} of the cases: unless it is tried, the data will never tell.",
                document.options()[stuck.arm.index()],
                percent(stuck.plausible_share),
                percent(stuck.played_share)
            )
        });
        // What a change would gain belongs to a proposal, which shows it beside what speaks against it.
        let pictures = pictures.into_iter().filter(|picture| picture.name != "gain");
        Self {
            outcomes: review.rows(),
            people: review.people as u64,
            verdict: review.verdict,
            sentence: verdict(document, review),
            reasons: review.reasons.clone(),
            boundaries: standing.boundaries.iter().map(|pair| words::boundary(document, pair)).collect(),
            together,
            excluded_share: standing.excluded_share,
            pictures: pictures
                .map(|picture| Drawing { svg: picture.figure.svg(), title: picture.title, caption: picture.caption })
                .collect(),
            stuck: stuck.collect(),
            settle: review.gaps.remedy.as_ref().map(|remedy| settle(document, remedy)),
            thin: review.gaps.thin.clone(),
            warnings: review.checks.iter().filter_map(Check::warning).map(ToOwned::to_owned).collect(),
        }
    }
}

fn verdict(document: &PolicyDocument, review: &Review) -> String {
    match (review.verdict, &review.proposal) {
        (Verdict::Change, Some(proposal)) => {
            let changes = difference((document, document.rule()), (document, &proposal.rule));
            format!("The evidence asks for a change, because {}: {}.", proposal.cause, changes.join("; "))
        }
        (Verdict::CannotTell, _) => "It cannot be told yet whether the rule should change.".to_owned(),
        _ if review.reasons.is_empty() && !review.standing.jointly_plausible => {
            "Keep the rule: none of its boundaries is ruled out.".to_owned()
        }
        _ if review.reasons.is_empty() => "Keep the rule: nothing in the data rules it out.".to_owned(),
        _ => "Keep the rule, for the reason below.".to_owned(),
    }
}

fn settle(document: &PolicyDocument, remedy: &Remedy) -> String {
    let further = |cases: u64| format!("{} further cases", count(cases));
    let cases = match (remedy.cases, remedy.cases_nine_tenths) {
        (Some(half), Some(most)) => format!(
            "after {} the question was settled in half of the simulations, after {} in nine of ten",
            further(half),
            count(most)
        ),
        (Some(half), None) => format!("after {} the question was settled in half of the simulations", further(half)),
        _ => format!(
            "after {} it was still open in {} of {} simulations",
            further(remedy.most_cases),
            remedy.simulated - remedy.settled,
            remedy.simulated
        ),
    };
    let explore = &remedy.explore;
    let what = if document.change().explore.to_string() == *explore {
        format!("The policy draws lots among the plausible options already (explore = \"{explore}\").")
    } else {
        format!(
            "Let the policy draw lots among the plausible options for a few people: explore = \"{explore}\" under [change] of a policy document."
        )
    };
    format!("{what} Simulated on what the data leave possible, {cases}.")
}

//! The log checked from the first event to the last: the chain, every decision drawn again, every review's sums, every version's
//! signatures.

mod behind;

use std::collections::BTreeMap;

use rarely_review::examine;
use rarely_store::{ChainFault, Entry, Head, Log, Mark, Snapshot, StoreError, verify_chain};

use crate::decider::Decider;
use crate::event::{Corrected, Decided, Elsewhere, Event, Observed, Proposed};
use crate::live::{Live, misfit};
use crate::mark;
use crate::objection::Objection;
use crate::replay::{self, ReplayError, each_entry};
use crate::world::World;
use behind::Behind;

/// What an audit found to be in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Findings {
    /// The last event, and the hash that stands for the whole log.
    pub head: Head,
    /// Policies.
    pub policies: u64,
    /// Decisions that were drawn again, with the same option, reason and probability.
    pub decisions: u64,
    /// Outcomes and corrections.
    pub outcomes: u64,
    /// Reviews whose sums were added up again, to the same fingerprint.
    pub reviews: u64,
    /// Proposals that were worked out again, to the same rule.
    pub proposals: u64,
    /// Versions, each explained by an event.
    pub versions: u64,
    /// The event up to which a snapshot was compared, bit for bit.
    pub snapshot: Option<u64>,
}

/// The first thing that does not fit.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The chain is broken.
    #[error(transparent)]
    Chain(#[from] ChainFault),
    /// An event cannot be read or does not fit.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The snapshot says otherwise than the log.
    #[error(
        "the snapshot of event {number} is not what the log adds up to; delete the file {suffix:?} beside the store: it is made anew",
        suffix = ".snapshot"
    )]
    Snapshot {
        /// The last event that it should hold.
        number: u64,
    },
}

impl Fault {
    /// The event that does not fit, where it is one.
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::Chain(fault) => Some(fault.number()),
            Self::Replay(error) => error.number(),
            Self::Snapshot { number } => Some(*number),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Replay(ReplayError::Store(error))
    }
}

/// Checks a log, and the snapshot that was made of it.
///
/// # Errors
/// [`Fault`] is the first thing that does not fit.
pub fn verify(log: &dyn Log, snapshot: Option<&Snapshot>, mut progress: impl FnMut(u64)) -> Result<Findings, Fault> {
    let head = verify_chain(log, &mut |_| {})?;
    let mut auditor = Auditor::new(log, head);
    each_entry(log, 0, None, |entry| {
        progress(entry.number);
        auditor.check(&entry).map_err(|error| match error {
            Trouble::Objection(source) => ReplayError::Misfit { number: entry.number, source },
            Trouble::Replay(error) => error,
        })?;
        if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.number == entry.number) {
            auditor.compare(snapshot)?;
        }
        Ok::<(), Fault>(())
    })?;
    let mut findings = auditor.findings;
    for (_, policy) in auditor.world.policies() {
        findings.policies += 1;
        findings.versions += policy.lock().state().versions.len() as u64;
    }
    Ok(findings)
}

struct Auditor<'a> {
    log: &'a dyn Log,
    world: World,
    policies: BTreeMap<u64, Trail>,
    /// One bit for every event: whether it is a decision with an outcome.
    answered: Vec<u64>,
    findings: Findings,
}

/// What an auditor keeps of a policy.
struct Trail {
    /// What was known when the last decision was made.
    decider: Decider,
    /// For policies that draw lots: the policy as it was known then.
    deciding: Option<Behind>,
    /// The policy as it was known at the last review.
    reviewing: Behind,
}

impl Trail {
    /// What decides when everything up to an event is known; `live` is the policy as it is now.
    fn know(&mut self, log: &dyn Log, live: &Live, basis: u64) -> Result<(), Trouble> {
        if let Some(behind) = &mut self.deciding {
            behind.advance(log, basis)?;
            self.decider = behind.live().decider(basis);
            return Ok(());
        }
        // Without lots only the version matters.
        let version = live.version_at(basis).ok_or_else(|| misfit("it was decided before the policy began"))?;
        if version.number == self.decider.version {
            self.decider.basis = basis;
        } else {
            let document = live.document().with_rule(version.rule.clone()).map_err(misfit)?;
            self.decider = Decider::of_rule(&document, (version.number, basis));
        }
        Ok(())
    }
}

enum Trouble {
    Objection(Objection),
    Replay(ReplayError),
}

impl From<Objection> for Trouble {
    fn from(objection: Objection) -> Self {
        Self::Objection(objection)
    }
}

impl From<ReplayError> for Trouble {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error)
    }
}

impl<'a> Auditor<'a> {
    fn new(log: &'a dyn Log, head: Head) -> Self {
        let findings = Findings {
            head,
            policies: 0,
            decisions: 0,
            outcomes: 0,
            reviews: 0,
            proposals: 0,
            versions: 0,
            snapshot: None,
        };
        Self { log, world: World::default(), policies: BTreeMap::new(), answered: Vec::new(), findings }
    }

    fn check(&mut self, entry: &Entry) -> Result<(), Trouble> {
        let event = replay::event(entry)?;
        match &event {
            Event::Decided(decided) => self.decided(entry, decided)?,
            Event::Observed(Observed { decision: Some(decision), .. }) => {
                self.observed(*decision)?;
                self.marked(entry, *decision)?;
            }
            Event::Observed(Observed { elsewhere: Some(Elsewhere { key: Some(key), .. }), .. }) => {
                self.named(entry, &mark::of_observation(entry.policy, key))?;
            }
            Event::Corrected(corrected) => {
                self.corrected(corrected)?;
                self.marked(entry, corrected.decision)?;
            }
            Event::Reviewed(reviewed) => {
                let live = self.reviewing(entry, reviewed.basis)?;
                let ground = live.state().learned.ground(live.document()).map_err(misfit)?;
                if ground.statistics.digest() != reviewed.digest {
                    return Err(misfit("the sums of the review have another fingerprint").into());
                }
                self.findings.reviews += 1;
            }
            Event::Proposed(proposed) if proposed.rollback.is_none() => self.proposed(entry, proposed)?,
            _ => {}
        }
        self.findings.outcomes += u64::from(matches!(event, Event::Observed(_) | Event::Corrected(_)));
        self.world.take_in(self.log, entry, &event)?;
        if matches!(event, Event::Registered(_)) {
            self.registered(entry)?;
        }
        Ok(())
    }

    fn registered(&mut self, entry: &Entry) -> Result<(), Trouble> {
        let reviewing = Behind::new(entry)?;
        let live = reviewing.live();
        let decider = live.decider(entry.number);
        let deciding = decider.explores().then(|| Behind::new(entry)).transpose()?;
        self.policies.insert(entry.number, Trail { decider, deciding, reviewing });
        Ok(())
    }

    /// Draws a decision again from what was known when it was made.
    fn decided(&mut self, entry: &Entry, decided: &Decided) -> Result<(), Trouble> {
        let Some(trail) = self.policies.get_mut(&entry.policy) else {
            return Err(misfit("a decision of an unknown policy").into());
        };
        if decided.basis < trail.decider.basis || decided.basis >= entry.number {
            return Err(misfit(format!("it was decided as of event {}, out of turn", decided.basis)).into());
        }
        let live = self.world.policy(entry.policy).ok_or_else(|| misfit("a decision of an unknown policy"))?.lock();
        if decided.basis > trail.decider.basis {
            trail.know(self.log, &live, decided.basis)?;
        }
        let context = live.reader().context(&decided.record).map_err(misfit)?;
        let again = trail.decider.decide(&context, entry.number);
        let option = &live.document().options()[again.arm.index()];
        let same = *option == decided.option
            && trail.decider.version == decided.version
            && again.reason == decided.reason
            && again.propensity.to_bits() == decided.propensity.to_bits();
        if !same {
            return Err(misfit(format!(
                "drawn again it is {option} by version {} ({}, probability {}), but it was {} by version {} ({}, probability {})",
                trail.decider.version, again.reason, again.propensity,
                decided.option, decided.version, decided.reason, decided.propensity
            )).into());
        }
        if let Some(key) = &decided.key {
            self.named(entry, &mark::of_ask(entry.policy, key))?;
        }
        self.findings.decisions += 1;
        Ok(())
    }

    /// Whether a key leads to its only event: if it did not, the same request could be answered twice.
    fn named(&self, entry: &Entry, mark: &Mark) -> Result<(), Trouble> {
        if self.log.find(mark).map_err(ReplayError::Store)? != Some(entry.number) {
            return Err(misfit("its key leads to another event, or to none").into());
        }
        Ok(())
    }

    /// Whether a decision leads to the last thing that was said of how it went: to this event, or to a later correction.
    fn marked(&self, entry: &Entry, decision: u64) -> Result<(), Trouble> {
        let found = self.log.find(&mark::of_outcome(decision)).map_err(ReplayError::Store)?.unwrap_or(0);
        if found == entry.number {
            return Ok(());
        }
        let later = self.log.entry(found).map_err(ReplayError::Store)?.filter(|later| later.number > entry.number);
        let corrects = match later.as_ref().map(replay::event).transpose()? {
            Some(Event::Corrected(corrected)) => corrected.decision == decision,
            _ => false,
        };
        if corrects { Ok(()) } else { Err(misfit(format!("decision {decision} does not lead to its outcome")).into()) }
    }

    fn observed(&mut self, decision: u64) -> Result<(), Trouble> {
        let at = usize::try_from(decision / 64).map_err(misfit)?;
        if self.answered.len() <= at {
            self.answered.resize(at + 1, 0);
        }
        let bit = 1 << (decision % 64);
        if self.answered[at] & bit != 0 {
            return Err(misfit(format!("a second outcome of decision {decision} that is not a correction")).into());
        }
        self.answered[at] |= bit;
        Ok(())
    }

    fn corrected(&self, corrected: &Corrected) -> Result<(), Trouble> {
        let previous = self.log.entry(corrected.previous).map_err(ReplayError::Store)?;
        let known = previous.as_ref().map(replay::event).transpose()?;
        let (decision, first, outcome) = match known {
            Some(Event::Observed(observed)) => (observed.decision, corrected.previous, observed.outcome),
            Some(Event::Corrected(before)) => (Some(before.decision), before.first, before.outcome),
            _ => (None, 0, f64::NAN),
        };
        let same = decision == Some(corrected.decision) && first == corrected.first;
        if !same || outcome.to_bits() != corrected.from.to_bits() {
            return Err(misfit("a correction of something else than was reported").into());
        }
        Ok(())
    }

    /// Works a proposal out again from what was known when it was made.
    fn proposed(&mut self, entry: &Entry, proposed: &Proposed) -> Result<(), Trouble> {
        let live = self.reviewing(entry, proposed.basis)?;
        let learned = &live.state().learned;
        let ground = learned.ground(live.document()).map_err(misfit)?;
        let again = examine(&ground, learned.tally()).map_err(misfit)?.proposal;
        if ground.statistics.digest() != proposed.digest
            || again.map(|again| again.rule).as_ref() != Some(&proposed.rule)
        {
            return Err(misfit("worked out again, another rule is proposed").into());
        }
        self.findings.proposals += 1;
        Ok(())
    }

    /// The policy as it was known at an event.
    fn reviewing(&mut self, entry: &Entry, basis: u64) -> Result<&Live, Trouble> {
        let trail = self.policies.get_mut(&entry.policy).ok_or_else(|| misfit("a review of an unknown policy"))?;
        if basis >= entry.number || basis < trail.reviewing.at() {
            return Err(misfit(format!("it was reviewed as of event {basis}, out of turn")).into());
        }
        trail.reviewing.advance(self.log, basis)?;
        Ok(trail.reviewing.live())
    }

    fn compare(&mut self, snapshot: &Snapshot) -> Result<(), Fault> {
        let number = snapshot.number;
        let body = serde_json::to_vec(&self.world.freeze()).map_err(|_| Fault::Snapshot { number })?;
        if body != snapshot.body {
            return Err(Fault::Snapshot { number });
        }
        self.findings.snapshot = Some(number);
        Ok(())
    }
}

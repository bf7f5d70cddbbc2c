//! Audits a log from the first event to the last: checks the chain, repeats every decision, recomputes every review's statistics
//! and checks every version's signatures.

mod archived;
mod erased;
mod together;
mod trail;

use std::collections::BTreeMap;

use rarely_core::Exploration;
use rarely_error::{Explain, Remedy};
use rarely_review::examine;
use rarely_store::{ChainFault, EventLog, Head, LogEntry, LookupKey, StoreError, StoredSnapshot, verify_chain};

use crate::decider::Decider;
use crate::engine_state::EngineState;
use crate::event::{Corrected, Decided, Event, ExternalDecision, KeyReplaced, Observed, Proposed};
use crate::lagged_replay::LaggedReplay;
use crate::live_policy::{ENGINE_ACTOR, LivePolicy, inconsistent};
use crate::lookup_key;
use crate::objection::Objection;
use crate::replay::{self, ReplayError, for_each_entry};

use trail::Trail;

pub use archived::ArchivedCounts;
pub use erased::ErasedCounts;
pub use together::{TogetherFault, verify_covered, verify_followed};

/// What an audit has verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSummary {
    /// The last event, and the hash that covers the whole log.
    pub head: Head,
    /// Policies.
    pub policies: u64,
    /// Decisions that were repeated with the same option, reason and probability.
    pub decisions: u64,
    /// Outcomes and corrections.
    pub outcomes: u64,
    /// Reviews whose statistics were recomputed with the same digest.
    pub reviews: u64,
    /// Proposals that were recomputed with the same rule.
    pub proposals: u64,
    /// Signatures of people.
    pub signatures: SignatureCounts,
    /// Versions, each of which follows from an event.
    pub versions: u64,
    /// The last event of the snapshot, if it was compared bit for bit.
    pub snapshot: Option<u64>,
    /// How the key that signs checkpoints was replaced.
    pub key_replacements: Vec<KeyReplaced>,
    /// What cannot be verified, because people were erased.
    pub erased: ErasedCounts,
    /// What cannot be verified without an archive.
    pub archived: ArchivedCounts,
}

/// How many signatures people made, and with what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignatureCounts {
    /// With keys; these were checked again.
    pub by_key: u64,
    /// With tokens.
    pub by_token: u64,
}

/// The first fault that an audit found.
#[derive(Debug, thiserror::Error)]
pub enum AuditFault {
    /// The chain is broken.
    #[error(transparent)]
    Chain(#[from] ChainFault),
    /// An event cannot be read, or contradicts earlier ones.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The snapshot differs from the log.
    #[error("the snapshot of event {number} differs from the state that the log gives")]
    Snapshot {
        /// The snapshot's last event.
        number: u64,
    },
}

impl Explain for AuditFault {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Chain(fault) => fault.remedy(),
            Self::Replay(error) => error.remedy(),
            Self::Snapshot { .. } => {
                Some(Remedy::new("delete the snapshot file beside the store; a new one is written"))
            }
        }
    }
}

impl AuditFault {
    /// The event that the fault is about, if it is about one.
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::Chain(fault) => Some(fault.number()),
            Self::Replay(error) => error.number(),
            Self::Snapshot { number } => Some(*number),
        }
    }
}

impl From<StoreError> for AuditFault {
    fn from(error: StoreError) -> Self {
        Self::Replay(ReplayError::Store(error))
    }
}

/// Audits a log and, if given, its snapshot.
///
/// # Errors
/// [`AuditFault`] is the first fault.
pub fn verify(
    log: &dyn EventLog,
    snapshot: Option<&StoredSnapshot>,
    mut progress: impl FnMut(u64),
) -> Result<AuditSummary, AuditFault> {
    let head = verify_chain(log.beneath().unwrap_or(log), &mut |_| {})?;
    let (mut auditor, mut differs) = (Auditor::new(log, head), false);
    for_each_entry(log, 0, None, |entry| {
        progress(entry.number);
        auditor.check(&entry).map_err(|error| match error {
            CheckError::Objection(source) => ReplayError::Inconsistent { number: entry.number, source },
            CheckError::Replay(error) => error,
        })?;
        if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.number == entry.number) {
            differs = !auditor.is_same(snapshot);
        }
        Ok::<(), AuditFault>(())
    })?;
    if let Some(StoredSnapshot { number, .. }) = snapshot.filter(|_| differs) {
        // One from before an erasure or an archiving still has what is gone. The next start removes it.
        if !auditor.state.erased_since(*number) {
            return Err(AuditFault::Snapshot { number: *number });
        }
    }
    auditor.check_erased(head.number)?;
    let mut summary = auditor.summary;
    summary.key_replacements = auditor.state.key_replacements().to_vec();
    for (_, policy) in auditor.state.policies() {
        summary.policies += 1;
        summary.versions += policy.lock().state().versions.len() as u64;
    }
    Ok(summary)
}

struct Auditor<'a> {
    log: &'a dyn EventLog,
    state: EngineState,
    policies: BTreeMap<u64, Trail>,
    /// One bit per event: whether it is a decision with an outcome.
    answered: Vec<u64>,
    summary: AuditSummary,
}

enum CheckError {
    Objection(Objection),
    Replay(ReplayError),
}

impl From<Objection> for CheckError {
    fn from(objection: Objection) -> Self {
        Self::Objection(objection)
    }
}

impl From<ReplayError> for CheckError {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error)
    }
}

impl<'a> Auditor<'a> {
    fn new(log: &'a dyn EventLog, head: Head) -> Self {
        let summary = AuditSummary {
            head,
            policies: 0,
            decisions: 0,
            outcomes: 0,
            reviews: 0,
            proposals: 0,
            signatures: SignatureCounts::default(),
            versions: 0,
            snapshot: None,
            key_replacements: Vec::new(),
            erased: ErasedCounts::default(),
            archived: ArchivedCounts::default(),
        };
        Self { log, state: EngineState::default(), policies: BTreeMap::new(), answered: Vec::new(), summary }
    }

    fn check(&mut self, entry: &LogEntry) -> Result<(), CheckError> {
        let event = replay::event(self.log, entry)?;
        self.summary.archived.events += u64::from(event.archived().is_some());
        match &event {
            Event::Decided(decided) => self.decided(entry, decided)?,
            Event::Overridden(overridden) => self.check_key(entry, &lookup_key::of_override(overridden.decision))?,
            Event::Observed(Observed { decision: Some(decision), .. }) => {
                self.observed(*decision)?;
                self.check_outcome_key(entry, *decision)?;
            }
            Event::Observed(Observed { elsewhere: Some(ExternalDecision { key: Some(key), .. }), subject, .. }) => {
                let lookup_key = match self.key_of(*subject)? {
                    Some(person) => lookup_key::of_observation_about(entry.policy, &person, key),
                    None => lookup_key::of_observation(entry.policy, key),
                };
                self.check_key(entry, &lookup_key)?;
            }
            Event::Corrected(corrected) => {
                self.corrected(corrected)?;
                self.check_outcome_key(entry, corrected.decision)?;
            }
            Event::Reviewed(reviewed) => {
                let live = self.reviewing(entry, reviewed.basis)?;
                if live.lacks_outcomes() {
                    let is_archived = live.lacks_archived();
                    *(if is_archived {
                        &mut self.summary.archived.reviews
                    } else {
                        &mut self.summary.erased.reviews
                    }) += 1;
                    return self.apply(entry, &event);
                }
                let base = live.state().learned.evidence_base(live.document()).map_err(inconsistent)?;
                if base.statistics.digest() != reviewed.digest {
                    return Err(inconsistent("the digest of the review's statistics differs").into());
                }
                self.summary.reviews += 1;
            }
            Event::Proposed(proposed) if proposed.rollback.is_none() && proposed.amendment.is_none() => {
                self.proposed(entry, proposed)?;
            }
            Event::PersonErased(erased) => self.person_erased(entry, erased)?,
            Event::Archived(archived) => self.check_sums(entry, archived)?,
            _ => {}
        }
        self.apply(entry, &event)
    }

    fn apply(&mut self, entry: &LogEntry, event: &Event) -> Result<(), CheckError> {
        self.summary.outcomes += u64::from(matches!(event, Event::Observed(_) | Event::Corrected(_)));
        self.state.apply_entry(self.log, entry, event)?;
        if let Some((_, _, signature)) = event.signed_act().filter(|_| entry.actor != ENGINE_ACTOR) {
            let SignatureCounts { by_key, by_token } = &mut self.summary.signatures;
            *(if signature.by_key.is_some() { by_key } else { by_token }) += 1;
        }
        match event {
            Event::Registered(_) => self.registered(entry)?,
            Event::Approved(_) => self.amended(entry),
            _ => {}
        }
        Ok(())
    }

    fn registered(&mut self, entry: &LogEntry) -> Result<(), CheckError> {
        let reviewing = LaggedReplay::new(self.log, entry)?;
        let live = reviewing.live();
        let decider = live.decider(entry.number);
        let deciding = decider.explores().then(|| LaggedReplay::new(self.log, entry)).transpose()?;
        self.policies.insert(entry.number, Trail { decider, deciding, reviewing });
        Ok(())
    }

    /// Follows a policy that explores since an amendment.
    fn amended(&mut self, entry: &LogEntry) {
        let (Some(trail), Some(live)) = (self.policies.get_mut(&entry.policy), self.state.policy(entry.policy)) else {
            return;
        };
        let live = live.lock();
        let explores = live.document().change().explore != Exploration::NONE;
        if trail.deciding.is_none() && live.version().event == entry.number && explores {
            trail.deciding = Some(LaggedReplay::from(live.clone(), entry));
        }
    }

    /// Repeats a decision from the state on which it was based.
    fn decided(&mut self, entry: &LogEntry, decided: &Decided) -> Result<(), CheckError> {
        let Some(trail) = self.policies.get_mut(&entry.policy) else {
            return Err(inconsistent("a decision of an unknown policy").into());
        };
        if decided.basis < trail.decider.basis || decided.basis >= entry.number {
            return Err(inconsistent(format!(
                "the decision is based on event {}, which is out of order",
                decided.basis
            ))
            .into());
        }
        let live =
            self.state.policy(entry.policy).ok_or_else(|| inconsistent("a decision of an unknown policy"))?.lock();
        if decided.basis > trail.decider.basis {
            trail.advance(self.log, &live, decided.basis)?;
        }
        let pinned = decided.pinned.then(|| live.decider_of(decided.version, decided.basis)).transpose()?;
        let decider = pinned.as_ref().unwrap_or(&trail.decider);
        // Without the record, or without outcomes that were known then, it cannot be drawn again.
        let lacks = || trail.deciding.as_ref().is_some_and(|deciding| deciding.live().lacks_outcomes());
        if decided.archived.is_some() || (decider.explores() && trail.lacks_archived()) {
            self.summary.archived.decisions += 1;
            return Ok(());
        }
        if decided.subject.is_some_and(|about| about.erased) || (decider.explores() && lacks()) {
            self.summary.erased.decisions += 1;
            return Ok(());
        }
        let edition = &decider.edition;
        let context = edition.reader.context(&decided.record).map_err(inconsistent)?;
        let again = decider.decide(&context, entry.number);
        let option = &edition.document.options()[again.arm.index()];
        let beside = live.shadow_at(decided.basis).filter(|_| !decided.pinned).map(|shadow| {
            let candidate = Decider::of_rule((edition, &edition.document), (0, 0));
            candidate.beside(Some((&edition.document, &shadow.rule)))
        });
        let beside = beside.as_ref().and_then(|beside| beside.shadow(&context));
        let same = *option == decided.option
            && beside == decided.shadow.as_deref()
            && decider.version == decided.version
            && again.reason == decided.reason
            && again.propensity.to_bits() == decided.propensity.to_bits();
        if !same {
            return Err(inconsistent(format!(
                "repeated, the decision is {option} by version {} ({}, probability {}), but the log has {} by version {} ({}, probability {})",
                decider.version, again.reason, again.propensity,
                decided.option, decided.version, decided.reason, decided.propensity
            )).into());
        }
        if let Some(key) = &decided.key {
            let lookup_key = match self.key_of(decided.subject)? {
                Some(person) => lookup_key::of_request_about(entry.policy, &person, key),
                None => lookup_key::of_request(entry.policy, key),
            };
            self.check_key(entry, &lookup_key)?;
        }
        self.summary.decisions += 1;
        Ok(())
    }

    /// Checks that a key leads to this event. Otherwise the same request could be served twice.
    fn check_key(&self, entry: &LogEntry, lookup_key: &LookupKey) -> Result<(), CheckError> {
        // With the record the key was removed.
        if self.log.is_archived(entry) {
            return Ok(());
        }
        if self.log.find(lookup_key).map_err(ReplayError::Store)? != Some(entry.number) {
            return Err(inconsistent("its lookup key leads to another event, or to none").into());
        }
        Ok(())
    }

    /// Checks that the decision's lookup key leads to this outcome, or to a later correction.
    fn check_outcome_key(&self, entry: &LogEntry, decision: u64) -> Result<(), CheckError> {
        let found = self.log.find(&lookup_key::of_outcome(decision)).map_err(ReplayError::Store)?.unwrap_or(0);
        if found == entry.number || self.log.is_archived(entry) {
            return Ok(());
        }
        let later = self.log.entry(found).map_err(ReplayError::Store)?.filter(|later| later.number > entry.number);
        let corrects = match later.as_ref().map(|later| replay::event(self.log, later)).transpose()? {
            Some(Event::Corrected(corrected)) => corrected.decision == decision,
            _ => false,
        };
        if corrects {
            Ok(())
        } else {
            Err(inconsistent(format!("the lookup key of decision {decision} does not lead to its outcome")).into())
        }
    }

    fn observed(&mut self, decision: u64) -> Result<(), CheckError> {
        let at = usize::try_from(decision / 64).map_err(inconsistent)?;
        if self.answered.len() <= at {
            self.answered.resize(at + 1, 0);
        }
        let bit = 1 << (decision % 64);
        if self.answered[at] & bit != 0 {
            return Err(
                inconsistent(format!("a second outcome of decision {decision} that is not a correction")).into()
            );
        }
        self.answered[at] |= bit;
        Ok(())
    }

    fn corrected(&self, corrected: &Corrected) -> Result<(), CheckError> {
        let previous = self.log.entry(corrected.previous).map_err(ReplayError::Store)?;
        let known = previous.as_ref().map(|previous| replay::event(self.log, previous)).transpose()?;
        let (decision, first, outcome, guardrails) = match known {
            Some(Event::Observed(was)) => (was.decision, corrected.previous, was.outcome, was.guardrails),
            Some(Event::Corrected(was)) => (Some(was.decision), was.first, was.outcome, was.guardrails),
            _ => (None, 0, f64::NAN, BTreeMap::new()),
        };
        let same = decision == Some(corrected.decision) && first == corrected.first;
        let is_erased = corrected.archived.is_some() || corrected.subject.is_some_and(|about| about.erased);
        let is_erased = is_erased || self.log.beneath().is_none() && outcome.is_nan();
        let same_outcome = outcome.to_bits() == corrected.from.to_bits() && guardrails == corrected.from_guardrails;
        if !same || !(is_erased || same_outcome) {
            return Err(inconsistent("a correction that does not match the reported outcome").into());
        }
        Ok(())
    }

    /// Recomputes a proposal from the state on which it was based.
    fn proposed(&mut self, entry: &LogEntry, proposed: &Proposed) -> Result<(), CheckError> {
        let live = self.reviewing(entry, proposed.basis)?;
        if live.lacks_outcomes() {
            let is_archived = live.lacks_archived();
            *(if is_archived { &mut self.summary.archived.proposals } else { &mut self.summary.erased.proposals }) += 1;
            return Ok(());
        }
        let learned = &live.state().learned;
        let base = learned.evidence_base(live.document()).map_err(inconsistent)?;
        let again = examine(&base, learned.tally()).map_err(inconsistent)?.proposal;
        if base.statistics.digest() != proposed.digest || again.map(|again| again.rule).as_ref() != Some(&proposed.rule)
        {
            return Err(inconsistent("recomputed, the proposal has another rule").into());
        }
        self.summary.proposals += 1;
        Ok(())
    }

    /// The policy after event `basis`.
    fn reviewing(&mut self, entry: &LogEntry, basis: u64) -> Result<&LivePolicy, CheckError> {
        let trail =
            self.policies.get_mut(&entry.policy).ok_or_else(|| inconsistent("a review of an unknown policy"))?;
        if basis >= entry.number || basis < trail.reviewing.at() {
            return Err(inconsistent(format!("the review is based on event {basis}, which is out of order")).into());
        }
        trail.reviewing.advance(self.log, basis)?;
        Ok(trail.reviewing.live())
    }

    /// Whether a snapshot of this event is the state that the log gives.
    fn is_same(&mut self, snapshot: &StoredSnapshot) -> bool {
        let is_same = serde_json::to_vec(&self.state.snapshot()).is_ok_and(|body| body == snapshot.body);
        self.summary.snapshot = Some(snapshot.number).filter(|_| is_same);
        is_same
    }
}

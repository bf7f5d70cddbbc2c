//! One policy: the state that follows from its events.

use std::sync::Arc;

use rarely_core::{Arm, Reason};
use rarely_policy::{Approval, PolicyDocument, WrittenRule};
use rarely_review::Verdict;
use rarely_store::Hash;
use serde::{Deserialize, Serialize};

use crate::decider::{Decider, DecisionBasis};
use crate::event::{Corrected, Decided, Event, Observed, Proposed, Registered, Reviewed, Signature};
use crate::late_outcomes::{CorrectedOutcome, HeldOutcome, LateOutcomes};
use crate::learned::Learned;
use crate::objection::Objection;
use crate::record::RecordReader;
use crate::review_history::{ReviewHistory, TimedReviewPoint};
use crate::signed_statement::SigningState;
use crate::unanswered::Unanswered;
use crate::versions::{ProposalRecord, ProposalStatus, Signer, Version, VersionOrigin};

/// Milliseconds in a day.
pub(crate) const DAY_MS: f64 = 86_400_000.0;
/// The actor of automatic events.
pub const ENGINE_ACTOR: &str = "engine";

/// A policy that is in use: its document, and the state that follows from its events.
#[derive(Debug, Clone)]
pub struct LivePolicy {
    document: PolicyDocument,
    reader: Arc<RecordReader>,
    state: PolicyState,
    /// The last event after which something was learned.
    learned_at: u64,
}

/// The part of a policy that a snapshot stores; the rest is derived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyState {
    /// Its registration.
    #[serde(rename = "birth")]
    pub registration: RegistrationRecord,
    /// Its versions; the last one is in force.
    pub versions: Vec<Version>,
    /// Its proposals.
    pub proposals: Vec<ProposalRecord>,
    /// Whether exploration and automatic changes are stopped.
    pub stopped: bool,
    /// What was learned from outcomes.
    pub learned: Learned,
    /// Outcomes that wait for those of earlier decisions; `None` if outcomes are learned as they arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateOutcomes>,
    /// Counts of decisions and outcomes.
    pub counts: Counts,
    /// Past reviews.
    pub reviews: ReviewHistory,
    /// How people sign; `None` in logs from before policies could say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<SigningState>,
    /// The policy's last event.
    pub last_event: u64,
}

/// The registration of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationRecord {
    /// The event's number, which is the policy's id.
    pub event: u64,
    /// When it was registered.
    pub time_ms: u64,
    /// Who registered it.
    pub author: String,
    /// The document, exactly as received.
    pub text: String,
    /// The seed of randomised decisions.
    pub seed: u64,
    /// The event's hash.
    pub hash: Hash,
}

/// Counts of decisions and outcomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Decisions, by option.
    pub decided: Vec<u64>,
    /// Decisions that were drawn by lot or by the pilot.
    pub explored: u64,
    /// Decisions with an outcome, by option.
    pub answered: Vec<u64>,
    /// Outcomes of decisions taken elsewhere, by option.
    pub elsewhere: Vec<u64>,
    /// Outcomes that were corrected.
    pub corrections: u64,
    /// Decisions without an outcome, if the document sets an outcome window.
    #[serde(rename = "waiting")]
    pub unanswered: Option<Unanswered>,
}

impl Counts {
    /// Outcomes that were reported, of decisions made here and elsewhere, whether or not they are learned yet.
    pub fn outcomes(&self) -> u64 {
        self.answered.iter().chain(&self.elsewhere).sum()
    }
}

/// Number, time and actor of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventHeader<'a> {
    /// Its number.
    pub number: u64,
    /// Its time.
    pub time_ms: u64,
    /// Who caused it.
    pub actor: &'a str,
    /// Its hash.
    pub hash: Hash,
}

/// The decision that an outcome or correction refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionRef {
    /// The policy it belongs to.
    pub policy: u64,
    /// When it was made.
    pub time_ms: u64,
    /// What was decided.
    pub decided: Decided,
}

impl LivePolicy {
    /// The policy after its registration.
    ///
    /// # Errors
    /// [`Objection::Inconsistent`] if the document is invalid.
    pub fn register(header: EventHeader<'_>, registered: &Registered) -> Result<Self, Objection> {
        let document = PolicyDocument::parse(&registered.document, "document").map_err(inconsistent)?.as_live();
        let options = document.options().len();
        let version = Version {
            number: 1,
            rule: document.rule().clone(),
            event: header.number,
            time_ms: header.time_ms,
            origin: VersionOrigin::Registration,
            signers: Vec::new(),
        };
        let state = PolicyState {
            registration: RegistrationRecord {
                event: header.number,
                time_ms: header.time_ms,
                author: header.actor.to_owned(),
                text: registered.document.clone(),
                seed: registered.seed,
                hash: header.hash,
            },
            versions: vec![version],
            proposals: Vec::new(),
            stopped: false,
            learned: Learned::new(&document),
            late: registered.decision_order.then(|| LateOutcomes::new(document.control().outcome_window_ms)),
            counts: Counts {
                decided: vec![0; options],
                explored: 0,
                answered: vec![0; options],
                elsewhere: vec![0; options],
                corrections: 0,
                unanswered: document.control().outcome_window_ms.map(|window| Unanswered::new(window, options)),
            },
            reviews: ReviewHistory::since(header.time_ms),
            signing: registered.signatures.map(|signed_with| SigningState { signed_with, last_act: header.hash }),
            last_event: header.number,
        };
        let learned_at = header.number;
        Ok(Self { reader: Arc::new(RecordReader::new(&document)), document, state, learned_at })
    }

    /// The policy of a snapshot.
    ///
    /// # Errors
    /// [`Objection::Inconsistent`] if its parts contradict each other.
    pub fn restore(mut state: PolicyState) -> Result<Self, Objection> {
        let document = PolicyDocument::parse(&state.registration.text, "document").map_err(inconsistent)?.as_live();
        let last = state.versions.last().ok_or_else(|| inconsistent("a policy without a version"))?;
        let document = document.with_rule(last.rule.clone()).map_err(inconsistent)?;
        state.learned = state.learned.revived(&document).map_err(inconsistent)?;
        let learned_at = state.last_event;
        Ok(Self { reader: Arc::new(RecordReader::new(&document)), document, state, learned_at })
    }

    /// The document, with the rule in force.
    pub fn document(&self) -> &PolicyDocument {
        &self.document
    }

    /// The state.
    pub fn state(&self) -> &PolicyState {
        &self.state
    }

    /// The version in force.
    ///
    /// # Panics
    /// Never: a policy has at least one version.
    pub fn version(&self) -> &Version {
        self.state.versions.last().expect("a policy has at least one version")
    }

    /// The proposal that waits for a signature.
    pub fn open_proposal(&self) -> Option<&ProposalRecord> {
        self.state.proposals.iter().rev().find(|proposal| proposal.is_open())
    }

    /// The decider after event `basis`.
    pub fn decider(&self, basis: u64) -> Decider {
        let PolicyState { learned, stopped, registration, counts, .. } = &self.state;
        let basis =
            DecisionBasis { version: self.version().number, event: basis, decided: counts.decided.iter().sum() };
        Decider::new(&self.document, learned, basis, registration.seed, *stopped)
    }

    /// Whether the pilot goes on: it counts decisions, so that each of them may end it.
    pub(crate) fn is_piloting(&self) -> bool {
        let pilot = u64::from(self.document.change().explore.pilot) * self.document.options().len() as u64;
        !self.state.stopped && self.state.counts.decided.iter().sum::<u64>() <= pilot && pilot > 0
    }

    /// Whether something was learned with the last event.
    pub(crate) fn has_just_learned(&self) -> bool {
        self.learned_at == self.state.last_event
    }

    /// Reads records for its document.
    pub fn reader(&self) -> &Arc<RecordReader> {
        &self.reader
    }

    /// Whether the rule is due for review.
    pub fn is_review_due(&self, now_ms: u64) -> bool {
        let (control, reviews) = (self.document.control(), &self.state.reviews);
        let new = self.state.learned.outcomes().saturating_sub(reviews.outcomes);
        let waited = || control.review_after_ms.is_some_and(|after| now_ms.saturating_sub(reviews.time_ms) >= after);
        new >= control.review_every || (new > 0 && waited())
    }

    /// Applies an event. `about` is the decision that an outcome or correction refers to.
    ///
    /// # Errors
    /// [`Objection`] if the event contradicts earlier ones; the policy is then unchanged.
    pub fn apply(
        &mut self,
        header: EventHeader<'_>,
        event: &Event,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        match event {
            // Reading changes nothing, not even the policy's last event.
            Event::Exported(_) | Event::DecisionRead(_) => return Ok(()),
            Event::Decided(decided) => self.decided(header, decided)?,
            Event::Observed(observed) => self.observed(header, observed, about)?,
            Event::Corrected(corrected) => self.corrected(header, corrected, about)?,
            Event::Reviewed(reviewed) => self.reviewed(header, reviewed)?,
            Event::Proposed(proposed) => self.proposed(header, proposed)?,
            Event::Refused(refused) => {
                self.check_version(refused.version)?;
                self.state.reviews.refused = Some(refused.reasons.clone());
            }
            Event::Approved(signed) => self.approved(header, signed.proposal, &signed.signature)?,
            Event::Rejected(signed) => self.rejected(header, signed.proposal, &signed.signature)?,
            Event::Expired(expired) => {
                let proposal = self.open(expired.proposal)?;
                if !proposal.is_overdue(header.time_ms) {
                    return Err(inconsistent("a proposal expired before its expiry time"));
                }
                self.close(expired.proposal, ProposalStatus::Expired);
            }
            Event::RolledBack(rolled) => {
                self.may_roll_back(rolled.to, &rolled.signature)?;
                if self.document.control().approval == Approval::Two {
                    return Err(inconsistent("a rollback with one signature, but the document requires two"));
                }
                let signer = signer(header, &rolled.signature);
                let rule = self.version_of(rolled.to)?.rule.clone();
                self.put_in_force(header, rule, VersionOrigin::Rollback { to: rolled.to }, vec![signer])?;
            }
            Event::Stopped(signature) => self.stopped(header, signature)?,
            Event::Resumed(signature) => {
                self.may_resume(signature)?;
                self.state.stopped = false;
            }
            other => {
                return Err(inconsistent(format!("an event of kind {:?} does not belong to a policy", other.kind())));
            }
        }
        if let Some(signing) = &mut self.state.signing {
            signing.follow(header, event);
        }
        self.learn_late(header);
        self.state.last_event = header.number;
        Ok(())
    }

    /// Learns the outcomes that no longer wait. Decisions run out of time by the log's own clock, so that a replay agrees.
    fn learn_late(&mut self, header: EventHeader<'_>) {
        let PolicyState { learned, late: Some(late), .. } = &mut self.state else { return };
        while let Some((decision, held)) = late.learnable(header.time_ms) {
            learned.observe(learned.outcomes() + 1, decision, &held.context, held.arm, held.reward);
            self.learned_at = header.number;
        }
    }

    fn decided(&mut self, header: EventHeader<'_>, decided: &Decided) -> Result<(), Objection> {
        let arm = self.arm(&decided.option)?;
        let counts = &mut self.state.counts;
        counts.decided[arm.index()] += 1;
        counts.explored += u64::from(decided.reason != Reason::Policy);
        if let Some(unanswered) = &mut counts.unanswered {
            unanswered.decided(header.time_ms, arm.index());
        }
        if let Some(late) = &mut self.state.late {
            late.decided(header);
        }
        Ok(())
    }

    fn observed(
        &mut self,
        header: EventHeader<'_>,
        observed: &Observed,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        let reader = &self.reader;
        let (record, option) = match (&observed.elsewhere, about) {
            (Some(elsewhere), _) => (&elsewhere.record, &elsewhere.option),
            (None, Some(about)) => (&about.decided.record, &about.decided.option),
            (None, None) => return Err(inconsistent("an outcome of a decision that is not in the log")),
        };
        let (arm, context) = (self.arm(option)?, reader.context(record).map_err(inconsistent)?);
        let reward = reader.reward(observed.outcome, arm).map_err(inconsistent)?;
        let counts = &mut self.state.counts;
        match about {
            Some(about) if observed.elsewhere.is_none() => {
                counts.answered[arm.index()] += 1;
                if let Some(unanswered) = &mut counts.unanswered {
                    unanswered.answered(about.time_ms, arm.index());
                }
            }
            _ => counts.elsewhere[arm.index()] += 1,
        }
        let PolicyState { learned, late, .. } = &mut self.state;
        let (row, place) = match (late, observed.decision) {
            (Some(late), Some(decision)) => {
                late.report(decision, header, HeldOutcome { context, arm, reward });
                return Ok(());
            }
            // Decisions made elsewhere have no place in our order.
            (Some(_), None) => (learned.outcomes() + 1, 0),
            (None, _) => (header.number, header.number),
        };
        learned.observe(row, place, &context, arm, reward);
        self.learned_at = header.number;
        Ok(())
    }

    fn corrected(
        &mut self,
        header: EventHeader<'_>,
        corrected: &Corrected,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        let about = about.ok_or_else(|| inconsistent("a correction of a decision that is not in the log"))?;
        let reader = &self.reader;
        let (arm, context) =
            (self.arm(&about.decided.option)?, reader.context(&about.decided.record).map_err(inconsistent)?);
        let reward = |outcome| reader.reward(outcome, arm).map_err(inconsistent);
        let (from, to) = (reward(corrected.from)?, reward(corrected.outcome)?);
        self.state.counts.corrections += 1;
        let (place, earlier) = match &mut self.state.late {
            None => (corrected.first, corrected.first <= self.version().event),
            Some(late) => match late.correct(corrected.decision, to) {
                CorrectedOutcome::Learned { earlier } => (corrected.decision, earlier),
                CorrectedOutcome::Waiting | CorrectedOutcome::NotLearned => return Ok(()),
            },
        };
        self.state.learned.correct(place, &context, arm, (from, to), earlier);
        self.learned_at = header.number;
        Ok(())
    }

    fn reviewed(&mut self, header: EventHeader<'_>, reviewed: &Reviewed) -> Result<(), Objection> {
        reviewed.signature.as_ref().map_or(Ok(()), check_complete)?;
        let reviews = &mut self.state.reviews;
        reviews.push(TimedReviewPoint {
            time_ms: header.time_ms,
            version: reviewed.version,
            point: reviewed.point.clone(),
        });
        reviews.outcomes = reviewed.point.outcomes;
        reviews.time_ms = header.time_ms;
        reviews.verdict = Some(reviewed.verdict);
        reviews.reasons.clone_from(&reviewed.reasons);
        if reviewed.verdict != Verdict::Change {
            reviews.refused = None;
        }
        Ok(())
    }

    fn proposed(&mut self, header: EventHeader<'_>, proposed: &Proposed) -> Result<(), Objection> {
        self.check_version(proposed.version)?;
        if let Some(open) = self.open_proposal() {
            return Err(Objection::OpenProposal(open.number));
        }
        if proposed.proposal != self.next_proposal() {
            return Err(inconsistent("a proposal with the wrong number"));
        }
        self.document.check_rule(&proposed.rule).map_err(inconsistent)?;
        let mut signers = Vec::new();
        match (&proposed.signature, proposed.rollback) {
            (Some(signature), Some(to)) => {
                self.may_roll_back(to, signature)?;
                signers.push(signer(header, signature));
            }
            (None, None) => self.check_plan(&proposed.rule, header.time_ms)?,
            _ => return Err(inconsistent("a rollback without a signature, or another proposal with one")),
        }
        self.state.proposals.push(ProposalRecord {
            number: proposed.proposal,
            event: header.number,
            hash: header.hash,
            time_ms: header.time_ms,
            expires_ms: proposed.expires_ms,
            version: proposed.version,
            rule: proposed.rule.clone(),
            rollback: proposed.rollback,
            outcomes: proposed.outcomes,
            signers,
            status: ProposalStatus::Open,
        });
        self.state.reviews.refused = None;
        Ok(())
    }

    fn approved(&mut self, header: EventHeader<'_>, number: u64, signature: &Signature) -> Result<(), Objection> {
        self.may_sign(number, header, signature)?;
        let proposal = self.open(number)?;
        let (rule, rollback) = (proposal.rule.clone(), proposal.rollback);
        let mut signers = proposal.signers.clone();
        if header.actor != ENGINE_ACTOR {
            signers.push(signer(header, signature));
        }
        if signers.len() < self.signatures_needed() {
            let at = self.place(number)?;
            self.state.proposals[at].signers = signers;
            return Ok(());
        }
        let version = self.version().number + 1;
        let origin = rollback.map_or(VersionOrigin::Proposal { proposal: number }, |to| VersionOrigin::Rollback { to });
        let at = self.place(number)?;
        self.state.proposals[at].signers.clone_from(&signers);
        self.close(number, ProposalStatus::Approved { version });
        self.put_in_force(header, rule, origin, signers)
    }

    fn rejected(&mut self, header: EventHeader<'_>, number: u64, signature: &Signature) -> Result<(), Objection> {
        check_complete(signature)?;
        let outcomes = self.open(number)?.outcomes;
        self.state.reviews.rejected_at = Some(outcomes);
        self.close(number, ProposalStatus::Rejected { by: Box::new(signer(header, signature)) });
        Ok(())
    }

    fn stopped(&mut self, header: EventHeader<'_>, signature: &Signature) -> Result<(), Objection> {
        self.may_stop(signature)?;
        self.state.stopped = true;
        let (to, rule) = self.last_signed();
        if rule == self.version().rule {
            return Ok(());
        }
        self.put_in_force(header, rule, VersionOrigin::Stop { to }, vec![signer(header, signature)])
    }

    fn put_in_force(
        &mut self,
        header: EventHeader<'_>,
        rule: WrittenRule,
        origin: VersionOrigin,
        signers: Vec<Signer>,
    ) -> Result<(), Objection> {
        self.document = self.document.with_rule(rule.clone()).map_err(inconsistent)?;
        if let Some(overtaken) = self.open_proposal().map(|proposal| proposal.number) {
            self.close(overtaken, ProposalStatus::Overtaken);
        }
        let number = self.version().number + 1;
        let EventHeader { number: event, time_ms, .. } = header;
        self.state.versions.push(Version { number, rule, event, time_ms, origin, signers });
        self.state.reviews.rejected_at = None;
        self.state.reviews.refused = None;
        self.state.learned.follow(&self.document);
        if let Some(late) = &mut self.state.late {
            late.follow(event);
        }
        Ok(())
    }

    fn close(&mut self, number: u64, status: ProposalStatus) {
        if let Ok(at) = self.place(number) {
            self.state.proposals[at].status = status;
        }
    }

    fn arm(&self, option: &str) -> Result<Arm, Objection> {
        self.reader.option(option).map_err(inconsistent)
    }
}

pub(crate) fn signer(header: EventHeader<'_>, signature: &Signature) -> Signer {
    Signer { name: header.actor.to_owned(), time_ms: header.time_ms, signature: signature.clone() }
}

/// Checks that a signature has a meaning and a reason.
pub(crate) fn check_complete(signature: &Signature) -> Result<(), Objection> {
    for (name, text) in [("meaning", &signature.meaning), ("reason", &signature.reason)] {
        if text.trim().is_empty() {
            return Err(Objection::SignatureIncomplete(name));
        }
    }
    Ok(())
}

pub(crate) fn inconsistent(problem: impl std::fmt::Display) -> Objection {
    Objection::Inconsistent(problem.to_string())
}

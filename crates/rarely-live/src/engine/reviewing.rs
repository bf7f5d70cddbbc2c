//! Reviews of the rule in force, and the events that follow from them.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rarely_policy::{Approval, PolicyDocument};
use rarely_review::findings::{
    Findings, ImpactFinding, ProposalFinding, VerdictFinding, cause_clause, demotion_sentence,
};
use rarely_review::{EvidenceBase, Judgement, ProposedChange, Review, ReviewJson, Verdict, complete, examine, review};
use rarely_store::PolicyRef;

use super::{ChangeError, Engine, PendingEvent, PolicyHandle, draft};
use crate::event::{
    AffectedBand, Assumption, Drawing, Event, ProposalRationale, Proposed, Refused, Reviewed, Signature, Signed,
};
use crate::learned::Learned;
use crate::live_policy::{ENGINE_ACTOR, LivePolicy};
use crate::review_point::review_point;

/// How often the reviewer checks the clock.
const TICK: Duration = Duration::from_secs(1);

/// A review that was recorded in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReview {
    /// Its event number.
    pub event: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The reasons for it.
    pub reasons: Vec<String>,
    /// The proposal that was made, if any.
    pub proposal: Option<u64>,
    /// Why the plan does not allow the change that the evidence supports; empty if it does.
    pub refused: Vec<String>,
}

/// The state of a policy at the start of a review.
struct ReviewInput {
    document: PolicyDocument,
    learned: Learned,
    version: u64,
    basis: u64,
}

/// Who requested a review.
struct Caller<'a> {
    actor: &'a str,
    /// A signature in advance, for the case that nothing changes.
    signature: Option<Signature>,
    /// Whether a person requested the review, rather than the schedule.
    on_request: bool,
}

impl ReviewInput {
    fn at(live: &LivePolicy) -> Self {
        Self {
            document: live.document().clone(),
            learned: live.state().learned.clone(),
            version: live.version().number,
            basis: live.state().last_event,
        }
    }
}

/// The thread that runs due reviews.
pub(super) struct Reviewer {
    engine: Weak<Engine>,
}

impl Reviewer {
    pub(super) fn new(engine: &Arc<Engine>) -> Self {
        Self { engine: Arc::downgrade(engine) }
    }

    pub(super) fn run(self, calls: &Receiver<u64>) {
        loop {
            let mut due = BTreeSet::new();
            match calls.recv_timeout(TICK) {
                Ok(id) => {
                    due.insert(id);
                    due.extend(calls.try_iter());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let Some(engine) = self.engine.upgrade() else { return };
            let by_clock = due.is_empty();
            for handle in engine.policies().iter().filter(|handle| by_clock || due.contains(&handle.id)) {
                engine.maintain(handle, by_clock);
            }
        }
    }
}

impl Engine {
    /// Closes an overdue proposal and runs a due review. Failures are tried again at the next tick.
    fn maintain(&self, handle: &PolicyHandle, by_clock: bool) {
        let now_ms = self.now_ms();
        let (overdue, due) = {
            let live = handle.live.lock();
            (live.open_proposal().is_some_and(|open| open.is_overdue(now_ms)), live.is_review_due(now_ms))
        };
        if by_clock && overdue {
            let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.expire(handle, ENGINE_ACTOR));
        }
        if due {
            drop(self.review(handle, None));
        }
    }

    /// Reviews the current evidence and passes the result to `show`. Nothing is recorded.
    ///
    /// # Errors
    /// [`rarely_review::ReviewError`] if there is no outcome yet.
    pub fn evidence<R>(
        &self,
        handle: &PolicyHandle,
        show: impl FnOnce(&EvidenceBase<'_>, &Review, u64) -> R,
    ) -> Result<R, rarely_review::ReviewError> {
        let input = ReviewInput::at(&handle.live.lock());
        let base = input.learned.evidence_base(&input.document)?;
        let found = review(&base, input.learned.tally())?;
        Ok(show(&base, &found, input.basis))
    }

    /// Reviews the rule in force now and records the result. `asked` is the person who requests it, with an optional signature
    /// for the case that nothing changes.
    ///
    /// # Errors
    /// [`ChangeError`] if there is no outcome yet, or it cannot be stored.
    pub fn review(
        &self,
        handle: &PolicyHandle,
        asked: Option<(&str, Option<Signature>)>,
    ) -> Result<RecordedReview, ChangeError> {
        let caller = match asked {
            Some((actor, signature)) => Caller { actor, signature, on_request: true },
            None => Caller { actor: ENGINE_ACTOR, signature: None, on_request: false },
        };
        let _one_at_a_time = handle.review.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let input = ReviewInput::at(&handle.live.lock());
            let base = input.learned.evidence_base(&input.document)?;
            let judgement = examine(&base, input.learned.tally())?;
            let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
            if handle.live.lock().version().number != input.version {
                // The rule was changed in the meantime; review the new one.
                continue;
            }
            self.expire(handle, caller.actor)?;
            return self.conclude(handle, &input, &base, &judgement, caller);
        }
    }

    fn conclude(
        &self,
        handle: &PolicyHandle,
        input: &ReviewInput,
        base: &EvidenceBase<'_>,
        judgement: &Judgement,
        caller: Caller<'_>,
    ) -> Result<RecordedReview, ChangeError> {
        let Caller { actor, signature, on_request } = caller;
        let reasons = VerdictFinding::new(base.document, judgement).reason_sentences();
        let mut events = vec![Event::Reviewed(Reviewed {
            basis: input.basis,
            version: input.version,
            verdict: judgement.verdict,
            reasons: reasons.clone(),
            point: review_point(base, judgement, input.learned.outcomes()),
            digest: base.statistics.digest(),
            signature: signature.filter(|_| judgement.proposal.is_none()),
        })];
        let (mut proposed, mut refused) = (None, Vec::new());
        if let Some(proposal) = &judgement.proposal {
            let (may, number, known, approval) = {
                let live = handle.live.lock();
                let idle = !live.state().stopped && live.open_proposal().is_none();
                refused = live.outside_plan(&proposal.rule, self.now_ms());
                if proposal.needs_person(base.document) {
                    let why = proposal.demotions.iter().map(|demotion| demotion_sentence(base.document, demotion));
                    refused.extend(why);
                }
                let known = live.state().reviews.refused.as_ref() == Some(&refused);
                let may = if on_request { idle } else { live.may_propose() };
                (may, live.next_proposal(), known, live.document().control().approval)
            };
            if !refused.is_empty() {
                if !known || on_request {
                    events.push(Event::Refused(refusal(input, base, proposal, refused.clone())));
                }
            } else if may {
                proposed = Some(number);
                events.push(Event::Proposed(Box::new(self.proposal(input, base, (judgement, proposal), number)?)));
                if approval == Approval::Automatic {
                    events.push(Event::Approved(Signed { proposal: number, signature: automatic_signature() }));
                }
            }
        }
        let event = self.record_all(handle, actor, events)?;
        Ok(RecordedReview { event, verdict: judgement.verdict, reasons, proposal: proposed, refused })
    }

    /// Appends events together. Returns the first one's number.
    fn record_all(&self, handle: &PolicyHandle, actor: &str, events: Vec<Event>) -> Result<u64, ChangeError> {
        let further = events.len() as u64 - 1;
        let last = self.append_and_apply(|turn| {
            let first = turn.number();
            for event in events {
                // An automatic approval has no human actor.
                let by = if matches!(event, Event::Approved(_)) { ENGINE_ACTOR } else { actor };
                turn.push_deferred(draft(by, PolicyRef::Id(handle.id), &event, None), PendingEvent::of(event));
            }
            first + further
        })?;
        Ok(last - further)
    }

    fn proposal(
        &self,
        input: &ReviewInput,
        base: &EvidenceBase<'_>,
        (judgement, proposal): (&Judgement, &ProposedChange),
        number: u64,
    ) -> Result<Proposed, ChangeError> {
        let whole = complete(base, input.learned.tally(), judgement.clone())?;
        let pictures = (self.options.draw)(base, &whole);
        let findings = Findings::new(base.document, &whole);
        Ok(Proposed {
            proposal: number,
            basis: input.basis,
            version: input.version,
            rule: proposal.rule.clone(),
            rollback: None,
            expires_ms: self.now_ms().saturating_add(base.document.control().proposal_expires_ms),
            outcomes: input.learned.outcomes(),
            digest: base.statistics.digest(),
            amendment: None,
            signature: None,
            case: findings.proposal.as_ref().map(|found| rationale(&findings, found, proposal, pictures)),
        })
    }
}

/// The findings as a proposal keeps them.
fn rationale(
    findings: &Findings,
    found: &ProposalFinding,
    proposal: &ProposedChange,
    pictures: Vec<Drawing>,
) -> ProposalRationale {
    let assumptions = findings.assumptions.iter().map(|assumption| Assumption {
        name: assumption.name.to_owned(),
        value: assumption.value.clone(),
        meaning: assumption.explanation(),
    });
    ProposalRationale {
        cause: found.cause_clause.clone(),
        before: findings.rule.lines.clone(),
        after: found.rule.lines.clone(),
        difference: found.changes.clone(),
        exact: proposal.exact.clone(),
        note: found.form_sentence.clone(),
        certificate: proposal.certificate.clone(),
        certified_by: found.certificate.certified_by.clone(),
        who: affected(&found.impact),
        against: found.against.sentences(),
        guardrails: guardrails(findings, proposal),
        assumptions: assumptions.collect(),
        review: serde_json::to_value(ReviewJson::new(findings)).unwrap_or_default(),
        pictures,
    }
}

fn refusal(input: &ReviewInput, base: &EvidenceBase<'_>, proposal: &ProposedChange, reasons: Vec<String>) -> Refused {
    Refused {
        basis: input.basis,
        version: input.version,
        rule: proposal.rule.clone(),
        words: proposal.rule.words(base.document),
        cause: cause_clause(base.document, &proposal.cause),
        reasons,
        digest: base.statistics.digest(),
    }
}

fn automatic_signature() -> Signature {
    let reason = "the document's plan says approval = \"automatic\"";
    Signature::by_token("put in force without a signature", reason)
}

/// What the proposal does to outcomes that must not get worse, as the review says it.
fn guardrails(findings: &Findings, proposal: &ProposedChange) -> Vec<String> {
    let proposed = findings.candidates.rules.iter().find(|candidate| candidate.rule.rule == proposal.rule);
    proposed.map_or_else(Vec::new, |found| found.guardrails.iter().map(|one| one.sentence.clone()).collect())
}

/// The bands in which the proposal changes decisions.
fn affected(impact: &ImpactFinding) -> Vec<AffectedBand> {
    let bands = impact.bands.iter();
    bands
        .map(|band| AffectedBand {
            band: band.band.clone(),
            people: band.people,
            changed: band.changed,
            moves: band.moves.clone(),
            gain: [band.gain.estimate, band.gain.lower, band.gain.upper],
        })
        .collect()
}

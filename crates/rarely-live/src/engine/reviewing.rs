//! Reviews of the rule in force, and the events that follow from them.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rarely_policy::{Approval, PolicyDocument, difference};
use rarely_review::{Answer, Examined, Ground, Proposal, Review, Verdict, complete, examine, review, words};
use rarely_store::PolicyRef;

use super::{ChangeError, Engine, PendingEvent, PolicyHandle, draft};
use crate::event::{
    AffectedBand, Assumption, Event, ProposalRationale, Proposed, Refused, Reviewed, Signature, Signed,
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
        show: impl FnOnce(&Ground<'_>, &Review, u64) -> R,
    ) -> Result<R, rarely_review::ReviewError> {
        let input = ReviewInput::at(&handle.live.lock());
        let ground = input.learned.ground(&input.document)?;
        let found = review(&ground, input.learned.tally())?;
        Ok(show(&ground, &found, input.basis))
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
            let ground = input.learned.ground(&input.document)?;
            let examined = examine(&ground, input.learned.tally())?;
            let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
            if handle.live.lock().version().number != input.version {
                // The rule was changed in the meantime; review the new one.
                continue;
            }
            self.expire(handle, caller.actor)?;
            return self.conclude(handle, &input, &ground, &examined, caller);
        }
    }

    fn conclude(
        &self,
        handle: &PolicyHandle,
        input: &ReviewInput,
        ground: &Ground<'_>,
        examined: &Examined,
        caller: Caller<'_>,
    ) -> Result<RecordedReview, ChangeError> {
        let Caller { actor, signature, on_request } = caller;
        let mut events = vec![Event::Reviewed(Reviewed {
            basis: input.basis,
            version: input.version,
            verdict: examined.verdict,
            reasons: examined.reasons.clone(),
            point: review_point(ground, examined, input.learned.outcomes()),
            digest: ground.statistics.digest(),
            signature: signature.filter(|_| examined.proposal.is_none()),
        })];
        let (mut proposed, mut refused) = (None, Vec::new());
        if let Some(proposal) = &examined.proposal {
            let (may, number, known, approval) = {
                let live = handle.live.lock();
                let idle = !live.state().stopped && live.open_proposal().is_none();
                refused = live.outside_plan(&proposal.rule, self.now_ms());
                let known = live.state().reviews.refused.as_ref() == Some(&refused);
                let may = if on_request { idle } else { live.may_propose() };
                (may, live.next_proposal(), known, live.document().control().approval)
            };
            if !refused.is_empty() {
                if !known || on_request {
                    events.push(Event::Refused(refusal(input, ground, proposal, refused.clone())));
                }
            } else if may {
                proposed = Some(number);
                events.push(Event::Proposed(Box::new(self.proposal(input, ground, (examined, proposal), number)?)));
                if approval == Approval::Automatic {
                    events.push(Event::Approved(Signed { proposal: number, signature: automatic_signature() }));
                }
            }
        }
        let event = self.record_all(handle, actor, events)?;
        Ok(RecordedReview {
            event,
            verdict: examined.verdict,
            reasons: examined.reasons.clone(),
            proposal: proposed,
            refused,
        })
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
        ground: &Ground<'_>,
        (examined, proposal): (&Examined, &Proposal),
        number: u64,
    ) -> Result<Proposed, ChangeError> {
        let whole = complete(ground, input.learned.tally(), examined.clone())?;
        let document = ground.document;
        let pictures = (self.options.draw)(ground, &whole);
        let case = ProposalRationale {
            cause: proposal.cause.clone(),
            before: document.rule().words(document),
            after: proposal.rule.words(document),
            difference: difference((document, document.rule()), (document, &proposal.rule)),
            exact: proposal.exact.clone(),
            note: proposal.note.clone(),
            certificate: proposal.certificate.clone(),
            certified_by: proposal.certified_by().into_iter().map(ToOwned::to_owned).collect(),
            who: affected(document, proposal),
            against: words::against(document, proposal),
            assumptions: assumptions(document),
            review: serde_json::to_value(Answer::new(document, &whole)).unwrap_or_default(),
            pictures,
        };
        Ok(Proposed {
            proposal: number,
            basis: input.basis,
            version: input.version,
            rule: proposal.rule.clone(),
            rollback: None,
            expires_ms: self.now_ms().saturating_add(document.control().proposal_expires_ms),
            outcomes: input.learned.outcomes(),
            digest: ground.statistics.digest(),
            signature: None,
            case: Some(case),
        })
    }
}

fn refusal(input: &ReviewInput, ground: &Ground<'_>, proposal: &Proposal, reasons: Vec<String>) -> Refused {
    Refused {
        basis: input.basis,
        version: input.version,
        rule: proposal.rule.clone(),
        words: proposal.rule.words(ground.document),
        cause: proposal.cause.clone(),
        reasons,
        digest: ground.statistics.digest(),
    }
}

fn automatic_signature() -> Signature {
    Signature {
        meaning: "put in force without a signature".to_owned(),
        reason: "the document's plan says approval = \"automatic\"".to_owned(),
    }
}

/// The bands in which the proposal changes decisions.
fn affected(document: &PolicyDocument, proposal: &Proposal) -> Vec<AffectedBand> {
    let names = document.options();
    let bands = proposal.who.bands.iter().filter(|band| band.changed > 0);
    bands
        .map(|band| AffectedBand {
            band: format!("{} {}", document.features()[band.band.feature].column, band.band.members(document)),
            people: band.people as u64,
            changed: band.changed as u64,
            moves: band
                .moves
                .iter()
                .map(|&(from, to, count)| format!("{count} from {} to {}", names[from], names[to]))
                .collect(),
            gain: [band.gain.estimate, band.gain.lower, band.gain.upper],
        })
        .collect()
}

fn assumptions(document: &PolicyDocument) -> Vec<Assumption> {
    let all = words::assumptions(document).into_iter();
    all.map(|(name, value, meaning)| Assumption { name: name.to_owned(), value, meaning }).collect()
}

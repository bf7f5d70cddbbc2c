//! Reviews: the rule in force is held against the evidence, and what follows from it is written down.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rarely_policy::{Approval, PolicyDocument, difference};
use rarely_review::{Answer, Examined, Ground, Proposal, Review, Verdict, complete, examine, review, words};
use rarely_store::Subject;

use super::{ChangeError, Engine, Happened, Slot, draft};
use crate::event::{Affected, Assumption, Case, Event, Proposed, Refused, Reviewed, Signature, Signed};
use crate::learned::Learned;
use crate::live::{ENGINE, Live};
use crate::point::point;

/// How often the reviewer looks at the clock.
const TICK: Duration = Duration::from_secs(1);

/// What came of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its event.
    pub event: u64,
    /// Keep, change, or cannot tell.
    pub verdict: Verdict,
    /// Why not otherwise.
    pub reasons: Vec<String>,
    /// The proposal that came of it.
    pub proposal: Option<u64>,
    /// Why the plan does not allow the change that the evidence asks for.
    pub refused: Vec<String>,
}

/// The state of a policy that a review is about.
struct Look {
    document: PolicyDocument,
    learned: Learned,
    version: u64,
    basis: u64,
}

/// Who has a rule reviewed.
struct Caller<'a> {
    actor: &'a str,
    /// Given in advance to "nothing changes".
    signature: Option<Signature>,
    /// Whether a person asks, or it was due.
    asks: bool,
}

impl Look {
    fn at(live: &Live) -> Self {
        Self {
            document: live.document().clone(),
            learned: live.state().learned.clone(),
            version: live.version().number,
            basis: live.state().last_event,
        }
    }
}

/// The thread that reviews what is due.
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
            for slot in engine.policies().iter().filter(|slot| by_clock || due.contains(&slot.id)) {
                engine.look_after(slot, by_clock);
            }
        }
    }
}

impl Engine {
    /// Closes what is overdue and reviews what is due. What goes wrong here is tried again at the next turn.
    fn look_after(&self, slot: &Slot, by_clock: bool) {
        let now_ms = self.now_ms();
        let (overdue, due) = {
            let live = slot.live.lock();
            (live.open_proposal().is_some_and(|open| open.is_overdue(now_ms)), live.is_review_due(now_ms))
        };
        if by_clock && overdue {
            let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.expire(slot, ENGINE));
        }
        if due {
            drop(self.review(slot, None));
        }
    }

    /// Everything that the evidence says now, and the ground on which it says so; nothing is written down.
    ///
    /// # Errors
    /// [`rarely_review::ReviewError`] if there is no outcome yet.
    pub fn evidence<R>(
        &self,
        slot: &Slot,
        show: impl FnOnce(&Ground<'_>, &Review, u64) -> R,
    ) -> Result<R, rarely_review::ReviewError> {
        let look = Look::at(&slot.live.lock());
        let ground = look.learned.ground(&look.document)?;
        let found = review(&ground, look.learned.tally())?;
        Ok(show(&ground, &found, look.basis))
    }

    /// Holds the rule in force against the evidence now. `asked` says who asks, and with what signature that nothing changes if
    /// nothing does.
    ///
    /// # Errors
    /// [`ChangeError`] if there is no outcome yet, or it cannot be stored.
    pub fn review(&self, slot: &Slot, asked: Option<(&str, Option<Signature>)>) -> Result<Outcome, ChangeError> {
        let caller = match asked {
            Some((actor, signature)) => Caller { actor, signature, asks: true },
            None => Caller { actor: ENGINE, signature: None, asks: false },
        };
        let _one_at_a_time = slot.review.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let look = Look::at(&slot.live.lock());
            let ground = look.learned.ground(&look.document)?;
            let examined = examine(&ground, look.learned.tally())?;
            let _control = slot.control.lock().unwrap_or_else(PoisonError::into_inner);
            if slot.live.lock().version().number != look.version {
                // Somebody changed the rule meanwhile: the review was of another.
                continue;
            }
            self.expire(slot, caller.actor)?;
            return self.conclude(slot, &look, &ground, &examined, caller);
        }
    }

    fn conclude(
        &self,
        slot: &Slot,
        look: &Look,
        ground: &Ground<'_>,
        examined: &Examined,
        caller: Caller<'_>,
    ) -> Result<Outcome, ChangeError> {
        let Caller { actor, signature, asks } = caller;
        let mut events = vec![Event::Reviewed(Reviewed {
            basis: look.basis,
            version: look.version,
            verdict: examined.verdict.name().to_owned(),
            reasons: examined.reasons.clone(),
            point: point(ground, examined, look.learned.outcomes()),
            digest: ground.statistics.digest(),
            signature: signature.filter(|_| examined.proposal.is_none()),
        })];
        let (mut proposed, mut refused) = (None, Vec::new());
        if let Some(proposal) = &examined.proposal {
            let (may, number, known, approval) = {
                let live = slot.live.lock();
                let idle = !live.state().stopped && live.open_proposal().is_none();
                refused = live.outside_plan(&proposal.rule, self.now_ms());
                let known = live.state().reviews.refused.as_ref() == Some(&refused);
                let may = if asks { idle } else { live.may_propose() };
                (may, live.next_proposal(), known, live.document().control().approval)
            };
            if !refused.is_empty() {
                if !known || asks {
                    events.push(Event::Refused(refusal(look, ground, proposal, refused.clone())));
                }
            } else if may {
                proposed = Some(number);
                events.push(Event::Proposed(Box::new(self.proposal(look, ground, (examined, proposal), number)?)));
                if approval == Approval::Automatic {
                    events.push(Event::Approved(Signed { proposal: number, signature: by_the_plan() }));
                }
            }
        }
        let event = self.record_all(slot, actor, events)?;
        Ok(Outcome { event, verdict: examined.verdict, reasons: examined.reasons.clone(), proposal: proposed, refused })
    }

    /// Appends events together; the first one's number.
    fn record_all(&self, slot: &Slot, actor: &str, events: Vec<Event>) -> Result<u64, ChangeError> {
        let further = events.len() as u64 - 1;
        let last = self.carry_out(|turn| {
            let first = turn.number();
            for event in events {
                // What follows from the plan alone is nobody's act.
                let by = if matches!(event, Event::Approved(_)) { ENGINE } else { actor };
                turn.push(draft(by, Subject::Policy(slot.id), &event, None), Happened::of(event));
            }
            first + further
        })?;
        Ok(last - further)
    }

    fn proposal(
        &self,
        look: &Look,
        ground: &Ground<'_>,
        (examined, proposal): (&Examined, &Proposal),
        number: u64,
    ) -> Result<Proposed, ChangeError> {
        let whole = complete(ground, look.learned.tally(), examined.clone())?;
        let document = ground.document;
        let pictures = (self.options.draw)(ground, &whole);
        let case = Case {
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
            basis: look.basis,
            version: look.version,
            rule: proposal.rule.clone(),
            rollback: None,
            expires_ms: self.now_ms().saturating_add(document.control().proposal_expires_ms),
            outcomes: look.learned.outcomes(),
            digest: ground.statistics.digest(),
            signature: None,
            case: Some(case),
        })
    }
}

fn refusal(look: &Look, ground: &Ground<'_>, proposal: &Proposal, reasons: Vec<String>) -> Refused {
    Refused {
        basis: look.basis,
        version: look.version,
        rule: proposal.rule.clone(),
        words: proposal.rule.words(ground.document),
        cause: proposal.cause.clone(),
        reasons,
        digest: ground.statistics.digest(),
    }
}

fn by_the_plan() -> Signature {
    Signature {
        meaning: "put in force without a signature".to_owned(),
        reason: "the document's plan says approval = \"automatic\"".to_owned(),
    }
}

/// Who changes, by the bands in which somebody does.
fn affected(document: &PolicyDocument, proposal: &Proposal) -> Vec<Affected> {
    let names = document.options();
    let bands = proposal.who.bands.iter().filter(|band| band.changed > 0);
    bands
        .map(|band| Affected {
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

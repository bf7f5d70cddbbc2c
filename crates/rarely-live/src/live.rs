//! One policy as a fold over its events.

use std::sync::Arc;

use rarely_core::{Arm, Reason};
use rarely_policy::{Approval, PolicyDocument, WrittenRule};
use serde::{Deserialize, Serialize};

use crate::decider::Decider;
use crate::event::{Corrected, Decided, Event, Observed, Proposed, Registered, Reviewed, Signature};
use crate::history::{Origin, Proposal, Signer, Status, Version};
use crate::learned::Learned;
use crate::objection::Objection;
use crate::record::Reader;
use crate::reviews::{Reviews, Timed};
use crate::waiting::Waiting;

/// Milliseconds in a day.
pub(crate) const DAY_MS: f64 = 86_400_000.0;
/// Who acts where the plan allows it without a signature.
pub const ENGINE: &str = "engine";

/// A policy: everything that its events add up to.
#[derive(Debug, Clone)]
pub struct Live {
    document: PolicyDocument,
    reader: Arc<Reader>,
    state: State,
}

/// What of it is kept in a snapshot; the rest follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// How it began.
    pub birth: Birth,
    /// Its rules, the last one in force.
    pub versions: Vec<Version>,
    /// Changes that were proposed.
    pub proposals: Vec<Proposal>,
    /// Whether exploration and automatic changes are stopped.
    pub stopped: bool,
    /// What the outcomes say.
    pub learned: Learned,
    /// How much happened.
    pub counts: Counts,
    /// How the rule stood.
    pub reviews: Reviews,
    /// The last event.
    pub last_event: u64,
}

/// How a policy began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Birth {
    /// The number of the event, which is the policy's for good.
    pub event: u64,
    /// When.
    pub time_ms: u64,
    /// Who registered it.
    pub author: String,
    /// The document, as it was sent.
    pub text: String,
    /// From which, with its own number, each randomised decision is drawn.
    pub seed: u64,
}

/// How much happened.
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
    /// Decisions without an outcome, if the document says how long one may take.
    pub waiting: Option<Waiting>,
}

/// The circumstances of an event.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// Its number.
    pub number: u64,
    /// When it happened.
    pub time_ms: u64,
    /// Who did it.
    pub actor: &'a str,
}

/// The decision that an outcome is about.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The policy it belongs to.
    pub policy: u64,
    /// When it was taken.
    pub time_ms: u64,
    /// What was decided.
    pub decided: Decided,
}

impl Live {
    /// A policy begins.
    ///
    /// # Errors
    /// [`Objection::Misfit`] if the document cannot be read.
    pub fn register(stamp: Stamp<'_>, registered: &Registered) -> Result<Self, Objection> {
        let document = PolicyDocument::parse(&registered.document, "document").map_err(misfit)?;
        let options = document.options().len();
        let version = Version {
            number: 1,
            rule: document.rule().clone(),
            event: stamp.number,
            time_ms: stamp.time_ms,
            origin: Origin::Registration,
            signers: Vec::new(),
        };
        let state = State {
            birth: Birth {
                event: stamp.number,
                time_ms: stamp.time_ms,
                author: stamp.actor.to_owned(),
                text: registered.document.clone(),
                seed: registered.seed,
            },
            versions: vec![version],
            proposals: Vec::new(),
            stopped: false,
            learned: Learned::new(&document),
            counts: Counts {
                decided: vec![0; options],
                explored: 0,
                answered: vec![0; options],
                elsewhere: vec![0; options],
                corrections: 0,
                waiting: document.control().outcome_window_ms.map(|window| Waiting::new(window, options)),
            },
            reviews: Reviews::since(stamp.time_ms),
            last_event: stamp.number,
        };
        Ok(Self { reader: Arc::new(Reader::new(&document)), document, state })
    }

    /// From a snapshot.
    ///
    /// # Errors
    /// [`Objection::Misfit`] if its parts do not fit together.
    pub fn restore(mut state: State) -> Result<Self, Objection> {
        let document = PolicyDocument::parse(&state.birth.text, "document").map_err(misfit)?;
        let last = state.versions.last().ok_or_else(|| misfit("a policy without a version"))?;
        let document = document.with_rule(last.rule.clone()).map_err(misfit)?;
        state.learned = state.learned.revived(&document).map_err(misfit)?;
        Ok(Self { reader: Arc::new(Reader::new(&document)), document, state })
    }

    /// The document, with the rule in force.
    pub fn document(&self) -> &PolicyDocument {
        &self.document
    }

    /// Everything else.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The version in force.
    ///
    /// # Panics
    /// Never: a policy begins with a version.
    pub fn version(&self) -> &Version {
        self.state.versions.last().expect("a policy begins with a version")
    }

    /// The proposal that waits for a signature.
    pub fn open_proposal(&self) -> Option<&Proposal> {
        self.state.proposals.iter().rev().find(|proposal| proposal.is_open())
    }

    /// What decides, when everything up to an event is known.
    pub fn decider(&self, basis: u64) -> Decider {
        let State { learned, stopped, birth, .. } = &self.state;
        Decider::new(&self.document, learned, (self.version().number, basis), birth.seed, *stopped)
    }

    /// Reads its records.
    pub fn reader(&self) -> &Arc<Reader> {
        &self.reader
    }

    /// Whether the rule is due to be held against the evidence.
    pub fn is_review_due(&self, now_ms: u64) -> bool {
        let (control, reviews) = (self.document.control(), &self.state.reviews);
        let new = self.state.learned.outcomes().saturating_sub(reviews.outcomes);
        let waited = || control.review_after_ms.is_some_and(|after| now_ms.saturating_sub(reviews.time_ms) >= after);
        new >= control.review_every || (new > 0 && waited())
    }

    /// Takes in an event. `about` is the decision that an outcome or a correction is about.
    ///
    /// # Errors
    /// [`Objection`] if it does not fit what happened before; nothing is changed then.
    pub fn apply(&mut self, stamp: Stamp<'_>, event: &Event, about: Option<&About>) -> Result<(), Objection> {
        match event {
            Event::Decided(decided) => self.decided(stamp, decided)?,
            Event::Observed(observed) => self.observed(stamp, observed, about)?,
            Event::Corrected(corrected) => self.corrected(corrected, about)?,
            Event::Reviewed(reviewed) => self.reviewed(stamp, reviewed)?,
            Event::Proposed(proposed) => self.proposed(stamp, proposed)?,
            Event::Refused(refused) => {
                self.check_version(refused.version)?;
                self.state.reviews.refused = Some(refused.reasons.clone());
            }
            Event::Approved(signed) => self.approved(stamp, signed.proposal, &signed.signature)?,
            Event::Rejected(signed) => self.rejected(stamp, signed.proposal, &signed.signature)?,
            Event::Expired(expired) => {
                let proposal = self.open(expired.proposal)?;
                if !proposal.is_overdue(stamp.time_ms) {
                    return Err(misfit("a proposal expired before its time"));
                }
                self.close(expired.proposal, Status::Expired);
            }
            Event::RolledBack(rolled) => {
                self.may_roll_back(rolled.to, &rolled.signature)?;
                if self.document.control().approval == Approval::Two {
                    return Err(misfit("a rollback on one signature, where the document asks for two"));
                }
                let signer = signer(stamp, &rolled.signature);
                let rule = self.version_of(rolled.to)?.rule.clone();
                self.put_in_force(stamp, rule, Origin::Rollback { to: rolled.to }, vec![signer])?;
            }
            Event::Stopped(signature) => self.stopped(stamp, signature)?,
            Event::Resumed(signature) => {
                self.may_resume(signature)?;
                self.state.stopped = false;
            }
            other => return Err(misfit(format!("an event {:?} is not a policy's", other.kind()))),
        }
        self.state.last_event = stamp.number;
        Ok(())
    }

    fn decided(&mut self, stamp: Stamp<'_>, decided: &Decided) -> Result<(), Objection> {
        let arm = self.arm(&decided.option)?;
        let counts = &mut self.state.counts;
        counts.decided[arm.index()] += 1;
        counts.explored += u64::from(decided.reason != Reason::Policy);
        if let Some(waiting) = &mut counts.waiting {
            waiting.decided(stamp.time_ms, arm.index());
        }
        Ok(())
    }

    fn observed(&mut self, stamp: Stamp<'_>, observed: &Observed, about: Option<&About>) -> Result<(), Objection> {
        let reader = &self.reader;
        let reward = reader.reward(observed.outcome).map_err(misfit)?;
        let (record, option) = match (&observed.elsewhere, about) {
            (Some(elsewhere), _) => (&elsewhere.record, &elsewhere.option),
            (None, Some(about)) => (&about.decided.record, &about.decided.option),
            (None, None) => return Err(misfit("an outcome of a decision that is not in the log")),
        };
        let (arm, context) = (self.arm(option)?, reader.context(record).map_err(misfit)?);
        let counts = &mut self.state.counts;
        match about {
            Some(about) if observed.elsewhere.is_none() => {
                counts.answered[arm.index()] += 1;
                if let Some(waiting) = &mut counts.waiting {
                    waiting.answered(about.time_ms, arm.index());
                }
            }
            _ => counts.elsewhere[arm.index()] += 1,
        }
        self.state.learned.observe(stamp.number, &context, arm, reward);
        Ok(())
    }

    fn corrected(&mut self, corrected: &Corrected, about: Option<&About>) -> Result<(), Objection> {
        let about = about.ok_or_else(|| misfit("a correction of a decision that is not in the log"))?;
        let reader = &self.reader;
        let reward = |outcome| reader.reward(outcome).map_err(misfit);
        let (arm, context) = (self.arm(&about.decided.option)?, reader.context(&about.decided.record).map_err(misfit)?);
        let (from, to) = (reward(corrected.from)?, reward(corrected.outcome)?);
        let earlier = corrected.first <= self.version().event;
        self.state.learned.correct(&context, arm, (from, to), earlier);
        self.state.counts.corrections += 1;
        Ok(())
    }

    fn reviewed(&mut self, stamp: Stamp<'_>, reviewed: &Reviewed) -> Result<(), Objection> {
        reviewed.signature.as_ref().map_or(Ok(()), check_words)?;
        let reviews = &mut self.state.reviews;
        reviews.push(Timed { time_ms: stamp.time_ms, version: reviewed.version, point: reviewed.point.clone() });
        reviews.outcomes = reviewed.point.outcomes;
        reviews.time_ms = stamp.time_ms;
        reviews.verdict.clone_from(&reviewed.verdict);
        reviews.reasons.clone_from(&reviewed.reasons);
        if reviewed.verdict != "change" {
            reviews.refused = None;
        }
        Ok(())
    }

    fn proposed(&mut self, stamp: Stamp<'_>, proposed: &Proposed) -> Result<(), Objection> {
        self.check_version(proposed.version)?;
        if let Some(open) = self.open_proposal() {
            return Err(Objection::OpenProposal(open.number));
        }
        if proposed.proposal != self.next_proposal() {
            return Err(misfit("a proposal out of turn"));
        }
        self.document.check_rule(&proposed.rule).map_err(misfit)?;
        let mut signers = Vec::new();
        match (&proposed.signature, proposed.rollback) {
            (Some(signature), Some(to)) => {
                self.may_roll_back(to, signature)?;
                signers.push(signer(stamp, signature));
            }
            (None, None) => self.check_plan(&proposed.rule, stamp.time_ms)?,
            _ => return Err(misfit("a rollback is signed by whoever asks for it, and nothing else is")),
        }
        self.state.proposals.push(Proposal {
            number: proposed.proposal,
            event: stamp.number,
            time_ms: stamp.time_ms,
            expires_ms: proposed.expires_ms,
            version: proposed.version,
            rule: proposed.rule.clone(),
            rollback: proposed.rollback,
            outcomes: proposed.outcomes,
            signers,
            status: Status::Open,
        });
        self.state.reviews.refused = None;
        Ok(())
    }

    fn approved(&mut self, stamp: Stamp<'_>, number: u64, signature: &Signature) -> Result<(), Objection> {
        self.may_sign(number, stamp, signature)?;
        let proposal = self.open(number)?;
        let (rule, rollback) = (proposal.rule.clone(), proposal.rollback);
        let mut signers = proposal.signers.clone();
        if stamp.actor != ENGINE {
            signers.push(signer(stamp, signature));
        }
        if signers.len() < self.signatures_needed() {
            let at = self.place(number)?;
            self.state.proposals[at].signers = signers;
            return Ok(());
        }
        let version = self.version().number + 1;
        let origin = rollback.map_or(Origin::Proposal { proposal: number }, |to| Origin::Rollback { to });
        let at = self.place(number)?;
        self.state.proposals[at].signers.clone_from(&signers);
        self.close(number, Status::Approved { version });
        self.put_in_force(stamp, rule, origin, signers)
    }

    fn rejected(&mut self, stamp: Stamp<'_>, number: u64, signature: &Signature) -> Result<(), Objection> {
        check_words(signature)?;
        let outcomes = self.open(number)?.outcomes;
        self.state.reviews.rejected_at = Some(outcomes);
        self.close(number, Status::Rejected { by: signer(stamp, signature) });
        Ok(())
    }

    fn stopped(&mut self, stamp: Stamp<'_>, signature: &Signature) -> Result<(), Objection> {
        self.may_stop(signature)?;
        self.state.stopped = true;
        let (to, rule) = self.last_signed();
        if rule == self.version().rule {
            return Ok(());
        }
        self.put_in_force(stamp, rule, Origin::Stop { to }, vec![signer(stamp, signature)])
    }

    fn put_in_force(
        &mut self,
        stamp: Stamp<'_>,
        rule: WrittenRule,
        origin: Origin,
        signers: Vec<Signer>,
    ) -> Result<(), Objection> {
        self.document = self.document.with_rule(rule.clone()).map_err(misfit)?;
        if let Some(overtaken) = self.open_proposal().map(|proposal| proposal.number) {
            self.close(overtaken, Status::Overtaken);
        }
        let number = self.version().number + 1;
        let Stamp { number: event, time_ms, .. } = stamp;
        self.state.versions.push(Version { number, rule, event, time_ms, origin, signers });
        self.state.reviews.rejected_at = None;
        self.state.reviews.refused = None;
        self.state.learned.follow(&self.document);
        Ok(())
    }

    fn close(&mut self, number: u64, status: Status) {
        if let Ok(at) = self.place(number) {
            self.state.proposals[at].status = status;
        }
    }

    fn arm(&self, option: &str) -> Result<Arm, Objection> {
        self.reader.option(option).map_err(misfit)
    }
}

pub(crate) fn signer(stamp: Stamp<'_>, signature: &Signature) -> Signer {
    Signer { name: stamp.actor.to_owned(), time_ms: stamp.time_ms, signature: signature.clone() }
}

/// A signature says what it means and why.
pub(crate) fn check_words(signature: &Signature) -> Result<(), Objection> {
    for (name, words) in [("meaning", &signature.meaning), ("reason", &signature.reason)] {
        if words.trim().is_empty() {
            return Err(Objection::Wordless(name));
        }
    }
    Ok(())
}

pub(crate) fn misfit(problem: impl std::fmt::Display) -> Objection {
    Objection::Misfit(problem.to_string())
}

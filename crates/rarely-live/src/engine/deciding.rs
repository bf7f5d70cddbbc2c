//! Decisions: one number each, drawn under the lock that gives numbers.

use std::sync::Arc;

use rarely_core::Reason;
use rarely_store::{Lookup, StoreError, Subject};

use super::{Engine, Happened, Slot, draft};
use crate::event::{Decided, Event};
use crate::live::About;
use crate::mark;
use crate::record::Field;
use crate::replay::{self, ReplayError};

/// Somebody asks which option a person is to get.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// A name for the ask: the same name again gets the same answer.
    pub key: Option<String>,
    /// The features, in the document's order.
    pub record: Vec<Field>,
    /// The same as a context.
    pub context: Vec<f64>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The number of the decision.
    pub decision: u64,
    /// The option.
    pub option: String,
    /// The version of the policy.
    pub version: u64,
    /// Why this option.
    pub reason: Reason,
    /// With what probability.
    pub propensity: f64,
}

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AskError {
    /// The key was used for another record.
    #[error("the key {key:?} was used for decision {decision}, about another record; use a new key for every new ask")]
    KeyTaken {
        /// The key.
        key: String,
        /// The decision that has it.
        decision: u64,
    },
    /// It could not be stored.
    #[error("the decision could not be stored, so none was made: {0}")]
    Store(Arc<StoreError>),
    /// What was stored before could not be read.
    #[error("an earlier decision could not be read: {0}")]
    Replay(Arc<ReplayError>),
}

impl Engine {
    /// Decides for each ask; the answers are on disk when they are given. One that was asked before gets its first answer.
    pub async fn decide(&self, slot: &Slot, actor: &str, asks: Vec<Ask>) -> Vec<Result<Answer, AskError>> {
        let mut answers: Vec<Option<Result<Answer, AskError>>> = vec![None; asks.len()];
        loop {
            let as_of = self.look_up(slot, &asks, &mut answers);
            let (given, receipt) = self.journal.append(|turn| {
                let decider = slot.decider();
                let mut given = Vec::new();
                for (at, ask) in asks.iter().enumerate().filter(|(at, _)| answers[*at].is_none()) {
                    let mark = ask.key.as_deref().map(|key| mark::of_ask(slot.id, key));
                    if mark.as_ref().is_some_and(|mark| turn.find(mark, as_of) != Lookup::Absent) {
                        // Somebody asks the same at this moment: their answer is awaited.
                        continue;
                    }
                    let number = turn.number();
                    let decision = decider.decide(&ask.context, number);
                    let decided = Decided {
                        key: ask.key.clone(),
                        record: ask.record.clone(),
                        option: slot.document.options()[decision.arm.index()].clone(),
                        version: decider.version,
                        basis: decider.basis,
                        reason: decision.reason,
                        propensity: decision.propensity,
                    };
                    given.push((at, Answer::of(number, &decided)));
                    let event = Event::Decided(decided);
                    turn.push(draft(actor, Subject::Policy(slot.id), &event, mark), Happened::of(event));
                }
                given
            });
            let waited = receipt.wait().await;
            for (at, answer) in given {
                answers[at] = Some(waited.clone().map(|()| answer).map_err(AskError::Store));
            }
            if answers.iter().all(Option::is_some) {
                return answers.into_iter().flatten().collect();
            }
        }
    }

    /// Fills in the answers that were given before; up to which event that was looked at.
    fn look_up(&self, slot: &Slot, asks: &[Ask], answers: &mut [Option<Result<Answer, AskError>>]) -> u64 {
        let mut as_of = u64::MAX;
        for (ask, answer) in asks.iter().zip(answers) {
            let (Some(key), None) = (&ask.key, &answer) else { continue };
            match self.journal.find(&mark::of_ask(slot.id, key)) {
                Ok(found) => {
                    as_of = as_of.min(found.as_of);
                    *answer = found.number.map(|number| self.earlier(ask, key, number));
                }
                Err(error) => *answer = Some(Err(AskError::Store(Arc::new(error)))),
            }
        }
        as_of
    }

    fn earlier(&self, ask: &Ask, key: &str, number: u64) -> Result<Answer, AskError> {
        let found = replay::decision(self.log().as_ref(), number).map_err(|error| AskError::Replay(Arc::new(error)))?;
        match found {
            Some(About { decided, .. }) if decided.record == ask.record => Ok(Answer::of(number, &decided)),
            _ => Err(AskError::KeyTaken { key: key.to_owned(), decision: number }),
        }
    }
}

impl Answer {
    fn of(decision: u64, decided: &Decided) -> Self {
        let Decided { option, version, reason, propensity, .. } = decided;
        Self { decision, option: option.clone(), version: *version, reason: *reason, propensity: *propensity }
    }
}

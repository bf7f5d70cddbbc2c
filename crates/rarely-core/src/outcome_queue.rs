//! Outcomes that come late, in the order of their decisions (mathematics §12).
//!
//! The confidence sets count rounds in the order of decisions. If outcomes are learned as they arrive and failures are reported
//! later than successes, what has arrived by a round is not a fair sample of what was decided by then, and the sets miss. So an
//! outcome waits until every earlier decision has one, or has run out of time by a rule that was fixed beforehand. Learning at
//! arrival is right only where the delay does not depend on the outcome, given the context and the arm.

use std::collections::VecDeque;
use std::str::FromStr;

use crate::error::SettingsError;

/// What the owner declares about the delay of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Delay {
    /// It may depend on the outcome: outcomes are learned in the order of their decisions.
    #[default]
    Any,
    /// It does not depend on the outcome, given the context and the arm: outcomes are learned as they arrive.
    Independent,
}

impl Delay {
    /// `any` or `independent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Independent => "independent",
        }
    }
}

impl FromStr for Delay {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, SettingsError> {
        [Self::Any, Self::Independent]
            .into_iter()
            .find(|delay| delay.name() == name)
            .ok_or_else(|| SettingsError::UnknownDelay { name: name.to_owned() })
    }
}

/// Decisions whose outcomes have not been learned. `T` is whatever is needed to learn an outcome.
///
/// ```
/// use rarely_core::{Delay, OutcomeQueue};
/// let mut queue = OutcomeQueue::new(Delay::Any, Some(100));
/// queue.decided(1, 0);
/// queue.decided(2, 10);
/// assert!(queue.report(2, 20, "a success"));
/// assert_eq!(queue.learnable(20), None, "decision 1 comes first");
/// assert!(queue.report(1, 30, "a failure"));
/// assert_eq!(queue.learnable(30), Some((1, "a failure")));
/// assert_eq!(queue.learnable(30), Some((2, "a success")));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(serialize = "T: Clone + serde::Serialize")))]
pub struct OutcomeQueue<T> {
    delay: Delay,
    /// How long a decision waits for its outcome.
    window: Option<u64>,
    /// Decisions in their order, from the first whose outcome is not learned. Under an independent delay, outcomes as they arrived.
    cases: VecDeque<QueuedCase<T>>,
    /// Cases with an outcome.
    reported: u64,
    /// Decisions that ran out of time.
    timed_out: u64,
}

/// In files three values in a list, since there may be millions.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "(u64, u64, Option<T>)", into = "(u64, u64, Option<T>)"))]
#[cfg_attr(feature = "serde", serde(bound(serialize = "T: Clone + serde::Serialize")))]
struct QueuedCase<T> {
    number: u64,
    time: u64,
    outcome: Option<T>,
}

/// What waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WaitingOutcomes {
    /// Outcomes that are in, and wait for those of earlier decisions.
    pub reported: u64,
    /// The first decision without an outcome, which they wait for.
    pub first_open: Option<u64>,
    /// Decisions that ran out of time before their outcome came: nothing is learned from them.
    pub timed_out: u64,
}

impl<T> OutcomeQueue<T> {
    /// Nothing decided yet. `window` is the time after which a decision without an outcome no longer holds up the later ones; an
    /// outcome that comes after it is not learned. If slow outcomes differ from quick ones, it must be longer than the longest
    /// delay: dropping the slow ones is a selection too.
    pub fn new(delay: Delay, window: Option<u64>) -> Self {
        Self { delay, window, cases: VecDeque::new(), reported: 0, timed_out: 0 }
    }

    /// The declaration about delays.
    pub fn delay(&self) -> Delay {
        self.delay
    }

    /// Declares another window, also for the decisions that wait. A longer one does not bring back decisions that ran out of time.
    pub fn set_window(&mut self, window: Option<u64>) {
        self.window = window;
    }

    /// Notes a decision. Numbers must rise, and times must not fall.
    pub fn decided(&mut self, number: u64, time: u64) {
        if self.delay == Delay::Any {
            debug_assert!(self.cases.back().is_none_or(|last| last.number < number && last.time <= time));
            self.cases.push_back(QueuedCase { number, time, outcome: None });
        }
    }

    /// Takes in the outcome of a decision. Returns `false` if it will not be learned: the decision is unknown, its outcome is in
    /// already, or it ran out of time.
    pub fn report(&mut self, number: u64, now: u64, outcome: T) -> bool {
        match self.delay {
            Delay::Independent => self.cases.push_back(QueuedCase { number, time: now, outcome: Some(outcome) }),
            Delay::Any => {
                let window = self.window;
                let Some(case) = self.open_case(number).filter(|case| !case.is_overdue(window, now)) else {
                    return false;
                };
                case.outcome = Some(outcome);
            }
        }
        self.reported += 1;
        true
    }

    /// The next outcome that may be learned, with the number of its decision.
    pub fn learnable(&mut self, now: u64) -> Option<(u64, T)> {
        while let Some(case) = self.cases.front() {
            if case.outcome.is_none() && !case.is_overdue(self.window, now) {
                return None;
            }
            let QueuedCase { number, outcome, .. } = self.cases.pop_front()?;
            if let Some(outcome) = outcome {
                self.reported -= 1;
                return Some((number, outcome));
            }
            self.timed_out += 1;
        }
        None
    }

    /// The outcome of a decision that is in and not yet learned: it can still be replaced.
    pub fn reported_mut(&mut self, number: u64) -> Option<&mut T> {
        self.case(number)?.outcome.as_mut()
    }

    /// The first decision whose outcome has not been learned.
    pub fn first(&self) -> Option<u64> {
        self.cases.front().map(|case| case.number)
    }

    /// The decisions up to this number that wait for their outcome.
    pub fn open_until(&self, number: u64) -> Vec<u64> {
        let open = self.cases.iter().take_while(|case| case.number <= number).filter(|case| case.outcome.is_none());
        open.map(|case| case.number).collect()
    }

    /// What waits.
    pub fn waiting(&self) -> WaitingOutcomes {
        // The front has no outcome, or it would have been learned.
        let first_open = self.cases.front().filter(|case| case.outcome.is_none()).map(|case| case.number);
        WaitingOutcomes { reported: self.reported, first_open, timed_out: self.timed_out }
    }

    fn case(&mut self, number: u64) -> Option<&mut QueuedCase<T>> {
        let at = self.cases.binary_search_by_key(&number, |case| case.number).ok()?;
        self.cases.get_mut(at)
    }

    fn open_case(&mut self, number: u64) -> Option<&mut QueuedCase<T>> {
        self.case(number).filter(|case| case.outcome.is_none())
    }
}

impl<T> QueuedCase<T> {
    /// Whether its outcome would come too late.
    fn is_overdue(&self, window: Option<u64>, now: u64) -> bool {
        self.outcome.is_none() && window.is_some_and(|window| now.saturating_sub(self.time) > window)
    }
}

impl<T> From<(u64, u64, Option<T>)> for QueuedCase<T> {
    fn from((number, time, outcome): (u64, u64, Option<T>)) -> Self {
        Self { number, time, outcome }
    }
}

impl<T> From<QueuedCase<T>> for (u64, u64, Option<T>) {
    fn from(QueuedCase { number, time, outcome }: QueuedCase<T>) -> Self {
        (number, time, outcome)
    }
}

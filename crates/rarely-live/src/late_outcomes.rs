//! Outcomes that wait until those of all earlier decisions are in, or have run out of time.

use std::collections::BTreeSet;

use rarely_core::{Arm, Delay, OutcomeQueue, WaitingOutcomes};
use rarely_policy::duration;
use serde::{Deserialize, Serialize};

use crate::live_policy::EventHeader;

/// The decisions of one policy whose outcomes have not been learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LateOutcomes {
    queue: OutcomeQueue<Box<HeldOutcome>>,
    /// Decisions whose outcome came after the window: it is recorded, and not learned.
    too_late: BTreeSet<u64>,
    /// When the rule in force was put in force, the decisions below this number had been learned.
    learned_before_rule: u64,
}

/// What is needed to learn an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutcome {
    /// The case.
    pub context: Vec<f64>,
    /// The option that was chosen.
    pub arm: Arm,
    /// The outcome, as a reward.
    pub reward: f64,
    /// The outcomes of guard-rails, in the good direction and in the document's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guardrails: Vec<f64>,
    /// Whether it is not learned: a person gave another option.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excluded: bool,
}

/// What a correction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CorrectedOutcome {
    /// An outcome that was learned, and whether before the rule in force was put in force.
    Learned { earlier: bool },
    /// An outcome that still waits: it is replaced.
    Waiting,
    /// An outcome that came too late.
    NotLearned,
}

impl LateOutcomes {
    pub(crate) fn new(window_ms: Option<u64>) -> Self {
        Self { queue: OutcomeQueue::new(Delay::Any, window_ms), too_late: BTreeSet::new(), learned_before_rule: 0 }
    }

    /// Waits this long from now on, also for decisions that were made already.
    pub(crate) fn set_window(&mut self, window_ms: Option<u64>) {
        self.queue.set_window(window_ms);
    }

    pub(crate) fn decided(&mut self, header: EventHeader<'_>) {
        self.queue.decided(header.number, header.time_ms);
    }

    pub(crate) fn report(&mut self, decision: u64, header: EventHeader<'_>, outcome: HeldOutcome) {
        if !self.queue.report(decision, header.time_ms, Box::new(outcome)) {
            self.too_late.insert(decision);
        }
    }

    /// Does not wait for a decision any more. Whatever is reported of it is not learned.
    pub(crate) fn exclude(&mut self, decision: u64, header: EventHeader<'_>) {
        // If its time has run out, nothing waits for it.
        let _ = self.queue.report(decision, header.time_ms, Box::new(HeldOutcome::excluded()));
    }

    /// Does not wait for decisions up to this one any more.
    pub(crate) fn exclude_until(&mut self, last: u64, header: EventHeader<'_>) {
        for decision in self.queue.open_until(last) {
            self.exclude(decision, header);
        }
    }

    /// The next outcome that may be learned, with its decision.
    pub(crate) fn learnable(&mut self, now_ms: u64) -> Option<(u64, HeldOutcome)> {
        self.queue.learnable(now_ms).map(|(decision, outcome)| (decision, *outcome))
    }

    /// Takes in a correction.
    pub(crate) fn correct(&mut self, decision: u64, to: &HeldOutcome) -> CorrectedOutcome {
        if let Some(held) = self.queue.reported_mut(decision) {
            held.reward = to.reward;
            held.guardrails.clone_from(&to.guardrails);
            CorrectedOutcome::Waiting
        } else if self.too_late.contains(&decision) {
            CorrectedOutcome::NotLearned
        } else {
            CorrectedOutcome::Learned { earlier: decision < self.learned_before_rule }
        }
    }

    /// Another rule is in force from this event on.
    pub(crate) fn follow(&mut self, event: u64) {
        self.learned_before_rule = self.queue.first().unwrap_or(event);
    }

    /// What waits.
    pub fn waiting(&self) -> WaitingOutcomes {
        self.queue.waiting()
    }

    /// Outcomes that came after the window.
    pub fn too_late(&self) -> u64 {
        self.too_late.len() as u64
    }

    /// What waits and for what, in words; `None` if nothing does.
    pub fn sentence(&self, window_ms: Option<u64>) -> Option<String> {
        let WaitingOutcomes { reported, first_open, .. } = self.waiting();
        let decision = first_open.filter(|_| reported > 0)?;
        let wait = if reported == 1 { "1 outcome waits".to_owned() } else { format!("{reported} outcomes wait") };
        let until = match window_ms {
            Some(window) => format!(", at most {} after that decision", duration::words(window)),
            None => "; without an outcome_window there is no limit".to_owned(),
        };
        Some(format!(
            "{wait} for the outcome of decision {decision}{until}. Outcomes are learned in the order of their decisions, unless the \
             document declares delay = \"independent\"."
        ))
    }
}

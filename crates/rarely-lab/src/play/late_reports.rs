//! Outcomes on their way.

use std::collections::BTreeMap;

use rarely_core::{Delay, OutcomeQueue};

use super::PlayedOutcome;
use crate::environment::OutcomeDelay;

/// The contexts and outcomes of decisions whose outcomes have not been learned.
pub(super) struct LateReports {
    /// Rounds until an outcome is reported.
    rounds: OutcomeDelay,
    /// What will be reported, by round.
    on_their_way: BTreeMap<u64, Vec<(u64, LateCase)>>,
    queue: OutcomeQueue<LateCase>,
}

type LateCase = (Vec<f64>, PlayedOutcome);

impl LateReports {
    pub(super) fn new(rounds: OutcomeDelay, declared: Delay) -> Self {
        Self { rounds, on_their_way: BTreeMap::new(), queue: OutcomeQueue::new(declared, None) }
    }

    /// Notes the decision of round `number`, and hands in the reports that are due.
    pub(super) fn decided(&mut self, number: u64, context: &[f64], outcome: PlayedOutcome) {
        // An outcome that never comes leaves no gap to wait for: whether it comes does not depend on what it is.
        if let Some(rounds) = (self.rounds)(number, outcome.mean, outcome.reward) {
            self.queue.decided(number, number);
            let due = number.saturating_add(rounds);
            self.on_their_way.entry(due).or_default().push((number, (context.to_vec(), outcome)));
        }
        for (decision, case) in self.on_their_way.remove(&number).unwrap_or_default() {
            self.queue.report(decision, number, case);
        }
    }

    /// The next outcome that may be learned.
    pub(super) fn learnable(&mut self, now: u64) -> Option<LateCase> {
        self.queue.learnable(now).map(|(_, case)| case)
    }

    /// Outcomes that have not been learned.
    pub(super) fn waiting(&self) -> u64 {
        let on_their_way: usize = self.on_their_way.values().map(Vec::len).sum();
        on_their_way as u64 + self.queue.waiting().reported
    }
}

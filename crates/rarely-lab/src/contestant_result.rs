//! The runs of a contestant, and their summary.

use rarely_core::Algorithm;
use serde::{Deserialize, Serialize};

use crate::contestant::Contestant;
use crate::experiment::tenth;
use crate::metrics::{Estimate, Interval95, Quantiles};
use crate::play::{ChangeRecord, Run};
use crate::run_journal::FinishedRun;

/// A contestant's runs, in order.
#[derive(Debug, Clone)]
pub struct ContestantResult {
    /// The contestant.
    pub contestant: Contestant,
    /// Its runs.
    pub runs: Vec<Run>,
    /// Time of its runs together.
    pub seconds: f64,
    checkpoints: Vec<u64>,
}

/// One row of the table of results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The contestant's name.
    pub name: String,
    /// Expected regret per round.
    pub regret_per_step: Estimate,
    /// The same at a tenth of the rounds.
    pub regret_per_step_tenth: Estimate,
    /// Changes of policy; of an algorithm that changes every round, the rounds.
    pub changes: Estimate,
    /// Whether it changes every round, so that changes are not counted.
    pub every_round: bool,
    /// Changes that alter a decision on the judge's sample.
    pub altering_changes: Estimate,
    /// Renewals of the randomisation around the rule.
    pub renewals: Estimate,
    /// Percentage of cases given another arm than the rule's; `None` for an algorithm that holds no rule.
    pub off_rule_percent: Option<Interval95>,
    /// Runs that ended stuck: some arm was plausible, and hardly ever played.
    pub stuck_runs: usize,
    /// Percentage of rounds with a cumulative expected reward below the best fixed arm's.
    pub below_baseline_percent: Interval95,
    /// The same, below 0.9 times the best fixed arm's.
    pub below_nine_tenths_percent: Interval95,
    /// Of the changes that alter a decision, the percentage that lowers expected regret.
    pub improving_percent: Option<Interval95>,
    /// Share of runs whose true parameters never left the set.
    pub coverage: Option<f64>,
    /// Expected regret per round, from run to run.
    pub regret_quantiles: Quantiles,
    /// Changes, from run to run.
    pub change_quantiles: Quantiles,
}

/// One point of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// The round.
    pub round: u64,
    /// Expected regret per round so far.
    pub regret_per_step: Estimate,
    /// Changes of policy so far.
    pub changes: Estimate,
    /// Expected regret per round so far, from run to run.
    pub regret_quantiles: Quantiles,
    /// Changes of policy so far, from run to run.
    pub change_quantiles: Quantiles,
}

impl ContestantResult {
    pub(crate) fn new(contestant: Contestant, checkpoints: Vec<u64>) -> Self {
        Self::of_runs(contestant, checkpoints, Vec::new())
    }

    /// Of runs whose regret was recorded at these rounds, the last the end.
    pub fn of_runs(contestant: Contestant, checkpoints: Vec<u64>, runs: Vec<Run>) -> Self {
        Self { contestant, runs, seconds: 0.0, checkpoints }
    }

    pub(crate) fn push(&mut self, finished: FinishedRun) {
        self.runs.push(finished.run);
        self.seconds += finished.seconds;
    }

    /// The contestant's name.
    pub fn name(&self) -> &str {
        &self.contestant.name
    }

    /// The rounds at which regret was recorded, the last the end.
    pub fn checkpoints(&self) -> &[u64] {
        &self.checkpoints
    }

    /// Rounds of a run.
    pub fn rounds(&self) -> u64 {
        self.checkpoints.last().copied().unwrap_or(0)
    }

    /// Rounds per second of processor time.
    pub fn rounds_per_second(&self) -> f64 {
        self.rounds() as f64 * self.runs.len() as f64 / self.seconds.max(1e-9)
    }

    /// Whether it follows its estimates every round, so that changes are not counted.
    pub fn every_round(&self) -> bool {
        // Of an algorithm from outside nobody knows when it changes its mind.
        self.contestant.algorithm.core().is_none_or(Algorithm::is_continuous)
    }

    /// Whether it holds a rule, and switches it.
    pub fn holds_a_rule(&self) -> bool {
        self.contestant.algorithm.is_switching()
    }

    /// Each run's expected regret per round, up to the checkpoint with this number.
    fn regrets_at(&self, checkpoint: usize) -> Vec<f64> {
        let rounds = self.checkpoints[checkpoint] as f64;
        self.runs.iter().map(|run| run.regret[checkpoint] / rounds).collect()
    }

    /// Each run's expected regret per round.
    pub fn regrets(&self) -> Vec<f64> {
        self.checkpoints.len().checked_sub(1).map(|last| self.regrets_at(last)).unwrap_or_default()
    }

    /// Each run's expected regret in all.
    pub fn total_regrets(&self) -> Vec<f64> {
        let rounds = self.rounds() as f64;
        self.regrets().iter().map(|regret| regret * rounds).collect()
    }

    /// Each run's expected regret per round in the last tenth of the rounds.
    pub fn late_regrets(&self) -> Vec<f64> {
        self.regrets_after(self.rounds() - tenth(self.rounds()))
    }

    /// Each run's expected regret per round in the second half of the rounds.
    pub fn second_half_regrets(&self) -> Vec<f64> {
        self.regrets_after(self.rounds() / 2)
    }

    /// Each run's expected regret per round after the last checkpoint up to `round`.
    fn regrets_after(&self, round: u64) -> Vec<f64> {
        let Some(from) = self.checkpoints.iter().rposition(|&checkpoint| checkpoint <= round) else {
            return self.regrets();
        };
        let span = (self.rounds() - self.checkpoints[from]) as f64;
        let after = |run: &Run| (run.regret.last().copied().unwrap_or(0.0) - run.regret[from]) / span;
        self.runs.iter().map(after).collect()
    }

    /// Each run's percentage of rounds with a cumulative expected reward below the best fixed arm's.
    pub fn below_baseline_percents(&self) -> Vec<f64> {
        self.percents(|run| run.rounds_below_baseline)
    }

    /// The same, below 0.9 times the best fixed arm's.
    pub fn below_nine_tenths_percents(&self) -> Vec<f64> {
        self.percents(|run| run.rounds_below_nine_tenths)
    }

    /// Each run's percentage of cases given another arm than the rule's.
    pub fn off_rule_percents(&self) -> Vec<f64> {
        self.percents(|run| run.rounds_off_rule)
    }

    fn percents(&self, count: fn(&Run) -> u64) -> Vec<f64> {
        let rounds = self.rounds() as f64;
        self.runs.iter().map(|run| 100.0 * count(run) as f64 / rounds).collect()
    }

    /// Each run's number of changes.
    pub fn change_counts(&self) -> Vec<f64> {
        self.changes_until(self.rounds())
    }

    /// Each run's number of changes up to a round.
    pub fn changes_until(&self, round: u64) -> Vec<f64> {
        let every = self.every_round().then_some(round as f64);
        let count = |run: &Run| run.changes.partition_point(|change| change.round <= round) as f64;
        self.runs.iter().map(|run| every.unwrap_or_else(|| count(run))).collect()
    }

    /// All changes that alter a decision.
    pub fn altering(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.runs.iter().flat_map(|run| &run.changes).filter(|change| change.alters())
    }

    /// All changes of runs in which the confidence set never lost the truth.
    pub fn certain_changes(&self) -> impl Iterator<Item = &ChangeRecord> {
        self.runs.iter().filter(|run| run.rounds_outside == Some(0)).flat_map(|run| &run.changes)
    }

    /// Each run's `(improving, altering)` changes.
    pub fn improving(&self) -> Vec<(usize, usize)> {
        let count = |run: &Run| {
            let altering = || run.changes.iter().filter(|change| change.alters());
            (altering().filter(|change| change.gain > 0.0).count(), altering().count())
        };
        self.runs.iter().map(count).collect()
    }

    /// The share of runs in which the true parameters never left the confidence set.
    pub fn coverage(&self) -> Option<f64> {
        let outside: Option<Vec<u64>> = self.runs.iter().map(|run| run.rounds_outside).collect();
        outside.map(|all| all.iter().filter(|&&rounds| rounds == 0).count() as f64 / all.len().max(1) as f64)
    }

    /// The row of the table.
    pub fn summary(&self) -> Summary {
        let rounds = self.rounds();
        let at_tenth = self.checkpoints.iter().position(|&round| round == tenth(rounds)).unwrap_or(0);
        let altering: Vec<f64> = self.improving().iter().map(|&(_, altering)| altering as f64).collect();
        Summary {
            name: self.contestant.name.clone(),
            regret_per_step: Estimate::of(&self.regrets()),
            regret_per_step_tenth: Estimate::of(&self.regrets_at(at_tenth)),
            changes: Estimate::of(&self.change_counts()),
            every_round: self.every_round(),
            altering_changes: Estimate::of(&altering),
            renewals: Estimate::of(&self.runs.iter().map(|run| run.renewals as f64).collect::<Vec<_>>()),
            off_rule_percent: self.holds_a_rule().then(|| Interval95::percentages(&self.off_rule_percents())),
            stuck_runs: self.runs.iter().filter(|run| run.stuck).count(),
            below_baseline_percent: Interval95::percentages(&self.below_baseline_percents()),
            below_nine_tenths_percent: Interval95::percentages(&self.below_nine_tenths_percents()),
            improving_percent: Interval95::share(&self.improving()),
            coverage: self.coverage(),
            regret_quantiles: Quantiles::of(&self.regrets()),
            change_quantiles: Quantiles::of(&self.change_counts()),
        }
    }

    /// Regret and changes by round, thinned.
    pub fn trace(&self) -> Vec<TracePoint> {
        let points = self.checkpoints.iter().enumerate();
        points
            .map(|(at, &round)| TracePoint {
                round,
                regret_per_step: Estimate::of(&self.regrets_at(at)),
                changes: Estimate::of(&self.changes_until(round)),
                regret_quantiles: Quantiles::of(&self.regrets_at(at)),
                change_quantiles: Quantiles::of(&self.changes_until(round)),
            })
            .collect()
    }
}

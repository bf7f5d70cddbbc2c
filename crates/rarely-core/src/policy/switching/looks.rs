//! Looks on a schedule: the tests of sharp sets, and of a rule in question.

use crate::arm::Parameters;
use crate::backlog::Backlog;
use crate::block;
use crate::change::{Cause, Change, Evidence};
use crate::cone::Workspace;
use crate::confidence::{Interval, SLACK, Sets};
use crate::context::Contexts;
use crate::decision::Decision;
use crate::gain::Gain;
use crate::gradient::{Solver, cosine};
use crate::policy::Policy;
use crate::policy::switching::Switching;
use crate::sharp::{PairTally, SharpSet, certain_gain_bound, first_on_the_way};
use crate::symmetric::quadratic;
use crate::trigger::{Schedule, Trigger};
use crate::update::Update;

/// Outcomes per parameter from which looks compute what they need afresh from the sums. Looks are then `8kd` outcomes apart, which
/// cost about thirty times as much; and blocks of outcomes need not be learned row by row up to each look.
const AFRESH_PER_PARAMETER: u64 = 400;

impl Switching {
    /// Learns a block that was checked, a stretch at a time from look to look: the bits of [`Policy::observe`] for each row in turn.
    pub(super) fn observe_on_schedule(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Vec<(usize, Evidence)> {
        let mut changes = Vec::new();
        let mut backlog = Backlog::new(self.shape().arms(), contexts, decisions, rewards);
        let mut from = 0;
        while let Some(schedule) = self.watch.schedule().filter(|_| from < rewards.len()) {
            let until = usize::try_from(schedule.due - self.rounds()).unwrap_or(usize::MAX);
            let to = rewards.len().min(from.saturating_add(until));
            self.learner.statistics_mut().add_rows(&mut backlog, to);
            self.population.record_many(contexts.rows(from..to));
            if self.rounds() >= schedule.due {
                if !self.looks_afresh() {
                    self.learner.statistics_mut().follow_rows(&mut backlog);
                }
                if let Change::Switched(evidence) = self.look(schedule, false) {
                    changes.push((to - 1, *evidence));
                }
            }
            from = to;
        }
        self.learner.statistics_mut().follow_rows(&mut backlog);
        changes
    }

    /// Whether a look now would compute what it needs afresh from the sums.
    pub(super) fn looks_afresh(&self) -> bool {
        self.rounds() >= AFRESH_PER_PARAMETER * self.shape().parameters() as u64
    }

    /// Renews the randomisation if it is time, and tests the rule if it is to be tested; `asked` tests it in any case.
    pub(super) fn look(&mut self, schedule: Schedule, asked: bool) -> Change {
        if !self.looks_afresh() {
            return self.look_at_statistics(schedule, asked);
        }
        let followed = self.learner.statistics().clone();
        self.learner.statistics_mut().refresh();
        let change = self.look_at_statistics(schedule, asked);
        *self.learner.statistics_mut() = followed;
        change
    }

    fn look_at_statistics(&mut self, schedule: Schedule, asked: bool) -> Change {
        self.learner.follow_noise();
        let renewal = self.explorer.renew(&self.learner, self.plan.renewal);
        let mut schedule = schedule;
        schedule.looked(self.rounds());
        schedule.in_question |= renewal.is_some() || asked;
        self.watch.reschedule(schedule);
        let change = match self.plan.trigger {
            // The rule stays in question.
            Trigger::Question { .. } | Trigger::Gain { .. } if !self.population.stands_for_others(self.shape()) => {
                Change::Kept
            }
            Trigger::Question { deviations, minimum } if schedule.in_question => {
                self.answer_question(deviations, minimum, schedule)
            }
            Trigger::Question { .. } => Change::Kept,
            trigger => self.test_sharply(trigger),
        };
        match (change, renewal) {
            (Change::Kept, Some(renewal)) => Change::Renewed(renewal),
            (change, _) => change,
        }
    }

    /// The rule is in question: is the estimate's better by enough?
    fn answer_question(&mut self, deviations: Option<f64>, minimum: f64, schedule: Schedule) -> Change {
        if deviations.is_none() && self.learner.confidence().sets == Sets::Sharp {
            return self.answer_by_pairs(minimum, schedule);
        }
        let Gain { interval: Interval { estimate: gain, lower, .. }, changed_share } = self.gain_of_estimate();
        if changed_share == 0.0 {
            return self.keep_out_of_question(schedule);
        }
        match deviations {
            None if lower > minimum => self.switch(Cause::Gain { lower, minimum }),
            Some(required) => {
                let deviation = self.posterior_deviation();
                if gain > minimum && gain > required * deviation {
                    self.switch(Cause::Likely { gain, deviations: gain / deviation, required })
                } else {
                    Change::Kept
                }
            }
            None => Change::Kept,
        }
    }

    /// The same by sharp sets, which are built only where they could make the gain certain.
    fn answer_by_pairs(&mut self, minimum: f64, schedule: Schedule) -> Change {
        let tally = self.tally_of_estimate();
        if tally.changed_share() == 0.0 {
            return self.keep_out_of_question(schedule);
        }
        let (learner, variance) = (&self.learner, self.learner.variance());
        if !(certain_gain_bound(&learner.confidence(), learner.statistics(), &variance, &tally) > minimum) {
            return Change::Kept;
        }
        let lower = self.learner.sharp().gain_of(&tally).0.interval.lower;
        if lower > minimum { self.switch(Cause::Gain { lower, minimum }) } else { Change::Kept }
    }

    /// The estimate decides like the rule. It is not adopted: agreement on a sample is not agreement elsewhere.
    fn keep_out_of_question(&mut self, schedule: Schedule) -> Change {
        self.watch.reschedule(Schedule { in_question: false, ..schedule });
        Change::Kept
    }

    /// `√(Σ σ_a²·g_aᵀV_a⁻¹g_a)` of the functional that the workspace holds; infinite if nothing is known of the noise of an arm in it.
    fn posterior_deviation(&self) -> f64 {
        let (statistics, variance) = (self.learner.statistics(), self.learner.variance());
        let parts = self.workspace.functional.chunks_exact(statistics.shape().dimension());
        let squares =
            statistics.arms().iter().zip(parts).enumerate().map(|(arm, (ridge, g))| match variance.weight(arm) {
                Some(weight) => weight * quadratic(ridge.inverse(), g),
                None if g.iter().all(|&entry| entry == 0.0) => 0.0,
                None => f64::INFINITY,
            });
        self.learner.noise_scale() * squares.sum::<f64>().max(0.0).sqrt()
    }

    /// Puts the estimate into the workspace. Returns its gain.
    fn gain_of_estimate(&mut self) -> Gain {
        self.propose_estimate();
        let (rule, people) = ((&self.rule, self.changes), (&self.population, self.rounds()));
        let Workspace { point, functional, columns, .. } = &mut self.workspace;
        let agreement = &mut self.agreement;
        self.learner.set().gain_of_differences(self.population.values(), functional, |visit| {
            agreement.for_each_difference(rule, point, people, columns, visit);
        })
    }

    /// Puts the estimate into the workspace. Returns who changes from the rule to it, pair by pair.
    fn tally_of_estimate(&mut self) -> PairTally {
        self.propose_estimate();
        let (rounds, shape) = (self.rounds(), self.shape());
        let (rows, d) = (self.population.values(), shape.dimension());
        let mut tally = PairTally::new(shape.arms(), d);
        let (rule, people) = ((&self.rule, self.changes), (&self.population, rounds));
        let Workspace { point, columns, .. } = &mut self.workspace;
        self.agreement.for_each_difference(rule, point, people, columns, |row, old, new| {
            tally.count(&rows[row * d..(row + 1) * d], old, new);
        });
        tally.of(self.population.len());
        tally
    }

    /// Who changes from the rule to what the workspace holds, pair by pair.
    fn tally(&mut self) -> PairTally {
        let shape = self.rule.parameters().shape();
        let mut tally = PairTally::new(shape.arms(), shape.dimension());
        let (rows, d) = (self.population.values(), shape.dimension());
        let (rule, point) = (self.rule.parameters().values(), &self.workspace.point);
        let mut row = 0;
        block::for_each(rows, &mut self.workspace.columns, |columns, count| {
            let (before, after) = (block::best_of(rule, columns), block::best_of(point, columns));
            for (old, new) in before.into_iter().zip(after).take(count) {
                tally.count(&rows[row * d..(row + 1) * d], old, new);
                row += 1;
            }
        });
        tally
    }

    /// The gain of what the workspace holds, by pairs.
    fn sharp_gain(&mut self, sharp: &SharpSet) -> Gain {
        sharp.gain_of(&self.tally()).0
    }

    /// The other triggers, under sharp sets.
    fn test_sharply(&mut self, trigger: Trigger) -> Change {
        let sharp = self.learner.sharp();
        let change = match trigger {
            Trigger::Gain { minimum } => self.change_if_certain(minimum, &sharp),
            _ => match self.sharp_cause(trigger, &sharp) {
                Some(cause) => {
                    self.propose_sharply(self.plan.update, &sharp);
                    if self.sharp_gain(&sharp).changed_share > 0.0 { self.switch(cause) } else { Change::Kept }
                }
                None => Change::Kept,
            },
        };
        if self.explorer.asks_the_set() {
            self.region = Some(Box::new(sharp));
        }
        change
    }

    fn sharp_cause(&mut self, trigger: Trigger, sharp: &SharpSet) -> Option<Cause> {
        let rule = self.rule.parameters();
        match trigger {
            Trigger::OutsideSet => {
                let excess = sharp.excess_of(rule.values());
                (excess > SLACK).then(|| Cause::OutsideSet { distance: (1.0 + excess).sqrt(), radius: 1.0 })
            }
            Trigger::Boundary => {
                let mut tests = sharp.boundary_tests();
                let (arms, distance, radius) = tests.implausible(rule.values(), rule.shape().dimension())?;
                Some(Cause::Boundary { arms, distance, radius })
            }
            Trigger::Angle { tolerance, .. } => {
                if sharp.excess_of(rule.values()) <= SLACK {
                    return None;
                }
                self.propose_sharply(Update::Conservative(Solver::Exact), sharp);
                let nearest = Parameters::from_computed(sharp.shape(), self.workspace.point.clone());
                let cosine = cosine(self.rule.parameters(), &nearest);
                (cosine < 1.0 - tolerance).then_some(Cause::Angle { cosine, tolerance })
            }
            Trigger::Population { share: limit } => {
                let rows = self.population.rows();
                let people = rows.len().max(1) as f64;
                let share = rows.filter(|row| sharp.is_excluded(row, self.rule.best(row))).count() as f64 / people;
                (share > limit).then_some(Cause::Population { share, limit })
            }
            Trigger::EveryRound
            | Trigger::Scheduled
            | Trigger::Commit { .. }
            | Trigger::Gain { .. }
            | Trigger::Question { .. } => None,
        }
    }

    /// `certified`: of the estimate and the nearest plausible rule on the way to it, the one with the larger certain gain.
    fn change_if_certain(&mut self, minimum: f64, sharp: &SharpSet) -> Change {
        self.propose_estimate();
        let greedy = self.sharp_gain(sharp).interval;
        if !(greedy.estimate > minimum) {
            return Change::Kept;
        }
        self.propose_sharply(self.plan.update, sharp);
        let cautious = self.sharp_gain(sharp).interval.lower;
        let lower = cautious.max(greedy.lower);
        if !(lower > minimum) {
            return Change::Kept;
        }
        if !(cautious > greedy.lower) {
            self.propose_estimate();
        }
        self.switch(Cause::Gain { lower, minimum })
    }

    /// Puts the estimate into the workspace.
    fn propose_estimate(&mut self) {
        let _ = Update::Estimate.propose(&self.learner.set(), self.rule.parameters(), &mut self.workspace);
    }

    /// Puts an update's candidate under sharp sets into the workspace. An intersection of sets has no closed form for the nearest point
    /// or angle; the first point on the way to the estimate stands in for both. (For one ellipsoid that is the nearest point.)
    fn propose_sharply(&mut self, update: Update, sharp: &SharpSet) {
        self.propose_estimate();
        let from = self.rule.parameters();
        let point = &mut self.workspace.point;
        match update {
            Update::Estimate => {}
            Update::Nearest => {
                let inside = |point: &[f64]| sharp.excess_of(point) <= SLACK;
                first_on_the_way(from.values(), self.learner.statistics().estimates().values(), point, inside);
            }
            Update::Conservative(_) => point.copy_from_slice(sharp.conservative(from).parameters.values()),
        }
    }
}

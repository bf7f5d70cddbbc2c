//! Where the estimate is known to decide like the rule, so that a look need not decide about everybody anew.

use crate::block::{self, Lanes, WIDTH};
use crate::population::Population;
use crate::rule::Rule;
use crate::symmetric::dot;

/// For each person of the population, how far the estimate must move before it can decide differently from the rule.
///
/// The difference of two arms' scores at a context `s` moves by at most `2‖s‖·max_a‖Δθ̂_a‖`. So an estimate that decides like the rule
/// by a margin goes on to do so until its moves, added up over the looks, exceed the margin divided by `‖s‖`. It is a cache: any two are
/// equal, and a snapshot omits it.
#[derive(Debug, Clone, Default)]
pub(super) struct Agreement {
    /// The estimate of the last look.
    estimate: Vec<f64>,
    /// `2·max_a‖Δθ̂_a‖`, added up over the looks.
    moved: f64,
    /// The estimate decides like the rule at a row while this is above `moved`.
    until: Vec<f64>,
    /// Outcomes at the last look: since then as many rows of the population were replaced.
    rounds: u64,
    /// The version of the rule that this is about.
    changes: u64,
}

impl PartialEq for Agreement {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Agreement {
    /// Calls `visit` with every row of the population, in order, at which an estimate decides differently from the rule: the row's
    /// number, the rule's arm and the estimate's. `columns` is scratch for a block. O(m), and O(kd) for each row that is new or near a
    /// tie.
    pub(super) fn for_each_difference(
        &mut self,
        (rule, changes): (&Rule, u64),
        estimate: &[f64],
        (population, rounds): (&Population, u64),
        columns: &mut [Lanes],
        mut visit: impl FnMut(usize, usize, usize),
    ) {
        self.catch_up(changes, estimate, population, rounds);
        let rule = rule.parameters().values();
        let largest = norms(estimate, population.dimension()).fold(0.0, f64::max);
        let rounding = 1e-15 * population.dimension() as f64 * largest;
        let mut open = [0; WIDTH];
        let mut count = 0;
        let (mut row, rows) = (0, population.len());
        while row < rows {
            // Most people are in no doubt: eight at a time.
            if self.until[row..]
                .first_chunk::<WIDTH>()
                .is_some_and(|lanes| lanes.iter().all(|&until| until > self.moved))
            {
                row += WIDTH;
                continue;
            }
            row += 1;
            if self.until[row - 1] > self.moved {
                continue;
            }
            open[count] = row - 1;
            count += 1;
            if count == WIDTH {
                self.decide_open(&open, [rule, estimate], rounding, population, columns, &mut visit);
                count = 0;
            }
        }
        self.decide_open(&open[..count], [rule, estimate], rounding, population, columns, &mut visit);
    }

    /// Decides about up to eight people, and notes for how long that is known.
    fn decide_open(
        &mut self,
        open: &[usize],
        [rule, estimate]: [&[f64]; 2],
        rounding: f64,
        population: &Population,
        columns: &mut [Lanes],
        visit: &mut impl FnMut(usize, usize, usize),
    ) {
        let d = columns.len();
        for (lane, &row) in open.iter().enumerate() {
            for (column, &value) in columns.iter_mut().zip(&population.values()[row * d..(row + 1) * d]) {
                column[lane] = value;
            }
        }
        let (before, after) = (block::best_of(rule, columns), block::best_with_margin(estimate, columns));
        let mut squares = [0.0; WIDTH];
        for column in &*columns {
            for lane in 0..WIDTH {
                squares[lane] += column[lane] * column[lane];
            }
        }
        for (lane, &row) in open.iter().enumerate() {
            let (old, (new, margin)) = (before[lane], after[lane]);
            if old == new {
                // Less than the margin by more than rounding, of the scores now and later.
                self.until[row] = self.moved + (1.0 - 1e-9) * margin / squares[lane].sqrt() - rounding;
            } else {
                visit(row, old, new);
            }
        }
    }

    /// Adds the estimate's move since the last look, and forgets what is known about new people and of another rule.
    fn catch_up(&mut self, changes: u64, estimate: &[f64], population: &Population, rounds: u64) {
        let is_known = self.changes == changes && self.estimate.len() == estimate.len() && self.rounds <= rounds;
        if is_known {
            let moves: Vec<f64> = estimate.iter().zip(&self.estimate).map(|(now, then)| now - then).collect();
            let largest = norms(&moves, population.dimension()).fold(0.0, f64::max);
            self.moved += (1.0 + 1e-9) * 2.0 * largest;
            self.until.resize(population.len(), f64::NEG_INFINITY);
            for row in population.latest(rounds - self.rounds) {
                self.until[row] = f64::NEG_INFINITY;
            }
        } else {
            self.moved = 0.0;
            self.until.clear();
            self.until.resize(population.len(), f64::NEG_INFINITY);
        }
        self.estimate.clear();
        self.estimate.extend_from_slice(estimate);
        (self.rounds, self.changes) = (rounds, changes);
    }
}

/// `‖x_a‖` of each arm.
fn norms(parameters: &[f64], dimension: usize) -> impl Iterator<Item = f64> {
    parameters.chunks_exact(dimension).map(|arm| dot(arm, arm).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Parameters, Shape};
    use crate::rng::Rng;
    use crate::rule::best_of;

    #[test]
    fn differences_are_those_of_everybody_decided_anew() {
        let (arms, dimension) = (3, 4);
        let shape = Shape::new(arms, dimension).unwrap();
        let mut rng = Rng::new(5, 0);
        let mut draw = |count: usize, scale: f64| -> Vec<f64> { (0..count).map(|_| scale * rng.normal()).collect() };
        let rule = Rule::new(Parameters::from_computed(shape, draw(shape.parameters(), 1.0)));
        let mut estimate: Vec<f64> = rule.parameters().values().to_vec();
        let (mut agreement, mut population) = (Agreement::default(), Population::recent(dimension));
        let (mut rounds, mut seen, mut known) = (0, 0, 0);
        for look in 1..200_u64 {
            for _ in 0..look / 10 + 3 {
                population.record(&draw(dimension, 1.0));
                rounds += 1;
            }
            let step = draw(estimate.len(), 0.3 / look as f64);
            estimate.iter_mut().zip(step).for_each(|(estimate, step)| *estimate += step);
            let mut found = Vec::new();
            let mut columns = vec![[0.0; WIDTH]; dimension];
            let people = (&population, rounds);
            agreement.for_each_difference((&rule, 0), &estimate, people, &mut columns, |row, old, new| {
                found.push((row, old, new));
            });
            let decided = population.rows().enumerate().map(|(row, s)| (row, rule.best(s), best_of(&estimate, s)));
            let expected: Vec<_> = decided.filter(|(_, old, new)| old != new).collect();
            assert_eq!(found, expected, "look {look}");
            seen += expected.len();
            known += agreement.until.iter().filter(|&&until| until > agreement.moved).count();
        }
        assert!(seen > 500 && known > 50_000, "{seen} differences, {known} known agreements");
    }
}

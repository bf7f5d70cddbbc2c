//! A million decisions at (4, 5), and what merely reading and writing the same memory costs.

use std::hint::black_box;

use rarely_core::{Algorithm, Arm, Contexts, Decision, Policy, Rng};

use crate::problem::{BenchProblem, draw_context};

/// Contexts in the large block.
pub const MILLION: usize = 1_000_000;
/// Contexts in a block that stays in the second-level cache.
pub const CACHED: usize = 4_000;
const ARMS: usize = 4;
const DIMENSION: usize = 5;

/// The numbers of a block of `count` contexts.
pub fn block(count: usize) -> Vec<f64> {
    let mut rng = Rng::new(5, 0);
    (0..count).flat_map(|_| draw_context(DIMENSION, &mut rng)).collect()
}

/// Checks a block, as a caller of `decide_many` must once.
pub fn check(values: &[f64]) -> Contexts<'_> {
    Contexts::new(black_box(values), DIMENSION).expect("contexts")
}

/// Reads a block and does the least with it.
pub fn read(values: &[f64]) {
    let mut sums = [0.0; 8];
    for chunk in black_box(values).as_chunks::<8>().0 {
        for lane in 0..8 {
            sums[lane] += chunk[lane];
        }
    }
    black_box(sums);
}

/// A policy with room for the decisions about a block.
pub struct Many {
    decisions: Vec<Decision>,
    policy: Box<dyn Policy>,
    rng: Rng,
}

impl Many {
    /// Room for `count` decisions.
    pub fn new(count: usize, algorithm: Algorithm) -> Self {
        let problem = BenchProblem::new(ARMS, DIMENSION);
        let decisions = vec![Decision::recorded(Arm::new(0)); count];
        Self { decisions, policy: crate::rounds::taught(problem, algorithm), rng: Rng::new(6, 0) }
    }

    /// `decide_many`.
    pub fn decide(&mut self, contexts: Contexts<'_>) {
        self.policy.decide_many(contexts, &mut self.rng, &mut self.decisions).expect("decisions");
        black_box(&mut self.decisions);
    }

    /// Reads a block and writes decisions without deciding: the traffic of `decide_many` with the least arithmetic.
    pub fn read_and_write(&mut self, values: &[f64]) {
        for (row, decision) in black_box(values).as_chunks::<DIMENSION>().0.iter().zip(&mut self.decisions) {
            *decision = Decision { propensity: row.iter().sum(), ..Decision::recorded(Arm::new(1)) };
        }
        black_box(&mut self.decisions);
    }
}

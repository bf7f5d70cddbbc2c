//! `LinUCB` of other crates, one model for each arm, on the same table: one decision and one update per round.

use irithyll::bandits::{ContextualBandit as _, LinUCB};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use trashpanda::Bandit;
use trashpanda::policies::LinUcb;

use crate::Workload;
use crate::problem::{BenchProblem, RoundCursor};

/// Width of the bounds; any number costs the same.
const ALPHA: f64 = 1.0;
/// The penalty: trashpanda starts from `λI` where the inverse should be `I/λ`, which is right only at 1.
const PENALTY: f64 = 1.0;

/// irithyll.
#[derive(Debug)]
pub struct Irithyll {
    problem: &'static BenchProblem,
    cursor: RoundCursor,
    bandit: LinUCB,
}

impl Irithyll {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem) -> Self {
        let (arms, dimension) = (problem.shape().arms(), problem.shape().dimension());
        let mut bandit = LinUCB::with_lambda(arms, dimension, ALPHA, PENALTY);
        problem.lessons(|context, arm, reward| bandit.update(arm, context, reward));
        Self { problem, cursor: RoundCursor::default(), bandit }
    }
}

impl Workload for Irithyll {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance();
            let context = self.problem.context(cursor);
            let arm = self.bandit.select_arm(context);
            self.bandit.update(arm, context, self.problem.reward(cursor, arm));
        }
    }
}

/// trashpanda.
pub struct Trashpanda {
    problem: &'static BenchProblem,
    cursor: RoundCursor,
    bandit: Bandit<usize, LinUcb<usize>, &'static [f64]>,
    rng: SmallRng,
}

impl Trashpanda {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem) -> Self {
        use trashpanda::policies::Policy as _;
        let (arms, dimension) = (problem.shape().arms(), problem.shape().dimension());
        let mut model = LinUcb::new(ALPHA, PENALTY, dimension);
        problem.lessons(|context, arm, reward| model.update(&arm, context, reward));
        let bandit = Bandit::new(0..arms, model).expect("a bandit");
        Self { problem, cursor: RoundCursor::default(), bandit, rng: SmallRng::seed_from_u64(1) }
    }
}

impl Workload for Trashpanda {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance();
            let context = self.problem.context(cursor);
            let arm = self.bandit.predict(context, &mut self.rng).expect("an arm");
            let reward = self.problem.reward(cursor, arm);
            self.bandit.partial_fit(&[arm], context, &[reward]).expect("an outcome");
        }
    }
}

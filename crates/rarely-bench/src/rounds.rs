//! Whole rounds of a policy, and the learning step alone.

use std::hint::black_box;

use rarely_core::{Algorithm, Arm, Context, Decision, Parameters, Policy, Rng, Statistics};

use crate::Workload;
use crate::problem::{BenchProblem, RoundCursor};

pub(crate) fn taught(problem: &BenchProblem, algorithm: Algorithm) -> Box<dyn Policy> {
    let mut policy = problem.settings().algorithm(algorithm).build().expect("a policy");
    problem.lessons(|context, arm, reward| {
        let context = Context::new(context).expect("a context");
        let _ = policy.observe(context, &Decision::recorded(Arm::new(arm)), reward).expect("an outcome");
    });
    policy
}

/// Whole rounds: check the context, decide, observe, look at the trigger.
pub struct Playing {
    problem: &'static BenchProblem,
    cursor: RoundCursor,
    policy: Box<dyn Policy>,
    rng: Rng,
}

impl Playing {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem, algorithm: Algorithm) -> Self {
        Self { problem, cursor: RoundCursor::default(), policy: taught(problem, algorithm), rng: Rng::new(1, 0) }
    }
}

impl Workload for Playing {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance();
            let context = Context::new(self.problem.context(cursor)).expect("a context");
            let decision = self.policy.decide(context, &mut self.rng).expect("a decision");
            let reward = self.problem.reward(cursor, decision.arm.index());
            let _ = black_box(self.policy.observe(context, &decision, reward).expect("an outcome"));
        }
        assert_eq!(self.policy.changes(), 0, "a round with a switch is not what is measured");
    }
}

/// A policy's learning step alone: the truly best arm was played, nothing is decided.
pub struct Observing {
    problem: &'static BenchProblem,
    cursor: RoundCursor,
    policy: Box<dyn Policy>,
}

impl Observing {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem, algorithm: Algorithm) -> Self {
        Self { problem, cursor: RoundCursor::default(), policy: taught(problem, algorithm) }
    }
}

impl Workload for Observing {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance();
            let arm = self.problem.best(cursor);
            let context = Context::new(self.problem.context(cursor)).expect("a context");
            let decision = Decision::recorded(Arm::new(arm));
            let _ = black_box(
                self.policy.observe(context, &decision, self.problem.reward(cursor, arm)).expect("an outcome"),
            );
        }
        assert_eq!(self.policy.changes(), 0, "a round with a switch is not what is measured");
    }
}

/// The regression alone.
pub struct Learning {
    problem: &'static BenchProblem,
    cursor: RoundCursor,
    statistics: Statistics,
}

impl Learning {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem) -> Self {
        let penalty = problem.settings().confidence().penalty.get();
        let mut statistics = Statistics::new(penalty, &Parameters::zeros(problem.shape()));
        problem.lessons(|context, arm, reward| {
            statistics.observe(Context::new(context).expect("a context"), Arm::new(arm), reward).expect("an outcome");
        });
        Self { problem, cursor: RoundCursor::default(), statistics }
    }
}

impl Workload for Learning {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance();
            let arm = self.problem.best(cursor);
            let context = Context::new(self.problem.context(cursor)).expect("a context");
            let reward = self.problem.reward(cursor, arm);
            black_box(self.statistics.observe(context, Arm::new(arm), reward).expect("an outcome"));
        }
    }
}

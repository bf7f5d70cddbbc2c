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

/// Contexts of the table, told apart by what our default makes of them after the lessons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextKind {
    /// All of them.
    All,
    /// One arm is clearly best: nobody is randomised.
    Clear,
    /// Two arms or more may be best: the default draws among them.
    NearTies,
}

impl ContextKind {
    /// The rows of a problem's table.
    pub fn of(self, problem: &BenchProblem) -> Vec<usize> {
        let (policy, mut rng) = (taught(problem, Algorithm::Rarely), Rng::new(2, 0));
        let mut wanted = |cursor: &RoundCursor| {
            let context = Context::new(problem.context(*cursor)).expect("a context");
            let is_clear = policy.decide(context, &mut rng).expect("a decision").propensity == 1.0;
            self == Self::All || is_clear == (self == Self::Clear)
        };
        RoundCursor::all().filter(|cursor| wanted(cursor)).map(RoundCursor::row).collect()
    }
}

/// Whole rounds: check the context, decide, observe, look at the trigger.
pub struct Playing {
    problem: &'static BenchProblem,
    rows: Vec<usize>,
    cursor: RoundCursor,
    policy: Box<dyn Policy>,
    rng: Rng,
}

impl Playing {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem, algorithm: Algorithm) -> Self {
        Self::at(problem, algorithm, ContextKind::All)
    }

    /// The same at some of the contexts only.
    pub fn at(problem: &'static BenchProblem, algorithm: Algorithm, rows: ContextKind) -> Self {
        let (rows, cursor) = (rows.of(problem), RoundCursor::default());
        assert!(!rows.is_empty(), "the table has contexts of every kind");
        Self { problem, rows, cursor, policy: taught(problem, algorithm), rng: Rng::new(1, 0) }
    }
}

impl Workload for Playing {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance_along(&self.rows);
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

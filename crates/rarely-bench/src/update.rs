//! What a switch costs: the exact conservative update, and the paper's projected gradient.

use rarely_core::{Arm, Confidence, Conservative, Context, Parameters, Rng, Statistics};

use crate::problem::BenchProblem;

/// Statistics under which a policy is implausible, though within 90° of plausible ones: the case that has to be solved.
#[derive(Debug)]
pub struct Implausible {
    confidence: Confidence,
    statistics: Statistics,
    policy: Parameters,
}

impl Implausible {
    /// The problem's lessons, and its true parameters disturbed by as much again.
    pub fn new(problem: &'static BenchProblem) -> Self {
        let confidence = problem.settings().confidence();
        let mut statistics = Statistics::new(confidence.penalty.get(), &Parameters::zeros(problem.shape()));
        problem.lessons(|context, arm, reward| {
            statistics.observe(Context::new(context).expect("a context"), Arm::new(arm), reward).expect("an outcome");
        });
        let mut rng = Rng::new(3, 0);
        let values = problem.truth().values().iter().map(|value| value + rng.normal()).collect();
        let policy = Parameters::new(problem.shape(), values).expect("parameters");
        let case = Self { confidence, statistics, policy };
        let found = case.exact();
        let set = case.confidence.set(&case.statistics);
        let distance = set.distance_squared(&found.parameters).sqrt() / set.radius();
        assert!(!set.is_jointly_plausible(&case.policy), "a plausible policy needs no update");
        assert!(found.cosine > 0.0 && found.cosine < 1.0, "the case must not be the trivial one: {}", found.cosine);
        assert!((distance - 1.0).abs() < 1e-6, "the exact update lies on the edge of the set: {distance}");
        case
    }

    /// The exact update.
    pub fn exact(&self) -> Conservative {
        self.confidence.set(&self.statistics).conservative(&self.policy)
    }

    /// The paper's 100 steps.
    pub fn gradient(&self) -> Conservative {
        self.confidence.set(&self.statistics).projected_gradient(&self.policy, 100, 0.1)
    }
}

//! `LinUCB` of other crates, one model for each arm, on the same table: one decision and one update a round.

use irithyll::bandits::{ContextualBandit as _, LinUCB};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use trashpanda::Bandit;
use trashpanda::policies::LinUcb;

use crate::Subject;
use crate::problem::{Place, Problem};

/// Width of the bounds; any number costs the same.
const ALPHA: f64 = 1.0;
/// The penalty: trashpanda starts from `λI` where the inverse should be `I/λ`, which is right only at 1.
const PENALTY: f64 = 1.0;

/// irithyll.
#[derive(Debug)]
pub struct Irithyll {
    problem: &'static Problem,
    place: Place,
    bandit: LinUCB,
}

impl Irithyll {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static Problem) -> Self {
        let (arms, dimension) = (problem.shape().arms(), problem.shape().dimension());
        let mut bandit = LinUCB::with_lambda(arms, dimension, ALPHA, PENALTY);
        problem.lessons(|context, arm, reward| bandit.update(arm, context, reward));
        Self { problem, place: Place::default(), bandit }
    }
}

impl Subject for Irithyll {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let place = self.place.advance();
            let context = self.problem.context(place);
            let arm = self.bandit.select_arm(context);
            self.bandit.update(arm, context, self.problem.reward(place, arm));
        }
    }
}

/// trashpanda.
pub struct Trashpanda {
    problem: &'static Problem,
    place: Place,
    bandit: Bandit<usize, LinUcb<usize>, &'static [f64]>,
    rng: SmallRng,
}

impl Trashpanda {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static Problem) -> Self {
        use trashpanda::policies::Policy as _;
        let (arms, dimension) = (problem.shape().arms(), problem.shape().dimension());
        let mut model = LinUcb::new(ALPHA, PENALTY, dimension);
        problem.lessons(|context, arm, reward| model.update(&arm, context, reward));
        let bandit = Bandit::new(0..arms, model).expect("a bandit");
        Self { problem, place: Place::default(), bandit, rng: SmallRng::seed_from_u64(1) }
    }
}

impl Subject for Trashpanda {
    #[inline(never)]
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let place = self.place.advance();
            let context = self.problem.context(place);
            let arm = self.bandit.predict(context, &mut self.rng).expect("an arm");
            let reward = self.problem.reward(place, arm);
            self.bandit.partial_fit(&[arm], context, &[reward]).expect("an outcome");
        }
    }
}

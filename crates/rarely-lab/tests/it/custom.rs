//! Policies and worlds from outside the workspace: only public items are used here.

use rarely_core::{Algorithm, Arm, Contexts, Decision, Profile, Rng, Round, Settings, Shape, World};
use rarely_lab::{
    Contestant, CustomAlgorithm, CustomError, CustomPolicy, CustomRun, Environment, EnvironmentDescription, Experiment,
    ExperimentError, JudgedSample, RunContext, SimulatedWorld, WorldProperties, WorldSource,
};

/// LinUCB from outside: it wraps a policy of the core.
#[derive(Debug)]
struct Wrapped {
    algorithm: Algorithm,
    block: usize,
}

struct WrappedPolicy(Box<dyn rarely_core::Policy>);

impl CustomAlgorithm for Wrapped {
    fn build(&self, run: &CustomRun) -> Result<Box<dyn CustomPolicy>, CustomError> {
        let settings = Settings::new(run.shape.arms(), run.shape.dimension())?.algorithm(self.algorithm);
        let settings = settings.noise(0.1)?.error_probability(1.0 / run.rounds as f64)?.norm_bound(3.0)?;
        Ok(Box::new(WrappedPolicy(settings.build()?)))
    }

    fn block(&self) -> usize {
        self.block
    }
}

impl CustomPolicy for WrappedPolicy {
    fn decide(&mut self, contexts: Contexts<'_>, rng: &mut Rng, decisions: &mut [Decision]) -> Result<(), CustomError> {
        Ok(self.0.decide_many(contexts, rng, decisions)?)
    }

    fn observe(&mut self, contexts: Contexts<'_>, decisions: &[Decision], rewards: &[f64]) -> Result<(), CustomError> {
        self.0.observe_many(contexts, decisions, rewards)?;
        Ok(())
    }
}

fn experiment() -> Experiment {
    Experiment { rounds: Some(400), judged_on: 500, ..Experiment::new(WorldSource::linear(3, 2), 3, 5) }
}

/// The same algorithm from inside and from outside has the same regret in the same worlds, by the same luck.
#[test]
fn the_same_worlds_and_the_same_luck() {
    for algorithm in [Algorithm::LinUcb, Algorithm::Thompson] {
        let mut inside = Contestant::new(algorithm, Profile::Rigorous);
        inside.declared.norm_bound = Some(rarely_lab::NormBound::Value(3.0));
        let outside = Contestant::custom("outside", Wrapped { algorithm, block: 1 });
        let results = experiment().run(&[inside, outside], &RunContext::quiet()).expect("it runs");
        assert_eq!(results[0].regrets(), results[1].regrets(), "{algorithm}");
    }
}

/// Learning at the end of a block is what a world of batches is, whoever plays.
#[test]
fn a_block_is_a_batch() {
    let mut inside = Contestant::new(Algorithm::LinUcb, Profile::Rigorous);
    inside.declared.norm_bound = Some(rarely_lab::NormBound::Value(3.0));
    let properties = WorldProperties { batch: 50, ..WorldProperties::default() };
    let batches = Experiment { properties, ..experiment() };
    let inside = batches.run(&[inside], &RunContext::quiet()).expect("it runs");
    let outside = Contestant::custom("outside", Wrapped { algorithm: Algorithm::LinUcb, block: 50 });
    let outside = experiment().run(&[outside], &RunContext::quiet()).expect("it runs");
    assert_eq!(inside[0].regrets(), outside[0].regrets());
}

#[derive(Debug)]
struct Wrong;

impl CustomAlgorithm for Wrong {
    fn build(&self, _: &CustomRun) -> Result<Box<dyn CustomPolicy>, CustomError> {
        Ok(Box::new(WrongPolicy))
    }
}

struct WrongPolicy;

impl CustomPolicy for WrongPolicy {
    fn decide(&mut self, _: Contexts<'_>, _: &mut Rng, decisions: &mut [Decision]) -> Result<(), CustomError> {
        decisions.fill(Decision::recorded(Arm::new(7)));
        Ok(())
    }

    fn observe(&mut self, _: Contexts<'_>, _: &[Decision], _: &[f64]) -> Result<(), CustomError> {
        Err("it cannot learn".into())
    }
}

#[test]
fn an_arm_that_does_not_exist_is_an_error() {
    let wrong = Contestant::custom("wrong", Wrong);
    let error = experiment().run(&[wrong], &RunContext::quiet()).expect_err("it has three arms");
    let ExperimentError::Play { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.to_string(), "the policy chose arm 7 in row 0 of a block, but there are only 3 arms");
}

/// A world from outside: two arms, of which the second is better from a half on.
#[derive(Debug)]
struct Threshold;

struct ThresholdWorld(Rng);

impl Environment for Threshold {
    fn shape(&self) -> Shape {
        Shape::new(2, 2).expect("a shape")
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        Box::new(ThresholdWorld(Rng::new(seed, run)))
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription { noise: Some(0.1), ..EnvironmentDescription::new("threshold", self.shape()) }
    }
}

impl World for ThresholdWorld {
    fn next(&mut self, round: &mut Round) {
        let x = self.0.uniform();
        round.context.copy_from_slice(&[1.0, x]);
        round.means.copy_from_slice(&[0.5, x]);
        let noise = 0.1 * self.0.normal();
        round.rewards.copy_from_slice(&[0.5 + noise, x + noise]);
    }
}

impl SimulatedWorld for ThresholdWorld {
    fn initial(&self) -> &[f64] {
        &[1.0, 0.0, 0.0, 0.0]
    }

    fn truth(&self) -> Option<&[f64]> {
        Some(&[0.5, 0.0, 0.0, 1.0])
    }

    fn sample(&self, size: usize) -> JudgedSample {
        let places = (0..size).map(|at| at as f64 / size as f64);
        let rows = |second: fn(f64) -> [f64; 2]| places.clone().flat_map(second).collect();
        JudgedSample { contexts: rows(|x| [1.0, x]), means: rows(|x| [0.5, x]) }
    }
}

#[test]
fn a_world_from_outside() {
    let contestants =
        [Algorithm::Rarely, Algorithm::Fixed].map(|algorithm| Contestant::new(algorithm, Profile::Rigorous));
    let experiment = Experiment { rounds: Some(2_000), ..Experiment::new(WorldSource::of(Threshold), 4, 1) };
    let results = experiment.run(&contestants, &RunContext::quiet()).expect("it runs");
    // Always the first arm loses 1/8 per round.
    assert!((results[1].summary().regret_per_step.mean - 0.125).abs() < 0.01);
    assert!(results[0].summary().regret_per_step.mean < 0.03);
    assert!(results[0].runs.iter().all(|run| run.rounds_outside == Some(0)), "its truth is covered");
}

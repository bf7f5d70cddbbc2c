//! The confidence sets hold for adaptively chosen arms.

use rarely_core::{Algorithm, Certificates, Delay, Profile, Round, Sets, Shape};
use rarely_lab::{Contestant, Experiment, Linear, RunContext, WorldSource};

const ROUNDS: u64 = 150;
const ERROR_PROBABILITY: f64 = 0.1;

fn share_that_left(algorithm: Algorithm, sets: Sets, runs: u64, declared_noise: f64) -> f64 {
    let environment = Linear { shape: Shape::new(3, 2).expect("a shape"), noise: 0.5 };
    let mut contestant = Contestant::new(algorithm, Profile::Rigorous);
    contestant.declared.sets = Some(sets);
    contestant.declared.noise = Some(declared_noise);
    contestant.declared.penalty = Some(0.1);
    contestant.declared.error_probability = Some(ERROR_PROBABILITY);
    let experiment =
        Experiment { rounds: Some(ROUNDS), judged_on: 10, ..Experiment::new(WorldSource::of(environment), runs, 11) };
    let results = experiment.run(&[contestant], &RunContext::quiet()).expect("it runs");
    1.0 - results[0].coverage().expect("a linear truth")
}

/// Over n runs the share that ever leaves the set is at most δ plus the error of a binomial share: its standard deviation is at
/// most √(δ(1−δ)/n), and four of them are exceeded with probability below 1e-4.
fn allowed(runs: u64) -> f64 {
    ERROR_PROBABILITY + 4.0 * (ERROR_PROBABILITY * (1.0 - ERROR_PROBABILITY) / runs as f64).sqrt()
}

#[test]
fn the_truth_stays_in_the_joint_set() {
    for algorithm in [Algorithm::Rarely, Algorithm::Greedy, Algorithm::LinUcb, Algorithm::Thompson] {
        let share = share_that_left(algorithm, Sets::Joint, 2_000, 0.5);
        println!("{algorithm}: left in {:.2} % of runs, allowed {:.2} %", 100.0 * share, 100.0 * allowed(2_000));
        assert!(share <= allowed(2_000), "{algorithm}: {share}");
    }
}

#[test]
fn the_truth_stays_in_the_per_arm_sets() {
    for algorithm in [Algorithm::LinUcb, Algorithm::FeasibleGreedy] {
        let share = share_that_left(algorithm, Sets::PerArm, 2_000, 0.5);
        assert!(share <= allowed(2_000), "{algorithm}: {share}");
    }
}

/// The same check finds sets that do not hold: noise declared at a third of what it is.
#[test]
fn understated_noise_is_found() {
    let share = share_that_left(Algorithm::LinUcb, Sets::Joint, 500, 0.5 / 3.0);
    assert!(share > allowed(500), "{share}");
}

/// The loop looks at the set only when it must; looking in every round finds the same rounds, also where the truth does leave.
#[test]
fn looking_seldom_finds_what_looking_always_finds() {
    use rarely_core::{Context, Parameters, Rng};
    use rarely_lab::{Environment as _, Judge, play};
    let shape = Shape::new(3, 2).expect("a shape");
    let environment = Linear { shape, noise: 0.5 };
    let (mut looked, mut left) = (0, 0);
    for (run, declared) in (0..60).zip([0.5, 0.17, 0.1].into_iter().cycle()) {
        let mut contestant = Contestant::new(Algorithm::LinUcb, Profile::Rigorous);
        contestant.declared.noise = Some(declared);
        let mut world = environment.world(3, run);
        let judge = Judge::new(&*world, shape, 10);
        let build =
            || contestant.build(&*environment.world(3, run), &judge, 400, Certificates::Brief).expect("a policy");
        let (mut policy, mut again) = (build(), build());
        let played = play(
            policy.as_mut(),
            &mut *world,
            (&judge, Delay::Any),
            &[400],
            &mut Rng::new(1, 1),
            RunContext::quiet().stop,
        )
        .expect("it plays");

        let mut world = environment.world(3, run);
        let truth = Parameters::new(shape, world.truth().expect("linear").to_vec()).expect("parameters");
        let (mut rng, mut round, mut outside) = (Rng::new(1, 1), Round::new(shape), 0);
        for _ in 0..400 {
            world.next(&mut round);
            let context = Context::new(&round.context).expect("a context");
            let decision = again.decide(context, &mut rng).expect("a decision");
            let _ = again.observe(context, &decision, round.rewards[decision.arm.index()]).expect("an outcome");
            outside += u64::from(!again.learner().expect("it learns").set().contains(&truth));
        }
        assert_eq!(played.rounds_outside, Some(outside), "run {run}");
        looked += 1;
        left += u64::from(outside > 0);
    }
    assert!(looked == 60 && (10..50).contains(&left), "{left} of {looked} left");
}

//! The laws of `rarely_core::conformance`, for every algorithm in many settings.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use rarely_core::conformance::{self, arms_are_interchangeable};
use rarely_core::{
    Algorithm, Arm, Certificates, Change, Context, Contexts, DecideError, Decision, ObserveError, Parameters, Policy,
    Rng, Sets, Settings, SettingsError, Shape, Share, Snapshot, Solver, UnknownNoise,
};

use crate::sample;

const SHAPES: [(usize, usize); 5] = [(2, 1), (2, 2), (4, 5), (3, 8), (20, 3)];

/// Runs the suite for every algorithm whose settings are compatible; says for how many that was.
fn check(settings: impl Fn(Algorithm) -> Settings) -> usize {
    let buildable = |algorithm: &Algorithm| match settings(*algorithm).build() {
        Ok(_) => true,
        Err(SettingsError::Incompatible { .. }) => false,
        Err(error) => panic!("{algorithm}: {error}"),
    };
    let algorithms: Vec<Algorithm> = Algorithm::all().filter(buildable).collect();
    for &algorithm in &algorithms {
        conformance::check(&|| settings(algorithm).build().expect("was built before"));
    }
    algorithms.len()
}

fn is_randomised(algorithm: Algorithm) -> bool {
    use Algorithm::{
        BatchedElimination, BatchedThompson, Bootstrap, EpsilonGreedy, ExploreThenCommit, LogisticThompson, Random,
        Rarely, RarelyQuick, RsGlinCb, SquareCb, Thompson,
    };
    matches!(
        algorithm,
        Rarely
            | RarelyQuick
            | ExploreThenCommit
            | Thompson
            | BatchedThompson
            | Bootstrap
            | EpsilonGreedy
            | SquareCb
            | BatchedElimination
            | LogisticThompson
            // Its warm-up takes the arms in order while all are unknown.
            | RsGlinCb
            | Random
    )
}

#[test]
fn every_algorithm_with_its_defaults_small() {
    for (arms, dimension) in [(2, 1), (2, 2)] {
        assert_eq!(check(|algorithm| sample::settings(algorithm, arms, dimension)), Algorithm::TABLE.len());
    }
}

#[test]
fn every_algorithm_with_its_defaults_medium() {
    for (arms, dimension) in [(4, 5), (3, 8)] {
        assert_eq!(check(|algorithm| sample::settings(algorithm, arms, dimension)), Algorithm::TABLE.len());
    }
}

#[test]
fn every_algorithm_with_many_arms() {
    // A full certificate of 190 boundaries at every change would take most of the time of all tests.
    let settings = |algorithm| sample::settings(algorithm, 20, 3).certificates(Certificates::Brief);
    assert_eq!(check(settings), Algorithm::TABLE.len());
}

#[test]
fn with_pilot_and_equipoise() {
    for (arms, dimension) in SHAPES {
        let settings = |algorithm| {
            let settings = sample::settings(algorithm, arms, dimension).certificates(Certificates::Brief);
            settings.explore(2, 0.3).expect("in range")
        };
        let switching = Algorithm::all().filter(|algorithm| algorithm.is_switching()).count();
        assert_eq!(check(settings), switching, "only algorithms that hold a policy explore");
    }
}

#[test]
fn with_equipoise_in_every_round() {
    let settings = |algorithm| sample::settings(algorithm, 4, 5).explore(0, 1.0).expect("in range");
    check(settings);
}

#[test]
fn the_published_profile() {
    for (arms, dimension) in SHAPES {
        // λ = 0.1 and λ = 10: below 1 the authors' root is of a negative number in the first rounds.
        for rounds in [1_000, 100_000] {
            let settings = |algorithm| {
                let settings = Settings::published(arms, dimension, rounds).expect("in range");
                sample::furnished(settings, algorithm).certificates(Certificates::Brief)
            };
            assert_eq!(check(settings), Algorithm::TABLE.len());
        }
    }
}

#[test]
fn with_other_sets() {
    for (arms, dimension) in SHAPES {
        for sets in [Sets::Joint, Sets::PerArm, Sets::Sharp] {
            let settings = |algorithm: Algorithm| {
                // clucb's bound sums contexts of all arms: it has joint sets only.
                let sets = if algorithm.sums_contexts() { Sets::Joint } else { sets };
                sample::settings(algorithm, arms, dimension).sets(sets).certificates(Certificates::Brief)
            };
            assert_eq!(check(settings), Algorithm::TABLE.len());
        }
    }
}

#[test]
fn with_unknown_noise() {
    let switching = Algorithm::all().filter(|algorithm| algorithm.is_switching()).count();
    for (arms, dimension) in [(2, 1), (3, 2), (4, 5)] {
        for (unknown, explore) in
            [(UnknownNoise::OfAllArms, "posterior:0.5"), (UnknownNoise::OfEachArm, "equipoise:0.3")]
        {
            let settings = |algorithm: Algorithm| {
                let settings = sample::settings(algorithm, arms, dimension).certificates(Certificates::Brief);
                let settings = settings.sets(Sets::Sharp).unknown_noise(unknown);
                settings.exploration(explore.parse().expect("a way to explore"))
            };
            assert_eq!(check(settings), switching, "every algorithm that holds a rule");
        }
    }
}

#[test]
fn with_a_supplied_population() {
    for (arms, dimension) in SHAPES {
        let values = sample::block(50, dimension, &mut Rng::new(4, 0));
        let settings = |algorithm| {
            let people = Contexts::new(&values, dimension).expect("whole rows");
            let settings = sample::settings(algorithm, arms, dimension).certificates(Certificates::Brief);
            settings.population(people).expect("fits")
        };
        assert_eq!(check(settings), Algorithm::TABLE.len());
    }
}

#[test]
fn with_the_projected_gradient() {
    for (arms, dimension) in SHAPES {
        let settings = |algorithm| {
            let settings = sample::settings(algorithm, arms, dimension).certificates(Certificates::Brief);
            settings.tune(|tuning| tuning.solver = Solver::PAPER)
        };
        assert_eq!(check(settings), Algorithm::TABLE.len());
    }
}

#[test]
fn at_the_ends_of_the_ranges() {
    for share in [0.0, 1.0] {
        let share = Share::new(share).expect("in range");
        let settings = |algorithm| {
            sample::settings(algorithm, 3, 2).tune(|tuning| {
                (tuning.tolerance, tuning.excluded_share, tuning.safety) = (share, share, share);
            })
        };
        check(settings);
    }
    for (noise, bound, penalty, probability) in
        [(1e-12, 0.0, 1e-9, 1e-300), (1e12, 1e12, 1e9, 0.999), (1e-12, 1e12, 1e-9, 0.5), (1e12, 0.0, 1e-9, 1e-300)]
    {
        let settings = |algorithm| {
            let settings = sample::settings(algorithm, 3, 2).noise(noise).expect("in range");
            let settings = settings.norm_bound(bound).expect("in range").penalty(penalty).expect("in range");
            settings.error_probability(probability).expect("in range")
        };
        // A penalty this large makes the largest contexts learnable, which `errors_change_nothing` takes for granted not.
        let laws: &[fn(&conformance::Build<'_>)] = &[
            conformance::deciding_is_pure,
            conformance::replay_rebuilds_the_state,
            conformance::restored_policies_continue,
            conformance::propensities_are_frequencies,
            conformance::extremes_do_no_harm,
        ];
        for algorithm in Algorithm::all() {
            for law in laws {
                law(&|| settings(algorithm).build().expect("compatible"));
            }
        }
    }
}

#[test]
fn permuting_the_arms_permutes_the_decisions() {
    for (arms, dimension) in SHAPES {
        let shape = Shape::new(arms, dimension).expect("a shape");
        let (prior, deployed) =
            (sample::parameters(shape, &mut Rng::new(5, 0)), sample::parameters(shape, &mut Rng::new(6, 0)));
        for algorithm in Algorithm::all().filter(|&algorithm| !is_randomised(algorithm)) {
            arms_are_interchangeable(arms, &|order| {
                let ordered = |parameters: &Parameters| {
                    order.iter().flat_map(|&arm| parameters.arm(arm).to_vec()).collect::<Vec<f64>>()
                };
                let baseline = order.iter().position(|&arm| arm == 1).expect("an order names every arm");
                let settings = sample::settings(algorithm, arms, dimension).certificates(Certificates::Brief);
                let settings = settings.prior_mean(ordered(&prior)).expect("fits");
                let settings = settings.deployed(ordered(&deployed)).expect("fits");
                let settings = settings.baseline(Arm::new(baseline), &vec![0.1; dimension]).expect("fits");
                settings.build().expect("compatible")
            });
        }
    }
}

#[test]
#[should_panic(expected = "is not a law for random")]
fn permuting_the_arms_of_a_randomised_policy_is_not_a_law() {
    arms_are_interchangeable(2, &|_| sample::settings(Algorithm::Random, 2, 2).build().expect("compatible"));
}

/// The state survives JSON, and the policy that was read back continues as the one that was written.
#[test]
fn states_survive_json() {
    for algorithm in Algorithm::all() {
        for (arms, dimension) in SHAPES {
            let mut policy = sample::settings(algorithm, arms, dimension).build().expect("compatible");
            let truth = sample::parameters(policy.shape(), &mut Rng::new(8, 0));
            live(&mut *policy, &truth, 60);
            let mut copy = through_json(&policy.snapshot()).restore().expect("sound");
            assert!(copy.snapshot() == policy.snapshot(), "{algorithm} ({arms}, {dimension})");
            live(&mut *policy, &truth, 60);
            live(&mut *copy, &truth, 60);
            assert!(copy.snapshot() == policy.snapshot(), "{algorithm} ({arms}, {dimension}) continued differently");
        }
    }
}

/// The same where the noise is unknown, before and after a bound on it is known.
#[test]
fn states_with_unknown_noise_survive_json() {
    for unknown in [UnknownNoise::OfAllArms, UnknownNoise::OfEachArm] {
        for (algorithm, explore) in [(Algorithm::Rarely, "posterior:0.5"), (Algorithm::BoundaryGreedy, "equipoise:0.3")]
        {
            let settings = sample::settings(algorithm, 3, 2).sets(Sets::Sharp).unknown_noise(unknown);
            let mut policy =
                settings.exploration(explore.parse().expect("a way to explore")).build().expect("compatible");
            let truth = sample::parameters(policy.shape(), &mut Rng::new(8, 0));
            for rounds in [5, 20, 60, 300] {
                live(&mut *policy, &truth, rounds);
                let mut copy = through_json(&policy.snapshot()).restore().expect("sound");
                assert!(copy.snapshot() == policy.snapshot(), "{algorithm}, {unknown}");
                live(&mut *copy, &truth, 50);
                let mut original = policy.snapshot().restore().expect("sound");
                live(&mut *original, &truth, 50);
                assert!(copy.snapshot() == original.snapshot(), "{algorithm}, {unknown} continued differently");
            }
            assert!(policy.learner().expect("it learns").noise().iter().all(Option::is_some), "{algorithm}, {unknown}");
        }
    }
}

/// Arms may start from different means.
#[test]
fn states_with_a_prior_mean_of_each_arm_restore() {
    for algorithm in Algorithm::all() {
        let settings = sample::settings(algorithm, 3, 2);
        let mean = sample::parameters(settings.shape(), &mut Rng::new(5, 0)).values().to_vec();
        let policy = settings.prior_mean(mean).expect("fits").build().expect("compatible");
        let copy = policy.snapshot().restore().unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert!(copy.snapshot() == policy.snapshot(), "{algorithm}");
    }
}

#[test]
fn a_snapshot_that_was_read_equals_the_one_that_was_written() {
    for algorithm in Algorithm::all() {
        let snapshot = sample::settings(algorithm, 2, 2).build().expect("compatible").snapshot();
        assert!(through_json(&snapshot) == snapshot, "{algorithm}");
    }
}

fn through_json(snapshot: &Snapshot) -> Snapshot {
    let json = serde_json::to_string(snapshot).expect("plain data");
    serde_json::from_str(&json).expect("what was just written")
}

fn live(policy: &mut dyn Policy, truth: &Parameters, rounds: usize) {
    let mut rng = Rng::new(9, policy.rounds());
    for _ in 0..rounds {
        let values = sample::context(policy.shape().dimension(), &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let reward = conformance::learnable(policy.algorithm(), reward);
        let _ = policy.observe(context, &decision, reward).expect("an ordinary outcome");
    }
}

/// A policy with a flaw, to see that the laws find it.
#[derive(Debug)]
struct Flawed {
    sound: Box<dyn Policy>,
    flaw: Flaw,
    asked: AtomicUsize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    /// Every other question is answered with arm 0.
    Moody,
    /// Reports a propensity that is too large.
    Boastful,
    /// Decides blocks in the wrong order.
    Backwards,
    /// Learns an outcome and then says that it could not.
    Greedy,
}

impl Policy for Flawed {
    fn algorithm(&self) -> Algorithm {
        self.sound.algorithm()
    }

    fn shape(&self) -> Shape {
        self.sound.shape()
    }

    fn rounds(&self) -> u64 {
        self.sound.rounds()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let mut decision = self.sound.decide(context, rng)?;
        match self.flaw {
            Flaw::Moody if self.asked.fetch_add(1, Ordering::Relaxed) % 2 == 1 => decision.arm = Arm::new(0),
            Flaw::Boastful => decision.propensity = decision.propensity.sqrt(),
            _ => {}
        }
        Ok(decision)
    }

    fn decide_many(&self, rows: Contexts<'_>, rng: &mut Rng, room: &mut [Decision]) -> Result<(), DecideError> {
        self.sound.decide_many(rows, rng, room)?;
        if self.flaw == Flaw::Backwards {
            room.reverse();
        }
        Ok(())
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        if self.flaw == Flaw::Greedy && !reward.is_finite() {
            let _ = self.sound.observe(context, decision, 0.0)?;
        }
        self.sound.observe(context, decision, reward)
    }

    fn snapshot(&self) -> Snapshot {
        self.sound.snapshot()
    }
}

/// Whether a law finds a flaw.
fn finds(law: fn(&conformance::Build<'_>), flaw: Flaw) -> bool {
    let build = || -> Box<dyn Policy> {
        let sound = sample::settings(Algorithm::Thompson, 3, 2).build().expect("compatible");
        Box::new(Flawed { sound, flaw, asked: AtomicUsize::new(0) })
    };
    catch_unwind(AssertUnwindSafe(|| law(&build))).is_err()
}

#[test]
fn the_laws_find_flaws() {
    assert!(finds(conformance::deciding_is_pure, Flaw::Moody));
    assert!(finds(conformance::propensities_are_frequencies, Flaw::Boastful));
    assert!(finds(conformance::blocks_are_decided_row_by_row, Flaw::Backwards));
    assert!(finds(conformance::errors_change_nothing, Flaw::Greedy));
    assert!(!finds(conformance::same_seed_same_run, Flaw::Boastful), "a flaw is found by its own law");
}

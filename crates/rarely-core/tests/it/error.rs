//! Bad input is an error that names the value and the limit or the remedy. The state stays as it was, nothing panics and nothing
//! becomes NaN.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rarely_core::conformance::learnable;
use rarely_core::{
    Algorithm, Arm, Context, ContextError, Contexts, DecideError, Decision, Growth, MergeError, MinimumGain,
    ObserveError, Parameters, Policy, Rng, Sets, Settings, SettingsError, Shape, Share, Solver, Statistics,
};
use rarely_error::Explain;

use crate::sample;

/// Checks that an operation failed, and that message and remedy contain all of `words`.
#[track_caller]
fn says<T, E: Explain>(result: Result<T, E>, words: &[&str]) -> E {
    let Err(error) = result else { panic!("bad input was accepted; the message should have said {words:?}") };
    let remedy = error.remedy().map(|remedy| remedy.to_string()).unwrap_or_default();
    let message = format!("{error}\n{remedy}");
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
    error
}

fn usual() -> Settings {
    sample::settings(Algorithm::Rarely, 2, 2)
}

#[test]
fn shapes() {
    for arms in [0, 1, 257, usize::MAX] {
        let error = says(Settings::new(arms, 2), &[&arms.to_string(), "from 2 to 256"]);
        assert_eq!(error, SettingsError::Arms { arms });
        says(Shape::new(arms, 2), &[&arms.to_string()]);
    }
    for dimension in [0, 4097, usize::MAX] {
        let error = says(Settings::new(2, dimension), &[&dimension.to_string(), "from 1 to 4096"]);
        assert_eq!(error, SettingsError::Dimension { dimension });
    }
    for rounds in [0, u64::MAX] {
        says(Settings::published(2, 2, rounds), &["penalty", "1e-9 to 1e9"]);
    }
}

/// Values that no number may take, beside those of its own range.
const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn numbers_outside_their_range() {
    type Make = fn(f64) -> Result<(), SettingsError>;
    let numbers: [(&str, &str, Make, &[f64]); 8] = [
        ("penalty", "1e-9 to 1e9", |x| usual().penalty(x).map(drop), &[0.0, -1.0, 1e150, 1e-150, 1e-300, 9e-10, 1.1e9]),
        ("noise", "1e-12 to 1e12", |x| usual().noise(x).map(drop), &[0.0, -1.0, 1e150, 1e-150, 1e-300]),
        ("norm bound", "0 to 1e12", |x| usual().norm_bound(x).map(drop), &[-1e-300, -1.0, 1e150]),
        (
            "error probability",
            "strictly between 0 and 1",
            |x| usual().error_probability(x).map(drop),
            &[0.0, 1.0, -0.1, 1.5, 1e150],
        ),
        ("equipoise", "0 to 1", |x| usual().explore(1, x).map(drop), &[-0.1, 1.1, 1e150]),
        ("share", "0 to 1", |x| Share::new(x).map(drop), &[-1e-300, 1.0 + f64::EPSILON]),
        ("growth", "1e-12 to 1000000", |x| Growth::new(x).map(drop), &[0.0, -0.3, 1e150, 1e-150]),
        ("minimum gain", "0 to 1e12", |x| MinimumGain::new(x).map(drop), &[-1e-300, 1e150]),
    ];
    for (name, limit, make, bad) in numbers {
        for &value in NOT_FINITE.iter().chain(bad) {
            let plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
            let written = if plain { value.to_string() } else { format!("{value:e}") };
            let error = says(make(value), &[name, &written, limit]);
            let SettingsError::OutOfRange { value: found, .. } = error else { panic!("{error:?}") };
            assert_eq!(found.to_bits(), value.to_bits());
        }
    }
}

#[test]
fn parameters() {
    let with = |value: f64| vec![0.0, 1e-300, value, 1.0];
    for value in NOT_FINITE.into_iter().chain([1e150, -1e150, 1.1e12]) {
        let check = |result: Result<(), SettingsError>, name: &'static str, index: usize| {
            let error = says(result, &[name, &format!("[{index}]"), &format!("{value:e}"), "1e12"]);
            assert!(matches!(error, SettingsError::Parameter { index: found, .. } if found == index), "{error:?}");
        };
        check(usual().deployed(with(value)).map(drop), "deployed policy", 2);
        check(usual().prior_mean(with(value)).map(drop), "prior mean", 2);
        check(usual().constant_prior_mean(value).map(drop), "prior mean", 0);
        check(usual().baseline(Arm::new(0), &[1.0, value]).map(drop), "baseline mean", 1);
        check(Parameters::new(usual().shape(), with(value)).map(drop), "parameters", 2);
    }
    for length in [0, 3, 5] {
        let error = says(usual().deployed(vec![0.0; length]), &["deployed policy", &length.to_string(), "4"]);
        assert_eq!(error, SettingsError::Length { name: "deployed policy", expected: 4, found: length });
        says(usual().prior_mean(vec![0.0; length]), &["prior mean", &length.to_string(), "4"]);
        says(usual().baseline(Arm::new(0), &vec![0.0; length]), &["baseline mean", &length.to_string(), "2"]);
    }
    for arm in [2, usize::MAX] {
        let error = says(usual().baseline(Arm::new(arm), &[0.0; 2]), &["arms 0 to 1"]);
        assert!(matches!(error, SettingsError::UnknownArm { arms: 2, .. }));
    }
}

#[test]
fn contexts() {
    for value in NOT_FINITE.into_iter().chain([1e150, -1e150, 1.1e9]) {
        let words = ["variable 1", &format!("{value:e}"), "1e9"];
        assert!(matches!(says(Context::new(&[1.0, value]), &words), ContextError::Entry { index: 1, .. }));
        says(Contexts::new(&[1.0, value, 1.0, 1.0], 2), &words);
    }
    for value in [0.0, 1e-150, 1e-300, f64::MIN_POSITIVE / 4.0, 1e9, -1e9] {
        assert!(Context::new(&[value]).is_ok(), "{value:e} is finite and small enough");
    }
    assert_eq!(says(Context::new(&[]), &["no context"]), ContextError::Empty);
    assert_eq!(
        says(Contexts::new(&[1.0; 5], 2), &["5", "whole number", "2"]),
        ContextError::RaggedBlock { found: 5, dimension: 2 }
    );
    says(Contexts::new(&[1.0; 5], 0), &["5", "whole number", "0"]);
    assert!(Contexts::new(&[], 2).is_ok_and(Contexts::is_empty));

    let wide = ContextError::DimensionMismatch { expected: 2, found: 3 };
    let three = Contexts::new(&[1.0; 3], 3).expect("one row");
    let error = says(usual().population(three), &["population", "3 variables", "policy has 2"]);
    assert_eq!(error, SettingsError::Population(wide));
    let nobody = Contexts::new(&[], 2).expect("empty");
    assert_eq!(says(usual().population(nobody), &["population"]), SettingsError::Population(ContextError::Empty));
}

/// Every algorithm, with a bad outcome of every kind: the error, and the state as it was.
#[test]
fn outcomes() {
    for algorithm in Algorithm::all() {
        let mut policy = sample::settings(algorithm, 2, 2).build().expect("compatible");
        let mut rng = Rng::new(21, 0);
        let fitting = Context::new(&[1.0, 0.5]).expect("finite");
        let wide = Context::new(&[1.0; 3]).expect("finite");
        let known = Decision::recorded(Arm::new(1));
        let _ = policy.observe(fitting, &known, 0.3).expect("ordinary");
        let before = policy.snapshot();

        let mismatch = ContextError::DimensionMismatch { expected: 2, found: 3 };
        let words = ["3 variables", "policy has 2"];
        assert_eq!(says(policy.decide(wide, &mut rng), &words), DecideError::Context(mismatch.clone()));
        assert_eq!(says(policy.observe(wide, &known, 1.0), &words), ObserveError::Context(mismatch));
        for (arm, index) in [(Arm::new(2), 2), (Arm::new(usize::MAX), u32::MAX as usize)] {
            let error = says(policy.observe(fitting, &Decision::recorded(arm), 1.0), &["does not exist", "0 to 1"]);
            assert_eq!(error, ObserveError::UnknownArm { arm: index, arms: 2 });
        }
        for reward in NOT_FINITE.into_iter().chain([1e150, -1e150, 1.1e12]) {
            let error = says(policy.observe(fitting, &known, reward), &[&format!("{reward:e}"), "1e12"]);
            assert!(matches!(error, ObserveError::Reward { reward: found } if found.to_bits() == reward.to_bits()));
        }
        let huge = Context::new(&[1e9, 1e9]).expect("allowed");
        if policy.learner().is_some() {
            let error = says(policy.observe(huge, &known, 1.0), &["arm 1", "10²⁰", "10¹²", "raise the penalty"]);
            assert!(matches!(error, ObserveError::IllConditioned { arm: 1, .. }));
        }
        assert_eq!(policy.snapshot(), before, "{algorithm}: an error changed the state");
        for (values, reward) in [([1e-150, 1e-300], 1e-300), ([0.0, -0.0], -1e12), ([1e-300, 1e4], 1e12)] {
            let (context, reward) = (Context::new(&values).expect("allowed"), learnable(algorithm, reward));
            let _ = policy.observe(context, &known, reward).expect("allowed");
        }
        assert_eq!(policy.rounds(), 4);
        if algorithm.is_logistic() {
            let before = policy.snapshot();
            let error = says(policy.observe(fitting, &known, 1.5), &["1.5", algorithm.name(), "0 to 1"]);
            assert_eq!(error, ObserveError::NoShare { reward: 1.5, algorithm: algorithm.name() });
            assert_eq!(policy.snapshot(), before);
        }
    }
}

#[test]
fn batches() {
    for algorithm in Algorithm::all() {
        let mut policy = sample::settings(algorithm, 2, 2).build().expect("compatible");
        let values = [1.0, 0.5, 1.0, 0.2, 1.0, 0.9];
        let block = Contexts::new(&values, 2).expect("whole rows");
        let known = [Decision::recorded(Arm::new(1)); 3];
        let before = policy.snapshot();

        let mut room = known;
        let error = says(policy.decide_many(block, &mut Rng::new(1, 0), &mut room[..2]), &["3 contexts", "2"]);
        assert_eq!(error, DecideError::Room { contexts: 3, room: 2 });
        let error =
            says(policy.observe_many(block, &known[..2], &[1.0; 3]), &["3 contexts", "2 decisions", "3 rewards"]);
        assert_eq!(error, ObserveError::BatchLength { contexts: 3, decisions: 2, rewards: 3 });
        says(policy.observe_many(block, &known, &[1.0; 4]), &["4 rewards"]);
        says(policy.observe_many(Contexts::new(&values, 3).expect("rows"), &known[..2], &[1.0; 2]), &["3 variables"]);
        let error = says(policy.observe_many(block, &known, &[1.0, 1.0, f64::NAN]), &["row 2", "NaN", "1e12"]);
        assert!(matches!(error, ObserveError::Row { row: 2, .. }));
        let unknown = [known[0], Decision::recorded(Arm::new(7)), known[2]];
        says(policy.observe_many(block, &unknown, &[1.0; 3]), &["row 1", "arm 7", "0 to 1"]);
        assert_eq!(policy.snapshot(), before, "{algorithm}: a bad batch changed the state");

        // Conditioning depends on the rows before: it is checked for the whole block first.
        let values = [1.0, 0.5, 1e9, 0.2];
        let result = policy.observe_many(Contexts::new(&values, 2).expect("rows"), &known[..2], &[1.0; 2]);
        if policy.learner().is_some() {
            says(result, &["row 1", "10¹²"]);
            assert_eq!(policy.snapshot(), before, "{algorithm}: a bad batch changed the state");
        }
    }
}

#[test]
fn settings_that_exclude_each_other() {
    let incompatible = |result: Result<Box<dyn Policy>, SettingsError>, words: &[&str]| {
        let Err(error) = result else { panic!("built; should have said {words:?}") };
        says::<(), _>(Err(error.clone()), words);
        assert!(matches!(error, SettingsError::Incompatible { .. }));
    };
    for algorithm in Algorithm::all().filter(|algorithm| !algorithm.is_switching()) {
        let settings = sample::settings(algorithm, 2, 2).explore(1, 0.1).expect("in range");
        incompatible(settings.build(), &["exploration", algorithm.name(), "leave it out"]);
    }
    let settings = Settings::new(2, 2).expect("a shape").algorithm(Algorithm::Clucb);
    let Err(error) = settings.build() else { panic!("built without a baseline") };
    assert!(matches!(error, SettingsError::Missing { .. }));
    says::<(), _>(Err(error), &["clucb needs a baseline", "name the baseline arm"]);
    for sets in [Sets::PerArm, Sets::Sharp] {
        let settings = sample::settings(Algorithm::Clucb, 2, 2).sets(sets);
        incompatible(settings.build(), &[sets.name(), "clucb", "use joint sets"]);
    }
    let settings = sample::settings(Algorithm::RsConservative, 2, 2).tune(|tuning| tuning.solver = Solver::PAPER);
    incompatible(settings.sets(Sets::Sharp).build(), &["sharp", "projected gradient", "use joint sets"]);
    let error = says("round".parse::<Sets>(), &["round", "joint, per-arm or sharp"]);
    assert!(matches!(error, SettingsError::UnknownSets { .. }));
    let settings = Settings::published(2, 2, 1000).expect("in range").algorithm(Algorithm::Greedy).sets(Sets::PerArm);
    incompatible(settings.build(), &["per-arm", "published", "use joint sets"]);
    let error = says("linear".parse::<Algorithm>(), &["linear", "rarely", "rs-linucb", "fixed"]);
    assert!(matches!(error, SettingsError::UnknownAlgorithm { .. }));
}

/// A step of the projected gradient is a setting too: one that cannot be used is refused, or does no harm.
#[test]
fn steps_of_the_projected_gradient() {
    for step in NOT_FINITE.into_iter().chain([1e150, 1e300, -1.0, 0.0, 1e-300]) {
        for algorithm in [Algorithm::RsConservative, Algorithm::BoundaryConservative, Algorithm::Certified] {
            let settings = sample::settings(algorithm, 2, 2);
            let settings = settings.tune(|tuning| tuning.solver = Solver::ProjectedGradient { iterations: 100, step });
            let Ok(mut policy) = settings.explore(6, 0.1).expect("in range").build() else { continue };
            let mut rng = Rng::new(22, 0);
            let truth = sample::parameters(policy.shape(), &mut rng);
            for round in 0..300 {
                let values = sample::context(2, &mut rng);
                let context = Context::new(&values).expect("finite");
                let decision = policy.decide(context, &mut rng).expect("fits");
                let reward = sample::dot(&values, truth.arm(decision.arm.index()));
                let _ = policy.observe(context, &decision, reward).expect("ordinary");
                let deployed = policy.deployed().expect("holds a policy").values();
                let finite = deployed.iter().all(|value| value.is_finite());
                assert!(finite, "{algorithm}, step {step:e}, round {round}: the policy in force is {deployed:?}");
            }
        }
    }
}

#[test]
fn statistics_that_do_not_add() {
    let shape = Shape::new(2, 2).expect("a shape");
    let new = |penalty, shape| Statistics::new(penalty, &Parameters::zeros(shape));
    let mut statistics = new(0.5, shape);
    let other = Shape::new(3, 1).expect("a shape");
    let error = says(statistics.merge(&new(0.5, other)), &["2 arms", "3 × 1"]);
    assert_eq!(error, MergeError::Shape { arms: 2, dimension: 2, other_arms: 3, other_dimension: 1 });
    assert_eq!(says(statistics.merge(&new(0.6, shape)), &["penalties"]), MergeError::Prior);
    let prior = Parameters::new(shape, vec![0.0, 0.0, 0.0, 1e-9]).expect("small");
    assert_eq!(says(statistics.merge(&Statistics::new(0.5, &prior)), &["prior means"]), MergeError::Prior);
    let mut full = new(0.5, shape);
    full.observe(Context::new(&[6e5, 0.0]).expect("allowed"), Arm::new(1), 1.0).expect("7.2e11 is below the limit");
    let before = full.clone();
    let error = says(full.clone().merge(&before), &["arm 1", "1.44×10¹²", "10¹²"]);
    assert!(matches!(error, MergeError::IllConditioned { arm: 1, .. }));
    assert_eq!(statistics, new(0.5, shape), "nothing was added");
    assert_eq!(says(full.merge(&before), &[]), error);
    assert_eq!(full, before, "nothing was added");
}

/// What takes plain slices or parameters answers about the right shape, or panics; it does not answer about part of it.
#[test]
fn slices_of_another_length_get_no_answer() {
    let shape = Shape::new(2, 3).expect("a shape");
    let (_, statistics) = sample::learned(shape, 0.5, 20, &mut Rng::new(23, 0));
    let set = sample::confidence(0.5, Sets::Joint).set(&statistics);
    let narrow = Parameters::zeros(Shape::new(2, 2).expect("a shape"));
    let more_arms = Parameters::zeros(Shape::new(3, 3).expect("a shape"));
    let questions: [(&str, &dyn Fn() -> f64); 8] = [
        ("arm_interval", &|| set.arm_interval(&[1.0, 2.0], 0).estimate),
        ("difference_interval", &|| set.difference_interval(&[1.0, 2.0], 0, 1).estimate),
        ("functional_interval", &|| set.functional_interval(&narrow).estimate),
        ("contains", &|| f64::from(set.contains(&more_arms))),
        ("distance_squared", &|| set.distance_squared(&more_arms)),
        ("nearest", &|| set.nearest(&narrow).values()[0]),
        ("predict", &|| statistics.arm(0).predict(&[1.0, 2.0])),
        ("width_squared", &|| statistics.arm(0).width_squared(&[1.0, 2.0])),
    ];
    let answered = questions.iter().filter(|(_, ask)| catch_unwind(AssertUnwindSafe(ask)).is_ok());
    let answered: Vec<&str> = answered.map(|(name, _)| *name).collect();
    assert!(answered.is_empty(), "answered about part of the problem: {answered:?}");
}

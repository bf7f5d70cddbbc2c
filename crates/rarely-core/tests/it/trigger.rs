//! Triggers carry distances and witnesses from round to round. Here every round is judged anew, from statistics rebuilt from
//! the log.

use rarely_core::{
    Algorithm, Arm, ConfidenceSet, Context, Contexts, Parameters, Rng, Rule, Sets, Settings, Statistics,
};

use crate::sample;

const ROUNDS: usize = 400;

/// Whether the trigger of an algorithm fires for a policy, by its definition.
fn fires(algorithm: Algorithm, set: &ConfidenceSet<'_>, policy: &Parameters, round: usize) -> bool {
    match algorithm {
        Algorithm::Scheduled => round.isqrt().pow(2) == round,
        Algorithm::FeasibleGreedy | Algorithm::FeasibleConservative => !set.contains(policy),
        Algorithm::RsGreedy | Algorithm::RsConservative => {
            !set.contains(policy) && set.conservative(policy).cosine < 1.0 - 0.01
        }
        _ => set.boundaries(policy).iter().any(|boundary| !boundary.plausible),
    }
}

/// A policy changes only when its trigger fires. When it fires and nothing changes, the policy decides on the contexts seen as
/// plausible parameters do: where boundaries are what is tested, it plays no excluded arm on them.
#[test]
fn policies_change_when_their_triggers_say_so_and_not_otherwise() {
    let algorithms = [
        Algorithm::Scheduled,
        Algorithm::FeasibleGreedy,
        Algorithm::FeasibleConservative,
        Algorithm::RsGreedy,
        Algorithm::RsConservative,
        Algorithm::BoundaryGreedy,
        Algorithm::BoundaryConservative,
    ];
    let (mut switched, mut stood_in) = (0, 0);
    for (seed, algorithm) in (0..6).flat_map(|seed| algorithms.map(|algorithm| (seed, algorithm))) {
        let mut rng = Rng::new(40, seed);
        let (arms, dimension) = [(2, 2), (3, 2), (2, 4)][usize::try_from(seed % 3).expect("small")];
        let settings = Settings::new(arms, dimension).and_then(|settings| settings.noise(0.1)?.norm_bound(3.0));
        let settings = settings.and_then(|settings| settings.explore(2, 0.1)).expect("in range");
        let start = sample::block(arms, dimension, &mut rng);
        let settings = settings.deployed(start).expect("fits").algorithm(algorithm).sets(Sets::Joint);
        let mut policy = settings.build().expect("compatible");
        let truth = sample::parameters(policy.shape(), &mut rng);
        let (mut log, mut seen) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            let values = sample::context(dimension, &mut rng);
            let context = Context::new(&values).expect("finite");
            let decision = policy.decide(context, &mut rng).expect("fits");
            let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
            let before = policy.deployed().expect("a rule").clone();
            let change = policy.observe(context, &decision, reward).expect("an ordinary outcome");
            seen.extend_from_slice(&values);
            log.push((values, decision.arm, reward));

            let statistics = rebuilt(&log, policy.shape());
            let set = policy.learner().expect("it learns").confidence().set(&statistics);
            let fires = fires(algorithm, &set, &before, round);
            if change.evidence().is_some() {
                assert!(fires, "{algorithm}, seed {seed}, round {round}: changed for nothing");
                switched += 1;
            } else if fires {
                stood_in += 1;
                let people = Contexts::new(&seen, dimension).expect("whole rows");
                let excluded = set.excluded_share(&Rule::new(before), people).expect("fits");
                let tests_boundaries = matches!(algorithm, Algorithm::BoundaryGreedy | Algorithm::BoundaryConservative);
                assert!(!tests_boundaries || excluded == 0.0, "{algorithm}, seed {seed}, round {round}: {excluded}");
            }
        }
    }
    assert!(switched > 60 && stood_in > 60, "{switched} {stood_in}");
}

fn rebuilt(log: &[(Vec<f64>, Arm, f64)], shape: rarely_core::Shape) -> Statistics {
    let mut statistics = Statistics::new(0.01, &Parameters::zeros(shape));
    for (context, arm, reward) in log {
        statistics.observe(Context::new(context).expect("finite"), *arm, *reward).expect("an ordinary outcome");
    }
    statistics.refresh();
    statistics
}

//! What every policy promises beyond the conformance laws: order, blocks, reconsidering, no allocation.

mod allocation;
mod optimistic;
mod rarely;
mod unknown_noise;

use proptest::prelude::*;
use rarely_core::{
    Algorithm, Arm, Certificates, Change, Context, Contexts, Decision, Parameters, Policy, Reason, Rng, Sets, Settings,
    Shape, Statistics,
};

use crate::sample::{self, ThreeArmLog, problem, same_statistics, three_arm_settings};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn while_a_policy_is_held_the_order_of_outcomes_does_not_matter(problem in problem()) {
        let mut rng = problem.rng();
        let truth = sample::parameters(problem.shape, &mut rng);
        let log = sample::outcomes(&truth, problem.count, &mut rng);
        let held = |log: &mut dyn Iterator<Item = &sample::Outcome>| {
            let (arms, dimension) = (problem.shape.arms(), problem.shape.dimension());
            // So much declared noise that nothing is ever implausible.
            let settings = sample::settings(Algorithm::BoundaryGreedy, arms, dimension).noise(1e6).expect("in range");
            let mut policy = settings.penalty(problem.penalty).expect("in range").build().expect("compatible");
            for sample::Outcome { context, arm, reward } in log {
                let context = Context::new(context).expect("finite");
                let change = policy.observe(context, &Decision::recorded(*arm), *reward).expect("ordinary");
                assert!(change.evidence().is_none(), "held");
            }
            policy
        };
        let (forwards, backwards) = (held(&mut log.iter()), held(&mut log.iter().rev()));
        let statistics = |policy: &dyn Policy| policy.learner().expect("learns").statistics().clone();
        same_statistics(&statistics(&*backwards), &statistics(&*forwards), 1e-12);
        prop_assert_eq!(forwards.deployed(), backwards.deployed());
    }
}

/// A rule that is looked at once, after the log, is judged as the live policy judges it after its last outcome.
#[test]
fn reconsidering_says_what_the_live_policy_would_say() {
    let switching = Algorithm::all()
        .filter(|algorithm| algorithm.is_switching() && !matches!(algorithm, Algorithm::Greedy | Algorithm::Scheduled))
        // These look on a schedule, and not in every round.
        .filter(|algorithm| !matches!(algorithm, Algorithm::Rarely | Algorithm::RarelyQuick));
    let mut changed = 0;
    for algorithm in switching {
        for seed in 0..8 {
            let log = ThreeArmLog::draw(400, 3, seed);
            let mut rng = Rng::new(seed, 1);
            let deployed: Vec<f64> = (0..9).map(|_| rng.normal()).collect();
            let population = Contexts::new(&log.contexts[..300], 3).unwrap();
            let build = |settings: Settings| {
                let settings = settings.algorithm(algorithm).deployed(deployed.clone()).unwrap();
                settings.population(population).unwrap().sets(Sets::Joint).build().unwrap()
            };
            let mut live = build(three_arm_settings(3));
            let mut rows = log.rows();
            let mut seen = Statistics::new(0.01, &Parameters::zeros(Shape::new(3, 3).unwrap()));
            let last = rows.by_ref().find_map(|(context, arm, reward)| {
                let context = Context::new(context).unwrap();
                let decision = Decision { arm, reason: Reason::Policy, propensity: 1.0 };
                seen.observe(context, arm, reward).unwrap();
                match live.observe(context, &decision, reward).unwrap() {
                    Change::Switched(evidence) => Some(evidence),
                    _ => None,
                }
            });
            let once = build(three_arm_settings(3).learned(seen)).reconsider();
            assert_eq!(last.is_some(), once.evidence().is_some(), "{algorithm} {seed}");
            if let (Some(live), Some(once)) = (last, once.evidence()) {
                changed += 1;
                let moved =
                    live.to.values().iter().zip(once.to.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(moved < 1e-6, "{algorithm} {seed}: {moved}");
                assert_eq!(live.round, once.round);
            }
        }
    }
    assert!(changed > 40, "{changed} changes");
}

/// A log that is learned block by block: contexts with an intercept, arms in turn, a reward for each.
fn log(rounds: usize, dimension: usize, scale: f64) -> (Vec<f64>, Vec<Decision>, Vec<f64>) {
    let mut rng = Rng::new(9, dimension as u64);
    let mut contexts = Vec::new();
    let (mut decisions, mut rewards) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        contexts.push(scale);
        contexts.extend((1..dimension).map(|_| scale * rng.normal()));
        let arm = rng.below(3);
        decisions.push(Decision::recorded(Arm::new(arm)));
        rewards.push(arm as f64 * contexts[contexts.len() - 1] + 0.1 * rng.normal());
    }
    (contexts, decisions, rewards)
}

#[test]
fn a_block_teaches_what_its_rows_teach() {
    // Scales at which single observations ask for fresh numbers, and at which none does.
    for (dimension, scale) in [(1, 1.0), (5, 0.3), (5, 1.0), (5, 30.0), (12, 1.0), (40, 0.2)] {
        let (contexts, decisions, rewards) = log(6_000, dimension, scale);
        let continuous = [Algorithm::LinUcb, Algorithm::Thompson, Algorithm::Greedy].map(|each| (each, Sets::Joint));
        // These look on a schedule; from 400 outcomes per parameter on, at numbers computed afresh.
        let looking = [Algorithm::Rarely, Algorithm::RarelyQuick, Algorithm::BoundaryGreedy];
        for (algorithm, sets) in continuous.into_iter().chain(looking.map(|each| (each, Sets::Sharp))) {
            let settings = || sample::settings(algorithm, 3, dimension).sets(sets);
            let (mut by_rows, mut by_blocks) = (settings().build().unwrap(), settings().build().unwrap());
            for (row, context) in contexts.chunks(dimension).enumerate() {
                let _ = by_rows.observe(Context::new(context).unwrap(), &decisions[row], rewards[row]).unwrap();
            }
            for (start, end) in [(0, 1), (1, 700), (700, 5_500), (5_500, 6_000)] {
                let block = Contexts::new(&contexts[start * dimension..end * dimension], dimension).unwrap();
                by_blocks.observe_many(block, &decisions[start..end], &rewards[start..end]).unwrap();
            }
            assert_eq!(by_rows.snapshot(), by_blocks.snapshot(), "{algorithm}, {dimension}, {scale}");
        }
    }
}

#[test]
fn a_log_learned_at_once_is_reconsidered_once() {
    let (contexts, decisions, rewards) = log(4_000, 3, 1.0);
    let block = Contexts::new(&contexts, 3).unwrap();
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.is_switching()) {
        let settings = || sample::settings(algorithm, 3, 3).sets(Sets::Joint).certificates(Certificates::Brief);
        let (mut in_turn, mut at_once) = (settings().build().unwrap(), settings().build().unwrap());
        in_turn.observe_many(block, &decisions, &rewards).unwrap();
        at_once.learn_many(block, &decisions, &rewards).unwrap();
        assert_eq!(at_once.changes(), 0, "{algorithm}: learning alone changes no rule");
        let (one, other) = (in_turn.learner().unwrap(), at_once.learner().unwrap());
        assert_eq!(one.statistics(), other.statistics(), "{algorithm}");
        if algorithm != Algorithm::Greedy {
            let _ = at_once.reconsider();
            assert!(at_once.changes() <= 1, "{algorithm}");
        }
        at_once.snapshot().restore().expect("sound");
    }
}

//! Off-policy values: their formulas, the checks of their weights, and how often their intervals miss.

use proptest::prelude::*;
use rarely_core::{
    Arm, CertainValue, Confirmed, Contexts, ErrorProbability, Estimator, EvaluateError, Folds, LogPropensities,
    Penalty, PolicyProbabilities, PropensityLog, RewardModel, Rng, RuleChoice, ScoreError, ScoreSettings, ScoredCase,
    Standard, Timing, ValueInterval, ValueTerms, WeightDiagnostics, WeightProblem,
};

use crate::coverage::{AT_MOST, DELTA, miss_rate};

const NO_SWITCH: f64 = f64::INFINITY;

/// A log of three arms with propensities that depend on the context, and outcomes 0 or 1 whose means are bent.
struct World {
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    propensities: Vec<f64>,
    /// The policy under evaluation, and the one it is compared with.
    policy: Vec<f64>,
    other: Vec<f64>,
}

const ARMS: usize = 3;
const LEAST: f64 = 0.15;

/// The chance of a reward: bumps, which no straight line fits.
fn mean(x: f64, arm: usize) -> f64 {
    [0.3 + 0.3 * (6.0 * x).sin(), 0.2 + 0.6 * f64::from(x > 0.4 && x < 0.6), 0.5 * (1.0 - x) * (1.0 - x)][arm]
}

/// The policy: arm 1 around the bump for certain, a draw elsewhere.
fn wanted(x: f64) -> [f64; ARMS] {
    if x > 0.4 && x < 0.6 { [0.0, 1.0, 0.0] } else { [0.7, 0.1, 0.2] }
}

const OTHER: [f64; ARMS] = [0.2, 0.2, 0.6];

impl World {
    fn draw(rng: &mut Rng, rows: usize) -> Self {
        let mut world = Self {
            contexts: Vec::new(),
            arms: Vec::new(),
            rewards: Vec::new(),
            propensities: Vec::new(),
            policy: Vec::new(),
            other: Vec::new(),
        };
        for _ in 0..rows {
            let x = rng.uniform();
            let first = LEAST + 0.4 * x;
            let p = [first, 0.3, 0.7 - first];
            let draw = rng.uniform();
            let arm = if draw < p[0] { 0 } else { usize::from(draw >= p[0] + p[1]) + 1 };
            world.contexts.push(x);
            world.arms.push(Arm::new(arm));
            world.rewards.push(f64::from(rng.uniform() < mean(x, arm)));
            world.propensities.extend(p);
            world.policy.extend(wanted(x));
            world.other.extend(OTHER);
        }
        world
    }

    fn log(&self) -> PropensityLog<'_> {
        PropensityLog::new(ARMS, &self.arms, &self.rewards, LogPropensities::Every(&self.propensities)).unwrap()
    }

    fn policy<'a>(&'a self, log: &PropensityLog<'_>) -> PolicyProbabilities<'a> {
        PolicyProbabilities::new(log, &self.policy).unwrap()
    }

    fn predictions(&self, folds: Folds, importance: Option<&[f64]>) -> Vec<f64> {
        let model = RewardModel::new(Penalty::new(0.01).unwrap(), folds, 0.5).unwrap();
        model.predictions(&self.log(), Some(Contexts::new(&self.contexts, 1).unwrap()), importance).unwrap()
    }

    /// The terms of the policy's value, or of its difference to the other.
    fn terms(&self, estimator: Estimator, folds: Folds, difference: bool) -> ValueTerms {
        let log = self.log();
        let (policy, other) = (self.policy(&log), PolicyProbabilities::new(&log, &self.other).unwrap());
        let against = difference.then_some(other);
        let importance = log.variance_weights(policy, against);
        let weights = (estimator == Estimator::MoreRobustDoublyRobust).then_some(importance.as_slice());
        let predictions = self.predictions(folds, weights);
        let clipped: Vec<f64> = predictions.iter().map(|q| q.clamp(0.0, 1.0)).collect();
        let terms = |policy| ValueTerms::new(estimator, &log, policy, Some(&clipped), 3.0).unwrap();
        if difference { terms(policy).minus(terms(other)) } else { terms(policy) }
    }

    fn certain(&self, terms: &ValueTerms, difference: bool) -> Confirmed {
        let log = self.log();
        let other = PolicyProbabilities::new(&log, &self.other).unwrap();
        let certain = CertainValue {
            log: &log,
            policy: self.policy(&log),
            against: difference.then_some(other),
            declared: ScoreSettings::new(ARMS, LEAST, 0.0, 1.0).unwrap(),
        };
        certain.interval(terms, ErrorProbability::new(DELTA).unwrap(), None).unwrap()
    }
}

/// The mean over contexts of what a policy earns, by the midpoint rule.
fn value_of(policy: impl Fn(f64) -> [f64; ARMS]) -> f64 {
    let steps = 100_000;
    let at = |step: u32| (f64::from(step) + 0.5) / f64::from(steps);
    let earned = |x: f64| (0..ARMS).map(|arm| policy(x)[arm] * mean(x, arm)).sum::<f64>();
    (0..steps).map(|step| earned(at(step))).sum::<f64>() / f64::from(steps)
}

const RANDOM: Folds = Folds::Random { count: 5, seed: 3 };
const FORWARD: Folds = Folds::Forward { count: 5 };

/// Every estimator by its definition, on the rows themselves.
#[test]
fn estimators_by_definition() {
    let world = World::draw(&mut Rng::new(5, 0), 400);
    let (log, rows) = (world.log(), 400);
    let predictions: Vec<f64> = (0..rows * ARMS).map(|at| (at as f64 * 0.37).sin()).collect();
    let weight = |row: usize| world.policy[row * ARMS + log.arm(row)] / world.propensities[row * ARMS + log.arm(row)];
    let base = |row: usize| (0..ARMS).map(|a| world.policy[row * ARMS + a] * predictions[row * ARMS + a]).sum::<f64>();
    let residual = |row: usize| world.rewards[row] - predictions[row * ARMS + log.arm(row)];
    let mean = |term: &dyn Fn(usize) -> f64| (0..rows).map(term).sum::<f64>() / rows as f64;
    let total = mean(&weight);
    let expected = [
        mean(&base),
        mean(&|row| weight(row) * world.rewards[row]),
        mean(&|row| weight(row) * world.rewards[row]) / total,
        mean(&|row| base(row) + weight(row) * residual(row)),
        mean(&base) + mean(&|row| weight(row) * residual(row)) / total,
        mean(&|row| base(row) + if weight(row) <= 1.5 { weight(row) * residual(row) } else { 0.0 }),
        mean(&|row| base(row) + weight(row) * residual(row)),
    ];
    for (estimator, expected) in Estimator::ALL.into_iter().zip(expected) {
        let terms = ValueTerms::new(estimator, &log, world.policy(&log), Some(&predictions), 1.5).unwrap();
        assert!((terms.estimate().unwrap() - expected).abs() < 1e-12, "{estimator}");
        assert!((terms.mean().mean() - expected).abs() < 1e-12, "the influences of {estimator} have its mean");
        assert_eq!(estimator.name().parse(), Ok(estimator));
    }
}

/// The difference of two doubly robust values is the model-free score of the change.
#[test]
fn differences_are_those_of_scores() {
    let world = World::draw(&mut Rng::new(6, 0), 200);
    let terms = world.terms(Estimator::DoublyRobust, RANDOM, true);
    let predictions = world.predictions(RANDOM, None);
    let settings = ScoreSettings::new(ARMS, LEAST, 0.0, 1.0).unwrap().random_rules();
    for (row, influence) in terms.influences().into_iter().enumerate() {
        let of = |values: &'_ [f64]| values[row * ARMS..][..ARMS].to_vec();
        let (propensities, predictions) = (of(&world.propensities), of(&predictions));
        let (before, after) = (of(&world.other), of(&world.policy));
        let score = settings.score(&ScoredCase {
            arm: world.arms[row],
            reward: world.rewards[row],
            propensities: &propensities,
            predictions: &predictions,
            before: RuleChoice::Random(&before),
            after: RuleChoice::Random(&after),
        });
        assert!((score.unwrap() - influence).abs() < 1e-12, "row {row}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Adding a constant to rewards and predictions adds it to every estimate but that of plain inverse propensities.
    #[test]
    fn values_move_with_the_rewards(seed in 0_u64..1000, shift in -5.0_f64..5.0) {
        let world = World::draw(&mut Rng::new(seed, 1), 120);
        let moved = World { rewards: world.rewards.iter().map(|y| y + shift).collect(), ..World::draw(&mut Rng::new(seed, 1), 120) };
        let predictions = world.predictions(RANDOM, None);
        let shifted: Vec<f64> = predictions.iter().map(|q| q + shift).collect();
        let estimate = |world: &World, estimator, predictions: &[f64]| {
            let log = world.log();
            ValueTerms::new(estimator, &log, world.policy(&log), Some(predictions), 2.0).unwrap().estimate().unwrap()
        };
        for estimator in Estimator::ALL.into_iter().filter(|estimator| *estimator != Estimator::InversePropensity) {
            let (before, after) = (estimate(&world, estimator, &predictions), estimate(&moved, estimator, &shifted));
            prop_assert!((after - before - shift).abs() < 1e-9, "{estimator}");
        }
        // The model's own predictions move with the rewards, too.
        let refitted = moved.predictions(RANDOM, None);
        prop_assert!(refitted.iter().zip(&shifted).all(|(new, old)| (new - old).abs() < 1e-9));
    }

    /// The log's own policy has weights of 1, so that every weighted value is the mean reward.
    #[test]
    fn the_logging_policy_is_worth_the_mean_reward(seed in 0_u64..1000) {
        let world = World::draw(&mut Rng::new(seed, 2), 100);
        let log = world.log();
        let policy = PolicyProbabilities::new(&log, &world.propensities).unwrap();
        let mean = world.rewards.iter().sum::<f64>() / 100.0;
        for estimator in [Estimator::InversePropensity, Estimator::SelfNormalised] {
            let terms = ValueTerms::new(estimator, &log, policy, None, NO_SWITCH).unwrap();
            prop_assert!((terms.estimate().unwrap() - mean).abs() < 1e-12);
        }
        let weights = WeightDiagnostics::new(&log, policy);
        prop_assert!((weights.effective_rows - 100.0).abs() < 1e-9 && (weights.largest_weight - 1.0).abs() < 1e-12);
    }
}

/// A row is never predicted from itself, and forward from nothing later.
#[test]
fn predictions_come_from_other_rows() {
    let world = World::draw(&mut Rng::new(8, 0), 100);
    for folds in [RANDOM, FORWARD] {
        let before = world.predictions(folds, None);
        for row in [0, 37, 99] {
            let mut changed = World::draw(&mut Rng::new(8, 0), 100);
            changed.rewards[row] += 100.0;
            let after = changed.predictions(folds, None);
            let moved = |other: usize| before[other * ARMS..][..ARMS] != after[other * ARMS..][..ARMS];
            assert!(!moved(row), "row {row} is predicted from itself");
            let reached: Vec<usize> = (0..100).filter(|&other| moved(other)).collect();
            if folds == FORWARD {
                assert!(reached.iter().all(|&other| other / 20 > row / 20), "row {row} reaches {reached:?}");
            } else {
                assert_eq!(reached.len(), 80, "the other four folds");
            }
        }
    }
    let start = world.predictions(FORWARD, None);
    assert!(start[..20 * ARMS].iter().all(|&prediction| prediction == 0.5), "before any row there is only the start");
}

/// A weighted fit counts a row of weight 2 as two rows.
#[test]
fn importance_counts_rows() {
    let twice = |rows: &[f64]| rows.iter().flat_map(|&x| [x, x]).collect::<Vec<f64>>();
    let (contexts, rewards) = ([0.1, 0.4, 0.8, 0.9], [1.0, 0.0, 2.0, 5.0]);
    let arms = vec![Arm::new(0); 4];
    let one = PropensityLog::new(2, &arms, &rewards, LogPropensities::Given(&[0.5; 4])).unwrap();
    let model = RewardModel::new(Penalty::new(0.01).unwrap(), Folds::Forward { count: 2 }, 0.0).unwrap();
    let weighted = model.predictions(&one, Some(Contexts::new(&contexts, 1).unwrap()), Some(&[2.0; 4])).unwrap();
    let (contexts, rewards, arms) = (twice(&contexts), twice(&rewards), vec![Arm::new(0); 8]);
    let two = PropensityLog::new(2, &arms, &rewards, LogPropensities::Given(&[0.5; 8])).unwrap();
    let doubled = model.predictions(&two, Some(Contexts::new(&contexts, 1).unwrap()), None).unwrap();
    assert!((weighted[4] - doubled[8]).abs() < 1e-12 && weighted[4] != weighted[0]);
}

#[test]
fn weights_that_cannot_be_trusted() {
    let arms: Vec<Arm> = (0..60).map(|row| Arm::new(row % 2)).collect();
    let rewards = vec![1.0; 60];
    let problems = |propensities: LogPropensities<'_>, policy: [f64; 2]| {
        let log = PropensityLog::new(2, &arms, &rewards, propensities).unwrap();
        let values = policy.repeat(60);
        WeightDiagnostics::new(&log, PolicyProbabilities::new(&log, &values).unwrap()).problems()
    };
    assert_eq!(problems(LogPropensities::Given(&[1.0; 60]), [0.0, 1.0]), [WeightProblem::Deterministic]);
    assert!(problems(LogPropensities::Given(&[0.5; 60]), [0.5, 0.5]).is_empty());
    // 1/0.9 on average over half of the rows, instead of 1.
    let wrong = problems(LogPropensities::Given(&[0.9; 60]), [0.0, 1.0]);
    assert!(matches!(wrong[0], WeightProblem::DoesNotFit { .. }), "{wrong:?}");
    let mut possible = [0.5; 60];
    possible[1] = 1.0;
    let out_of_reach = problems(LogPropensities::Given(&possible), [1.0, 0.0]);
    assert_eq!(out_of_reach[0], WeightProblem::OutOfReach { out_of_reach: 1, rows: 60 });
    // 30 rows of weight 2, and a single one that weighs more than they do.
    let mut uneven = [0.5; 60];
    uneven[1] = 0.01;
    let few = problems(LogPropensities::Given(&uneven), [0.0, 1.0]);
    assert!(few.iter().any(|problem| matches!(problem, WeightProblem::FewEffectiveRows { .. })), "{few:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_row() {
    let (arms, rewards) = ([0, 1, 2].map(Arm::new), [0.0, 1.0, 0.5]);
    let given = |p: [f64; 3]| PropensityLog::new(3, &arms, &rewards, LogPropensities::Given(&p)).err();
    assert_eq!(given([0.5, 0.0, 0.5]), Some(EvaluateError::Propensity { row: 1, propensity: 0.0 }));
    assert!(given([0.5, 0.5, 1.0]).is_none());
    let two = PropensityLog::new(2, &arms, &rewards, LogPropensities::Given(&[0.5; 3])).err();
    assert_eq!(two.unwrap().to_string(), "row 2: arm 2 does not exist; there are arms 0 to 1");
    let log = PropensityLog::new(3, &arms, &rewards, LogPropensities::Given(&[0.5; 3])).unwrap();
    let wrong = PolicyProbabilities::new(&log, &[1.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0]).unwrap_err();
    assert!(matches!(wrong, EvaluateError::Row { row: 1, source: ScoreError::Probabilities { .. } }), "{wrong}");
    let values = [0.0, 0.0, 1.0].repeat(3);
    let policy = PolicyProbabilities::new(&log, &values).unwrap();
    let none = ValueTerms::new(Estimator::DoublyRobust, &log, policy, None, NO_SWITCH).unwrap_err();
    assert_eq!(none, EvaluateError::NoPredictions { estimator: "dr" });
    let terms = ValueTerms::new(Estimator::InversePropensity, &log, policy, None, NO_SWITCH).unwrap();
    let declared = ScoreSettings::new(3, 0.1, 0.0, 1.0).unwrap();
    let certain = CertainValue { log: &log, policy, against: None, declared };
    let delta = ErrorProbability::new(0.05).unwrap();
    assert_eq!(certain.interval(&terms, delta, None).unwrap_err(), EvaluateError::EveryPropensity);
    let every = [0.9, 0.05, 0.05].repeat(3);
    let log = PropensityLog::new(3, &arms, &rewards, LogPropensities::Every(&every)).unwrap();
    let certain = CertainValue { log: &log, ..certain };
    let improbable = certain.interval(&terms, delta, None).unwrap_err();
    assert!(matches!(improbable, EvaluateError::Row { row: 0, source: ScoreError::Overlap { arm: 2, .. } }));
    let narrow = CertainValue { declared: ScoreSettings::new(3, 0.05, 0.0, 0.7).unwrap(), ..certain };
    let outside = narrow.interval(&terms, delta, None).unwrap_err();
    assert!(matches!(outside, EvaluateError::Row { row: 1, source: ScoreError::OutcomeRange { .. } }));
}

#[test]
fn what_intervals_rest_on() {
    let world = World::draw(&mut Rng::new(4, 0), 300);
    let delta = ErrorProbability::new(DELTA).unwrap();
    let terms = world.terms(Estimator::DoublyRobust, FORWARD, false);
    let t = ValueInterval::StudentT.of(&terms, delta).unwrap();
    assert_eq!((t.standard, t.timing, t.degrees), (Standard::Approximate, Timing::Planned, Some(299.0)));
    let bootstrap = ValueInterval::Bootstrap { resamples: 2000, seed: 1 };
    let drawn = bootstrap.of(&terms, delta).unwrap();
    assert_eq!(drawn, bootstrap.of(&terms, delta).unwrap(), "the same seed, the same interval");
    // The percentiles of 2,000 resamples have a standard error of about 1/20 of the half-width.
    let half = |found: &Confirmed| 0.5 * (found.interval.upper - found.interval.lower);
    assert!((half(&drawn) / half(&t) - 1.0).abs() < 0.15, "{drawn} and {t}");
    let anytime = ValueInterval::Asymptotic { expected_rows: 300 }.of(&terms, delta).unwrap();
    assert!(half(&anytime) > half(&t) && anytime.timing == Timing::Anytime);
    let certain = world.certain(&terms, false);
    assert!(half(&certain) > half(&t) && certain.standard == Standard::Certain);
    let direct = world.terms(Estimator::Direct, RANDOM, false);
    assert!(Estimator::Direct.rests_on().contains("model is right"));
    let log = world.log();
    let declared = ScoreSettings::new(ARMS, LEAST, 0.0, 1.0).unwrap();
    let refused = CertainValue { log: &log, policy: world.policy(&log), against: None, declared };
    let refused = refused.interval(&direct, delta, None).unwrap_err();
    assert!(matches!(refused, EvaluateError::NotCertain { estimator: "dm", .. }));
}

/// Misses of values and of differences, on a truth that no straight line fits. Those of the direct method, whose model is wrong, are many.
#[test]
fn coverage_on_a_bent_truth() {
    let delta = ErrorProbability::new(DELTA).unwrap();
    let truths = [value_of(wanted), value_of(wanted) - value_of(|_| OTHER)];
    for (difference, truth) in [false, true].into_iter().zip(truths) {
        for estimator in Estimator::ALL {
            let name = format!("{estimator}, difference: {difference}, t");
            let missed = miss_rate(&name, 21, |rng| {
                let terms = World::draw(rng, 300).terms(estimator, RANDOM, difference);
                !ValueInterval::StudentT.of(&terms, delta).unwrap().interval.contains(truth)
            });
            if estimator == Estimator::Direct {
                assert!(missed > 0.25, "{name}: a wrong model is not noticed");
            } else if estimator != Estimator::SwitchDoublyRobust {
                assert!(missed <= AT_MOST, "{name}: {missed}");
            }
        }
    }
}

#[test]
fn coverage_of_the_other_intervals() {
    let delta = ErrorProbability::new(DELTA).unwrap();
    let truth = value_of(wanted);
    let missed = miss_rate("snips, bootstrap", 22, |rng| {
        let terms = World::draw(rng, 200).terms(Estimator::SelfNormalised, RANDOM, false);
        !ValueInterval::Bootstrap { resamples: 300, seed: 1 }.of(&terms, delta).unwrap().interval.contains(truth)
    });
    // Percentiles of 300 resamples: half a percent at each end, besides the usual.
    assert!(missed <= AT_MOST + 0.01, "{missed}");
    for (estimator, difference) in [
        (Estimator::InversePropensity, false),
        (Estimator::DoublyRobust, false),
        (Estimator::InversePropensity, true),
        (Estimator::DoublyRobust, true),
        (Estimator::MoreRobustDoublyRobust, true),
    ] {
        let truth = if difference { truth - value_of(|_| OTHER) } else { truth };
        let missed = miss_rate(&format!("{estimator}, difference: {difference}, empirical Bernstein"), 23, |rng| {
            let world = World::draw(rng, 300);
            !world.certain(&world.terms(estimator, FORWARD, difference), difference).interval.contains(truth)
        });
        assert!(missed <= DELTA, "{estimator}: {missed}");
    }
    // Looked at after every 20th row from the 100th on.
    let missed = miss_rate("dr, asymptotic sequence at every look", 24, |rng| {
        let world = World::draw(rng, 300);
        let influences = world.terms(Estimator::DoublyRobust, FORWARD, false).influences();
        let mut sequence = rarely_core::AsymptoticSequence::new(DELTA, 200);
        influences.into_iter().enumerate().any(|(row, influence)| {
            sequence.update(influence);
            row >= 99 && row % 20 == 19 && !sequence.interval().contains(truth)
        })
    });
    assert!(missed <= AT_MOST, "{missed}");
}

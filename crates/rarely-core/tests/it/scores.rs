//! Model-free scores: unbiased whatever the truth, within their bound, refused without propensities, and how often they miss.

use proptest::prelude::*;
use rarely_core::{
    Arm, ConfirmError, ErrorBudget, ErrorProbability, Look, Method, Rng, RuleChoice, RunningMean, ScoreError,
    ScoreSettings, ScoredCase, Scores, Standard, Timing,
};

use crate::coverage::{AT_MOST, DELTA, miss_rate};

fn budget() -> ErrorBudget {
    ErrorBudget::new(ErrorProbability::new(DELTA).unwrap())
}

fn probabilities(arms: usize, least: f64, rng: &mut Rng) -> Vec<f64> {
    let draws: Vec<f64> = (0..arms).map(|_| rng.uniform()).collect();
    let sum: f64 = draws.iter().sum();
    draws.iter().map(|draw| least + (1.0 - arms as f64 * least) * draw / sum).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Weighted by the propensities of the arms that could have been given, the score is the change in mean outcome, whatever was predicted;
    /// and it never exceeds its bound.
    #[test]
    fn scores_are_unbiased_and_bounded(seed in any::<u64>(), arms in 2_usize..5, random in any::<bool>(), extreme in any::<bool>()) {
        let mut rng = Rng::new(seed, 0);
        let (low, high) = (-1.0, 3.0);
        let settings = ScoreSettings::new(arms, 0.1, low, high).unwrap();
        let settings = if random { settings.random_rules() } else { settings };
        let propensities = probabilities(arms, 0.1, &mut rng);
        let rules = [probabilities(arms, 0.0, &mut rng), probabilities(arms, 0.0, &mut rng)];
        let chosen = [rng.below(arms), rng.below(arms)];
        let choice = |at: usize| if random { RuleChoice::Random(&rules[at]) } else { RuleChoice::Arm(Arm::new(chosen[at])) };
        let probability = |at: usize, arm: usize| if random { rules[at][arm] } else { f64::from(u8::from(chosen[at] == arm)) };
        let mut draw = || if extreme { [low, high][rng.below(2)] } else { low + (high - low) * rng.uniform() };
        let outcomes: Vec<f64> = (0..arms).map(|_| draw()).collect();
        // Predictions may leave the range: they are clipped.
        let predictions: Vec<f64> = (0..arms).map(|_| 2.0 * draw()).collect();
        let mut mean = 0.0;
        for arm in 0..arms {
            let case = ScoredCase {
                arm: Arm::new(arm), reward: outcomes[arm], propensities: &propensities, predictions: &predictions,
                before: choice(0), after: choice(1),
            };
            let score = settings.score(&case).unwrap();
            prop_assert!(score.abs() <= settings.bound() * (1.0 + 1e-12));
            mean += propensities[arm] * score;
        }
        let gain: f64 = (0..arms).map(|arm| (probability(1, arm) - probability(0, arm)) * outcomes[arm]).sum();
        prop_assert!((mean - gain).abs() < 1e-10, "{mean} instead of {gain}");
    }
}

#[test]
fn what_is_refused() {
    let settings = ScoreSettings::new(2, 0.1, 0.0, 1.0).unwrap();
    let good = ScoredCase {
        arm: Arm::new(0),
        reward: 1.0,
        propensities: &[0.9, 0.1],
        predictions: &[0.5, 0.5],
        before: RuleChoice::Arm(Arm::new(0)),
        after: RuleChoice::Arm(Arm::new(1)),
    };
    assert!((settings.score(&good).unwrap() + 0.5 / 0.9).abs() < 1e-15);
    let refused = |case: ScoredCase<'_>| settings.score(&case).unwrap_err();
    // The given arm's propensity alone is not enough.
    let alone = refused(ScoredCase { propensities: &[0.9], ..good });
    assert_eq!(alone, ScoreError::Length { name: "propensities", arms: 2, found: 1 });
    assert!(rarely_error::Explain::remedy(&alone).unwrap().to_string().contains("every arm"));
    let certain = ScoredCase { propensities: &[1.0, 0.0], ..good };
    assert_eq!(refused(certain), ScoreError::Overlap { arm: 1, propensity: 0.0, minimum: 0.1 });
    assert!(!settings.overlaps(&certain) && settings.overlaps(&good));
    // Where nothing changes, a certain arm is no obstacle.
    assert_eq!(settings.score(&ScoredCase { after: good.before, ..certain }), Ok(0.0));
    assert_eq!(
        refused(ScoredCase { propensities: &[0.9, 0.9], ..good }),
        ScoreError::Probabilities { name: "propensities" }
    );
    assert!(matches!(refused(ScoredCase { reward: 1.5, ..good }), ScoreError::OutcomeRange { .. }));
    assert!(matches!(refused(ScoredCase { reward: f64::NAN, ..good }), ScoreError::OutcomeRange { .. }));
    assert_eq!(refused(ScoredCase { predictions: &[f64::NAN, 0.0], ..good }), ScoreError::Prediction { arm: 0 });
    assert!(matches!(refused(ScoredCase { predictions: &[], ..good }), ScoreError::Length { .. }));
    assert_eq!(refused(ScoredCase { arm: Arm::new(2), ..good }), ScoreError::UnknownArm { arm: 2, arms: 2 });
    let random = ScoredCase { after: RuleChoice::Random(&[0.5, 0.5]), ..good };
    assert_eq!(refused(random), ScoreError::NotDeterministic);
    assert!(settings.random_rules().score(&random).is_ok());
    assert!((settings.bound() - 10.0).abs() < 1e-12 && (settings.random_rules().bound() - 11.0).abs() < 1e-12);
    for (minimum, low, high) in [(0.0, 0.0, 1.0), (0.6, 0.0, 1.0), (0.1, 1.0, 1.0), (0.1, 0.0, f64::INFINITY)] {
        assert!(ScoreSettings::new(2, minimum, low, high).is_err());
    }
}

/// Rare outcomes and few cases: the approximate intervals are refused, empirical Bernstein is not.
#[test]
fn approximate_intervals_need_cases() {
    let settings = ScoreSettings::new(2, 0.5, 0.0, 1.0).unwrap();
    let mut scores = Scores::new(settings, budget(), 1000);
    let (before, after) = (RuleChoice::Arm(Arm::new(0)), RuleChoice::Arm(Arm::new(1)));
    assert_eq!(scores.asymptotic(), Err(ConfirmError::NoChange));
    let mut add = |count: usize, rare: usize| {
        for at in 0..count {
            let (arm, reward) = (Arm::new(at % 2), f64::from(u8::from(at % rare == 0)));
            let (propensities, predictions) = (&[0.5, 0.5], &[0.0, 0.0]);
            scores.add(&ScoredCase { arm, reward, propensities, predictions, before, after }).unwrap();
        }
        scores.clone()
    };
    assert!(matches!(add(150, 51).asymptotic(), Err(ConfirmError::TooFewCases { cases: 75, .. })));
    let rare = add(150, 51);
    assert!(matches!(rare.planned(Look::only(300)), Err(ConfirmError::RareOutcomes { .. })));
    assert!(matches!(rare.planned(Look::only(301)), Err(ConfirmError::Look(_))));
    let certain = rare.empirical_bernstein();
    assert_eq!((certain.standard, certain.method), (Standard::Certain, Method::EmpiricalBernstein));
    let enough = add(300, 3);
    let (planned, asymptotic) = (enough.planned(Look::only(600)).unwrap(), enough.asymptotic().unwrap());
    assert_eq!(
        (planned.standard, planned.timing, planned.degrees),
        (Standard::Approximate, Timing::Planned, Some(599.0))
    );
    assert_eq!((asymptotic.standard, asymptotic.timing), (Standard::Approximate, Timing::Anytime));
    assert!(asymptotic.interval.lower < planned.interval.lower && certain.interval.upper > planned.interval.upper);
}

/// A world that no line fits: `E[Y|s,a]`, for `s` uniform.
fn mean(s: f64, arm: usize) -> f64 {
    if arm == 0 { 0.3 + 0.3 * s * s } else { 0.6 - 0.5 * (s - 0.5).powi(2) }
}

/// The gain of arm 1 where `s > ½` over arm 0: `∫_½^1 (0.3 − ½(s−½)² − 0.3s²) ds`.
const GAIN: f64 = 0.15 - 0.5 * 0.125 / 3.0 - 0.1 * (1.0 - 0.125);

/// Outcomes drawn around a mean in `[0, 1]`.
type Outcome = fn(f64, &mut Rng) -> f64;

const OUTCOMES: [(&str, Outcome); 2] = [
    ("binary", |mean, rng| f64::from(u8::from(rng.uniform() < mean))),
    // Beta(1, 1/mean − 1)-distributed: its mean is `mean`, and it is skewed.
    ("skewed", |mean, rng| 1.0 - (1.0 - rng.uniform()).powf(mean / (1.0 - mean))),
];

fn add(scores: &mut Scores, rng: &mut Rng, outcome: Outcome) {
    let s = rng.uniform();
    // Randomised with probabilities that depend on the context.
    let one = 0.2 + 0.6 * s;
    let arm = usize::from(rng.uniform() < one);
    let case = ScoredCase {
        arm: Arm::new(arm),
        reward: outcome(mean(s, arm), rng),
        propensities: &[1.0 - one, one],
        // A line, which is wrong.
        predictions: &[0.3 + 0.2 * s, 0.6 - 0.1 * s],
        before: RuleChoice::Arm(Arm::new(0)),
        after: RuleChoice::Arm(Arm::new(usize::from(s > 0.5))),
    };
    scores.add(&case).unwrap();
}

#[test]
fn the_worlds_are_as_described() {
    for (name, outcome) in OUTCOMES {
        let mut sample = RunningMean::default();
        let mut rng = Rng::new(90, 0);
        (0..100_000).for_each(|_| sample.update(outcome(0.3, &mut rng)));
        assert!((sample.mean() - 0.3).abs() < 4.0 * sample.standard_error(), "{name}: {}", sample.mean());
    }
    let gain: f64 =
        (0..100_000).map(|at| 0.5 + (f64::from(at) + 0.5) / 200_000.0).map(|s| mean(s, 1) - mean(s, 0)).sum();
    assert!((gain / 200_000.0 - GAIN).abs() < 1e-9);
}

#[test]
fn model_free_gains() {
    let settings = ScoreSettings::new(2, 0.2, 0.0, 1.0).unwrap();
    for (seed, (name, outcome)) in (91..).zip(OUTCOMES) {
        let mut certain = 0;
        let mut asymptotic = 0;
        let mut widths = [RunningMean::default(); 3];
        let planned = miss_rate(&format!("model-free t, {name}"), seed, |rng| {
            let mut scores = Scores::new(settings, budget(), 1000);
            let mut ever = false;
            for case in 1..=1000 {
                add(&mut scores, rng, outcome);
                ever |= case >= 500 && scores.asymptotic().is_ok_and(|confirmed| !confirmed.interval.contains(GAIN));
            }
            asymptotic += u64::from(ever);
            let bernstein = scores.empirical_bernstein();
            certain += u64::from(!bernstein.interval.contains(GAIN));
            let planned = scores.planned(Look::only(1000)).unwrap();
            let all = [planned, scores.asymptotic().unwrap(), bernstein];
            for (width, confirmed) in widths.iter_mut().zip(all) {
                width.update(confirmed.interval.upper - confirmed.interval.lower);
            }
            !planned.interval.contains(GAIN)
        });
        let [certain, asymptotic] = [certain, asymptotic].map(|misses| misses as f64 / 2000.0);
        println!("… asymptotic {:.1} %, empirical Bernstein {:.1} %, ever", 100.0 * asymptotic, 100.0 * certain);
        println!("… widths {:?}", widths.map(|width| (width.mean() * 1e4).round() / 1e4));
        assert!((0.7 * DELTA..AT_MOST).contains(&planned), "{planned}");
        assert!((0.0..AT_MOST).contains(&asymptotic), "{asymptotic}");
        assert!(certain <= AT_MOST, "{certain}");
    }
}

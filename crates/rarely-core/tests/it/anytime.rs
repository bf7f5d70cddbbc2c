//! The multiplier that holds at any time: its formula, its choice, and how often it misses when every case is looked at.

use proptest::prelude::*;
use rarely_core::{Mixture, Rng, RunningMean, anytime_multiplier, planned_multiplier};

use crate::coverage::{AT_MOST, DELTA, exponential, miss_rate};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// At any time is never narrower than once, more cases of evidence never make the best multiplier larger, and none beats the chosen mixture.
    #[test]
    fn anytime_is_wider_than_planned(cases in 40.0_f64..1e6, share in 1e-8_f64..0.5, other in -3.0_f64..3.0, arms in 2.0_f64..8.0) {
        let degrees = cases / arms - 2.0;
        let mixture = Mixture::sharpest_at(cases, degrees, share).unwrap();
        let multiplier = anytime_multiplier(degrees, cases, mixture, share);
        prop_assert!(multiplier > planned_multiplier(degrees, share));
        let another = Mixture::new(mixture.get() * 10.0_f64.powf(other)).unwrap();
        prop_assert!(multiplier <= anytime_multiplier(degrees, cases, another, share) * (1.0 + 1e-9));
        prop_assert!(anytime_multiplier(degrees, cases, mixture, 0.5 * share) > multiplier || multiplier.is_infinite());
    }
}

/// By the formula itself, and in its limit for many cases: `q² = ln(1/(r·δ²))/(1−r)`.
#[test]
fn the_formula() {
    let (degrees, cases, share) = (56.0, 60.0, 0.01);
    let mixture = Mixture::new(50.0).unwrap();
    let r: f64 = 50.0 / 110.0;
    let rho = (r * share * share).powf(1.0 / 57.0);
    let expected = (degrees * (1.0 - rho) / (rho - r)).sqrt();
    assert!((anytime_multiplier(degrees, cases, mixture, share) - expected).abs() < 1e-12);
    let limit = ((1.0 / (r * share * share)).ln() / (1.0 - r)).sqrt();
    assert!((anytime_multiplier(1e12, cases, mixture, share) - limit).abs() < 1e-9);
    assert_eq!(anytime_multiplier(3.0, 5.0, mixture, share), f64::INFINITY);
    assert!(Mixture::new(f64::NAN).is_err() && Mixture::sharpest_at(1000.0, 998.0, 1.5).is_err());
}

/// Two arms, the second with a share of the cases, looked at after every case from the 30th on, to the 1,000th.
fn ever_misses(
    rng: &mut Rng,
    share: f64,
    mixture: Mixture,
    outcome: impl Fn(usize, &mut Rng) -> f64,
    means: [f64; 2],
) -> bool {
    let mut arms = [RunningMean::default(); 2];
    (1..=1000_u32).any(|case| {
        let arm = usize::from(rng.uniform() < share);
        arms[arm].update(outcome(arm, rng));
        let fewest = arms[0].count().min(arms[1].count());
        if case < 30 || fewest < 3 {
            return false;
        }
        // With one variable that is always 1, the error from sums is that of two means.
        let error = arms.iter().map(|arm| arm.variance() / arm.count() as f64).sum::<f64>().sqrt();
        let multiplier = anytime_multiplier(fewest as f64 - 1.0, f64::from(case), mixture, DELTA);
        let off = arms[1].mean() - arms[0].mean() - (means[1] - means[0]);
        off.abs() > multiplier * error
    })
}

#[test]
fn every_case_looked_at() {
    let mixture = Mixture::sharpest_at(1000.0, 499.0, DELTA).unwrap();
    let normal = miss_rate("anytime t, normal", 11, |rng| {
        ever_misses(rng, 0.5, mixture, |arm, rng| if arm == 0 { 1.0 } else { 0.3 } * rng.normal(), [0.0, 0.0])
    });
    let skewed = miss_rate("anytime t, exponential", 12, |rng| {
        ever_misses(rng, 0.5, mixture, |arm, rng| if arm == 0 { 1.0 } else { 0.3 } * exponential(rng), [1.0, 0.3])
    });
    let binary = miss_rate("anytime t, binary 30 and 50 %", 13, |rng| {
        let outcome = |arm: usize, rng: &mut Rng| f64::from(u8::from(rng.uniform() < [0.3, 0.5][arm]));
        ever_misses(rng, 0.5, mixture, outcome, [0.3, 0.5])
    });
    for rate in [normal, skewed, binary] {
        assert!((0.1 * DELTA..AT_MOST).contains(&rate), "{rate}");
    }
    // What a confirmation refuses: an arm with a tenth of the cases and 3 % events.
    let rare = miss_rate("anytime t, 3 % events, an arm with 10 % of the cases, had it not been refused", 15, |rng| {
        let outcome = |_: usize, rng: &mut Rng| f64::from(u8::from(rng.uniform() < 0.03));
        ever_misses(rng, 0.1, mixture, outcome, [0.03, 0.03])
    });
    assert!(rare > AT_MOST, "{rare}");
    // The same looks with the planned multiplier of one look.
    let peeking = miss_rate("planned t looked at after every case", 14, |rng| {
        let mut arms = [RunningMean::default(); 2];
        (1..=1000).any(|case| {
            arms[rng.below(2)].update(rng.normal());
            let error = arms.iter().map(|arm| arm.variance() / arm.count() as f64).sum::<f64>().sqrt();
            case >= 30 && (arms[1].mean() - arms[0].mean()).abs() > 1.645 * error
        })
    });
    assert!(peeking > 4.0 * DELTA, "{peeking}");
}

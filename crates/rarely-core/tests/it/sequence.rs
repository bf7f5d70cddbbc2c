//! Confidence sequences: their formulas, and how often they ever miss.

use proptest::prelude::*;
use rarely_core::{AsymptoticSequence, EmpiricalBernstein, Rng, RunningMean};

use crate::coverage::{AT_MOST, DELTA, miss_rate};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn running_means_and_intersections(numbers in prop::collection::vec(-2.0_f64..2.0, 2..200)) {
        let mut mean = RunningMean::default();
        let mut bernstein = EmpiricalBernstein::new(2.0, DELTA, None);
        let mut before = bernstein.interval();
        for &number in &numbers {
            mean.update(number);
            bernstein.update(number);
            let now = bernstein.interval();
            prop_assert!(now.lower >= before.lower && now.upper <= before.upper);
            before = now;
        }
        let count = numbers.len() as f64;
        let average = numbers.iter().sum::<f64>() / count;
        let variance = numbers.iter().map(|number| (number - average).powi(2)).sum::<f64>() / (count - 1.0);
        prop_assert!((mean.mean() - average).abs() < 1e-12 && (mean.variance() - variance).abs() < 1e-12);
        prop_assert!((mean.standard_error() - (variance / count).sqrt()).abs() < 1e-12);
        prop_assert!((before.estimate - average).abs() < 1e-12);
        prop_assert_eq!(bernstein.count(), numbers.len() as u64);
    }
}

/// By the definition, number by number.
#[test]
fn empirical_bernstein_by_definition() {
    let numbers = [0.2, 0.9, 0.4, 0.4, 1.0, 0.0, 0.7];
    let mut sequence = EmpiricalBernstein::new(0.5, 0.05, None);
    let evidence = 40.0_f64.ln();
    let (mut lower, mut upper) = (0.0_f64, 1.0_f64);
    let (mut sum, mut squares, mut bets, mut weighted, mut loss) = (0.5, 0.25, 0.0, 0.0, 0.0);
    for (t, x) in (1..).map(f64::from).zip(numbers) {
        let (guess, variance): (f64, f64) = (sum / t, squares / t);
        let bet = (2.0 * evidence / (variance * t * (1.0 + t).ln())).sqrt().min(0.5);
        bets += bet;
        weighted += bet * x;
        loss += 4.0 * (x - guess).powi(2) * (-(1.0 - bet).ln() - bet) / 4.0;
        sum += x;
        squares += (x - sum / (t + 1.0)).powi(2);
        lower = lower.max((weighted - evidence - loss) / bets);
        upper = upper.min((weighted + evidence + loss) / bets);
        sequence.update(x - 0.5);
        let interval = sequence.interval();
        assert!((interval.lower - (lower - 0.5)).abs() < 1e-12 && (interval.upper - (upper - 0.5)).abs() < 1e-12);
    }
}

#[test]
#[should_panic(expected = "outside")]
fn a_number_beyond_the_bound() {
    EmpiricalBernstein::new(1.0, 0.05, None).update(1.01);
}

/// With 1,000 numbers of variance 1, at the number for which it is sharpest: within 35 % of the interval that holds once.
#[test]
fn the_asymptotic_sequence_is_sharpest_where_it_was_aimed() {
    let width = |aim: u64, cases: u64| {
        let mut sequence = AsymptoticSequence::new(0.05, aim);
        (0..cases).for_each(|at| sequence.update(if at % 2 == 0 { 1.0 } else { -1.0 }));
        sequence.interval().upper
    };
    assert!(width(1000, 1000) < width(100, 1000) && width(1000, 1000) < width(10_000, 1000));
    let once = 1.96 / 1000.0_f64.sqrt();
    assert!((1.3..1.6).contains(&(width(1000, 1000) / once)), "{}", width(1000, 1000) / once);
    assert_eq!(AsymptoticSequence::new(0.05, 10).interval().upper, f64::INFINITY);
}

/// Looked at after each of 1,000 numbers: rare events, fair coins, and numbers whose mean depends on nothing but whose size does on the past.
#[test]
fn every_number_looked_at() {
    type Draw = fn(f64, &mut Rng) -> f64;
    let draws: [(&str, Draw); 3] = [
        ("2 % events", |_, rng| f64::from(u8::from(rng.uniform() < 0.02)) - 0.02),
        ("coins", |_, rng| f64::from(u8::from(rng.uniform() < 0.5)) - 0.5),
        ("sizes that depend on the past", |mean, rng| if mean > 0.0 { 0.2 } else { 1.0 } * (2.0 * rng.uniform() - 1.0)),
    ];
    for (seed, (name, draw)) in (81..).zip(draws) {
        for aim in [None, Some(1000)] {
            let rate = miss_rate(&format!("empirical Bernstein, {name}, aimed at {aim:?}"), seed, |rng| {
                let mut sequence = EmpiricalBernstein::new(1.0, DELTA, aim);
                let mut mean = RunningMean::default();
                for _ in 0..1000 {
                    let number = draw(mean.mean(), rng);
                    mean.update(number);
                    sequence.update(number);
                }
                // Ends never move outwards: to have missed once is to miss at the end.
                !sequence.interval().contains(0.0)
            });
            assert!(rate <= AT_MOST, "{name}: {rate}");
        }
        let rate = miss_rate(&format!("asymptotic sequence from the 100th, {name}"), seed, |rng| {
            let mut sequence = AsymptoticSequence::new(DELTA, 1000);
            (1..=1000).any(|case| {
                sequence.update(draw(sequence.mean().mean(), rng));
                case >= 100 && !sequence.interval().contains(0.0)
            })
        });
        // With two events among the first 100 cases it fails, as every approximate interval: `Scores` refuses to give it.
        if seed == 81 { assert!(rate > AT_MOST, "{rate}") } else { assert!(rate <= AT_MOST, "{name}: {rate}") }
    }
}

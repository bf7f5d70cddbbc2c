//! Laws of the sums of one option's rows.

use proptest::prelude::*;
use rarely_core::Rng;
use rarely_error::Explain as _;
use rarely_review::{Moments, MomentsMismatch};
use serde_json::Value;

/// A state of so many rows from a stream of random numbers.
fn drawn(dimension: usize, squares: &[usize], rows: usize, rng: &mut Rng) -> Moments {
    let mut moments = Moments::new(dimension, squares);
    for _ in 0..rows {
        let (context, reward) = row(dimension, rng);
        moments.add(&context, reward);
    }
    moments
}

fn row(dimension: usize, rng: &mut Rng) -> (Vec<f64>, f64) {
    let context = (0..dimension).map(|i| if i == 0 { 1.0 } else { rng.uniform() }).collect();
    (context, rng.uniform() - 0.3)
}

proptest! {
    #[test]
    fn the_leading_block_is_that_of_the_context(dimension in 1_usize..9, rows in 0_usize..1200, seed: u64) {
        let squares: Vec<usize> = (0..dimension).filter(|coordinate| coordinate % 2 == 1).collect();
        let moments = drawn(dimension, &squares, rows, &mut Rng::new(seed, 0));
        let (count, information, moment) = moments.base();
        let mut rng = Rng::new(seed, 0);
        let (mut expected, mut expected_moment) = (vec![0.0; dimension * (dimension + 1) / 2], vec![0.0; dimension]);
        for _ in 0..rows {
            let (context, reward) = row(dimension, &mut rng);
            let mut at = 0;
            for i in 0..dimension {
                for j in 0..=i {
                    expected[at] += context[i] * context[j];
                    at += 1;
                }
                expected_moment[i] += context[i] * reward;
            }
        }
        prop_assert_eq!(count, rows as u64);
        prop_assert_eq!((information.len(), moment.len()), (expected.len(), expected_moment.len()));
        for (found, expected) in information.iter().chain(&moment).zip(expected.iter().chain(&expected_moment)) {
            prop_assert!((found - expected).abs() <= 1e-12 * (1.0 + rows as f64), "{} instead of {}", found, expected);
        }
    }

    #[test]
    fn merged_states_are_one_pass(
        dimension in 1_usize..7,
        parts in prop::collection::vec(0_usize..1500, 1..5),
        seed: u64,
    ) {
        let squares: Vec<usize> = (1..dimension).collect();
        let mut rng = Rng::new(seed, 0);
        let mut merged = Moments::new(dimension, &squares);
        for &rows in &parts {
            merged.merge(&drawn(dimension, &squares, rows, &mut rng)).expect("the same sums");
        }
        let whole = drawn(dimension, &squares, parts.iter().sum(), &mut Rng::new(seed, 0));
        prop_assert_eq!(merged.rows(), whole.rows());
        prop_assert!(merged.is_sound());
        let (found, expected) = (merged.base(), whole.base());
        for (found, expected) in found.1.iter().chain(&found.2).zip(expected.1.iter().chain(&expected.2)) {
            prop_assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()));
        }
        match (merged.curvature(), whole.curvature()) {
            // A test statistic is a ratio of differences of sums: a few digits of the 1e-12 are lost to them.
            (Ok(found), Ok(expected)) => {
                prop_assert_eq!(found.degrees, expected.degrees);
                prop_assert!((found.statistic - expected.statistic).abs() <= 1e-9 * (1.0 + expected.statistic));
            }
            (found, expected) => prop_assert_eq!(found.err(), expected.err()),
        }
    }

    #[test]
    fn a_state_comes_back_from_json_bit_for_bit(dimension in 1_usize..7, rows in 0_usize..700, seed: u64) {
        let squares: Vec<usize> = (0..dimension).collect();
        let mut rng = Rng::new(seed, 0);
        let mut moments = drawn(dimension, &squares, rows, &mut rng);
        let text = serde_json::to_string(&moments).expect("a state is JSON");
        let mut back: Moments = serde_json::from_str(&text).expect("a state comes back");
        prop_assert!(back.is_sound());
        prop_assert_eq!(&back, &moments);
        let (context, reward) = row(dimension, &mut rng);
        back.add(&context, reward);
        moments.add(&context, reward);
        prop_assert_eq!(back, moments);
    }
}

#[test]
fn sums_stay_exact_over_a_million_rows() {
    // 0.1 is no binary fraction: one running sum of a million of them is off by 1.3e-11 of itself. In two stages there are at most
    // 512 + 1954 roundings of 1.1e-16 each: 3e-13.
    let mut moments = Moments::new(1, &[]);
    for _ in 0..1_000_000 {
        moments.add(&[1.0], 0.1);
    }
    let (_, _, moment) = moments.base();
    assert!((moment[0] / 100_000.0 - 1.0).abs() < 3e-13, "{}", moment[0]);
}

#[test]
fn different_sums_do_not_merge() {
    let mut moments = Moments::new(3, &[1, 2]);
    let error = moments.merge(&Moments::new(3, &[1])).expect_err("other squares");
    let expected = MomentsMismatch { expected: 3, expected_squares: vec![1, 2], found: 3, found_squares: vec![1] };
    assert_eq!(error, expected);
    assert!(error.to_string().ends_with("the squares of [1, 2]"), "{error}");
    let remedy = error.remedy().map(|remedy| remedy.to_string());
    assert_eq!(remedy.as_deref(), Some("merge only states that were made with the same features"));
    assert!(moments.merge(&Moments::new(2, &[])).is_err());
}

#[test]
fn damaged_states_are_found() {
    let moments = drawn(3, &[1, 2], 600, &mut Rng::new(1, 0));
    let whole = serde_json::to_value(&moments).expect("a state is JSON");
    let damages: [(&str, Value); 6] = [
        ("/settled/information/0", 1e70.into()),
        ("/settled/information/0", (-1.0).into()),
        ("/recent/moment", Value::Array(vec![0.0.into(); 3])),
        ("/settled/information", Value::Array(vec![])),
        ("/squares/0", 3.into()),
        ("/dimension", u64::MAX.into()),
    ];
    for (place, damage) in damages {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(place).expect("the place is there") = damage;
        let state: Moments = serde_json::from_value(damaged).expect("it still has the form of a state");
        assert!(!state.is_sound(), "{place}");
    }
}

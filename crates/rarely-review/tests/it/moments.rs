//! Laws of the sums of one option's rows.

use proptest::prelude::*;
use rarely_core::Rng;
use rarely_error::Explain as _;
use rarely_review::{Moments, MomentsMismatch, RewardGrid};
use serde_json::Value;

/// A state of so many rows from a stream of random numbers.
fn drawn(dimension: usize, squares: &[usize], rows: usize, rng: &mut Rng) -> Moments {
    let mut moments = Moments::new(dimension, squares, RewardGrid::open());
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
            // Every factor is rounded by at most 2⁻²⁷.
            prop_assert!((found - expected).abs() <= 1.5e-8 * rows as f64, "{} instead of {}", found, expected);
        }
    }

    /// The same rows have the same sums, bit for bit, however they are shuffled and divided.
    #[test]
    fn sums_do_not_depend_on_order_or_division(
        dimension in 1_usize..7,
        parts in prop::collection::vec(0_usize..700, 1..5),
        seed: u64,
    ) {
        let squares: Vec<usize> = (1..dimension).collect();
        let summed = |rows: &[(Vec<f64>, f64)]| {
            let mut sums = Moments::new(dimension, &squares, RewardGrid::of_range(-0.3, 0.5));
            for (context, reward) in rows {
                sums.add(context, *reward);
            }
            sums
        };
        let mut rng = Rng::new(seed, 0);
        // A fifth of the rewards are outside the declared range.
        let mut rows: Vec<(Vec<f64>, f64)> = (0..parts.iter().sum()).map(|_| row(dimension, &mut rng)).collect();
        let whole = summed(&rows);
        for last in (1..rows.len()).rev() {
            rows.swap(last, rng.below(last + 1));
        }
        let (mut merged, mut rest) = (summed(&[]), rows.as_slice());
        for &part in &parts {
            let (now, later) = rest.split_at(part);
            merged.merge(&summed(now)).expect("the same sums");
            rest = later;
        }
        prop_assert!(merged.is_sound());
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(serde_json::to_string(&merged).unwrap(), serde_json::to_string(&whole).unwrap());
        prop_assert_eq!(merged.base(), whole.base());
    }

    /// Without a range the step follows the largest reward: orders differ by a rounding.
    #[test]
    fn sums_without_a_range_agree_closely(sizes in prop::collection::vec(-9_i32..12, 1..4), seed: u64) {
        let mut rng = Rng::new(seed, 0);
        let scaled = |size: i32, rng: &mut Rng| {
            let (context, reward) = row(3, rng);
            (context, reward * 10_f64.powi(size))
        };
        let rows: Vec<(Vec<f64>, f64)> =
            sizes.iter().flat_map(|&size| (0..40).map(move |_| size)).map(|size| scaled(size, &mut rng)).collect();
        let sums = |rows: &mut dyn Iterator<Item = &(Vec<f64>, f64)>| {
            let mut sums = Moments::new(3, &[1], RewardGrid::open());
            rows.for_each(|(context, reward)| sums.add(context, *reward));
            sums
        };
        let (one, other) = (sums(&mut rows.iter()), sums(&mut rows.iter().rev()));
        let mut halves = sums(&mut rows.iter().step_by(2));
        halves.merge(&sums(&mut rows.iter().skip(1).step_by(2))).expect("the same sums");
        let largest = rows.iter().map(|row| row.1.abs()).fold(0.0, f64::max);
        for sums in [other, halves] {
            prop_assert!(sums.is_sound());
            prop_assert_eq!(sums.base().1, one.base().1);
            for (found, expected) in sums.base().2.iter().zip(one.base().2) {
                prop_assert!((found - expected).abs() <= 1e-9 * largest * rows.len() as f64);
            }
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
    // 0.1 is no binary fraction: one running sum of a million of them is off by 1.3e-11 of itself. Whole numbers add without rounding, so
    // that only the first one, of 0.1 itself, is left.
    let mut moments = Moments::new(1, &[], RewardGrid::of_range(0.0, 1.0));
    for _ in 0..1_000_000 {
        moments.add(&[1.0], 0.1);
    }
    let (_, _, moment) = moments.base();
    let tenth = (0.1 * f64::from(1 << 26) + 0.5).floor() / f64::from(1 << 26);
    assert_eq!(moment[0], 1_000_000.0 * tenth);
}

#[test]
fn a_correction_leaves_no_trace() {
    let mut rng = Rng::new(3, 0);
    let mut once = Moments::new(3, &[1, 2], RewardGrid::of_range(-1.0, 1.0));
    let mut corrected = once.clone();
    for _ in 0..700 {
        let (context, reward) = row(3, &mut rng);
        once.add(&context, reward);
        corrected.add(&context, rng.uniform());
    }
    let mut rng = Rng::new(3, 0);
    for _ in 0..700 {
        let (context, reward) = row(3, &mut rng);
        corrected.correct(&context, rng.uniform(), reward);
    }
    assert_eq!(corrected, once);
}

#[test]
fn different_sums_do_not_merge() {
    let mut moments = Moments::new(3, &[1, 2], RewardGrid::open());
    let error = moments.merge(&Moments::new(3, &[1], RewardGrid::open())).expect_err("other squares");
    let expected = MomentsMismatch { expected: 3, expected_squares: vec![1, 2], found: 3, found_squares: vec![1] };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("the squares of [1, 2], or"), "{error}");
    let remedy = error.remedy().map(|remedy| remedy.to_string());
    assert_eq!(remedy.as_deref(), Some("merge only states that were made with the same features and outcome"));
    assert!(moments.merge(&Moments::new(2, &[], RewardGrid::open())).is_err());
}

#[test]
fn damaged_states_are_found() {
    let mut moments = Moments::new(3, &[1, 2], RewardGrid::of_range(-0.3, 0.7));
    let mut rng = Rng::new(1, 0);
    for _ in 0..600 {
        let (context, reward) = row(3, &mut rng);
        moments.add(&context, reward);
    }
    let whole = serde_json::to_value(&moments).expect("a state is JSON");
    let damages: [(&str, Value); 7] = [
        ("/sums/0", (-1).into()),
        ("/sums", Value::Array(vec![0.into(); 20])),
        ("/sums", Value::Array(vec![])),
        ("/rewards/step", 0.into()),
        ("/squares/0", 3.into()),
        ("/dimension", u64::MAX.into()),
        ("/rows", u64::MAX.into()),
    ];
    for (place, damage) in damages {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(place).expect("the place is there") = damage;
        let state: Moments = serde_json::from_value(damaged).expect("it still has the form of a state");
        assert!(!state.is_sound(), "{place}");
    }
}

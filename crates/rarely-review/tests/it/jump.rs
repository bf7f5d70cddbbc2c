//! The jump at a threshold: against rdrobust, the rows themselves, and its own promises.

use proptest::prelude::*;
use rarely_core::Rng;
use rarely_review::{Bandwidth, Cut, Jump, Jumps, JumpsError, Kernel, NoJump, RewardGrid, Side};
use serde_json::Value;

use crate::python::{self, numbers};

/// A row: running variable, option, outcome.
type Row = (f64, usize, f64);

const MIDDLE: Cut = Cut { at: 0.5, lower: 0, upper: 1 };

fn summed(span: (f64, f64), options: usize, cuts: &[Cut], rows: &[Row]) -> Jumps {
    let mut jumps = Jumps::new(span, options, cuts).expect("cuts in the span");
    for &(z, option, outcome) in rows {
        jumps.add(z, option, outcome);
    }
    jumps
}

/// Rows that follow the rule with one cut at ½, and an outcome of z.
fn following(count: usize, rng: &mut Rng, outcome: impl Fn(f64) -> f64, noise: f64) -> Vec<Row> {
    (0..count)
        .map(|_| {
            let z = rng.uniform();
            (z, usize::from(z >= 0.5), outcome(z) + noise * rng.normal())
        })
        .collect()
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found} instead of {expected}");
}

/// Compares with one answer of `jump.py`.
fn agrees_with(answer: &Value) {
    let span = numbers(&answer["span"]);
    let width = span[1] - span[0];
    let rows: Vec<Row> = numbers(&answer["z"])
        .into_iter()
        .zip(numbers(&answer["y"]))
        .map(|(z, outcome)| (z, usize::from(z >= 0.0), outcome))
        .collect();
    let jumps = summed((span[0], span[1]), 2, &[Cut { at: 0.0, lower: 0, upper: 1 }], &rows);
    let fits = answer["fits"].as_array().expect("fits");
    assert!(fits.len() >= 8);
    for fit in fits {
        let number = |name: &str| fit[name].as_f64().expect("a number");
        let kernel = if fit["kernel"] == "uniform" { Kernel::Uniform } else { Kernel::Triangular };
        let found = jumps.jump(0, kernel, Bandwidth::Given(number("bandwidth"))).expect("enough rows");
        close(found.bandwidth, number("bandwidth"), 1e-12);
        close(found.estimate, number("estimate"), 1e-9);
        // With b = h rdrobust's HC0 formula is ours.
        close(found.standard_error, number("standard_error"), 1e-9);
        // Its triangular kernel does not count the rows at exactly the bandwidth, which have no weight.
        if number("bandwidth") < width / 2.0 {
            assert_eq!(serde_json::json!([found.rows.0, found.rows.1]), fit["rows"]);
        }
    }
    // The rule on the rows has no bins: ours rounds two pilot bandwidths and the result to whole ones.
    let expected = answer["rule"].as_f64().expect("a number");
    let found = jumps.jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows").bandwidth;
    assert!((found - expected).abs() <= width / 200.0 + 0.05 * expected, "{found} instead of {expected}");
}

#[test]
fn jump_agrees_with_rdrobust() {
    agrees_with(&python::stored("jump-golden.json"));
    for data in ["synthetic", "senate"] {
        if let Some(fresh) = python::run("jump.py", &[data]) {
            agrees_with(&fresh);
        }
    }
}

/// The jump from the rows themselves: weighted least squares on either side with its HC0 error.
fn direct(rows: &[Row], cut: Cut, bandwidth: f64, kernel: Kernel) -> (f64, f64) {
    let side = |chosen: &dyn Fn(&Row) -> bool| {
        let near: Vec<(f64, f64, f64)> = rows
            .iter()
            .filter(|row| chosen(row) && (row.0 - cut.at).abs() < bandwidth)
            .map(|&(z, _, outcome)| {
                let weight = if kernel == Kernel::Uniform { 1.0 } else { 1.0 - (z - cut.at).abs() / bandwidth };
                (weight, z - cut.at, outcome)
            })
            .collect();
        let total: f64 = near.iter().map(|row| row.0).sum();
        let mean = near.iter().map(|row| row.0 * row.1).sum::<f64>() / total;
        let spread: f64 = near.iter().map(|row| row.0 * (row.1 - mean).powi(2)).sum();
        let slope = near.iter().map(|row| row.0 * (row.1 - mean) * row.2).sum::<f64>() / spread;
        let level = near.iter().map(|row| row.0 * row.2).sum::<f64>() / total - slope * mean;
        let variance: f64 = near
            .iter()
            .map(|&(weight, u, outcome)| {
                let influence = weight * (1.0 / total - mean * (u - mean) / spread);
                (influence * (outcome - level - slope * u)).powi(2)
            })
            .sum();
        (level, variance)
    };
    let below = side(&|row: &Row| row.1 == cut.lower && row.0 < cut.at);
    let above = side(&|row: &Row| row.1 == cut.upper && row.0 >= cut.at);
    (above.0 - below.0, (below.1 + above.1).sqrt())
}

/// Rows of three options that follow the rule four times in five, over the span from −20 to 60.
fn wandering(count: usize, cuts: &[Cut], rng: &mut Rng) -> Vec<Row> {
    (0..count)
        .map(|_| {
            let z = -20.0 + 80.0 * rng.uniform();
            let given = cuts.iter().rev().find(|cut| cut.at <= z).map_or(cuts[0].lower, |cut| cut.upper);
            let option = if rng.uniform() < 0.8 { given } else { rng.below(3) };
            (z, option, 0.5 + 0.01 * z * (1.0 + option as f64) + 0.1 * rng.normal())
        })
        .collect()
}

const THREE: [Cut; 2] = [Cut { at: 3.7, lower: 2, upper: 0 }, Cut { at: 31.0, lower: 0, upper: 1 }];
const WIDE: (f64, f64) = (-20.0, 60.0);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn binned_sums_give_what_the_rows_give(
        count in 1000_usize..3000,
        cut in 0_usize..2,
        bins in 20_usize..150,
        uniform: bool,
        seed: u64,
    ) {
        let rows = wandering(count, &THREE, &mut Rng::new(seed, 0));
        let jumps = summed(WIDE, 3, &THREE, &rows);
        let kernel = if uniform { Kernel::Uniform } else { Kernel::Triangular };
        let bandwidth = bins as f64 * jumps.bin_width();
        let found = jumps.jump(cut, kernel, Bandwidth::Given(bandwidth)).expect("enough rows");
        let (estimate, standard_error) = direct(&rows, THREE[cut], found.bandwidth, kernel);
        close(found.estimate, estimate, 1e-9);
        close(found.standard_error, standard_error, 1e-9);
    }

    /// Of outcomes with a range, in whatever order and however divided, the sums are the same bit for bit.
    #[test]
    fn merged_states_are_one_pass(parts in prop::collection::vec(0_usize..1500, 1..5), seed: u64) {
        let mut rng = Rng::new(seed, 0);
        let empty = || summed(WIDE, 3, &THREE, &[]).of_outcomes(&[RewardGrid::of_range(-1.0, 2.0); 3]);
        let filled = |rows: &mut dyn Iterator<Item = &Row>| {
            let mut jumps = empty();
            rows.for_each(|&(z, option, outcome)| jumps.add(z, option, outcome));
            jumps
        };
        let (mut merged, mut all) = (empty(), Vec::new());
        for &count in &parts {
            let rows = wandering(count, &THREE, &mut rng);
            merged.merge(&filled(&mut rows.iter())).expect("the same cuts");
            all.extend(rows);
        }
        let whole = filled(&mut all.iter().rev());
        prop_assert!(merged.is_sound());
        prop_assert_eq!(&merged, &whole);
        for cut in 0..2 {
            for option in 0..3 {
                // No row is lost: each is in one bin of every cut.
                let rows: u64 = whole.bin_rows(cut, option).map(|(_, rows)| rows).sum();
                prop_assert_eq!(rows, all.iter().filter(|row| row.1 == option).count() as u64);
            }
        }
        // Without a range the step follows the largest outcome.
        let open = summed(WIDE, 3, &THREE, &all);
        for bandwidth in [Bandwidth::Rule, Bandwidth::Given(12.0)] {
            let jump = |jumps: &Jumps| jumps.jump(0, Kernel::Triangular, bandwidth);
            match (jump(&open), jump(&whole)) {
                (Ok(found), Ok(expected)) => {
                    prop_assert_eq!((found.rows, found.bandwidth), (expected.rows, expected.bandwidth));
                    // Outcomes are rounded to 4e-8 of another step, and next to a cut a few of them may weigh much.
                    close(found.estimate, expected.estimate, 1e-6);
                    close(found.standard_error, expected.standard_error, 1e-6);
                }
                (found, expected) => prop_assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn a_state_comes_back_from_json_bit_for_bit(count in 0_usize..500, seed: u64) {
        let jumps = summed(WIDE, 3, &THREE, &wandering(count, &THREE, &mut Rng::new(seed, 0)));
        let text = serde_json::to_string(&jumps).expect("a state is JSON");
        let back: Jumps = serde_json::from_str(&text).expect("a state comes back");
        prop_assert!(back.is_sound());
        prop_assert_eq!(back, jumps);
    }
}

#[test]
fn rows_against_the_rule_count_as_tried_and_no_more() {
    let mut rng = Rng::new(3, 0);
    let rows = following(2000, &mut rng, |z| z, 0.1);
    let mut jumps = summed((0.0, 1.0), 2, &[MIDDLE], &rows);
    let jump = |jumps: &Jumps| jumps.jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows");
    let before = jump(&jumps);
    assert_eq!(jumps.tried(0, 0.51), 0);
    // The cell of 0.51 is [0.50, 0.52).
    for z in [0.499, 0.5, 0.51, 0.5199, 0.52] {
        jumps.add(z, usize::from(z < 0.5), 100.0);
    }
    assert_eq!(jump(&jumps), before);
    assert_eq!((jumps.tried(0, 0.51), jumps.tried(0, 0.52), jumps.tried(1, 0.49)), (3, 1, 1));
    for z in [-0.01, 1.01, f64::NAN] {
        jumps.add(z, 0, 1.0);
        assert_eq!(jumps.tried(0, z), 0);
    }
    assert_eq!(jumps.outside(), 3);
    jumps.add(0.0, 0, 0.0);
    jumps.add(1.0, 1, 1.0);
    assert_eq!(jumps.outside(), 3);
    assert!(jumps.tried(0, 0.0) > 0 && jumps.tried(1, 1.0) > 0 && jumps.is_sound());
}

#[test]
fn a_value_on_the_edge_of_a_bin_is_in_the_outer_one_on_either_side() {
    // 0.005·k is seldom exact: rounding must not decide.
    for k in 1..100 {
        let mut jumps = summed((0.0, 1.0), 2, &[MIDDLE], &[]);
        let distance = 0.005 * f64::from(k);
        jumps.add(0.5 + distance, 1, 0.0);
        jumps.add(0.5 - distance, 0, 0.0);
        let found: Vec<usize> =
            (0..2).map(|option| jumps.bin_rows(0, option).position(|(_, rows)| rows == 1).expect("one row")).collect();
        assert_eq!(found, [100 - 1 - usize::try_from(k).expect("small"), 100 + usize::try_from(k).expect("small")]);
    }
}

#[test]
fn a_planted_jump_is_recovered() {
    let outcome =
        |z: f64| 0.3 + 0.4 * z - 0.5 * (z - 0.5) * (z - 0.5) + if z >= 0.5 { 0.15 + 0.3 * (z - 0.5) } else { 0.0 };
    for seed in 0..100 {
        let jumps = summed((0.0, 1.0), 2, &[MIDDLE], &following(20_000, &mut Rng::new(seed, 0), outcome, 0.2));
        let jump = jumps.jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows");
        // The bend is the same on both sides, so that its bias cancels; 4.9 standard errors are one in a million.
        assert!((jump.estimate - 0.15).abs() < 4.9 * jump.standard_error, "seed {seed}: {jump:?}");
        assert!(jump.standard_error < 0.02, "seed {seed}: {jump:?}");
    }
}

#[test]
fn standard_errors_cover() {
    // Straight lines: no bias, so that the interval of ±1.96 errors holds the truth in 95 % of runs, less what HC0 lacks in small
    // samples. A row at the edge of a line of 300 rows with triangular weights has leverage up to 4/300·1.5 = 2 %: errors are short
    // by at most 1 %, coverage by 0.0023. Over 1,000 runs the binomial deviation is 0.0069; four of them are 0.0276.
    for kernel in [Kernel::Triangular, Kernel::Uniform] {
        let covered = (0..1000)
            .filter(|seed| {
                let mut rng = Rng::new(*seed, 7);
                // Noise that grows with z: HC0 must not mind.
                let rows: Vec<Row> = following(1000, &mut rng, |z| z, 0.0)
                    .into_iter()
                    .map(|(z, option, y)| (z, option, y + 0.2 * option as f64 + (0.1 + z) * rng.normal()))
                    .collect();
                let jumps = summed((0.0, 1.0), 2, &[MIDDLE], &rows);
                let jump = jumps.jump(0, kernel, Bandwidth::Given(0.3)).expect("enough rows");
                (jump.estimate - 0.2).abs() <= 1.959_964 * jump.standard_error
            })
            .count();
        let share = covered as f64 / 1000.0;
        assert!((0.95 - 0.0276 - 0.0023..=0.95 + 0.0276).contains(&share), "{kernel:?}: {share}");
    }
}

#[test]
fn the_rule_narrows_where_the_sides_bend_apart_and_with_more_rows() {
    let jump = |count: usize, bend: f64| -> Jump {
        let outcome = |z: f64| if z >= 0.5 { bend * (z - 0.5) * (z - 0.5) } else { -bend * (z - 0.5) * (z - 0.5) };
        let rows = following(count, &mut Rng::new(5, 0), outcome, 0.1);
        summed((0.0, 1.0), 2, &[MIDDLE], &rows).jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows")
    };
    assert!(jump(5000, 4.0).bandwidth < 0.7 * jump(5000, 0.0).bandwidth);
    // The rule shrinks as N^(−⅕): a hundred times the rows, 0.4 of the width.
    let ratio = jump(200_000, 4.0).bandwidth / jump(2000, 4.0).bandwidth;
    assert!((0.25..0.6).contains(&ratio), "{ratio}");
}

#[test]
fn the_rule_takes_what_it_needs_and_what_there_is() {
    // Nobody within 0.1 of the cut above it: the bandwidth goes on until 30 rows are in.
    let sparse: Vec<Row> =
        following(3000, &mut Rng::new(6, 0), |z| z, 0.1).into_iter().filter(|row| row.0 < 0.5 || row.0 > 0.8).collect();
    let jumps = summed((0.0, 1.0), 2, &[MIDDLE], &sparse);
    let jump = jumps.jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows");
    assert!(jump.rows.1 >= 30 && jump.bandwidth > 0.3, "{jump:?}");
    // No noise at all: every bandwidth is as good, and there is no more than the data.
    let exact = summed((0.0, 1.0), 2, &[MIDDLE], &following(500, &mut Rng::new(6, 0), |_| 0.25, 0.0));
    let jump = exact.jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows");
    assert!(jump.bandwidth <= 0.5 && jump.estimate.abs() < 1e-12 && jump.standard_error < 1e-7, "{jump:?}");
}

#[test]
fn a_given_bandwidth_is_snapped_and_reported() {
    let jumps = summed((0.0, 1.0), 2, &[MIDDLE], &following(3000, &mut Rng::new(8, 0), |z| z, 0.1));
    let bandwidth = |given| jumps.jump(0, Kernel::Uniform, Bandwidth::Given(given)).expect("enough rows").bandwidth;
    for (given, used) in [(0.1013, 0.1), (0.1026, 0.105), (7.0, 0.5), (1e300, 0.5)] {
        close(bandwidth(given), used, 1e-12);
    }
    for found in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(jumps.jump(0, Kernel::Uniform, Bandwidth::Given(found)), Err(NoJump::NotABandwidth { found }));
    }
}

#[test]
fn without_rows_or_values_there_is_no_jump() {
    let mut jumps = summed((0.0, 1.0), 2, &[MIDDLE], &[]);
    let at = |jumps: &Jumps, bandwidth| jumps.jump(0, Kernel::Triangular, bandwidth);
    assert!(matches!(at(&jumps, Bandwidth::Rule), Err(NoJump::TooFewRows { side: Side::Below, rows: 0, .. })));
    for i in 0..100 {
        jumps.add(0.3 + 0.001 * f64::from(i), 0, 1.0);
    }
    let error = at(&jumps, Bandwidth::Rule).expect_err("nobody above");
    assert!(matches!(error, NoJump::TooFewRows { side: Side::Above, rows: 0, .. }));
    assert_eq!(
        error.to_string(),
        "0 rows above 0.5 within 0.205 of it are too few for an estimate of the jump: it takes 30"
    );
    for _ in 0..100 {
        jumps.add(0.61, 1, 1.0);
    }
    let error = at(&jumps, Bandwidth::Rule).expect_err("one value above");
    assert!(matches!(error, NoJump::OneValue { side: Side::Above, .. }), "{error}");
    jumps.add(0.62, 1, 1.0);
    assert!(at(&jumps, Bandwidth::Rule).is_ok());
    assert!(matches!(at(&jumps, Bandwidth::Given(0.1)), Err(NoJump::TooFewRows { side: Side::Below, rows: 0, .. })));
}

#[test]
fn cuts_that_cannot_be_are_refused() {
    let cut = |at| Cut { at, ..MIDDLE };
    let error = |span, options, cuts: &[Cut]| Jumps::new(span, options, cuts).expect_err("refused");
    assert!(matches!(error((1.0, 1.0), 2, &[]), JumpsError::Span { .. }));
    assert!(matches!(error((0.0, f64::NAN), 2, &[]), JumpsError::Span { .. }));
    assert!(matches!(error((-1e308, 1e308), 2, &[]), JumpsError::Span { .. }));
    for cuts in [[cut(0.0), cut(0.5)], [cut(0.5), cut(0.5)], [cut(0.5), cut(0.4)], [cut(0.5), cut(1.0)]] {
        assert!(matches!(error((0.0, 1.0), 2, &cuts), JumpsError::Cut { .. }));
    }
    assert!(matches!(error((0.0, 1.0), 2, &[cut(f64::NAN)]), JumpsError::Cut { .. }));
    assert!(matches!(error((0.0, 1.0), 2, &[Cut { upper: 0, ..MIDDLE }]), JumpsError::Options { .. }));
    let none = error((0.0, 1.0), 0, &[MIDDLE]);
    assert_eq!(
        none.to_string(),
        "the cut 0.5 has options 0 and 1 beside it, but they must be two different ones of the 0, counted from 0"
    );
    let mut jumps = summed((0.0, 1.0), 2, &[MIDDLE], &[]);
    for other in [summed((0.0, 1.0), 3, &[MIDDLE], &[]), summed((0.0, 1.0), 2, &[cut(0.4)], &[])] {
        assert!(jumps.merge(&other).is_err());
    }
    assert_eq!(Jumps::new((0.0, 1.0), 2, &[]).expect("no cuts are cuts too").tried(0, 0.5), 0);
}

#[test]
fn damaged_states_are_found() {
    let rows = following(500, &mut Rng::new(1, 0), |z| z, 0.1);
    let mut jumps = summed((0.0, 1.0), 2, &[MIDDLE], &[]).of_outcomes(&[RewardGrid::of_range(0.0, 1.0); 2]);
    for &(z, option, outcome) in &rows {
        jumps.add(z, option, outcome);
    }
    let whole = serde_json::to_value(jumps).expect("a state is JSON");
    let damages: [(&str, Value); 8] = [
        ("/thresholds/0/below/sums/0/0", (-1).into()),
        ("/thresholds/0/below/outcomes/step", 0.into()),
        ("/thresholds/0/below/sums", Value::Array(vec![])),
        ("/thresholds/0/above/rows/0", u64::MAX.into()),
        ("/thresholds/0/above/rows", Value::Array(vec![])),
        ("/thresholds/0/above/given", 0.into()),
        ("/thresholds/0/cut/at", 0.75.into()),
        ("/options", u64::MAX.into()),
    ];
    for (place, damage) in damages {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(place).expect("the place is there") = damage;
        let state: Jumps = serde_json::from_value(damaged).expect("it still has the form of a state");
        assert!(!state.is_sound(), "{place}");
    }
}

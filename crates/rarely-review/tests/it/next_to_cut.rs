//! The jump at a cut from rows: against rdrobust, rddensity and scipy, brute force, and simulated samples.

use rarely_core::Rng;
use rarely_review::{
    Bandwidth, Bandwidths, Cut, Jumps, Kernel, NoJump, Side, critical_value, density_test, robust_jump,
    robust_jump_within,
};
use serde_json::Value;

use crate::python::{self, numbers};

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(off <= tolerance * expected.abs().max(1e-300), "{what}: {found} instead of {expected}");
}

/// Compares with every sample of `next_to_cut.py`.
fn agrees_with(answer: &Value) {
    for sample in answer["samples"].as_array().expect("samples") {
        let name = sample["name"].as_str().expect("a name");
        let (x, y) = (numbers(&sample["x"]), numbers(&sample["y"]));
        let cut = sample["cut"].as_f64().expect("a cut");
        let expected = |part: &str, number: &str| sample[part][number].as_f64().expect("a number");
        let found = robust_jump(&x, &y, cut).expect("enough rows");
        let check =
            |found: f64, number: &str| close(found, expected("jump", number), 1e-9, &format!("{name}, {number}"));
        let bandwidths = numbers(&sample["jump"]["bandwidths"]);
        close(found.bandwidths.estimate, bandwidths[0], 1e-9, name);
        close(found.bandwidths.bias, bandwidths[1], 1e-9, name);
        check(found.estimate, "estimate");
        check(found.standard_error, "standard_error");
        check(found.bias_corrected, "bias_corrected");
        check(found.robust_standard_error, "robust_standard_error");
        for (found, expected) in found.interval.iter().zip(numbers(&sample["jump"]["interval"])) {
            close(*found, expected, 1e-9, name);
        }
        assert_eq!(serde_json::json!([found.rows.0, found.rows.1]), sample["jump"]["rows"], "{name}");
        let found = density_test(&x, cut).expect("enough rows");
        let check = |found: f64, number: &str| {
            close(found, expected("density", number), 1e-7, &format!("{name}, density, {number}"));
        };
        let bandwidths = numbers(&sample["density"]["bandwidths"]);
        close(found.bandwidths.0, bandwidths[0], 1e-7, name);
        close(found.bandwidths.1, bandwidths[1], 1e-7, name);
        check(found.below, "below");
        check(found.above, "above");
        check(found.standard_error, "standard_error");
        // rddensity subtracts from 1: a small probability has few digits.
        assert!((found.p_value - expected("density", "p_value")).abs() < 1e-7, "{name}: {found:?}");
    }
    for pair in answer["critical_values"].as_array().expect("critical values") {
        let pair = numbers(pair);
        close(critical_value(pair[0]), pair[1], 1e-12, "critical value");
    }
}

#[test]
fn jump_and_density_agree_with_rdrobust_and_rddensity() {
    agrees_with(&python::stored("next_to_cut-golden.json"));
    for data in ["synthetic", "senate"] {
        if let Some(fresh) = python::run("next_to_cut.py", &[data]) {
            agrees_with(&fresh);
        }
    }
}

/// The binned rule was 47 on the Senate data, where rdrobust has 17.8.
#[test]
fn the_bandwidth_is_not_two_to_five_times_too_wide() {
    let answer = python::stored("next_to_cut-golden.json");
    let election = &answer["samples"][0];
    assert_eq!(election["name"], "election");
    let (x, y) = (numbers(&election["x"]), numbers(&election["y"]));
    let mut binned = Jumps::new((-100.0, 100.0), 2, &[Cut { at: 0.0, lower: 0, upper: 1 }]).expect("a cut");
    x.iter().zip(&y).for_each(|(&x, &y)| binned.add(x, usize::from(x >= 0.0), y));
    let binned = binned.jump(0, Kernel::Triangular, Bandwidth::Rule).expect("enough rows").bandwidth;
    let expected = election["jump"]["bandwidths"][0].as_f64().expect("a number");
    let found = robust_jump(&x, &y, 0.0).expect("enough rows").bandwidths.estimate;
    assert!(binned > 2.0 * expected, "{binned}: the binned rule is still too wide, which is why it is a fallback");
    close(found, expected, 0.01, "bandwidth");
}

/// Rows on [−1, 1] with a cut at 0 and a curved outcome that jumps by `JUMP`; more noise above.
fn curved(count: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    (0..count)
        .map(|_| {
            let x = 2.0 * rng.uniform() - 1.0;
            (x, truth(x) + (0.3 + 0.2 * x.max(0.0)) * rng.normal())
        })
        .unzip()
}

const JUMP: f64 = 0.4;
/// The largest second derivative of [`truth`] on either side.
const CURVATURE: f64 = 4.0;

fn truth(x: f64) -> f64 {
    if x >= 0.0 { JUMP + 0.5 * x - 2.0 * x * x + x * x * x / 3.0 } else { 0.8 * x + 1.5 * x * x + 0.5 * x * x * x }
}

#[test]
fn robust_and_worst_case_intervals_cover_a_curved_truth() {
    let runs = 500;
    let (mut robust, mut conventional, mut honest) = (0, 0, 0);
    for seed in 0..runs {
        let (x, y) = curved(1000, &mut Rng::new(seed, 11));
        let jump = robust_jump(&x, &y, 0.0).expect("enough rows");
        let holds = |[low, high]: [f64; 2]| u64::from(low <= JUMP && JUMP <= high);
        robust += holds(jump.interval);
        let margin = 1.959_964 * jump.standard_error;
        conventional += holds([jump.estimate - margin, jump.estimate + margin]);
        honest += holds(jump.curvature_bound.interval(CURVATURE));
    }
    let share = |covered: u64| covered as f64 / runs as f64;
    eprintln!("robust {}, conventional {}, worst case {}", share(robust), share(conventional), share(honest));
    // Nearest neighbours and the choice of a bandwidth cost a little of 95 %; 0.90 is five binomial deviations below.
    assert!(share(robust) >= 0.90, "{}", share(robust));
    // The bend here is that of the bound on one side only, so that the worst case is seldom reached: at least 95 %, less three
    // deviations of 0.0097 for 500 runs.
    assert!(share(honest) >= 0.95 - 0.03, "{}", share(honest));
}

/// An outcome with second derivative 1 between two distances from the cut, on one side, and level and slope 0 at the cut.
fn bend(x: f64, side: f64, (from, to): (f64, f64)) -> f64 {
    let v = (side * x).max(0.0);
    0.5 * ((v - from).max(0.0).powi(2) - (v - to).max(0.0).powi(2))
}

#[test]
fn the_worst_bias_is_that_of_the_worst_bends() {
    let bandwidths = Bandwidths { estimate: 0.4, bias: 0.6 };
    for seed in 0..5 {
        let (mut x, y) = curved(300, &mut Rng::new(seed, 12));
        if seed == 4 {
            x = x.iter().map(|x| (20.0 * x).floor() / 20.0).collect();
        }
        let found = robust_jump_within(&x, &y, 0.0, bandwidths).expect("enough rows").curvature_bound;
        // The estimate is linear in the outcomes: the bias of a sum of bends is the sum of theirs, and each can have either sign.
        let cells = 400;
        let mut worst = 0.0;
        for side in [-1.0, 1.0] {
            for cell in 0..cells {
                let edge = |cell: i32| 0.4 * f64::from(cell) / f64::from(cells);
                let bent: Vec<f64> = x.iter().map(|x| bend(*x, side, (edge(cell), edge(cell + 1)))).collect();
                worst += robust_jump_within(&x, &bent, 0.0, bandwidths).expect("enough rows").estimate.abs();
            }
        }
        // Only a cell in which the kernel changes its sign loses a little.
        close(found.unit_bias, worst, 1e-4, "worst bias");
        assert!(worst <= found.unit_bias * (1.0 + 1e-12));
    }
}

#[test]
fn the_largest_curvature_is_where_the_interval_touches_zero() {
    let (x, y) = curved(2000, &mut Rng::new(1, 13));
    let bound = robust_jump(&x, &y, 0.0).expect("enough rows").curvature_bound;
    let largest = bound.largest_curvature().expect("a clear jump");
    assert!(bound.interval(0.999 * largest)[0] > 0.0 && bound.interval(1.001 * largest)[0] < 0.0);
    assert!(bound.interval(largest)[0].abs() < 1e-9);
    let mirrored: Vec<f64> = y.iter().map(|y| -y).collect();
    let bound = robust_jump(&x, &mirrored, 0.0).expect("enough rows").curvature_bound;
    close(bound.largest_curvature().expect("a clear jump"), largest, 1e-12, "the sign does not matter");
    let flat: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y - if *x >= 0.0 { JUMP } else { 0.0 }).collect();
    assert_eq!(robust_jump(&x, &flat, 0.0).expect("enough rows").curvature_bound.largest_curvature(), None);
}

#[test]
fn without_noise_the_worst_case_is_the_bias() {
    let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 200.0 - 1.0).collect();
    let y: Vec<f64> = x.iter().map(|x| if *x >= 0.0 { 1.0 } else { 0.0 }).collect();
    let jump = robust_jump(&x, &y, 0.0).expect("enough rows");
    assert!((jump.estimate - 1.0).abs() < 1e-9 && jump.standard_error == 0.0, "{jump:?}");
    let largest = jump.curvature_bound.largest_curvature().expect("a jump");
    assert!(largest.is_finite() && jump.curvature_bound.interval(largest)[0].abs() < 1e-9);
}

#[test]
fn rows_may_come_in_any_order_and_on_any_scale() {
    let (x, y) = curved(700, &mut Rng::new(3, 14));
    let found = robust_jump(&x, &y, 0.0).expect("enough rows");
    let back: (Vec<f64>, Vec<f64>) = (x.iter().rev().copied().collect(), y.iter().rev().copied().collect());
    assert_eq!(robust_jump(&back.0, &back.1, 0.0), Ok(found));
    let scaled: Vec<f64> = x.iter().map(|x| 500.0 + 64.0 * x).collect();
    let other = robust_jump(&scaled, &y, 500.0).expect("enough rows");
    close(other.bandwidths.estimate, 64.0 * found.bandwidths.estimate, 1e-6, "bandwidth");
    close(other.bias_corrected, found.bias_corrected, 1e-6, "estimate");
    let density = density_test(&scaled, 500.0).expect("enough rows");
    close(density.p_value, density_test(&x, 0.0).expect("enough rows").p_value, 1e-6, "density");
}

#[test]
fn too_few_rows_or_values_are_refused() {
    let (x, y) = curved(400, &mut Rng::new(4, 15));
    let few: Vec<f64> = x.iter().filter(|x| **x < 0.0).copied().collect();
    assert!(matches!(robust_jump(&few, &y, 0.0), Err(NoJump::TooFewRows { side: Side::Above, rows: 0, .. })));
    let coarse: Vec<f64> = x.iter().map(|x| (2.0 * x).floor()).collect();
    let error = robust_jump(&coarse, &y, 0.0).expect_err("two values");
    assert!(matches!(error, NoJump::FewValues { values: 2, .. }), "{error}");
    assert!(density_test(&coarse, 0.0).is_err());
    let bandwidths = Bandwidths { estimate: 0.0, bias: 1.0 };
    assert_eq!(robust_jump_within(&x, &y, 0.0, bandwidths), Err(NoJump::NotABandwidth { found: 0.0 }));
    assert!(robust_jump(&[], &[], 0.0).is_err() && density_test(&[], 0.0).is_err());
}

/// The share of runs in which the density test finds a jump at the 5 % level.
fn density_alarms(runs: u64, draw: impl Fn(&mut Rng) -> f64) -> f64 {
    let alarms = (0..runs).filter(|seed| {
        let mut rng = Rng::new(*seed, 16);
        let x: Vec<f64> = (0..2000).map(|_| draw(&mut rng)).collect();
        density_test(&x, 0.0).expect("enough rows").p_value < 0.05
    });
    alarms.count() as f64 / runs as f64
}

#[test]
fn the_density_test_keeps_its_level_and_finds_sorting() {
    // 0.08 is 0.05 and 2.75 binomial deviations of 400 runs.
    let normal = density_alarms(400, |rng| 0.5 + rng.normal());
    let uniform = density_alarms(400, |rng| 2.0 * rng.uniform() - 1.0);
    let steep = density_alarms(400, |rng| -rng.uniform().max(1e-300).ln() - 1.0);
    let whole = density_alarms(400, |rng| (60.0 * rng.uniform()).floor() - 30.0);
    // Half of those within 0.15 below the cut are moved to above it.
    let bunched = density_alarms(100, |rng| {
        let x = 0.5 + rng.normal();
        if -0.15 < x && x < 0.0 && rng.uniform() < 0.5 { -x } else { x }
    });
    eprintln!("normal {normal}, uniform {uniform}, steep {steep}, whole numbers {whole}, bunched {bunched}");
    for level in [normal, uniform, steep, whole] {
        assert!(level <= 0.08, "{level}");
    }
    assert!(bunched >= 0.8, "{bunched}");
}

#[test]
fn a_bandwidth_reaches_thirty_rows_on_either_side() {
    let (x, y): (Vec<f64>, Vec<f64>) = curved(1500, &mut Rng::new(6, 17));
    let near = |at: usize| x[at] < 0.0 || x[at] > 0.7;
    let (x, y): (Vec<f64>, Vec<f64>) = (0..x.len()).filter(|at| near(*at)).map(|at| (x[at], y[at])).unzip();
    let jump = robust_jump(&x, &y, 0.0).expect("enough rows");
    assert!(jump.rows.1 >= 30 && jump.bandwidths.estimate > 0.7, "{jump:?}");
}

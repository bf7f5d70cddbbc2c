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

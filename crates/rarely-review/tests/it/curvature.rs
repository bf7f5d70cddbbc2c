//! The F test of the squared terms: against least squares on the rows, statsmodels, and its own promises.

use proptest::prelude::*;
use rarely_core::Rng;
use rarely_review::{Curvature, Moments, NoCurvature, RewardGrid};
use serde_json::Value;

use crate::python::{self, numbers};

/// Residual sum of squares and rank of least squares on the rows themselves, by orthogonalising columns twice.
fn residual(columns: &[Vec<f64>], outcome: &[f64]) -> (f64, usize) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let project = |basis: &[Vec<f64>], vector: &mut Vec<f64>| {
        for _ in 0..2 {
            for unit in basis {
                let part = dot(unit, vector);
                vector.iter_mut().zip(unit).for_each(|(value, unit)| *value -= part * unit);
            }
        }
    };
    for column in columns {
        let length = dot(column, column).sqrt();
        let mut rest = column.clone();
        project(&basis, &mut rest);
        let left = dot(&rest, &rest).sqrt();
        if left > 1e-5 * length {
            basis.push(rest.iter().map(|value| value / left).collect());
        }
    }
    let mut rest = outcome.to_vec();
    project(&basis, &mut rest);
    (dot(&rest, &rest), basis.len())
}

/// Rows with an intercept, numeric features, and one that is 0 or 1. Features are multiples of 2⁻¹³, so that their squares are whole numbers
/// of the grid, too.
fn rows(count: usize, numeric: usize, bend: f64, rng: &mut Rng) -> (Vec<Vec<f64>>, Vec<f64>) {
    (0..count)
        .map(|_| {
            let mut context = vec![1.0];
            context.extend((0..numeric).map(|_| (rng.uniform() * 8192.0).floor() / 8192.0));
            context.push(f64::from(rng.uniform() < 0.5));
            let line: f64 = context.iter().enumerate().map(|(i, x)| x * (0.3 - 0.1 * i as f64)).sum();
            let square = (context[1] - 0.5) * (context[1] - 0.5);
            let outcome = line + bend * square + 0.2 * rng.normal();
            (context, outcome)
        })
        .unzip()
}

fn summed(contexts: &[Vec<f64>], outcomes: &[f64], squares: &[usize]) -> Moments {
    let mut moments = Moments::new(contexts[0].len(), squares, RewardGrid::open());
    for (context, outcome) in contexts.iter().zip(outcomes) {
        moments.add(context, *outcome);
    }
    moments
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found} instead of {expected}");
}

proptest! {
    #[test]
    fn the_test_is_that_of_least_squares_on_the_rows(
        count in 30_usize..600,
        numeric in 1_usize..5,
        bend in -1.0_f64..1.0,
        seed: u64,
    ) {
        let (contexts, outcomes) = rows(count, numeric, bend, &mut Rng::new(seed, 0));
        let dimension = numeric + 2;
        let squares: Vec<usize> = (1..dimension).collect();
        let mut columns: Vec<Vec<f64>> =
            (0..dimension).map(|i| contexts.iter().map(|context| context[i]).collect()).collect();
        let (straight, rank) = residual(&columns, &outcomes);
        for i in 1..dimension {
            let square = columns[i].iter().map(|x| (x - 0.5) * (x - 0.5)).collect();
            columns.push(square);
        }
        let (bent, bent_rank) = residual(&columns, &outcomes);
        // The feature that is 0 or 1 has no square of its own.
        prop_assert_eq!(bent_rank, rank + numeric);
        let curvature = summed(&contexts, &outcomes, &squares).curvature().expect("enough rows");
        prop_assert_eq!(curvature.degrees, (numeric as u64, (count - bent_rank) as u64));
        close(curvature.residual_variance, bent / (count - bent_rank) as f64, 1e-9);
        close(curvature.statistic, (straight - bent) / numeric as f64 / curvature.residual_variance, 1e-7);
        let fitted: f64 = contexts.iter().zip(&outcomes).map(|(s, y)| (y - curvature.predict(s)).powi(2)).sum();
        close(fitted, bent, 1e-9);
        prop_assert_eq!(curvature.terms.len(), numeric);
        prop_assert_eq!(curvature.bent[dimension + numeric], 0.0);
    }
}

/// Compares with one case of `curvature.py`.
fn agrees_with_statsmodels(case: &Value) {
    let name = case["name"].as_str().expect("a name");
    let contexts: Vec<Vec<f64>> = case["context"].as_array().expect("rows").iter().map(numbers).collect();
    let squares: Vec<usize> = serde_json::from_value(case["squares"].clone()).expect("coordinates");
    let found = summed(&contexts, &numbers(&case["reward"]), &squares).curvature().expect("enough rows");
    let number = |value: &Value| value.as_f64().expect("a number");
    assert_eq!(serde_json::json!([found.degrees.0, found.degrees.1]), case["degrees"], "{name}");
    // These features are not on the grid: they are rounded by up to 2⁻²⁷ = 7e-9.
    close(found.statistic, number(&case["statistic"]), 1e-6);
    let p_value = number(&case["p_value"]);
    assert!((found.p_value / p_value - 1.0).abs() < 1e-6, "{name}: {} instead of {p_value}", found.p_value);
    close(found.residual_variance, number(&case["residual_variance"]), 1e-8);
    let terms = case["terms"].as_array().expect("terms");
    assert_eq!(found.terms.len(), terms.len(), "{name}");
    for (found, expected) in found.terms.iter().zip(terms) {
        assert_eq!(expected["coordinate"], found.coordinate, "{name}");
        close(found.coefficient, number(&expected["coefficient"]), 1e-7);
        close(found.standard_error, number(&expected["standard_error"]), 1e-7);
    }
    for (context, expected) in contexts.iter().zip(numbers(&case["fitted"])) {
        close(found.predict(context), expected, 1e-7);
    }
}

#[test]
fn curvature_agrees_with_statsmodels() {
    let cases = |answer: &Value| answer["cases"].as_array().expect("cases").clone();
    let stored = cases(&python::stored("curvature-golden.json"));
    assert_eq!(stored.len(), 5);
    stored.iter().for_each(agrees_with_statsmodels);
    if let Some(fresh) = python::run("curvature.py", &[]) {
        cases(&fresh).iter().for_each(agrees_with_statsmodels);
    }
}

fn tested(count: usize, bend: f64, seed: u64) -> Curvature {
    let (contexts, outcomes) = rows(count, 2, bend, &mut Rng::new(seed, 0));
    summed(&contexts, &outcomes, &[1, 2]).curvature().expect("enough rows")
}

#[test]
fn p_values_are_uniform_where_the_line_is_straight() {
    // Dvoretzky, Kiefer, Wolfowitz: P(sup|F̂ − F| > ε) ≤ 2exp(−2nε²); for n = 2000 that is one in a million at ε = 0.0603.
    let mut p_values: Vec<f64> = (0..2000).map(|seed| tested(60, 0.0, seed).p_value).collect();
    p_values.sort_by(f64::total_cmp);
    for (i, p_value) in p_values.iter().enumerate() {
        assert!((p_value - (i as f64 + 0.5) / 2000.0).abs() < 0.0603, "{i}: {p_value}");
    }
}

#[test]
fn a_planted_bend_is_found() {
    // (x − ½)² of a uniform x has variance 1/180; with 2000 rows, σ = 0.2 and γ = 0.5 the coefficient's standard error is
    // 0.2·√(180/2000) = 0.06: the bend is 8 of them from 0, and estimates are within 5 of it but once in a million.
    for seed in 0..50 {
        let curvature = tested(2000, 0.5, seed);
        assert!(curvature.p_value < 1e-3, "seed {seed}: {}", curvature.p_value);
        let [bent, straight] = curvature.terms[..] else { panic!("two terms") };
        assert!((bent.standard_error / 0.06 - 1.0).abs() < 0.15, "seed {seed}: {}", bent.standard_error);
        assert!((bent.coefficient - 0.5).abs() < 5.0 * bent.standard_error, "seed {seed}: {}", bent.coefficient);
        assert!(straight.coefficient.abs() < 5.0 * straight.standard_error, "seed {seed}: {}", straight.coefficient);
    }
}

#[test]
fn an_exact_line_is_not_called_bent() {
    for offset in [0.0, 1.0, 1000.0] {
        let mut moments = Moments::new(2, &[1], RewardGrid::open());
        for i in 0..100_000 {
            let x = f64::from(i % 977) / 977.0;
            moments.add(&[1.0, x], offset * (1.0 + x));
        }
        let curvature = moments.curvature().expect("enough rows");
        assert!(curvature.p_value > 0.5, "{curvature:?}");
    }
}

#[test]
fn an_exact_bend_is() {
    let mut moments = Moments::new(2, &[1], RewardGrid::open());
    for i in 0..1000 {
        let x = f64::from(i) / 1000.0;
        moments.add(&[1.0, x], x * x);
    }
    let curvature = moments.curvature().expect("enough rows");
    assert!(curvature.p_value < 1e-100 && curvature.statistic.is_finite());
    assert!((curvature.terms[0].coefficient - 1.0).abs() < 1e-9);
}

#[test]
fn without_enough_rows_or_values_there_is_no_test() {
    let moments = Moments::new(2, &[1], RewardGrid::open());
    assert_eq!(moments.curvature(), Err(NoCurvature::TooFewRows { rows: 0, needed: 13 }));
    let (contexts, outcomes) = rows(14, 1, 0.0, &mut Rng::new(1, 0));
    let moments = summed(&contexts, &outcomes, &[1]);
    assert_eq!(moments.curvature().map(|curvature| curvature.degrees), Ok((1, 10)));
    let moments = summed(&contexts[1..], &outcomes[1..], &[1]);
    assert_eq!(moments.curvature(), Err(NoCurvature::TooFewRows { rows: 13, needed: 14 }));
    let moments = summed(&contexts, &outcomes, &[2]);
    assert_eq!(moments.curvature(), Err(NoCurvature::NothingToBend));
}

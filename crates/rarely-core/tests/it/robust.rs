//! HC3 and CR2 errors against other programs, and their laws.

use proptest::prelude::*;
use rarely_core::{Arm, CaseLog, ConfirmError, Contexts, LeastSquares, Parameters, Rng, Shape};
use serde_json::Value;

use crate::sample;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A log with clusters.
struct Log {
    shape: Shape,
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    clusters: Vec<u64>,
}

impl Log {
    fn cases(&self) -> CaseLog<'_> {
        let contexts = Contexts::new(&self.contexts, self.shape.dimension()).unwrap();
        CaseLog::new(self.shape, contexts, &self.arms, &self.rewards).unwrap()
    }

    fn draw(shape: Shape, rows: usize, rng: &mut Rng) -> Self {
        let truth = sample::parameters(shape, rng);
        let log = sample::outcomes(&truth, rows, rng);
        Self {
            shape,
            contexts: log.iter().flat_map(|row| row.context.clone()).collect(),
            arms: log.iter().map(|row| row.arm).collect(),
            rewards: log.iter().map(|row| row.reward).collect(),
            clusters: (0..rows as u64).map(|row| row % (rows as u64 / 4)).collect(),
        }
    }
}

#[test]
fn errors_agree_with_statsmodels_and_the_definition() {
    let stored: Value = serde_json::from_str(include_str!("../python/robust-golden.json")).unwrap();
    let rows = stored["log"].as_array().unwrap();
    let count = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let log = Log {
        shape: Shape::new(3, 3).unwrap(),
        contexts: rows.iter().flat_map(|row| row["context"].as_array().unwrap().iter().map(number)).collect(),
        arms: rows.iter().map(|row| Arm::new(count(&row["arm"]))).collect(),
        rewards: rows.iter().map(|row| number(&row["reward"])).collect(),
        clusters: rows.iter().map(|row| row["cluster"].as_u64().unwrap()).collect(),
    };
    let cases = log.cases();
    let fit = LeastSquares::fit(&cases);
    let close = |found: f64, expected: &Value| {
        let expected = number(expected);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    };
    for case in stored["cases"].as_array().unwrap() {
        let values = case["functional"].as_array().unwrap().iter().map(number).collect();
        let functional = Parameters::new(log.shape, values).unwrap();
        close(fit.estimate(&functional).unwrap(), &case["estimate"]);
        close(fit.hc3_error(&cases, &functional).unwrap(), &case["hc3"]);
        let clustered = fit.cr2_error(&cases, &log.clusters, &functional).unwrap();
        close(clustered.standard_error, &case["cr2"]);
        close(clustered.degrees, &case["cr2_degrees"]);
    }
}

/// A row that alone determines a coefficient has no residual.
#[test]
fn a_row_with_full_leverage_is_refused() {
    let mut contexts: Vec<f64> = (0..8).flat_map(|_| [1.0, 0.0]).collect();
    contexts[2 * 3 + 1] = 1.0;
    let log = Log {
        shape: Shape::new(2, 2).unwrap(),
        contexts,
        arms: vec![Arm::new(0); 8],
        rewards: (0..8).map(f64::from).collect(),
        clusters: Vec::new(),
    };
    let functional = |values: [f64; 4]| Parameters::new(log.shape, values.to_vec()).unwrap();
    let fit = LeastSquares::fit(&log.cases());
    let refused = fit.hc3_error(&log.cases(), &functional([0.0, 1.0, 0.0, 0.0]));
    assert_eq!(refused, Err(ConfirmError::Leverage { row: 3 }));
    let unknown = fit.hc3_error(&log.cases(), &functional([0.0, 0.0, 0.0, 1.0]));
    assert_eq!(unknown, Err(ConfirmError::NotEstimable { arm: 1, cases: 0, coefficients: 2 }));
    assert_eq!(fit.estimate(&functional([0.0; 4])), Err(ConfirmError::NoChange));
    let missing = fit.cr2_error(&log.cases(), &[1, 2], &functional([0.0, 1.0, 0.0, 0.0]));
    assert_eq!(missing, Err(ConfirmError::Length { name: "clusters", expected: 8, found: 2 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Alone in its cluster, a row is adjusted by `(1−h)^{−½}`: CR2 is then HC2, at most HC3 and at least HC0. Clusters' names do not matter,
    /// nor does the scale of functional or outcomes.
    #[test]
    fn clusters_of_one_row_and_scales(seed in any::<u64>(), arms in 2_usize..4, dimension in 1_usize..5, scale in 0.1_f64..10.0) {
        let shape = Shape::new(arms, dimension).unwrap();
        let mut rng = Rng::new(seed, 0);
        let mut log = Log::draw(shape, 40 * arms, &mut rng);
        let functional = sample::parameters(shape, &mut rng);
        let alone: Vec<u64> = (0..log.arms.len() as u64).rev().collect();
        let fit = LeastSquares::fit(&log.cases());
        let hc3 = fit.hc3_error(&log.cases(), &functional).unwrap();
        let hc2 = fit.cr2_error(&log.cases(), &alone, &functional).unwrap();
        prop_assert!(hc2.standard_error <= hc3 && hc2.standard_error > 0.5 * hc3);
        prop_assert!(hc2.degrees > 1.0 && hc2.degrees <= log.arms.len() as f64);
        prop_assert_eq!(hc2.clusters, log.arms.len() as u64);
        let clustered = fit.cr2_error(&log.cases(), &log.clusters, &functional).unwrap();
        let renamed: Vec<u64> = log.clusters.iter().map(|cluster| u64::MAX - 7 * cluster).collect();
        let again = fit.cr2_error(&log.cases(), &renamed, &functional).unwrap();
        prop_assert!((again.standard_error / clustered.standard_error - 1.0).abs() < 1e-12);
        log.rewards.iter_mut().for_each(|reward| *reward *= scale);
        let scaled = LeastSquares::fit(&log.cases());
        prop_assert!((scaled.hc3_error(&log.cases(), &functional).unwrap() / (scale * hc3) - 1.0).abs() < 1e-9);
    }
}

//! Least squares: residuals at right angles, rows and sums alike, any units.

use proptest::prelude::*;
use rarely_core::{Arm, ArmSums, CaseLog, ConfirmError, Contexts, LeastSquares, Parameters, Rng, Shape};

use crate::sample::{self, dot};

/// The sums of each arm.
pub(crate) fn sums(log: &CaseLog<'_>, arms: &[Arm], rewards: &[f64]) -> Vec<ArmSums> {
    let d = log.shape().dimension();
    let empty = || ArmSums {
        count: 0,
        information: vec![0.0; d * (d + 1) / 2],
        moment: vec![0.0; d],
        squared_rewards: 0.0,
        rarer_outcomes: 0,
    };
    let mut sums: Vec<ArmSums> = (0..log.shape().arms()).map(|_| empty()).collect();
    for ((context, arm), &reward) in log.contexts().values().chunks_exact(d).zip(arms).zip(rewards) {
        let sum = &mut sums[arm.index()];
        sum.count += 1;
        sum.rarer_outcomes = sum.count / 2;
        sum.squared_rewards += reward * reward;
        let pairs = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for (entry, (i, j)) in sum.information.iter_mut().zip(pairs) {
            *entry += context[i] * context[j];
        }
        for (entry, x) in sum.moment.iter_mut().zip(context) {
            *entry += reward * x;
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn residuals_are_at_right_angles_and_sums_say_the_same(seed in any::<u64>(), arms in 2_usize..4, d in 1_usize..6, unit in -6_i32..6) {
        let shape = Shape::new(arms, d).unwrap();
        let mut rng = Rng::new(seed, 0);
        let truth = sample::parameters(shape, &mut rng);
        let rows = sample::outcomes(&truth, 30 * arms, &mut rng);
        let scale = 10.0_f64.powi(unit);
        let contexts: Vec<f64> = rows.iter().flat_map(|row| {
            row.context.iter().enumerate().map(|(at, x)| if at + 1 == d { x * scale } else { *x }).collect::<Vec<_>>()
        }).collect();
        let (played, rewards): (Vec<Arm>, Vec<f64>) = rows.iter().map(|row| (row.arm, row.reward)).unzip();
        let log = CaseLog::new(shape, Contexts::new(&contexts, d).unwrap(), &played, &rewards).unwrap();
        let fit = LeastSquares::fit(&log);
        for arm in 0..arms {
            let fitted = fit.arm(arm).unwrap();
            let mut slope = vec![0.0; d];
            let mut squares = 0.0;
            for (context, (played, reward)) in contexts.chunks_exact(d).zip(played.iter().zip(&rewards)) {
                if played.index() == arm {
                    let residual = reward - dot(context, fitted.estimate());
                    squares += residual * residual;
                    slope.iter_mut().zip(context).for_each(|(slope, x)| *slope += residual * x);
                }
            }
            for (at, slope) in slope.iter().enumerate() {
                let unit = if at + 1 == d { scale } else { 1.0 };
                prop_assert!(slope.abs() < 1e-11 * unit, "{slope}");
            }
            prop_assert!((fitted.residual_variance() * fitted.degrees() / squares - 1.0).abs() < 1e-10);
        }
        let from_sums = LeastSquares::from_sums(shape, &sums(&log, &played, &rewards)).unwrap();
        let functional = sample::parameters(shape, &mut rng);
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-7;
        prop_assert!((from_sums.estimate(&functional).unwrap() - fit.estimate(&functional).unwrap()).abs()
            < 1e-8 * (1.0 + fit.estimate(&functional).unwrap().abs() / scale.min(1.0)));
        prop_assert!(close(from_sums.sums_error(&functional).unwrap(), fit.sums_error(&functional).unwrap()));
    }
}

/// Of an arm with a column that is a sum of others only what its rows determine is known; of one without rows nothing.
#[test]
fn arms_that_are_not_determined() {
    let shape = Shape::new(3, 2).unwrap();
    let contexts: Vec<f64> = (0..12).flat_map(|row| if row < 6 { [1.0, 2.0] } else { [1.0, f64::from(row)] }).collect();
    let arms: Vec<Arm> = (0..12).map(|row| Arm::new(row / 6)).collect();
    let rewards: Vec<f64> = (0..12).map(f64::from).collect();
    let log = CaseLog::new(shape, Contexts::new(&contexts, 2).unwrap(), &arms, &rewards).unwrap();
    let fit = LeastSquares::fit(&log);
    assert_eq!(fit.arm(0), Err(ConfirmError::NotEstimable { arm: 0, cases: 6, coefficients: 2 }));
    assert!((fit.arm(1).unwrap().estimate()[1] - 1.0).abs() < 1e-12);
    // The mean of arm 0 at its only context is determined, and nothing else of it.
    let mean = Parameters::new(shape, vec![1.0, 2.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
    assert!((fit.estimate(&mean).unwrap() - 2.5).abs() < 1e-12);
    assert!((fit.sums_error(&mean).unwrap() - (3.5_f64 / 6.0).sqrt()).abs() < 1e-12);
    assert!((fit.hc3_error(&log, &mean).unwrap() - (17.5 * 1.44_f64).sqrt() / 6.0).abs() < 1e-12);
    let slope = Parameters::new(shape, vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(fit.estimate(&slope), Err(ConfirmError::NotEstimable { arm: 0, cases: 6, coefficients: 2 }));
    assert_eq!(fit.arm(2), Err(ConfirmError::NotEstimable { arm: 2, cases: 0, coefficients: 2 }));
    assert_eq!((fit.cases(), fit.count(1)), (12, 6));
    let short = LeastSquares::from_sums(shape, &[]);
    assert_eq!(short, Err(ConfirmError::Length { name: "arms' sums", expected: 3, found: 0 }));
    let bad = CaseLog::new(shape, Contexts::new(&contexts, 2).unwrap(), &arms, &[f64::NAN; 12]);
    assert!(bad.unwrap_err().to_string().starts_with("row 0"));
}

//! The jump by local lines, corrected for the bias that a bend leaves.

use serde::Serialize;

use super::bandwidth;
use super::half::Half;
use super::local_fit::{LocalFit, variance, weighted};
use super::neighbours::residuals;
use super::normal::QUANTILE;
use super::worst_case::{CurvatureBound, unit_bias};
use crate::jump::{LEAST_ROWS, NoJump};

/// How far from the cut rows count, in units of x.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidths {
    /// For the lines.
    pub estimate: f64,
    /// For the parabolas that measure the bias of the lines.
    pub bias: f64,
}

/// The jump of the outcome at a cut, from local lines with triangular weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RobustJump {
    /// How far from the cut rows count.
    pub bandwidths: Bandwidths,
    /// The line above at the cut minus the line below.
    pub estimate: f64,
    /// Its standard error, from nearest neighbours.
    pub standard_error: f64,
    /// The estimate less its estimated bias.
    pub bias_corrected: f64,
    /// The standard error of the bias-corrected estimate, which counts that the bias was estimated.
    pub robust_standard_error: f64,
    /// The 95 % interval of the bias-corrected estimate.
    pub interval: [f64; 2],
    /// Rows within the bandwidth of the lines: below the cut, and from it on.
    pub rows: (u64, u64),
    /// What the estimate says if the outcome may bend by at most a given curvature.
    pub curvature_bound: CurvatureBound,
}

/// The jump with the bandwidth that minimises its mean squared error.
///
/// The estimator and the interval are those of [calonico-2014, Theorem 1] with lines corrected by parabolas; bandwidths are common
/// to both sides, by plug-in with regularisation. The results agree with the defaults of the package `rdrobust`. Where we differ:
/// a bandwidth that has fewer than 30 rows on a side is widened until it has 30. Cost: `O(n log n)`.
///
/// ```
/// use rarely_review::robust_jump;
///
/// let x: Vec<f64> = (0..2000).map(|i| f64::from(i) / 1000.0 - 1.0).collect();
/// // A jump of ½, a bend, and noise that goes up and down.
/// let y: Vec<f64> = x.iter().map(|x| 0.5 * f64::from(u8::from(*x >= 0.0)) + x * x + 0.1 * (999.0 * x).sin()).collect();
/// let jump = robust_jump(&x, &y, 0.0)?;
/// assert!((jump.bias_corrected - 0.5).abs() < 0.02);
/// assert!(jump.interval[0] < 0.5 && 0.5 < jump.interval[1]);
/// # Ok::<(), rarely_review::NoJump>(())
/// ```
///
/// # Errors
/// If a side has too few rows or too few different values.
pub fn robust_jump(x: &[f64], y: &[f64], cut: f64) -> Result<RobustJump, NoJump> {
    let halves = Half::both(x, y, cut);
    for half in &halves {
        let rows = half.distance.len() as u64;
        if rows < LEAST_ROWS {
            return Err(NoJump::TooFewRows { cut, bandwidth: half.reach(), side: half.side, rows });
        }
    }
    let bandwidths = bandwidth::choose(&halves, cut)?;
    within(&halves, cut, bandwidths)
}

/// The jump with given bandwidths.
///
/// # Errors
/// If a bandwidth is not a positive number, or a side has too few rows or different values within it.
pub fn robust_jump_within(x: &[f64], y: &[f64], cut: f64, bandwidths: Bandwidths) -> Result<RobustJump, NoJump> {
    for found in [bandwidths.estimate, bandwidths.bias] {
        if !(found > 0.0 && found.is_finite()) {
            return Err(NoJump::NotABandwidth { found });
        }
    }
    within(&Half::both(x, y, cut), cut, bandwidths)
}

/// One line's value at the cut.
struct Level {
    estimate: f64,
    variance: f64,
    corrected: f64,
    corrected_variance: f64,
    unit_bias: f64,
    rows: u64,
}

fn within(halves: &[Half; 2], cut: f64, bandwidths: Bandwidths) -> Result<RobustJump, NoJump> {
    let [below, above] = halves;
    let (below, above) = (level(below, cut, bandwidths)?, level(above, cut, bandwidths)?);
    let estimate = above.estimate - below.estimate;
    let standard_error = (above.variance + below.variance).sqrt();
    let bias_corrected = above.corrected - below.corrected;
    let robust_standard_error = (above.corrected_variance + below.corrected_variance).sqrt();
    let margin = QUANTILE * robust_standard_error;
    Ok(RobustJump {
        bandwidths,
        estimate,
        standard_error,
        bias_corrected,
        robust_standard_error,
        interval: [bias_corrected - margin, bias_corrected + margin],
        rows: (below.rows, above.rows),
        curvature_bound: CurvatureBound { estimate, standard_error, unit_bias: above.unit_bias + below.unit_bias },
    })
}

/// The line of one side at the cut, and the same less `β₂·Σℓv²`, its bias if the outcome is a parabola there.
fn level(half: &Half, cut: f64, bandwidths: Bandwidths) -> Result<Level, NoJump> {
    let Bandwidths { estimate: bandwidth, bias } = bandwidths;
    let (side, rows) = (half.side, half.within(bandwidth) as u64);
    if rows < LEAST_ROWS {
        return Err(NoJump::TooFewRows { cut, bandwidth, side, rows });
    }
    let line = LocalFit::new(half, bandwidth, 1).ok_or(NoJump::OneValue { cut, bandwidth, side })?;
    let parabola = LocalFit::new(half, bias, 2).ok_or(NoJump::FewValues { cut, side, values: half.distinct })?;
    let rows_used = line.rows.max(parabola.rows);
    let (distance, outcome) = (&half.distance[..rows_used], &half.outcome[..rows_used]);
    let weights = line.weights(0);
    let squares: f64 = weights.iter().zip(distance).map(|(weight, distance)| weight * distance * distance).sum();
    let mut corrected = weights.clone();
    corrected.resize(rows_used, 0.0);
    for (corrected, bend) in corrected.iter_mut().zip(parabola.weights(2)) {
        *corrected -= squares * bend;
    }
    let residuals = residuals(distance, outcome);
    Ok(Level {
        estimate: weighted(&weights, outcome),
        variance: variance(&weights, &residuals),
        corrected: weighted(&corrected, outcome),
        corrected_variance: variance(&corrected, &residuals),
        unit_bias: unit_bias(&weights, distance),
        rows,
    })
}

//! The interval that holds whatever the outcome does within a bound on its curvature.
//!
//! If `|f″| ≤ M` on either side, the line's value at the cut is off by at most
//!
//! ```text
//! M·∫|k(s)|ds,  k(s) = Σ_{vᵢ ≥ s} ℓᵢ·(vᵢ − s)
//! ```
//!
//! with ℓ its weights: they reproduce every straight line, so that only `f(v) − f(0) − f′(0)v = ∫(v − s)⁺f″(s)ds` is left, and the
//! worst `f″` is `±M` with the sign of k [armstrong-2020; kolesar-2018]. The 95 % interval is the estimate ± `cv(bias/se)·se`, where
//! `cv(b)` is the 95 % quantile of `|N(b, 1)|`: it holds for every outcome within the bound [armstrong-2018; armstrong-2020].

use serde::Serialize;

use super::normal::{QUANTILE, below};

/// The confidence of an interval.
const LEVEL: f64 = 0.95;
/// Steps of a bisection: from any interval down to rounding.
const BISECTIONS: usize = 100;

/// What an estimate of a jump says if the curvature of the outcome is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvatureBound {
    /// The estimate, not corrected for its bias.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its largest bias if the outcome bends with a second derivative of at most 1 on either side.
    pub unit_bias: f64,
}

impl CurvatureBound {
    /// The 95 % interval if the second derivative is at most `curvature` in size.
    pub fn interval(&self, curvature: f64) -> [f64; 2] {
        let bias = curvature * self.unit_bias;
        let margin = if self.standard_error > 0.0 {
            critical_value(bias / self.standard_error) * self.standard_error
        } else {
            bias
        };
        [self.estimate - margin, self.estimate + margin]
    }

    /// The largest curvature for which the interval excludes 0. `None` if it holds 0 even for straight lines.
    pub fn largest_curvature(&self) -> Option<f64> {
        let size = self.estimate.abs();
        // A row at the cut alone would have no bias, but a line needs two values.
        if !(self.unit_bias > 0.0) || size == 0.0 {
            return None;
        }
        if !(self.standard_error > 0.0) {
            return Some(size / self.unit_bias);
        }
        let statistic = size / self.standard_error;
        if statistic <= QUANTILE {
            return None;
        }
        // At the answer the critical value is the statistic itself; the quantile rises with the bias.
        let bias = bisect((0.0, statistic), |bias| coverage(statistic, bias) >= LEVEL);
        Some(bias * self.standard_error / self.unit_bias)
    }
}

/// The 95 % quantile of `|N(bias, 1)|`, for a bias of at least 0 in standard errors.
///
/// ```
/// use rarely_review::critical_value;
/// assert!((critical_value(0.0) - 1.959_964).abs() < 1e-6);
/// assert!((critical_value(10.0) - 11.644_854).abs() < 1e-6);
/// ```
pub fn critical_value(bias: f64) -> f64 {
    // Between the one-sided and the two-sided quantile above the bias.
    bisect((bias, bias + 2.0), |value| coverage(value, bias) < LEVEL)
}

/// `P(|N(bias, 1)| ≤ value)`.
fn coverage(value: f64, bias: f64) -> f64 {
    below(value - bias) - below(-value - bias)
}

/// The end of the values, from the lower end on, for which `holds` is true.
fn bisect((mut low, mut high): (f64, f64), holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `∫|k(s)|ds` for weights on rising distances: the largest bias for a curvature of 1.
pub(super) fn unit_bias(weights: &[f64], distance: &[f64]) -> f64 {
    let (mut total, mut weight_beyond, mut kernel) = (0.0, 0.0, 0.0);
    for at in (0..weights.len()).rev() {
        weight_beyond += weights[at];
        let gap = distance[at] - if at == 0 { 0.0 } else { distance[at - 1] };
        // k is straight between neighbouring rows; its slope is minus the weight beyond.
        let next = kernel + weight_beyond * gap;
        total += absolute_area(kernel, next, gap);
        kernel = next;
    }
    total
}

/// The area between 0 and a straight line over a gap.
fn absolute_area(from: f64, to: f64, gap: f64) -> f64 {
    let (from_size, to_size) = (from.abs(), to.abs());
    if from * to >= 0.0 {
        0.5 * gap * (from_size + to_size)
    } else {
        // Two triangles that meet where the line crosses 0.
        0.5 * gap * (from * from + to * to) / (from_size + to_size)
    }
}

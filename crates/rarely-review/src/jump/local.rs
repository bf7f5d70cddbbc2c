//! A weighted straight line on one side of a cut.

use super::half::Powers;

/// The share of the weights' spread about the cut below which the rows have one value.
const SPREAD_SHARE: f64 = 1e-10;

/// How much a row weighs, by its distance from the cut as a share t of the bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// `1 − t`: the best one at the edge of the data [cheng-1997].
    Triangular,
    /// 1: every row within the bandwidth alike.
    Uniform,
}

impl Kernel {
    /// The weight as a polynomial in t.
    fn weight(self) -> [f64; 2] {
        match self {
            Self::Triangular => [1.0, -1.0],
            Self::Uniform => [1.0, 0.0],
        }
    }

    /// `C_K` of the bandwidth rule, `(C₂/4C₁)^⅕` of [imbens-2012, §3] for a line at an edge: `480^⅕` and `144^⅕`.
    pub(super) fn constant(self) -> f64 {
        match self {
            Self::Triangular => 3.4375,
            Self::Uniform => 2.7019,
        }
    }
}

/// A line's value at the cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LocalLine {
    /// The value.
    pub(super) level: f64,
    /// Its variance (HC0).
    pub(super) variance: f64,
}

/// The line `a + bt` that minimises `Σw(t)(y − a − bt)²`, at the cut. `None` if the rows have one value.
///
/// `a = Σℓ(t)y` with `ℓ(t) = w(t)(S₂ − S₁t)/(S₀S₂ − S₁²)`, `Sⱼ = Σw(t)tʲ`; its HC0 variance is `Σℓ(t)²(y − a − bt)²`, as of
/// `(XᵀWX)⁻¹XᵀW·diag(e²)·WX(XᵀWX)⁻¹`. `ℓ²` is a polynomial of degree 4, so that the sums suffice.
pub(super) fn fit(powers: &Powers, kernel: Kernel) -> Option<LocalLine> {
    let weight = kernel.weight();
    let moments = [0, 1, 2].map(|power| sum(&weight, &powers.alone[power..]));
    let outcomes = [0, 1].map(|power| sum(&weight, &powers.with_outcome[power..]));
    let spread = moments[0] * moments[2] - moments[1] * moments[1];
    if !(spread > SPREAD_SHARE * moments[0] * moments[2]) {
        return None;
    }
    let level = (moments[2] * outcomes[0] - moments[1] * outcomes[1]) / spread;
    let slope = (moments[0] * outcomes[1] - moments[1] * outcomes[0]) / spread;
    let influence: [f64; 3] = product(&weight, &[moments[2] / spread, -moments[1] / spread]);
    let influence_squared: [f64; 5] = product(&influence, &influence);
    let line = [level, slope];
    let line_squared: [f64; 3] = product(&line, &line);
    let cross: [f64; 6] = product(&influence_squared, &line);
    let fitted: [f64; 7] = product(&influence_squared, &line_squared);
    let variance = sum(&influence_squared, &powers.with_square) - 2.0 * sum(&cross, &powers.with_outcome)
        + sum(&fitted, &powers.alone);
    // Where the line goes through every row only rounding is left, and it may be negative.
    Some(LocalLine { level, variance: variance.max(0.0) })
}

/// `Σⱼ polynomialⱼ·sumsⱼ`: the sum of a polynomial in t over rows.
fn sum(polynomial: &[f64], sums: &[f64]) -> f64 {
    polynomial.iter().zip(sums).map(|(coefficient, sum)| coefficient * sum).sum()
}

/// The product of two polynomials, whose coefficients are `LENGTH`.
fn product<const LENGTH: usize>(a: &[f64], b: &[f64]) -> [f64; LENGTH] {
    let mut coefficients = [0.0; LENGTH];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            coefficients[i + j] += a * b;
        }
    }
    coefficients
}

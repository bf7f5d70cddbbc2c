//! The standard normal distribution.

/// The 97.5 % quantile of the standard normal distribution: half the width of a 95 % interval.
pub(super) const QUANTILE: f64 = 1.959_963_984_540_054;

/// `P(N ≤ x)`.
pub(super) fn below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// `P(|N| > |x|)`.
pub(super) fn two_sided(x: f64) -> f64 {
    libm::erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2)
}

/// The density at x.
pub(super) fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt()
}

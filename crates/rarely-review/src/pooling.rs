//! Partial pooling: what the gains of other groups say about one group's (mathematics §18). It informs, and decides nothing.

use rarely_core::Interval;
use serde::Serialize;

/// Fewer estimates say nothing about how far groups differ.
pub(crate) const LEAST_POOLED: usize = 3;
/// Standard deviations of a plain 95 % interval.
const PLAIN: f64 = 1.959_963_984_540_054;

/// Estimates of a normal–normal model: `y_g ~ N(θ_g, s_g²)`, `θ_g ~ N(μ, τ²)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pooled {
    /// `μ̂`.
    pub mean: f64,
    /// Its standard error.
    pub mean_error: f64,
    /// `τ̂`, how far the groups' true values differ.
    pub spread: f64,
    /// Each group's estimate, drawn towards the mean, with a plain 95 % interval.
    pub shrunk: Vec<Interval>,
}

/// Pools estimates, each with its standard error: `τ²` by its moments [dersimonian-1986], then `θ̃_g = B_g μ̂ + (1 − B_g) y_g` with
/// `B_g = s_g²/(s_g² + τ̂²)` and variance `(1 − B_g)s_g² + B_g²/Σ(s² + τ̂²)⁻¹` [morris-1983]. `None` for fewer than three, or an error that is not
/// positive. The uncertainty of `τ̂` is left out, so that intervals are somewhat short with few groups.
///
/// ```
/// // Eight schools [rubin-1981]: they differ by no more than chance.
/// let schools = [(28.0, 15.0), (8.0, 10.0), (-3.0, 16.0), (7.0, 11.0), (-1.0, 9.0), (1.0, 11.0), (18.0, 10.0), (12.0, 18.0)];
/// let pooled = rarely_review::pool(&schools).unwrap();
/// assert_eq!(pooled.spread, 0.0);
/// assert!((pooled.mean - 7.686).abs() < 0.001 && (pooled.mean_error - 4.072).abs() < 0.001);
/// ```
pub fn pool(estimates: &[(f64, f64)]) -> Option<Pooled> {
    let usable = |&(estimate, error): &(f64, f64)| estimate.is_finite() && error.is_finite() && error > 0.0;
    if estimates.len() < LEAST_POOLED || !estimates.iter().all(usable) {
        return None;
    }
    let weighted = |spread_squared: f64| {
        let weight = |error: f64| 1.0 / (error * error + spread_squared);
        let sum: f64 = estimates.iter().map(|&(_, error)| weight(error)).sum();
        let mean = estimates.iter().map(|&(estimate, error)| weight(error) * estimate).sum::<f64>() / sum;
        (mean, sum)
    };
    let (fixed_mean, sum) = weighted(0.0);
    let squares: f64 = estimates.iter().map(|&(_, error)| (error * error).powi(-2)).sum();
    let heterogeneity: f64 = estimates.iter().map(|&(estimate, error)| ((estimate - fixed_mean) / error).powi(2)).sum();
    let degrees = (estimates.len() - 1) as f64;
    let spread_squared = ((heterogeneity - degrees) / (sum - squares / sum)).max(0.0);
    let (mean, sum) = weighted(spread_squared);
    let shrunk = estimates.iter().map(|&(estimate, error)| {
        let own = error * error;
        let pull = own / (own + spread_squared);
        let variance = (1.0 - pull) * own + pull * pull / sum;
        Interval::around(pull * mean + (1.0 - pull) * estimate, PLAIN * variance.sqrt())
    });
    Some(Pooled { mean, mean_error: sum.sqrt().recip(), spread: spread_squared.sqrt(), shrunk: shrunk.collect() })
}

//! The set of parameters at planned looks (mathematics §13), and noise that is estimated.
//!
//! For each pair of options, with probability at least `1−δ/K` for all pairs at once,
//! `‖θ_i − θ̂_i‖²_{W_i} + ‖θ_j − θ̂_j‖²_{W_j} ≤ r²`. With declared noise `r² = σ²(2d + 2√(2d·u) + 2u)`, `u = ln(KP/δ)`. Without,
//! `r² = max(s_i², s_j²)·2d·F⁻¹_{2d,ν}(1−δ/(KP))` with the smaller option's degrees of freedom: each option's part is `σ_a²χ²_d`, so that the sum
//! is at most the larger variance times `χ²_{2d}`. Estimates are drawn towards 0 by the penalty by at most `√λ‖θ‖`, which is added.

use rarely_core::{LeastSquares, PlannedNoise, PlannedSets};
use rarely_policy::PolicyDocument;

use crate::moments::Moments;
use crate::normal_equations::NormalEquations;

/// `r` of every pair's set, for so many looks; `None` if an option has too few rows.
pub(crate) fn planned_radius(document: &PolicyDocument, totals: &[Moments], looks: u64) -> Option<f64> {
    let shape = document.shape();
    let sums: Vec<rarely_core::ArmSums> = totals.iter().map(arm_sums).collect();
    let fit = LeastSquares::from_sums(shape, &sums).ok()?;
    let length: f64 = (0..shape.arms())
        .map(|arm| fit.arm(arm).ok().map(|fit| fit.estimate().iter().map(|value| value * value).sum::<f64>()))
        .sum::<Option<f64>>()?;
    let delta = rarely_core::ErrorProbability::new(document.evidence().error_probability / looks as f64).ok()?;
    let look = rarely_core::Look::only(fit.cases());
    let squared = if let Some(noise) = document.evidence().noise {
        let noise = PlannedNoise::Declared(rarely_core::Noise::new(noise).ok()?);
        PlannedSets::new(&fit, noise, delta, look).ok()?.pair_radius_squared().ok()?
    } else {
        let fits = (0..shape.arms()).map(|arm| fit.arm(arm).ok()).collect::<Option<Vec<_>>>()?;
        let largest = fits.iter().map(|fit| fit.residual_variance()).fold(0.0, f64::max);
        let degrees = fits.iter().map(|fit| fit.degrees()).fold(f64::INFINITY, f64::min);
        let both = 2.0 * shape.dimension() as f64;
        let pairs = (shape.arms() * (shape.arms() - 1) / 2) as f64;
        if !(degrees >= 1.0) {
            return None;
        }
        largest * both * rarely_core::f_upper(both, degrees, delta.get() / pairs)
    };
    Some(squared.sqrt() + (document.evidence().penalty * length).sqrt())
}

/// The largest standard deviation of an option's outcomes around its line; `None` if no option has rows enough.
pub(crate) fn estimated_noise(totals: &[Moments]) -> Option<f64> {
    let deviations = totals.iter().filter_map(|sums| {
        let (rows, information, moment) = sums.base();
        let equations = NormalEquations::new(&information, &moment);
        let degrees = rows.checked_sub(equations.rank(0..moment.len()) as u64).filter(|&degrees| degrees > 0)?;
        let residual = (sums.reward_squares() - equations.explained(0..moment.len())).max(0.0);
        Some((residual / degrees as f64).sqrt())
    });
    deviations.filter(|noise| *noise > 0.0).reduce(f64::max)
}

/// What least squares needs of an option's sums, where its outcomes were not counted by class.
pub(crate) fn arm_sums(sums: &Moments) -> rarely_core::ArmSums {
    let (count, information, moment) = sums.base();
    let squared_rewards = sums.reward_squares();
    rarely_core::ArmSums { count, information, moment, squared_rewards, rarer_outcomes: count }
}

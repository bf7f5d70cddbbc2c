//! Logistic regression: outcomes from 0 to 1 whose mean is `μ(sᵀθ) = 1/(1+exp(−sᵀθ))`.
//!
//! Two ways to learn it. [`working_outcome`] turns one outcome into a weighted row of the linear regression, so that a normal posterior
//! follows round by round [chapelle-2011, Alg. 3]. [`LogisticFit`] keeps every outcome and fits them together, which a confidence set
//! needs [lee-2024, Thm 3.1].

use crate::arm::is_sound;
use crate::number::Penalty;
use crate::symmetric::{self, ANY};

/// Steps of Newton's method, at most. It converges quadratically; more than twenty are needed only where outcomes are nearly separable.
const MAX_STEPS: usize = 100;
/// `gᵀH⁻¹g`, twice what is left to gain, at which Newton's method ends.
const CONVERGED: f64 = 1e-22;
/// The least weight of a working outcome: `1/μ'` stays finite where the mean is all but 0 or 1.
const LEAST_WEIGHT: f64 = 1e-9;

/// `μ(x)`.
pub(crate) fn mean_outcome(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + libm::exp(-x)) } else { 1.0 - mean_outcome(-x) }
}

/// `μ'(x) = μ(x)(1 − μ(x))`.
pub(crate) fn slope(x: f64) -> f64 {
    let small = libm::exp(-x.abs());
    small / (1.0 + small).powi(2)
}

/// `−y·x + ln(1 + eˣ)`: what an outcome y loses under `x = sᵀθ`.
fn loss(x: f64, outcome: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs())) - outcome * x
}

/// The response and the weight with which the linear regression learns an outcome, so that its estimate becomes the mode of the posterior
/// and its information the curvature there: Laplace's approximation, renewed in every round.
///
/// Where the posterior was `N(m, V⁻¹)` the new mode is `m + c·V⁻¹s`, with `c = w(y − μ(sᵀm + c·sᵀV⁻¹s))` for an outcome that counts w
/// times: one equation in one number.
pub(crate) fn working_outcome(predicted: f64, width_squared: f64, outcome: f64, times: f64) -> (f64, f64) {
    let (mut low, mut high) = (times * (outcome - 1.0), times * outcome);
    let mut step = (times * (outcome - mean_outcome(predicted))).clamp(low, high);
    for _ in 0..MAX_STEPS {
        let at = predicted + width_squared * step;
        let excess = step - times * (outcome - mean_outcome(at));
        if excess > 0.0 {
            high = step;
        } else {
            low = step;
        }
        let newton = step - excess / (1.0 + times * width_squared * slope(at));
        // Newton's method overshoots where the curve is flat: halving cannot.
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if excess == 0.0 || (next - step).abs() <= 1e-16 * step.abs() {
            break;
        }
        step = next;
    }
    let mode = predicted + width_squared * step;
    let weight = times * slope(mode).max(LEAST_WEIGHT);
    (mode + step / weight, weight)
}

/// Outcomes of one arm, and the regression through them as of the last fit.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LogisticFit {
    penalty: f64,
    prior_mean: Vec<f64>,
    /// Context and outcome, row by row.
    rows: Vec<f64>,
    estimate: Vec<f64>,
    /// `(λI + Σμ'(sᵀθ̂)ssᵀ)⁻¹` of the rows that were fitted, packed.
    inverse: Vec<f64>,
    /// In the norm of that matrix the truth is at most this far from the estimate.
    radius: f64,
}

/// Under which assumptions a fit has a radius.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogisticAssumptions {
    /// `S`: the truth is at most this far from the prior mean.
    pub(crate) norm_bound: f64,
    /// `ln(1/δ)` of this fit's set.
    pub(crate) log_inverse_error: f64,
}

impl LogisticFit {
    pub(crate) fn new(penalty: f64, prior_mean: &[f64], assumptions: LogisticAssumptions) -> Self {
        let mut fit = Self {
            penalty,
            prior_mean: prior_mean.to_vec(),
            rows: Vec::new(),
            estimate: prior_mean.to_vec(),
            inverse: Vec::new(),
            radius: 0.0,
        };
        fit.fit(assumptions);
        fit
    }

    fn dimension(&self) -> usize {
        self.prior_mean.len()
    }

    /// Outcomes so far, fitted or not.
    pub(crate) fn count(&self) -> u64 {
        (self.rows.len() / (self.dimension() + 1)) as u64
    }

    /// Keeps an outcome for the next fit.
    pub(crate) fn push(&mut self, context: &[f64], outcome: f64) {
        self.rows.extend_from_slice(context);
        self.rows.push(outcome);
    }

    /// Keeps all outcomes of another log.
    pub(crate) fn append(&mut self, other: &Self) {
        self.rows.extend_from_slice(&other.rows);
    }

    pub(crate) fn same_prior(&self, other: &Self) -> bool {
        self.penalty == other.penalty && self.prior_mean == other.prior_mean
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[f64], f64)> + Clone {
        let d = self.dimension();
        self.rows.chunks_exact(d + 1).map(move |row| (&row[..d], row[d]))
    }

    /// `θ̂`.
    pub(crate) fn estimate(&self) -> &[f64] {
        &self.estimate
    }

    /// `sᵀθ̂`.
    pub(crate) fn predict(&self, context: &[f64]) -> f64 {
        symmetric::dot(context, &self.estimate)
    }

    /// Half the width of the interval of `sᵀθ`.
    pub(crate) fn half_width(&self, context: &[f64]) -> f64 {
        self.radius * symmetric::quadratic(&self.inverse, context).max(0.0).sqrt()
    }

    /// `r`.
    pub(crate) fn radius(&self) -> f64 {
        self.radius
    }

    /// Fits all outcomes: the penalised maximum likelihood, with the penalty raised until it is within the norm bound of the prior mean.
    ///
    /// With probability 1−δ, at all times at once, the truth loses at most
    /// `β² = ln(1/δ) + inf_c {d ln(1/c) + 2SLc}` more than any estimate within the norm bound, L a bound on the gradient there
    /// [lee-2024, Thm 3.1]. With `M = max |sᵀ(θ*−θ̂)|` over the rows, a logistic loss grows by at least `μ'Δ²/(2+M)` beside its tangent
    /// [abeille-2021, Lemma 8], so that with the penalty ν of the fit and `ρ = ‖θ̂−θ₀‖`
    /// `‖θ*−θ̂‖²_H ≤ (2+M)·B`, `B = β² + ν(S²−ρ²)/2`, H with the penalty λ ≤ ν. The source bounds M by the norms; we also use
    /// `M ≤ w‖θ*−θ̂‖_H` with `w = max ‖s‖_{H⁻¹}`, which gives `r = (wB + √(w²B²+8B))/2`: it tends to `√(2B)`.
    pub(crate) fn fit(&mut self, assumptions: LogisticAssumptions) {
        let (d, bound) = (self.dimension(), assumptions.norm_bound);
        let penalty = self.fit_within(bound);
        let mut hessian = vec![0.0; symmetric::packed_length(d)];
        let mut norms = 0.0_f64;
        let mut largest = 0.0_f64;
        for (context, _) in self.rows() {
            symmetric::add_outer_sized::<ANY>(&mut hessian, slope(self.predict(context)), context);
            let norm = symmetric::dot(context, context).sqrt();
            norms += norm;
            largest = largest.max(norm);
        }
        symmetric::add_diagonal(&mut hessian, d, self.penalty);
        symmetric::factor(&mut hessian, d, self.penalty);
        symmetric::invert(&mut hessian, d, &mut vec![0.0; d]);
        self.inverse = hessian;
        if self.rows.is_empty() {
            self.radius = self.penalty.sqrt() * bound;
            return;
        }
        let (dimension, slack) = (d as f64, 2.0 * bound * norms);
        let volume = if slack <= dimension { slack } else { dimension * (libm::log(slack / dimension) + 1.0) };
        let inside = bound * bound - self.distance_squared_from_prior();
        let b = assumptions.log_inverse_error + volume + 0.5 * penalty * inside.max(0.0);
        let width = self.rows().map(|(context, _)| symmetric::quadratic(&self.inverse, context)).fold(0.0, f64::max);
        let w = width.max(0.0).sqrt();
        let own = 0.5 * (w * b + (w * w * b * b + 8.0 * b).sqrt());
        self.radius = own.min(((2.0 + 2.0 * bound * largest) * b).sqrt());
    }

    /// Moves the estimate to the penalised maximum likelihood within the norm bound, and returns the penalty of that fit.
    fn fit_within(&mut self, bound: f64) -> f64 {
        let mut penalty = self.penalty;
        self.newton(penalty);
        let is_within = |fit: &Self| fit.distance_squared_from_prior() <= bound * bound;
        if is_within(self) {
            return penalty;
        }
        let mut low = penalty;
        while !is_within(self) {
            if penalty > 1e30 {
                self.estimate.copy_from_slice(&self.prior_mean);
                return penalty;
            }
            low = penalty;
            penalty *= 4.0;
            self.newton(penalty);
        }
        let (mut high, mut best) = (penalty, self.estimate.clone());
        // Its norm falls as the penalty grows. Near the bound is near enough: what is missing is part of the radius.
        for _ in 0..30 {
            if self.distance_squared_from_prior() >= 0.998 * bound * bound && is_within(self) {
                break;
            }
            penalty = (low * high).sqrt();
            self.newton(penalty);
            if is_within(self) {
                high = penalty;
                best.copy_from_slice(&self.estimate);
            } else {
                low = penalty;
            }
        }
        self.estimate = best;
        high
    }

    fn distance_squared_from_prior(&self) -> f64 {
        self.estimate.iter().zip(&self.prior_mean).map(|(a, b)| (a - b).powi(2)).sum()
    }

    /// Newton's method with halved steps, from the estimate of before.
    fn newton(&mut self, penalty: f64) {
        let d = self.dimension();
        let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; symmetric::packed_length(d)]);
        let mut value = self.objective(penalty, &self.estimate);
        for _ in 0..MAX_STEPS {
            hessian.fill(0.0);
            for (at, slope) in gradient.iter_mut().enumerate() {
                *slope = penalty * (self.estimate[at] - self.prior_mean[at]);
            }
            for (context, outcome) in self.rows() {
                let x = self.predict(context);
                symmetric::add_outer_sized::<ANY>(&mut hessian, slope(x), context);
                symmetric::add_scaled(&mut gradient, mean_outcome(x) - outcome, context);
            }
            symmetric::add_diagonal(&mut hessian, d, penalty);
            symmetric::factor(&mut hessian, d, penalty);
            let mut step = gradient.clone();
            symmetric::solve(&hessian, &mut step);
            let decrement = symmetric::dot(&gradient, &step);
            if !(decrement > CONVERGED) {
                return;
            }
            let mut length = 1.0;
            loop {
                let mut next = self.estimate.clone();
                symmetric::add_scaled(&mut next, -length, &step);
                let found = self.objective(penalty, &next);
                // Where hardly anything is left to gain, rounding hides it: the full step is right.
                if found <= value - 1e-4 * length * decrement || decrement < 1e-9 * (1.0 + value.abs()) {
                    (self.estimate, value) = (next, found);
                    break;
                }
                length *= 0.5;
                if length < 1e-12 {
                    return;
                }
            }
        }
    }

    /// `ν‖θ−θ₀‖²/2` and all losses.
    fn objective(&self, penalty: f64, theta: &[f64]) -> f64 {
        let squares: f64 = theta.iter().zip(&self.prior_mean).map(|(a, b)| (a - b).powi(2)).sum();
        let losses: f64 = self.rows().map(|(context, outcome)| loss(symmetric::dot(context, theta), outcome)).sum();
        0.5 * penalty * squares + losses
    }

    /// Whether every part has its length, every number is finite and every outcome is from 0 to 1.
    pub(crate) fn is_sound(&self, dimension: usize) -> bool {
        let all = [&self.prior_mean, &self.estimate, &self.inverse, &self.rows];
        Penalty::new(self.penalty).is_ok()
            && self.prior_mean.len() == dimension
            && self.estimate.len() == dimension
            && self.inverse.len() == symmetric::packed_length(dimension)
            && self.rows.len().is_multiple_of(dimension + 1)
            && all.iter().all(|values| values.iter().all(|value| is_sound(*value)))
            && self.rows().all(|(_, outcome)| (0.0..=1.0).contains(&outcome))
            && (0.0..=1e60).contains(&self.radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_solves_its_equation() {
        for predicted in [-800.0, -3.0, 0.0, 0.7, 40.0] {
            for width_squared in [0.0, 1e-9, 0.3, 25.0, 1e6, 1e20] {
                for (outcome, times) in [(0.0, 1.0), (0.25, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 0.1)] {
                    let (response, weight) = working_outcome(predicted, width_squared, outcome, times);
                    // What the linear regression does with them: c = w(z − x)/(1 + wq).
                    let step = weight * (response - predicted) / (1.0 + weight * width_squared);
                    let mode = predicted + width_squared * step;
                    let left = step - times * (outcome - mean_outcome(mode));
                    // The mode is known to the last places of what was added to the prediction.
                    let tolerance = 1e-13 * (1.0 + (width_squared * step).abs() + predicted.abs());
                    assert!(left.abs() <= tolerance, "{predicted} {width_squared} {outcome}: {left}");
                }
            }
        }
    }

    #[test]
    fn a_fit_keeps_within_its_norm_bound_where_outcomes_are_separable() {
        let assumptions = LogisticAssumptions { norm_bound: 2.0, log_inverse_error: 5.0 };
        let mut fit = LogisticFit::new(1e-6, &[0.0, 0.0], assumptions);
        for at in 0..50 {
            let x = f64::from(at) / 25.0 - 1.0;
            fit.push(&[1.0, x], if x > 0.0 { 1.0 } else { 0.0 });
        }
        fit.fit(assumptions);
        let norm = fit.distance_squared_from_prior().sqrt();
        assert!((1.99..=2.0).contains(&norm), "{norm}");
    }
}

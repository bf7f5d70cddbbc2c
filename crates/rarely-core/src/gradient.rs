//! The paper's projected gradient, the alternative to the exact conservative update.
//!
//! From `φ = θ̃`, `n` times: `φ ← φ + (ε/√i)·∂K/∂φ`, then towards `θ̂` until inside the set [lansdell-2019, Alg. 1]. A Euclidean
//! gradient with a radial projection in another metric has other fixed points than the maximum, so this falls short
//! of the exact update; it is here to reproduce the paper and to measure by how much.

use crate::arm::{Parameters, centre};
use crate::cone::{Conservative, Workspace, normalise};
use crate::confidence::{ConfidenceSet, Profile};
use crate::error::SettingsError;
use crate::number::in_range;
use crate::symmetric::dot;

/// How the maximiser of the cosine is found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Solver {
    /// The secular equation: exact.
    #[default]
    Exact,
    /// The paper's projected gradient.
    ProjectedGradient {
        /// Steps, the paper's n_iter = 100.
        iterations: u32,
        /// First step size, the paper's ε = 0.1.
        step: f64,
    },
}

impl Solver {
    /// The paper's projected gradient with its own settings.
    pub const PAPER: Self = Self::ProjectedGradient { iterations: 100, step: 0.1 };

    pub(crate) fn check(self) -> Result<(), SettingsError> {
        match self {
            Self::Exact => Ok(()),
            Self::ProjectedGradient { iterations, step } => {
                in_range(
                    "iterations",
                    f64::from(iterations),
                    1.0..=1e6,
                    Some("choose the number of gradient steps; the paper takes 100"),
                )?;
                in_range("step", step, 1e-9..=1e6, Some("choose the length of the first step; the paper's is 0.1"))
                    .map(|_| ())
            }
        }
    }
}

/// `cos(θ̃,φ)`: the angle between centred parameters, 0 if either is zero. Symmetric and free of scale.
///
/// # Panics
/// If the shapes differ.
pub fn cosine(first: &Parameters, second: &Parameters) -> f64 {
    assert_eq!(first.shape(), second.shape(), "both have the same arms and variables");
    let (first, second) = (unit(first), unit(second));
    dot(&first, &second)
}

fn unit(parameters: &Parameters) -> Vec<f64> {
    let mut values = parameters.centred().values().to_vec();
    normalise(&mut values);
    values
}

/// `∂K/∂φ = [Jθ̃(φᵀJφ) − Jφ(θ̃ᵀJφ)] / (‖θ̃‖_J (φᵀJφ)^{3/2})`, the paper's eq. (2) with its sign corrected. `J = kP` may be
/// replaced by `P`: its scale cancels. Zero where `φ` has no direction.
///
/// # Panics
/// If the shapes differ.
pub fn cosine_gradient(policy: &Parameters, at: &Parameters) -> Parameters {
    assert_eq!(policy.shape(), at.shape(), "both have the same arms and variables");
    let (old, new) = (policy.centred(), at.centred());
    let (old, new) = (old.values(), new.values());
    let (oo, on, nn) = (dot(old, old), dot(old, new), dot(new, new));
    let divisor = oo.sqrt() * nn * nn.sqrt();
    let entry = |(o, n): (&f64, &f64)| if divisor > 0.0 { (o * nn - n * on) / divisor } else { 0.0 };
    Parameters::from_computed(policy.shape(), old.iter().zip(new).map(entry).collect())
}

impl ConfidenceSet<'_> {
    /// The result of `iterations` steps of the paper's projected gradient. The iterates stay in the span of `θ̃−θ̂`,
    /// `P(θ̃−θ̂)` and `Pθ̂`, so that after O(kd²) each step is O(1).
    ///
    /// In the published profile the gradient lacks its divisor `‖θ̃‖_J`, as in the authors' program, and the projection is theirs.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn projected_gradient(&self, policy: &Parameters, iterations: u32, step: f64) -> Conservative {
        let mut workspace = Workspace::default();
        let cosine = workspace.ascend(self, policy, iterations, step);
        Conservative { parameters: Parameters::from_computed(policy.shape(), workspace.point), cosine }
    }
}

impl Workspace {
    /// The maximiser of the cosine as a solver finds it, into `point`; its cosine.
    pub(crate) fn solve(&mut self, solver: Solver, set: &ConfidenceSet<'_>, policy: &Parameters) -> f64 {
        match solver {
            Solver::Exact => self.maximise(set, policy),
            Solver::ProjectedGradient { iterations, step } => self.ascend(set, policy, iterations, step),
        }
    }

    fn ascend(&mut self, set: &ConfidenceSet<'_>, policy: &Parameters, iterations: u32, step: f64) -> f64 {
        let shape = policy.shape();
        assert_eq!(shape, set.statistics().shape(), "a policy has the shape of the statistics");
        self.resize(shape.arms(), shape.dimension());
        self.old.copy_from_slice(policy.values());
        self.normalise_old();
        // The basis: θ̃−θ̂, P(θ̃−θ̂), Pθ̂.
        let estimates = || set.statistics().arms().iter().flat_map(super::ridge::Ridge::estimate);
        for (at, (policy, estimate)) in policy.values().iter().zip(estimates()).enumerate() {
            self.ray[at] = policy - estimate;
            self.centre_solved[at] = *estimate;
        }
        self.old_solved.copy_from_slice(&self.ray);
        centre(&mut self.old_solved, shape.dimension());
        centre(&mut self.centre_solved, shape.dimension());
        let y = self.climb(set, iterations, step);
        for (at, estimate) in estimates().enumerate() {
            self.point[at] =
                estimate + y[0] * self.ray[at] + y[1] * self.old_solved[at] + y[2] * self.centre_solved[at];
        }
        self.cosine_of_point()
    }

    /// The steps, in coordinates: `φ = θ̂ + y₀(θ̃−θ̂) + y₁P(θ̃−θ̂) + y₂Pθ̂`, so that `Pθ̃ = (1,1)` and `Pφ = (y₀+y₁, 1+y₂)` in the last two.
    fn climb(&mut self, set: &ConfidenceSet<'_>, iterations: u32, step: f64) -> [f64; 3] {
        let gram = self.gram(set);
        let plane = Plane::new(&self.old_solved, &self.centre_solved);
        let old = [1.0, 1.0];
        let old_norm = plane.product(old, old).sqrt();
        let gain = match set.profile() {
            Profile::Rigorous => 1.0,
            Profile::Published => (set.statistics().shape().arms() as f64).sqrt() * old_norm,
        };
        let mut y = [1.0, 0.0, 0.0];
        // With a single difference the cosine is 1 or −1: its gradient is zero, and what is computed of it is rounding.
        let flat = self.old.len() - set.statistics().shape().dimension() == 1;
        let step = if flat { 0.0 } else { step };
        for iteration in 1..=iterations {
            let new = [y[0] + y[1], 1.0 + y[2]];
            let (on, nn) = (plane.product(old, new), plane.product(new, new));
            let rate = gain * step / f64::from(iteration).sqrt() / (old_norm * nn * nn.sqrt());
            if !rate.is_finite() {
                break;
            }
            y[1] += rate * (old[0] * nn - new[0] * on);
            y[2] += rate * (old[1] * nn - new[1] * on);
            let keep = set.keep(form(&gram, y));
            if keep < 1.0 {
                y = y.map(|value| keep * value);
            }
        }
        y
    }

    /// `⟨xᵢ, xⱼ⟩_V` of the basis.
    fn gram(&mut self, set: &ConfidenceSet<'_>) -> [[f64; 3]; 3] {
        let mut gram = [[0.0; 3]; 3];
        let d = set.statistics().shape().dimension();
        let basis = [&self.ray, &self.old_solved, &self.centre_solved];
        for (arm, ridge) in set.statistics().arms().iter().enumerate() {
            let part = arm * d..(arm + 1) * d;
            for (i, row) in gram.iter_mut().enumerate() {
                ridge.apply(&basis[i][part.clone()], &mut self.row);
                for (j, entry) in row.iter_mut().enumerate() {
                    *entry += dot(&basis[j][part.clone()], &self.row);
                }
            }
        }
        gram
    }
}

/// Inner products in the plane of two vectors.
struct Plane {
    first: f64,
    mixed: f64,
    second: f64,
}

impl Plane {
    fn new(first: &[f64], second: &[f64]) -> Self {
        Self { first: dot(first, first), mixed: dot(first, second), second: dot(second, second) }
    }

    fn product(&self, a: [f64; 2], b: [f64; 2]) -> f64 {
        a[0] * b[0] * self.first + (a[0] * b[1] + a[1] * b[0]) * self.mixed + a[1] * b[1] * self.second
    }
}

fn form(gram: &[[f64; 3]; 3], y: [f64; 3]) -> f64 {
    (0..3).map(|i| y[i] * (0..3).map(|j| gram[i][j] * y[j]).sum::<f64>()).sum::<f64>().max(0.0)
}

//! Errors of predicting each outcome from those before it, and the bound on unknown noise that follows (mathematics §12).
//!
//! `E = Σ(y_t − s_tᵀθ̂_{t−1})²` over outcomes that were fixed beforehand stochastically dominates `σ²χ²_n`, whatever chose the arms, if the
//! noise is Gaussian. The first `2kd` outcomes (`2d` of an arm) are left out, since their errors are those of having learned nothing
//! yet. Bounds are taken when there were `4kd`, `8kd`, `16kd`, … outcomes.

use crate::arm::Shape;
use crate::quantile::chi_squared_quantile;

/// The errors of all arms together, and those of each.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PredictionErrors {
    all: MarkedErrors,
    arms: Vec<MarkedErrors>,
}

/// Squared errors now, and when there were twice, four, eight … times as many as there are parameters.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct MarkedErrors {
    now: SquaredErrors,
    marked: Vec<SquaredErrors>,
}

/// `Σ(y_t − s_tᵀθ̂_{t−1})²`, and of how many outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SquaredErrors {
    sum: f64,
    count: u64,
}

impl PredictionErrors {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { all: MarkedErrors::default(), arms: vec![MarkedErrors::default(); shape.arms()] }
    }

    /// Adds the error of one prediction.
    #[inline]
    pub(crate) fn add(&mut self, shape: Shape, arm: usize, residual: f64) {
        let error = SquaredErrors { sum: residual * residual, count: 1 };
        self.all.add(error, shape.parameters());
        self.arms[arm].add(error, shape.dimension());
    }

    /// The errors of a log and of a later one, whose end is the next place for a mark.
    pub(crate) fn followed_by(mut self, shape: Shape, later: &Self) -> Self {
        self.all.add(later.all.now, shape.parameters());
        for (mine, more) in self.arms.iter_mut().zip(&later.arms) {
            mine.add(more.now, shape.dimension());
        }
        self
    }

    /// `σ²_up = min_{j≥1} E_j/χ²⁻¹_{n_j}(β_j)`, `β_j = β/(j(j+1))`: exceeded by `σ²` with probability at most `β`, if the noise is
    /// Gaussian with one variance. `None` before the first bound.
    pub(crate) fn variance_bound(&self, probability: f64) -> Option<f64> {
        self.all.variance_bound(probability)
    }

    /// The same for each arm at its own counts, with `β/k` each, so that variances may differ.
    pub(crate) fn arm_variance_bounds(&self, probability: f64) -> Vec<Option<f64>> {
        let share = probability / self.arms.len() as f64;
        self.arms.iter().map(|errors| errors.variance_bound(share)).collect()
    }

    /// How many marks there are: while there is no further one, bounds stay.
    pub(crate) fn marks(&self) -> usize {
        self.all.marked.len() + self.arms.iter().map(|errors| errors.marked.len()).sum::<usize>()
    }

    pub(crate) fn is_sound(&self, shape: Shape, rounds: u64) -> bool {
        self.arms.len() == shape.arms() && self.arms.iter().chain([&self.all]).all(|errors| errors.is_sound(rounds))
    }
}

impl MarkedErrors {
    #[inline]
    fn add(&mut self, more: SquaredErrors, parameters: usize) {
        self.now.sum += more.sum;
        self.now.count += more.count;
        let doublings = u32::try_from(self.marked.len() + 1).unwrap_or(u32::MAX);
        if self.now.count >= (parameters as u64).saturating_mul(2_u64.saturating_pow(doublings)) {
            self.marked.push(self.now);
        }
    }

    fn variance_bound(&self, probability: f64) -> Option<f64> {
        let (first, later) = self.marked.split_first()?;
        let bound = |(j, errors): (u32, &SquaredErrors)| {
            // At least by as much too large as sums round.
            let sum = (errors.sum - (1.0 - 1e-12) * first.sum).max(0.0);
            let spent = probability / (f64::from(j) * (f64::from(j) + 1.0));
            sum / chi_squared_quantile((errors.count - first.count) as f64, spent)
        };
        (1..).zip(later).map(bound).reduce(f64::min)
    }

    fn is_sound(&self, rounds: u64) -> bool {
        let all = || self.marked.iter().chain([&self.now]);
        let rising = self.marked.windows(2).all(|pair| pair[0].count < pair[1].count);
        rising && all().all(|errors| (0.0..=1e60).contains(&errors.sum) && errors.count <= rounds)
    }
}

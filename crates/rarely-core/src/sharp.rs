//! Sharp sets: for each pair of arms, the parameters that the data since each mark have not ruled out (mathematics §12).
//!
//! For a mark `j` and an arm `a`, with `Q`, `m` the penalised sums and estimate at the mark, `W = Σssᵀ` and `θ_W = W⁻¹Σys` since it and
//! `V̄ = Q + W`, put `e_a = σ²·ln(det V̄/det Q) + (θ_W−m)ᵀ(W⁻¹+Q⁻¹)⁻¹(θ_W−m)`. Then for every pair
//!
//! ```text
//! ‖θ_i − θ_W,i‖²_{W_i} + ‖θ_j − θ_W,j‖²_{W_j} ≤ r² = 2σ²·ln(P/(δ·w_j)) + e_i + e_j
//! ```
//!
//! in all rounds, at all marks and for all `P` pairs at once with probability at least `1−δ`, whatever chose the arms: after a mark the
//! likelihood ratio with `θ` drawn from `N(m, σ²Q⁻¹)` is a non-negative supermartingale that starts at 1 [ville-1939; robbins-1970].
//! No bound on the parameters' norm is needed. A pair's set pays for two arms and not for all, and a late mark hardly for what was
//! known before it: hence "sharp".

mod cuts;
mod gain;
mod pairs;

pub(crate) use cuts::first_on_the_way;
pub(crate) use gain::{PairTally, certain_gain_bound};

use crate::arm::{Parameters, Shape, is_sound};
use crate::confidence::{Confidence, SLACK};
use crate::marks::{ArmMark, MarkedSums, Marks};
use crate::noise_bound::Variance;
use crate::ridge::Ridge;
use crate::statistics::Statistics;
use crate::symmetric::{self, add_scaled, dot};

/// A pivot of `W` below this share of `V̄`'s trace is rounding: the mark says nothing about that arm.
const SINGULAR: f64 = 1e-9;

/// The parameters that the data have not ruled out, pair by pair and mark by mark.
///
/// It is a value: it holds as of the outcomes it was made from, and goes on to hold later. Building it costs O(k·d³) per mark.
///
/// ```
/// use rarely_core::{Arm, Context, Decision, Settings, Sets};
/// let mut policy = Settings::new(2, 1)?.noise(0.1)?.sets(Sets::Sharp).build()?;
/// for round in 0..100 {
///     let arm = Arm::new(round % 2);
///     let _ = policy.observe(Context::new(&[1.0])?, &Decision::recorded(arm), (round % 2) as f64)?;
/// }
/// let difference = policy.learner().unwrap().sharp().difference_interval(&[1.0], 1, 0);
/// assert!(difference.lower > 0.8 && difference.upper < 1.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SharpSet {
    shape: Shape,
    /// `σ²`; 0 where it is not declared.
    variance: f64,
    /// Bounds on `σ²` of each arm, where it is not declared: `None` while nothing is known. A pair takes the larger.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    arm_variances: Option<Vec<Option<f64>>>,
    /// `ln(P/δ)`.
    log_pairs: f64,
    estimates: Parameters,
    views: Vec<MarkView>,
}

/// What the outcomes since one mark say.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MarkView {
    round: u64,
    weight: f64,
    /// `λL²` where mark 0 is used in its norm-bounded form, else 0.
    bias_squared: f64,
    arms: Vec<ArmView>,
}

/// What the outcomes since one mark say about one arm.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ArmView {
    /// `W`, packed.
    matrix: Vec<f64>,
    /// `m`, and `Σys − Wm` since the mark: `‖θ−θ̂‖²_V̄ − ‖θ−m‖²_Q = xᵀWx − 2xᵀu + uᵀ(θ̂−m)` with `x = θ−m`, whether or not `W` has an inverse.
    mean: Vec<f64>,
    shifted: Vec<f64>,
    constant: f64,
    /// `ln(det V̄/det Q)`.
    log_ratio: f64,
    solved: Option<Solved>,
}

/// The part that needs `W⁻¹`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Solved {
    /// The Cholesky factor of `W`.
    factor: Vec<f64>,
    /// `θ_W`.
    centre: Vec<f64>,
    /// `(θ_W−m)ᵀ(W⁻¹+Q⁻¹)⁻¹(θ_W−m)`.
    penalty: f64,
}

impl MarkView {
    /// The round of the mark.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Its share of the error probability.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether it is mark 0 with the declared bound on the norm.
    pub fn is_norm_bounded(&self) -> bool {
        self.bias_squared > 0.0
    }

    /// `θ_W` of an arm (`θ̂` in the norm-bounded form); `None` if the outcomes since the mark do not determine it.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn centre(&self, arm: usize) -> Option<&[f64]> {
        self.arms[arm].solved.as_ref().map(|solved| solved.centre.as_slice())
    }

    /// `ln(det V̄/det Q)` of an arm.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn log_ratio(&self, arm: usize) -> f64 {
        self.arms[arm].log_ratio
    }

    /// `(θ_W−m)ᵀ(W⁻¹+Q⁻¹)⁻¹(θ_W−m)` of an arm: what the set pays for outcomes before the mark that disagree with those after it.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn penalty(&self, arm: usize) -> Option<f64> {
        self.arms[arm].solved.as_ref().map(|solved| solved.penalty)
    }

    /// Both arms' solved parts; `None` if the mark does not determine one of them.
    fn pair(&self, i: usize, j: usize) -> Option<[&Solved; 2]> {
        Some([self.arms[i].solved.as_ref()?, self.arms[j].solved.as_ref()?])
    }
}

impl ArmView {
    fn new(ridge: &Ridge, mark: &ArmMark) -> Self {
        let mut view = Self::unsolved(ridge, mark);
        view.solved = view.solve(ridge, mark);
        view
    }

    fn unsolved(ridge: &Ridge, mark: &ArmMark) -> Self {
        let d = ridge.dimension();
        let matrix: Vec<f64> = ridge.information().zip(&mark.information).map(|(now, then)| now - then).collect();
        let mut shifted = vec![0.0; d];
        symmetric::multiply(&matrix, &mark.mean, &mut shifted);
        for (shifted, (now, then)) in shifted.iter_mut().zip(ridge.moment().zip(&mark.moment)) {
            *shifted = now - then - *shifted;
        }
        let moved = shifted.iter().zip(ridge.estimate()).zip(&mark.mean);
        Self {
            constant: moved.map(|((shifted, estimate), mean)| shifted * (estimate - mean)).sum(),
            mean: mark.mean.clone(),
            log_ratio: log_ratio(ridge, mark),
            matrix,
            shifted,
            solved: None,
        }
    }

    fn solve(&self, ridge: &Ridge, mark: &ArmMark) -> Option<Solved> {
        let d = ridge.dimension();
        if ridge.count() < mark.count + d as u64 {
            return None;
        }
        let floor = SINGULAR * (ridge.squares() + ridge.penalty());
        let mut factor = self.matrix.clone();
        symmetric::factor(&mut factor, d, floor);
        if symmetric::smallest_pivot(&factor, d) <= floor * (1.0 + 1e-9) {
            return None;
        }
        // θ_W − m = W⁻¹(Σys − Wm), and the penalty is (θ_W−m)ᵀQ(θ̂−m), since θ̂ − m = V̄⁻¹W(θ_W−m).
        let mut moved = self.shifted.clone();
        symmetric::solve(&factor, &mut moved);
        let drift: Vec<f64> = ridge.estimate().iter().zip(&self.mean).map(|(estimate, mean)| estimate - mean).collect();
        let mut weighted = vec![0.0; d];
        symmetric::multiply(&mark.information, &drift, &mut weighted);
        add_scaled(&mut weighted, ridge.penalty(), &drift);
        let penalty = dot(&moved, &weighted).max(0.0);
        add_scaled(&mut moved, 1.0, &self.mean);
        Some(Solved { factor, centre: moved, penalty })
    }

    /// Mark 0 with `V̄` for `W` and `θ̂` for `θ_W`.
    fn norm_bounded(ridge: &Ridge, mark: &ArmMark) -> Self {
        let d = ridge.dimension();
        let mut factor: Vec<f64> = ridge.information().collect();
        symmetric::add_diagonal(&mut factor, d, ridge.penalty());
        let matrix = factor.clone();
        symmetric::factor(&mut factor, d, ridge.penalty());
        let solved = Solved { factor, centre: ridge.estimate().to_vec(), penalty: 0.0 };
        Self { matrix, solved: Some(solved), ..Self::unsolved(ridge, mark) }
    }

    /// `‖θ−θ̂‖²_V̄ − ‖θ−m‖²_Q`.
    fn excess(&self, point: &[f64]) -> f64 {
        let x: Vec<f64> = point.iter().zip(&self.mean).map(|(point, mean)| point - mean).collect();
        symmetric::quadratic(&self.matrix, &x) - 2.0 * dot(&x, &self.shifted) + self.constant
    }
}

/// `2σ²·ln(P/(δw)) + σ²·Σ ln(det V̄/det Q)`, from `ln(P/δ)` and the sum of the pair's log ratios.
fn budget(variance: f64, log_pairs: f64, weight: f64, log_ratios: f64) -> f64 {
    variance * (2.0 * (log_pairs - libm::log(weight)) + log_ratios)
}

/// `ln P`, of as many arms.
fn log_pair_count(arms: usize) -> f64 {
    libm::log((arms * (arms - 1) / 2) as f64)
}

/// `ln(det V̄/det Q)`.
fn log_ratio(ridge: &Ridge, mark: &ArmMark) -> f64 {
    (ridge.log_growth() - mark.log_growth).max(0.0)
}

impl SharpSet {
    /// The set of some statistics, for this noise. Without marks, because the outcomes have no time order, it is mark 0's.
    pub(crate) fn new(confidence: &Confidence, statistics: &Statistics, variance: Variance<'_>) -> Self {
        Self::with_views(confidence, statistics, variance, confidence.declared_bias(), ArmView::new)
    }

    /// Whether parameters are in every pair's set at every mark, without building the sets: O(marks·k·d²).
    pub(crate) fn would_contain(
        confidence: &Confidence,
        statistics: &Statistics,
        variance: Variance<'_>,
        parameters: &Parameters,
    ) -> bool {
        Self::with_views(confidence, statistics, variance, None, ArmView::unsolved).contains(parameters)
    }

    fn with_views(
        confidence: &Confidence,
        statistics: &Statistics,
        variance: Variance<'_>,
        bias: Option<f64>,
        arm: fn(&Ridge, &ArmMark) -> ArmView,
    ) -> Self {
        let shape = statistics.shape();
        let start;
        let marks = if let Some(marks) = statistics.marks() {
            marks
        } else {
            start = Marks::new(shape, &statistics.nothing_observed());
            &start
        };
        let view = |mark: &MarkedSums, bias_squared: f64, arm: fn(&Ridge, &ArmMark) -> ArmView| MarkView {
            round: mark.round,
            weight: mark.weight(),
            bias_squared,
            arms: statistics.arms().iter().zip(&mark.arms).map(|(ridge, mark)| arm(ridge, mark)).collect(),
        };
        let mut views: Vec<MarkView> = marks.iter().map(|mark| view(mark, 0.0, arm)).collect();
        if let Some(bias) = bias {
            // It follows from mark 0's event and the bound, so that it spends nothing.
            views.extend(marks.iter().take(1).map(|mark| view(mark, bias * bias, ArmView::norm_bounded)));
        }
        let log_inverse = variance.log_inverse(confidence);
        let (variance, arm_variances) = match variance {
            Variance::Declared(variance) => (variance, None),
            Variance::Bounded(bounds) => (0.0, Some(bounds.into_owned())),
        };
        Self {
            shape,
            variance,
            arm_variances,
            log_pairs: log_inverse + log_pair_count(shape.arms()),
            estimates: statistics.estimates(),
            views,
        }
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether every part has its length and every number is finite.
    pub(crate) fn is_sound(&self, shape: Shape) -> bool {
        let (d, packed) = (shape.dimension(), symmetric::packed_length(shape.dimension()));
        let finite = |values: &[f64]| values.iter().all(|value| is_sound(*value));
        let vector = |values: &Vec<f64>, length: usize| values.len() == length && finite(values);
        let solved = |solved: &Solved| {
            vector(&solved.factor, packed) && vector(&solved.centre, d) && (0.0..=1e60).contains(&solved.penalty)
        };
        let arm = |arm: &ArmView| {
            vector(&arm.matrix, packed)
                && vector(&arm.mean, d)
                && vector(&arm.shifted, d)
                && finite(&[arm.constant, arm.log_ratio])
                && arm.solved.as_ref().is_none_or(solved)
        };
        let bound = |variance: &f64| *variance >= 0.0 && is_sound(*variance);
        let view = |view: &MarkView| {
            view.arms.len() == shape.arms()
                && (0.0..=1.0).contains(&view.weight)
                && finite(&[view.bias_squared])
                && view.arms.iter().all(arm)
        };
        self.shape == shape
            && self.estimates.shape() == shape
            && finite(&[self.variance, self.log_pairs])
            && self
                .arm_variances
                .as_ref()
                .is_none_or(|own| own.len() == shape.arms() && own.iter().flatten().all(bound))
            && self.views.iter().all(view)
    }

    /// What the outcomes since each mark say; last the norm-bounded form of mark 0, where a bound is declared.
    pub fn views(&self) -> &[MarkView] {
        &self.views
    }

    /// `r²` of a pair at a mark; `None` if the mark does not determine both arms, or nothing is known of their noise.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn radius_squared(&self, view: &MarkView, i: usize, j: usize) -> Option<f64> {
        let [first, second] = view.pair(i, j)?;
        Some(self.budget(view, i, j)? + view.bias_squared + first.penalty + second.penalty)
    }

    /// The part of `r²` that does not depend on the outcomes since the mark; `None` if nothing is known of the arms' noise.
    fn budget(&self, view: &MarkView, i: usize, j: usize) -> Option<f64> {
        let variance = match &self.arm_variances {
            None => self.variance,
            Some(own) => own[i]?.max(own[j]?),
        };
        Some(budget(variance, self.log_pairs, view.weight, view.log_ratio(i) + view.log_ratio(j)))
    }

    /// Whether parameters are in every pair's set at every mark. O(marks·k·d² + marks·k²).
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn contains(&self, parameters: &Parameters) -> bool {
        assert_eq!(parameters.shape(), self.shape, "parameters have the shape of the statistics");
        self.excess_of(parameters.values()) <= SLACK
    }

    /// By how much parameters (arm by arm) are outside the pair's set that they are farthest outside of, as a share of what it
    /// allows; negative inside all.
    pub(crate) fn excess_of(&self, parameters: &[f64]) -> f64 {
        let d = self.shape.dimension();
        let mut farthest = f64::NEG_INFINITY;
        for view in self.views.iter().filter(|view| !view.is_norm_bounded()) {
            let parts = view.arms.iter().zip(parameters.chunks_exact(d));
            let excesses: Vec<f64> = parts.map(|(arm, point)| arm.excess(point)).collect();
            for (i, j) in self.shape.pairs().map(|(i, j)| (i.index(), j.index())) {
                let Some(budget) = self.budget(view, i, j) else { continue };
                let excess = excesses[i] + excesses[j];
                let scale = budget + excesses[i].abs() + excesses[j].abs();
                farthest = farthest.max((excess - budget) / scale);
            }
        }
        farthest
    }
}

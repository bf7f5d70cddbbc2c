//! Ordinary least squares of every arm, from rows or from sums.
//!
//! `θ̂_a = (Σssᵀ)⁻¹Σys` and `s_a² = Σe²/(n_a − d)` [seber-2003, §3.3]. Sums are factored once, `Σssᵀ = RRᵀ`; everything else is done in the
//! coordinates `R⁻¹s`, in which an arm's design is orthonormal: `‖R⁻¹s‖²` is the leverage of `s`. From rows, one step of refinement
//! on the residuals makes up for the digits that the normal equations lose. A column that is a sum of earlier ones is dropped: its pivot is
//! infinite, so that its coefficient and its whitened coordinate are 0. A functional that needs it otherwise is not estimable.

use crate::arm::{Arm, Parameters, Shape};
use crate::context::Contexts;
use crate::error::{ConfirmError, ObserveError};
use crate::outcome_ends::OutcomeEnds;
use crate::statistics::check_outcome;
use crate::symmetric::{ANY, add_outer_sized, add_scaled, by_dimension, dot, packed_length, solve};

/// A column whose part at right angles to those before it has less than this share of its square is no column of its own: sums of
/// millions of rows leave about 1e-14 of a column that is a sum of others.
const INDEPENDENT_SHARE: f64 = 1e-10;
/// A functional may differ by this share from what the columns that were kept imply for a dropped one.
const DETERMINED: f64 = 1e-6;

/// Logged cases: contexts, the arm that each got, and its reward.
#[derive(Debug, Clone, Copy)]
pub struct CaseLog<'a> {
    shape: Shape,
    contexts: Contexts<'a>,
    arms: &'a [Arm],
    rewards: &'a [f64],
}

impl<'a> CaseLog<'a> {
    /// Checks the rows without copying them.
    ///
    /// # Errors
    /// [`ConfirmError`] names the row and the problem.
    pub fn new(
        shape: Shape,
        contexts: Contexts<'a>,
        arms: &'a [Arm],
        rewards: &'a [f64],
    ) -> Result<Self, ConfirmError> {
        contexts.check_dimension(shape.dimension())?;
        let rows = contexts.len();
        for (name, found) in [("arms", arms.len()), ("rewards", rewards.len())] {
            if found != rows {
                return Err(ConfirmError::Length { name, expected: rows, found });
            }
        }
        for (row, (&arm, &reward)) in arms.iter().zip(rewards).enumerate() {
            check_outcome(shape, arm, reward).map_err(|error| ObserveError::in_row(error, row))?;
        }
        Ok(Self { shape, contexts, arms, rewards })
    }

    /// Arms and context variables.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.arms.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.arms.is_empty()
    }

    /// The contexts.
    pub fn contexts(&self) -> Contexts<'a> {
        self.contexts
    }

    /// The reward of a row.
    pub(crate) fn reward(&self, row: usize) -> f64 {
        self.rewards[row]
    }

    /// Rows with their number, arm and reward.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &'a [f64], usize, f64)> {
        let rows = self.contexts.values().chunks_exact(self.shape.dimension()).zip(self.arms).zip(self.rewards);
        rows.enumerate().map(|(row, ((context, arm), &reward))| (row, context, arm.index(), reward))
    }
}

/// The sums of one arm from which its least squares follow.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArmSums {
    /// `n_a`.
    pub count: u64,
    /// `Σssᵀ`, the lower triangle by rows.
    pub information: Vec<f64>,
    /// `Σys`.
    pub moment: Vec<f64>,
    /// `Σy²`.
    pub squared_rewards: f64,
    /// Outcomes other than the arm's most frequent one: for a binary outcome, the count of its rarer class.
    pub rarer_outcomes: u64,
}

/// The regression of one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmFit {
    count: u64,
    estimate: Vec<f64>,
    /// `R`, packed.
    root: Vec<f64>,
    /// The columns that are sums of earlier ones.
    dropped: Vec<usize>,
    residual_squares: f64,
}

impl ArmFit {
    /// From the sums; `None` if there are fewer cases than coefficients.
    fn new(count: u64, information: &[f64], moment: &[f64], squared_rewards: f64) -> Option<Self> {
        if count < moment.len() as u64 {
            return None;
        }
        let (root, dropped) = root_of(information, moment.len());
        let mut estimate = moment.to_vec();
        solve(&root, &mut estimate);
        let mut scores = moment.to_vec();
        whiten(&root, &mut scores);
        let residual_squares = (squared_rewards - dot(&scores, &scores)).max(0.0);
        Some(Self { count, estimate, root, dropped, residual_squares })
    }

    /// `n_a`.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `θ̂_a`.
    pub fn estimate(&self) -> &[f64] {
        &self.estimate
    }

    /// `s_a²`. NaN if there are no more cases than coefficients.
    pub fn residual_variance(&self) -> f64 {
        let degrees = self.degrees();
        if degrees > 0.0 { self.residual_squares / degrees } else { f64::NAN }
    }

    /// `Σe²`.
    pub(crate) fn residual_squares(&self) -> f64 {
        self.residual_squares
    }

    /// `n_a − d`, where dropped columns do not count.
    pub fn degrees(&self) -> f64 {
        self.count as f64 - (self.estimate.len() - self.dropped.len()) as f64
    }

    /// Whether the rows determine `qᵀθ`: what a dropped column adds to it follows from the columns before.
    fn determines(&self, direction: &[f64]) -> bool {
        let whitened = self.whitened(direction);
        let size = direction.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        self.dropped.iter().all(|&column| {
            let implied = dot(&self.root[packed_length(column)..packed_length(column) + column], &whitened[..column]);
            (direction[column] - implied).abs() <= DETERMINED * size
        })
    }

    /// `qᵀ(Σssᵀ)⁻¹q`.
    ///
    /// # Panics
    /// If there are not d numbers.
    pub fn width_squared(&self, direction: &[f64]) -> f64 {
        assert_eq!(direction.len(), self.estimate.len(), "one number for each context variable");
        let whitened = self.whitened(direction);
        dot(&whitened, &whitened)
    }

    /// `R⁻¹q`.
    pub(crate) fn whitened(&self, direction: &[f64]) -> Vec<f64> {
        let mut whitened = direction.to_vec();
        self.whiten(&mut whitened);
        whitened
    }

    /// Replaces `q` by `R⁻¹q`.
    pub(crate) fn whiten(&self, direction: &mut [f64]) {
        whiten(&self.root, direction);
    }
}

/// An arm that a functional concerns, with its part of the functional.
pub(crate) struct Concerned<'a> {
    pub(crate) arm: usize,
    pub(crate) fit: &'a ArmFit,
    /// `g_a`.
    pub(crate) part: &'a [f64],
}

/// Least squares of every arm whose rows determine it.
///
/// ```
/// use rarely_core::{Arm, CaseLog, Contexts, LeastSquares, Shape};
/// let arms = [0, 0, 0, 1, 1].map(Arm::new);
/// let contexts = Contexts::new(&[1.0; 5], 1)?;
/// let log = CaseLog::new(Shape::new(2, 1)?, contexts, &arms, &[1.0, 2.0, 3.0, 4.0, 6.0])?;
/// let fit = LeastSquares::fit(&log);
/// assert_eq!(fit.arm(0)?.estimate(), [2.0]);
/// assert_eq!(fit.arm(1)?.residual_variance(), 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquares {
    shape: Shape,
    counts: Vec<u64>,
    rarer: Vec<u64>,
    arms: Vec<Option<ArmFit>>,
}

impl LeastSquares {
    /// From rows. O(n·d²).
    pub fn fit(log: &CaseLog<'_>) -> Self {
        let shape = log.shape();
        let dimension = shape.dimension();
        let mut information = vec![vec![0.0; packed_length(dimension)]; shape.arms()];
        let mut moments = vec![vec![0.0; dimension]; shape.arms()];
        let mut outcomes = vec![OutcomeEnds::default(); shape.arms()];
        for (_, context, arm, reward) in log.rows() {
            let sums = &mut information[arm];
            by_dimension!(dimension, add_outer_sized(sums, 1.0, context), add_outer_sized::<ANY>(sums, 1.0, context));
            add_scaled(&mut moments[arm], reward, context);
            outcomes[arm].add(reward);
        }
        let fit_arm = |((information, moment), outcomes): ((&Vec<f64>, &Vec<f64>), &OutcomeEnds)| {
            ArmFit::new(outcomes.count(), information, moment, 0.0)
        };
        let mut arms: Vec<_> = information.iter().zip(&moments).zip(&outcomes).map(fit_arm).collect();
        refine(&mut arms, log, &mut moments);
        Self {
            shape,
            counts: outcomes.iter().map(OutcomeEnds::count).collect(),
            rarer: outcomes.iter().map(OutcomeEnds::rarer).collect(),
            arms,
        }
    }

    /// From sums.
    ///
    /// # Errors
    /// [`ConfirmError::Length`] if there are not k arms, or an arm's sums do not have the lengths of d variables.
    pub fn from_sums(shape: Shape, sums: &[ArmSums]) -> Result<Self, ConfirmError> {
        let dimension = shape.dimension();
        let lengths = |name, expected, found| {
            if found == expected { Ok(()) } else { Err(ConfirmError::Length { name, expected, found }) }
        };
        lengths("arms' sums", shape.arms(), sums.len())?;
        for sum in sums {
            lengths("sums of products", packed_length(dimension), sum.information.len())?;
            lengths("sums of rewards", dimension, sum.moment.len())?;
        }
        let fit_arm = |sum: &ArmSums| ArmFit::new(sum.count, &sum.information, &sum.moment, sum.squared_rewards);
        Ok(Self {
            shape,
            counts: sums.iter().map(|sum| sum.count).collect(),
            rarer: sums.iter().map(|sum| sum.rarer_outcomes).collect(),
            arms: sums.iter().map(fit_arm).collect(),
        })
    }

    /// Arms and context variables.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Cases of all arms.
    pub fn cases(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Cases of one arm.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn count(&self, arm: usize) -> u64 {
        self.counts[arm]
    }

    /// Outcomes of one arm that differ from its most frequent one; from rows, at least this many.
    pub(crate) fn rarer(&self, arm: usize) -> u64 {
        self.rarer[arm]
    }

    /// One arm's regression.
    ///
    /// # Errors
    /// [`ConfirmError::NotEstimable`] if its rows do not determine all its coefficients.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn arm(&self, arm: usize) -> Result<&ArmFit, ConfirmError> {
        self.arms[arm].as_ref().filter(|fit| fit.dropped.is_empty()).ok_or_else(|| self.not_estimable(arm))
    }

    fn not_estimable(&self, arm: usize) -> ConfirmError {
        ConfirmError::NotEstimable { arm, cases: self.counts[arm], coefficients: self.shape.dimension() }
    }

    /// The degrees of freedom of the arm with the fewest that a functional concerns.
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`] or [`ConfirmError::NotEstimable`].
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn degrees(&self, functional: &Parameters) -> Result<f64, ConfirmError> {
        Ok(self.concerned(functional)?.iter().map(|arm| arm.fit.degrees()).fold(f64::INFINITY, f64::min))
    }

    /// The arms that a functional `⟨g,θ⟩` concerns, `g_a ≠ 0`.
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`], or [`ConfirmError::NotEstimable`] if one has too few cases for coefficients and a variance.
    ///
    /// # Panics
    /// If the shapes differ.
    pub(crate) fn concerned<'a>(&'a self, functional: &'a Parameters) -> Result<Vec<Concerned<'a>>, ConfirmError> {
        assert_eq!(functional.shape(), self.shape, "a functional has the shape of the regressions");
        let mut concerned = Vec::new();
        for (arm, part) in functional.iter().enumerate().filter(|(_, part)| part.iter().any(|&value| value != 0.0)) {
            let fit = self.arms[arm].as_ref().filter(|fit| fit.degrees() >= 1.0 && fit.determines(part));
            let fit = fit.ok_or_else(|| self.not_estimable(arm))?;
            concerned.push(Concerned { arm, fit, part });
        }
        if concerned.is_empty() { Err(ConfirmError::NoChange) } else { Ok(concerned) }
    }

    /// `⟨g,θ̂⟩`.
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`] or [`ConfirmError::NotEstimable`].
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn estimate(&self, functional: &Parameters) -> Result<f64, ConfirmError> {
        Ok(self.concerned(functional)?.iter().map(|arm| dot(arm.part, &arm.fit.estimate)).sum())
    }

    /// The standard error of `⟨g,θ̂⟩` from sums alone, `se² = Σ_a s_a² g_aᵀ(Σssᵀ)⁻¹g_a` with each arm's own residual variance. It assumes
    /// that an arm's outcomes vary alike at all contexts; HC3 does not.
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`] or [`ConfirmError::NotEstimable`].
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn sums_error(&self, functional: &Parameters) -> Result<f64, ConfirmError> {
        let concerned = self.concerned(functional)?;
        let variance: f64 =
            concerned.iter().map(|arm| arm.fit.residual_variance() * arm.fit.width_squared(arm.part)).sum();
        Ok(variance.sqrt())
    }
}

/// One step of refinement, `θ̂ += (Σssᵀ)⁻¹Σs(y − sᵀθ̂)`, then the residuals' squares. `moments` is scratch.
fn refine(arms: &mut [Option<ArmFit>], log: &CaseLog<'_>, moments: &mut [Vec<f64>]) {
    for moment in &mut *moments {
        moment.fill(0.0);
    }
    for (_, context, arm, reward) in log.rows() {
        if let Some(fit) = &arms[arm] {
            add_scaled(&mut moments[arm], reward - dot(context, &fit.estimate), context);
        }
    }
    for (fit, moment) in arms.iter_mut().zip(moments) {
        if let Some(fit) = fit {
            solve(&fit.root, moment);
            add_scaled(&mut fit.estimate, 1.0, moment);
            fit.residual_squares = 0.0;
        }
    }
    for (_, context, arm, reward) in log.rows() {
        if let Some(fit) = &mut arms[arm] {
            let residual = reward - dot(context, &fit.estimate);
            fit.residual_squares += residual * residual;
        }
    }
}

/// `R` with `RRᵀ = Σssᵀ`, packed, and the columns that are sums of earlier ones, whose pivots are infinite. Columns are scaled to length 1
/// before, so that units do not matter.
fn root_of(information: &[f64], dimension: usize) -> (Vec<f64>, Vec<usize>) {
    let lengths: Vec<f64> = (0..dimension).map(|i| information[packed_length(i + 1) - 1].sqrt()).collect();
    let mut root = vec![0.0; packed_length(dimension)];
    let mut dropped = Vec::new();
    for i in 0..dimension {
        let (above, row) = root.split_at_mut(packed_length(i));
        for j in 0..i {
            let other = &above[packed_length(j)..packed_length(j + 1)];
            let cosine = information[packed_length(i) + j] / (lengths[i] * lengths[j]);
            row[j] = if cosine.is_finite() { (cosine - dot(&row[..j], &other[..j])) / other[j] } else { 0.0 };
        }
        let left = 1.0 - dot(&row[..i], &row[..i]);
        row[i] = if lengths[i] > 0.0 && left > INDEPENDENT_SHARE {
            left.sqrt()
        } else {
            dropped.push(i);
            f64::INFINITY
        };
    }
    for i in 0..dimension {
        for entry in &mut root[packed_length(i)..packed_length(i + 1)] {
            *entry *= if lengths[i] > 0.0 { lengths[i] } else { 1.0 };
        }
    }
    (root, dropped)
}

/// Replaces `x` by `R⁻¹x`.
fn whiten(root: &[f64], x: &mut [f64]) {
    for i in 0..x.len() {
        let start = packed_length(i);
        x[i] = (x[i] - dot(&root[start..start + i], &x[..i])) / root[start + i];
    }
}

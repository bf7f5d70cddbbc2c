//! Standard errors of `⟨g,θ̂⟩` that do not assume equal variances: HC3 for rows, CR2 for clusters of rows.
//!
//! With `b = R⁻¹s` (see `least_squares`), a row has leverage `h = ‖b‖²` and weight `v = bᵀR⁻¹g_a` in the estimate, `⟨g,θ̂⟩ = Σ v·y`.

use crate::arm::{Arm, Parameters};
use crate::error::ConfirmError;
use crate::least_squares::{ArmFit, CaseLog, Concerned, LeastSquares};
use crate::symmetric::{add_scaled, dot};

/// `1 − h` below which a residual is rounding only.
const FULL_LEVERAGE: f64 = 1e-9;
/// Sweeps of rotations; about six are needed.
const MAX_SWEEPS: usize = 60;

/// The CR2 standard error with Bell and McCaffrey's degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterError {
    /// The standard error of `⟨g,θ̂⟩`.
    pub standard_error: f64,
    /// Satterthwaite's degrees of freedom under independent errors of equal variance.
    pub degrees: f64,
    /// Clusters with a row of an arm that the functional concerns.
    pub clusters: u64,
}

impl LeastSquares {
    /// The HC3 standard error of `⟨g,θ̂⟩`: `se² = Σ_a Σ_rows (sᵀG_a g_a)² e²/(1−h)²`, `G = (Σssᵀ)⁻¹`, of the rows that it was fitted to
    /// [mackinnon-1985; without the jackknife's centring, as is usual]. O(n·d²).
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`], [`ConfirmError::NotEstimable`] or [`ConfirmError::Leverage`].
    ///
    /// # Panics
    /// If the shapes differ, or the log has another number of rows.
    pub fn hc3_error(&self, log: &CaseLog<'_>, functional: &Parameters) -> Result<f64, ConfirmError> {
        let weights = Weights::new(self, log, functional)?;
        let mut row_of = Row::default();
        let mut variance = 0.0;
        for (row, context, arm, reward) in log.rows() {
            let Some(arm) = weights.arm(arm) else { continue };
            arm.read(context, reward, &mut row_of);
            let left = 1.0 - dot(&row_of.whitened, &row_of.whitened);
            if row_of.weight == 0.0 {
                continue;
            }
            if !(left > FULL_LEVERAGE) {
                return Err(ConfirmError::Leverage { row });
            }
            let score = row_of.weight * row_of.residual / left;
            variance += score * score;
        }
        Ok(variance.sqrt())
    }

    /// The CR2 standard error of `⟨g,θ̂⟩` for rows that belong to clusters, and its degrees of freedom
    /// [bell-2002; pustejovsky-2018, §2]: `se² = Σ_g (v_gᵀA_g e_g)²` with the symmetric root `A_g = (I − H_gg)^{−½}`. A cluster may have rows of several
    /// arms. O(n·d² + G·min(n_g, d)³).
    ///
    /// # Errors
    /// [`ConfirmError::Length`] if there is not one cluster for each row; [`ConfirmError::NoChange`]; [`ConfirmError::NotEstimable`].
    ///
    /// # Panics
    /// If the shapes differ, or the log has another number of rows.
    pub fn cr2_error(
        &self,
        log: &CaseLog<'_>,
        clusters: &[u64],
        functional: &Parameters,
    ) -> Result<ClusterError, ConfirmError> {
        if clusters.len() != log.len() {
            return Err(ConfirmError::Length { name: "clusters", expected: log.len(), found: clusters.len() });
        }
        let weights = Weights::new(self, log, functional)?;
        let mut members: Vec<(u64, usize, usize)> = log
            .rows()
            .filter(|&(_, _, arm, _)| weights.arm(arm).is_some())
            .map(|(row, _, arm, _)| (clusters[row], arm, row))
            .collect();
        members.sort_unstable();
        let dimension = self.shape().dimension();
        let values = log.contexts().values();
        let mut sums = ClusterSums::new(weights.arms.len() * dimension);
        for cluster in members.chunk_by(|one, other| one.0 == other.0) {
            for group in cluster.chunk_by(|one, other| one.1 == other.1) {
                let Some((place, arm)) = weights.place(group[0].1) else { continue };
                let rows = group.iter().map(|&(_, _, row)| {
                    let mut read = Row::default();
                    arm.read(&values[row * dimension..(row + 1) * dimension], log.reward(row), &mut read);
                    read
                });
                sums.add_block(place * dimension, &rows.collect::<Vec<_>>());
            }
            sums.end_cluster();
        }
        Ok(sums.error())
    }
}

/// The HC3 errors of several functionals from rows that come one after the other, the same rows that the regressions were fitted to.
/// Memory does not grow with them.
///
/// They are sums of whole numbers, each row's term rounded to `2⁻³²` of the mean term that the sums imply, so that they do not depend on the
/// order of the rows. Every number that a term is computed from is plain data ([`ArmScores`]): an engine that has the rows can do the same
/// (mathematics §17).
///
/// ```
/// use rarely_core::*;
/// let arms: Vec<Arm> = (0..400).map(|row| Arm::new(row % 2)).collect();
/// let rewards: Vec<f64> = (0..400).map(|row| f64::from(row * 37 % 11)).collect();
/// let (shape, contexts) = (Shape::new(2, 1)?, Contexts::new(&[1.0; 400], 1)?);
/// let log = CaseLog::new(shape, contexts, &arms, &rewards)?;
/// let (fit, gain) = (LeastSquares::fit(&log), Parameters::new(shape, vec![-1.0, 1.0])?);
/// let mut errors = StreamedErrors::new(&fit, std::slice::from_ref(&gain));
/// arms.iter().zip(&rewards).for_each(|(&arm, &reward)| errors.add(&[1.0], arm, reward));
/// assert!((errors.error(0)? - fit.hc3_error(&log, &gain)?).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamedErrors {
    arms: Vec<Option<ArmScores>>,
    sums: Vec<Result<SquareSum, ConfirmError>>,
    whitened: Vec<f64>,
    row: usize,
}

/// How the rows of one arm enter the errors of the functionals that concern it. With `b = R⁻¹s`, a row's score for a functional is
/// `(bᵀdirection)·(y − sᵀθ̂)/(1 − bᵀb)`. Sums are taken from left to right.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmScores {
    /// The rows of `R⁻¹`, each up to its diagonal.
    pub inverse_root: Vec<Vec<f64>>,
    /// `θ̂`.
    pub estimate: Vec<f64>,
    /// Each functional that concerns the arm, and its `R⁻¹g_a`.
    pub directions: Vec<(usize, Vec<f64>)>,
}

/// Sums of squares over some rows, which [`StreamedErrors`] here or another engine has added up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorSums {
    /// The rows.
    pub rows: u64,
    /// The sum of each functional; `None` if a row of it has full leverage, or it has no error at all.
    pub sums: Vec<Option<i128>>,
}

/// A sum of squares in whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SquareSum {
    /// What `2³²` stands for.
    unit: f64,
    sum: i128,
}

impl ArmScores {
    fn new(fit: &ArmFit) -> Self {
        let dimension = fit.estimate().len();
        let mut inverse_root: Vec<Vec<f64>> = (1..=dimension).map(|length| vec![0.0; length]).collect();
        for column in 0..dimension {
            let mut unit = vec![0.0; dimension];
            unit[column] = 1.0;
            fit.whiten(&mut unit);
            for row in column..dimension {
                inverse_root[row][column] = unit[row];
            }
        }
        Self { inverse_root, estimate: fit.estimate().to_vec(), directions: Vec::new() }
    }
}

impl StreamedErrors {
    /// `1 − h` below which a residual is rounding only.
    pub const FULL_LEVERAGE: f64 = FULL_LEVERAGE;
    /// What a square is multiplied by, after it was divided by its [unit](Self::unit), and rounded.
    pub const SCALE: f64 = (1_u64 << 32) as f64;
    /// The largest whole number that a row adds.
    pub const LARGEST: f64 = (1_u64 << 62) as f64;

    /// For functionals of the regressions' shape.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn new(fit: &LeastSquares, functionals: &[Parameters]) -> Self {
        let mut arms: Vec<Option<ArmScores>> = vec![None; fit.shape().arms()];
        let mut sums = Vec::with_capacity(functionals.len());
        for (at, functional) in functionals.iter().enumerate() {
            sums.push(fit.concerned(functional).map(|concerned| {
                let mut variance = 0.0;
                for Concerned { arm, fit, part } in concerned {
                    let direction = fit.whitened(part);
                    variance += fit.residual_variance() * dot(&direction, &direction);
                    let scores = arms[arm].get_or_insert_with(|| ArmScores::new(fit));
                    scores.directions.push((at, direction));
                }
                SquareSum { unit: (variance / fit.cases() as f64).max(f64::MIN_POSITIVE), sum: 0 }
            }));
        }
        Self { arms, sums, whitened: Vec::with_capacity(fit.shape().dimension()), row: 0 }
    }

    /// Adds a row. O(d²) where a functional concerns its arm.
    ///
    /// # Panics
    /// If the row does not fit.
    pub fn add(&mut self, context: &[f64], arm: Arm, reward: f64) {
        let row = self.row;
        self.row += 1;
        let Some(arm) = &self.arms[arm.index()] else { return };
        self.whitened.clear();
        self.whitened.extend(arm.inverse_root.iter().map(|line| in_order(line, context)));
        let left = 1.0 - in_order(&self.whitened, &self.whitened);
        let residual = reward - in_order(context, &arm.estimate);
        for (at, direction) in &arm.directions {
            let weight = in_order(&self.whitened, direction);
            let sum = &mut self.sums[*at];
            if weight == 0.0 {
                continue;
            }
            if !(left > FULL_LEVERAGE) {
                *sum = Err(ConfirmError::Leverage { row });
            }
            if let Ok(sum) = sum {
                let score = weight * residual / left;
                let whole = (score * score / sum.unit * Self::SCALE + 0.5).min(Self::LARGEST);
                #[allow(clippy::cast_possible_truncation)]
                let whole = i128::from(whole as i64);
                sum.sum += whole;
            }
        }
    }

    /// How the rows of each arm enter; `None` for an arm that no functional concerns.
    pub fn arms(&self) -> &[Option<ArmScores>] {
        &self.arms
    }

    /// What the squares of a functional's scores are divided by, before they are scaled and rounded.
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`], [`ConfirmError::NotEstimable`] or [`ConfirmError::Leverage`].
    ///
    /// # Panics
    /// If there is no such functional.
    pub fn unit(&self, functional: usize) -> Result<f64, ConfirmError> {
        self.sums[functional].as_ref().map(|sum| sum.unit).map_err(Clone::clone)
    }

    /// The rows and the sums so far, one for each functional; `None` for one without an error.
    pub fn sums(&self) -> ErrorSums {
        let sum = |sum: &Result<SquareSum, ConfirmError>| sum.as_ref().ok().map(|sum| sum.sum);
        ErrorSums { rows: self.row as u64, sums: self.sums.iter().map(sum).collect() }
    }

    /// Adds sums over other rows, of the same functionals.
    ///
    /// # Errors
    /// [`ConfirmError::Length`] if there is not one for each functional.
    pub fn add_sums(&mut self, other: &ErrorSums) -> Result<(), ConfirmError> {
        let (expected, found) = (self.sums.len(), other.sums.len());
        if expected != found {
            return Err(ConfirmError::Length { name: "sums of squares", expected, found });
        }
        self.row += usize::try_from(other.rows).unwrap_or(usize::MAX);
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            match (&mut *mine, theirs) {
                (Ok(mine), Some(theirs)) => mine.sum += theirs,
                (Ok(_), None) => *mine = Err(ConfirmError::Leverage { row: 0 }),
                (Err(_), _) => {}
            }
        }
        Ok(())
    }

    /// The standard error of a functional.
    ///
    /// # Errors
    /// [`ConfirmError::NoChange`], [`ConfirmError::NotEstimable`] or [`ConfirmError::Leverage`].
    ///
    /// # Panics
    /// If there is no such functional.
    pub fn error(&self, functional: usize) -> Result<f64, ConfirmError> {
        self.sums[functional].clone().map(|sum| (sum.unit * (sum.sum as f64 / Self::SCALE)).sqrt())
    }
}

/// The dot product, summed from left to right up to the shorter one's end.
#[inline]
fn in_order(one: &[f64], other: &[f64]) -> f64 {
    let mut products = one.iter().zip(other).map(|(one, other)| one * other);
    let first = products.next().unwrap_or(0.0);
    products.fold(first, |sum, product| sum + product)
}

/// The arms that a functional concerns, ready to weigh rows.
struct Weights<'a> {
    arms: Vec<WeightedArm<'a>>,
}

struct WeightedArm<'a> {
    arm: usize,
    fit: &'a ArmFit,
    /// `R⁻¹g_a`.
    direction: Vec<f64>,
}

/// A row in the coordinates of its arm.
#[derive(Default)]
struct Row {
    /// `b`.
    whitened: Vec<f64>,
    /// `v`.
    weight: f64,
    /// `e`.
    residual: f64,
}

impl<'a> Weights<'a> {
    fn new(fit: &'a LeastSquares, log: &CaseLog<'_>, functional: &'a Parameters) -> Result<Self, ConfirmError> {
        assert!(fit.cases() == log.len() as u64, "robust errors need the rows that the regressions were fitted to");
        let concerned = fit.concerned(functional)?.into_iter();
        let arms =
            concerned.map(|Concerned { arm, fit, part }| WeightedArm { arm, fit, direction: fit.whitened(part) });
        Ok(Self { arms: arms.collect() })
    }

    fn arm(&self, arm: usize) -> Option<&WeightedArm<'a>> {
        self.place(arm).map(|(_, arm)| arm)
    }

    fn place(&self, arm: usize) -> Option<(usize, &WeightedArm<'a>)> {
        self.arms.iter().enumerate().find(|(_, weighted)| weighted.arm == arm)
    }
}

impl WeightedArm<'_> {
    fn read(&self, context: &[f64], reward: f64, row: &mut Row) {
        row.whitened.clear();
        row.whitened.extend_from_slice(context);
        self.fit.whiten(&mut row.whitened);
        row.weight = dot(&row.whitened, &self.direction);
        row.residual = reward - dot(context, self.fit.estimate());
    }
}

/// Sums over clusters. With `u_g = A_g v_g` and `w_g = B_gᵀu_g` the variance's estimate is a sum of squares of `p_gᵀy` with
/// `p_gᵀp_h = [g = h]‖u_g‖² − w_gᵀw_h`, from which its degrees of freedom follow [pustejovsky-2018, §3].
struct ClusterSums {
    variance: f64,
    /// `Σ_g p_gᵀp_g`.
    trace: f64,
    /// `Σ_g ((p_gᵀp_g)² − (w_gᵀw_g)²)`.
    own: f64,
    /// `Σ_g w_g w_gᵀ`, in full.
    shared: Vec<f64>,
    clusters: u64,
    /// Of the cluster in hand: `uᵀe`, `‖u‖²` and `w`.
    score: f64,
    length_squared: f64,
    moment: Vec<f64>,
}

impl ClusterSums {
    fn new(width: usize) -> Self {
        Self {
            variance: 0.0,
            trace: 0.0,
            own: 0.0,
            shared: vec![0.0; width * width],
            clusters: 0,
            score: 0.0,
            length_squared: 0.0,
            moment: vec![0.0; width],
        }
    }

    /// Rows of one arm in the cluster in hand. `start` is the arm's place in `w`.
    fn add_block(&mut self, start: usize, rows: &[Row]) {
        for (row, adjusted) in rows.iter().zip(adjusted_weights(rows)) {
            self.score += adjusted * row.residual;
            self.length_squared += adjusted * adjusted;
            add_scaled(&mut self.moment[start..start + row.whitened.len()], adjusted, &row.whitened);
        }
    }

    fn end_cluster(&mut self) {
        let explained = dot(&self.moment, &self.moment);
        let left = self.length_squared - explained;
        self.variance += self.score * self.score;
        self.trace += left;
        self.own += left * left - explained * explained;
        for (row, &entry) in self.shared.chunks_exact_mut(self.moment.len()).zip(&self.moment) {
            add_scaled(row, entry, &self.moment);
        }
        self.clusters += 1;
        (self.score, self.length_squared) = (0.0, 0.0);
        self.moment.fill(0.0);
    }

    fn error(&self) -> ClusterError {
        let spread = self.own + dot(&self.shared, &self.shared);
        let degrees = if spread > 0.0 { self.trace * self.trace / spread } else { 0.0 };
        ClusterError { standard_error: self.variance.sqrt(), degrees, clusters: self.clusters }
    }
}

/// `(I − BBᵀ)^{−½}v` for rows `B` and weights `v`: in the space of the rows or of the variables, whichever is smaller. Where
/// `I − BBᵀ` is singular its generalised inverse root is taken.
fn adjusted_weights(rows: &[Row]) -> Vec<f64> {
    let (count, dimension) = (rows.len(), rows[0].whitened.len());
    let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    // The root of what is left, and 1/root.
    let root = |eigenvalue: f64| (1.0 - eigenvalue > FULL_LEVERAGE).then(|| (1.0 - eigenvalue).sqrt());
    if count <= dimension {
        let mut gram = vec![0.0; count * count];
        for (i, row) in rows.iter().enumerate() {
            for (j, other) in rows.iter().enumerate() {
                gram[i * count + j] = dot(&row.whitened, &other.whitened);
            }
        }
        return spectral(gram, count, &weights, |eigenvalue| root(eigenvalue).map_or(0.0, |root| 1.0 / root));
    }
    let mut gram = vec![0.0; dimension * dimension];
    let mut moment = vec![0.0; dimension];
    for row in rows {
        for (line, &entry) in gram.chunks_exact_mut(dimension).zip(&row.whitened) {
            add_scaled(line, entry, &row.whitened);
        }
        add_scaled(&mut moment, row.weight, &row.whitened);
    }
    // (I − BBᵀ)^{−½} = I + B f(BᵀB) Bᵀ with f(x) = ((1−x)^{−½} − 1)/x.
    let correction = spectral(gram, dimension, &moment, |eigenvalue| {
        root(eigenvalue).map_or(-1.0, |root| 1.0 / (root * (1.0 + root)))
    });
    rows.iter().map(|row| row.weight + dot(&row.whitened, &correction)).collect()
}

/// `f(A)x` for a symmetric matrix in full, by Jacobi's rotations [golub-2013, §8.5].
fn spectral(mut matrix: Vec<f64>, order: usize, x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut vectors = vec![0.0; order * order];
    (0..order).for_each(|i| vectors[i * order + i] = 1.0);
    for _ in 0..MAX_SWEEPS {
        if !rotate_all(&mut matrix, &mut vectors, order) {
            break;
        }
    }
    // The rows of `vectors` are the eigenvectors.
    let mut result = vec![0.0; order];
    for (i, vector) in vectors.chunks_exact(order).enumerate() {
        add_scaled(&mut result, f(matrix[i * order + i]) * dot(vector, x), vector);
    }
    result
}

/// One sweep of rotations; whether any was needed. Eigenvalues here are at most 1.
fn rotate_all(matrix: &mut [f64], vectors: &mut [f64], order: usize) -> bool {
    let mut rotated = false;
    for p in 0..order {
        for q in p + 1..order {
            let off = matrix[p * order + q];
            if off.abs() <= 1e-15 {
                continue;
            }
            rotated = true;
            let half = 0.5 * (matrix[q * order + q] - matrix[p * order + p]) / off;
            let tangent = half.signum() / (half.abs() + (half * half + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            let turn = |values: &mut [f64], one: usize, other: usize| {
                let (a, b) = (values[one], values[other]);
                values[one] = cosine * a - sine * b;
                values[other] = sine * a + cosine * b;
            };
            for i in 0..order {
                turn(matrix, i * order + p, i * order + q);
            }
            for i in 0..order {
                turn(matrix, p * order + i, q * order + i);
                turn(vectors, p * order + i, q * order + i);
            }
            matrix[p * order + q] = 0.0;
            matrix[q * order + p] = 0.0;
        }
    }
    rotated
}

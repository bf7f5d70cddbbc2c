//! Least squares from its normal equations, one column after the other.

use std::ops::Range;

use crate::least_squares::dot;
use crate::moments::packed_length;

/// A column whose part at right angles to those before it has less than this share of its square is no column of its own:
/// sums of millions of rows leave about 1e-14 of a column that is a sum of others.
const INDEPENDENT_SHARE: f64 = 1e-10;

/// The least-squares problem `min Σ(y − zᵀβ)²` in a form that answers for every leading set of columns at once:
/// `Σzzᵀ = D L Lᵀ D` with `D` the columns' lengths, and `w = L⁻¹D⁻¹Σzy`, where `wⱼ²` is what column j explains beyond those
/// before it. A column that is a sum of earlier ones, or zero, is dropped: its coefficient is 0 and it counts for nothing.
#[derive(Debug, Clone)]
pub(crate) struct NormalEquations {
    /// `L`, packed; a dropped column's row is that of the identity.
    factor: Vec<f64>,
    /// `D`, 1 for a column of zeros.
    lengths: Vec<f64>,
    /// `w`.
    scores: Vec<f64>,
    kept: Vec<bool>,
}

impl NormalEquations {
    /// From `Σzzᵀ`, the lower triangle by rows, and `Σzy`. O(width³/6).
    pub(crate) fn new(information: &[f64], moment: &[f64]) -> Self {
        let width = moment.len();
        let lengths: Vec<f64> = (0..width)
            .map(|i| information[packed_length(i + 1) - 1])
            .map(|square| if square > 0.0 { square.sqrt() } else { 1.0 })
            .collect();
        let mut equations = Self {
            factor: vec![0.0; packed_length(width)],
            lengths,
            scores: vec![0.0; width],
            kept: vec![false; width],
        };
        for i in 0..width {
            equations.eliminate(i, &information[packed_length(i)..packed_length(i + 1)], moment[i]);
        }
        equations
    }

    /// Columns among these that are their own.
    pub(crate) fn rank(&self, columns: Range<usize>) -> usize {
        self.kept[columns].iter().filter(|kept| **kept).count()
    }

    /// Whether a column is its own.
    pub(crate) fn keeps(&self, column: usize) -> bool {
        self.kept[column]
    }

    /// The part of `Σy²` that these columns explain beyond all before them.
    pub(crate) fn explained(&self, columns: Range<usize>) -> f64 {
        self.scores[columns].iter().map(|score| score * score).sum()
    }

    /// `β`, 0 for dropped columns.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        self.unwhitened(&self.scores)
    }

    /// `D⁻¹L⁻ᵀz`: from independent numbers of variance 1, numbers whose covariance is `(Σzzᵀ)⁻¹`.
    pub(crate) fn unwhitened(&self, z: &[f64]) -> Vec<f64> {
        let mut solution = z.to_vec();
        for i in (0..solution.len()).rev() {
            let row = self.row(i);
            solution[i] /= row[i];
            let value = solution[i];
            for (entry, factor) in solution[..i].iter_mut().zip(row) {
                *entry -= value * factor;
            }
        }
        solution.iter().zip(&self.lengths).map(|(value, length)| value / length).collect()
    }

    /// `gᵀ(Σzzᵀ)⁻¹g`: the variance of `gᵀβ` for noise of variance 1; infinite if `g` needs a column that was dropped.
    pub(crate) fn width_squared(&self, functional: &[f64]) -> f64 {
        let mut whitened: Vec<f64> = Vec::with_capacity(functional.len());
        for (i, (value, length)) in functional.iter().zip(&self.lengths).enumerate() {
            if !self.kept[i] && *value != 0.0 {
                return f64::INFINITY;
            }
            let row = self.row(i);
            whitened.push((value / length - dot(&row[..i], &whitened)) / row[i]);
        }
        dot(&whitened, &whitened)
    }

    /// The column's entry on the diagonal of `(Σzzᵀ)⁻¹`: its coefficient's variance for noise of variance 1.
    pub(crate) fn variance(&self, column: usize) -> f64 {
        let width = self.scores.len();
        let mut inverse = vec![0.0; width];
        for i in column..width {
            let row = self.row(i);
            let unit = if i == column { 1.0 } else { 0.0 };
            inverse[i] = (unit - dot(&row[column..i], &inverse[column..i])) / row[i];
        }
        dot(&inverse, &inverse) / (self.lengths[column] * self.lengths[column])
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.factor[packed_length(i)..packed_length(i + 1)]
    }

    fn eliminate(&mut self, i: usize, information: &[f64], moment: f64) {
        let mut row = vec![0.0; i + 1];
        for j in 0..i {
            if self.kept[j] {
                let above = self.row(j);
                let cosine = information[j] / (self.lengths[i] * self.lengths[j]);
                row[j] = (cosine - dot(&row[..j], &above[..j])) / above[j];
            }
        }
        let share = 1.0 - dot(&row[..i], &row[..i]);
        if information[i] > 0.0 && share > INDEPENDENT_SHARE {
            row[i] = share.sqrt();
            self.scores[i] = (moment / self.lengths[i] - dot(&row[..i], &self.scores[..i])) / row[i];
            self.kept[i] = true;
        } else {
            row.fill(0.0);
            row[i] = 1.0;
        }
        self.factor[packed_length(i)..packed_length(i + 1)].copy_from_slice(&row);
    }
}

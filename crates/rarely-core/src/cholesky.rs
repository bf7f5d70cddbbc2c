//! The Cholesky factor of a positive semi-definite matrix, for callers outside the core's kernel.

use crate::symmetric::{factor_above, packed_length, solve};

/// A pivot is at least this share of its diagonal entry: columns that repeat each other do no harm.
const LEAST_PIVOT: f64 = 1e-13;

/// `A = LLᵀ` of a positive semi-definite matrix.
///
/// ```
/// use rarely_core::Cholesky;
/// let factor = Cholesky::new(vec![4.0, 2.0, 3.0], 2); // [[4, 2], [2, 3]], the lower triangle by rows
/// let mut x = [8.0, 7.0];
/// factor.solve(&mut x);
/// assert_eq!(x, [1.25, 1.5]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky {
    factor: Vec<f64>,
    dimension: usize,
}

impl Cholesky {
    /// Factors a matrix, given as its lower triangle by rows. Pivots that rounding makes too small are raised. O(d³/6).
    ///
    /// # Panics
    /// If there are not d(d+1)/2 numbers.
    pub fn new(mut packed: Vec<f64>, dimension: usize) -> Self {
        assert_eq!(packed.len(), packed_length(dimension), "the lower triangle of a square matrix");
        factor_above(&mut packed, dimension, |diagonal| (LEAST_PIVOT * diagonal).max(f64::MIN_POSITIVE));
        Self { factor: packed, dimension }
    }

    /// Replaces `b` by the solution of `Ax = b`. O(d²).
    ///
    /// # Panics
    /// If `b` does not have d numbers.
    pub fn solve(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.dimension, "one number for each row");
        solve(&self.factor, b);
    }

    /// Replaces `x` by `L⁻ᵀx`: standard normal numbers become a draw from `N(0, A⁻¹)`. O(d²).
    ///
    /// # Panics
    /// If `x` does not have d numbers.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        assert_eq!(x.len(), self.dimension, "one number for each row");
        for i in (0..self.dimension).rev() {
            let row = &self.factor[packed_length(i)..packed_length(i + 1)];
            x[i] /= row[i];
            let value = x[i];
            for (entry, factor) in x[..i].iter_mut().zip(row) {
                *entry -= value * factor;
            }
        }
    }
}

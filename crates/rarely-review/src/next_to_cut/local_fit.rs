//! A local polynomial at the edge of the data, as weights on the outcomes.

use super::half::Half;

/// A pivot below this share of its diagonal means that the values are too few for the polynomial.
const SINGULAR: f64 = 1e-13;

/// The weighted least-squares polynomial `Σβₖvᵏ` in the distance v from a cut, with triangular weights `1 − v/h`.
#[derive(Debug)]
pub(super) struct LocalFit<'a> {
    half: &'a Half,
    bandwidth: f64,
    /// Rows with a positive weight: the first ones of the side.
    pub(super) rows: usize,
    order: usize,
    /// `(TᵀWT)⁻¹`, row by row, for the powers of `t = v/h`.
    inverse: Vec<f64>,
}

impl<'a> LocalFit<'a> {
    /// The fit of this order within a bandwidth. `None` if the rows have too few different values for it.
    pub(super) fn new(half: &'a Half, bandwidth: f64, order: usize) -> Option<Self> {
        let rows = half.within(bandwidth);
        let mut moments = vec![0.0; 2 * order + 1];
        for distance in &half.distance[..rows] {
            let t = distance / bandwidth;
            let mut term = 1.0 - t;
            for moment in &mut moments {
                *moment += term;
                term *= t;
            }
        }
        let inverse = inverted(&moments, order + 1)?;
        Some(Self { half, bandwidth, rows, order, inverse })
    }

    /// The weights `ℓ` with `Σℓᵢyᵢ = β` for the coefficient of `vᵖᵒʷᵉʳ`, one for each row within the bandwidth.
    pub(super) fn weights(&self, power: usize) -> Vec<f64> {
        let row = &self.inverse[power * (self.order + 1)..(power + 1) * (self.order + 1)];
        let scale = self.bandwidth.powi(-i32::try_from(power).unwrap_or(i32::MAX));
        let weight = |distance: &f64| {
            let t = distance / self.bandwidth;
            let polynomial = row.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
            scale * (1.0 - t) * polynomial
        };
        self.half.distance[..self.rows].iter().map(weight).collect()
    }

    /// The coefficient of `vᵖᵒʷᵉʳ`.
    pub(super) fn coefficient(&self, power: usize) -> f64 {
        weighted(&self.weights(power), &self.half.outcome)
    }
}

/// `Σℓᵢvᵢ` over the rows that have a weight.
pub(super) fn weighted(weights: &[f64], values: &[f64]) -> f64 {
    weights.iter().zip(values).map(|(weight, value)| weight * value).sum()
}

/// `Σℓᵢ²rᵢ²`: the variance of `Σℓᵢyᵢ` by residuals r.
pub(super) fn variance(weights: &[f64], residuals: &[f64]) -> f64 {
    weights.iter().zip(residuals).map(|(weight, residual)| (weight * residual).powi(2)).sum()
}

/// The inverse of the matrix with `moments[i + j]` in row i and column j, by its Cholesky factor. `None` if it is singular.
fn inverted(moments: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| factor[i * size + k] * factor[j * size + k]).sum();
            let rest = moments[i + j] - known;
            if i != j {
                factor[i * size + j] = rest / factor[j * size + j];
            } else if rest > SINGULAR * moments[2 * i] {
                factor[i * size + i] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut inverse = vec![0.0; size * size];
    for column in 0..size {
        let mut solution = vec![0.0; size];
        for i in 0..size {
            let known: f64 = (0..i).map(|k| factor[i * size + k] * solution[k]).sum();
            solution[i] = (f64::from(u8::from(i == column)) - known) / factor[i * size + i];
        }
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|k| factor[k * size + i] * solution[k]).sum();
            solution[i] = (solution[i] - known) / factor[i * size + i];
        }
        for (i, value) in solution.into_iter().enumerate() {
            inverse[i * size + column] = value;
        }
    }
    Some(inverse)
}

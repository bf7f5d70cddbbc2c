//! The standard normal distribution function and density together, from a table: a tenth of the work of computing both.

use std::sync::LazyLock;

use super::TAIL;

/// Rows of the table per standard deviation.
const ROWS_PER_DEVIATION: f64 = 8.0;
/// Rows on either side of 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
const SIDE: usize = (TAIL * ROWS_PER_DEVIATION) as usize;
/// Terms of a Taylor series: at half a row's distance the next one is below 1e-10 of the density, and far less of the distribution.
const TERMS: usize = 8;

static TABLE: LazyLock<NormalTable> = LazyLock::new(NormalTable::new);

/// `Φ` and `φ` within the tails.
pub(super) struct NormalTable {
    /// The Taylor coefficients of `Φ` at each row.
    rows: [[f64; TERMS]; 2 * SIDE + 1],
}

impl NormalTable {
    /// The table; computed once.
    pub(super) fn get() -> &'static Self {
        &TABLE
    }

    /// `Φ⁽ⁿ⁺¹⁾/(n+1)! = (−1)ⁿ·Heₙ·φ/(n+1)!`, by the recurrence `Heₙ₊₁ = z·Heₙ − n·Heₙ₋₁` of Hermite's polynomials.
    fn new() -> Self {
        let mut rows = [[0.0; TERMS]; 2 * SIDE + 1];
        for (row, coefficients) in rows.iter_mut().enumerate() {
            let z = (row as f64 - SIDE as f64) / ROWS_PER_DEVIATION;
            coefficients[0] = distribution(z);
            let (mut before, mut hermite, mut scale) = (0.0, 1.0, density(z));
            for (n, coefficient) in coefficients[1..].iter_mut().enumerate() {
                let n = n as f64;
                scale /= n + 1.0;
                *coefficient = scale * hermite;
                (before, hermite) = (hermite, z * hermite - n * before);
                scale = -scale;
            }
        }
        Self { rows }
    }

    /// `Φ(z)` and `φ(z)` to 1e-10; beyond the tails, those at their ends.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    #[inline]
    pub(super) fn distribution_and_density(&self, z: f64) -> (f64, f64) {
        let place = z.clamp(-TAIL, TAIL) * ROWS_PER_DEVIATION + SIDE as f64;
        // Truncation is rounding to the nearest here, as the place is not negative.
        let row = (place + 0.5) as usize;
        let h = (place - row as f64) / ROWS_PER_DEVIATION;
        let coefficients = &self.rows[row];
        let (mut value, mut slope) = (coefficients[TERMS - 1], 0.0);
        for coefficient in coefficients[..TERMS - 1].iter().rev() {
            slope = slope * h + value;
            value = value * h + coefficient;
        }
        (value, slope)
    }
}

/// `Φ(z)`.
#[inline]
pub(super) fn distribution(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// `φ(z)`.
pub(super) fn density(z: f64) -> f64 {
    const ROOT: f64 = 0.398_942_280_401_432_7;
    ROOT * libm::exp(-0.5 * z * z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_exact_to_ten_digits() {
        let table = NormalTable::get();
        for step in -65_000..=65_000 {
            let z = f64::from(step) * 1e-4;
            let (below, slope) = table.distribution_and_density(z);
            assert!((below - distribution(z)).abs() < 1e-12 && (slope - density(z)).abs() < 1e-10, "{z}");
            assert!(below > 0.0 && slope > 0.0, "{z}");
        }
        assert_eq!(table.distribution_and_density(-99.0), table.distribution_and_density(-TAIL));
    }
}

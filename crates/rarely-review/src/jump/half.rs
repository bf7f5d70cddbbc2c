//! One side of a cut: its bins, and sums over the bins within a bandwidth.

use serde::{Deserialize, Serialize};

use super::BINS;

/// Powers of v that are summed alone, from the first on: the power 0 is the number of rows.
const ALONE: usize = 6;
/// Powers of v that are summed with y, from 0 on.
const WITH_OUTCOME: usize = 6;
/// Powers of v that are summed with y², from 0 on.
const WITH_SQUARE: usize = 5;
/// How far below the edge of a bin, in bins, a distance still counts as on it.
const EDGE: f64 = 1e-9;
/// The largest number that a sum may hold: finite, with room for products of a few.
const MAX_SUM: f64 = 1e60;
/// Rows that can be counted exactly in `f64`.
const MAX_ROWS: u64 = 1 << 53;

/// One side of a cut. Bins count from the cut outward: bin i holds the distances v with `i ≤ 200v < i + 1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Half {
    /// The option that the rule gives on this side: its outcomes are summed.
    given: usize,
    sums: Vec<[f64; ALONE + WITH_OUTCOME + WITH_SQUARE]>,
    /// Rows in every bin, one option's bins after the other's.
    rows: Vec<u64>,
}

/// Sums over the bins within a bandwidth, of powers of `t = v/h` from 0 on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Powers {
    /// `Σtʲ`.
    pub(super) alone: [f64; ALONE + 1],
    /// `Σtʲy`.
    pub(super) with_outcome: [f64; WITH_OUTCOME],
    /// `Σtʲy²`.
    pub(super) with_square: [f64; WITH_SQUARE],
    /// `h`, as a share of the span.
    pub(super) bandwidth: f64,
}

impl Half {
    pub(super) fn new(given: usize, bins: usize, options: usize) -> Self {
        Self { given, sums: vec![[0.0; ALONE + WITH_OUTCOME + WITH_SQUARE]; bins], rows: vec![0; bins * options] }
    }

    /// Adds a row at distance v from the cut.
    #[inline]
    pub(super) fn add(&mut self, v: f64, option: usize, outcome: f64) {
        let bin = self.bin(v);
        self.rows[option * self.sums.len() + bin] += 1;
        if option != self.given {
            return;
        }
        let powers = powers(v);
        let (alone, rest) = self.sums[bin].split_at_mut(ALONE);
        let (with_outcome, with_square) = rest.split_at_mut(WITH_OUTCOME);
        for (sum, power) in alone.iter_mut().zip(powers) {
            *sum += power * v;
        }
        for (sum, power) in with_outcome.iter_mut().zip(powers) {
            *sum += power * outcome;
        }
        for (sum, power) in with_square.iter_mut().zip(powers) {
            *sum += power * (outcome * outcome);
        }
    }

    /// Corrects the outcome of a row that was added.
    pub(super) fn correct(&mut self, v: f64, option: usize, old_outcome: f64, new_outcome: f64) {
        if option != self.given {
            return;
        }
        let (bin, powers) = (self.bin(v), powers(v));
        let (with_outcome, with_square) = self.sums[bin][ALONE..].split_at_mut(WITH_OUTCOME);
        for (sum, power) in with_outcome.iter_mut().zip(powers) {
            *sum += power * (new_outcome - old_outcome);
        }
        for (sum, power) in with_square.iter_mut().zip(powers) {
            // A sum of squares, which rounding may make slightly negative.
            *sum = (*sum + power * (new_outcome * new_outcome - old_outcome * old_outcome)).max(0.0);
        }
    }

    /// Rows of every option.
    pub(super) fn all_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sums, others) in self.sums.iter_mut().zip(&other.sums) {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        }
        for (rows, other) in self.rows.iter_mut().zip(&other.rows) {
            *rows += other;
        }
    }

    pub(super) fn is_sound(&self, given: usize, bins: usize, options: usize) -> bool {
        let first_with_square = ALONE + WITH_OUTCOME;
        let sound = |sums: &[f64; ALONE + WITH_OUTCOME + WITH_SQUARE]| {
            sums.iter().all(|sum| sum.abs() <= MAX_SUM)
                && sums[..ALONE].iter().chain(&sums[first_with_square..]).all(|sum| *sum >= 0.0)
        };
        self.given == given
            && self.sums.len() == bins
            && bins.checked_mul(options) == Some(self.rows.len())
            && self.sums.iter().all(sound)
            && self.rows.iter().try_fold(0_u64, |all, rows| all.checked_add(*rows)).is_some_and(|all| all <= MAX_ROWS)
    }

    pub(super) fn bins(&self) -> usize {
        self.sums.len()
    }

    /// The bin of a distance. The last one also holds the end of the span.
    ///
    /// Values that people write down often lie on the edge of a bin, where rounding must not choose a side.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn bin(&self, v: f64) -> usize {
        ((v * BINS + EDGE) as usize).min(self.sums.len() - 1)
    }

    /// Rows of an option in a bin.
    pub(super) fn rows(&self, option: usize, bin: usize) -> u64 {
        self.rows[option * self.sums.len() + bin]
    }

    /// Bins up to the last one in which the given option has rows.
    pub(super) fn reach(&self) -> usize {
        (0..self.bins()).rev().find(|bin| self.rows(self.given, *bin) > 0).map_or(0, |bin| bin + 1)
    }

    /// Sums over the bins nearest to the cut.
    pub(super) fn within(&self, bins: usize) -> Powers {
        let mut sums = [0.0; ALONE + WITH_OUTCOME + WITH_SQUARE];
        let mut rows = 0;
        for bin in 0..bins.min(self.bins()) {
            rows += self.rows(self.given, bin);
            for (sum, part) in sums.iter_mut().zip(&self.sums[bin]) {
                *sum += part;
            }
        }
        let bandwidth = bins as f64 / BINS;
        let mut alone = [rows as f64; ALONE + 1];
        alone[1..].copy_from_slice(&sums[..ALONE]);
        let (mut with_outcome, mut with_square) = ([0.0; WITH_OUTCOME], [0.0; WITH_SQUARE]);
        with_outcome.copy_from_slice(&sums[ALONE..ALONE + WITH_OUTCOME]);
        with_square.copy_from_slice(&sums[ALONE + WITH_OUTCOME..]);
        for powers in [&mut alone[..], &mut with_outcome[..], &mut with_square[..]] {
            let mut divisor = 1.0;
            for sum in powers {
                *sum /= divisor;
                divisor *= bandwidth;
            }
        }
        Powers { alone, with_outcome, with_square, bandwidth }
    }
}

/// `v⁰` to `v⁵`.
#[inline]
fn powers(v: f64) -> [f64; WITH_OUTCOME] {
    let square = v * v;
    [1.0, v, square, square * v, square * square, square * square * v]
}

impl Powers {
    /// Rows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn rows(&self) -> u64 {
        self.alone[0] as u64
    }
}

//! One side of a cut: its bins, and sums over the bins within a bandwidth.

use serde::{Deserialize, Serialize};

use super::BINS;
use crate::fixed_point::{ONE, RewardGrid, add_all, floor, have_room, rounded_shift, shift_all, times, whole};

/// Powers of w that are summed alone, from the first on: the power 0 is the number of rows.
const ALONE: usize = 6;
/// Powers of w that are summed with y, from 0 on.
const WITH_OUTCOME: usize = 6;
/// Powers of w that are summed with y², from 0 on.
const WITH_SQUARE: usize = 5;
/// All sums of a bin.
const ALL: usize = ALONE + WITH_OUTCOME + WITH_SQUARE;
/// How far below the edge of a bin, in bins, a distance still counts as on it.
pub(crate) const EDGE: f64 = 1e-9;
/// The sums of a bin: of powers of w alone from the first on, of powers with y and with y² from 0 on.
pub(crate) type PowerSums = [i128; ALL];
/// Rows that can be counted exactly in `f64`.
const MAX_ROWS: u64 = 1 << 53;

/// One side of a cut. Bins count from the cut outward: bin i holds the distances v with `w = 200v − i` from 0 up to 1. The sums are those of
/// powers of w in whole numbers, so that they do not depend on the order of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Half {
    /// The option that the rule gives on this side: its outcomes are summed.
    given: usize,
    outcomes: RewardGrid,
    sums: Vec<PowerSums>,
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
    pub(super) fn new(given: usize, bins: usize, options: usize, outcomes: RewardGrid) -> Self {
        Self { given, outcomes, sums: vec![[0; ALL]; bins], rows: vec![0; bins * options] }
    }

    /// Adds a row at distance v from the cut.
    #[inline]
    pub(super) fn add(&mut self, v: f64, option: usize, outcome: f64) {
        let (bin, w) = self.bin_and_rest(v);
        self.rows[option * self.sums.len() + bin] += 1;
        if option != self.given {
            return;
        }
        let powers = powers(w);
        for (sum, &power) in self.sums[bin].iter_mut().zip(&powers[1..]) {
            *sum += i128::from(power);
        }
        self.add_outcome(bin, &powers, outcome, 1);
    }

    /// Sets the rows of an option in a bin, with the sums of the option that the rule gives. False if they do not fit.
    pub(super) fn set(&mut self, bin: usize, option: usize, rows: u64, powers: Option<&PowerSums>) -> bool {
        let bins = self.sums.len();
        let Some(sums) = self.sums.get_mut(bin) else { return false };
        if powers.is_some() != (option == self.given) {
            return false;
        }
        if let Some(powers) = powers {
            *sums = *powers;
        }
        self.rows[option * bins + bin] = rows;
        powers.is_none_or(is_sound)
    }

    /// Corrects the outcome of a row that was added.
    pub(super) fn correct(&mut self, v: f64, option: usize, old_outcome: f64, new_outcome: f64) {
        if option != self.given {
            return;
        }
        let (bin, w) = self.bin_and_rest(v);
        let powers = powers(w);
        self.add_outcome(bin, &powers, new_outcome, 1);
        self.add_outcome(bin, &powers, old_outcome, -1);
    }

    /// Adds an outcome so many times.
    #[inline]
    fn add_outcome(&mut self, bin: usize, powers: &[i64; ALONE + 1], outcome: f64, count: i128) {
        let bits = self.outcomes.bits_lacking(outcome);
        if bits > 0 {
            self.grow(bits);
        }
        let outcome = count * i128::from(self.outcomes.whole(outcome));
        // Rounded back to a number of the outcome's own size.
        let square = count * rounded_shift(outcome * outcome, ONE.trailing_zeros());
        let (with_outcome, with_square) = self.sums[bin][ALONE..].split_at_mut(WITH_OUTCOME);
        for (sum, &power) in with_outcome.iter_mut().zip(powers) {
            *sum += i128::from(power) * outcome;
        }
        for (sum, &power) in with_square.iter_mut().zip(powers) {
            *sum += i128::from(power) * square;
        }
    }

    #[cold]
    fn grow(&mut self, bits: u32) {
        self.outcomes.grow(bits);
        for sums in &mut self.sums {
            let (with_outcome, with_square) = sums[ALONE..].split_at_mut(WITH_OUTCOME);
            shift_all(with_outcome, bits);
            shift_all(with_square, bits.saturating_mul(2));
        }
    }

    /// Whether the sums are over the same outcomes.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.outcomes.is_like(&other.outcomes)
    }

    /// Rows of every option.
    pub(super) fn all_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        if self.outcomes.is_open() {
            self.grow(self.outcomes.bits_below(&other.outcomes));
            other.grow(other.outcomes.bits_below(&self.outcomes));
        }
        for (sums, others) in self.sums.iter_mut().zip(&other.sums) {
            add_all(sums, others);
        }
        for (rows, other) in self.rows.iter_mut().zip(&other.rows) {
            *rows += other;
        }
    }

    pub(super) fn is_sound(&self, given: usize, bins: usize, options: usize) -> bool {
        self.given == given
            && self.outcomes.is_sound()
            && self.sums.len() == bins
            && bins.checked_mul(options) == Some(self.rows.len())
            && self.sums.iter().all(is_sound)
            && self.rows.iter().try_fold(0_u64, |all, rows| all.checked_add(*rows)).is_some_and(|all| all <= MAX_ROWS)
    }

    pub(super) fn bins(&self) -> usize {
        self.sums.len()
    }

    /// The bin of a distance. The last one also holds the end of the span.
    pub(super) fn bin(&self, v: f64) -> usize {
        self.bin_and_rest(v).0
    }

    /// The bin of a distance, and the distance from the bin's start in bins.
    ///
    /// Values that people write down often lie on the edge of a bin, where rounding must not choose a side.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
    fn bin_and_rest(&self, v: f64) -> (usize, f64) {
        let bin = floor(v * BINS + EDGE).min(self.sums.len() as i64 - 1);
        (bin as usize, (v * BINS - bin as f64).clamp(0.0, 1.0))
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
        let (start, step) = (self.outcomes.start(), self.outcomes.step());
        let (one, width) = (ONE as f64, bins as f64);
        let mut within = Powers {
            alone: [0.0; ALONE + 1],
            with_outcome: [0.0; WITH_OUTCOME],
            with_square: [0.0; WITH_SQUARE],
            bandwidth: width / BINS,
        };
        for bin in 0..bins.min(self.bins()) {
            let mut alone = [self.rows(self.given, bin) as f64; ALONE + 1];
            let (powers, rest) = self.sums[bin].split_at(ALONE);
            let (outcomes, squares) = rest.split_at(WITH_OUTCOME);
            for (power, &sum) in alone[1..].iter_mut().zip(powers) {
                *power = sum as f64 / one;
            }
            // y = start + step·Y.
            let (mut with_outcome, mut with_square) = ([0.0; WITH_OUTCOME], [0.0; WITH_SQUARE]);
            for (at, &sum) in outcomes.iter().enumerate() {
                with_outcome[at] = start * alone[at] + step * (sum as f64 / one);
            }
            for (at, &sum) in squares.iter().enumerate() {
                let mixed = 2.0 * with_outcome[at] - start * alone[at];
                with_square[at] = start * mixed + step * step * sum as f64;
            }
            let at = bin as f64;
            add_shifted(&mut within.alone, &alone, at, width);
            add_shifted(&mut within.with_outcome, &with_outcome, at, width);
            add_shifted(&mut within.with_square, &with_square, at, width);
        }
        within
    }
}

fn is_sound(sums: &PowerSums) -> bool {
    let (_, with_square) = sums.split_at(ALONE + WITH_OUTCOME);
    have_room(sums) && sums[..ALONE].iter().chain(with_square).all(|sum| *sum >= 0)
}

/// Adds to sums of powers of `(at + w)/width` those of a bin, from the sums of powers of w: `(at + w)ʲ = Σ_m C(j,m)·at^(j−m)·wᵐ`.
fn add_shifted(sums: &mut [f64], powers: &[f64], at: f64, width: f64) {
    // The sums of `(at + w)ʲ·wᵐ`, for one j after the other.
    let mut mixed = powers.to_vec();
    for sum in sums {
        *sum += mixed[0];
        for m in 0..mixed.len() - 1 {
            mixed[m] = (at * mixed[m] + mixed[m + 1]) / width;
        }
        mixed.pop();
    }
}

/// `w⁰` to `w⁶` in whole numbers, each rounded back.
#[inline]
fn powers(w: f64) -> [i64; ALONE + 1] {
    let w = whole(w);
    let (square, cube) = (times(w, w), times(times(w, w), w));
    [ONE, w, square, cube, times(square, square), times(square, cube), times(cube, cube)]
}

impl Powers {
    /// Rows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn rows(&self) -> u64 {
        self.alone[0] as u64
    }
}

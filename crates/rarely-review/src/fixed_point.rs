//! Whole numbers in place of real ones, so that sums do not depend on the order of their rows (mathematics §17).
//!
//! A context variable `u`, from 0 to 1, becomes `U = ⌊u·2²⁶ + ½⌋`, an outcome the number of steps from the start of its range. Products of two
//! are sums of whole numbers below `2⁵⁴`, which add without rounding.

use serde::{Deserialize, Serialize};

/// The whole number of a context variable of 1.
pub(crate) const ONE: i64 = 1 << BITS;
const BITS: u32 = 26;
/// Half a step.
const HALF: i64 = ONE / 2;
/// Without a range, the largest outcome has between this many bits …
const OPEN_BITS: i32 = 34;
/// … and one less; the largest weight likewise.
const WEIGHT_BITS: i32 = 30;
/// The step before the first number: any number is larger.
const NO_STEP: f64 = f64::MIN_POSITIVE;

/// `⌊u·2²⁶ + ½⌋`, for a number of at most `2²⁰` in magnitude.
#[inline]
pub(crate) fn whole(u: f64) -> i64 {
    floor(u * ONE as f64 + 0.5)
}

/// The real number of a sum of products of two whole numbers.
pub(crate) fn product(sum: i128) -> f64 {
    sum as f64 / (ONE * ONE) as f64
}

/// The whole number of `(u − ½)²`, rounded back to 26 bits.
#[inline]
pub(crate) fn square(whole: i64) -> i64 {
    times(whole - HALF, whole - HALF)
}

/// The same of a number below `2²⁷`, by a multiplication of 32 bits, so that several are computed at once; of a larger one, any number.
#[inline]
pub(crate) fn centred_square(whole: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    /// `½²`, and half a step.
    const MIDDLE: u64 = (HALF * HALF + HALF).cast_unsigned();
    let square = (whole & LOW).wrapping_mul(whole & LOW);
    square.wrapping_add(MIDDLE).wrapping_sub(whole << BITS) >> BITS
}

/// The product of two, rounded back to 26 bits.
#[inline]
pub(crate) fn times(one: i64, other: i64) -> i64 {
    (one * other + HALF) >> BITS
}

/// `⌊t⌋` of a number below `2⁵¹` in magnitude, by additions only, so that several are computed at once.
#[inline]
#[allow(clippy::cast_possible_wrap)]
pub(crate) fn floor(t: f64) -> i64 {
    /// From here on numbers are whole, and their last bits count them.
    const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
    let nearest = t + WHOLE;
    let above = nearest - WHOLE > t;
    (nearest.to_bits() as i64).wrapping_sub(WHOLE.to_bits() as i64).wrapping_sub(i64::from(above))
}

/// The whole numbers of rewards: a reward is `start + step·Y`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RewardGrid {
    start: f64,
    step: f64,
    /// Whether the step grows with the largest reward.
    is_open: bool,
}

impl RewardGrid {
    /// Of rewards from `low` to `high`, or down to it: 2²⁶ steps.
    pub fn of_range(low: f64, high: f64) -> Self {
        Self { start: low, step: (high - low) / ONE as f64, is_open: false }
    }

    /// Of rewards in no known range: steps of at most `2⁻³³` of the largest.
    pub fn open() -> Self {
        Self { start: 0.0, step: NO_STEP, is_open: true }
    }

    /// Whether the step grows with the largest reward, so that sums of whole numbers depend on the order of the rows by a rounding.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn start(&self) -> f64 {
        self.start
    }

    pub(crate) fn step(&self) -> f64 {
        self.step
    }

    /// The whole number of a reward.
    #[inline]
    pub(crate) fn whole(&self, reward: f64) -> i64 {
        floor((reward - self.start) / self.step + 0.5)
    }

    /// The bits by which the step must grow for a reward.
    #[inline]
    pub(crate) fn bits_lacking(&self, reward: f64) -> u32 {
        if self.is_open { bits_lacking(reward.abs(), self.step, OPEN_BITS) } else { 0 }
    }

    /// The bits by which the step must grow to be that of another.
    pub(crate) fn bits_below(&self, other: &Self) -> u32 {
        bits_between(self.step, other.step)
    }

    pub(crate) fn grow(&mut self, bits: u32) {
        self.step = grown(self.step, bits);
    }

    /// Whether it could be a grid. Check this first on one that was read from a file.
    pub(crate) fn is_sound(&self) -> bool {
        self.start.is_finite() && self.step.is_finite() && self.step != 0.0
    }

    /// Whether sums on this grid and on another are of the same rewards.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.start, self.is_open) == (other.start, other.is_open) && (self.is_open || self.step == other.step)
    }
}

/// The whole numbers of weights, whose step grows with the largest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct WeightGrid {
    step: f64,
}

impl WeightGrid {
    pub(crate) fn open() -> Self {
        Self { step: NO_STEP }
    }

    pub(crate) fn step(self) -> f64 {
        self.step
    }

    pub(crate) fn whole(self, weight: f64) -> i64 {
        floor(weight / self.step + 0.5)
    }

    pub(crate) fn bits_lacking(self, weight: f64) -> u32 {
        bits_lacking(weight, self.step, WEIGHT_BITS)
    }

    pub(crate) fn bits_below(self, other: Self) -> u32 {
        bits_between(self.step, other.step)
    }

    pub(crate) fn grow(&mut self, bits: u32) {
        self.step = grown(self.step, bits);
    }

    pub(crate) fn is_sound(self) -> bool {
        self.step.is_finite() && self.step > 0.0
    }
}

/// Adds the sums of other rows.
pub(crate) fn add_all<'a>(sums: impl IntoIterator<Item = &'a mut i128>, others: &[i128]) {
    for (sum, other) in sums.into_iter().zip(others) {
        *sum = sum.saturating_add(*other);
    }
}

/// Whether sums have room for others. Check this first on a state that was read from a file.
pub(crate) fn have_room(sums: &[i128]) -> bool {
    /// The largest sum, with room for another.
    const MAX_SUM: i128 = 1 << 125;
    sums.iter().all(|sum| (-MAX_SUM..=MAX_SUM).contains(sum))
}

/// Every sum in steps that grew by so many bits.
pub(crate) fn shift_all<'a>(sums: impl IntoIterator<Item = &'a mut i128>, bits: u32) {
    for sum in sums {
        *sum = rounded_shift(*sum, bits);
    }
}

/// `⌊sum/2^bits + ½⌋`.
pub(crate) fn rounded_shift(sum: i128, bits: u32) -> i128 {
    match bits {
        0 => sum,
        // Sums are below 2¹²⁶.
        127.. => 0,
        _ => ((sum >> (bits - 1)) + 1) >> 1,
    }
}

fn bits_lacking(value: f64, step: f64, bits: i32) -> u32 {
    // One bit more, because rounding may reach the next power of two.
    let lacking = libm::ilogb(value).saturating_sub(libm::ilogb(step)).saturating_add(2 - bits);
    if value > 0.0 { u32::try_from(lacking).unwrap_or(0) } else { 0 }
}

/// Steps are powers of two.
fn bits_between(step: f64, larger: f64) -> u32 {
    u32::try_from(libm::ilogb(larger).saturating_sub(libm::ilogb(step))).unwrap_or(0)
}

fn grown(step: f64, bits: u32) -> f64 {
    libm::ldexp(step, i32::try_from(bits).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_down_from_half_a_step_more() {
        let mut t = -3.0;
        while t < 3.0 {
            assert_eq!(floor(t) as f64, libm::floor(t), "{t}");
            t += 0.125;
        }
        assert_eq!([whole(0.0), whole(1.0), whole(0.5), whole(-0.25)], [0, ONE, HALF, -HALF / 2]);
        // Ties go up, whatever is even.
        let tie = |whole: f64| (whole + 0.5) / ONE as f64;
        assert_eq!([whole(tie(2.0)), whole(tie(3.0)), whole(tie(-1.0))], [3, 4, 0]);
        assert_eq!([square(0), square(ONE), square(HALF)], [ONE / 4, ONE / 4, 0]);
        for whole in [0, 1, HALF - 3, HALF, HALF + 77_777, ONE - 1, ONE, 2 * ONE - 1] {
            assert_eq!(centred_square(whole.cast_unsigned()), square(whole).cast_unsigned(), "{whole}");
        }
    }

    #[test]
    fn an_open_grid_grows_with_the_largest_reward() {
        let mut grid = RewardGrid::open();
        for reward in [1e-9, 0.75, -3.0, 1e12, 5.0] {
            let bits = grid.bits_lacking(reward);
            grid.grow(bits);
            let whole = grid.whole(reward);
            assert!(whole.unsigned_abs() <= 1 << OPEN_BITS, "{reward}: {whole}");
            let back = grid.step() * whole as f64;
            assert!((back - reward).abs() <= 0.5 * grid.step(), "{reward}: {back}");
        }
        assert!(grid.whole(1e12) >= 1 << (OPEN_BITS - 2));
        assert_eq!(grid.bits_lacking(0.0), 0);
        assert_eq!(
            [rounded_shift(5, 1), rounded_shift(-5, 1), rounded_shift(7, 0), rounded_shift(9, 200)],
            [3, -2, 7, 0]
        );
    }
}

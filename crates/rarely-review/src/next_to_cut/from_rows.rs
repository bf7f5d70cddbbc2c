//! What the rows next to a cut add to the estimate of its jump, for a review.

use serde::Serialize;

use super::collected::CutRows;
use super::density::density_test;
use super::robust::{RobustJump, robust_jump};
use crate::jump::{Cut, Jump};

/// What only the rows themselves show of a jump: saved statistics and live policies keep none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FromRows {
    /// How far from the cut people count when the bias is estimated.
    pub bias_bandwidth: f64,
    /// The estimate less its estimated bias.
    pub bias_corrected: f64,
    /// Its standard error.
    pub robust_standard_error: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// The largest second derivative of the outcome for which the sign of the difference is certain; null if it is not even with straight
    /// lines.
    pub largest_curvature: Option<f64>,
    /// The share of the people within the bandwidth who did not get the option that the rule gives them; they are left out.
    pub not_followed: f64,
    /// The probability of so large a jump of the people's density at the cut if nobody was sorted; null where it cannot be tested.
    pub density_p_value: Option<f64>,
}

impl FromRows {
    /// Above this share of people who did not get the option of the rule, the design is not sharp.
    pub const SHARP: f64 = 0.1;

    /// Whether almost everybody next to the cut got the option that the rule gives them.
    pub fn is_sharp(&self) -> bool {
        self.not_followed <= Self::SHARP
    }

    /// The jump at one of the rule's cuts, and what the rows add to it; `None` if the rows do not allow an estimate. The sign of the
    /// outcome turns the numbers here into those of the outcome as it is logged.
    pub(crate) fn of(rows: &CutRows, cuts: &[Cut], index: usize, sign: f64) -> Option<(Jump, Self)> {
        let cut = cuts[index].at;
        let near = rows.near(cuts, index);
        let found = robust_jump(&near.x, &near.y, cut).ok()?;
        let RobustJump { bandwidths, estimate, standard_error, interval: [lower, upper], .. } = found;
        let ends = [sign * lower, sign * upper];
        let added = Self {
            bias_bandwidth: bandwidths.bias,
            bias_corrected: sign * found.bias_corrected,
            robust_standard_error: found.robust_standard_error,
            interval: [ends[0].min(ends[1]), ends[0].max(ends[1])],
            largest_curvature: found.curvature_bound.largest_curvature(),
            not_followed: near.not_followed(bandwidths.estimate),
            density_p_value: density_test(&near.everybody, cut).ok().map(|test| test.p_value),
        };
        Some((Jump { cut, bandwidth: bandwidths.estimate, estimate, standard_error, rows: found.rows }, added))
    }
}

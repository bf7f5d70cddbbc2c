//! The bandwidth of Imbens and Kalyanaraman, from the sums.
//!
//! The bandwidth that makes the expected squared error of the jump smallest is, for a line at an edge,
//!
//! ```text
//! h = C_K · ( (σ₋² + σ₊²) / (f · ((m₊″ − m₋″)² + r₋ + r₊)) )^⅕ · N^(−⅕)
//! ```
//!
//! with the noise's variances and the outcome's second derivatives on the two sides of the cut, the density `f` of the running
//! variable there, and `r`, which keeps `h` finite where the second derivatives are equal or poorly known. The steps are those
//! of [imbens-2012, §4.2]; where we differ: pilot bandwidths are whole bins, at least wide enough for 30 rows a side and never
//! wider than the data, and the two variances are not assumed equal. Lengths are shares of the span.

use super::half::{Half, Powers};
use super::local::{self, Kernel};
use super::{BINS, LEAST_ROWS};
use crate::normal_equations::NormalEquations;

/// The bandwidth in bins, at least wide enough for a line on either side, at most as wide as the data.
pub(super) fn bins(below: &Half, above: &Half, kernel: Kernel) -> usize {
    let reach = below.reach().max(above.reach()).max(1);
    let enough = |bins: &usize| [below, above].iter().all(|half| carries_a_line(&half.within(*bins), kernel));
    let Some(least) = (1..=reach).find(enough) else { return reach };
    // Without noise or bend the rule says 0/0: then nothing speaks against all the data.
    let rule = rule(below, above, kernel, least);
    if rule.is_finite() { snapped(rule, reach).max(least) } else { reach }
}

/// The nearest whole number of bins to a share of the span, from 1 to `most`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn snapped(share: f64, most: usize) -> usize {
    // A cast of a number that is too large gives the largest integer.
    ((share * BINS).round() as usize).clamp(1, most.max(1))
}

fn carries_a_line(powers: &Powers, kernel: Kernel) -> bool {
    powers.rows() >= LEAST_ROWS && local::fit(powers, kernel).is_some()
}

fn rule(below: &Half, above: &Half, kernel: Kernel, least: usize) -> f64 {
    let halves = [below, above];
    let all = halves.map(|half| half.within(half.reach()));
    let rows = all[0].alone[0] + all[1].alone[0];

    // Step 1: density and variances within a pilot bandwidth, Silverman's for a uniform kernel.
    let reach = below.reach().max(above.reach());
    let pilot = snapped(1.84 * deviation(&all) * libm::pow(rows, -0.2), reach).max(least);
    let near = halves.map(|half| half.within(pilot));
    let density = (near[0].alone[0] + near[1].alone[0]) / (2.0 * rows * near[0].bandwidth);
    let variances = [outcome_variance(&near[0]), outcome_variance(&near[1])];

    // Step 2: second derivatives, from a parabola on each side within a bandwidth that the third derivative sets.
    let third = third_derivative(&all);
    let (mut seconds, mut regularisation) = ([0.0; 2], 0.0);
    for side in 0..2 {
        let ratio = variances[side] / (density * third * third * all[side].alone[0]);
        let width = 3.56 * libm::pow(ratio, 1.0 / 7.0);
        let reach = halves[side].reach();
        let bins = if width.is_finite() { snapped(width, reach).max(least.min(reach)) } else { reach };
        let powers = halves[side].within(bins);
        seconds[side] = second_derivative(&powers);
        // Step 3: the parabola's own uncertainty.
        regularisation += 2160.0 * variances[side] / (powers.alone[0] * libm::pow(powers.bandwidth, 4.0));
    }
    let bend = (seconds[1] - seconds[0]) * (seconds[1] - seconds[0]);
    let ratio = (variances[0] + variances[1]) / (density * (bend + regularisation) * rows);
    kernel.constant() * libm::pow(ratio, 0.2)
}

/// The standard deviation of the running variable.
fn deviation(all: &[Powers; 2]) -> f64 {
    let rows = all[0].alone[0] + all[1].alone[0];
    let mean = (raw(&all[1], 1) - raw(&all[0], 1)) / rows;
    let squares = raw(&all[0], 2) + raw(&all[1], 2);
    ((squares - rows * mean * mean).max(0.0) / (rows - 1.0)).sqrt()
}

/// The variance of the outcome about its mean.
fn outcome_variance(powers: &Powers) -> f64 {
    let (rows, total) = (powers.alone[0], powers.with_outcome[0]);
    ((powers.with_square[0] - total * total / rows) / (rows - 1.0)).max(0.0)
}

/// The third derivative of a cubic through all rows that may jump at the cut.
fn third_derivative(all: &[Powers; 2]) -> f64 {
    // Columns: 1, u, u², u³ with u = ±v, and 1 above the cut.
    let signed = |power: usize| {
        raw(&all[1], power) + if power.is_multiple_of(2) { raw(&all[0], power) } else { -raw(&all[0], power) }
    };
    let signed_outcome = |power: usize| {
        let below = raw_outcome(&all[0], power);
        raw_outcome(&all[1], power) + if power.is_multiple_of(2) { below } else { -below }
    };
    let mut information = Vec::with_capacity(15);
    for i in 0..4 {
        information.extend((0..=i).map(|j| signed(i + j)));
    }
    information.extend((0..4).map(|power| raw(&all[1], power)));
    information.push(all[1].alone[0]);
    let mut moment: Vec<f64> = (0..4).map(signed_outcome).collect();
    moment.push(all[1].with_outcome[0]);
    6.0 * NormalEquations::new(&information, &moment).coefficients()[3]
}

/// The second derivative of a parabola through the rows of one side.
fn second_derivative(powers: &Powers) -> f64 {
    let t = &powers.alone;
    let information = [t[0], t[1], t[2], t[2], t[3], t[4]];
    let curvature = NormalEquations::new(&information, &powers.with_outcome[..3]).coefficients()[2];
    2.0 * curvature / (powers.bandwidth * powers.bandwidth)
}

/// `Σvʲ`.
fn raw(powers: &Powers, power: usize) -> f64 {
    powers.alone[power] * scale(powers, power)
}

/// `Σvʲy`.
fn raw_outcome(powers: &Powers, power: usize) -> f64 {
    powers.with_outcome[power] * scale(powers, power)
}

fn scale(powers: &Powers, power: usize) -> f64 {
    (0..power).fold(1.0, |scale, _| scale * powers.bandwidth)
}

//! The bandwidth that minimises the mean squared error of the jump, by plug-in in three steps.
//!
//! For a local polynomial of order o, whose coefficient of order ν estimates `f⁽ᵛ⁾/ν!` at the cut, the error of the difference of both
//! sides is least, to first order, at
//!
//! ```text
//! h = ( (2ν+1)·(V₋+V₊) / (2(o+1−ν)·((B₊−B₋)² + R₋+R₊)) )^(1/(2o+3))
//! ```
//!
//! with V the variance and B the bias without their powers of h, and R three times the variance of the estimate of B, so that a bias that
//! happens to be estimated near 0 does not make h explode [calonico-2014; calonico-2020]. B rests on a
//! derivative of order o+1, which takes a bandwidth of its own:
//!
//! 1. `f‴` by a cubic, whose bias is estimated on all rows of a side;
//! 2. `f″` by a parabola within b, whose bias rests on the derivative of step 1's bandwidth;
//! 3. `f` by a line within h, whose bias rests on b.
//!
//! Variances are taken within `2.576·min(σ, IQR/1.349)·M^(−1/5)`, with M the number of different values. Where at least a fifth of a
//! side's rows repeat a value, that bandwidth and the first step's reach at least ten different values on either side [calonico-2017].

use super::half::Half;
use super::local_fit::{LocalFit, variance, weighted};
use super::neighbours::residuals;
use super::robust::Bandwidths;
use crate::jump::NoJump;

/// The factor of the pilot bandwidth for triangular weights.
const PILOT: f64 = 2.576;
/// A side has mass points if at least this share of its rows repeats a value.
const MASS_POINTS: f64 = 0.2;
/// Different values that a bandwidth reaches on either side where there are mass points.
const LEAST_VALUES: usize = 10;
/// Rows that the line has on either side.
const LEAST: usize = 30;
/// The order of the line, and of the parabola that corrects its bias.
const LINE: usize = 1;
const PARABOLA: usize = 2;

/// What the error of one side's coefficient is made of.
struct Parts {
    variance: f64,
    bias: f64,
    regularisation: f64,
}

/// One step: the coefficient `power` of a polynomial of an order, whose variance is taken within the pilot.
struct PilotStep {
    order: usize,
    power: usize,
    pilot: f64,
    regularised: bool,
}

/// The bandwidths of the line and of its bias, common to both sides. Each reaches at least [`LEAST`] rows on either side.
pub(super) fn choose(halves: &[Half; 2], cut: f64) -> Result<Bandwidths, NoJump> {
    let limits = Limits::of(halves);
    let pilot = limits.kept(pilot(halves)).max(limits.least_values);
    let step = |order, power, regularised| PilotStep { order, power, pilot, regularised };
    let reach = [0, 1].map(|side: usize| past(halves[side].reach()));
    let third =
        limits.kept(step(PARABOLA + 1, PARABOLA + 1, false).width(halves, cut, reach)?).max(limits.least_values);
    let bias = limits.kept(step(PARABOLA, LINE + 1, true).width(halves, cut, [third; 2])?);
    let estimate = limits.kept(step(LINE, 0, true).width(halves, cut, [bias; 2])?);
    Ok(Bandwidths { estimate, bias })
}

impl PilotStep {
    /// The best bandwidth, if the bias is estimated within these bandwidths on either side.
    fn width(&self, halves: &[Half; 2], cut: f64, bias: [f64; 2]) -> Result<f64, NoJump> {
        let parts = |side: usize| {
            self.parts(&halves[side], bias[side]).ok_or(NoJump::FewValues {
                cut,
                side: halves[side].side,
                values: halves[side].distinct,
            })
        };
        let (below, above) = (parts(0)?, parts(1)?);
        // Distances on the side below run against x: odd derivatives change their sign.
        let sign = if self.power.is_multiple_of(2) { 1.0 } else { -1.0 };
        let variance = below.variance + above.variance;
        if variance == 0.0 {
            return Ok(f64::INFINITY);
        }
        let apart = above.bias - sign * below.bias;
        let error = apart * apart + below.regularisation + above.regularisation;
        Ok(libm::pow(variance / error, 1.0 / (2 * self.order + 3) as f64))
    }

    fn parts(&self, half: &Half, bias_bandwidth: f64) -> Option<Parts> {
        let power = i32::try_from(self.power).ok()?;
        let next = self.order + 1;
        let fit = LocalFit::new(half, self.pilot, self.order)?;
        let weights = fit.weights(self.power);
        let spread = variance(&weights, &residuals(&half.distance[..fit.rows], &half.outcome[..fit.rows]));
        // What the fit makes of `tᵒ⁺¹`, in units of the pilot: the constant of the bias.
        let beyond = |distance: &f64| (distance / self.pilot).powi(i32::try_from(next).unwrap_or(i32::MAX));
        let constant = self.pilot.powi(power)
            * weighted(&weights, &half.distance[..fit.rows].iter().map(beyond).collect::<Vec<f64>>());
        let wider = LocalFit::new(half, bias_bandwidth, next)?;
        let derivative = wider.weights(next);
        let scale = 2.0 * (next - self.power) as f64;
        let doubt = if self.regularised {
            3.0 * variance(&derivative, &residuals(&half.distance[..wider.rows], &half.outcome[..wider.rows]))
        } else {
            0.0
        };
        Some(Parts {
            variance: (2 * self.power + 1) as f64 * self.pilot.powi(2 * power + 1) * spread,
            bias: scale.sqrt() * constant * weighted(&derivative, &half.outcome),
            regularisation: scale * constant * constant * doubt,
        })
    }
}

/// How narrow and how wide a bandwidth may be.
struct Limits {
    /// The distance of the thirtieth row, on the side where it is farther.
    least: f64,
    /// What the first two bandwidths must reach where there are mass points.
    least_values: f64,
    most: f64,
}

impl Limits {
    fn of(halves: &[Half; 2]) -> Self {
        let farther = |distance: fn(&Half) -> f64| past(distance(&halves[0]).max(distance(&halves[1])));
        let repeats = |half: &Half| 1.0 - half.distinct as f64 / half.distance.len() as f64 >= MASS_POINTS;
        let has_mass_points = halves.iter().any(repeats);
        Self {
            least: farther(|half| half.distance.get(LEAST - 1).copied().unwrap_or_else(|| half.reach())),
            least_values: if has_mass_points { farther(|half| half.distinct_distance(LEAST_VALUES)) } else { 0.0 },
            most: farther(Half::reach),
        }
    }

    /// The bandwidth, no wider than the data. Without noise every bandwidth is as good: the widest is taken.
    fn kept(&self, bandwidth: f64) -> f64 {
        bandwidth.min(self.most).max(self.least)
    }
}

/// A little more than a distance, so that the rows at it have a weight.
fn past(distance: f64) -> f64 {
    distance * (1.0 + f64::EPSILON.sqrt())
}

/// The pilot bandwidth, for variances.
fn pilot(halves: &[Half; 2]) -> f64 {
    let [below, above] = halves;
    let values: Vec<f64> =
        below.distance.iter().rev().map(|distance| -distance).chain(above.distance.iter().copied()).collect();
    let rows = values.len() as f64;
    let mean = values.iter().sum::<f64>() / rows;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (rows - 1.0)).sqrt();
    let quartiles = quantile(&values, 3) - quantile(&values, 1);
    let distinct = (below.distinct + above.distinct) as f64;
    PILOT * deviation.min(quartiles / 1.349) * libm::pow(distinct, -0.2)
}

/// A quartile of rising values; the mean of two where it lies between them.
fn quantile(values: &[f64], quarter: usize) -> f64 {
    let at = values.len() * quarter;
    if at.is_multiple_of(4) { 0.5 * (values[at / 4 - 1] + values[at / 4]) } else { values[at / 4] }
}

//! Whether the density of the running variable jumps at a cut: people may have been sorted around it.
//!
//! On either side a cubic is fitted to the empirical distribution function with triangular weights; its slope at the cut is the density
//! there. The difference of the two slopes, divided by its jackknife standard error, is compared with the normal distribution
//! [cattaneo-2020]. The bandwidths are best for the slope of a parabola, so that the cubic leaves no bias of first order; each is the
//! median of three: the best for its side, for the difference, and for the sum. The results agree with the defaults of the package
//! `rddensity`.
//!
//! Values that pile up at round numbers make the density jump without anybody being sorted.

use rarely_error::{Explain, Remedy};
use serde::Serialize;
use thiserror::Error;

use super::half::Half;
use super::local_fit::LocalFit;
use super::normal;
use crate::jump::{LEAST_ROWS, Side};

/// Orders: the parabola that bandwidths are best for, the cubic of the test, and the quartic that measures the parabola's bias.
const PARABOLA: usize = 2;
const CUBIC: usize = 3;
const QUARTIC: usize = 4;
/// Different values that a bandwidth reaches on either side, above the coefficients of its polynomial.
const LEAST_VALUES: usize = 20;
/// The slope of the parabola that fits t³ on [0, 1] with triangular weights, the constant of the bias.
const BIAS: f64 = 3.0 / 7.0;
/// `(3!)²·variance/bias²` of the slope of a parabola with uniform weights on [0, 1], for the first bandwidth.
const SLOPE: f64 = 3840.0 / 7.0;
/// `(5!)²·variance/bias²` of the third coefficient of a quartic with uniform weights on [0, 1].
const THIRD: f64 = 37_739_520.0 / 11.0;

/// A test of the density at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DensityTest {
    /// The density just below the cut.
    pub below: f64,
    /// The density from the cut on.
    pub above: f64,
    /// The standard error of their difference.
    pub standard_error: f64,
    /// The probability of so large a difference if the density does not jump.
    pub p_value: f64,
    /// How far from the cut rows count: below, and above.
    pub bandwidths: (f64, f64),
}

/// Why the density was not tested.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum NoDensityTest {
    /// A side has too few rows.
    #[error("{rows} rows {side} {cut} are too few to test the density there: it takes {LEAST_ROWS}")]
    TooFewRows {
        /// The cut.
        cut: f64,
        /// The side.
        side: Side,
        /// Its rows.
        rows: u64,
    },
    /// A side has too few different values.
    #[error("{values} different values {side} {cut} are too few to test the density there: it takes {LEAST_VALUES}")]
    FewValues {
        /// The cut.
        cut: f64,
        /// The side.
        side: Side,
        /// Its different values.
        values: usize,
    },
}

impl Explain for NoDensityTest {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(match self {
            Self::TooFewRows { .. } => "collect more rows near the cut",
            Self::FewValues { .. } => "record the running variable with more digits",
        }))
    }
}

/// Tests whether the density of x jumps at a cut. Cost: `O(n log n)`.
///
/// ```
/// use rarely_review::density_test;
///
/// let even: Vec<f64> = (0..2000).map(|i| f64::from(i) / 1000.0 - 1.0).collect();
/// assert!(density_test(&even, 0.0)?.p_value > 0.5);
/// // Half of those just below the cut moved to just above it.
/// let sorted: Vec<f64> = even.iter().enumerate().map(|(i, x)| if i % 2 == 0 && -0.2 < *x { x.abs() } else { *x }).collect();
/// assert!(density_test(&sorted, 0.0)?.p_value < 0.05);
/// # Ok::<(), rarely_review::NoDensityTest>(())
/// ```
///
/// # Errors
/// If a side has too few rows or different values.
pub fn density_test(x: &[f64], cut: f64) -> Result<DensityTest, NoDensityTest> {
    let halves = distribution(x, cut);
    for Half { side, distance, distinct, .. } in &halves {
        let (side, rows, values) = (*side, distance.len() as u64, *distinct);
        if rows < LEAST_ROWS {
            return Err(NoDensityTest::TooFewRows { cut, side, rows });
        }
        if values < LEAST_VALUES {
            return Err(NoDensityTest::FewValues { cut, side, values });
        }
    }
    let few = |side: usize| NoDensityTest::FewValues { cut, side: halves[side].side, values: halves[side].distinct };
    let bandwidths = bandwidths(&halves).ok_or(few(0))?;
    let slope = |side: usize| Slope::new(&halves[side], bandwidths[side], CUBIC, rows(&halves)).ok_or(few(side));
    let (below, above) = (slope(0)?, slope(1)?);
    let standard_error = (below.variance + above.variance).sqrt();
    Ok(DensityTest {
        below: below.density,
        above: above.density,
        standard_error,
        p_value: normal::two_sided((above.density - below.density) / standard_error),
        bandwidths: (bandwidths[0], bandwidths[1]),
    })
}

/// Both sides, with the share of the other rows that are not above each row in place of the outcome.
fn distribution(x: &[f64], cut: f64) -> [Half; 2] {
    let mut sorted: Vec<f64> = x.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let others = sorted.len().saturating_sub(1) as f64;
    let mut shares = Vec::with_capacity(sorted.len());
    for values in sorted.chunk_by(|a, b| a == b) {
        let last = shares.len() + values.len() - 1;
        shares.resize(last + 1, last as f64 / others);
    }
    Half::both(&sorted, &shares, cut)
}

fn rows(halves: &[Half; 2]) -> f64 {
    halves.iter().map(|half| half.distance.len()).sum::<usize>() as f64
}

/// The density at the cut by one side.
struct Slope {
    density: f64,
    /// Its jackknife variance.
    variance: f64,
}

impl Slope {
    fn new(half: &Half, bandwidth: f64, order: usize, rows: f64) -> Option<Self> {
        let weights = LocalFit::new(half, bandwidth, order)?.weights(1);
        let near = half.distance.iter().zip(&half.outcome).zip(&weights);
        let slope: f64 = near.map(|((_, share), weight)| weight * share).sum();
        // Distances on the side below run against x.
        let density = if half.side == Side::Below { -slope } else { slope };
        let total = influence(half, &weights).iter().map(|influence| influence * influence).sum::<f64>();
        Some(Self { density, variance: total / ((rows - 1.0) * (rows - 1.0)) })
    }
}

/// How much each row moves the slope by being counted in the distribution: the weights of the other rows that are not below it.
fn influence(half: &Half, weights: &[f64]) -> Vec<f64> {
    let mut influences = Vec::with_capacity(weights.len());
    let mut nearer = 0.0;
    for values in half.distance[..weights.len()].chunk_by(|a, b| a == b) {
        let at = influences.len();
        let own = weights[at];
        let all = values.len() as f64 * own;
        // The weights of a slope add up to 0.
        let influence = if half.side == Side::Below { nearer + all - own } else { -nearer - own };
        influences.resize(at + values.len(), influence);
        nearer += all;
    }
    influences
}

/// The bandwidths of both sides.
fn bandwidths(halves: &[Half; 2]) -> Option<[f64; 2]> {
    let count = rows(halves);
    let [wide, narrow] = pilots(halves);
    let mut thirds = [0.0; 2];
    let mut variances = [0.0; 2];
    for (side, half) in halves.iter().enumerate() {
        thirds[side] = BIAS * LocalFit::new(half, wide, QUARTIC)?.coefficient(3);
        variances[side] = narrow * Slope::new(half, narrow, PARABOLA, count)?.variance;
    }
    // Distances on the side below run against x.
    let [below, above] = [-thirds[0], thirds[1]];
    let both = variances[0] + variances[1];
    let best = |variance: f64, bias: f64| libm::pow(variance / (2.0 * PARABOLA as f64 * bias * bias), 0.2);
    let least = [0, 1].map(|side: usize| halves[side].distinct_distance(LEAST_VALUES + PARABOLA + 1));
    let reach = [halves[0].reach(), halves[1].reach()];
    let common = |width: f64| width.min(reach[0].max(reach[1])).max(least[0]).max(least[1]);
    let (difference, sum) = (common(best(both, above - below)), common(best(both, above + below)));
    let alone = |side: usize, bias: f64| best(variances[side], bias).min(reach[side]).max(least[side]);
    Some([median(alone(0, below), difference, sum), median(alone(1, above), difference, sum)])
}

/// The first bandwidths, best if x were normal: for the third coefficient of the distribution, and for its slope.
fn pilots(halves: &[Half; 2]) -> [f64; 2] {
    let [below, above] = halves;
    let count = rows(halves);
    let mean = (above.distance.iter().sum::<f64>() - below.distance.iter().sum::<f64>()) / count;
    let squares = above.distance.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
        + below.distance.iter().map(|x| (x + mean).powi(2)).sum::<f64>();
    let deviation = (squares / (count - 1.0)).sqrt();
    let at = mean / deviation;
    // The Hermite polynomials: the second and the fourth derivative of the normal density, divided by it.
    let (second, fourth) = (at * at - 1.0, at.powi(4) - 6.0 * at * at + 3.0);
    let best = |constant: f64, hermite: f64, root: f64| {
        deviation * libm::pow(constant / (count * hermite * hermite * normal::density(at)), 1.0 / root)
    };
    let reach = below.reach().max(above.reach());
    let kept = |width: f64, order: usize| {
        let values = LEAST_VALUES + order + 1;
        width.min(reach).max(below.distinct_distance(values)).max(above.distinct_distance(values))
    };
    [kept(best(1.25 * THIRD, fourth, 9.0), QUARTIC), kept(best(0.25 * SLOPE, second, 5.0), PARABOLA)]
}

fn median(a: f64, b: f64, c: f64) -> f64 {
    a.max(b).min(a.min(b).max(c))
}

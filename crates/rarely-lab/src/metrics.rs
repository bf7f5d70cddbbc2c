//! Means, standard errors, quantiles and 95 % intervals.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error; 0 for a single value.
    #[serde(rename = "se")]
    pub standard_error: f64,
}

impl Estimate {
    /// Of independent values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = if values.len() < 2 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() };
        Self { mean, standard_error }
    }

    /// Of the differences of two series over the same worlds.
    pub fn of_differences(one: &[f64], other: &[f64]) -> Self {
        Self::of(&one.iter().zip(other).map(|(one, other)| one - other).collect::<Vec<_>>())
    }

    /// Its 95 % interval by Student's t, of `count` values.
    pub fn interval(self, count: usize) -> Interval95 {
        let half = if count < 2 { 0.0 } else { t_quantile(count as u64 - 1) * self.standard_error };
        Interval95 { mean: self.mean, low: self.mean - half, high: self.mean + half }
    }
}

/// The median of several values, with the range that holds the middle 80 % of them. A few runs that end stuck move a mean; they do
/// not move these.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The 10 % quantile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The 90 % quantile.
    pub high: f64,
}

impl Quantiles {
    /// Of values in any order, interpolated linearly between neighbours [hyndman-1996, definition 7]; NaN without values.
    ///
    /// ```
    /// use rarely_lab::Quantiles;
    /// let of = Quantiles::of(&[5.0, 1.0, 2.0, 4.0, 3.0]);
    /// assert_eq!((of.low, of.median, of.high), (1.4, 3.0, 4.6));
    /// ```
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [low, median, high] = [0.1, 0.5, 0.9].map(|share| quantile(&sorted, share));
        Self { low, median, high }
    }
}

/// A quantile of sorted values.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval95 {
    /// The value.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval95 {
    /// A mean of percentages: the interval does not leave 0 to 100.
    pub fn percentages(values: &[f64]) -> Self {
        let Self { mean, low, high } = Estimate::of(values).interval(values.len());
        Self { mean, low: low.max(0.0), high: high.min(100.0) }
    }

    /// The ratio of two means over the same worlds; its error to first order.
    pub fn of_ratio(one: &[f64], other: &[f64]) -> Self {
        let (a, b) = (Estimate::of(one).mean, Estimate::of(other).mean.max(1e-12));
        let parts: Vec<f64> = one.iter().zip(other).map(|(one, other)| (one - a / b * other) / b).collect();
        let Self { mean, low, high } = Estimate::of(&parts).interval(parts.len());
        Self { mean: a / b, low: a / b + low - mean, high: a / b + high - mean }
    }

    /// The percentage of successes among trials that come in independent clusters, `(successes, trials)` each; `None` without
    /// trials. Wilson's interval for as many independent trials as these are worth: their number divided by the design effect,
    /// the variance of the ratio between clusters over that of a binomial share, where it is above 1.
    pub fn share(clusters: &[(usize, usize)]) -> Option<Self> {
        let successes: usize = clusters.iter().map(|cluster| cluster.0).sum();
        let trials: usize = clusters.iter().map(|cluster| cluster.1).sum();
        if trials == 0 {
            return None;
        }
        let (n, m) = (trials as f64, clusters.len() as f64);
        let share = successes as f64 / n;
        let squares: f64 =
            clusters.iter().map(|&(successes, trials)| (successes as f64 - share * trials as f64).powi(2)).sum();
        let between = if clusters.len() < 2 { 0.0 } else { squares * m / (m - 1.0) / (n * n) };
        let binomial = share * (1.0 - share) / n;
        let effect = if binomial > 0.0 { (between / binomial).max(1.0) } else { 1.0 };
        let worth = n / effect;
        let z = 1.959_963_984_540_054_f64;
        let centre = (share + z * z / (2.0 * worth)) / (1.0 + z * z / worth);
        let half = z / (1.0 + z * z / worth) * (share * (1.0 - share) / worth + (z / (2.0 * worth)).powi(2)).sqrt();
        // At the ends the formula gives the ends, up to rounding.
        let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if successes == trials { 1.0 } else { (centre + half).min(1.0) };
        Some(Self { mean: 100.0 * share, low: 100.0 * low, high: 100.0 * high })
    }
}

/// The 97.5 % point of Student's t.
pub(crate) fn t_quantile(degrees: u64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees as f64).map_or(1.96, |t| t.inverse_cdf(0.975))
}

//! Two contestants in the same worlds: the paired difference, how often one is better, and tests of it.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::contestant_result::ContestantResult;
use crate::metrics::{Estimate, Interval95};

/// Most worlds for which the distribution of the signed-rank statistic is counted out; for more, its normal limit is used.
const COUNTED_OUT: usize = 50;

/// The regret of one contestant against another's, world by world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The one.
    pub one: String,
    /// The other.
    pub other: String,
    /// Worlds in which both played.
    pub worlds: usize,
    /// Worlds in which the one has less regret.
    pub better: usize,
    /// Worlds in which it has more.
    pub worse: usize,
    /// Its regret per step minus the other's: the mean over the worlds, with Student's 95 % interval.
    pub difference: Interval95,
    /// The two-sided sign test [dixon-1946]: the probability of a count at least as uneven if neither is better.
    pub sign_test: f64,
    /// The two-sided signed-rank test [wilcoxon-1945], which also weighs how large the differences are.
    pub signed_rank_test: f64,
}

impl Comparison {
    /// Of two contestants that played the same worlds.
    pub fn of(one: &ContestantResult, other: &ContestantResult) -> Self {
        let (a, b) = (one.regrets(), other.regrets());
        let differences: Vec<f64> = a.iter().zip(&b).map(|(one, other)| one - other).collect();
        let better = differences.iter().filter(|&&difference| difference < 0.0).count();
        let worse = differences.iter().filter(|&&difference| difference > 0.0).count();
        Self {
            one: one.name().to_owned(),
            other: other.name().to_owned(),
            worlds: differences.len(),
            better,
            worse,
            difference: Estimate::of(&differences).interval(differences.len()),
            sign_test: sign_test(better, worse),
            signed_rank_test: signed_rank_test(&differences),
        }
    }

    /// Every pair, each once, in the order of the results.
    pub fn all(results: &[ContestantResult]) -> Vec<Self> {
        let pairs = results.iter().enumerate();
        pairs.flat_map(|(at, one)| results[at + 1..].iter().map(move |other| Self::of(one, other))).collect()
    }
}

/// The two-sided exact sign test; 1 if all worlds are ties.
///
/// ```
/// use rarely_lab::sign_test;
/// assert_eq!(sign_test(0, 5), 2.0 / 32.0);
/// ```
pub fn sign_test(better: usize, worse: usize) -> f64 {
    let (count, least) = (better + worse, better.min(worse));
    // Binomial probabilities by their logarithms: 2⁻ⁿ alone may be below every number.
    let logarithm = |successes: usize| {
        let factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
        factorial(count) - factorial(successes) - factorial(count - successes) - count as f64 * std::f64::consts::LN_2
    };
    let tail: f64 = (0..=least).map(|successes| libm::exp(logarithm(successes))).sum();
    // Small counts are whole multiples of 2⁻ⁿ; the logarithms lose the last digits of that.
    let unit = libm::exp2(-(count as f64));
    let tail = if count <= 30 { (tail / unit).round() * unit } else { tail };
    (2.0 * tail).min(1.0)
}

/// The two-sided signed-rank test; worlds without a difference are left out. Exact for up to 50 different sizes of differences, otherwise
/// by the normal limit with the variance corrected for ties. 1 without differences.
pub fn signed_rank_test(differences: &[f64]) -> f64 {
    let mut sizes: Vec<(f64, bool)> =
        differences.iter().filter(|&&d| d != 0.0).map(|&difference| (difference.abs(), difference > 0.0)).collect();
    sizes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let count = sizes.len();
    if count == 0 {
        return 1.0;
    }
    let (mut positive, mut tied) = (0.0, 0.0);
    let mut at = 0;
    for group in sizes.chunk_by(|one, other| one.0 == other.0) {
        let members = group.len() as f64;
        // Ranks count from 1, and those of a tie share their mean.
        let rank = at as f64 + f64::midpoint(members, 1.0);
        positive += rank * group.iter().filter(|(_, is_positive)| *is_positive).count() as f64;
        tied += members.powi(3) - members;
        at += group.len();
    }
    let n = count as f64;
    if tied == 0.0 && count == differences.len() && count <= COUNTED_OUT {
        return exact_signed_rank(count, positive.min(n * (n + 1.0) / 2.0 - positive));
    }
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0;
    let z = (positive - n * (n + 1.0) / 4.0) / variance.sqrt();
    Normal::new(0.0, 1.0).map_or(f64::NAN, |normal| (2.0 * normal.cdf(-z.abs())).min(1.0))
}

/// Twice the probability that the ranks of positive differences sum to at most `least`, each sign being a fair coin.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn exact_signed_rank(count: usize, least: f64) -> f64 {
    let most = count * (count + 1) / 2;
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = 0.5 * (chances[sum] + with);
        }
    }
    let tail: f64 = chances[..=least as usize].iter().sum();
    (2.0 * tail).min(1.0)
}

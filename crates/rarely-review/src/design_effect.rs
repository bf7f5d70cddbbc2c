//! How much less rows of clusters, or rows with weights, say than as many independent rows that count alike.
//!
//! With weights `w` of mean 1 and residuals `e`, a mean has the variance `Σ_c(Σ_{i∈c} w_i e_i)²/n²`, a sum over clusters. As many independent
//! rows that count alike would have `Σ w_i e_i²/n²`. The ratio is the design effect [kish-1965]: `1 + (m−1)ρ` for clusters of m rows
//! with correlation ρ, `n·Σw²/(Σw)²` for weights that say nothing of the residuals. It is that of every contrast that is the same for all
//! rows of a cluster, and more than that of a contrast within clusters [moulton-1986]. Boundaries, bands, trend and curvature use
//! it: variances are multiplied by it, tests and counts of rows divided. Gains of rules have their own robust errors.

use std::collections::BTreeMap;

use rarely_core::LeastSquares;
use serde::Serialize;

use crate::curvature::{Curvature, upper_tail};
use crate::least_squares::dot;
use crate::tally_row::TallyRow;

/// Clusters that an option's own design effect needs.
const LEAST_CLUSTERS: usize = 10;

/// What clusters and weights do to the variance of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DesignEffect {
    /// By how much they multiply it; at least 1.
    pub factor: f64,
    /// The clusters, which limit the degrees of freedom; `None` if rows are independent.
    pub clusters: Option<u64>,
}

impl DesignEffect {
    /// Independent rows that count alike.
    pub const NONE: Self = Self { factor: 1.0, clusters: None };

    /// The degrees of freedom that are left of so many.
    pub(crate) fn degrees(&self, degrees: f64) -> f64 {
        self.clusters.map_or(degrees, |clusters| degrees.min(clusters.saturating_sub(1).max(1) as f64))
    }

    /// The probability of so large an `F` statistic of independent rows.
    pub(crate) fn upper_tail(&self, statistic: f64, (numerator, denominator): (u64, u64)) -> f64 {
        let limit = self.clusters.map_or(u64::MAX, |clusters| clusters.saturating_sub(1).max(1));
        upper_tail(statistic / self.factor, (numerator, denominator.min(limit)))
    }

    /// As many rows as these count for.
    pub(crate) fn effective(&self, rows: u64) -> f64 {
        rows as f64 / self.factor
    }

    /// The test of a straight line, with what clusters and weights do to it.
    pub(crate) fn of_curvature(&self, found: Curvature) -> Curvature {
        let terms = found
            .terms
            .iter()
            .map(|term| crate::curvature::Term { standard_error: self.factor.sqrt() * term.standard_error, ..*term });
        Curvature {
            p_value: self.upper_tail(found.statistic, found.degrees),
            statistic: found.statistic / self.factor,
            terms: terms.collect(),
            ..found
        }
    }
}

/// What a second reading learns of the design effect.
#[derive(Debug, Clone)]
pub(crate) struct DesignReading {
    /// Each option's estimates; empty where there are none.
    estimates: Vec<Vec<f64>>,
    /// `Σ w e²` of each option.
    squares: Vec<f64>,
    /// Each cluster's `Σ w e` of each option, …
    clusters: Option<BTreeMap<u64, Vec<f64>>>,
    /// … and, where rows are independent, `Σ w²e²` of each option.
    independent: Vec<f64>,
}

impl DesignReading {
    pub(crate) fn new(fit: &LeastSquares, clustered: bool) -> Self {
        let options = fit.shape().arms();
        let estimate = |arm| fit.arm(arm).map(|fit| fit.estimate().to_vec()).unwrap_or_default();
        Self {
            estimates: (0..options).map(estimate).collect(),
            squares: vec![0.0; options],
            clusters: clustered.then(BTreeMap::new),
            independent: vec![0.0; options],
        }
    }

    /// Adds a row, whose weight is `weight` where their mean is 1.
    pub(crate) fn add(&mut self, row: &TallyRow<'_>, weight: f64) {
        let at = row.arm.index();
        if self.estimates[at].is_empty() {
            return;
        }
        let residual = row.reward - dot(row.context, &self.estimates[at]);
        let score = weight * residual;
        self.squares[at] += score * residual;
        match &mut self.clusters {
            Some(clusters) => {
                let options = self.squares.len();
                let key = row.cluster.unwrap_or(row.number);
                clusters.entry(key).or_insert_with(|| vec![0.0; options])[at] += score;
            }
            None => self.independent[at] += score * score,
        }
    }

    /// Of all rows together or of one option's, whichever is larger: options may share what clusters have in common, or not.
    pub(crate) fn finish(&self) -> DesignEffect {
        let Some(clusters) = &self.clusters else {
            let each = self.independent.iter().zip(&self.squares);
            let all = (self.independent.iter().sum::<f64>(), self.squares.iter().sum::<f64>());
            let ratios = each.map(|(scores, squares)| (*scores, *squares)).chain([all]);
            return DesignEffect { factor: largest(ratios.map(|(scores, squares)| scores / squares)), clusters: None };
        };
        let ratio = |sums: &dyn Fn(&Vec<f64>) -> f64, squares: f64| {
            let count = clusters.values().filter(|scores| sums(scores) != 0.0).count();
            let scores: f64 = clusters.values().map(|scores| sums(scores) * sums(scores)).sum();
            // Residuals of a fit sum up to less than the noise does.
            let left_over = count as f64 / (count.max(2) - 1) as f64;
            (count >= LEAST_CLUSTERS).then_some(left_over * scores / squares)
        };
        let all = ratio(&|scores| scores.iter().sum(), self.squares.iter().sum());
        let each = (0..self.squares.len()).map(|option| ratio(&|scores| scores[option], self.squares[option]));
        DesignEffect { factor: largest(each.chain([all]).flatten()), clusters: Some(clusters.len() as u64) }
    }
}

/// At least 1; what is not a number does not count.
fn largest(ratios: impl Iterator<Item = f64>) -> f64 {
    ratios.filter(|ratio| ratio.is_finite()).fold(1.0, f64::max)
}

//! A sample of contexts that stands for the people a policy decides about.

use crate::arm::is_sound;
use crate::confidence::ConfidenceSet;
use crate::context::Contexts;
use crate::error::{ContextError, MAX_CONTEXT_ENTRY};
use crate::ridge::Step;
use crate::rule::Rule;
use crate::statistics::Statistics;
use crate::symmetric;

/// Contexts kept of those seen, when the owner supplies no sample.
pub const RECENT_CONTEXTS: usize = 1000;

/// The sample on which changes are judged: one that the owner supplied, or the most recent contexts seen.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Population {
    dimension: usize,
    values: Vec<f64>,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Source {
    Supplied,
    /// The row that the next context replaces once the sample is full.
    Recent {
        next: usize,
    },
}

impl Population {
    /// A sample of the owner's.
    ///
    /// # Errors
    /// [`ContextError::Empty`].
    pub fn supplied(contexts: Contexts<'_>) -> Result<Self, ContextError> {
        if contexts.is_empty() {
            return Err(ContextError::Empty);
        }
        Ok(Self { dimension: contexts.dimension(), values: contexts.values().to_vec(), source: Source::Supplied })
    }

    /// The last [`RECENT_CONTEXTS`] contexts seen; none yet.
    pub(crate) fn recent(dimension: usize) -> Self {
        let values = Vec::with_capacity(RECENT_CONTEXTS * dimension);
        Self { dimension, values, source: Source::Recent { next: 0 } }
    }

    /// Whether the owner supplied it.
    pub fn is_supplied(&self) -> bool {
        self.source == Source::Supplied
    }

    /// Contexts in the sample.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Variables of a context.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The numbers, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dimension)
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dimension..(row + 1) * self.dimension]
    }

    /// Remembers a context that was seen, if the owner did not supply a sample; the row it went to.
    #[inline]
    pub(crate) fn record(&mut self, context: &[f64]) -> Option<usize> {
        let Source::Recent { next } = &mut self.source else {
            return None;
        };
        let row = *next;
        *next = (row + 1) % RECENT_CONTEXTS;
        let at = row * self.dimension;
        if at == self.values.len() {
            // After a restore the capacity may be less than all; after that this never grows again.
            self.values.extend_from_slice(context);
        } else {
            self.values[at..at + self.dimension].copy_from_slice(context);
        }
        Some(row)
    }

    pub(crate) fn is_sound(&self, dimension: usize) -> bool {
        let whole = self.dimension == dimension && self.values.len().is_multiple_of(dimension);
        whole
            && self.values.iter().all(|value| value.abs() <= MAX_CONTEXT_ENTRY)
            && match self.source {
                Source::Supplied => !self.values.is_empty(),
                Source::Recent { next } => {
                    self.len() <= RECENT_CONTEXTS
                        && (next == self.len() || self.len() == RECENT_CONTEXTS && next < RECENT_CONTEXTS)
                }
            }
    }
}

/// `sᵀθ̂_a` and `‖s‖²_{V_a⁻¹}` of every context of a population and every arm, carried along in O(d) a context and round, and
/// the arm that the policy in force plays there.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Outlook {
    arms: usize,
    estimates: Vec<f64>,
    widths_squared: Vec<f64>,
    played: Vec<usize>,
}

impl Outlook {
    pub(crate) fn new(population: &Population, statistics: &Statistics, rule: &Rule) -> Self {
        let arms = statistics.shape().arms();
        let room = population.len().max(if population.is_supplied() { 0 } else { RECENT_CONTEXTS });
        let mut outlook = Self {
            arms,
            estimates: Vec::with_capacity(room * arms),
            widths_squared: Vec::with_capacity(room * arms),
            played: Vec::with_capacity(room),
        };
        for row in 0..population.len() {
            outlook.set_row(row, population, statistics, rule);
        }
        outlook
    }

    /// Carries all contexts over one observation, and takes in the row that it replaced.
    pub(crate) fn follow(
        &mut self,
        step: &Step,
        recorded: Option<usize>,
        population: &Population,
        statistics: &Statistics,
        rule: &Rule,
    ) {
        let ridge = statistics.arm(step.arm);
        let direction = statistics.last_direction();
        let shrink = 1.0 / (1.0 + step.leverage);
        let places = (step.arm..self.estimates.len()).step_by(self.arms);
        for (place, row) in places.zip(population.rows()) {
            if step.refreshed {
                self.estimates[place] = ridge.predict(row);
                self.widths_squared[place] = ridge.width_squared(row);
            } else {
                let overlap = symmetric::dot(row, direction);
                self.estimates[place] += overlap * step.residual * shrink;
                self.widths_squared[place] = (self.widths_squared[place] - overlap * overlap * shrink).max(0.0);
            }
        }
        if let Some(row) = recorded {
            self.set_row(row, population, statistics, rule);
        }
    }

    fn set_row(&mut self, row: usize, population: &Population, statistics: &Statistics, rule: &Rule) {
        let context = population.row(row);
        if row == self.played.len() {
            self.played.push(0);
            self.estimates.resize((row + 1) * self.arms, 0.0);
            self.widths_squared.resize((row + 1) * self.arms, 0.0);
        }
        self.played[row] = rule.best(context);
        for (arm, ridge) in statistics.arms().iter().enumerate() {
            self.estimates[row * self.arms + arm] = ridge.predict(context);
            self.widths_squared[row * self.arms + arm] = ridge.width_squared(context);
        }
    }

    /// Another rule is in force.
    pub(crate) fn replaced(&mut self, rule: &Rule, population: &Population) {
        self.played.clear();
        rule.for_each_best(population.values(), |arm| self.played.push(arm));
    }

    /// The share of the population at which the policy in force plays an excluded arm.
    pub(crate) fn excluded_share(&self, set: &ConfidenceSet<'_>) -> f64 {
        let rows = self.estimates.chunks_exact(self.arms).zip(self.widths_squared.chunks_exact(self.arms));
        let excluded =
            rows.zip(&self.played).filter(|((estimates, widths), arm)| set.is_excluded(**arm, estimates, widths));
        excluded.count() as f64 / self.played.len().max(1) as f64
    }

    /// The estimated gain of the estimate's own policy over the one in force, the largest any policy can have.
    pub(crate) fn largest_gain(&self) -> f64 {
        let largest =
            |estimates: &[f64]| estimates.iter().fold(f64::NEG_INFINITY, |best, &estimate| best.max(estimate));
        let rows = self.estimates.chunks_exact(self.arms).zip(&self.played);
        rows.map(|(estimates, &arm)| largest(estimates) - estimates[arm]).sum::<f64>() / self.played.len().max(1) as f64
    }

    pub(crate) fn is_sound(&self, population: &Population, arms: usize) -> bool {
        let expected = population.len() * arms;
        self.arms == arms
            && self.estimates.len() == expected
            && self.widths_squared.len() == expected
            && self.played.len() == population.len()
            && self.played.iter().all(|&arm| arm < arms)
            && self.estimates.iter().chain(&self.widths_squared).all(|value| is_sound(*value))
    }
}

//! A sample of contexts that represents the population a policy decides about.

use crate::arm::Shape;
use crate::context::Contexts;
use crate::error::{ContextError, MAX_CONTEXT_ENTRY};

/// The number of recent contexts that are kept if the owner supplies no sample.
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
    /// A sample supplied by the owner.
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

    /// Whether a gain on it may change a rule: the owner chose it, or it has as many recent contexts as there are variables and arms
    /// together. Fewer do not show every direction, nor give every arm a turn: what is certain for them says nothing about anybody else.
    pub(crate) fn stands_for_others(&self, shape: Shape) -> bool {
        let least = (shape.dimension() + shape.arms()).min(RECENT_CONTEXTS);
        self.is_supplied() || self.len() >= least
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

    /// Records a context unless the owner supplied a sample. Returns its row.
    #[inline]
    pub(crate) fn record(&mut self, context: &[f64]) -> Option<usize> {
        let Source::Recent { next } = &mut self.source else {
            return None;
        };
        let row = *next;
        *next = (row + 1) % RECENT_CONTEXTS;
        let at = row * self.dimension;
        if at == self.values.len() {
            // After a restore the capacity may be too small; it grows only once.
            self.values.extend_from_slice(context);
        } else {
            self.values[at..at + self.dimension].copy_from_slice(context);
        }
        Some(row)
    }

    /// Records a block of contexts in turn: only the last ones stay.
    pub(crate) fn record_many(&mut self, contexts: Contexts<'_>) {
        let mut kept = contexts;
        if let Source::Recent { next } = &mut self.source
            && self.values.len() == RECENT_CONTEXTS * self.dimension
        {
            let replaced = contexts.len().saturating_sub(RECENT_CONTEXTS);
            *next = (*next + replaced) % RECENT_CONTEXTS;
            kept = contexts.rows(replaced..contexts.len());
        }
        for context in kept.iter() {
            self.record(context.values());
        }
    }

    /// The rows of the last contexts that were recorded, at most as many as there are; none of a supplied sample.
    pub(crate) fn latest(&self, recorded: u64) -> impl Iterator<Item = usize> {
        let rows = self.len();
        let (next, count) = match self.source {
            Source::Supplied => (0, 0),
            Source::Recent { next } => (next, usize::try_from(recorded).unwrap_or(rows).min(rows)),
        };
        (1..=count).map(move |back| (next + rows - back) % rows)
    }

    /// Whether both hold the same supplied sample, or both hold recent contexts.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.is_supplied() == other.is_supplied() && (!self.is_supplied() || self == other)
    }

    /// The latest contexts of two logs: half of each, more of one where the other has fewer. A supplied sample stays.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.is_supplied() {
            return;
        }
        let (mine, theirs) = (self.in_order(), other.in_order());
        let kept = mine.len().min((RECENT_CONTEXTS / 2).max(RECENT_CONTEXTS.saturating_sub(theirs.len())));
        let added = theirs.len().min(RECENT_CONTEXTS - kept);
        let mut values = Vec::with_capacity(RECENT_CONTEXTS * self.dimension);
        for row in mine[mine.len() - kept..].iter().chain(&theirs[theirs.len() - added..]) {
            values.extend_from_slice(row);
        }
        self.source = Source::Recent { next: (kept + added) % RECENT_CONTEXTS };
        self.values = values;
    }

    /// The contexts, the latest last.
    fn in_order(&self) -> Vec<&[f64]> {
        let mut rows: Vec<&[f64]> = self.rows().collect();
        if let Source::Recent { next } = self.source
            && next < rows.len()
        {
            rows.rotate_left(next);
        }
        rows
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

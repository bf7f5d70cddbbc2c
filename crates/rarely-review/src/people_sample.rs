//! A uniform sample of the people in a log, of bounded size, that does not depend on how the log was divided into files.
//!
//! Every row gets a priority, a hash of its number in its file and of its content; the rows with the smallest priorities
//! are kept (bottom-k sampling [cohen-2007]). So two states' samples merge into the sample of one pass over both logs.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

/// The size of the sample. A share estimated from it has a standard error of at most half a percentage point.
pub const SAMPLE_SIZE: usize = 10_000;

/// A uniform sample of contexts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct PeopleSample {
    dimension: usize,
    /// Priority and slot of each person kept, the largest first.
    heap: BinaryHeap<(u64, usize)>,
    /// Contexts by slot.
    contexts: Vec<f64>,
}

impl PeopleSample {
    /// An empty sample.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, heap: BinaryHeap::new(), contexts: Vec::new() }
    }

    /// Numbers in a context.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// People in it.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Offers one row of a log: its number in its file, its context and its outcome. Returns the row's priority.
    #[inline]
    pub fn offer(&mut self, row: u64, context: &[f64], reward: f64) -> u64 {
        let content = context.iter().fold(mix(row ^ reward.to_bits()), |hash, value| {
            (hash ^ value.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        });
        let priority = mix(content);
        self.insert(priority, context);
        priority
    }

    /// Adds another log's sample.
    pub fn merge(&mut self, other: &Self) {
        for &(priority, slot) in &other.heap {
            self.insert(priority, other.context(slot));
        }
    }

    /// The contexts, row by row, in the order of their priorities.
    pub fn contexts(&self) -> Vec<f64> {
        let mut kept = self.heap.clone().into_vec();
        // Rows with the same priority are equal.
        kept.sort_unstable();
        kept.iter().flat_map(|&(_, slot)| self.context(slot)).copied().collect()
    }

    fn context(&self, slot: usize) -> &[f64] {
        &self.contexts[slot * self.dimension..(slot + 1) * self.dimension]
    }

    fn insert(&mut self, priority: u64, context: &[f64]) {
        if self.heap.len() < SAMPLE_SIZE {
            self.heap.push((priority, self.heap.len()));
            self.contexts.extend_from_slice(context);
        } else if let Some(mut largest) = self.heap.peek_mut().filter(|largest| priority < largest.0) {
            let at = largest.1 * self.dimension;
            self.contexts[at..at + self.dimension].copy_from_slice(context);
            largest.0 = priority;
        }
    }
}

impl PartialEq for PeopleSample {
    fn eq(&self, other: &Self) -> bool {
        Stored::from(self.clone()) == Stored::from(other.clone())
    }
}

/// The stored form, in one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    dimension: usize,
    priorities: Vec<u64>,
    contexts: Vec<f64>,
}

impl From<PeopleSample> for Stored {
    fn from(sample: PeopleSample) -> Self {
        let contexts = sample.contexts();
        let mut priorities: Vec<u64> = sample.heap.into_iter().map(|(priority, _)| priority).collect();
        priorities.sort_unstable();
        Self { dimension: sample.dimension, priorities, contexts }
    }
}

impl TryFrom<Stored> for PeopleSample {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, &'static str> {
        let Stored { dimension, priorities, contexts } = stored;
        if priorities.len() > SAMPLE_SIZE || priorities.len().checked_mul(dimension) != Some(contexts.len()) {
            return Err("the sample of people is damaged");
        }
        let heap = priorities.into_iter().enumerate().map(|(slot, priority)| (priority, slot)).collect();
        Ok(Self { dimension, heap, contexts })
    }
}

/// A permutation of the 64-bit numbers without pattern [steele-2014, the finaliser of SplitMix64].
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

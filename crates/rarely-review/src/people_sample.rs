//! A uniform sample of the people in a log, of bounded size, that does not depend on how the log was divided into files.
//!
//! Every row gets a priority, a hash of its number in its file and of its content; the rows with the smallest priorities
//! are kept (bottom-k sampling [cohen-2007]). So two states' samples merge into the sample of one pass over both logs.

use serde::{Deserialize, Serialize};

use crate::bottom_k::BottomK;

/// The size of the sample. A share estimated from it has a standard error of at most half a percentage point.
pub const SAMPLE_SIZE: usize = 10_000;

/// A uniform sample of contexts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct PeopleSample {
    dimension: usize,
    kept: BottomK,
    /// Contexts by slot.
    contexts: Vec<f64>,
}

impl PeopleSample {
    /// An empty sample.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, kept: BottomK::new(SAMPLE_SIZE), contexts: Vec::new() }
    }

    /// Numbers in a context.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// People in it.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.kept.len() == 0
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
        for (priority, slot) in other.kept.kept() {
            self.insert(priority, other.context(slot));
        }
    }

    /// The contexts, row by row, in the order of their priorities.
    pub fn contexts(&self) -> Vec<f64> {
        self.kept.in_order().iter().flat_map(|&(_, slot)| self.context(slot)).copied().collect()
    }

    fn context(&self, slot: usize) -> &[f64] {
        &self.contexts[slot * self.dimension..(slot + 1) * self.dimension]
    }

    fn insert(&mut self, priority: u64, context: &[f64]) {
        match self.kept.place(priority) {
            Some(slot) if slot * self.dimension < self.contexts.len() => {
                let at = slot * self.dimension;
                self.contexts[at..at + self.dimension].copy_from_slice(context);
            }
            Some(_) => self.contexts.extend_from_slice(context),
            None => {}
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
        let priorities = sample.kept.in_order().into_iter().map(|(priority, _)| priority).collect();
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
        Ok(Self { dimension, kept: BottomK::of(SAMPLE_SIZE, priorities), contexts })
    }
}

/// A permutation of the 64-bit numbers without pattern [steele-2014, the finaliser of SplitMix64].
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

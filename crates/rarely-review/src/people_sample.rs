//! A uniform sample of the people in a log, of bounded size, that does not depend on how the log was divided into files.
//!
//! Every row gets a priority, a hash of its key, or of its number in its file and its content; the rows with the smallest priorities
//! are kept (bottom-k sampling [cohen-2007]). So two states' samples merge into the sample of one pass over both logs.

use serde::{Deserialize, Serialize};

use crate::bottom_k::BottomK;
use crate::tally_row::TallyRow;

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
    /// Weights by slot; empty where rows have none.
    weights: Vec<f64>,
}

impl PeopleSample {
    /// An empty sample.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, kept: BottomK::new(SAMPLE_SIZE), contexts: Vec::new(), weights: Vec::new() }
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

    /// Offers one row of a log, of a priority that looks random.
    #[inline]
    pub(crate) fn offer(&mut self, priority: u64, context: &[f64]) {
        self.insert(priority, context, None);
    }

    /// Offers one row of a log whose rows have weights: those with the smallest `−ln(u)/w` are kept [cohen-2007]. A sample has rows of
    /// this kind or of the other, not of both.
    pub(crate) fn offer_weighted(&mut self, priority: u64, context: &[f64], weight: f64) {
        // In (0, 1]; numbers that are not negative are in the order of their bits.
        let uniform = ((priority >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        self.insert((-libm::log(uniform) / weight).abs().to_bits(), context, Some(weight));
    }

    /// Offers one row of a log with its priority, by its weight where rows have one.
    #[inline]
    pub(crate) fn offer_row(&mut self, priority: u64, row: &TallyRow<'_>, weighted: bool) {
        if weighted {
            self.offer_weighted(priority, row.context, row.weight);
        } else {
            self.offer(priority, row.context);
        }
    }

    /// The share of the people in it that have the priority of another one: of rows with keys, those whose key is not their own.
    pub(crate) fn repeated_share(&self) -> f64 {
        let order = self.kept.in_order();
        let repeated = order.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        repeated as f64 / order.len().max(1) as f64
    }

    /// Adds another log's sample.
    pub fn merge(&mut self, other: &Self) {
        for (priority, slot) in other.kept.kept() {
            self.insert(priority, other.context(slot), other.weights.get(slot).copied());
        }
    }

    /// The contexts, row by row, in the order of their priorities. Of rows with weights, as many people as the sample may have, each of the
    /// rows kept as often as its share of the weights demands.
    pub fn contexts(&self) -> Vec<f64> {
        if self.weights.is_empty() { self.kept_contexts() } else { self.drawn_by_weight() }
    }

    fn kept_contexts(&self) -> Vec<f64> {
        self.kept.in_order().iter().flat_map(|&(_, slot)| self.context(slot)).copied().collect()
    }

    /// Systematic sampling. A row whose key had to be below `τ` stands for `w/(1 − e^{−wτ})` [cohen-2007, §4].
    fn drawn_by_weight(&self) -> Vec<f64> {
        let order = self.kept.in_order();
        let full = order.len() == SAMPLE_SIZE;
        let limit = order.last().filter(|_| full).map_or(f64::INFINITY, |&(priority, _)| f64::from_bits(priority));
        let stands_for = |slot: usize| self.weights[slot] / -libm::expm1(-self.weights[slot] * limit);
        let total: f64 = order.iter().map(|&(_, slot)| stands_for(slot)).sum();
        let step = total / SAMPLE_SIZE as f64;
        let (mut people, mut reached, mut next) = (Vec::with_capacity(SAMPLE_SIZE * self.dimension), 0.0, 0.5 * step);
        for &(_, slot) in &order {
            reached += stands_for(slot);
            while next < reached {
                people.extend_from_slice(self.context(slot));
                next += step;
            }
        }
        people
    }

    fn context(&self, slot: usize) -> &[f64] {
        &self.contexts[slot * self.dimension..(slot + 1) * self.dimension]
    }

    fn insert(&mut self, priority: u64, context: &[f64], weight: Option<f64>) {
        let Self { dimension, kept, contexts, weights } = self;
        let slot = kept.place(priority, |from, to| {
            contexts.copy_within(from * *dimension..(from + 1) * *dimension, to * *dimension);
            if !weights.is_empty() {
                weights[to] = weights[from];
            }
        });
        if let Some(slot) = slot {
            // What is behind the slot was dropped.
            contexts.truncate(slot * *dimension);
            contexts.extend_from_slice(context);
            weights.truncate(slot);
            weights.extend(weight);
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
}

impl From<PeopleSample> for Stored {
    fn from(sample: PeopleSample) -> Self {
        let (contexts, order) = (sample.kept_contexts(), sample.kept.in_order());
        let weights = order.iter().filter_map(|&(_, slot)| sample.weights.get(slot).copied()).collect();
        let priorities = order.into_iter().map(|(priority, _)| priority).collect();
        Self { dimension: sample.dimension, priorities, contexts, weights }
    }
}

impl TryFrom<Stored> for PeopleSample {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, &'static str> {
        let Stored { dimension, priorities, contexts, weights } = stored;
        let sound = |weight: &f64| *weight > 0.0;
        if priorities.len() > SAMPLE_SIZE
            || priorities.len().checked_mul(dimension) != Some(contexts.len())
            || !(weights.is_empty() || weights.len() == priorities.len())
            || !weights.iter().all(sound)
        {
            return Err("the sample of people is damaged");
        }
        Ok(Self { dimension, kept: BottomK::of(SAMPLE_SIZE, priorities), contexts, weights })
    }
}

/// A hash of a row's number in its file and of its content.
#[inline]
pub(crate) fn content_priority(row: u64, context: &[f64], reward: f64) -> u64 {
    // Two hashes beside each other take the time of one.
    let step = |hash: u64, value: f64| (hash ^ value.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let (pairs, rest) = context.as_chunks::<2>();
    let start = (mix(row ^ reward.to_bits()), 0x5851_F42D_4C95_7F2D);
    let (one, other) = pairs.iter().fold(start, |(one, other), &[a, b]| (step(one, a), step(other, b)));
    mix(rest.iter().fold(one, |hash, &value| step(hash, value)) ^ mix(other))
}

/// A permutation of the 64-bit numbers without pattern [steele-2014, the finaliser of SplitMix64].
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

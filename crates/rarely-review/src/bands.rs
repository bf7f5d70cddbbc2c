//! Bands of a feature: groups of people that an owner would name, such as "systolic 140–160 mmHg" or "diabetic = yes".

use std::ops::Range;

use multiversion::multiversion;
use rarely_policy::{FeatureKind, PolicyDocument, number::short};
use serde::{Deserialize, Serialize};

use crate::fixed_point::floor;

/// A numeric feature has about this many bands.
const BANDS: f64 = 7.0;

/// The bands of all features, with consecutive numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Bands {
    numeric: Vec<NumericCells>,
    levels: Vec<LevelCells>,
    all: Vec<Band>,
}

/// One group of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The feature, as an index into the document's.
    pub feature: usize,
    /// Who belongs to it.
    pub members: Members,
}

/// Who belongs to a band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Members {
    /// Values from `low` up to but excluding `high`; the last band includes `high`.
    Between {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// This level.
    Level(String),
}

/// How to find the bands of numeric features whose coordinates follow each other: for each the whole part of `offset + scale·x`. Every
/// number has a list of its own, so that several features are computed at once.
#[derive(Debug, Clone, PartialEq, Default)]
struct NumericCells {
    coordinates: Range<usize>,
    offsets: Vec<f64>,
    scales: Vec<f64>,
    /// The middle of the last band: what is above it belongs there, too.
    limits: Vec<f64>,
    /// The first band of each feature.
    firsts: Vec<usize>,
}

/// How to find the band of a feature with levels.
#[derive(Debug, Clone, PartialEq)]
struct LevelCells {
    first: usize,
    /// Those of its levels but the first.
    coordinates: Range<usize>,
}

impl Bands {
    /// The bands of a document's features: numbers in round steps, levels one by one.
    pub fn of(document: &PolicyDocument) -> Self {
        let (mut numeric, mut levelled, mut bands): (Vec<NumericCells>, _, _) = (Vec::new(), Vec::new(), Vec::new());
        for (feature, described) in document.features().iter().enumerate() {
            let (first, coordinate) = (bands.len(), document.offset(feature));
            match &described.kind {
                // Its bands are those of the columns that it is derived from.
                FeatureKind::Numeric { .. } if !described.source.is_column() => {}
                FeatureKind::Numeric { low, high, .. } => {
                    let step = round_step((high - low) / BANDS);
                    let start = (low / step).floor();
                    let edges = edges(*low, *high, step);
                    bands.extend(
                        edges
                            .windows(2)
                            .map(|ends| Band { feature, members: Members::Between { low: ends[0], high: ends[1] } }),
                    );
                    // The small summand puts a value on an edge into the upper band, whatever the rounding.
                    let (offset, scale) = (low / step - start + 1e-9, (high - low) / step);
                    if numeric.last().is_none_or(|cells| cells.coordinates.end != coordinate) {
                        numeric.push(NumericCells { coordinates: coordinate..coordinate, ..NumericCells::default() });
                    }
                    if let Some(cells) = numeric.last_mut() {
                        cells.coordinates.end += 1;
                        cells.offsets.push(offset);
                        cells.scales.push(scale);
                        cells.limits.push((bands.len() - 1 - first) as f64 + 0.5);
                        cells.firsts.push(first);
                    }
                }
                FeatureKind::Levels(levels) => {
                    let members = levels.iter().cloned().map(Members::Level);
                    bands.extend(members.map(|members| Band { feature, members }));
                    levelled.push(LevelCells { first, coordinates: coordinate..coordinate + levels.len() - 1 });
                }
            }
        }
        Self { numeric, levels: levelled, all: bands }
    }

    /// The bands, feature by feature.
    pub fn all(&self) -> &[Band] {
        &self.all
    }

    /// The offset and the scale by which the band of a numeric feature is found: the whole part of `offset + scale·x`.
    pub(crate) fn cells(&self, feature: usize) -> Option<(f64, f64)> {
        let cells =
            self.numeric.iter().flat_map(|cells| cells.firsts.iter().zip(cells.offsets.iter().zip(&cells.scales)));
        cells
            .filter(|(first, _)| self.all[**first].feature == feature)
            .map(|(_, (&offset, &scale))| (offset, scale))
            .next()
    }

    /// The bands that a person is in, one for each feature.
    pub fn of_person(&self, context: &[f64]) -> impl Iterator<Item = usize> {
        let mut bands = Vec::new();
        self.find(context, &mut bands);
        bands.into_iter()
    }

    /// Writes the bands that a person is in, one for each feature, into a list.
    #[inline]
    pub(crate) fn find(&self, context: &[f64], found: &mut Vec<usize>) {
        found.clear();
        for cells in &self.numeric {
            find(cells, &context[cells.coordinates.clone()], found);
        }
        for cells in &self.levels {
            let levels = &context[cells.coordinates.clone()];
            found.push(cells.first + levels.iter().position(|&value| value == 1.0).map_or(0, |at| at + 1));
        }
    }
}

/// Adds the band of each value to a list.
#[multiversion(targets("x86_64+avx2"))]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn find(cells: &NumericCells, values: &[f64], found: &mut Vec<usize>) {
    let NumericCells { offsets, scales, limits, firsts, .. } = cells;
    let numbers = values.iter().zip(offsets).zip(scales).zip(limits).zip(firsts);
    found.extend(numbers.map(|((((value, offset), scale), limit), first)| {
        let at = offset + scale * value;
        first.wrapping_add(floor(if at < *limit { at } else { *limit }) as usize)
    }));
}

impl Band {
    /// `systolic 140–160 mmHg`, `diabetic = yes`.
    pub fn words(&self, document: &PolicyDocument) -> String {
        let between = if matches!(self.members, Members::Level(_)) { " = " } else { " " };
        format!("{}{between}{}", document.features()[self.feature].column, self.members(document))
    }

    /// `140–160 mmHg`, `yes`.
    pub fn members(&self, document: &PolicyDocument) -> String {
        match &self.members {
            Members::Between { low, high } => {
                let unit = document.features()[self.feature].unit().map_or_else(String::new, |unit| format!(" {unit}"));
                format!("{}–{}{unit}", short(*low), short(*high))
            }
            Members::Level(level) => level.clone(),
        }
    }
}

/// The next of 1, 2 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(step)));
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|round| *round >= step * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// A range, divided at the multiples of a step.
fn edges(low: f64, high: f64, step: f64) -> Vec<f64> {
    let mut edges = vec![low];
    let mut number = (low / step).floor() + 1.0;
    while number * step < high - 1e-9 * step {
        edges.push(number * step);
        number += 1.0;
    }
    edges.push(high);
    edges
}

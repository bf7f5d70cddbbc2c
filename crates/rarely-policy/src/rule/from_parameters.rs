//! Turns parameters back into a rule, in the owner's form.

mod lines;
mod play;

use self::lines::Lines;

use indexmap::IndexMap;
use rarely_core::Parameters;

use crate::document::PolicyDocument;
use crate::document::raw::ROUNDING;
use crate::feature::FeatureKind;
use crate::rule::ladder::{HAIR, ScaledSum};
use crate::rule::{Coefficient, INTERCEPT, LinearRule, ScoreRule, ThresholdRule, WrittenRule};

/// Coefficients that differ by less than this, relative to the largest difference, are equal.
const SAME: f64 = 1e-9;

impl WrittenRule {
    /// The rule in the form of `like` that decides like the parameters; `None` if that form cannot express it.
    ///
    /// - linear: always;
    /// - threshold: if one number alone tells the options apart;
    /// - score: if one weighted sum tells them apart, as it does whenever only two options are played. The first coefficient of
    ///   `like` that is still there keeps its value, so that old and new can be compared.
    ///
    /// Options that are never played within the features' ranges are not part of a threshold or a score.
    ///
    /// # Panics
    /// If the parameters have another shape than the document, or `like` does not fit the document.
    pub fn from_parameters(document: &PolicyDocument, parameters: &Parameters, like: &Self) -> Option<Self> {
        assert_eq!(parameters.shape(), document.shape(), "parameters of this document");
        let rule = match like {
            Self::Linear(like) => return Some(Self::Linear(LinearRule::from_parameters(document, parameters, like))),
            Self::Threshold(_) | Self::Score(_) if !document.has_intercept() => return None,
            Self::Threshold(like) => Self::Threshold(threshold(document, parameters, like)?),
            Self::Score(like) => Self::Score(score(document, parameters, like)?),
        };
        document.check_rule(&rule).ok().map(|()| rule)
    }
}

impl LinearRule {
    fn from_parameters(document: &PolicyDocument, parameters: &Parameters, like: &Self) -> Self {
        let scores = document.options().iter().zip(parameters.iter()).map(|(option, vector)| {
            let raw = document.raw_vector(vector, ROUNDING);
            let nothing = IndexMap::new();
            let named = like.scores.get(option).unwrap_or(&nothing);
            let mut line = IndexMap::new();
            if raw.constant != 0.0 || named.contains_key(INTERCEPT) {
                line.insert(INTERCEPT.to_owned(), Coefficient::Slope(raw.constant));
            }
            line.extend(coefficients(document, &raw.slopes, named));
            (option.clone(), line)
        });
        Self { scores: scores.collect() }
    }
}

fn threshold(document: &PolicyDocument, parameters: &Parameters, like: &ThresholdRule) -> Option<ThresholdRule> {
    let mut lines = Lines::of(document, parameters)?;
    let everyone = |arm: usize| ThresholdRule {
        feature: like.feature.clone(),
        cuts: Vec::new(),
        options: vec![document.options()[arm].clone()],
    };
    let Some(at) = lines.main_coordinate() else { return Some(everyone(lines.highest())) };
    let (_, feature) = document.features().iter().enumerate().find(|(index, _)| document.offset(*index) == at)?;
    let (low, high) = feature.range()?;
    lines.keep_only(at)?;
    lines.rescale((high - low) / lines.direction[at]);
    let coefficients = [(feature.column.clone(), Coefficient::Slope(1.0))].into_iter().collect();
    let (cuts, arms) = lines.steps(document, &coefficients);
    if cuts.is_empty() {
        return Some(everyone(arms[0]));
    }
    let cuts = cuts.into_iter().map(|cut| cut.clamp(low, high)).collect();
    Some(ThresholdRule { feature: feature.column.clone(), cuts, options: named(document, &arms) })
}

fn score(document: &PolicyDocument, parameters: &Parameters, like: &ScoreRule) -> Option<ScoreRule> {
    let mut lines = Lines::of(document, parameters)?;
    let everyone = |arm: usize| ScoreRule {
        coefficients: like.coefficients.clone(),
        cuts: Vec::new(),
        options: vec![document.options()[arm].clone()],
    };
    let Some(main) = lines.main_coordinate() else { return Some(everyone(lines.highest())) };
    let raw = document.raw_vector(&lines.direction, 0.0).slopes;
    let old = document.raw_vector(&ScaledSum::of(document, &like.coefficients).direction, ROUNDING).slopes;
    let reference = reference(document, like)
        .find(|&at| old[at - 1] != 0.0 && lines.direction[at].abs() > SAME * lines.direction[main].abs());
    lines.rescale(match reference {
        Some(at) => old[at - 1] / raw[at - 1],
        None => 1.0 / raw[main - 1],
    });
    let raw = document.raw_vector(&lines.direction, HAIR).slopes;
    let coefficients = coefficients(document, &raw, &like.coefficients);
    let (cuts, arms) = lines.steps(document, &coefficients);
    if cuts.is_empty() {
        return Some(everyone(arms[0]));
    }
    Some(ScoreRule { coefficients, cuts, options: named(document, &arms) })
}

/// The coordinates that an old score names, in its order.
fn reference<'a>(document: &'a PolicyDocument, like: &'a ScoreRule) -> impl Iterator<Item = usize> + 'a {
    like.coefficients.iter().flat_map(move |(name, coefficient)| {
        let at = document.feature(name).map_or(0, |(index, _)| document.offset(index));
        let levels = document.feature(name).and_then(|(_, feature)| feature.levels()).unwrap_or_default();
        let coordinates: Vec<usize> = match coefficient {
            Coefficient::Slope(_) => vec![at],
            Coefficient::Levels(numbers) => {
                let place = |level: &String| levels.iter().position(|known| known == level).filter(|&place| place > 0);
                numbers.keys().filter_map(|level| Some(at + place(level)? - 1)).collect()
            }
        };
        coordinates.into_iter().filter(|&at| at > 0)
    })
}

/// Raw slopes as a document writes them: those of the old rule in its order, then the others that are not 0.
fn coefficients(
    document: &PolicyDocument,
    slopes: &[f64],
    like: &IndexMap<String, Coefficient>,
) -> IndexMap<String, Coefficient> {
    let mut found = IndexMap::new();
    let first = usize::from(document.has_intercept());
    let old = like.keys().filter_map(|name| document.feature(name));
    for (index, feature) in old.chain(document.features().iter().enumerate()) {
        let at = document.offset(index) - first;
        let named = like.get(&feature.column);
        match &feature.kind {
            FeatureKind::Numeric { .. } if slopes[at] != 0.0 || named.is_some() => {
                found.entry(feature.column.clone()).or_insert(Coefficient::Slope(slopes[at]));
            }
            FeatureKind::Numeric { .. } => {}
            FeatureKind::Levels(levels) => {
                let old_levels = match named {
                    Some(Coefficient::Levels(levels)) => Some(levels),
                    _ => None,
                };
                let mut numbers: IndexMap<String, f64> =
                    old_levels.into_iter().flat_map(|old| old.keys().map(|level| (level.clone(), 0.0))).collect();
                for (place, level) in levels[1..].iter().enumerate() {
                    if slopes[at + place] != 0.0 || numbers.contains_key(level) {
                        numbers.insert(level.clone(), slopes[at + place]);
                    }
                }
                if !numbers.is_empty() || named.is_some() {
                    found.entry(feature.column.clone()).or_insert(Coefficient::Levels(numbers));
                }
            }
        }
    }
    found
}

fn named(document: &PolicyDocument, arms: &[usize]) -> Vec<String> {
    arms.iter().map(|&arm| document.options()[arm].clone()).collect()
}

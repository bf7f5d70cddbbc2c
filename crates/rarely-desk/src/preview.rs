//! Who gets what by a rule, among the people of the log.

use rarely_core::{Contexts, Rule};
use rarely_policy::{FeatureKind, PolicyDocument, WrittenRule, number::short};

use crate::problem::Problem;
use crate::session::DeskPeople;

/// Bins along the feature of a threshold.
const BINS: usize = 30;

/// Who gets what.
pub(crate) struct Preview {
    /// The rule in words.
    pub(crate) words: Vec<String>,
    /// People of the sample by option.
    pub(crate) shares: Vec<(String, u64)>,
    pub(crate) people: u64,
    pub(crate) rows: u64,
    /// Along the feature of a threshold.
    pub(crate) along: Option<PreviewBins>,
}

/// People by the value of a feature, and by their option.
pub(crate) struct PreviewBins {
    pub(crate) feature: String,
    pub(crate) low: String,
    pub(crate) high: String,
    /// For each bin, the people by option.
    pub(crate) counts: Vec<Vec<u64>>,
}

impl Preview {
    /// Applies a rule that fits the document to the people.
    pub(crate) fn new(people: &DeskPeople, rule: &WrittenRule) -> Result<Self, Problem> {
        let document = &people.document;
        let dimension = document.shape().dimension();
        let contexts = Contexts::new(&people.contexts, dimension).map_err(|error| Problem::of(&error))?;
        let arms = Rule::new(rule.parameters(document)).choose_many(contexts).map_err(|error| Problem::of(&error))?;
        let mut counts = vec![0_u64; document.options().len()];
        let arms: Vec<usize> = arms.iter().map(|arm| arm.index()).collect();
        for arm in &arms {
            counts[*arm] += 1;
        }
        let along = match rule {
            WrittenRule::Threshold(threshold) => {
                PreviewBins::new(document, &threshold.feature, &arms, people.contexts.chunks(dimension))
            }
            WrittenRule::Score(_) | WrittenRule::Linear(_) => None,
        };
        Ok(Self {
            words: rule.words(document),
            shares: document.options().iter().cloned().zip(counts).collect(),
            people: arms.len() as u64,
            rows: people.rows,
            along,
        })
    }
}

impl PreviewBins {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a coordinate from 0 to 1 times the bins"
    )]
    fn new<'a>(
        document: &PolicyDocument,
        feature: &str,
        arms: &[usize],
        contexts: impl Iterator<Item = &'a [f64]>,
    ) -> Option<Self> {
        let (at, found) = document.feature(feature)?;
        let FeatureKind::Numeric { low, high, unit } = &found.kind else { return None };
        let coordinate = document.offset(at);
        let mut counts = vec![vec![0; document.options().len()]; BINS];
        for (context, arm) in contexts.zip(arms) {
            counts[((context[coordinate] * BINS as f64) as usize).min(BINS - 1)][*arm] += 1;
        }
        let unit = unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        let end = |value: f64| format!("{}{unit}", short(value));
        Some(Self { feature: feature.to_owned(), low: end(*low), high: end(*high), counts })
    }
}

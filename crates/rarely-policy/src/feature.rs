//! Features: numbers with a unit and a range, words from a list, and what is derived from them.

use crate::document::Missing;
use crate::number::written;

/// What a rule may use of a record: a column, or something derived from columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// Its column; the name of one that is derived.
    pub column: String,
    /// Numbers or words.
    pub kind: FeatureKind,
    /// Where its values come from.
    pub source: FeatureSource,
}

/// Where the values of a feature come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FeatureSource {
    /// A column of a record; what happens where it has no value.
    Column(Missing),
    /// Whether another feature's column has no value: "no" or "yes".
    IsMissing(usize),
    /// How far a number is above a cut point, else 0.
    Above(usize, f64),
    /// The square of a number, counted from the low end of its range.
    Square(usize),
    /// The product of two.
    Product(FeatureFactor, FeatureFactor),
}

/// One of the two that are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureFactor {
    /// The feature.
    pub feature: usize,
    /// 1 for this of its levels, else 0; `None` for a number.
    pub level: Option<usize>,
}

impl FeatureSource {
    /// Whether its values are a column's, rather than derived.
    pub fn is_column(&self) -> bool {
        matches!(self, Self::Column(_))
    }

    /// The features that it is derived from; none for a column.
    pub fn parents(&self) -> impl Iterator<Item = usize> + use<> {
        let (one, other) = match *self {
            Self::Column(_) => (None, None),
            Self::IsMissing(feature) | Self::Above(feature, _) | Self::Square(feature) => (Some(feature), None),
            Self::Product(one, other) => (Some(one.feature), Some(other.feature)),
        };
        one.into_iter().chain(other)
    }
}

/// What a feature's values are.
#[derive(Debug, Clone, PartialEq)]
pub enum FeatureKind {
    /// Numbers in a range, which a context scales to `[0, 1]`.
    Numeric {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// The unit.
        unit: Option<String>,
    },
    /// Words. A context has a coordinate for each but the first: 1 for this word, else 0.
    Levels(Vec<String>),
}

impl Feature {
    /// How many coordinates of a context it takes.
    pub fn coordinates(&self) -> usize {
        match &self.kind {
            FeatureKind::Numeric { .. } => 1,
            FeatureKind::Levels(levels) => levels.len() - 1,
        }
    }

    /// The range of a numeric feature.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self.kind {
            FeatureKind::Numeric { low, high, .. } => Some((low, high)),
            FeatureKind::Levels(_) => None,
        }
    }

    /// The unit of a numeric feature.
    pub fn unit(&self) -> Option<&str> {
        match &self.kind {
            FeatureKind::Numeric { unit, .. } => unit.as_deref(),
            FeatureKind::Levels(_) => None,
        }
    }

    /// The levels of a feature that has them.
    pub fn levels(&self) -> Option<&[String]> {
        match &self.kind {
            FeatureKind::Numeric { .. } => None,
            FeatureKind::Levels(levels) => Some(levels),
        }
    }

    /// What happens where its column has no value; what is derived always has one.
    pub fn missing(&self) -> Missing {
        match self.source {
            FeatureSource::Column(missing) => missing,
            _ => Missing::Refuse,
        }
    }

    /// What a derived feature is, in words: `(age − 40)²`. `None` for a column.
    pub(crate) fn meaning(&self, all: &[Self]) -> Option<String> {
        let above = |feature: usize, cut: f64| match cut {
            0.0 => all[feature].column.clone(),
            cut if cut < 0.0 => format!("({} + {})", all[feature].column, written(-cut)),
            cut => format!("({} − {})", all[feature].column, written(cut)),
        };
        let low = |feature: usize| all[feature].range().map_or(0.0, |(low, _)| low);
        let level = |factor: &FeatureFactor| {
            let feature = &all[factor.feature];
            factor.level.and_then(|at| Some(format!("{} is {}", feature.column, feature.levels()?.get(at)?)))
        };
        Some(match &self.source {
            FeatureSource::Column(_) => return None,
            FeatureSource::IsMissing(feature) => format!("whether {} is missing", all[*feature].column),
            FeatureSource::Above(feature, cut) => {
                format!("{} from {} on, else 0", above(*feature, *cut), written(*cut))
            }
            FeatureSource::Square(feature) => format!("{}²", above(*feature, low(*feature))),
            FeatureSource::Product(one, other) => match (level(one), level(other)) {
                (Some(one), Some(other)) => format!("1 if {one} and {other}, else 0"),
                (Some(level), None) => format!("{} if {level}, else 0", above(other.feature, low(other.feature))),
                (None, Some(level)) => format!("{} if {level}, else 0", above(one.feature, low(one.feature))),
                (None, None) => {
                    format!("{} × {}", above(one.feature, low(one.feature)), above(other.feature, low(other.feature)))
                }
            },
        })
    }
}

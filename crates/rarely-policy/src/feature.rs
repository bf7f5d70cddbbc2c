//! Features: numbers with a unit and a range, and words from a list.

/// One column of a record that a rule may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// Its column.
    pub column: String,
    /// Numbers or words.
    pub kind: FeatureKind,
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
}

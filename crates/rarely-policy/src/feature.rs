//! What is known of a person: numbers with a unit and a range, and words from a list.

/// One column of a record that a rule may look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// Its column.
    pub column: String,
    /// Numbers or words.
    pub kind: Kind,
}

/// What a feature's values are.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Numbers in a range; inside, the range is `[0, 1]`.
    Numeric {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// What they are measured in.
        unit: Option<String>,
    },
    /// Words; inside, one coordinate for each but the first, 1 where the word is this one.
    Levels(Vec<String>),
}

impl Feature {
    /// How many coordinates of a context it takes.
    pub fn coordinates(&self) -> usize {
        match &self.kind {
            Kind::Numeric { .. } => 1,
            Kind::Levels(levels) => levels.len() - 1,
        }
    }

    /// The range of a numeric feature.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self.kind {
            Kind::Numeric { low, high, .. } => Some((low, high)),
            Kind::Levels(_) => None,
        }
    }

    /// The unit of a numeric feature.
    pub fn unit(&self) -> Option<&str> {
        match &self.kind {
            Kind::Numeric { unit, .. } => unit.as_deref(),
            Kind::Levels(_) => None,
        }
    }

    /// The levels of a feature that has them.
    pub fn levels(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Numeric { .. } => None,
            Kind::Levels(levels) => Some(levels),
        }
    }
}

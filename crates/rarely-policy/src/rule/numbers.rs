//! The numbers of a rule in a fixed order, to name, round and replace them.

use indexmap::IndexMap;

use crate::rule::{Coefficient, LinearRule, ScoreRule, ThresholdRule, WrittenRule};

impl WrittenRule {
    /// Its numbers, in a fixed order: a score's coefficients as they are written, then the cuts; a linear rule's numbers as they
    /// are written.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = Vec::new();
        self.clone().visit(|number| numbers.push(*number));
        numbers
    }

    /// Its numbers with their names, in the order of [`WrittenRule::numbers`]: `cut 1`, `cut 2`; a score's `usage`, `business = yes`; a
    /// linear rule's `treat: intercept`, `treat: systolic`, `treat: diabetic = yes`.
    ///
    /// ```
    /// # let text = include_str!("../../tests/it/example.toml");
    /// let document = rarely_policy::PolicyDocument::parse(text, "policy.toml")?;
    /// assert_eq!(document.rule().named_numbers(), [("cut 1".to_owned(), 140.0)]);
    /// # Ok::<(), rarely_policy::DocumentError>(())
    /// ```
    pub fn named_numbers(&self) -> Vec<(String, f64)> {
        let cuts = self.cuts().iter().enumerate().map(|(at, cut)| (cut_name(at), *cut));
        match self {
            Self::Threshold(_) => cuts.collect(),
            Self::Score(ScoreRule { coefficients, .. }) => {
                named_coefficients("", coefficients).into_iter().chain(cuts).collect()
            }
            Self::Linear(LinearRule { scores }) => scores
                .iter()
                .flat_map(|(option, coefficients)| named_coefficients(&format!("{option}: "), coefficients))
                .collect(),
        }
    }

    /// Its cuts; a linear rule has none.
    pub(crate) fn cuts(&self) -> &[f64] {
        match self {
            Self::Threshold(ThresholdRule { cuts, .. }) | Self::Score(ScoreRule { cuts, .. }) => cuts,
            Self::Linear(_) => &[],
        }
    }

    /// The same rule with other cuts; `None` for a linear rule.
    pub(crate) fn with_cuts(&self, cuts: &[f64]) -> Option<Self> {
        match self {
            Self::Threshold(rule) => Some(Self::Threshold(ThresholdRule { cuts: cuts.to_vec(), ..rule.clone() })),
            Self::Score(rule) => Some(Self::Score(ScoreRule { cuts: cuts.to_vec(), ..rule.clone() })),
            Self::Linear(_) => None,
        }
    }

    /// The same rule with other numbers, in the order of [`WrittenRule::numbers`]. It does not check that they
    /// fit a document ([`crate::PolicyDocument::check_rule`] does): rounding may make two cuts equal.
    ///
    /// # Panics
    /// If there are not as many numbers as the rule has.
    #[must_use]
    pub fn with_numbers(&self, numbers: &[f64]) -> Self {
        let mut rule = self.clone();
        let mut given = numbers.iter();
        rule.visit(|number| *number = *given.next().expect("as many numbers as the rule has"));
        assert!(given.next().is_none(), "no more numbers than the rule has");
        rule
    }

    fn visit(&mut self, mut each: impl FnMut(&mut f64)) {
        match self {
            Self::Threshold(ThresholdRule { cuts, .. }) => cuts.iter_mut().for_each(each),
            Self::Score(ScoreRule { coefficients, cuts, .. }) => {
                visit_coefficients(coefficients, &mut each);
                cuts.iter_mut().for_each(each);
            }
            Self::Linear(LinearRule { scores }) => {
                scores.values_mut().for_each(|coefficients| visit_coefficients(coefficients, &mut each));
            }
        }
    }
}

impl Coefficient {
    /// Its number or numbers.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let (slope, levels) = match self {
            Self::Slope(slope) => (Some(*slope), None),
            Self::Levels(levels) => (None, Some(levels.values().copied())),
        };
        slope.into_iter().chain(levels.into_iter().flatten())
    }
}

/// The name of a cut, by its index from 0.
pub(crate) fn cut_name(at: usize) -> String {
    format!("cut {}", at + 1)
}

/// Coefficients by `feature` or `feature = level`, with a prefix.
pub(super) fn named_coefficients(start: &str, coefficients: &IndexMap<String, Coefficient>) -> Vec<(String, f64)> {
    let mut named = Vec::new();
    for (name, coefficient) in coefficients {
        match coefficient {
            Coefficient::Slope(slope) => named.push((format!("{start}{name}"), *slope)),
            Coefficient::Levels(levels) => {
                named.extend(levels.iter().map(|(level, number)| (format!("{start}{name} = {level}"), *number)));
            }
        }
    }
    named
}

fn visit_coefficients(coefficients: &mut IndexMap<String, Coefficient>, each: &mut impl FnMut(&mut f64)) {
    for coefficient in coefficients.values_mut() {
        match coefficient {
            Coefficient::Slope(slope) => each(slope),
            Coefficient::Levels(levels) => levels.values_mut().for_each(&mut *each),
        }
    }
}

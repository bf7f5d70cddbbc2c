//! The running variable of a rule: the score along which it passes from one option to the next.

use rarely_policy::{Ladder, PolicyDocument, ScoreRule, ThresholdRule, WrittenRule};

/// A rule's running variable: a threshold's feature, a score, or the difference of a linear rule between two options.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningVariable {
    /// In context coordinates; at least one cut.
    pub ladder: Ladder,
    /// What to add to it for the owner's units.
    pub offset: f64,
    /// The cuts as the owner writes them.
    pub cuts: Vec<f64>,
    /// The coordinates of the ladder's direction that are not 0, which are few, and these numbers.
    terms: Vec<(usize, f64)>,
}

impl RunningVariable {
    /// The running variable, if the rule has one.
    pub fn of(document: &PolicyDocument, rule: &WrittenRule) -> Option<Self> {
        let cuts = match rule {
            WrittenRule::Threshold(ThresholdRule { cuts, .. }) | WrittenRule::Score(ScoreRule { cuts, .. }) => cuts,
            WrittenRule::Linear(_) => return Self::of_two(document, rule),
        };
        let ladder = rule.ladder(document)?;
        let offset = cuts.first()? - ladder.cuts.first()?;
        Some(Self::new(ladder, offset, cuts.clone()))
    }

    fn of_two(document: &PolicyDocument, rule: &WrittenRule) -> Option<Self> {
        if document.options().len() != 2 || !document.has_intercept() {
            return None;
        }
        let parameters = rule.parameters(document);
        let mut direction: Vec<f64> = parameters.arm(1).iter().zip(parameters.arm(0)).map(|(a, b)| a - b).collect();
        let offset = std::mem::replace(&mut direction[0], 0.0);
        let varies = direction.iter().any(|&value| value != 0.0);
        let ladder = Ladder { direction, cuts: vec![-offset], options: vec![0, 1] };
        varies.then_some(Self::new(ladder, offset, vec![0.0]))
    }

    fn new(ladder: Ladder, offset: f64, cuts: Vec<f64>) -> Self {
        let direction = ladder.direction.iter().copied().enumerate();
        let terms = direction.filter(|&(_, coefficient)| coefficient != 0.0).collect();
        Self { ladder, offset, cuts, terms }
    }

    /// The value of a person, in context units.
    #[inline]
    pub fn at(&self, context: &[f64]) -> f64 {
        self.terms.iter().fold(0.0, |sum, &(at, coefficient)| sum + coefficient * context[at])
    }

    /// The lowest and the highest possible value.
    pub fn span(&self) -> (f64, f64) {
        let sum = |choose: fn(f64, f64) -> f64| self.ladder.direction.iter().map(|&value| choose(value, 0.0)).sum();
        (sum(f64::min), sum(f64::max))
    }

    /// The cut between two options as the owner writes it, if the rule passes from one of them to the other.
    pub fn cut_between(&self, i: usize, j: usize) -> Option<f64> {
        self.step_between(i, j).map(|(_, _, cut)| cut)
    }

    /// The lower and the upper of two options with the cut between them, as the owner writes it, if the rule passes from one to the other.
    pub fn step_between(&self, i: usize, j: usize) -> Option<(usize, usize, f64)> {
        let at = self.ladder.options.windows(2).position(|pair| pair == [i, j] || pair == [j, i])?;
        Some((self.ladder.options[at], self.ladder.options[at + 1], self.cuts[at]))
    }

    /// The pairs of options that it passes between, each with its cut.
    pub fn steps(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let options = self.ladder.options.windows(2);
        self.ladder.cuts.iter().zip(options).map(|(&cut, pair)| (pair[0], pair[1], cut))
    }
}

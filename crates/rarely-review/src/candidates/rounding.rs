//! The fewest digits that a candidate can have. Digits are never bought with people: a rounded rule moves hardly more of them than the
//! exact one, and keeps nine tenths of its predicted gain.

use rarely_policy::WrittenRule;
use rarely_policy::number::round;

use super::Search;

/// Digits that every `f64` can have and be read back.
const MOST_DIGITS: usize = 15;
/// Rules with more numbers than this get the same number of digits everywhere.
const SHORTENED_ONE_BY_ONE: usize = 24;
/// The share of all people that a rounded rule may move beyond those whom the exact one moves, …
const MORE_OF_ALL: f64 = 0.01;
/// … or, if that is less, the share of those whom the exact one moves.
const MORE_OF_MOVED: f64 = 0.1;
/// The share of the predicted gain that a rounded rule keeps.
const KEPT: f64 = 0.9;

impl Search<'_> {
    /// The rule with the fewest digits that a candidate may have; the exact one where no rounding does. If the exact rule is within the
    /// bounds of the document's plan, so is the rounded one.
    pub(super) fn rounded(&self, exact: &WrittenRule) -> WrittenRule {
        let decisions = self.decisions(exact);
        let moved = self.moved(&decisions);
        let allowed = Allowed {
            moved: moved + (MORE_OF_ALL * decisions.len() as f64).min(MORE_OF_MOVED * moved),
            gain: self.gain(&decisions),
            within: self.document.outside_bounds(exact).is_empty(),
        };
        let numbers = exact.numbers();
        for digits in 1..MOST_DIGITS {
            let rounded: Vec<f64> = numbers.iter().map(|&number| round(number, digits)).collect();
            let rule = exact.with_numbers(&rounded);
            if self.is_acceptable(&rule, &allowed) {
                return self.shortened(rule, digits, &allowed);
            }
        }
        exact.clone()
    }

    /// People who get another option than under the rule in force.
    fn moved(&self, decisions: &[rarely_core::Arm]) -> f64 {
        self.before.iter().zip(decisions).filter(|(before, after)| before != after).count() as f64
    }

    fn is_acceptable(&self, rule: &WrittenRule, allowed: &Allowed) -> bool {
        if self.document.check_rule(rule).is_err()
            || allowed.within && !self.document.outside_bounds(rule).is_empty()
            || !self.fits_capacity(rule)
        {
            return false;
        }
        let decisions = self.decisions(rule);
        let gain = self.gain(&decisions);
        self.moved(&decisions) <= allowed.moved && gain >= allowed.gain - (1.0 - KEPT) * allowed.gain.abs()
    }

    /// Takes digits from one number after the other while the rule passes.
    fn shortened(&self, mut rule: WrittenRule, digits: usize, allowed: &Allowed) -> WrittenRule {
        let count = rule.numbers().len();
        if count > SHORTENED_ONE_BY_ONE {
            return rule;
        }
        for at in 0..count {
            for fewer in 1..digits {
                let mut numbers = rule.numbers();
                let rounded = round(numbers[at], fewer);
                if rounded == numbers[at] {
                    break;
                }
                numbers[at] = rounded;
                let shorter = rule.with_numbers(&numbers);
                if self.is_acceptable(&shorter, allowed) {
                    rule = shorter;
                    break;
                }
            }
        }
        rule
    }
}

/// What a rounded rule must pass.
struct Allowed {
    /// People who may get another option than now.
    moved: f64,
    /// The exact rule's predicted gain.
    gain: f64,
    /// Whether it must be within the bounds of the document's plan.
    within: bool,
}

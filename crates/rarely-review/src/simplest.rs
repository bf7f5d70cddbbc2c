//! The simplest rule that is still justified: its numbers rounded to the fewest digits for which it passes the tests.

use rarely_policy::{WrittenRule, number::round};

use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;

/// Digits that every `f64` can have and be read back.
const MOST_DIGITS: usize = 15;
/// Where, on the way from the exact rule to the estimate's, roundings are tried: an exact rule may lie on the edge of what is
/// plausible, where half of all roundings fail.
const INWARD: [f64; 8] = [0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0];
/// Rules with more numbers than this get the same number of digits everywhere.
const SHORTENED_ONE_BY_ONE: usize = 24;

/// The rule with the fewest digits that passes the tests of a change from `from`; the exact one where no rounding does. If the exact
/// rule is certain to gain, so is the rounded one; if it is within the bounds of the document's plan, so is the rounded one. For an
/// algorithm that follows the estimate at every review, the result may be the rule in force.
///
/// # Errors
/// As [`EvidenceBase::accepts`].
pub fn simplest(base: &EvidenceBase<'_>, from: &WrittenRule, exact: &WrittenRule) -> Result<WrittenRule, ReviewError> {
    let certainly = base.gain(from, exact)?.interval.lower > 0.0;
    let within = base.document.outside_bounds(exact).is_empty();
    let search = Search { base, from, certainly, within };
    let numbers = exact.numbers();
    let inward = inward(base, exact).unwrap_or_else(|| numbers.clone());
    for digits in 1..=MOST_DIGITS {
        let mut tried: Vec<Vec<f64>> = Vec::new();
        for share in INWARD {
            let moved = numbers.iter().zip(&inward).map(|(number, inward)| number + share * (inward - number));
            let rounded: Vec<f64> = moved.map(|number| round(number, digits)).collect();
            if tried.contains(&rounded) {
                continue;
            }
            if let Some(rule) = search.acceptable(exact, &rounded)? {
                return search.shorten(rule, digits);
            }
            tried.push(rounded);
        }
    }
    Ok(exact.clone())
}

/// The numbers of the estimate's own rule, if it is of the same form with the same options in the same order.
fn inward(base: &EvidenceBase<'_>, exact: &WrittenRule) -> Option<Vec<f64>> {
    let estimates = base.statistics.estimates();
    let rule = WrittenRule::from_parameters(base.document, &estimates, exact)?;
    let numbers = rule.numbers();
    // With the same numbers in place the rest of the rule, names and order, must be the same.
    (numbers.len() == exact.numbers().len() && exact.with_numbers(&numbers) == rule).then_some(numbers)
}

/// What a rounded rule must pass.
struct Search<'a> {
    base: &'a EvidenceBase<'a>,
    from: &'a WrittenRule,
    certainly: bool,
    /// Whether it must be within the bounds of the document's plan.
    within: bool,
}

impl Search<'_> {
    fn acceptable(&self, like: &WrittenRule, numbers: &[f64]) -> Result<Option<WrittenRule>, ReviewError> {
        let rule = like.with_numbers(numbers);
        let document = self.base.document;
        let fits = document.check_rule(&rule).is_ok() && (!self.within || document.outside_bounds(&rule).is_empty());
        let accepted = || {
            if rule == *self.from {
                self.base.would_stay(&rule)
            } else {
                self.base.accepts(self.from, &rule, self.certainly)
            }
        };
        Ok((fits && accepted()?).then_some(rule))
    }

    /// Takes digits from one number after the other while the rule passes.
    fn shorten(&self, mut rule: WrittenRule, digits: usize) -> Result<WrittenRule, ReviewError> {
        let count = rule.numbers().len();
        if count > SHORTENED_ONE_BY_ONE {
            return Ok(rule);
        }
        for at in 0..count {
            for fewer in 1..digits {
                let mut numbers = rule.numbers();
                let rounded = round(numbers[at], fewer);
                if rounded == numbers[at] {
                    break;
                }
                numbers[at] = rounded;
                if let Some(shorter) = self.acceptable(&rule, &numbers)? {
                    rule = shorter;
                    break;
                }
            }
        }
        Ok(rule)
    }
}

//! Rules with as few digits as are justified.

use rarely_core::Rng;
use rarely_policy::WrittenRule;

use crate::logs::{Row, age_and_smoker, drawn, judged, summed, threshold};

#[test]
fn all_digits_are_the_algorithm_s_own() {
    let mut rng = Rng::new(8, 0);
    let rows: Vec<Row> = (0..5000).map(|_| drawn(&mut rng)).collect();
    let found = |digits: &str| {
        let document = age_and_smoker(&format!("[change]\ndigits = \"{digits}\""), &threshold(30.0));
        judged(&document, &summed(&document, &rows)).proposal.expect("it should be 60")
    };
    let (fewest, all) = (found("fewest"), found("all"));
    assert_eq!((&all.rule, &all.certificate), (&all.exact, &all.exact_certificate));
    assert_eq!((&all.exact, &all.exact_certificate), (&fewest.exact, &fewest.exact_certificate));
    assert!(digits(&fewest.rule) < digits(&all.rule), "{:?} and {:?}", fewest.rule, all.rule);
}

/// Rounding must not carry a cut that the plan allows beyond it.
#[test]
fn a_rule_is_not_rounded_out_of_its_bounds() {
    let mut rng = Rng::new(9, 0);
    let rows: Vec<Row> = (0..5000).map(|_| drawn(&mut rng)).collect();
    let found = |control: &str| {
        let document = age_and_smoker(control, &threshold(30.0));
        let proposal = judged(&document, &summed(&document, &rows)).proposal.expect("it should be 60");
        let outside = document.outside_bounds(&proposal.rule);
        (proposal, outside)
    };
    let (free, _) = found("");
    let (rounded, exact) = (free.rule.numbers()[0], free.exact.numbers()[0]);
    assert_ne!(rounded, exact);
    // An end between the exact cut and the rounded one.
    let end = f64::midpoint(rounded, exact);
    assert!(rounded > exact, "the rule in force is at 30, below both ends of the range");
    let (bounded, outside) = found(&format!("[control]\nbounds = {{ cut = [0, {end}] }}"));
    assert_eq!(bounded.exact, free.exact);
    assert_eq!(outside, Vec::<String>::new());
    assert_ne!(bounded.rule, free.rule);
    let (beyond, outside) = found("[control]\nbounds = { cut = [0, 40] }");
    assert_eq!(beyond.rule, free.rule, "a proposal outside the plan is still the algorithm's; others refuse it");
    assert_eq!(outside.len(), 1);
}

fn digits(rule: &WrittenRule) -> usize {
    rule.numbers().iter().map(|number| number.to_string().len()).sum()
}

//! Proposals in the form of the rule that they replace; rules with options that nobody gets.

use rarely_policy::WrittenRule;
use rarely_review::{RicherForm, Verdict};

use crate::logs::{THREE, TWO, by_lot, is_settled, log, reviewed, three_features};

/// Only age matters, and the cut is wrong: a threshold among three features stays a threshold.
#[test]
fn a_threshold_on_one_of_several_features_stays_one() {
    let document =
        three_features(TWO, "", "threshold = { feature = \"age\", cuts = [30], options = [\"wait\", \"treat\"] }");
    let tally = log(&document, 20_000, 1, &[[0.6, 0.0, 0.2, 0.1], [0.0, 1.0, 0.2, 0.1]], by_lot(2));
    let found = reviewed(&document, &tally);
    let proposal = found.judgement.proposal.as_ref().expect("the cut should be at 60");
    assert!(proposal.richer_form.is_none());
    let WrittenRule::Threshold(threshold) = &proposal.rule else { panic!("{:?}", proposal.rule) };
    assert!((50.0..=62.0).contains(&threshold.cuts[0]), "{threshold:?}");
    assert!(is_settled(&document, &tally, &found));
}

/// Weight matters as much: no cut on age alone is plausible, so a score is proposed, with the reason.
#[test]
fn where_no_threshold_is_plausible_a_score_is_proposed() {
    let document =
        three_features(TWO, "", "threshold = { feature = \"age\", cuts = [30], options = [\"wait\", \"treat\"] }");
    let tally = log(&document, 20_000, 2, &[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]], by_lot(2));
    let found = reviewed(&document, &tally);
    let proposal = found.judgement.proposal.as_ref().expect("weight matters");
    assert_eq!(proposal.richer_form, Some(RicherForm::ScoreOfAllFeatures));
    assert!(
        matches!(&proposal.rule, WrittenRule::Score(score) if score.coefficients.len() == 3),
        "{:?}",
        proposal.rule
    );
    assert!(is_settled(&document, &tally, &found));
}

/// One score for three options: the weights and both cuts are fitted together.
#[test]
fn a_score_for_three_options_stays_one() {
    let rule = "score = { coefficients = { age = 1.0, weight = 0.2 }, cuts = [50, 90], options = [\"low\", \"middle\", \"high\"] }";
    let document = three_features(THREE, "algorithm = \"boundary-greedy\"", rule);
    // In raw units the index is age + weight; low → middle at 80 + …, steps of different size.
    let means = [[0.5, 0.0, 0.0, 0.0], [0.2, 0.5, 0.5, 0.0], [-1.6, 2.0, 2.0, 0.0]];
    let tally = log(&document, 30_000, 3, &means, by_lot(3));
    let found = reviewed(&document, &tally);
    let proposal = found.judgement.proposal.as_ref().expect("weight counts five times as much");
    let WrittenRule::Score(score) = &proposal.rule else { panic!("{:?}", proposal.rule) };
    assert!(proposal.richer_form.is_none());
    assert_eq!(score.options, ["low", "middle", "high"]);
    assert_eq!(score.coefficients.keys().collect::<Vec<_>>(), ["age", "weight"]);
    assert!(is_settled(&document, &tally, &found));
}

/// A rule that never gives an option says only that it is never best.
#[test]
fn an_option_that_is_never_given_is_judged_by_whether_it_should_be() {
    let rule = "threshold = { feature = \"age\", cuts = [50], options = [\"low\", \"middle\"] }";
    let document = three_features(THREE, "", rule);
    let bad = [[0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.5, 0.3, 0.0]];
    assert_eq!(reviewed(&document, &log(&document, 20_000, 4, &bad, by_lot(3))).judgement.verdict, Verdict::Keep);
    let good = [[0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.9, 0.5, 0.3, 0.0]];
    let tally = log(&document, 20_000, 4, &good, by_lot(3));
    let found = reviewed(&document, &tally);
    assert_eq!(found.judgement.verdict, Verdict::Change);
    let certificate = &found.judgement.proposal.as_ref().unwrap().certificate;
    assert!(certificate.gain.interval.lower > 0.3, "{certificate:?}");
}

/// "Everyone waits" has no cut; it is kept where it is right, and replaced where it is not.
#[test]
fn a_rule_without_cuts_is_reviewed_too() {
    let document = three_features(TWO, "", "threshold = { feature = \"age\", cuts = [], options = [\"wait\"] }");
    let right = log(&document, 10_000, 5, &[[0.5, 0.0, 0.0, 0.0], [0.1, 0.2, 0.0, 0.0]], by_lot(2));
    assert_eq!(reviewed(&document, &right).judgement.verdict, Verdict::Keep);
    let wrong = log(&document, 10_000, 5, &[[0.5, 0.0, 0.0, 0.0], [0.1, 0.8, 0.0, 0.0]], by_lot(2));
    assert_eq!(reviewed(&document, &wrong).judgement.verdict, Verdict::Change);
}

//! Who changes, and which gains rest on extrapolation.

use rarely_core::Rng;
use rarely_review::findings::{CounterEvidence, ProposalFinding};

use crate::logs::{Row, TWO, age_and_smoker, drawn, judged, log, reviewed, summed, three_features, threshold};

/// Treatment was only ever given from 60 on: below it everything is extrapolation, and said to be.
#[test]
fn gains_that_rest_on_extrapolation_are_marked() {
    let rule = "threshold = { feature = \"age\", cuts = [60], options = [\"wait\", \"treat\"] }";
    let document = three_features(TWO, "", rule);
    let means = [[0.5, 0.0, 0.0, 0.0], [0.1, 1.2, 0.0, 0.0]];
    let tally = log(&document, 50_000, 6, &means, |person, _| usize::from(person[1] >= 0.6));
    let found = reviewed(&document, &tally);
    let proposal = found.judgement.proposal.as_ref().expect("the cut should be at 33");
    assert_eq!(proposal.impact.untried, proposal.impact.changed);
    let point = &ProposalFinding::new(&document, proposal).against.points[0];
    assert!(matches!(point.evidence, CounterEvidence::Extrapolation { changed_share: 1.0, .. }), "{point:?}");
    assert!(point.sentence.starts_with("Extrapolation: 100 % of the people who change"), "{}", point.sentence);
    let thin: Vec<&str> = found.gaps.thin.iter().map(|thin| thin.band.as_str()).collect();
    assert!(thin.contains(&"age 0–20 years") && thin.contains(&"age 80–100 years"), "{thin:?}");
}

/// Sums at the cuts that have just begun again know of nobody: that is no extrapolation.
#[test]
fn a_rule_just_changed_does_not_make_tried_options_untried() {
    let old = age_and_smoker("", &threshold(60.0));
    let wrong = old.with_rule(old.rule().with_numbers(&[30.0])).unwrap();
    let mut rng = Rng::new(4, 0);
    let rows: Vec<Row> = (0..20_000).map(|_| drawn(&mut rng)).collect();
    let mut tally = summed(&old, &rows);
    tally.follow(&wrong);
    let proposal = judged(&wrong, &tally).proposal.expect("it should be 60");
    assert!(proposal.impact.changed > 0);
    assert_eq!(proposal.impact.untried, 0);
    let against = ProposalFinding::new(&wrong, &proposal).against;
    assert!(!against.points.iter().any(|point| matches!(point.evidence, CounterEvidence::Extrapolation { .. })));
}

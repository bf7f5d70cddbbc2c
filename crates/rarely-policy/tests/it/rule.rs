//! Rules into parameters and back, by example.

mod laws;

use rarely_policy::{FieldValue, WrittenRule, difference};

use crate::support::{document, example, json, plays};

const SYSTOLIC: &str = "[[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]";
const TWO: &str = "[[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n\
                   [[features]]\ncolumn = \"diabetic\"\nlevels = [\"no\", \"yes\"]";

#[test]
fn the_example_s_rule_is_the_same_after_a_round_trip() {
    let document = example();
    let rule = document.rule();
    let parameters = rule.parameters(&document);
    assert_eq!(WrittenRule::from_parameters(&document, &parameters, rule).as_ref(), Some(rule));
    assert_eq!(rule.words(&document), ["watch below 140 mmHg", "treat from 140 mmHg"]);
    let written = r#"{"threshold":{"feature":"systolic","cuts":[140],"options":["watch","treat"]}}"#;
    assert_eq!(json(rule), written);
    assert_eq!(&serde_json::from_str::<WrittenRule>(written).unwrap(), rule);
}

/// A value equal to a cut gets the upper option, whichever of the two has the lower arm.
#[test]
fn whole_numbers_at_whole_cuts_get_the_upper_option() {
    for (low, high) in [(0, 7), (0, 100), (-50, 50), (80, 220), (1, 3), (-7, 1000), (1900, 2100), (0, 999)] {
        let features = format!("[[features]]\ncolumn = \"x\"\nrange = [{low}, {high}]");
        for cut in low..=high {
            for order in [["a", "b"], ["b", "a"]] {
                let rule = format!("threshold = {{ feature = \"x\", cuts = [{cut}], options = {order:?} }}");
                let document = document(&["a", "b", "never"], true, &features, &rule);
                let parameters = document.rule().parameters(&document);
                let back = WrittenRule::from_parameters(&document, &parameters, document.rule());
                assert_eq!(back.as_ref(), Some(document.rule()), "{low} to {high}");
                let encoder = document.encoder();
                let mut context = encoder.blank();
                for value in (cut - 2).max(low)..=(cut + 2).min(high) {
                    encoder.feature(0, FieldValue::Number(f64::from(value)), &mut context).unwrap();
                    let expected = order[usize::from(value >= cut)];
                    assert_eq!(
                        plays(&document, &parameters, &context),
                        expected,
                        "{value} at {cut} in {low} to {high}"
                    );
                }
            }
        }
    }
}

#[test]
fn tenths_at_cuts_of_scores_get_the_upper_option() {
    let features = "[[features]]\ncolumn = \"x\"\nrange = [-3.3, 17.9]\n[[features]]\ncolumn = \"y\"\nrange = [0.1, 9.7]\n\
                    [[features]]\ncolumn = \"z\"\nlevels = [\"no\", \"yes\"]";
    for order in [["a", "b"], ["b", "a"]] {
        let rule = format!(
            "score = {{ coefficients = {{ x = 0.1, y = -0.7, z = {{ yes = 0.3 }} }}, cuts = [-0.5], options = {order:?} }}"
        );
        let document = document(&["a", "b"], true, features, &rule);
        let parameters = document.rule().parameters(&document);
        let encoder = document.encoder();
        let mut context = encoder.blank();
        for x in -33..=179 {
            for y in 1..=97 {
                for (z, level) in [(0, "no"), (1, "yes")] {
                    encoder.feature(0, FieldValue::Text(&format!("{x}e-1")), &mut context).unwrap();
                    encoder.feature(1, FieldValue::Number(f64::from(y) / 10.0), &mut context).unwrap();
                    encoder.feature(2, FieldValue::Text(level), &mut context).unwrap();
                    // In hundredths, exactly.
                    let score = x - 7 * y + 30 * z;
                    assert_eq!(
                        plays(&document, &parameters, &context),
                        order[usize::from(score >= -50)],
                        "{x} {y} {z}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_score_in_words_and_its_changes() {
    let rule = "score = { coefficients = { systolic = 1.0, diabetic = { yes = 15 } }, cuts = [140], options = [\"watch\", \"treat\"] }";
    let old = document(&["watch", "treat"], true, TWO, rule);
    let words = ["score = systolic + 15 if diabetic is yes", "watch below 140", "treat from 140"];
    assert_eq!(old.rule().words(&old), words);
    assert_eq!(old.rule().numbers(), [1.0, 15.0, 140.0]);
    let new = old.with_rule(old.rule().with_numbers(&[1.0, 10.0, 131.25])).unwrap();
    let changes = ["diabetic = yes counts 10, was 15", "treat from score 131.25, was 140"];
    assert_eq!(difference((&old, old.rule()), (&new, new.rule())), changes);
}

#[test]
fn a_linear_rule_in_words() {
    let rule = "linear = { watch = { intercept = 0.3, systolic = 0.002 }, treat = { diabetic = { yes = -0.25 }, systolic = -1 } }";
    let document = document(&["watch", "treat"], true, TWO, rule);
    let words = [
        "watch scores 0.3 + 0.002 × systolic",
        "treat scores −0.25 if diabetic is yes − systolic",
        "the highest score decides; ties go to the first named",
    ];
    assert_eq!(document.rule().words(&document), words);
    let parameters = document.rule().parameters(&document);
    assert_eq!(WrittenRule::from_parameters(&document, &parameters, document.rule()).as_ref(), Some(document.rule()));
}

#[test]
fn everyone_gets_it() {
    let document = document(
        &["watch", "treat", "refer"],
        true,
        SYSTOLIC,
        "threshold = { feature = \"systolic\", cuts = [], options = [\"treat\"] }",
    );
    let parameters = document.rule().parameters(&document);
    for x in [0.0, 0.5, 1.0] {
        assert_eq!(plays(&document, &parameters, &[1.0, x]), "treat");
    }
    assert_eq!(WrittenRule::from_parameters(&document, &parameters, document.rule()).as_ref(), Some(document.rule()));
    assert_eq!(document.rule().words(&document), ["everyone gets treat"]);
}

#[test]
fn changes_of_a_threshold_and_of_a_form() {
    let old = example();
    let new = old.with_rule(old.rule().with_numbers(&[131.0])).unwrap();
    assert_eq!(difference((&old, old.rule()), (&new, new.rule())), ["treat from 131 mmHg, was 140"]);
    let score = document(
        &["watch", "treat"],
        true,
        TWO,
        "score = { coefficients = { systolic = 1 }, cuts = [], options = [\"treat\"] }",
    );
    let words = ["everyone gets treat (was: watch below 140 mmHg; treat from 140 mmHg)"];
    assert_eq!(difference((&old, old.rule()), (&score, score.rule())), words);
}

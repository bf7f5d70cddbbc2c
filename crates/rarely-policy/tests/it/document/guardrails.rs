//! Outcomes that must not get worse, and columns that are no features.

use rarely_policy::{Better, DocumentError, FieldValue, PolicyDocument};

use crate::support::{EXAMPLE, example, explained};

/// The example with more tables at its end and more keys at its top.
fn with(keys: &str, tables: &str) -> Result<PolicyDocument, DocumentError> {
    PolicyDocument::parse(&format!("{keys}\n{EXAMPLE}\n{tables}\n"), "policy.toml")
}

fn guarded(column: &str, range: &str, margin: &str) -> String {
    format!(
        "[[guardrails]]\noutcome = {{ column = \"{column}\", range = {range} }}\nworse = \"higher\"\nmargin = {margin}\n"
    )
}

fn told(keys: &str, tables: &str, expected: &str) {
    let error = with(keys, tables).expect_err(expected);
    let message = match &error {
        DocumentError::Wrong(mistake) => explained(&**mistake),
        error => explained(error),
    };
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("policy.toml, line "), "{message}");
}

#[test]
fn guardrails_are_read_in_their_good_direction() {
    let document = with("", &guarded("readmission", "[0, 1]", "0.01")).unwrap();
    let [guardrail] = document.guardrails() else { panic!("one guard-rail") };
    assert_eq!((guardrail.better, guardrail.margin), (Better::Lower, 0.01));
    assert_eq!(guardrail.good_range(), (-1.0, 0.0));
    let encoder = document.encoder();
    assert_eq!(encoder.guardrail(0, FieldValue::Text("0.25")).unwrap(), -0.25);
    assert!(encoder.guardrail(0, FieldValue::Number(2.0)).is_err());
    assert_eq!(document.only_reviewed(), Some("guard-rails"));
    assert_ne!(document.fingerprint(), example().fingerprint());
    let said = example().difference(&document);
    assert_eq!(said, ["new guard-rail: readmission must not rise by more than 0.01 per case"]);
}

#[test]
fn another_margin_shares_the_sums() {
    let [one, other] = ["0.01", "0.02"].map(|margin| with("", &guarded("readmission", "[0, 1]", margin)).unwrap());
    assert_eq!(one.fingerprint(), other.fingerprint());
    assert_eq!(one.difference(&other).len(), 2);
}

#[test]
fn fairness_columns_are_no_features() {
    let document = with("fairness = [\"sex\"]", "").unwrap();
    assert_eq!(document.log_columns().fairness, ["sex"]);
    assert_eq!(example().difference(&document), ["fairness columns sex, was none"]);
    assert_ne!(document.fingerprint(), example().fingerprint());
    told("fairness = [\"systolic\"]", "", "also that of a feature");
    told("fairness = [\"sex\", \"sex\"]", "", "named twice");
}

#[test]
fn mistakes_are_told_where_they_are() {
    told("", &guarded("systolic", "[0, 1]", "0.01"), "also that of a feature");
    told("", &guarded("wellbeing", "[0, 1]", "0.01"), "also that of the outcome");
    told("", &guarded("readmission", "[0]", "0.01"), "the range has 1 number");
    told("", &guarded("readmission", "[0, 1]", "0"), "the margin of \"readmission\" is 0");
    told("", &guarded("readmission", "[0, 1]", "1.5"), "above 0 and below 1");
    let twice = guarded("readmission", "[0, 1]", "0.01").repeat(2);
    told("", &twice, "two guard-rails");
    told("", "[[guardrails]]\noutcome = { column = \"stay\", range = [0, 9] }\nmargin = 1\n", "\"worse\" is missing");
}

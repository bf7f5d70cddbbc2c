//! Groups that may have rules of their own.

use indexmap::IndexMap;
use rarely_policy::{DocumentError, PolicyDocument, apply_groups};

use crate::support::{EXAMPLE, example, explained};

fn with(tables: &str) -> Result<PolicyDocument, DocumentError> {
    PolicyDocument::parse(&format!("{EXAMPLE}\n{tables}\n"), "policy.toml")
}

fn told(tables: &str, expected: &str) {
    let error = with(tables).expect_err(expected);
    let message = match &error {
        DocumentError::Wrong(mistake) => explained(&**mistake),
        error => explained(error),
    };
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("policy.toml, line "), "{message}");
}

const OWN: &str = "[groups]\ncolumn = \"department\"\ncuts = { cardiology = [130], surgery = [145] }\n\
                   [groups.rules]\nrenal = { linear = { watch = { intercept = 0 }, treat = { intercept = 1 } } }\n";

#[test]
fn a_group_has_its_own_cuts_or_its_own_rule() {
    let document = with(OWN).unwrap();
    assert_eq!(document.rule_of("cardiology").numbers(), [130.0]);
    assert_eq!(document.rule_of("elsewhere"), document.rule());
    assert_eq!(document.of_group("surgery").rule().numbers(), [145.0]);
    assert_eq!(document.of_group("surgery").groups(), None);
    assert_eq!(document.only_reviewed(), Some("rules by group"));
    let words = document.rule_words();
    assert_eq!(words[2], "cardiology: watch below 130 mmHg, treat from 130 mmHg");
    assert!(words[4].starts_with("renal: watch scores 0"), "{words:?}");
    // Sums do not depend on rules.
    assert_eq!(document.fingerprint(), example().fingerprint());
}

#[test]
fn groups_are_compared_in_words() {
    let (plain, one) = (example(), with("[groups]\ncolumn = \"department\"\ncuts = { cardiology = [130] }").unwrap());
    assert_eq!(plain.difference(&one), ["groups by department, was none", "cardiology: treat from 130 mmHg, was 140"]);
    let other = with("[groups]\ncolumn = \"department\"\ncuts = { cardiology = [125] }").unwrap();
    assert_eq!(one.difference(&other), ["cardiology: treat from 125 mmHg, was 130"]);
    assert!(one.difference(&one).is_empty());
}

#[test]
fn mistakes_are_told_where_they_are() {
    told("[groups]\ncolumn = \"systolic\"", "is a feature");
    told("[groups]\ncolumn = \"department\"\ncuts = { a = [130, 150] }", "has 2 cuts, the rule in force 1");
    told("[groups]\ncolumn = \"department\"\ncuts = { a = [1300] }", "1300");
    told(
        "[groups]\ncolumn = \"department\"\nrules = { a = { threshold = { feature = \"age\", cuts = [1], options = [\"watch\", \"treat\"] } } }",
        "age",
    );
    told(
        "[groups]\ncolumn = \"department\"\ncuts = { a = [130] }\nrules = { a = { linear = {} } }",
        "has both cuts and a rule",
    );
    told("[groups]\ncuts = { a = [130] }", "\"column\" is missing");
    told(
        "[control]\nbounds = { \"cut 1\" = [120, 160] }\n[groups]\ncolumn = \"d\"\ncuts = { a = [170] }",
        "outside the agreed 120 to 160",
    );
}

#[test]
fn new_rules_are_written_where_they_belong() {
    let text = format!("{EXAMPLE}\n{OWN}");
    let document = with(OWN).unwrap();
    let rules: IndexMap<String, _> = [
        // A new cut, another form than cuts can say, cuts in place of a rule, and back to the rule in force.
        ("ward".to_owned(), document.rule().with_numbers(&[150.0])),
        ("cardiology".to_owned(), document.rule_of("renal").clone()),
        ("renal".to_owned(), document.rule().with_numbers(&[120.0])),
        ("surgery".to_owned(), document.rule().clone()),
    ]
    .into_iter()
    .collect();
    let written = apply_groups(&text, "department", &rules).unwrap();
    let read = PolicyDocument::parse(&written, "policy.toml").unwrap();
    for (group, rule) in &rules {
        assert_eq!(read.rule_of(group), rule, "{written}");
    }
    assert!(!written.contains("surgery"), "{written}");
    assert!(written.contains("# the arms, in order"), "comments stay");
    assert!(apply_groups(&text, "ward", &rules).is_err());
}

//! A rule put into a document's text.

use rarely_policy::{PolicyDocument, WrittenRule, apply};

use crate::support::{EXAMPLE, RULES, example, explained};

#[test]
fn a_rule_is_put_into_the_text_and_nothing_else_changes() {
    let document = example();
    for rule in RULES {
        let rule: WrittenRule = serde_json::from_str(rule).unwrap();
        let text = apply(EXAMPLE, &rule).unwrap();
        assert_eq!(PolicyDocument::parse(&text, "policy.toml").unwrap(), document.with_rule(rule).unwrap());
        let kept = |text: &str| text.split("[rule]").next().unwrap().to_owned();
        assert_eq!(kept(&text), kept(EXAMPLE));
        assert!(text.contains("[rule]                           # the rule in force: one of three forms\n"), "{text}");
        assert!(text.ends_with("# linear = { watch = {...}, treat = {...} }\n"), "{text}");
    }
    let score: WrittenRule = serde_json::from_str(RULES[2]).unwrap();
    assert!(apply(EXAMPLE, &score).unwrap().contains(
        "\nscore = { coefficients = { systolic = 1, diabetic = { yes = 15.5 } }, cuts = [140], options = [\"watch\", \"treat\"] }\n"
    ));
}

/// Whatever way the old rule was written in.
#[test]
fn a_rule_replaces_every_way_of_writing_it() {
    let before = EXAMPLE.split("[rule]").next().unwrap();
    let ways = [
        format!(
            "rule = {{ threshold = {{ feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }} }}\n{before}"
        ),
        format!(
            "rule.threshold = {{ feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }}\n{before}"
        ),
        format!("{before}[rule.threshold]\nfeature = \"systolic\"\ncuts = [140]\noptions = [\"watch\", \"treat\"]\n"),
        format!("{before}[rule.linear]\nwatch = {{}}\ntreat = {{ systolic = 2 }}\n"),
        format!("{before}[rule]\n[rule.linear.watch]\nsystolic = 1\n[rule.linear.treat]\nsystolic = 2\n"),
        EXAMPLE
            .replace("\n[change]", "\n[rule] # early\nlinear.watch.systolic = 3\nlinear.treat = {}\n[change]")
            .split("\n[rule]        ")
            .next()
            .unwrap()
            .to_owned(),
    ];
    for text in ways {
        let document = PolicyDocument::parse(&text, "policy.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        for rule in RULES {
            let rule: WrittenRule = serde_json::from_str(rule).unwrap();
            let text = apply(&text, &rule).unwrap();
            let read = PolicyDocument::parse(&text, "policy.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read, document.with_rule(rule).unwrap(), "{text}");
            assert!(text.contains("# one-hot, first level is the reference"), "{text}");
        }
    }
}

#[test]
fn a_rule_that_does_not_fit_is_not_put_into_the_text() {
    let rule: WrittenRule = serde_json::from_str(&RULES[0].replace("131.5", "331.5")).unwrap();
    let told = explained(&apply(EXAMPLE, &rule).unwrap_err());
    insta::assert_snapshot!(told);
    assert!(apply("policy = 3", &rule).is_err());
}

#[test]
fn line_ends_stay_as_they_are() {
    let text = EXAMPLE.replace('\n', "\r\n");
    for rule in RULES {
        let rule: WrittenRule = serde_json::from_str(rule).unwrap();
        let applied = apply(&text, &rule).unwrap();
        assert_eq!(applied.matches('\n').count(), applied.matches("\r\n").count());
        assert_eq!(applied.replace("\r\n", "\n"), apply(EXAMPLE, &rule).unwrap());
    }
}

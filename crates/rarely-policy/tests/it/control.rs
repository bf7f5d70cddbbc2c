//! The plan that was agreed beforehand.

use proptest::prelude::*;
use rarely_core::Delay;
use rarely_policy::{
    Approval, Control, Digits, DocumentError, PolicyDocument, RuleBound, SignedWith, WrittenRule, apply, duration,
    schema,
};

use crate::support::{EXAMPLE, RULES, SHORTEST, example, explained};

/// All that a plan can say.
const PLAN: &str = r#"
[control]                              # the plan
approval = "two"
signatures = "token"
review_every = 250
review_after = "7 days"
minimum_days_between_changes = 30
maximum_changes = 3
proposal_expires = "2 weeks"
outcome_window = "6 weeks"
retain = "2 years"
delay = "independent"
bounds = { "cut 1" = [120, 160] }      # mmHg
"#;

const DAY: u64 = 86_400_000;

/// The example document with this plan.
fn planned(plan: &str) -> PolicyDocument {
    let text = format!("{EXAMPLE}\n{plan}");
    PolicyDocument::parse(&text, "policy.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The example document with another rule and these bounds.
fn bounded(rule: &str, bounds: &str) -> Result<PolicyDocument, DocumentError> {
    let text = apply(EXAMPLE, &serde_json::from_str(rule).unwrap()).unwrap();
    PolicyDocument::parse(&format!("{text}\n[control]\nbounds = {{ {bounds} }}\n"), "policy.toml")
}

fn rule(json: &str) -> WrittenRule {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_plan_is_read() {
    let expected = Control {
        approval: Approval::Two,
        signed_with: Some(SignedWith::Token),
        review_every: 250,
        review_after_ms: Some(7 * DAY),
        minimum_days_between_changes: 30.0,
        maximum_changes: Some(3),
        proposal_expires_ms: 14 * DAY,
        outcome_window_ms: Some(42 * DAY),
        retain_ms: Some(730 * DAY),
        delay: Delay::Independent,
        bounds: vec![RuleBound { name: "cut 1".to_owned(), low: 120.0, high: 160.0 }],
    };
    assert_eq!(*planned(PLAN).control(), expected);
}

#[test]
fn what_is_not_planned_has_a_default() {
    let expected = Control {
        approval: Approval::One,
        signed_with: None,
        review_every: 100,
        review_after_ms: None,
        minimum_days_between_changes: 0.0,
        maximum_changes: None,
        proposal_expires_ms: 30 * DAY,
        outcome_window_ms: None,
        retain_ms: None,
        delay: Delay::Any,
        bounds: Vec::new(),
    };
    assert_eq!(*example().control(), expected);
    assert_eq!(*planned("[control]\n").control(), expected);
    assert_eq!(*PolicyDocument::parse(SHORTEST, "short.toml").unwrap().control(), expected);
    assert_eq!(example().change().digits, Digits::Fewest);
    assert_eq!(example().outside_bounds(&rule(RULES[3])), Vec::<String>::new());
}

#[test]
fn names_of_approvals() {
    for (approval, name) in [(Approval::Automatic, "automatic"), (Approval::One, "one"), (Approval::Two, "two")] {
        assert_eq!((approval.name(), approval.to_string().as_str()), (name, name));
        assert_eq!(serde_json::to_value(approval).unwrap(), name);
        assert_eq!(planned(&format!("[control]\napproval = \"{name}\"")).control().approval, approval);
    }
}

/// Where a change needs a signature, a key is needed unless the document says that the token is enough.
#[test]
fn what_people_sign_with() {
    for (plan, expected) in [
        ("", SignedWith::Key),
        ("approval = \"two\"", SignedWith::Key),
        ("approval = \"automatic\"", SignedWith::Token),
        ("approval = \"automatic\"\nsignatures = \"key\"", SignedWith::Key),
        ("approval = \"two\"\nsignatures = \"token\"", SignedWith::Token),
    ] {
        let found = planned(&format!("[control]\n{plan}")).control().signatures();
        assert_eq!(found, expected, "{plan}");
        assert_eq!(serde_json::to_value(found).unwrap(), found.name());
    }
}

#[test]
fn sums_do_not_depend_on_it_and_differences_name_it() {
    let (old, new) = (example(), planned(PLAN));
    assert_eq!(new.fingerprint(), old.fingerprint());
    assert_eq!(old.differs(&new), None);
    assert!(new.difference(&new).is_empty());
    let digits =
        PolicyDocument::parse(&EXAMPLE.replace("minimum_gain = 0.0", "digits = \"all\""), "policy.toml").unwrap();
    assert_eq!(digits.change().digits, Digits::All);
    let told = [old.difference(&new), new.difference(&old), old.difference(&digits)].map(|lines| lines.join("\n"));
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn a_rule_put_into_the_text_leaves_it_alone() {
    let (before, after) = EXAMPLE.split_once("[rule]").unwrap();
    let text = format!("{before}{}\n[rule]{after}", PLAN.trim_start());
    let document = PolicyDocument::parse(&text, "policy.toml").unwrap();
    let moved = document.rule().with_numbers(&[131.5]);
    let applied = apply(&text, &moved).unwrap();
    assert!(applied.contains(PLAN.trim_start()), "{applied}");
    assert_eq!(PolicyDocument::parse(&applied, "policy.toml").unwrap(), document.with_rule(moved).unwrap());
    let beyond = apply(&text, &document.rule().with_numbers(&[172.0])).unwrap_err();
    assert_eq!(
        explained(&beyond),
        "the document's plan does not allow the rule: cut 1 would be 172, outside the agreed 120 to 160\n  help: agree on other \
         bounds under [control] first"
    );
}

#[test]
fn bounds_of_a_threshold() {
    let document = planned("[control]\nbounds = { \"cut 1\" = [120, 160] }");
    let told = |json: &str| document.outside_bounds(&rule(json)).join("; ");
    let threshold = |cuts: &str, options: &str| {
        told(&format!("{{\"threshold\": {{\"feature\": \"systolic\", \"cuts\": {cuts}, \"options\": {options}}}}}"))
    };
    let ends = [("[120]", ""), ("[160]", ""), ("[119.5]", "cut 1 would be 119.5, outside the agreed 120 to 160")];
    for (cuts, expected) in ends {
        assert_eq!(threshold(cuts, "[\"watch\", \"treat\"]"), expected);
    }
    assert_eq!(threshold("[]", "[\"treat\"]"), "the plan bounds cut 1, which the proposed rule does not have");
    assert_eq!(
        threshold("[140]", "[\"treat\", \"watch\"]"),
        "the plan bounds cut 1 between watch and treat, but in the proposed rule it is between treat and watch"
    );
    assert_eq!(told(RULES[2]), "the plan bounds cut 1 of a threshold on systolic, but the proposed rule is a score");
    assert_eq!(told(RULES[3]), "the plan bounds cut 1, which the proposed rule does not have");
}

#[test]
fn bounds_of_scores_and_of_every_cut() {
    let text = EXAMPLE.replace("[\"watch\", \"treat\"]  ", "[\"watch\", \"treat\", \"refer\"]  ").replace(
        "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = 1 }, cuts = [140, 180], options = [\"watch\", \"treat\", \"refer\"] }",
    );
    let text = format!("{text}\n[control]\nbounds = {{ cut = [120, 190], \"diabetic = yes\" = [-5, 20] }}\n");
    let document = PolicyDocument::parse(&text, "policy.toml").unwrap();
    let score = |coefficients: &str, cuts: &str| {
        let options = if cuts.contains(',') { r#"["watch", "treat", "refer"]"# } else { r#"["watch", "treat"]"# };
        let json =
            format!("{{\"score\": {{\"coefficients\": {coefficients}, \"cuts\": {cuts}, \"options\": {options}}}}}");
        document.outside_bounds(&rule(&json)).join("; ")
    };
    assert_eq!(score(r#"{"systolic": 1, "diabetic": {"yes": 20}}"#, "[120, 190]"), "");
    assert_eq!(
        score(r#"{"diabetic": {"yes": -6}}"#, "[110, 200]"),
        "cut 1 would be 110, outside the agreed 120 to 190; cut 2 would be 200, outside the agreed 120 to 190; diabetic = yes would \
         be −6, outside the agreed −5 to 20"
    );
    assert_eq!(score(r#"{"systolic": 1}"#, "[150]"), "the plan bounds cut 2, which the proposed rule does not have");
}

#[test]
fn a_coefficient_that_is_not_named_is_nothing() {
    let document =
        bounded(RULES[3], r#""treat: diabetic = yes" = [-2, -0.5], "watch: diabetic = yes" = [0, 1]"#).unwrap();
    let told = |json: &str| document.outside_bounds(&rule(json)).join("; ");
    assert_eq!(told(RULES[3]), "");
    assert_eq!(
        told(r#"{"linear": {"watch": {"diabetic": {"yes": 3}}, "treat": {}}}"#),
        "treat: diabetic = yes would be 0, outside the agreed −2 to −0.5; watch: diabetic = yes would be 3, outside the agreed 0 to 1"
    );
    assert_eq!(
        told(RULES[0]),
        "the plan bounds treat: diabetic = yes of a linear rule, but the proposed rule is a threshold on systolic; the plan bounds \
         watch: diabetic = yes of a linear rule, but the proposed rule is a threshold on systolic"
    );
    let unnamed = bounded(RULES[3], r#""watch: diabetic = yes" = [0.5, 1]"#).unwrap_err().to_string();
    assert!(unnamed.contains("watch: diabetic = yes of the rule in force is 0, outside 0.5 to 1"), "{unnamed}");
}

#[test]
fn numbers_have_names_in_their_order() {
    let names = |json: &str| -> Vec<String> {
        let rule = rule(json);
        let (names, numbers): (Vec<String>, Vec<f64>) = rule.named_numbers().into_iter().unzip();
        assert_eq!(numbers, rule.numbers());
        names
    };
    assert_eq!(names(RULES[0]), ["cut 1"]);
    assert_eq!(names(RULES[2]), ["systolic", "diabetic = yes", "cut 1"]);
    assert_eq!(names(RULES[3]), ["watch: intercept", "watch: systolic", "treat: diabetic = yes"]);
}

#[test]
fn plans_that_are_wrong() {
    let told = |plan: &str| match PolicyDocument::parse(&format!("{EXAMPLE}\n{plan}\n"), "policy.toml") {
        Ok(_) => panic!("accepted: {plan}"),
        Err(DocumentError::Wrong(mistake)) => format!("{plan}\n  {}\n  found {}", explained(&*mistake), mistake.found),
        Err(error) => explained(&error),
    };
    let mut lines = vec![told("[control]\naproval = \"one\"")];
    for line in [
        "approval = \"three\"",
        "approval = 2",
        "signatures = \"paper\"",
        "signatures = true",
        "review_every = 0",
        "review_every = -1",
        "review_every = 1.5",
        "review_after = 7",
        "review_after = \"7\"",
        "review_after = \"soon\"",
        "review_after = \"7 dasy\"",
        "review_after = \"7 months\"",
        "review_after = \"0 days\"",
        "proposal_expires = \"-3 days\"",
        "proposal_expires = \"nan days\"",
        "proposal_expires = \"1e9 weeks\"",
        "outcome_window = \"1e-9 seconds\"",
        "minimum_days_between_changes = -1",
        "minimum_days_between_changes = inf",
        "maximum_changes = -1",
        "bounds = { \"cut 2\" = [120, 160] }",
        "bounds = { systolic = [120, 160] }",
        "bounds = { cut = [120] }",
        "bounds = { cut = [160, 120] }",
        "bounds = { cut = [120, inf] }",
        "bounds = { cut = 140 }",
        "bounds = { \"cut 1\" = [150, 160] }",
        "bounds = [120, 160]",
    ] {
        lines.push(told(&format!("[control]\n{line}")));
    }
    let digits = EXAMPLE.replace("minimum_gain = 0.0", "digits = \"al\"");
    lines.push(explained(&PolicyDocument::parse(&digits, "policy.toml").unwrap_err()));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_schema_knows_it() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let valid = |plan: &str| {
        let json: serde_json::Value = toml_edit::de::from_str(&format!("{EXAMPLE}\n{plan}")).unwrap();
        validator.is_valid(&json)
    };
    assert!(valid(PLAN) && valid("[control]") && valid("[control]\nreview_after = \"1.5 hours\""));
    for line in [
        "approval = \"three\"",
        "signatures = \"paper\"",
        "review_every = 0",
        "review_after = \"soon\"",
        "proposal_expires = 30",
        "minimum_days_between_changes = -1",
        "maximum_changes = -1",
        "bounds = { cut = [120] }",
        "share = 0.1",
    ] {
        assert!(!valid(&format!("[control]\n{line}")), "{line}");
    }
}

proptest! {
    /// What is said in words is read back.
    #[test]
    fn times_in_words_are_the_times(milliseconds in 1_u64..=36_525 * DAY, unit in 0..5_usize, whole: bool) {
        let size = [1000, 60_000, 3_600_000, DAY, 7 * DAY][unit];
        let milliseconds = if whole { (milliseconds / size * size).max(size) } else { milliseconds };
        prop_assert_eq!(duration::read(&duration::words(milliseconds)), Some(milliseconds));
    }
}

#[test]
fn times() {
    for (text, expected) in [
        ("1 second", Some(1000)),
        ("90 seconds", Some(90_000)),
        (" 1  day ", Some(DAY)),
        ("0.5 minutes", Some(30_000)),
        ("36525 days", Some(36_525 * DAY)),
        ("36526 days", None),
        ("7days", None),
        ("7 Days", None),
        ("7 days ago", None),
        ("", None),
    ] {
        assert_eq!(duration::read(text), expected, "{text}");
    }
    assert_eq!(duration::words(42 * DAY), "6 weeks");
    assert_eq!(duration::words(36 * 3_600_000), "36 hours");
}

//! What documents and values that are wrong are told.

use proptest::prelude::*;
use rarely_policy::{DocumentError, Encoder, FieldValue, PolicyDocument};

use crate::support::{EXAMPLE, example, explained};

/// What the example is told with one piece of it replaced.
fn told(old: &str, new: &str) -> String {
    assert_eq!(EXAMPLE.matches(old).count(), 1, "{old}");
    told_of(&EXAMPLE.replace(old, new))
}

fn told_of(text: &str) -> String {
    match PolicyDocument::parse(text, "policy.toml") {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(DocumentError::Wrong(mistake)) => format!("{}\n  found {}", explained(&*mistake), mistake.found),
        Err(error) => explained(&error),
    }
}

fn all(variants: &[(&str, &str)]) -> String {
    let told: Vec<String> = variants.iter().map(|(old, new)| format!("{old} → {new}\n  {}", told(old, new))).collect();
    told.join("\n")
}

#[test]
fn syntax_and_types() {
    insta::assert_snapshot!(all(&[
        ("[\"watch\", \"treat\"]                 #", "[\"watch\", \"treat\" #"),
        ("unit   =", "unit   "),
        ("noise = 0.1", "noise = 0.1.2"),
        ("penalty = 0.01 ", "penalty = 0.01\npenalty = 0.02 "),
        ("penalty = 0.01 ", "penalty = \"small\" "),
        ("noise = 0.1", "noise = \"bound\""),
        ("norm_bound = 5.0", "norm_bound = [5]"),
        ("intercept = true", "intercept = 1"),
        ("options  = [\"watch\", \"treat\"]  ", "options = \"watch\""),
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\", 2]"),
        ("levels = [\"no\", \"yes\"]", "levels = [0, 1]"),
        ("range  = [80, 220]", "range = \"80-220\""),
        ("range = [0.0, 1.0] }", "range = [0.0, 1.0], better = \"highest\" }"),
    ]));
}

#[test]
fn keys() {
    insta::assert_snapshot!(all(&[
        ("options  = [\"watch\", \"treat\"]  ", "optoins  = [\"watch\", \"treat\"]  "),
        ("intercept = true", "control = true"),
        ("intercept = true", "[control]\nshare = 0.1"),
        ("unit   =", "units  ="),
        ("error_probability =", "error_probabilty ="),
        ("explore =", "exploration ="),
        ("column = \"wellbeing\", ", ""),
        ("policy   = \"hypertension-treatment\"", ""),
        ("feature = \"systolic\", ", ""),
        ("threshold = {", "treshold = {"),
        ("cuts = [140], options = [\"watch\", \"treat\"] }", "cut = [140], options = [\"watch\", \"treat\"] }"),
        (
            "# score = { coefficients = { systolic = 1.0, diabetic = { yes = 15 } }, cuts = [140], options = [...] }",
            "score = { coefficients = {}, cuts = [], options = [\"treat\"] }"
        ),
        ("threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }", ""),
    ]));
}

#[test]
fn meaning() {
    insta::assert_snapshot!(all(&[
        ("policy   = \"hypertension-treatment\"", "policy = \" \""),
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\"]"),
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\", \"treat\", \"watch\"]"),
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\", \"treat\", \"\"]"),
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\", \"treat\", \"refer \"]"),
        ("intercept = true", "option_column = \"wellbeing\""),
        ("intercept = true", "option_column = \"diabetic\""),
        ("intercept = true", "option_column = \"\""),
        ("column = \"diabetic\"", "column = \"wellbeing\""),
        ("column = \"diabetic\"", "column = \"systolic\""),
        ("column = \"diabetic\"", "column = \"intercept\""),
        ("column = \"wellbeing\", range = [0.0, 1.0]", "column = \"wellbeing\", range = [1.0, 0.0]"),
        ("column = \"wellbeing\", range = [0.0, 1.0]", "column = \"wellbeing\", range = [0.0, inf]"),
        ("range  = [80, 220]", "range = [80]"),
        ("range  = [80, 220]", "range = [80, 220, 300]"),
        ("range  = [80, 220]", "range = [80, nan]"),
        ("range  = [80, 220]", "range = [220, 80]"),
        ("range  = [80, 220]", "range = [1e12, 1e12]"),
        ("range  = [80, 220]", "range = [1700000000, 1700000001]"),
        ("range  = [80, 220]", "range = [80, 220]\nlevels = [\"low\", \"high\"]"),
        ("range  = [80, 220]", ""),
        ("levels = [\"no\", \"yes\"]", "levels = [\"no\"]"),
        ("levels = [\"no\", \"yes\"]", "levels = [\"no\", \"no\"]"),
        ("levels = [\"no\", \"yes\"]", "levels = [\"no\", \"yes\"]\nunit = \"x\""),
    ]));
}

#[test]
fn assumptions() {
    insta::assert_snapshot!(all(&[
        ("noise = 0.1", "noise = 0"),
        ("noise = 0.1", "noise = nan"),
        ("norm_bound = 5.0", "norm_bound = -1"),
        ("penalty = 0.01 ", "penalty = 0 "),
        ("error_probability = 0.001", "error_probability = 1"),
        ("algorithm = \"boundary-conservative\"", "algorithm = \"boundary-conservativ\""),
        ("algorithm = \"boundary-conservative\"", "algorithm = \"linucb\""),
        ("minimum_gain = 0.0", "minimum_gain = -0.5"),
        ("minimum_gain = 0.0", "tolerance = 2"),
        ("minimum_gain = 0.0", "excluded_share = -0.1"),
        ("explore = \"none\"", "explore = \"equipoise\""),
        ("explore = \"none\"", "explore = \"equipoise:3\""),
    ]));
}

const THRESHOLD: &str = "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }";

fn rules(rules: &[&str]) -> String {
    all(&rules.iter().map(|rule| (THRESHOLD, *rule)).collect::<Vec<_>>())
}

#[test]
fn thresholds_and_scores() {
    insta::assert_snapshot!(rules(&[
        "threshold = { feature = \"sistolic\", cuts = [140], options = [\"watch\", \"treat\"] }",
        "threshold = { feature = \"diabetic\", cuts = [140], options = [\"watch\", \"treat\"] }",
        "threshold = { feature = \"systolic\", cuts = [230], options = [\"watch\", \"treat\"] }",
        "threshold = { feature = \"systolic\", cuts = [nan], options = [\"watch\", \"treat\"] }",
        "threshold = { feature = \"systolic\", cuts = [140, 140], options = [\"watch\", \"treat\"] }",
        "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\"] }",
        "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"watch\"] }",
        "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"teat\"] }",
        "threshold = { feature = \"systolic\", cuts = [], options = [] }",
        "score = { coefficients = { weight = 1 }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = { yes = 1 } }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { diabetic = 1 }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { diabetic = { maybe = 1 } }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { diabetic = { no = 1 } }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = 0 }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = inf }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = 1e12 }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { intercept = 1 }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = \"1\" }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "linear = { watch = {} }",
        "linear = { watch = {}, treat = {}, refer = {} }",
        "linear = { watch = { intercept = { yes = 1 } }, treat = {} }",
        "linear = { watch = { sistolic = 1 }, treat = {} }",
        "linear = 3",
    ]));
}

#[test]
fn without_an_intercept() {
    let text = EXAMPLE.replace("intercept = true", "intercept = false");
    let linear = text.replace(THRESHOLD, "linear = { watch = {}, treat = { systolic = 1 } }");
    insta::assert_snapshot!([told_of(&text), told_of(&linear)].join("\n"));
    let balanced = text.replace(THRESHOLD, "linear = { watch = {}, treat = { intercept = -80, systolic = 1 } }");
    assert!(PolicyDocument::parse(&balanced, "policy.toml").is_ok());
}

#[test]
fn files() {
    let folder = std::env::temp_dir();
    let missing = explained(&PolicyDocument::read(&folder.join("no such policy.toml")).unwrap_err());
    let expected = "no such policy.toml cannot be read\n  help: check the path and the permissions of the file";
    assert!(missing.ends_with(expected), "{missing}");
    let path = folder.join(format!("rarely-policy-not-text-{}.toml", std::process::id()));
    std::fs::write(&path, b"policy = \"a\"\noptions = [\"\xff\"]\n").unwrap();
    let told = explained(&PolicyDocument::read(&path).unwrap_err());
    std::fs::remove_file(&path).unwrap();
    assert!(told.ends_with(", line 2: the file is not UTF-8 text\n  help: save the file as UTF-8"), "{told}");
}

#[test]
fn values() {
    let encoder = example().encoder();
    let mut context = encoder.blank();
    let mut told = Vec::new();
    for value in [
        FieldValue::Missing,
        FieldValue::Text(""),
        FieldValue::Text("  "),
        FieldValue::Text("n/a"),
        FieldValue::Text("nan"),
        FieldValue::Text("1e999"),
        FieldValue::Text("a very long text that does not belong into a column of numbers at all"),
        FieldValue::Number(f64::NAN),
        FieldValue::Number(f64::INFINITY),
        FieldValue::Number(240.5),
        FieldValue::Text("79.9"),
    ] {
        told.push(explained(&encoder.feature(0, value, &mut context).unwrap_err()));
    }
    for value in [
        FieldValue::Missing,
        FieldValue::Text("Yes"),
        FieldValue::Text("jes"),
        FieldValue::Text("unknown"),
        FieldValue::Number(1.0),
    ] {
        told.push(explained(&encoder.feature(1, value, &mut context).unwrap_err()));
    }
    for value in
        [FieldValue::Text(" "), FieldValue::Text("traet"), FieldValue::Text("surgery"), FieldValue::Number(0.5)]
    {
        told.push(explained(&encoder.option(value).unwrap_err()));
    }
    for value in [FieldValue::Missing, FieldValue::Text("good"), FieldValue::Number(1.5)] {
        told.push(explained(&encoder.outcome(value).unwrap_err()));
    }
    for value in [FieldValue::Missing, FieldValue::Text("0"), FieldValue::Number(1.5), FieldValue::Text("x")] {
        told.push(explained(&Encoder::propensity(value).unwrap_err()));
    }
    assert_eq!(context, encoder.blank(), "a wrong value changes nothing");
    insta::assert_snapshot!(told.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Damaged documents are refused or read, and every complaint has a place in the text.
    #[test]
    fn nothing_that_is_written_makes_the_parser_panic(
        (start, length) in (0.0..1.0_f64, 0..40_usize),
        piece in prop_oneof![any::<String>(), "[\\[\\]{}=,.\"\n0-9a-z#-]{0,12}", Just("nan".to_owned()), Just("[rule.linear]".to_owned())],
    ) {
        let characters: Vec<char> = EXAMPLE.chars().collect();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let start = (start * characters.len() as f64) as usize;
        let end = (start + length).min(characters.len());
        let text: String = characters[..start].iter().copied().chain(piece.chars()).chain(characters[end..].iter().copied()).collect();
        match PolicyDocument::parse(&text, "policy.toml") {
            Ok(document) => {
                document.settings().unwrap().build().unwrap();
                prop_assert!(!document.rule().words(&document).is_empty());
            }
            Err(DocumentError::Wrong(mistake)) => {
                prop_assert!(mistake.line >= 1 && mistake.column >= 1 && mistake.line <= text.matches('\n').count() + 1);
                prop_assert!(!mistake.problem.is_empty() && !mistake.remedy.is_empty());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}

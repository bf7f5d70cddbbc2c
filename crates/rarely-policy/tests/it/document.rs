//! Documents: defaults, what is worked out, comparison.

mod groups;
mod guardrails;
mod log_columns;
mod mistakes;

use std::fmt::Write as _;

use proptest::prelude::*;
use rarely_core::{Algorithm, Arm, Shape};
use rarely_policy::{DecimalMark, FieldSeparator, FieldValue, PolicyDocument, TextEncoding};

use crate::support::{EXAMPLE, SHORTEST, document, example};

#[test]
fn the_example_s_example() {
    let document = example();
    assert_eq!(document.shape(), Shape::new(2, 3).unwrap());
    assert_eq!((document.noise(), document.norm_bound()), (Some(0.1), Some(5.0)));
    assert_eq!(document.norm_bound_reason(), "as written in the policy document");
    assert_eq!(document.change().algorithm, Algorithm::BoundaryConservative);
    let policy = document.settings().unwrap().build().unwrap();
    assert_eq!(policy.shape(), document.shape());
}

#[test]
fn what_is_not_written_has_a_default() {
    let document = PolicyDocument::parse(SHORTEST, "short.toml").unwrap();
    assert_eq!(document.option_column(), "option");
    assert!(document.has_intercept());
    assert_eq!((document.noise(), document.evidence().penalty), (Some(2.0), 0.01));
    assert_eq!(document.norm_bound(), Some(18.0_f64.sqrt()));
    let confidence = document.settings().unwrap().confidence();
    assert_eq!(confidence.error_probability.get(), 0.001);
}

#[test]
fn the_norm_bound_says_where_it_comes_from() {
    let text = EXAMPLE.replace("norm_bound = 5.0", "").replace("\"no\", \"yes\"", "\"no\", \"yes\", \"unknown\"");
    let document = PolicyDocument::parse(&text, "policy.toml").unwrap();
    assert_eq!(document.norm_bound(), Some(6.0_f64.sqrt()));
    insta::assert_snapshot!(document.norm_bound_reason());
}

proptest! {
    /// Linear functions that stay within the outcome's range over all people are never longer than the bound.
    #[test]
    fn the_automatic_norm_bound_holds(
        numbers in 0..4_usize,
        levels in prop::collection::vec(2..6_usize, 0..3),
        draws in prop::collection::vec(-1.0..1.0_f64, 40),
        (low, width) in (-10.0..10.0_f64, 0.1..20.0_f64),
        arms in 2..4_usize,
        concentrated in any::<bool>(),
    ) {
        let mut features = String::new();
        for number in 0..numbers {
            write!(features, "[[features]]\ncolumn = \"n{number}\"\nrange = [0, 1]\n").unwrap();
        }
        for (at, count) in levels.iter().enumerate() {
            let names: Vec<String> = (0..*count).map(|level| level.to_string()).collect();
            write!(features, "[[features]]\ncolumn = \"l{at}\"\nlevels = {names:?}\n").unwrap();
        }
        let text = format!(
            "policy = \"p\"\noptions = {:?}\noutcome = {{ column = \"y\", range = [{low:?}, {:?}] }}\n{features}\
             [rule]\nscore = {{ coefficients = {{}}, cuts = [], options = [\"a\"] }}",
            &["a", "b", "c"][..arms], low + width,
        );
        let document = PolicyDocument::parse(&text, "test.toml").unwrap();
        let mut draws = draws.into_iter().cycle();
        let mut squared = 0.0;
        for _ in 0..arms {
            // A direction, stretched until its spread over the box is the whole range, then shifted into it.
            let mut own: Vec<Vec<f64>> = Vec::new();
            for count in (0..numbers).map(|_| 1).chain(levels.iter().map(|count| count - 1)) {
                let draw = draws.next().unwrap();
                own.push((0..count).map(|_| if concentrated { draw } else { draws.next().unwrap() }).collect());
            }
            if concentrated && !own.is_empty() {
                // The worst case: one feature takes the whole range.
                let chosen = own.len() - 1;
                own.iter_mut().take(chosen).for_each(|feature| feature.fill(0.0));
            }
            let most = |feature: &Vec<f64>| feature.iter().copied().fold(0.0, f64::max);
            let least = |feature: &Vec<f64>| feature.iter().copied().fold(0.0, f64::min);
            let spread: f64 = own.iter().map(|feature| most(feature) - least(feature)).sum();
            let stretch = if spread > 0.0 { width / spread } else { 0.0 };
            let below: f64 = own.iter().map(least).sum::<f64>() * stretch;
            let constant = low - below;
            squared += constant * constant + own.iter().flatten().map(|slope| (slope * stretch).powi(2)).sum::<f64>();
        }
        let bound = document.norm_bound().expect("the outcome has a range");
        prop_assert!(squared.sqrt() <= bound * (1.0 + 1e-12), "{} {bound}", squared.sqrt());
    }
}

#[test]
fn fingerprints_are_of_what_sums_depend_on() {
    let old = example();
    assert_eq!(old.fingerprint().len(), 64);
    for (from, to) in [
        ("cuts = [140]", "cuts = [131]"),
        ("noise = 0.1", "noise = 0.2"),
        ("\"none\" ", "\"pilot:6\" "),
        ("hypertension", "h"),
    ] {
        let other = PolicyDocument::parse(&EXAMPLE.replace(from, to), "policy.toml").unwrap();
        assert_eq!(other.fingerprint(), old.fingerprint(), "{to}");
        assert_eq!(old.differs(&other), None);
        assert_eq!(old.difference(&other).len(), 1, "{to}");
    }
    let mut told = Vec::new();
    for (from, to) in [
        ("\"treat\"]   ", "\"treat\", \"refer\"]   "),
        ("column = \"wellbeing\"", "column = \"health\""),
        ("range = [0.0, 1.0]", "range = [0.0, 2.0]"),
        ("range = [0.0, 1.0]", "better = \"lower\", range = [0.0, 1.0]"),
        ("[80, 220]", "[80, 200]"),
        ("mmHg", "kPa"),
        ("\"no\", \"yes\"", "\"yes\", \"no\""),
        ("\"no\", \"yes\"", "\"no\", \"yes\", \"unknown\""),
        ("column = \"diabetic\"", "column = \"smoker\""),
        ("levels = [\"no\", \"yes\"]", "range = [0, 1]"),
        ("penalty = 0.01 ", "penalty = 0.1 "),
    ] {
        let other = PolicyDocument::parse(&EXAMPLE.replace(from, to), "policy.toml").unwrap();
        assert_ne!(other.fingerprint(), old.fingerprint(), "{to}");
        told.push(old.differs(&other).unwrap());
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_changed_between_two_documents() {
    let old = example();
    let mut text = EXAMPLE.to_owned();
    for (from, to) in [
        ("cuts = [140]", "cuts = [131.25]"),
        ("noise = 0.1", "noise = \"bounded\""),
        ("error_probability = 0.001", "error_probability = 0.05"),
        ("\"none\" ", "\"pilot:6+equipoise:0.02\" "),
        ("boundary-conservative", "certified"),
        ("minimum_gain = 0.0", "minimum_gain = 0.5\nexcluded_share = 0.2"),
        ("[80, 220]", "[80, 240]"),
        ("intercept = true", "option_column = \"given\""),
    ] {
        text = text.replace(from, to);
    }
    let new = PolicyDocument::parse(&text, "policy.toml").unwrap();
    insta::assert_snapshot!(old.difference(&new).join("\n"));
    assert!(old.difference(&old).is_empty());
}

#[test]
fn coefficients_in_the_owner_s_units() {
    let document = document(
        &["watch", "treat"],
        true,
        "[[features]]\ncolumn = \"systolic\"\nrange = [80, 220]\n[[features]]\ncolumn = \"diabetic\"\nlevels = [\"no\", \"yes\"]",
        "linear = { watch = { intercept = 0.3, systolic = 0.002 }, treat = { diabetic = { yes = -0.25 } } }",
    );
    let raw = document.raw_coefficients(&document.rule().parameters(&document));
    let named = |numbers: [f64; 3]| -> Vec<(String, f64)> {
        ["intercept", "systolic", "diabetic = yes"].map(str::to_owned).into_iter().zip(numbers).collect()
    };
    assert_eq!(raw, [named([0.3, 0.002, 0.0]), named([0.0, 0.0, -0.25])]);
}

/// Labels stand wherever an option is shown, codes only in the data; sums do not depend on labels.
#[test]
fn labels_stand_for_codes() {
    let text = r#"
policy = "survey"
options = ["0", "1"]
outcome = { column = "answered", range = [0, 1] }
[[features]]
column = "age"
range = [18, 80]
[evidence]
propensities = { "0" = "p0", "1" = "p1" }
[change]
cost = { "1" = 0.1 }
[rule]
threshold = { feature = "age", cuts = [40], options = ["0", "1"] }
"#;
    let coded = PolicyDocument::parse(text, "survey.toml").unwrap();
    let labels = "options = [\"0\", \"1\"]\nlabels = { \"0\" = \"no incentive\", \"1\" = \"incentive\" }";
    let labelled = text.replacen("options = [\"0\", \"1\"]", labels, 1);
    let document = PolicyDocument::parse(&labelled, "survey.toml").unwrap();
    assert_eq!(document.options(), ["no incentive", "incentive"]);
    assert_eq!(document.option_codes(), ["0", "1"]);
    assert_eq!(document.rule().words(&document), ["no incentive below 40", "incentive from 40"]);
    assert_eq!(document.log_columns().propensities, ["p0", "p1"]);
    assert_eq!(document.limits().costs(), [0.0, 0.1]);
    for value in ["1", "1.0", "TRUE", "incentive"] {
        assert_eq!(document.encoder().option(FieldValue::Text(value)), Ok(Arm::new(1)), "{value}");
    }
    assert_eq!(document.fingerprint(), coded.fingerprint());
    let rule = document.rule().with_numbers(&[50.0]);
    let applied = rarely_policy::apply(&labelled, &rule).unwrap();
    assert_eq!(PolicyDocument::parse(&applied, "survey.toml").unwrap().rule(), &rule);
    for (labels, problem) in [
        ("{ \"2\" = \"x\" }", "\"2\" is labelled, but is not an option"),
        ("{ \"0\" = \"1\" }", "the label \"1\" is that of two options, or another option's name"),
        ("{ \"0\" = \" \" }", "an option without a name"),
    ] {
        let wrong = text.replacen("option", &format!("labels = {labels}\noption"), 1);
        let error = PolicyDocument::parse(&wrong, "survey.toml").unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
    let twice = text.replacen("options = [\"0\"", "options = [\"1.0\"", 1);
    let error = PolicyDocument::parse(&twice, "survey.toml").unwrap_err().to_string();
    assert!(error.ends_with("the options \"1.0\" and \"1\" are one code, written in two ways"), "{error}");
}

#[test]
fn how_files_are_written() {
    let format = |table: &str| {
        PolicyDocument::parse(&format!("{EXAMPLE}\n[data]\n{table}"), "policy.toml")
            .map(|document| document.data_format().clone())
    };
    let found = format("separator = \"tab\"\ndecimal = \",\"\nencoding = \"latin-1\"\nsheet = \"Cases\"").unwrap();
    assert_eq!(found.separator, Some(FieldSeparator::TAB));
    assert_eq!((found.decimal, found.encoding), (Some(DecimalMark::Comma), Some(TextEncoding::Windows1252)));
    assert_eq!(
        PolicyDocument::parse(&format!("{EXAMPLE}{}", found.table()), "policy.toml").unwrap().data_format(),
        &found
    );
    for (table, problem) in [
        ("separator = \"ab\"", "the separator is \"ab\""),
        ("decimal = \"x\"", "the decimal is \"x\""),
        ("encoding = \"ebcdic\"", "the encoding is \"ebcdic\""),
    ] {
        let error = format(table).unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
}

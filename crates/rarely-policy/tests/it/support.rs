//! Documents and people for the tests.

use proptest::prelude::*;
use rarely_core::{Context, Parameters, Rule};
use rarely_error::Explain;
use rarely_policy::{FeatureKind, PolicyDocument, WrittenRule};

/// The example document.
pub(crate) const EXAMPLE: &str = include_str!("example.toml");

/// As little as a document can say.
pub(crate) const SHORTEST: &str = r#"
policy = "short"
options = ["a", "b"]
outcome = { column = "y", range = [-3, 1] }
rule = { score = { coefficients = {}, cuts = [], options = ["b"] } }
"#;

/// Rules for the example document, as JSON.
pub(crate) const RULES: [&str; 4] = [
    r#"{"threshold": {"feature": "systolic", "cuts": [131.5], "options": ["treat", "watch"]}}"#,
    r#"{"threshold": {"feature": "systolic", "cuts": [], "options": ["treat"]}}"#,
    r#"{"score": {"coefficients": {"systolic": 1, "diabetic": {"yes": 15.5}}, "cuts": [140], "options": ["watch", "treat"]}}"#,
    r#"{"linear": {"watch": {"intercept": 0.3, "systolic": 1e-20}, "treat": {"diabetic": {"yes": -1}}}}"#,
];

/// The document of the example, read.
pub(crate) fn example() -> PolicyDocument {
    PolicyDocument::parse(EXAMPLE, "policy.toml").expect("the example")
}

/// A document with these features and this rule.
pub(crate) fn document(options: &[&str], intercept: bool, features: &str, rule: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"test\"\noptions = {options:?}\noutcome = {{ column = \"result\", range = [0, 1] }}\n\
         intercept = {intercept}\n{features}\n[rule]\n{rule}\n"
    );
    PolicyDocument::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// An error as a front end prints it.
pub(crate) fn explained(error: &impl Explain) -> String {
    match error.remedy() {
        Some(remedy) => format!("{error}\n  help: {remedy}"),
        None => error.to_string(),
    }
}

/// The option that parameters play.
pub(crate) fn plays(document: &PolicyDocument, parameters: &Parameters, context: &[f64]) -> String {
    let arm = Rule::new(parameters.clone()).choose(Context::new(context).expect("a context")).expect("a shape");
    document.options()[arm.index()].clone()
}

/// By how much the best option leads the second best.
pub(crate) fn lead(parameters: &Parameters, context: &[f64]) -> f64 {
    let mut scores: Vec<f64> =
        parameters.iter().map(|vector| vector.iter().zip(context).map(|(a, b)| a * b).sum()).collect();
    scores.sort_by(f64::total_cmp);
    scores[scores.len() - 1] - scores[scores.len() - 2]
}

/// The context of a person drawn from uniform numbers.
pub(crate) fn person(document: &PolicyDocument, draws: &[f64]) -> Vec<f64> {
    let mut context = document.encoder().blank();
    for (index, feature) in document.features().iter().enumerate() {
        let (at, draw) = (document.offset(index), draws[index % draws.len()]);
        match &feature.kind {
            FeatureKind::Numeric { .. } => context[at] = draw,
            FeatureKind::Levels(levels) => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let level = (draw * levels.len() as f64) as usize;
                if level > 0 {
                    context[at + level.min(levels.len() - 1) - 1] = 1.0;
                }
            }
        }
    }
    context
}

/// A rule as its JSON.
pub(crate) fn json(rule: &WrittenRule) -> String {
    serde_json::to_string(rule).expect("a rule is plain data")
}

/// Decimals of at most `digits` significant digits and a size of about 1 to 10⁴.
pub(crate) fn decimal(digits: u32) -> impl Strategy<Value = f64> {
    let most = 10_i64.pow(digits);
    (-most..=most, 0..=digits).prop_map(move |(mantissa, places)| {
        let places = places.max(digits.saturating_sub(4));
        format!("{mantissa}e-{places}").parse().expect("a number")
    })
}

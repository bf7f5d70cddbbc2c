//! The JSON Schema, asked by an independent validator.

use rarely_policy::{apply, schema};

use crate::support::{EXAMPLE, RULES, SHORTEST};

#[test]
fn the_schema_accepts_what_the_parser_accepts() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let json = |text: &str| -> serde_json::Value { toml_edit::de::from_str(text).unwrap() };
    for text in [EXAMPLE, SHORTEST] {
        let errors: Vec<String> = validator.iter_errors(&json(text)).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    for rule in RULES {
        let text = apply(EXAMPLE, &serde_json::from_str(rule).unwrap()).unwrap();
        assert!(validator.is_valid(&json(&text)), "{text}");
    }
    for (from, to) in [
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\"]"),
        ("options  = [\"watch\", \"treat\"]  ", "options = [\"watch\", \"watch\"]"),
        ("intercept = true", "intercpt = true"),
        ("intercept = true", "intercept = 1"),
        ("range  = [80, 220]", "range = [80]"),
        ("range  = [80, 220]", ""),
        ("range  = [80, 220]", "range = [80, 220]\nlevels = [\"a\", \"b\"]"),
        ("levels = [\"no\", \"yes\"]", "levels = [\"no\"]"),
        ("noise = 0.1", "noise = \"bound\""),
        ("norm_bound = 5.0", "norm_bound = \"bounded\""),
        ("boundary-conservative", "linucb"),
        ("threshold =", "treshold ="),
        ("cuts = [140]", "cuts = 140"),
        ("# linear = { watch = {...}, treat = {...} }", "linear = { watch = {}, treat = {} }"),
    ] {
        assert!(!validator.is_valid(&json(&EXAMPLE.replace(from, to))), "{to}");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&schema).unwrap());
}

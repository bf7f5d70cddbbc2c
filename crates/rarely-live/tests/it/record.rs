//! Records that lack a field, and what is derived from the others.

use rarely_live::{RecordField, RecordReader};
use rarely_policy::PolicyDocument;
use serde_json::{Map, Value, json};

const POLICY: &str = r#"
policy = "screening"
options = ["wait", "invite"]
outcome = { column = "benefit", range = [0, 1] }
[[features]]
column = "age"
range = [40, 90]
missing = "indicator"
[[features]]
column = "sex"
levels = ["f", "m"]
missing = "level"
[[features]]
column = "weight"
range = [0, 200]
missing = "drop"
[[features]]
square = "weight"
[rule]
threshold = { feature = "age", cuts = [60], options = ["wait", "invite"] }
"#;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

#[test]
fn a_record_may_lack_what_counts_as_missing() {
    let document = PolicyDocument::parse(POLICY, "policy.toml").expect("a document");
    let reader = RecordReader::new(&document);
    // Coordinates: intercept, age, sex = m, sex = missing, weight, age missing, weight squared.
    let (fields, context) = reader.read(object(json!({ "weight": 100, "sex": null }))).expect("a record");
    assert_eq!(fields, [RecordField::Missing, RecordField::Missing, RecordField::Number(100.0)]);
    assert_eq!(context, [1.0, 0.5, 0.0, 1.0, 0.5, 1.0, 0.25]);
    // As the log stores it, and back.
    let stored = serde_json::to_string(&fields).expect("JSON");
    assert_eq!(stored, "[null,null,100.0]");
    let again: Vec<RecordField> = serde_json::from_str(&stored).expect("fields");
    assert_eq!(reader.context(&again), Ok(context));
    let (_, context) = reader.read(object(json!({ "weight": 50, "sex": "m", "age": 90 }))).expect("a record");
    assert_eq!(context, [1.0, 1.0, 1.0, 0.0, 0.25, 0.0, 0.0625]);
    // A single person cannot be dropped.
    let error = reader.read(object(json!({ "age": 50, "sex": "f" }))).expect_err("no weight");
    assert_eq!((error.to_string().as_str(), error.column()), ("the record has no weight", Some("weight")));
}

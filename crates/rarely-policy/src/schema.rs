//! The JSON Schema of policy documents, for editors.

use rarely_core::Algorithm;
use serde_json::{Value, json};

use crate::document::toml::TomlDocument;

/// The JSON Schema of a policy document. It cannot express everything (ascending cuts, known names) that [`crate::PolicyDocument::parse`] checks.
///
/// ```
/// let schema = rarely_policy::schema();
/// assert_eq!(schema["properties"]["policy"]["description"], "The policy's name.");
/// ```
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(TomlDocument).to_value();
    // Names from the core's table, so that the list is always complete.
    let algorithms: Vec<&str> =
        Algorithm::all().filter(|algorithm| algorithm.is_switching()).map(Algorithm::name).collect();
    if let Some(algorithm) = schema.pointer_mut("/$defs/Change/properties/algorithm") {
        algorithm["enum"] = json!(algorithms);
    }
    without_null(&mut schema);
    schema
}

/// Removes nulls: TOML has none, and leaves optional keys out.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            if parts.get("default").is_some_and(Value::is_null) {
                parts.remove("default");
            }
            if let Some(Value::Array(types)) = parts.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    parts.insert("type".to_owned(), only);
                }
            }
            parts.values_mut().for_each(without_null);
        }
        Value::Array(parts) => parts.iter_mut().for_each(without_null),
        _ => {}
    }
}

//! The table of routes as an OpenAPI 3.1 document.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use utoipa::PartialSchema as _;

use crate::limits::{BATCH_LINES, BODY_BYTES, DOCUMENT_BYTES, KEY_BYTES, NAME_CHARACTERS, TEXT_CHARACTERS};
use crate::problem::ProblemDetails;
use crate::route::{Access, Content, Reply, Route, problem};
use crate::routes::routes;

/// The OpenAPI document.
pub fn document(version: &str) -> Json {
    let mut schemas: BTreeMap<String, Json> = BTreeMap::new();
    schemas.insert("Problem".to_owned(), value(&ProblemDetails::schema()));
    let mut paths: BTreeMap<&str, Map<String, Json>> = BTreeMap::new();
    for route in routes() {
        for (name, schema) in &route.schemas {
            schemas.insert(name.clone(), value(schema));
        }
        let method = route.method.as_str().to_ascii_lowercase();
        paths.entry(route.path).or_default().insert(method, operation(&route));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "rarely",
            "version": version,
            "description": format!(
                "Live policies: every decision can be reconstructed, and every change is signed. Limits: bodies {} MiB (policy documents \
                 {} MiB), batches {BATCH_LINES} lines, names {NAME_CHARACTERS} characters, keys {KEY_BYTES} bytes, the meaning and \
                 the reason of a signature {TEXT_CHARACTERS} characters each. Errors are RFC 9457 problem documents.",
                BODY_BYTES >> 20, DOCUMENT_BYTES >> 20
            ),
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "A token from `rarely token create` or `POST /v1/tokens`." } },
        },
    })
}

/// Who may call a route, as a sentence.
fn requirement(access: Access) -> String {
    match access {
        Access::Public => "Requires no token.".to_owned(),
        Access::AnyPolicy(role) => format!("Requires the role `{role}` on at least one policy."),
        Access::ThisPolicy(role) => format!("Requires the role `{role}` on the policy."),
        Access::AllPolicies(role) => format!("Requires the role `{role}` on all policies."),
    }
}

/// The errors that all routes of a kind share.
fn common_errors(route: &Route) -> Vec<(u16, &'static str)> {
    let mut all = Vec::new();
    if route.access != Access::Public {
        all.push((401, "the token is missing, unknown, revoked or expired"));
        all.push((403, "the token lacks the required role"));
        all.push((429, "too many invalid tokens were sent from this address"));
    }
    all.push((503, "the store failed, or the service is overloaded or shutting down"));
    all.push((400, "a parameter is unknown, or cannot be parsed"));
    if matches!(route.access, Access::ThisPolicy(_)) {
        all.push((404, "the policy, or the number in the path, was not found"));
    }
    if !route.takes.is_empty() {
        all.push((400, "the body cannot be parsed"));
        all.push((408, "the body did not arrive in time"));
        all.push((413, "the body is too long"));
        all.push((415, "the Content-Type is not supported"));
        all.push((422, "a field is missing, unknown or wrong"));
    }
    all
}

fn operation(route: &Route) -> Json {
    let mut replies: Vec<Reply> = route.replies.clone();
    for (status, meaning) in common_errors(route) {
        if !replies.iter().any(|reply| reply.status == status) {
            replies.push(Reply { status, meaning, contents: vec![problem()] });
        }
    }
    let responses: BTreeMap<String, Json> =
        replies.iter().map(|reply| (reply.status.to_string(), response(reply))).collect();
    let parameters: Vec<Json> = route
        .parameters
        .iter()
        .map(|parameter| {
            let schema = match (parameter.whole_number, parameter.location) {
                (true, "path") => json!({ "type": "integer", "format": "int64", "minimum": 1 }),
                (true, _) => json!({ "type": "integer", "format": "int64", "minimum": 0 }),
                (false, _) => json!({ "type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS }),
            };
            let required = parameter.location == "path";
            json!({ "name": parameter.name, "in": parameter.location, "description": parameter.meaning, "required": required, "schema": schema })
        })
        .collect();
    let mut operation = json!({
        "operationId": identifier(route),
        "summary": route.summary,
        "description": requirement(route.access),
        "parameters": parameters,
        "responses": responses,
        "security": if route.access == Access::Public { json!([]) } else { json!([{ "token": [] }]) },
    });
    if !route.takes.is_empty() {
        operation["requestBody"] = json!({ "required": route.body_required, "content": contents(&route.takes) });
    }
    operation
}

fn identifier(route: &Route) -> String {
    let words = route.path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty() && *word != "v1");
    let name: Vec<String> = words.map(ToOwned::to_owned).collect();
    format!("{}_{}", route.method.as_str().to_ascii_lowercase(), name.join("_"))
}

fn response(reply: &Reply) -> Json {
    let mut response = json!({ "description": reply.meaning });
    if !reply.contents.is_empty() {
        response["content"] = contents(&reply.contents);
    }
    if matches!(reply.status, 429 | 503) {
        response["headers"] =
            json!({ "Retry-After": { "schema": { "type": "integer" }, "description": "seconds to wait" } });
    }
    response
}

fn contents(contents: &[Content]) -> Json {
    let mut all = Map::new();
    for content in contents {
        let mut described = json!({ "schema": content.schema });
        if let Some(example) = &content.example {
            described["example"] = example.clone();
        }
        all.insert(content.media.to_owned(), described);
    }
    all.into()
}

fn value(schema: &impl serde::Serialize) -> Json {
    let mut value = serde_json::to_value(schema).unwrap_or_default();
    open_objects(&mut value);
    value
}

/// Says of objects without declared fields that they may have any: generators of clients take silence for "none".
fn open_objects(schema: &mut Json) {
    match schema {
        Json::Object(fields) => {
            let is_object = fields.get("type").is_some_and(|kind| match kind {
                Json::Array(kinds) => kinds.contains(&json!("object")),
                kind => *kind == "object",
            });
            let says = ["properties", "additionalProperties", "allOf", "oneOf"];
            if is_object && !says.iter().any(|key| fields.contains_key(*key)) {
                fields.insert("additionalProperties".to_owned(), json!(true));
            }
            fields.values_mut().for_each(open_objects);
        }
        Json::Array(all) => all.iter_mut().for_each(open_objects),
        _ => {}
    }
}

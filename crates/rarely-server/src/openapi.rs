//! The table of routes as an OpenAPI 3.1 document.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use utoipa::PartialSchema as _;

use crate::limits::{BATCH_LINES, BODY_BYTES, DOCUMENT_BYTES, KEY_BYTES, NAME_CHARACTERS, TEXT_CHARACTERS};
use crate::problem::Problem;
use crate::route::{Content, Need, Reply, Route, problem};
use crate::table::routes;

/// The OpenAPI document of the API.
pub fn document(version: &str) -> Json {
    let mut schemas: BTreeMap<String, Json> = BTreeMap::new();
    schemas.insert("Problem".to_owned(), value(&Problem::schema()));
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
                "Live policies whose every decision can be reconstructed and whose every change is signed. Bodies are at most {} MiB \
                 (documents {} MiB), batches {BATCH_LINES} lines, names {NAME_CHARACTERS} characters, keys {KEY_BYTES} bytes, texts \
                 of signatures {TEXT_CHARACTERS} characters. Whatever goes wrong is told by an RFC 9457 problem document.",
                BODY_BYTES >> 20, DOCUMENT_BYTES >> 20
            ),
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "`rarely token create` makes tokens." } },
        },
    })
}

/// Who may call a route, in words.
pub(crate) fn who(need: Need) -> String {
    match need {
        Need::Nothing => "everybody".to_owned(),
        Need::Somewhere(role) => format!("tokens with the role {role} on any policy"),
        Need::There(role) => format!("tokens with the role {role} on the policy"),
        Need::Everywhere(role) => format!("tokens with the role {role} on all policies"),
    }
}

/// The ways in which every route of a kind may go wrong.
pub(crate) fn common(route: &Route) -> Vec<(u16, &'static str)> {
    let mut all = Vec::new();
    if route.need != Need::Nothing {
        all.push((401, "the token lets nobody in"));
        all.push((403, "the token is for something else"));
        all.push((429, "too many wrong tokens were shown from this address"));
    }
    all.push((503, "the store or the service does not work now, or has too much to do"));
    if !route.parameters.is_empty() {
        all.push((400, "the address, or what stands behind the question mark, cannot be read"));
    }
    if matches!(route.need, Need::There(_)) {
        all.push((404, "there is no such policy, or nothing of this number"));
    }
    if !route.takes.is_empty() {
        all.push((400, "the body is not what its type says"));
        all.push((408, "the body did not come in time"));
        all.push((413, "the body is too long"));
        all.push((415, "the body is of another type"));
        all.push((422, "a field is missing, unknown or wrong"));
    }
    all
}

fn operation(route: &Route) -> Json {
    let mut replies: Vec<Reply> = route.replies.clone();
    for (status, meaning) in common(route) {
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
            let schema = match (parameter.whole_number, parameter.place) {
                (true, "path") => json!({ "type": "integer", "format": "int64", "minimum": 1 }),
                (true, _) => json!({ "type": "integer", "format": "int64", "minimum": 0 }),
                (false, _) => json!({ "type": "string", "minLength": 1, "maxLength": NAME_CHARACTERS }),
            };
            let required = parameter.place == "path";
            json!({ "name": parameter.name, "in": parameter.place, "description": parameter.meaning, "required": required, "schema": schema })
        })
        .collect();
    let mut operation = json!({
        "operationId": identifier(route),
        "summary": route.summary,
        "description": format!("For {}.", who(route.need)),
        "parameters": parameters,
        "responses": responses,
        "security": if route.need == Need::Nothing { json!([]) } else { json!([{ "token": [] }]) },
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
    serde_json::to_value(schema).unwrap_or_default()
}

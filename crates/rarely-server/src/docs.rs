//! The OpenAPI document as an HTML page, and the routes that serve both.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use rarely_error::Topic;
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::problem::anchor;
use crate::request::AuthorizedRequest;
use crate::route::ApiResult;

/// The style sheet. It is a file of its own because the content security policy forbids inline styles.
const STYLE: &str = include_str!("docs.css");

/// An OpenAPI document.
#[derive(Debug, ToSchema)]
#[schema(value_type = Object)]
pub(crate) struct OpenApi(
    #[expect(dead_code, reason = "only its schema is used")] serde_json::Map<String, serde_json::Value>,
);

pub(crate) async fn openapi(request: AuthorizedRequest) -> ApiResult {
    Ok(with_type(request.app.openapi.clone(), "application/json"))
}

pub(crate) async fn docs(request: AuthorizedRequest) -> ApiResult {
    let page = page(&crate::openapi::document(request.app.settings.version));
    Ok(with_type(page, "text/html; charset=utf-8"))
}

pub(crate) async fn style(_request: AuthorizedRequest) -> ApiResult {
    Ok(with_type(STYLE, "text/css; charset=utf-8"))
}

/// A response with a media type.
pub(crate) fn with_type(body: impl IntoResponse, kind: &'static str) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn page(document: &Json) -> String {
    let operations = operations(document);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "rarely: the HTTP API" }
                link rel="stylesheet" href="/docs.css";
            }
            body {
                main {
                    h1 { "rarely: the HTTP API" }
                    p { (text(&document["info"]["description"])) }
                    p { "For programs: the same as " a href="/openapi.json" { "OpenAPI 3.1" } "." }
                    nav aria-label="Routes" {
                        ul {
                            @for (method, path, operation) in &operations {
                                li { a href={ "#" (text(&operation["operationId"])) } { code { (method) " " (path) } } " " (text(&operation["summary"])) }
                            }
                        }
                    }
                    @for (method, path, operation) in &operations {
                        (section(document, method, path, operation))
                    }
                    (problems())
                }
            }
        }
    };
    page.into_string()
}

/// Where the `type` of a problem leads to: the page of the book that explains it.
fn problems() -> Markup {
    html! {
        section id="problems" {
            h2 { "What problems are about" }
            p { "The " code { "type" } " of a problem names one of these places; each has the page of the book that explains it." }
            dl {
                @for topic in Topic::ALL {
                    dt id=(anchor(topic)) { (topic.name().replace('-', " ")) }
                    dd { code { (topic.page()) } }
                }
            }
        }
    }
}

fn operations(document: &Json) -> Vec<(String, &str, &Json)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, operation)| (method.to_ascii_uppercase(), path.as_str(), operation))
        })
        .collect()
}

fn section(document: &Json, method: &str, path: &str, operation: &Json) -> Markup {
    html! {
        section id=(text(&operation["operationId"])) {
            h2 { code { (method) " " (path) } }
            p { (text(&operation["summary"])) " " (text(&operation["description"])) }
            (parameters(&operation["parameters"]))
            @for (media, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                h3 { "Request body: " code { (media) } @if operation["requestBody"]["required"] == false { " (optional)" } }
                (fields(document, &content["schema"]))
                pre tabindex="0" { code { (example(&content["example"])) } }
            }
            h3 { "Responses" }
            div.wide tabindex="0" {
                table {
                    thead { tr { th { "Status" } th { "Type" } th { "When" } } }
                    tbody {
                        @for (status, response) in operation["responses"].as_object().into_iter().flatten() {
                            tr {
                                td { (status) }
                                td { @for (media, _) in response["content"].as_object().into_iter().flatten() { code { (media) } " " } }
                                td { (text(&response["description"])) }
                            }
                        }
                    }
                }
            }
            @if let Some(schema) = success(operation) { (fields(document, schema)) }
        }
    }
}

/// The schema of the first successful response.
fn success(operation: &Json) -> Option<&Json> {
    let mut responses = operation["responses"].as_object()?.iter().filter(|(status, _)| status.starts_with('2'));
    responses.find_map(|(_, response)| response["content"].get("application/json")).map(|content| &content["schema"])
}

fn parameters(parameters: &Json) -> Markup {
    let all = parameters.as_array().map(Vec::as_slice).unwrap_or_default();
    if all.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Parameters" }
        dl {
            @for parameter in all {
                dt { code { (text(&parameter["name"])) } " (" (text(&parameter["in"])) ")" }
                dd { (text(&parameter["description"])) }
            }
        }
    }
}

/// The fields of a body: name, type, meaning.
fn fields(document: &Json, schema: &Json) -> Markup {
    let mut rows = Vec::new();
    collect(document, schema, &mut rows);
    if rows.is_empty() {
        return html! {};
    }
    html! {
        dl {
            @for (name, kind, meaning) in rows {
                dt { code { (name) } " " (kind) }
                dd { (meaning) }
            }
        }
    }
}

fn collect(document: &Json, schema: &Json, rows: &mut Vec<(String, String, String)>) {
    let schema = resolve(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(document, part, rows);
    }
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let must = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let own = text(&field["description"]);
        let meaning = if own.is_empty() { text(&resolve(document, field)["description"]) } else { own };
        rows.push((name.clone(), format!("{}{must}", kind(document, field)), meaning.to_owned()));
    }
}

fn kind(document: &Json, field: &Json) -> String {
    let field = resolve(document, field);
    match &field["type"] {
        Json::String(kind) if kind == "array" => format!("list of {}", kind_of_items(document, &field["items"])),
        Json::String(kind) => kind.clone(),
        Json::Array(kinds) => {
            kinds.iter().filter_map(Json::as_str).filter(|kind| *kind != "null").collect::<Vec<_>>().join(" or ")
        }
        _ => "object".to_owned(),
    }
}

fn kind_of_items(document: &Json, items: &Json) -> String {
    kind(document, items) + "s"
}

fn resolve<'a>(document: &'a Json, schema: &'a Json) -> &'a Json {
    let named = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    named.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema)
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

fn example(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

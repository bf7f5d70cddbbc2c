//! Health, metrics and documentation.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{Call, blocking};
use crate::policies::json;
use crate::problem::Problem;
use crate::route::Answered;

/// Whether the service can be used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// ok.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The last event on disk.
    events: u64,
}

/// An OpenAPI document.
#[derive(Debug, ToSchema)]
#[schema(value_type = Object)]
pub(crate) struct OpenApi(
    #[expect(dead_code, reason = "it describes itself")] serde_json::Map<String, serde_json::Value>,
);

fn health(call: &Call) -> Health {
    Health { status: "ok", version: call.app.settings.version, events: call.app.engine.committed() }
}

pub(crate) async fn healthy(call: Call) -> Answered {
    Ok(json(StatusCode::OK, &health(&call)))
}

/// Ready is who follows the log and can read it.
pub(crate) async fn ready(call: Call) -> Answered {
    let engine = call.app.engine.clone();
    if let Some(fault) = engine.fault() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, fault.to_string())
            .remedy("restart the service; the log is whole"));
    }
    if *call.app.closing().borrow() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the service stops").retry_after(10));
    }
    blocking(move || engine.log().head()).await??;
    Ok(json(StatusCode::OK, &health(&call)))
}

pub(crate) async fn metrics(call: Call) -> Answered {
    let app = call.app.clone();
    let text = blocking(move || app.measures.render(&app.engine, app.settings.version)).await?;
    Ok(with_type(text, "text/plain; version=0.0.4; charset=utf-8"))
}

pub(crate) async fn openapi(call: Call) -> Answered {
    Ok(with_type(call.app.openapi.clone(), "application/json"))
}

pub(crate) async fn docs(call: Call) -> Answered {
    let page = crate::docs::page(&crate::openapi::document(call.app.settings.version));
    Ok(with_type(page, "text/html; charset=utf-8"))
}

pub(crate) async fn style(_call: Call) -> Answered {
    Ok(with_type(crate::docs::STYLE, "text/css; charset=utf-8"))
}

fn with_type(body: impl IntoResponse, kind: &'static str) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

//! The body of a request: how much, of what kind, and what it says.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::limits::{BODY_SECONDS, wrong, wrong_in_words};
use crate::problem::Problem;

/// What a body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Json,
    Lines,
    Text,
    Nothing,
}

impl Written {
    /// What the header says; `known` are the kinds that the route takes.
    pub(crate) fn of(headers: &HeaderMap, known: &[Self]) -> Result<Self, Problem> {
        let found = match headers.get(CONTENT_TYPE) {
            None => Some(Self::Nothing),
            Some(value) => value.to_str().ok().and_then(Self::named),
        };
        found.filter(|found| known.contains(found)).ok_or_else(|| {
            let names: Vec<&str> = known.iter().filter_map(|written| written.name()).collect();
            let shown = headers.get(CONTENT_TYPE).map_or_else(|| "nothing".to_owned(), |value| format!("{value:?}"));
            Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("the Content-Type says {shown}"))
                .remedy(format!("send {}", names.join(" or ")))
        })
    }

    fn named(value: &str) -> Option<Self> {
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Some(Self::Json),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Self::Lines),
            "application/toml" => Some(Self::Text),
            other => other.starts_with("text/").then_some(Self::Text),
        }
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("application/json"),
            Self::Lines => Some("application/x-ndjson"),
            Self::Text => Some("application/toml"),
            Self::Nothing => None,
        }
    }
}

/// All of a body, if it is not too long and comes in time.
pub(crate) async fn read(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, Problem> {
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()).and_then(|text| text.parse().ok());
    if announced.is_some_and(|length: u64| length > most as u64) {
        return Err(too_long(most));
    }
    tokio::time::timeout(Duration::from_secs(BODY_SECONDS), gather(body, most)).await.unwrap_or_else(|_| {
        let detail = format!("the body did not come within {BODY_SECONDS} seconds");
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, detail).remedy("send it again, or in smaller parts"))
    })
}

async fn gather(body: Body, most: usize) -> Result<Bytes, Problem> {
    let mut chunks = body.into_data_stream();
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| {
            Problem::new(StatusCode::BAD_REQUEST, "the body broke off before its end").remedy("send it again")
        })?;
        if first.is_empty() && all.is_empty() {
            // Most bodies come in one piece, which is not copied.
            first = chunk;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&chunk);
        }
        if first.len().max(all.len()) > most {
            return Err(too_long(most));
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

fn too_long(most: usize) -> Problem {
    let shown = most >> 20;
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is longer than {shown} MiB"))
        .remedy("send it in several requests")
}

/// What a body says.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

/// The place at which a body is wrong; looked for only then.
#[cold]
fn explain<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Problem {
    if !error.is_data() {
        let detail = format!("the body is not JSON: {error}");
        return Problem::new(StatusCode::BAD_REQUEST, detail).remedy("correct it at that place");
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let located = serde_path_to_error::deserialize::<_, T>(&mut reader).err();
    let path = located.map_or_else(String::new, |error| error.path().to_string());
    let message = error.to_string();
    // What serde says of a field that is not there, or should not be, names it in the message only.
    let named = ["missing field `", "unknown field `"].iter().find_map(|start| {
        let rest = message.strip_prefix(start)?;
        rest.split_once('`').map(|(name, _)| name.to_owned())
    });
    // A body that is no object has no field.
    let path = if path.starts_with('[') { "" } else { path.as_str() };
    let field = match (named, path) {
        (Some(name), "." | "") => name,
        (Some(name), path) if path.ends_with(&name) => path.to_owned(),
        (Some(name), path) => format!("{path}.{name}"),
        (None, "" | "." | "?") => return wrong_in_words("body", &format!("{message}; see /docs for what is expected")),
        (None, path) => path.to_owned(),
    };
    wrong(field, message, "see /docs for what is expected")
}

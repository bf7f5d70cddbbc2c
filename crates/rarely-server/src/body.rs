//! The body of a request: its format, its length, and its content.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use futures_util::StreamExt as _;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value as Json};

use crate::limits::BODY_SECONDS;
use crate::problem::ProblemDetails;

/// The format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    Json,
    /// One JSON object per line.
    Lines,
    Text,
    /// No `Content-Type`.
    None,
}

impl BodyFormat {
    /// The format that the header names, which must be one of `known`.
    pub(crate) fn of(headers: &HeaderMap, known: &[Self]) -> Result<Self, ProblemDetails> {
        let found = match headers.get(CONTENT_TYPE) {
            None => Some(Self::None),
            Some(value) => value.to_str().ok().and_then(Self::from_media_type),
        };
        found.filter(|found| known.contains(found)).ok_or_else(|| {
            let names: Vec<&str> = known.iter().filter_map(|format| format.media_type()).collect();
            let detail = headers.get(CONTENT_TYPE).map_or_else(
                || "the request has no Content-Type".to_owned(),
                |value| format!("the Content-Type {value:?} is not supported here"),
            );
            ProblemDetails::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
                .with_remedy(format!("send {}", names.join(" or ")))
        })
    }

    fn from_media_type(value: &str) -> Option<Self> {
        let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Some(Self::Json),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Self::Lines),
            "application/toml" => Some(Self::Text),
            other => other.starts_with("text/").then_some(Self::Text),
        }
    }

    fn media_type(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("application/json"),
            Self::Lines => Some("application/x-ndjson"),
            Self::Text => Some("application/toml"),
            Self::None => None,
        }
    }
}

/// How long the body is, if the head of the request says it.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()).and_then(|text| text.parse().ok())
}

/// Reads a whole body of at most `most` bytes.
pub(crate) async fn read(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, ProblemDetails> {
    if announced(headers).is_some_and(|length| length > most as u64) {
        return Err(too_long(most));
    }
    tokio::time::timeout(Duration::from_secs(BODY_SECONDS), gather(body, most)).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {BODY_SECONDS} seconds");
        Err(ProblemDetails::new(StatusCode::REQUEST_TIMEOUT, detail)
            .with_remedy("send the request again, or in smaller parts"))
    })
}

/// Reads an object in which every field stands once: of two values for one feature, neither can be trusted.
pub(crate) fn fields_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Json>, D::Error> {
    struct FieldsOnce;

    impl<'de> Visitor<'de> for FieldsOnce {
        type Value = Map<String, Json>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut fields = Map::new();
            while let Some((name, value)) = entries.next_entry::<String, Json>()? {
                if fields.contains_key(&name) {
                    return Err(A::Error::custom(format!("the field {name:?} stands twice")));
                }
                fields.insert(name, value);
            }
            Ok(fields)
        }
    }

    deserializer.deserialize_map(FieldsOnce)
}

async fn gather(body: Body, most: usize) -> Result<Bytes, ProblemDetails> {
    let mut chunks = body.into_data_stream();
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| {
            ProblemDetails::new(StatusCode::BAD_REQUEST, "the connection ended before the body did")
                .with_remedy("send the request again")
        })?;
        if first.is_empty() && all.is_empty() {
            // Most bodies arrive in one chunk, which needs no copy.
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

fn too_long(most: usize) -> ProblemDetails {
    let limit = most >> 20;
    ProblemDetails::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is longer than {limit} MiB"))
        .with_remedy("split it into several requests")
}

/// Parses a body.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProblemDetails> {
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

/// Finds the field that is wrong. This parses a second time, so it runs only after an error.
#[cold]
fn explain<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> ProblemDetails {
    if !error.is_data() {
        let detail = format!("the body is not valid JSON: {error}");
        return ProblemDetails::new(StatusCode::BAD_REQUEST, detail).with_remedy("correct it at that place");
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let located = serde_path_to_error::deserialize::<_, T>(&mut reader).err();
    let path = located.map_or_else(String::new, |error| error.path().to_string());
    let message = error.to_string();
    // serde names a missing or unknown field only in the message.
    let named = ["missing field `", "unknown field `"].iter().find_map(|start| {
        let rest = message.strip_prefix(start)?;
        rest.split_once('`').map(|(name, _)| name.to_owned())
    });
    // A body that is not an object has no field.
    let path = if path.starts_with('[') { "" } else { path.as_str() };
    let field = match (named, path) {
        (Some(name), "." | "") => name,
        (Some(name), path) if path.ends_with(&name) => path.to_owned(),
        (Some(name), path) => format!("{path}.{name}"),
        (None, "" | "." | "?") => "body".to_owned(),
        (None, path) => path.to_owned(),
    };
    ProblemDetails::wrong(field, message, "`/docs` describes the body")
}

//! Many requests in one: a line of JSON each, and a line of answer for each.

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::body;
use crate::limits::BATCH_LINES;
use crate::problem::Problem;

/// Requests that are handed to the engine at a time: others get their turn in between.
pub(crate) const BLOCK: usize = 1000;

/// What each line asks for, or what is wrong with it; blank lines are left out.
pub(crate) fn read<T: DeserializeOwned, I>(
    bytes: &Bytes,
    understand: impl Fn(T) -> Result<I, Problem>,
) -> Result<Vec<Result<I, Problem>>, Problem> {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    let mut items = Vec::new();
    for line in lines {
        if items.len() == BATCH_LINES {
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the batch has more than {BATCH_LINES} lines"),
            )
            .remedy("send it in several requests; nothing of this one was taken"));
        }
        items.push(body::parse(line).and_then(&understand));
    }
    Ok(items)
}

/// The right lines' requests, handed on in blocks, and everybody's answer in the order of the lines.
pub(crate) fn answer<I, V: Serialize>(
    items: Vec<Result<I, Problem>>,
    mut ask: impl FnMut(Vec<I>) -> Vec<Result<V, Problem>>,
) -> Response {
    let mut wrong = Vec::with_capacity(items.len());
    let mut right = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Ok(item) => {
                right.push(item);
                wrong.push(None);
            }
            Err(problem) => wrong.push(Some(problem)),
        }
    }
    let mut given = Vec::with_capacity(right.len());
    let mut right = right.into_iter();
    loop {
        let block: Vec<I> = right.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            break;
        }
        given.extend(ask(block));
    }
    let mut given = given.into_iter();
    let mut text = Vec::with_capacity(wrong.len() * 128);
    for problem in wrong {
        let written = match problem.map_or_else(|| given.next(), |problem| Some(Err(problem))) {
            Some(Ok(value)) => serde_json::to_writer(&mut text, &value),
            Some(Err(problem)) => serde_json::to_writer(&mut text, &problem),
            None => Ok(()),
        };
        if let Err(error) = written {
            return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
        text.push(b'\n');
    }
    lines(text)
}

/// Lines of JSON.
pub(crate) fn lines(text: Vec<u8>) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    response
}

//! Batches: one JSON object per line, and one line of response for each, in order.

use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::body;
use crate::limits::BATCH_LINES;
use crate::problem::ProblemDetails;

/// Items handed to the engine at a time, so that other requests get their turn in between.
const BLOCK: usize = 100;
/// How many lines of a response say that the service failed.
pub(crate) const FAILED_LINES: HeaderName = HeaderName::from_static("rarely-failed-lines");

/// Parses each line. Blank lines are skipped; a wrong line becomes a problem of its own.
pub(crate) fn read<T: DeserializeOwned, I>(
    bytes: &Bytes,
    convert: impl Fn(T) -> Result<I, ProblemDetails>,
) -> Result<Vec<Result<I, ProblemDetails>>, ProblemDetails> {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    let mut items = Vec::new();
    for line in lines {
        if items.len() == BATCH_LINES {
            return Err(ProblemDetails::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the batch has more than {BATCH_LINES} lines"),
            )
            .with_remedy("split it into several requests; nothing of this one was stored"));
        }
        items.push(body::parse(line).and_then(&convert));
    }
    Ok(items)
}

/// Processes the valid items in blocks. Returns a response line for every item, in the order of the lines. Lines that the service
/// failed to serve are counted in a header and in the metrics; if it served none, the whole response says so.
pub(crate) fn respond<I, V: Serialize>(
    app: &App,
    items: Vec<Result<I, ProblemDetails>>,
    mut process: impl FnMut(Vec<I>) -> Vec<Result<V, ProblemDetails>>,
) -> Response {
    let mut problems = Vec::with_capacity(items.len());
    let mut valid = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Ok(item) => {
                valid.push(item);
                problems.push(None);
            }
            Err(problem) => problems.push(Some(problem)),
        }
    }
    let mut results = Vec::with_capacity(valid.len());
    let mut valid = valid.into_iter();
    loop {
        let block: Vec<I> = valid.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            break;
        }
        results.extend(process(block));
    }
    let mut failed = results.iter().filter_map(|result| result.as_ref().err()).filter(|problem| problem.is_failure());
    let first = failed.next().cloned();
    let count = failed.count() + usize::from(first.is_some());
    if let Some(problem) = first.filter(|_| count == problems.len()) {
        app.metrics.count_failed_lines(count);
        return problem.into_response();
    }
    let mut results = results.into_iter();
    let mut text = Vec::with_capacity(problems.len() * 128);
    for problem in problems {
        let written = match problem.map_or_else(|| results.next(), |problem| Some(Err(problem))) {
            Some(Ok(value)) => serde_json::to_writer(&mut text, &value),
            Some(Err(problem)) => serde_json::to_writer(&mut text, &problem),
            None => Ok(()),
        };
        if let Err(error) = written {
            return ProblemDetails::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
        text.push(b'\n');
    }
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    if count > 0 {
        app.metrics.count_failed_lines(count);
        response.headers_mut().insert(FAILED_LINES, HeaderValue::from(count));
    }
    response
}

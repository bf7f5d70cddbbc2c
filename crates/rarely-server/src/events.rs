//! The event stream: the events so far as lines of JSON, or as server-sent events that continue.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use rarely_live::{Engine, replay};
use rarely_output::utc;
use rarely_store::{LogEntry, StoreError};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::app::App;
use crate::problem::ProblemDetails;
use crate::request::AuthorizedRequest;
use crate::route::ApiResult;

/// Entries read at a time.
const BLOCK: usize = 1000;
/// Blocks buffered for a slow reader.
const BUFFERED: usize = 2;
/// How often a comment keeps an idle connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The query parameters.
#[derive(Debug, Default, Deserialize)]
struct EventsQuery {
    /// Only events with a higher number.
    after: Option<u64>,
    /// At most this many.
    limit: Option<u64>,
}

/// A chunk of the response body.
type Chunk = Result<Bytes, std::io::Error>;

pub(crate) async fn of_policy(request: AuthorizedRequest) -> ApiResult {
    let policy = request.policy()?.id;
    events(&request, Some(policy))
}

pub(crate) async fn of_all(request: AuthorizedRequest) -> ApiResult {
    events(&request, None)
}

fn events(request: &AuthorizedRequest, policy: Option<u64>) -> ApiResult {
    let EventsQuery { after, limit } = request.query()?;
    let headers = &request.parts.headers;
    let live = headers.get_all(header::ACCEPT).iter().any(|accept| {
        accept.to_str().is_ok_and(|accept| accept.split(',').any(|kind| kind.trim().starts_with("text/event-stream")))
    });
    let (sender, receiver) = channel(BUFFERED);
    let permit = stream_permit(&request.app)?;
    if !live {
        let engine = request.app.engine.clone();
        let range = EventRange { after: after.unwrap_or(0), until: request.app.engine.committed(), limit, policy };
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            send_lines(&engine, range, &sender);
        });
        return Ok(stream(receiver, "application/x-ndjson"));
    }
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.trim().parse().ok());
    let after = seen.or(after).unwrap_or(0);
    let (app, token) = (request.app.clone(), request.grant()?.id.clone());
    tokio::spawn(async move {
        let _permit = permit;
        follow(&app, &token, policy, after, &sender).await;
    });
    Ok(stream(receiver, "text/event-stream"))
}

/// A permit for one stream. Streams with a slow reader occupy a thread each, so their number is limited.
pub(crate) fn stream_permit(app: &App) -> Result<OwnedSemaphorePermit, ProblemDetails> {
    app.streams.clone().try_acquire_owned().map_err(|_| {
        ProblemDetails::new(StatusCode::TOO_MANY_REQUESTS, "too many streams are open")
            .with_remedy("close one, or try again later")
            .with_retry_after(10)
    })
}

/// The events to send.
#[derive(Debug, Clone, Copy)]
struct EventRange {
    after: u64,
    until: u64,
    limit: Option<u64>,
    policy: Option<u64>,
}

/// Sends the events so far. Stops when the reader disconnects; a read error aborts the response.
fn send_lines(engine: &Engine, range: EventRange, sender: &Sender<Chunk>) {
    let EventRange { mut after, until, limit, policy } = range;
    let mut left = limit.unwrap_or(u64::MAX);
    while left > 0 && after < until {
        let most = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        let block = match engine.log().entries(after, policy, most) {
            Ok(block) => block,
            Err(error) => {
                drop(sender.blocking_send(Err(broken(&error))));
                return;
            }
        };
        let Some(last) = block.last() else { return };
        after = last.number;
        left = left.saturating_sub(block.len() as u64);
        let mut text = Vec::new();
        for entry in block.iter().filter(|entry| entry.number <= until) {
            write_line(&mut text, engine, entry);
        }
        if text.is_empty() || sender.blocking_send(Ok(text.into())).is_err() {
            return;
        }
    }
}

/// Sends the events so far, then new ones, until the reader disconnects, the token is revoked or expires, or the service shuts down.
async fn follow(app: &Arc<App>, token: &str, policy: Option<u64>, mut after: u64, sender: &Sender<Chunk>) {
    let (mut applied, mut closing) = (app.engine.subscribe(), app.closing());
    loop {
        // Revoking a token is an event, which wakes the stream.
        applied.mark_unchanged();
        let Some(pause) = app.valid_for(token, KEEP_ALIVE) else { return };
        let engine = app.engine.clone();
        let read = move || {
            let block = engine.log().entries(after, policy, BLOCK)?;
            let mut text = Vec::new();
            for entry in &block {
                let _ = write!(text, "id: {}\nevent: {}\ndata: ", entry.number, entry.kind);
                write_line(&mut text, &engine, entry);
                text.push(b'\n');
            }
            Ok::<_, StoreError>((block.last().map(|last| last.number), block.len(), text))
        };
        let Ok(Ok((last, count, text))) = tokio::task::spawn_blocking(read).await else { return };
        // Reading takes time: what happened after the token became invalid is not sent.
        if app.valid_for(token, KEEP_ALIVE).is_none() {
            return;
        }
        if let Some(last) = last {
            after = last;
            if sender.send(Ok(text.into())).await.is_err() {
                return;
            }
            if count == BLOCK {
                continue;
            }
        }
        let wake = tokio::select! {
            changed = applied.changed() => if changed.is_ok() { Wake::NewEvents } else { Wake::End },
            () = tokio::time::sleep(pause) => Wake::KeepAlive,
            () = async { drop(closing.wait_for(|closing| *closing).await) } => Wake::End,
            () = sender.closed() => Wake::End,
        };
        let keep_alive = Bytes::from_static(b": keep-alive\n\n");
        if wake == Wake::End || (wake == Wake::KeepAlive && sender.send(Ok(keep_alive)).await.is_err()) {
            return;
        }
    }
}

/// Why a stream woke up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wake {
    NewEvents,
    KeepAlive,
    End,
}

/// Writes an event as a line of JSON. Its body is copied unchanged, because the hash covers those bytes. If what it tells about a person is
/// encrypted, the whole event follows as `opened`, or when the person was erased.
fn write_line(text: &mut Vec<u8>, engine: &Engine, entry: &LogEntry) {
    let is_sealed = entry.body.contains("\"sealed\":");
    let event = is_sealed.then(|| replay::event(engine.log().as_ref(), entry).ok()).flatten();
    let beside = event.filter(|event| event.about_person().is_some()).map(|event| {
        match engine.erased_ms(event.about_person()) {
            Some(erased_ms) => format!(",\"erased\":\"{}\"", utc(erased_ms)),
            None => format!(",\"opened\":{}", event.body()),
        }
    });
    let beside = beside.unwrap_or_default();
    let quoted = |words: &str| serde_json::to_string(words).unwrap_or_default();
    let LogEntry { number, time_ms, elapsed_ms, actor, policy, kind, body, hash } = entry;
    let elapsed = elapsed_ms.map_or_else(String::new, |elapsed_ms| format!("\"elapsed_ms\":{elapsed_ms},"));
    let _ = writeln!(
        text,
        "{{\"number\":{number},\"time_ms\":{time_ms},{elapsed}\"actor\":{},\"policy\":{policy},\"kind\":{},\"hash\":\"{hash}\",\"body\":{body}{beside}}}",
        quoted(actor),
        quoted(kind)
    );
}

fn broken(error: &StoreError) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

/// A response whose body is sent as it arrives.
pub(crate) fn stream(receiver: Receiver<Chunk>, kind: &'static str) -> Response {
    let chunks = futures_util::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|chunk| (chunk, receiver))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

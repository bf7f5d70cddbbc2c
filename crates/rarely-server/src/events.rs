//! The audit stream: what happened, a line each, up to now or for as long as somebody listens.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use rarely_store::{EventLog, LogEntry, StoreError};
use serde::Deserialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::app::App;
use crate::call::Call;
use crate::problem::Problem;
use crate::route::Answered;

/// Entries that are read at a time.
const BLOCK: usize = 1000;
/// Blocks that wait for a slow reader.
const WAITING: usize = 2;
/// How often a listener hears that the service is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Which events.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    /// Those with a number above this one.
    after: Option<u64>,
    /// At most so many.
    limit: Option<u64>,
}

/// What is sent, a block at a time.
type Sent = Result<Bytes, std::io::Error>;

pub(crate) async fn of_policy(call: Call) -> Answered {
    let policy = call.policy()?.id;
    events(&call, Some(policy))
}

pub(crate) async fn of_all(call: Call) -> Answered {
    events(&call, None)
}

fn events(call: &Call, policy: Option<u64>) -> Answered {
    let Asked { after, limit } = call.query()?;
    let headers = &call.parts.headers;
    let live = headers.get_all(header::ACCEPT).iter().any(|accept| {
        accept.to_str().is_ok_and(|accept| accept.split(',').any(|kind| kind.trim().starts_with("text/event-stream")))
    });
    let (sender, receiver) = channel(WAITING);
    if !live {
        let log = call.app.engine.log().clone();
        let range = Range { after: after.unwrap_or(0), until: call.app.engine.committed(), limit, policy };
        tokio::task::spawn_blocking(move || send_lines(log.as_ref(), range, &sender));
        return Ok(stream(receiver, "application/x-ndjson"));
    }
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.trim().parse().ok());
    let after = seen.or(after).unwrap_or(0);
    let place = call.app.streams.clone().try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many streams of events are open")
            .remedy("close one, or ask for the events without `Accept: text/event-stream`")
            .retry_after(10)
    })?;
    let app = call.app.clone();
    tokio::spawn(async move {
        follow(&app, policy, after, &sender).await;
        drop(place);
    });
    Ok(stream(receiver, "text/event-stream"))
}

/// Which events to send.
#[derive(Debug, Clone, Copy)]
struct Range {
    after: u64,
    until: u64,
    limit: Option<u64>,
    policy: Option<u64>,
}

/// Sends what is in the log now. A reader that is gone ends it; what cannot be read breaks the answer off.
fn send_lines(log: &dyn EventLog, range: Range, sender: &Sender<Sent>) {
    let Range { mut after, until, limit, policy } = range;
    let mut left = limit.unwrap_or(u64::MAX);
    while left > 0 && after < until {
        let most = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        let block = match log.entries(after, policy, most) {
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
            write_line(&mut text, entry);
        }
        if text.is_empty() || sender.blocking_send(Ok(text.into())).is_err() {
            return;
        }
    }
}

/// Sends what is in the log, and then what is added, until the listener is gone or the service stops.
async fn follow(app: &Arc<App>, policy: Option<u64>, mut after: u64, sender: &Sender<Sent>) {
    let (mut applied, mut closing) = (app.engine.subscribe(), app.closing());
    loop {
        applied.mark_unchanged();
        let log = app.engine.log().clone();
        let Ok(Ok(block)) = tokio::task::spawn_blocking(move || log.entries(after, policy, BLOCK)).await else {
            return;
        };
        if let Some(last) = block.last() {
            after = last.number;
            let mut text = Vec::new();
            for entry in &block {
                let _ = write!(text, "id: {}\nevent: {}\ndata: ", entry.number, entry.kind);
                write_line(&mut text, entry);
                text.push(b'\n');
            }
            if sender.send(Ok(text.into())).await.is_err() {
                return;
            }
            if block.len() == BLOCK {
                continue;
            }
        }
        let next = tokio::select! {
            changed = applied.changed() => if changed.is_ok() { Next::More } else { Next::End },
            () = tokio::time::sleep(KEEP_ALIVE) => Next::Wait,
            () = async { drop(closing.wait_for(|closing| *closing).await) } => Next::End,
            () = sender.closed() => Next::End,
        };
        let still_here = Bytes::from_static(b": still here\n\n");
        if next == Next::End || (next == Next::Wait && sender.send(Ok(still_here)).await.is_err()) {
            return;
        }
    }
}

/// What a listener gets next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    More,
    Wait,
    End,
}

/// An event as a line of JSON. Its body stands there to the letter, as it was hashed.
fn write_line(text: &mut Vec<u8>, entry: &LogEntry) {
    let quoted = |words: &str| serde_json::to_string(words).unwrap_or_default();
    let LogEntry { number, time_ms, actor, policy, kind, body, hash } = entry;
    let _ = writeln!(
        text,
        "{{\"number\":{number},\"time_ms\":{time_ms},\"actor\":{},\"policy\":{policy},\"kind\":{},\"hash\":\"{hash}\",\"body\":{body}}}",
        quoted(actor),
        quoted(kind)
    );
}

fn broken(error: &StoreError) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

/// An answer that is sent as it comes.
pub(crate) fn stream(receiver: Receiver<Sent>, kind: &'static str) -> Response {
    let chunks = futures_util::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|chunk| (chunk, receiver))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

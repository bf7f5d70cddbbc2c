//! Traces for OpenTelemetry: a span for each request, sent to a collector in batches as OTLP has it in JSON over HTTP.
//!
//! A span has the method, the route, the status, the times and the id of a request, and nothing of its content. No request waits for the collector: spans are
//! passed on through a queue, and what does not fit, or cannot be delivered, is left out and counted.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::metrics::method_label;

/// Spans that wait for the collector. More are left out.
const WAITING: usize = 2_048;
/// The most spans of a batch.
const BATCH: usize = 512;
/// How long a span waits for others.
const EVERY: Duration = Duration::from_secs(5);
/// How long the collector may take for its answer, all in all.
const TIMEOUT: Duration = Duration::from_secs(5);
/// `SPAN_KIND_SERVER` and `STATUS_CODE_ERROR` of OTLP.
const SERVER: u8 = 2;
const ERROR: u8 = 2;

/// Where spans go.
#[derive(Debug, Clone)]
pub struct TraceOptions {
    /// The address of the collector, to which `/v1/traces` is added.
    pub endpoint: String,
    /// Headers that the collector asks for, such as keys.
    pub headers: Vec<(String, String)>,
    /// The name of the service.
    pub service_name: String,
    /// How long a span waits for others.
    pub every: Duration,
}

impl TraceOptions {
    /// The collector at an address.
    pub fn new(endpoint: String) -> Self {
        Self { endpoint, headers: Vec::new(), service_name: "rarely".to_owned(), every: EVERY }
    }
}

/// Passes spans on to a collector. Dropping it sends what waits.
#[derive(Debug)]
pub struct Traces {
    send: Mutex<Option<SyncSender<Span>>>,
    counts: Arc<SpanCounts>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How many spans went where.
#[derive(Debug, Default)]
pub(crate) struct SpanCounts {
    /// Delivered.
    pub(crate) delivered: AtomicU64,
    /// Left out: the queue was full, or the collector was away.
    pub(crate) dropped: AtomicU64,
}

/// The place of a request in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    trace: [u8; 16],
    span: [u8; 8],
    parent: Option<[u8; 8]>,
}

/// A request that was answered.
#[derive(Debug)]
pub(crate) struct Span {
    context: TraceContext,
    name: String,
    attributes: Json,
    failed: bool,
    start: SystemTime,
    took: Duration,
}

impl Traces {
    /// Starts to pass spans on.
    ///
    /// # Errors
    /// [`std::io::Error`] if the thread cannot be started.
    pub fn start(options: TraceOptions, version: &'static str) -> std::io::Result<Self> {
        let (send, receive) = sync_channel(WAITING);
        let counts = Arc::new(SpanCounts::default());
        let exporter = Exporter::new(options, version, counts.clone());
        let thread = std::thread::Builder::new().name("traces".to_owned()).spawn(move || exporter.run(&receive))?;
        Ok(Self { send: Mutex::new(Some(send)), counts, thread: Mutex::new(Some(thread)) })
    }

    pub(crate) fn counts(&self) -> &SpanCounts {
        &self.counts
    }

    /// Passes a span on, or leaves it out.
    pub(crate) fn record(&self, span: Span) {
        let send = self.send.lock().unwrap_or_else(PoisonError::into_inner);
        if send.as_ref().is_none_or(|send| send.try_send(span).is_err()) {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.send.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(thread.join());
        }
    }
}

impl TraceContext {
    /// The place of a request: below the span that its `traceparent` (W3C Trace Context) names, or at the beginning of a new trace. `None` if the caller
    /// does not record its trace.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut random = [0; 24];
        getrandom::fill(&mut random).ok()?;
        let (mut trace, mut span) = ([0; 16], [0; 8]);
        trace.copy_from_slice(&random[..16]);
        span.copy_from_slice(&random[16..]);
        let told = headers.get("traceparent").and_then(|value| value.to_str().ok()).and_then(traceparent);
        match told {
            Some((_, _, false)) => None,
            Some((trace, parent, true)) => Some(Self { trace, span, parent: Some(parent) }),
            None => Some(Self { trace, span, parent: None }),
        }
    }
}

impl Span {
    /// The span of a request, without what it is about.
    pub(crate) fn new(
        context: TraceContext,
        (method, route, status): (&Method, &str, StatusCode),
        (start, took): (SystemTime, Duration),
        request_id: Option<String>,
    ) -> Self {
        let method = method_label(method);
        let mut attributes = vec![
            text("http.request.method", method),
            text("http.route", route),
            json!({ "key": "http.response.status_code", "value": { "intValue": status.as_u16().to_string() } }),
        ];
        attributes.extend(request_id.map(|id| text("rarely.request_id", &id)));
        let failed = status.is_server_error();
        Self { context, name: format!("{method} {route}"), attributes: attributes.into(), failed, start, took }
    }

    fn json(&self) -> Json {
        let begun = self.start.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut span = json!({
            "traceId": hex(&self.context.trace),
            "spanId": hex(&self.context.span),
            "name": self.name,
            "kind": SERVER,
            "startTimeUnixNano": begun.as_nanos().to_string(),
            "endTimeUnixNano": (begun + self.took).as_nanos().to_string(),
            "attributes": self.attributes,
            "status": if self.failed { json!({ "code": ERROR }) } else { json!({}) },
        });
        if let Some(parent) = &self.context.parent {
            span["parentSpanId"] = hex(parent).into();
        }
        span
    }
}

struct Exporter {
    options: TraceOptions,
    agent: ureq::Agent,
    resource: Json,
    version: &'static str,
    counts: Arc<SpanCounts>,
    /// Whether the collector got the last batch: only a change is said.
    reached: bool,
}

impl Exporter {
    fn new(options: TraceOptions, version: &'static str, counts: Arc<SpanCounts>) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let agent = config.timeout_global(Some(TIMEOUT)).build().into();
        let resource =
            json!({ "attributes": [text("service.name", &options.service_name), text("service.version", version)] });
        Self { options, agent, resource, version, counts, reached: true }
    }

    fn run(mut self, spans: &Receiver<Span>) {
        while let Ok(first) = spans.recv() {
            let (mut batch, until) = (vec![first], Instant::now() + self.options.every);
            let ended = loop {
                if batch.len() == BATCH {
                    break false;
                }
                match spans.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    Ok(span) => batch.push(span),
                    Err(RecvTimeoutError::Timeout) => break false,
                    Err(RecvTimeoutError::Disconnected) => break true,
                }
            };
            self.send(&batch);
            if ended {
                return;
            }
        }
    }

    fn send(&mut self, batch: &[Span]) {
        let spans: Vec<Json> = batch.iter().map(Span::json).collect();
        let scope = json!({ "name": "rarely", "version": self.version });
        let body = json!({
            "resourceSpans": [{ "resource": self.resource, "scopeSpans": [{ "scope": scope, "spans": spans }] }],
        });
        let address = format!("{}/v1/traces", self.options.endpoint.trim_end_matches('/'));
        let mut request = self.agent.post(address).header("content-type", "application/json");
        for (name, value) in &self.options.headers {
            request = request.header(name, value);
        }
        let answer = request.send(body.to_string());
        let delivered = answer.as_ref().is_ok_and(|answer| answer.status().is_success());
        let count = if delivered { &self.counts.delivered } else { &self.counts.dropped };
        count.fetch_add(batch.len() as u64, Ordering::Relaxed);
        if self.reached && !delivered {
            tracing::warn!("the collector of traces is not reached: spans are left out until it is");
        } else if delivered && !self.reached {
            tracing::info!("the collector of traces is reached again");
        }
        self.reached = delivered;
    }
}

/// Trace, parent and whether it is recorded, of a `traceparent`.
fn traceparent(text: &str) -> Option<([u8; 16], [u8; 8], bool)> {
    let mut parts = text.trim().split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let [version] = unhex::<1>(version)?;
    // Later versions may have further parts.
    let known = version != 0xff && (version != 0 || parts.next().is_none());
    let (trace, parent, [flags]) = (unhex::<16>(trace)?, unhex::<8>(parent)?, unhex::<1>(flags)?);
    (known && trace != [0; 16] && parent != [0; 8]).then_some((trace, parent, flags & 1 == 1))
}

fn text(key: &str, value: &str) -> Json {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let is_lower_hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let mut bytes = [0; BYTES];
    if text.len() != 2 * BYTES || !is_lower_hex {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_that_of_the_recommendation() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let (trace, parent, sampled) = traceparent(good).expect("an example of the recommendation");
        assert_eq!((hex(&trace), hex(&parent)), ("0af7651916cd43dd8448eb211c80319c".into(), "b7ad6b7169203331".into()));
        assert!(sampled && !traceparent(&good.replace("-01", "-00")).expect("not recorded").2);
        for wrong in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(traceparent(wrong), None, "{wrong}");
        }
        assert!(traceparent(&format!("01{}-more", &good[2..])).is_some(), "a later version");
    }
}

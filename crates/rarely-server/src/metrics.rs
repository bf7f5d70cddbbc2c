//! Metrics for Prometheus.

mod store;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use rarely_live::engine::PolicyHandle;
use rarely_live::{Engine, Learned};
use rarely_policy::PolicyDocument;

use crate::app::App;
use crate::docs::with_type;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;
use store::metric;

pub(crate) use store::free_bytes;

/// Policies with series of their own; all others are summed.
const MOST_POLICIES: usize = 200;
/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// `GET /metrics`.
pub(crate) async fn metrics(request: AuthorizedRequest) -> ApiResult {
    let app = request.app.clone();
    let text = blocking(move || app.metrics.render(&app)).await?;
    Ok(with_type(text, "text/plain; version=0.0.4; charset=utf-8"))
}

/// Request latencies, counted as they occur. The numbers of the policies are read when metrics are rendered.
pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    /// By policy: the number of reviews, and how many options were stuck at the last one.
    stuck: Mutex<HashMap<u64, (u64, u64)>>,
    /// Lines of batches that the service failed to serve.
    failed_lines: AtomicU64,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        // Only an empty list of buckets is an error.
        let builder = PrometheusBuilder::new().set_buckets(&BUCKETS).unwrap_or_default();
        let recorder = builder.build_recorder();
        ::metrics::with_local_recorder(&recorder, || {
            ::metrics::describe_histogram!(
                "rarely_request_seconds",
                "How long requests took, by route, method and status."
            );
        });
        let handle = recorder.handle();
        Self { recorder, handle, stuck: Mutex::default(), failed_lines: AtomicU64::new(0) }
    }

    pub(crate) fn record_request(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        ::metrics::with_local_recorder(&self.recorder, || {
            let labels = [
                ("route", ::metrics::SharedString::from(route.to_owned())),
                ("method", method_label(method).into()),
                ("status", status.as_str().to_owned().into()),
            ];
            ::metrics::histogram!("rarely_request_seconds", &labels).record(took.as_secs_f64());
        });
    }

    /// Counts lines of a batch that the service failed to serve.
    pub(crate) fn count_failed_lines(&self, lines: usize) {
        self.failed_lines.fetch_add(lines as u64, Ordering::Relaxed);
    }

    /// Sorts latencies into buckets, so that memory does not grow between two scrapes.
    pub(crate) fn run_upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// All metrics, in the Prometheus text format.
    pub(crate) fn render(&self, app: &App) -> String {
        let (engine, version) = (&app.engine, app.settings.version);
        let mut text = self.handle.render();
        let _ = write!(
            text,
            "# HELP rarely_build_info The version of the program.\n# TYPE rarely_build_info gauge\n\
             rarely_build_info{{version=\"{version}\"}} 1\n"
        );
        self.service(&mut text, app);
        store::write(&mut text, app);
        policies(&mut text, &self.rows(engine));
        text
    }

    /// What happens at the door of the service.
    fn service(&self, text: &mut String, app: &App) {
        let invalid = app.failed_sign_ins.total();
        metric(text, "rarely_sign_ins_failed_total", "counter", "Requests with an invalid token.", invalid);
        let (failed, help) =
            (self.failed_lines.load(Ordering::Relaxed), "Lines of batches that the service failed to serve.");
        metric(text, "rarely_batch_lines_failed_total", "counter", help, failed);
        let help = "How far the system's clock is ahead, if it jumped and is not believed.";
        let offset = app.engine.clock_offset_ms() as f64 / 1000.0;
        metric(text, "rarely_clock_offset_seconds", "gauge", help, offset);
        let told = &app.notifications;
        for (name, help, count) in [
            ("rarely_notices_delivered_total", "Notices that were delivered.", &told.delivered),
            ("rarely_notice_attempts_failed_total", "Attempts to deliver a notice that failed.", &told.failed_attempts),
            ("rarely_notices_given_up_total", "Notices that could not be delivered in time.", &told.given_up),
        ] {
            metric(text, name, "counter", help, count.load(Ordering::Relaxed));
        }
        if let Some(traces) = &app.settings.traces {
            let counts = traces.counts();
            for (name, help, count) in [
                ("rarely_spans_delivered_total", "Spans that the collector has taken.", &counts.delivered),
                ("rarely_spans_dropped_total", "Spans that were left out.", &counts.dropped),
            ] {
                metric(text, name, "counter", help, count.load(Ordering::Relaxed));
            }
        }
        let Some((open, refused)) = app.door.as_ref().map(|door| door.counts()) else { return };
        metric(text, "rarely_connections", "gauge", "Open connections.", open);
        let help = "Connections refused because too many were open.";
        metric(text, "rarely_connections_refused_total", "counter", help, refused);
    }

    fn rows(&self, engine: &Engine) -> Vec<PolicyMetrics> {
        let mut handles = engine.policies();
        // The oldest policies have series of their own, so that adding a policy ends no series.
        handles.sort_by_key(|handle| handle.id);
        let mut rows: Vec<PolicyMetrics> = handles.iter().map(|handle| row(handle, engine.now_ms())).collect();
        for (handle, row) in handles.iter().zip(&mut rows).take(MOST_POLICIES) {
            row.stuck = self.stuck(handle);
        }
        rows
    }

    /// How many options were stuck at the last review. Computed once per review.
    fn stuck(&self, handle: &PolicyHandle) -> u64 {
        let (reviews, document, learned) = {
            let live = handle.live.lock();
            let reviews = live.state().reviews.count;
            let known = self.stuck.lock().unwrap_or_else(PoisonError::into_inner).get(&handle.id).copied();
            match known {
                _ if reviews == 0 => return 0,
                Some((at, stuck)) if at == reviews => return stuck,
                _ => (reviews, live.document().clone(), live.state().learned.clone()),
            }
        };
        let stuck = stuck(&document, &learned);
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner).insert(handle.id, (reviews, stuck));
        stuck
    }
}

/// A label for the method. Unknown methods share one, so that clients cannot add series.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

/// The metrics of one policy.
struct PolicyMetrics {
    name: String,
    decisions: u64,
    outcomes: u64,
    pending: bool,
    excluded_share: Option<f64>,
    stuck: u64,
    unanswered: Vec<(String, f64)>,
}

fn row(handle: &PolicyHandle, now_ms: u64) -> PolicyMetrics {
    let live = handle.live.lock();
    let (state, names) = (live.state(), live.document().options());
    let counts = &state.counts;
    let unanswered = counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(now_ms)).unwrap_or_default();
    let shares = unanswered.iter().zip(&counts.decided).map(|(open, all)| *open as f64 / (*all).max(1) as f64);
    PolicyMetrics {
        name: handle.name.clone(),
        decisions: counts.decided.iter().sum(),
        outcomes: state.counts.outcomes(),
        pending: live.open_proposal().is_some(),
        excluded_share: state.reviews.points().last().map(|last| last.point.excluded_share),
        stuck: 0,
        unanswered: names.iter().cloned().zip(shares).collect(),
    }
}

/// How many options may be best for many people but are hardly ever given.
fn stuck(document: &PolicyDocument, learned: &Learned) -> u64 {
    learned.evidence_base(document).map_or(0, |base| base.stuck().len() as u64)
}

/// The name of a series, its type, and its value for a policy.
type Sum = (&'static str, &'static str, fn(&PolicyMetrics) -> u64);

fn policies(text: &mut String, rows: &[PolicyMetrics]) {
    let (own, others) = rows.split_at(rows.len().min(MOST_POLICIES));
    let note = format!("By policy, for the {MOST_POLICIES} oldest; the empty label has the sum of all others.");
    let sums: [Sum; 4] = [
        ("rarely_decisions_total", "counter", |row| row.decisions),
        ("rarely_outcomes_total", "counter", |row| row.outcomes),
        ("rarely_pending_proposals", "gauge", |row| u64::from(row.pending)),
        ("rarely_stuck_options", "gauge", |row| row.stuck),
    ];
    for (name, kind, value) in sums {
        let _ = writeln!(text, "# HELP {name} {note}\n# TYPE {name} {kind}");
        for row in own {
            let _ = writeln!(text, "{name}{{policy=\"{}\"}} {}", escaped(&row.name), value(row));
        }
        if !others.is_empty() || own.is_empty() {
            let _ = writeln!(text, "{name}{{policy=\"\"}} {}", others.iter().map(value).sum::<u64>());
        }
    }
    metric(text, "rarely_policies", "gauge", "Registered policies.", rows.len());
    let _ = writeln!(
        text,
        "# HELP rarely_excluded_share Share of recent people who get an option that the data rule out, at the last review; for \
         the {MOST_POLICIES} oldest policies.\n# TYPE rarely_excluded_share gauge"
    );
    for (row, share) in own.iter().filter_map(|row| Some((row, row.excluded_share?))) {
        let _ = writeln!(text, "rarely_excluded_share{{policy=\"{}\"}} {share}", escaped(&row.name));
    }
    let _ = writeln!(
        text,
        "# HELP rarely_unanswered_share Share of decisions without an outcome after the outcome window; for the \
         {MOST_POLICIES} oldest policies.\n# TYPE rarely_unanswered_share gauge"
    );
    for row in own {
        for (option, share) in &row.unanswered {
            let (policy, option) = (escaped(&row.name), escaped(option));
            let _ = writeln!(text, "rarely_unanswered_share{{policy=\"{policy}\",option=\"{option}\"}} {share}");
        }
    }
}

/// Escapes a label value of the Prometheus text format.
fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

//! The metrics of the store: commits, what waits for them, checkpoints, free space.

use std::fmt::Write as _;
use std::path::Path;

use rarely_live::Engine;
use rarely_store::Distribution;

use crate::app::App;

/// Everything about the store.
pub(super) fn write(text: &mut String, app: &App) {
    let engine = &app.engine;
    let commits = engine.commit_statistics();
    metric(text, "rarely_store_events_total", "counter", "Events on disk.", engine.committed());
    metric(text, "rarely_store_failures_total", "counter", "Commits that failed since the start.", commits.failures());
    metric(text, "rarely_store_queue_events", "gauge", "Events that wait for the next commit.", engine.queue_depth());
    let duration = ("rarely_commit_duration_seconds", "How long commits to the store took.");
    // Microseconds as seconds.
    distribution(text, duration, &commits.duration_us, 1e-6);
    distribution(text, ("rarely_commit_events", "How many events a commit had."), &commits.entries, 1.0);
    checkpoints(text, engine);
    if let Some(free) = app.settings.store_directory.as_deref().and_then(free_bytes) {
        metric(text, "rarely_store_free_bytes", "gauge", "Free space on the disk of the store.", free);
    }
}

/// How far the log is signed, if it is.
fn checkpoints(text: &mut String, engine: &Engine) {
    let Some(notary) = engine.notary() else { return };
    let (covered, counts) = (notary.latest().map_or(0, |latest| latest.size()), notary.counts());
    let unsigned = engine.committed().saturating_sub(covered);
    metric(text, "rarely_checkpoint_events", "gauge", "Events that the last signed checkpoint covers.", covered);
    metric(text, "rarely_unsigned_events", "gauge", "Events on disk that no checkpoint covers yet.", unsigned);
    metric(text, "rarely_checkpoints_total", "counter", "Checkpoints signed since the start.", counts.signed);
    let failed = "Checkpoints that could not be stored since the start.";
    metric(text, "rarely_checkpoint_failures_total", "counter", failed, counts.failed);
    if let Some(last_ms) = counts.last_ms {
        let last = last_ms as f64 / 1000.0;
        metric(text, "rarely_last_checkpoint_timestamp_seconds", "gauge", "When the last checkpoint was signed.", last);
    }
}

/// One metric without labels.
pub(super) fn metric(text: &mut String, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}

/// A histogram of whole numbers, each times `unit`.
fn distribution(text: &mut String, (name, help): (&str, &str), counted: &Distribution, unit: f64) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
    let mut all = 0;
    for (bound, count) in counted.cumulative() {
        let bound = bound.map_or_else(|| "+Inf".to_owned(), |bound| (bound as f64 * unit).to_string());
        let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        all = count;
    }
    let _ = writeln!(text, "{name}_sum {}\n{name}_count {all}", counted.sum() as f64 * unit);
}

/// The free space of the disk that has a directory.
#[cfg(unix)]
pub(crate) fn free_bytes(directory: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(directory).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Elsewhere it is not known.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

//! Health checks and metrics.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::{BY_HAND, DAY_MS, Service, document, observations, record};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_and_metrics() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\noutcome_window = \"1 day\""))).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..40)).await;
    let ask = serde_json::json!({ "record": record(1) });
    service.post(&service.admin, "/v1/policies/clinic/decisions", &ask).await.is(200);
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    assert_eq!(service.get("", "/healthz").await.is(200)["status"], "ok");
    service.get("", "/readyz").await.is(200);
    service.wait_ms(2 * DAY_MS);
    service.caught_up().await;
    let text = service.get(&service.admin, "/metrics").await.text();
    for line in [
        "rarely_decisions_total{policy=\"clinic\"} 1",
        "rarely_outcomes_total{policy=\"clinic\"} 40",
        "rarely_pending_proposals{policy=\"clinic\"} 0",
        "rarely_unanswered_share{policy=\"clinic\",option=\"treat\"} 1",
        "rarely_excluded_share{policy=\"clinic\"}",
        "rarely_stuck_options{policy=\"clinic\"} 0",
        "rarely_store_events_total",
        "rarely_store_failures_total 0",
        "rarely_store_queue_events 0",
        "rarely_commit_duration_seconds_bucket{le=\"+Inf\"}",
        "rarely_commit_events_count",
        "rarely_build_info{version=\"0.0.0\"} 1",
        "rarely_request_seconds_bucket{route=\"/v1/policies/{name}/decisions\",method=\"POST\",status=\"200\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("smoker"), "no record in a measure");
    service.finish();
}

/// Prometheus's own checker, if it is there; `scripts/test` puts it there.
fn promtool(arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/bin/promtool");
    let found = ["promtool", own].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(name) = found else {
        skipped("rarely-server, promtool: it is not installed");
        return None;
    };
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Some((output.status.success(), said))
}

/// `scripts/test` prints what was skipped.
fn skipped(what: &str) {
    let Some(file) = std::env::var_os("RARELY_SKIPPED") else { return };
    let mut file =
        std::fs::OpenOptions::new().append(true).create(true).open(file).expect("the list of what is skipped");
    writeln!(file, "{what}").expect("a line");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_likes_the_metrics() {
    let service = Service::signing();
    service.register(&document("clinic", BY_HAND)).await;
    tokio::task::block_in_place(|| service.app.engine.sign_checkpoint());
    let text = service.get(&service.admin, "/metrics").await.text();
    for line in
        ["rarely_checkpoints_total", "rarely_last_checkpoint_timestamp_seconds", "rarely_checkpoint_failures_total 0"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    service.get("", "/healthz").await.is(200);
    let text = service.get(&service.admin, "/metrics").await.text();
    if let Some((passed, said)) = promtool(&["check", "metrics"], &text) {
        assert!(passed && said.trim().is_empty(), "{said}\n{text}");
    }
    service.finish();
}

/// Every metric that an alert or the dashboard names exists, and Prometheus can read the rules.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_likes_the_alerts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations/alerts.yml");
    let rules = std::fs::read_to_string(path).expect("the rules");
    let dashboard = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations/grafana.json");
    let dashboard = std::fs::read_to_string(dashboard).expect("the dashboard");
    let panels = serde_json::from_str::<serde_json::Value>(&dashboard).expect("JSON")["panels"].clone();
    assert!(panels.as_array().is_some_and(|panels| panels.iter().all(|panel| panel["targets"][0]["expr"].is_string())));
    let rules_and_dashboard = format!("{rules}{dashboard}");
    let service = Service::signing();
    service.register(&document("clinic", BY_HAND)).await;
    tokio::task::block_in_place(|| service.app.engine.sign_checkpoint());
    let text = service.get(&service.admin, "/metrics").await.text();
    let text = text + &service.get(&service.admin, "/metrics").await.text();
    let named = rules_and_dashboard.split(|mark: char| !(mark.is_ascii_alphanumeric() || mark == '_'));
    // The free space of a disk is known only where the service knows the place of its store, and connections where it listens.
    let elsewhere = ["rarely_store_free_bytes", "rarely_connections", "rarely_connections_refused_total"];
    let documented = include_str!("../../../../docs/service.md");
    for name in named.filter(|name| name.starts_with("rarely_")) {
        let known = if elsewhere.contains(&name) { documented.contains(name) } else { text.contains(name) };
        assert!(known, "{name}");
    }
    service.finish();
    if let Some((passed, said)) = promtool(&["check", "rules", path], "") {
        assert!(passed, "{said}");
    }
}

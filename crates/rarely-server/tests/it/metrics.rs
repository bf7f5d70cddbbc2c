//! Health checks and metrics.

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
        "rarely_build_info{version=\"0.0.0\"} 1",
        "rarely_request_seconds_bucket{route=\"/v1/policies/{name}/decisions\",method=\"POST\",status=\"200\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("smoker"), "no record in a measure");
    service.finish();
}

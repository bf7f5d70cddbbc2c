//! Invalid tokens are throttled, counted, and recorded as a summary. Valid ones are never held up.

use serde_json::Value as Json;

use crate::route::status;
use crate::support::Service;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_attempts_are_throttled_and_summarised() {
    let service = Service::new();
    for _ in 0..10 {
        assert_eq!(status(&service, "guess", "GET", "/v1/policies").await, 401);
    }
    for _ in 0..20 {
        let reply = service.get("guess", "/v1/policies").await;
        assert_eq!(reply.status.as_u16(), 429);
        assert!(reply.headers.contains_key("retry-after"));
    }
    assert_eq!(
        status(&service, &service.admin.clone(), "GET", "/v1/policies").await,
        200,
        "whoever has a token is served"
    );
    tokio::task::block_in_place(|| service.app.record_failed_sign_ins());
    let events = service.get(&service.admin, "/v1/events").await.lines();
    let failed: Vec<&Json> = events.iter().filter(|event| event["kind"] == "sign-ins failed").collect();
    assert_eq!(failed.len(), 1, "one event, however many there were");
    assert_eq!(failed[0]["body"]["count"], 30);
    assert!(!failed[0].to_string().contains("guess"));
    let metrics = service.get(&service.admin, "/metrics").await.text();
    assert!(metrics.contains("\nrarely_sign_ins_failed_total 30\n"), "{metrics}");
    service.finish();
}

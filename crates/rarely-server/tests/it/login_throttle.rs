//! Invalid tokens are throttled and logged.

use serde_json::Value as Json;

use crate::route::status;
use crate::support::Service;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_attempts_are_throttled_and_logged() {
    let service = Service::new();
    for _ in 0..10 {
        assert_eq!(status(&service, "guess", "GET", "/v1/policies").await, 401);
    }
    let reply = service.get("guess", "/v1/policies").await;
    assert_eq!(reply.status.as_u16(), 429);
    assert!(reply.headers.contains_key("retry-after"));
    assert_eq!(
        status(&service, &service.admin.clone(), "GET", "/v1/policies").await,
        429,
        "a valid token has to wait too"
    );
    service.wait_ms(61_000);
    // The responses do not wait for the log.
    let mut applied = service.app.engine.subscribe();
    loop {
        applied.borrow_and_update();
        let events = service.get(&service.admin, "/v1/events").await.lines();
        let failed: Vec<&Json> = events.iter().filter(|event| event["kind"] == "sign-in failed").collect();
        assert!(failed.len() <= 10 && failed.iter().all(|event| !event.to_string().contains("guess")));
        if failed.len() == 10 {
            break;
        }
        applied.changed().await.expect("the engine runs");
    }
    service.finish();
}

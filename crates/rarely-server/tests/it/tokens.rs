//! Tokens: creating, listing and revoking them.

use serde_json::json;

use crate::route::status;
use crate::support::{DAY_MS, Service};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_created_listed_and_revoked() {
    let service = Service::new();
    let asked =
        json!({ "name": "clinic", "roles": ["observe", "decide", "decide"], "policies": ["clinic"], "expires": 1 });
    let made = service.post(&service.admin, "/v1/tokens", &asked).await.is(201);
    let token = made["token"].as_str().unwrap().to_owned();
    assert_eq!(made["roles"], json!(["decide", "observe"]));
    let listed = service.get(&service.admin, "/v1/tokens").await;
    assert!(!listed.text().contains(&token[24..]), "no secret is listed");
    assert_eq!(listed.json()["tokens"].as_array().map(Vec::len), Some(2));
    assert_eq!(status(&service, &token, "GET", "/v1/policies").await, 403);
    service.wait_ms(DAY_MS);
    assert_eq!(status(&service, &token, "GET", "/v1/policies").await, 401, "its day is over");
    for (wrong, field) in [
        (json!({ "name": "engine", "roles": ["read"] }), "name"),
        (json!({ "name": "", "roles": ["read"] }), "name"),
        (json!({ "name": "a/b", "roles": ["read"] }), "name"),
        (json!({ "name": "n".repeat(129), "roles": ["read"] }), "name"),
        (json!({ "name": "ann", "roles": [] }), "roles"),
        (json!({ "name": "ann", "roles": ["king"] }), "roles[0]"),
        (json!({ "name": "ann", "roles": ["read"], "policies": [] }), "policies"),
        (json!({ "name": "ann", "roles": ["read"], "expires": 0 }), "expires"),
        (json!({ "name": "ann", "roles": ["read"], "expire": 3 }), "expire"),
        (json!({ "roles": ["read"] }), "name"),
    ] {
        assert_eq!(service.post(&service.admin, "/v1/tokens", &wrong).await.is(422)["field"], field, "{wrong}");
    }
    service.finish();
}

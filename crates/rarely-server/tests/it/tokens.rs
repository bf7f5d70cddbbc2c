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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_an_id_and_nobody_looks_like_another() {
    let service = Service::new();
    let here = &service;
    let create = |body: serde_json::Value| async move { here.post(&here.admin, "/v1/tokens", &body).await };
    let made = create(json!({ "name": " Ann  Lee", "roles": ["review"] })).await.is(201);
    assert_eq!((&made["name"], &made["person"]), (&json!("Ann Lee"), &json!("ann lee")));
    let again = create(json!({ "name": "A. Lee", "person": "ann lee", "roles": ["read"] })).await.is(201);
    assert_eq!(again["person"], "ann lee");
    let alike = create(json!({ "name": "\u{410}nn Lee", "roles": ["review"] })).await.is(409);
    assert_eq!(alike["field"], "name");
    assert!(alike["detail"].as_str().unwrap().contains("another person: \"Ann Lee\""), "{alike}");
    assert!(alike["remedy"].as_str().unwrap().contains("give the id \"ann lee\""), "{alike}");
    for (wrong, field) in [
        (json!({ "name": "Be\u{200b}n", "roles": ["read"] }), "name"),
        (json!({ "name": "Ben", "person": "b\u{202e}en", "roles": ["read"] }), "person"),
        (json!({ "name": "Ben", "person": "b".repeat(129), "roles": ["read"] }), "person"),
        (json!({ "name": "Engine", "roles": ["read"] }), "name"),
        (json!({ "name": "c\u{43e}nsole", "roles": ["read"] }), "name"),
    ] {
        assert_eq!(create(wrong.clone()).await.is(422)["field"], field, "{wrong}");
    }
    let own = service.admin.split('_').nth(1).unwrap();
    let last = service.call(&service.admin, "DELETE", &format!("/v1/tokens/{own}"), "", "").await.is(409);
    assert!(last["detail"].as_str().unwrap().contains("the last one with the role `admin`"), "{last}");
    service.finish();
}

//! Every route × every role × no token, from a table.

use std::collections::BTreeSet;

use rarely_live::Role::{self, Admin, Decide, Observe, Read, Review};
use rarely_server::openapi;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document};

/// Who may; nobody named means everybody, with or without a token.
const TABLE: [(&str, &str, &[Role]); 27] = [
    ("GET", "/healthz", &[]),
    ("GET", "/readyz", &[]),
    ("GET", "/openapi.json", &[]),
    ("GET", "/docs", &[]),
    ("GET", "/docs.css", &[]),
    ("GET", "/metrics", &[Read, Review, Admin]),
    ("POST", "/v1/policies", &[Admin]),
    ("GET", "/v1/policies", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}/versions", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}/versions/{number}", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}/evidence", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}/proposals", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}/proposals/{number}", &[Read, Review, Admin]),
    ("POST", "/v1/policies/{name}/proposals/{number}/approve", &[Review, Admin]),
    ("POST", "/v1/policies/{name}/proposals/{number}/reject", &[Review, Admin]),
    ("POST", "/v1/policies/{name}/rollback", &[Review, Admin]),
    ("POST", "/v1/policies/{name}/stop", &[Review, Admin]),
    ("POST", "/v1/policies/{name}/resume", &[Review, Admin]),
    ("POST", "/v1/policies/{name}/review", &[Review, Admin]),
    ("POST", "/v1/policies/{name}/decisions", &[Decide, Admin]),
    ("GET", "/v1/policies/{name}/decisions/{decision}", &[Read, Review, Admin]),
    ("POST", "/v1/policies/{name}/outcomes", &[Observe, Admin]),
    ("POST", "/v1/policies/{name}/observations", &[Observe, Admin]),
    ("GET", "/v1/policies/{name}/events", &[Read, Review, Admin]),
    ("GET", "/v1/policies/{name}/export", &[Read, Review, Admin]),
    ("GET", "/v1/events", &[Admin]),
];
/// Routes that make or take tokens.
const TOKENS: [(&str, &str, &[Role]); 3] =
    [("POST", "/v1/tokens", &[Admin]), ("GET", "/v1/tokens", &[Admin]), ("DELETE", "/v1/tokens/{id}", &[Admin])];
/// Routes that a token for one policy cannot use, whatever its role.
const EVERYWHERE: [&str; 5] = ["/metrics", "/v1/events", "/v1/tokens", "/v1/tokens/{id}", "POST /v1/policies"];

fn table() -> impl Iterator<Item = (&'static str, &'static str, &'static [Role])> {
    TABLE.into_iter().chain(TOKENS)
}

fn filled(path: &str, policy: &str) -> String {
    path.replace("{name}", policy)
        .replace("{number}", "1")
        .replace("{decision}", "1")
        .replace("{id}", "0123456789abcdef")
}

/// A request without a body, which is enough to know who is let in.
async fn status(service: &Service, token: &str, method: &str, path: &str) -> u16 {
    service.call(token, method, path, if method == "POST" { "application/json" } else { "" }, "").await.status.as_u16()
}

#[test]
fn the_table_has_every_route() {
    let declared = openapi("0.0.0");
    let mut known = BTreeSet::new();
    for (path, methods) in declared["paths"].as_object().unwrap() {
        known.extend(methods.as_object().unwrap().keys().map(|method| format!("{} {path}", method.to_uppercase())));
    }
    let listed: BTreeSet<String> = table().map(|(method, path, _)| format!("{method} {path}")).collect();
    assert_eq!(known, listed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_and_every_role() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.register(&document("other", BY_HAND)).await;
    for role in Role::ALL {
        let everywhere = service.token("somebody", &[role], None);
        let there = service.token("somebody", &[role], Some(&["clinic"]));
        for (method, path, allowed) in table() {
            let open = allowed.is_empty();
            let may = open || allowed.contains(&role);
            let place = format!("{method} {path} as {role}");
            let got = status(&service, &everywhere, method, &filled(path, "clinic")).await;
            assert_eq!(got != 403 && got != 401, may, "{place}: {got}");
            // A token for one policy: there as well, elsewhere never, and not where all policies are meant.
            let got = status(&service, &there, method, &filled(path, "clinic")).await;
            let for_all = EVERYWHERE.contains(&path) || EVERYWHERE.contains(&format!("{method} {path}").as_str());
            assert_eq!(got != 403, may && !for_all, "{place}, for one: {got}");
            if path.contains("{name}") {
                assert_eq!(status(&service, &there, method, &filled(path, "other")).await, 403, "{place}, elsewhere");
                assert_eq!(status(&service, &there, method, &filled(path, "nobody")).await, 403, "{place}, nowhere");
                let unknown = status(&service, &everywhere, method, &filled(path, "nobody")).await;
                assert_eq!(unknown, if may { 404 } else { 403 }, "{place}, nowhere");
            }
        }
    }
    let mine = service.token("somebody", &[Read], Some(&["clinic"]));
    let seen = service.get(&mine, "/v1/policies").await.is(200);
    assert_eq!(seen["policies"].as_array().map(Vec::len), Some(1), "only what it is for");
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_let_nobody_in() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let (revoked, id) = service.token_until("gone", &[Admin], None, None);
    service.call(&service.admin, "DELETE", &format!("/v1/tokens/{id}"), "", "").await.is(204);
    service.call(&service.admin, "DELETE", &format!("/v1/tokens/{id}"), "", "").await.is(404);
    let (expired, _) = service.token_until("late", &[Admin], None, Some(crate::support::START_MS + 1));
    service.wait_ms(120_000);
    let mut forged = service.admin.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == '0' { '1' } else { '0' });
    let wrong = [revoked.as_str(), &expired, &forged, "rarely_", "nonsense", "rarely_0123456789abcdef_0123"];
    for (method, path, _) in table().filter(|(_, _, allowed)| !allowed.is_empty()) {
        let path = filled(path, "clinic");
        let reply = service.call("", method, &path, "", "").await;
        assert_eq!((reply.status.as_u16(), &reply.headers["www-authenticate"]), (401, &"Bearer".parse().unwrap()));
        for token in wrong {
            assert_eq!(status(&service, token, method, &path).await, 401, "{method} {path} {token}");
        }
        // Ten wrong ones in a minute are let pass.
        service.wait_ms(61_000);
    }
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessing_is_slowed_down_and_written_down() {
    let service = Service::new();
    for _ in 0..10 {
        assert_eq!(status(&service, "guess", "GET", "/v1/policies").await, 401);
    }
    let reply = service.get("guess", "/v1/policies").await;
    assert_eq!(reply.status.as_u16(), 429);
    assert!(reply.headers.contains_key("retry-after"));
    assert_eq!(status(&service, &service.admin.clone(), "GET", "/v1/policies").await, 429, "whoever it is");
    service.wait_ms(61_000);
    // They are written down beside the answers.
    loop {
        let events = service.get(&service.admin, "/v1/events").await.lines();
        let failed: Vec<&Json> = events.iter().filter(|event| event["kind"] == "sign-in failed").collect();
        assert!(failed.len() <= 10 && failed.iter().all(|event| !event.to_string().contains("guess")));
        if failed.len() == 10 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_made_listed_and_taken_back() {
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
    service.wait_ms(crate::support::DAY_MS);
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

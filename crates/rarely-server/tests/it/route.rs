//! Who may call each route, and odd paths.

use std::collections::BTreeSet;

use rarely_live::Role::{self, Admin, Auditor, Decide, Observe, Read, Review};
use rarely_server::openapi;

use crate::support::{BY_HAND, Service, document};

/// The roles that may call each route. An empty list means that no token is needed.
const TABLE: [(&str, &str, &[Role]); 39] = [
    ("GET", "/healthz", &[]),
    ("GET", "/readyz", &[]),
    ("GET", "/openapi.json", &[]),
    ("GET", "/docs", &[]),
    ("GET", "/docs.css", &[]),
    ("GET", "/metrics", &[Read, Auditor, Review, Admin]),
    ("POST", "/v1/policies", &[Admin]),
    ("GET", "/v1/policies", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}/versions", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}/versions/{number}", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}/evidence", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}/proposals", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}/proposals/{number}", &[Read, Auditor, Review, Admin]),
    ("POST", "/v1/policies/{name}/amendments", &[Admin]),
    ("POST", "/ofrep/v1/evaluate/flags/{name}", &[Decide, Admin]),
    ("POST", "/v1/policies/{name}/proposals/{number}/approve", &[Review]),
    ("POST", "/v1/policies/{name}/proposals/{number}/reject", &[Review]),
    ("POST", "/v1/policies/{name}/rollback", &[Review]),
    ("POST", "/v1/policies/{name}/stop", &[Review]),
    ("POST", "/v1/policies/{name}/resume", &[Review]),
    ("POST", "/v1/policies/{name}/review", &[Review]),
    ("POST", "/v1/policies/{name}/decisions", &[Decide, Admin]),
    ("GET", "/v1/policies/{name}/decisions/{decision}", &[Read, Auditor, Review, Admin]),
    ("POST", "/v1/policies/{name}/decisions/{decision}/override", &[Decide, Admin]),
    ("POST", "/v1/policies/{name}/shadow", &[Review]),
    ("GET", "/v1/policies/{name}/shadow", &[Read, Auditor, Review, Admin]),
    ("DELETE", "/v1/policies/{name}/shadow", &[Review]),
    ("POST", "/v1/policies/{name}/outcomes", &[Observe, Admin]),
    ("POST", "/v1/policies/{name}/observations", &[Observe, Admin]),
    ("POST", "/v1/policies/{name}/history", &[Observe, Admin]),
    ("GET", "/v1/policies/{name}/events", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/policies/{name}/export", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/events", &[Auditor, Admin]),
    ("GET", "/v1/checkpoint", &[]),
    ("GET", "/v1/checkpoint/key", &[]),
    ("GET", "/v1/checkpoint/consistency", &[]),
    ("GET", "/v1/policies/{name}/events/{number}/proof", &[Read, Auditor, Review, Admin]),
    ("GET", "/v1/events/{number}/proof", &[Auditor, Admin]),
];

/// The routes of tokens, of people's keys and of erasures.
const TOKENS: [(&str, &str, &[Role]); 7] = [
    ("POST", "/v1/erasures", &[Admin]),
    ("POST", "/v1/tokens", &[Admin]),
    ("GET", "/v1/tokens", &[Auditor, Admin]),
    ("DELETE", "/v1/tokens/{id}", &[Admin]),
    ("POST", "/v1/keys", &[Admin]),
    ("GET", "/v1/keys", &[Read, Auditor, Review, Admin]),
    ("DELETE", "/v1/keys/{id}", &[Admin]),
];
/// Routes that require a role on all policies.
const EVERYWHERE: [&str; 9] = [
    "/v1/erasures",
    "/metrics",
    "/v1/events",
    "/v1/events/{number}/proof",
    "/v1/tokens",
    "/v1/tokens/{id}",
    "POST /v1/keys",
    "/v1/keys/{id}",
    "POST /v1/policies",
];

pub(crate) fn table() -> impl Iterator<Item = (&'static str, &'static str, &'static [Role])> {
    TABLE.into_iter().chain(TOKENS)
}

pub(crate) fn filled(path: &str, policy: &str) -> String {
    path.replace("{name}", policy)
        .replace("{number}", "1")
        .replace("{decision}", "1")
        .replace("{id}", "0123456789abcdef")
}

/// The status of a request without a body, which is enough to test access.
pub(crate) async fn status(service: &Service, token: &str, method: &str, path: &str) -> u16 {
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
            // A token for one policy: the same on this policy, 403 on others and on routes that require a role on all policies.
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
async fn odd_paths_and_methods() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.register(&document("größe 1%", BY_HAND)).await;
    for (path, status) in [
        ("/v1/policies/clinic", 200),
        ("/v1/policies/%63linic", 200),
        ("/v1/policies/gr%C3%B6%C3%9Fe%201%25", 200),
        ("/v1/policies/gr%C3", 400),
        ("/v1/policies/clinic%2Fversions", 404),
        ("/v1/policies/%2e%2e/policies", 404),
        ("/v1/policies/../tokens", 404),
        ("/v1//policies", 404),
        ("/v1/policies/", 404),
        ("/v1/policies//versions", 404),
        ("/v1/policies/clinic/", 404),
        ("/v1/policies/clinic/versions/0", 404),
        ("/v1/policies/clinic/versions/-1", 404),
        ("/v1/policies/clinic/versions/one", 404),
        ("/v1/policies/clinic/versions/99999999999999999999999", 404),
        ("/v1/policies/clinic/decisions/18446744073709551615", 404),
        ("/v1/policies/clinic/events?after=x", 400),
        ("/v1/policies/clinic/events?after=18446744073709551615", 200),
        ("/v1/policies/clinic/events?limit=0", 200),
        ("/v1/policies/clinic/events?unknown=1", 400),
        ("/v1/policies/clinic?version=1", 400),
        ("/v1/policies/clinic?", 200),
        ("/V1/policies", 404),
        ("/v2/policies", 404),
        ("/v1/policies/clinic%00", 404),
    ] {
        let got = service.get(&service.admin, path).await;
        assert_eq!(got.status.as_u16(), status, "{path}: {}", got.text());
    }
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let got = service.call(&service.admin, method, "/v1/policies/clinic", "", "").await;
        assert_eq!((got.status.as_u16(), got.headers["allow"].to_str().unwrap()), (405, "GET,HEAD"), "{method}");
    }
    let head = service.call(&service.admin, "HEAD", "/v1/policies/clinic", "", "").await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    service.finish();
}

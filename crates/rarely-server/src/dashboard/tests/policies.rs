//! The list of policies.

use axum::http::StatusCode;
use rarely_live::Role;

use super::{TestService, blocking};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_shows_only_its_policies() {
    let service = TestService::new(false);
    let simple = |name: &str| {
        format!(
            "policy = \"{name}\"\noptions = [\"a\", \"b\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n[[features]]\ncolumn = \"x\"\n\
             range = [0, 1]\n[rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"a\", \"b\"] }}\n"
        )
    };
    for name in ["one", "other"] {
        blocking(|| service.engine.register("Ann", &simple(name), 1)).expect("a policy");
    }
    let session = service.sign_in(&service.token(1, "Ben", Role::Review, Some(&["one"]))).await;
    let page = service.get("/", &session).await.body;
    assert!(page.contains("/policies/one") && !page.contains("/policies/other"), "{page}");
    assert!(!page.contains("id=\"document\""), "only an administrator registers");
    for (path, status) in [
        ("/policies/one", StatusCode::OK),
        ("/policies/one/audit", StatusCode::OK),
        ("/policies/one/proposals/1", StatusCode::NOT_FOUND),
        ("/policies/one/decisions/1", StatusCode::NOT_FOUND),
        ("/policies/other", StatusCode::FORBIDDEN),
        ("/policies/other/audit", StatusCode::FORBIDDEN),
        ("/policies/other/live", StatusCode::FORBIDDEN),
        ("/policies/other/proposals/1", StatusCode::FORBIDDEN),
        ("/policies/other/decisions/1", StatusCode::FORBIDDEN),
        ("/policies/none", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(service.get(path, &session).await.status, status, "{path}");
    }
    let csrf = service.csrf(&session).await;
    let answer = service.post("/", &session, &[("csrf", &csrf), ("document", &simple("third"))]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let reader = service.sign_in(&service.token(2, "Eve", Role::Read, None)).await;
    let csrf = service.csrf(&reader).await;
    assert_eq!(service.post("/policies/one/review", &reader, &[("csrf", &csrf)]).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_are_listed_in_pages_of_a_hundred() {
    let service = TestService::new(false);
    let text = |at: u32| {
        format!(
            "policy = \"policy {at:03}\"\noptions = [\"a\", \"b\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n[[features]]\n\
             column = \"x\"\nrange = [0, 1]\n[rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"a\", \"b\"] }}\n"
        )
    };
    for at in 0..205 {
        blocking(|| service.engine.register("Ann", &text(at), 1)).expect("a policy");
    }
    let session = service.sign_in(&service.token(1, "Ann", Role::Read, None)).await;
    let rows = |page: &str| page.matches("<th scope=\"row\">").count();
    let first = service.get("/", &session).await.body;
    assert_eq!(rows(&first), 100);
    assert!(first.contains("205\u{a0}policies") && first.contains("page 1 of 3"), "{first}");
    assert_eq!(rows(&service.get("/?page=3", &session).await.body), 5);
    assert_eq!(rows(&service.get("/?page=99", &session).await.body), 5, "beyond the last is the last");
    assert_eq!(rows(&service.get("/?q=POLICY+00", &session).await.body), 10);
    assert!(service.get("/?q=nothing", &session).await.body.contains("No policy matches"));
    assert!(service.get("/?waiting=yes", &session).await.body.contains("No policy matches"));
}

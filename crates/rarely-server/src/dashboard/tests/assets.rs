//! The style sheet and the script.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use tower::ServiceExt as _;

use super::TestService;

#[tokio::test(flavor = "multi_thread")]
async fn browsers_may_cache_assets_forever() {
    let service = TestService::new(false);
    for path in ["/assets/style.css", "/assets/live.js"] {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let response = service.router.clone().oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    }
    let page = service.get("/sign-in", "").await.body;
    assert!(page.contains("/assets/style.css?"), "{page}");
}

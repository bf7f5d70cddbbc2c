//! Notifications of new events.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use futures_util::StreamExt as _;
use rarely_live::Role;
use rarely_live::engine::PolicyHandle;
use tower::ServiceExt as _;

use super::{PAGE, TestService, policy_with_an_outcome, report_one_outcome};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_notified_until_the_service_shuts_down() {
    let service = TestService::new(false);
    let handle = policy_with_an_outcome(&service).await;
    let session = service.sign_in(&service.token(1, "Ann", Role::Read, None)).await;
    let request = Request::get(format!("{PAGE}/live")).header(header::COOKIE, format!("rarely_session={session}"));
    let response =
        service.router.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut stream = response.into_body().into_data_stream();
    let last = |handle: &PolicyHandle| format!("data: {}\n\n", handle.live.lock().state().last_event);
    assert_eq!(stream.next().await.expect("a message").expect("bytes"), last(&handle));
    report_one_outcome(&service, &handle).await;
    assert_eq!(
        stream.next().await.expect("a message").expect("bytes"),
        last(&handle),
        "a second later, both events at once"
    );
    assert_eq!(service.get(&format!("{PAGE}/live"), "").await.status, StatusCode::NO_CONTENT, "the end, for a browser");
    service.app.close();
    assert!(stream.next().await.is_none(), "a server that stops does not wait for pages");
}

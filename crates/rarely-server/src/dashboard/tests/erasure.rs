//! The form that erases a person.

use axum::http::StatusCode;
use rarely_live::engine::DecisionRequest;
use rarely_live::{RecordField, Role};

use super::{DOCUMENT, PAGE, TestService, blocking};
use crate::dashboard::erasure::ADDRESS;

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_erases_a_person_and_pages_say_so() {
    let service = TestService::new(false);
    let handle = blocking(|| service.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    let ask = handle.edition().request_of(None, vec![RecordField::Number(61.625)]).expect("in range");
    let ask = DecisionRequest { subject: Some("patient 4711".to_owned()), ..ask };
    let decision = service.engine.decide(&handle, "ward", vec![ask]).await.remove(0).expect("an answer").decision;
    let reader = service.sign_in(&service.token(1, "Ben", Role::Review, None)).await;
    assert_eq!(service.get(ADDRESS, &reader).await.status, StatusCode::FORBIDDEN);
    let session = service.sign_in(&service.token(2, "Eve", Role::Admin, None)).await;
    let explained = format!("{PAGE}/decisions/{decision}");
    assert!(service.get(&explained, &session).await.body.contains("61.625"));
    assert!(service.get(ADDRESS, &session).await.body.contains("Erase a person"));
    let csrf = service.csrf(&session).await;
    let fields =
        |csrf, subject| [("csrf", csrf), ("subject", subject), ("reason", "asked for it"), ("statistics", "keep")];
    assert_eq!(service.post(ADDRESS, &session, &fields("no", "patient 4711")).await.status, StatusCode::FORBIDDEN);
    let nobody = service.post(ADDRESS, &session, &fields(&csrf, "nobody")).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
    assert!(nobody.body.contains("There is no record of this person"), "{}", nobody.body);
    let erased = service.post(ADDRESS, &session, &fields(&csrf, "patient 4711")).await;
    assert_eq!(erased.status, StatusCode::OK);
    assert!(erased.body.contains("The person is erased: the records of 1\u{a0}decision"), "{}", erased.body);
    let page = service.get(&explained, &session).await.body;
    assert!(page.contains("Erased on") && !page.contains("61.625"), "{page}");
    let events = service.get(&format!("{PAGE}/audit"), &session).await.body;
    assert!(events.contains("A person was erased by") && events.contains("The person was erased since."), "{events}");
}

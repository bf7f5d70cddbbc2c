//! Names and texts are escaped on every page.

use axum::http::StatusCode;
use rarely_live::engine::NewOutcome;
use rarely_live::{RecordField, Role};
use std::collections::BTreeMap;

use super::{DOCUMENT, NAME, PAGE, TestService, blocking};

#[tokio::test(flavor = "multi_thread")]
async fn names_and_texts_are_escaped() {
    let service = TestService::new(false);
    let token = service.token(1, "<b>Ann</b>", Role::Admin, None);
    let signing = service.token(2, "<b>Ann</b>", Role::Review, None);
    let session = service.sign_in(&token).await;
    let csrf = service.csrf(&session).await;
    let answer = service
        .post("/", &session, &[("csrf", &csrf), ("document", &DOCUMENT.replace("cuts = [50]", "cuts = [500]"))])
        .await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.body.contains("line 11, column"), "{}", answer.body);
    let mut pages = vec![answer.body];
    // The API does not allow a slash in a name, but the engine does.
    blocking(|| service.engine.register("<b>Ann</b>", DOCUMENT, 1)).expect("a policy");
    let handle = service.engine.policy(NAME).expect("a policy");
    let mut last = 0;
    for value in 0..40 {
        let record = vec![RecordField::Number(f64::from(value) * 2.5)];
        let ask = handle.edition().request_of(Some(format!("<s>{value}</s>")), record).expect("in range");
        last = service.engine.decide(&handle, "<b>ward</b>", vec![ask]).await.remove(0).expect("an answer").decision;
        let report = |outcome, correction| NewOutcome::OfDecision {
            decision: last,
            outcome,
            guardrails: BTreeMap::new(),
            correction,
        };
        service.engine.observe(&handle, "<b>ward</b>", vec![report(0.5, None)]).await.remove(0).expect("taken in");
        let reason = Some("<s>typing error</s>".to_owned());
        service.engine.observe(&handle, "<b>ward</b>", vec![report(0.25, reason)]).await.remove(0).expect("taken in");
    }
    let fields =
        [("csrf", csrf.as_str()), ("meaning", "<i>kept</i>"), ("reason", "<script>1</script>"), ("token", &signing)];
    let answer = service.post(&format!("{PAGE}/confirm"), &session, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    for path in ["", "/audit", &format!("/decisions/{last}"), "/audit?kind=decided&actor=%22%3E%3Cscript%3E"] {
        let answer = service.get(&format!("{PAGE}{path}"), &session).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        pages.push(answer.body);
    }
    pages.push(service.get("/?q=%3Cscript%3E", &session).await.body);
    for page in pages {
        for code in ["<script>", "<b>", "<i>", "<u>", "<s>", "<img"] {
            assert!(!page.contains(code), "{code} in {page}");
        }
        assert!(!page.contains(" style=\"") && !page.contains(" onclick"), "nothing inline");
    }
}

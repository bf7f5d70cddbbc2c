//! Forms and signatures.

use axum::http::StatusCode;
use rarely_live::Role;

use super::{DOCUMENT, NAME, PAGE, TestService, blocking};

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_another_session_is_rejected() {
    let service = TestService::new(false);
    blocking(|| service.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    let token = service.token(1, "Ann", Role::Admin, None);
    let session = service.sign_in(&token).await;
    let other = service.csrf(&service.sign_in(&token).await).await;
    let forms = ["review", "confirm", "rollback", "stop", "resume", "proposals/1/approve", "proposals/1/reject"];
    let paths = forms.iter().map(|form| format!("{PAGE}/{form}"));
    for path in paths.chain(["/".to_owned(), "/sign-out".to_owned()]) {
        for csrf in ["", "wrong", &other] {
            let fields = [
                ("csrf", csrf),
                ("meaning", "m"),
                ("reason", "r"),
                ("token", &token),
                ("to", "1"),
                ("document", DOCUMENT),
            ];
            assert_eq!(
                service.post(&path, &session, &fields).await.status,
                StatusCode::FORBIDDEN,
                "{path} with {csrf:?}"
            );
        }
        let fields = [("csrf", "x"), ("meaning", "m"), ("reason", "r"), ("token", &token), ("document", "")];
        assert_eq!(service.post(&path, "", &fields).await.location, "/sign-in", "{path} without a session");
    }
    assert!(!service.engine.policy(NAME).expect("a policy").live.lock().state().stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_requires_the_signers_own_token_and_keeps_the_input() {
    let service = TestService::new(false);
    blocking(|| service.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    let (ann, ben) = (service.token(1, "Ann", Role::Admin, None), service.token(2, "Ben", Role::Review, None));
    let reading = service.token(3, "Ann", Role::Read, None);
    let session = service.sign_in(&ann).await;
    let csrf = service.csrf(&session).await;
    let path = format!("{PAGE}/stop");
    let reason = "because <em>it hurts</em>";
    let cases = [
        ("wrong", StatusCode::UNAUTHORIZED, "not a rarely token"),
        (ben.as_str(), StatusCode::FORBIDDEN, "This token belongs to Ben, but you are signed in as Ann."),
        (&reading, StatusCode::FORBIDDEN, "requires the role `review`"),
    ];
    for (token, status, words) in cases {
        let fields = [("csrf", csrf.as_str()), ("meaning", "I stop \"it\""), ("reason", reason), ("token", token)];
        let answer = service.post(&path, &session, &fields).await;
        assert_eq!(answer.status, status);
        assert!(
            answer.body.replace("&#x27;", "&#39;").replace('\'', "&#39;").contains(words),
            "{words}: {}",
            answer.body
        );
        assert!(answer.body.contains("because &lt;em&gt;it hurts&lt;/em&gt;"), "the words are kept, and are words");
        assert!(answer.body.contains("I stop &quot;it&quot;"));
        assert!(!answer.body.contains(token) || token == "wrong", "a token is never sent back");
    }
    let fields = [("csrf", csrf.as_str()), ("meaning", "I stop it"), ("reason", " "), ("token", &ann)];
    assert_eq!(
        service.post(&path, &session, &fields).await.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "no reason is none"
    );
    let long = "x".repeat(4001);
    let fields = [("csrf", csrf.as_str()), ("meaning", "I stop it"), ("reason", long.as_str()), ("token", &ann)];
    assert_eq!(service.post(&path, &session, &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY, "too long");
    let fields = [("csrf", csrf.as_str()), ("meaning", "I stop it"), ("reason", reason), ("token", &ann)];
    assert_eq!(service.post(&path, &session, &fields).await.location, format!("{PAGE}?done=stopped"));
    assert!(service.engine.policy(NAME).expect("a policy").live.lock().state().stopped);
    assert_eq!(service.post(&path, &session, &fields).await.status, StatusCode::CONFLICT, "it is stopped already");
}

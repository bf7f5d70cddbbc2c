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
    let others = ["/", "/sign-out", "/keys", "/keys/revoke"].map(ToOwned::to_owned);
    for path in paths.chain(others) {
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
    let (ann, ben) = (service.token(1, "Ann", Role::Review, None), service.token(2, "Ben", Role::Review, None));
    let reading = service.token(3, "ANN", Role::Read, None);
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

/// Under `signatures = "key"` a token stops the policy and does nothing else; the page says what to do.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_the_page_says_what_to_do() {
    let service = TestService::new(false);
    blocking(|| service.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    let token = service.token(1, "Ann", Role::Review, None);
    let session = service.sign_in(&token).await;
    let csrf = service.csrf(&session).await;
    let fields = [("csrf", csrf.as_str()), ("meaning", "m"), ("reason", "r"), ("token", &token)];
    assert_eq!(service.post(&format!("{PAGE}/stop"), &session, &fields).await.location, format!("{PAGE}?done=stopped"));
    let page = service.get(PAGE, &session).await.body;
    assert!(page.contains("People sign with keys of their own"), "{page}");
    assert!(page.contains("href=\"/keys\"") && page.contains("rarely sign resume"), "{page}");
    let refused = service.post(&format!("{PAGE}/resume"), &session, &fields).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(
        refused.body.contains("This requires a signature with a key of Ann, not only a token."),
        "{}",
        refused.body
    );
    let keys = service.get("/keys", &session).await.body;
    assert!(keys.contains("You have no key yet") && keys.contains("rarely serve --public-url"), "{keys}");
    assert!(!keys.contains("data-passkey"), "without an address there are no passkeys");
    let broken = [("csrf", csrf.as_str()), ("token", &token), ("passkey", "{}")];
    assert_eq!(service.post("/keys", &session, &broken).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let broken = [("csrf", csrf.as_str()), ("id", "0"), ("meaning", "m"), ("reason", "r"), ("credential", "x")];
    assert_eq!(service.post("/keys/revoke", &session, &broken).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let file = rarely_store::NoteSigner::generate("Ann").key().clone();
    blocking(|| service.engine.register_person_key("console", "Ann", None, file.clone())).expect("registered");
    let keys = service.get("/keys", &session).await.body;
    assert!(keys.contains(&file.id()) && keys.contains("revokes key files"), "{keys}");
    let page = service.get(PAGE, &session).await.body;
    assert!(page.contains("Sign at a shell with your key file"), "{page}");
}

//! The pages through the router, without a browser.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use futures_util::StreamExt as _;
use rarely_live::engine::{DecisionRequest, Durability, EngineOptions, NewOutcome, PolicyHandle};
use rarely_live::event::Signature;
use rarely_live::{Engine, RecordField, Role, TokenGrant};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::policy::evidence::EvidenceCache;
use super::routes;
use super::session::LENGTH_MS;
use crate::app::{App, ServiceSettings};

/// Names that are code where somebody forgot to escape them.
const DOCUMENT: &str = r#"policy = "<script>alert(1)</script>"
options = ["<b>watch</b>", "treat & see"]
outcome = { column = "<i>benefit</i>", range = [0, 1] }
[[features]]
column = "\"><img src=x>"
unit = "<u>"
range = [0, 100]
[control]
outcome_window = "1 day"
[rule]
threshold = { feature = "\"><img src=x>", cuts = [50], options = ["<b>watch</b>", "treat & see"] }
"#;
const NAME: &str = "<script>alert(1)</script>";
const PAGE: &str = "/policies/%3Cscript%3Ealert%281%29%3C%2Fscript%3E";

struct Bench {
    app: Arc<App>,
    router: Router,
    engine: Arc<Engine>,
    now: Arc<AtomicU64>,
    _folder: TempDir,
}

/// Does what waits for the disk.
fn beside<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}

/// What a page answered.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    location: String,
    cookie: String,
    body: String,
}

impl Bench {
    fn new(secure: bool) -> Self {
        let (folder, now) = (tempfile::tempdir().expect("a folder"), Arc::new(AtomicU64::new(1_000_000)));
        let clock = now.clone();
        let options = EngineOptions {
            durability: Durability::Relaxed,
            clock: Arc::new(move || clock.load(Ordering::SeqCst)),
            draw: Arc::new(|_, _| Vec::new()),
            snapshot_every: 1_000_000,
        };
        let engine =
            Engine::start(&folder.path().join("rarely.db"), options, |_| {}).unwrap_or_else(|error| panic!("{error}"));
        let app = Arc::new(App::new(engine.clone(), ServiceSettings { secure, version: "test" }));
        Self { router: routes(app.clone()), app, engine, now, _folder: folder }
    }

    /// A token, by the byte it is made of.
    fn token(&self, byte: u8, name: &str, role: Role, policies: Option<&[&str]>) -> String {
        let policies = policies.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let (token, grant) = TokenGrant::new([byte; 40], name, vec![role], policies, Some(1_000_000_000));
        beside(|| self.engine.create_token("test", grant)).expect("a token");
        token
    }

    async fn ask(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.expect("an answer");
        let text = |name| response.headers().get(name).map_or("", |value| value.to_str().expect("text")).to_owned();
        let (status, location, cookie) = (response.status(), text(header::LOCATION), text(header::SET_COOKIE));
        let body = to_bytes(response.into_body(), 1 << 24).await.expect("a body");
        Answer { status, location, cookie, body: String::from_utf8(body.to_vec()).expect("text") }
    }

    async fn get(&self, path: &str, session: &str) -> Answer {
        let cookie = format!("other=1; rarely_session={session}");
        self.ask(Request::get(path).header(header::COOKIE, cookie).body(Body::empty()).expect("a request")).await
    }

    async fn post(&self, path: &str, session: &str, fields: &[(&str, &str)]) -> Answer {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", super::percent_encoded(value))).collect();
        let request = Request::post(path)
            .header(header::COOKIE, format!("rarely_session={session}"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.ask(request.body(Body::from(body.join("&"))).expect("a request")).await
    }

    /// The secret of a new session.
    async fn sign_in(&self, token: &str) -> String {
        let answer = self.post("/sign-in", "", &[("token", token)]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        let pair = answer.cookie.split(';').next().expect("a cookie");
        pair.strip_prefix("rarely_session=").expect("our cookie").to_owned()
    }

    async fn csrf(&self, session: &str) -> String {
        let page = self.get("/", session).await.body;
        let rest = page.split_once("name=\"csrf\" value=\"").expect("a form").1;
        rest.split('"').next().expect("a value").to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_with_a_token_and_ends_with_it() {
    let bench = Bench::new(true);
    let token = bench.token(1, "Ann", Role::Read, None);
    let answer = bench.get("/policies/x", "").await;
    assert_eq!((answer.status, answer.location.as_str()), (StatusCode::SEE_OTHER, "/sign-in?next=%2Fpolicies%2Fx"));
    let answer = bench.post("/sign-in", "", &[("token", "wrong"), ("next", "/policies/x")]).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.contains("This is not a rarely token"), "{}", answer.body);
    assert!(answer.cookie.is_empty());

    let answer = bench.post("/sign-in", "", &[("token", &token), ("next", "/policies/x")]).await;
    assert_eq!(answer.location, "/policies/x");
    let flags: Vec<&str> = answer.cookie.split("; ").skip(1).collect();
    assert_eq!(flags, ["Path=/", "Max-Age=28800", "HttpOnly", "SameSite=Strict", "Secure"]);

    let session = bench.sign_in(&token).await;
    assert_eq!(bench.get("/", &session).await.status, StatusCode::OK);
    bench.now.fetch_add(LENGTH_MS, Ordering::SeqCst);
    assert_eq!(bench.get("/", &session).await.status, StatusCode::SEE_OTHER, "eight hours are over");
    let session = bench.sign_in(&token).await;
    beside(|| bench.engine.revoke_token("test", &"01".repeat(8))).expect("revoked");
    assert_eq!(bench.get("/", &session).await.location, "/sign-in", "a revoked token's session is dead");

    let token = bench.token(2, "Ben", Role::Read, None);
    let session = bench.sign_in(&token).await;
    bench.now.store(1_000_000_000, Ordering::SeqCst);
    assert_eq!(bench.get("/", &session).await.location, "/sign-in", "an expired token's session is dead");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tls_the_cookie_is_not_secure_and_signing_out_ends_the_session() {
    let bench = Bench::new(false);
    let token = bench.token(1, "Ann", Role::Read, None);
    let answer = bench.post("/sign-in", "", &[("token", &token)]).await;
    assert!(!answer.cookie.contains("Secure"), "{}", answer.cookie);
    let session = bench.sign_in(&token).await;
    assert_eq!(bench.post("/sign-out", &session, &[("csrf", "wrong")]).await.status, StatusCode::FORBIDDEN);
    let csrf = bench.csrf(&session).await;
    let answer = bench.post("/sign-out", &session, &[("csrf", &csrf)]).await;
    assert!(answer.cookie.starts_with("rarely_session=; Path=/; Max-Age=0"), "{}", answer.cookie);
    assert_eq!(bench.get("/", &session).await.location, "/sign-in");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_signs_nobody_in_and_guessing_is_limited() {
    let bench = Bench::new(false);
    let token = bench.token(1, "Ann", Role::Read, None);
    let request = Request::post("/sign-in").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request =
        request.header("sec-fetch-site", "cross-site").body(Body::from(format!("token={token}"))).expect("a request");
    assert_eq!(bench.ask(request).await.status, StatusCode::FORBIDDEN);
    for _ in 0..10 {
        assert_eq!(bench.post("/sign-in", "", &[("token", "wrong")]).await.status, StatusCode::UNAUTHORIZED);
    }
    let answer = bench.post("/sign-in", "", &[("token", &token)]).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "a right one has to wait too");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_may_not_read_has_no_pages() {
    let bench = Bench::new(false);
    for (byte, role) in [(1, Role::Decide), (2, Role::Observe)] {
        let token = bench.token(byte, "program", role, None);
        assert_eq!(bench.post("/sign-in", "", &[("token", &token)]).await.status, StatusCode::FORBIDDEN);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_shows_only_its_policies() {
    let bench = Bench::new(false);
    let simple = |name: &str| {
        format!(
            "policy = \"{name}\"\noptions = [\"a\", \"b\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n[[features]]\ncolumn = \"x\"\n\
             range = [0, 1]\n[rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"a\", \"b\"] }}\n"
        )
    };
    for name in ["one", "other"] {
        beside(|| bench.engine.register("Ann", &simple(name), 1)).expect("a policy");
    }
    let session = bench.sign_in(&bench.token(1, "Ben", Role::Review, Some(&["one"]))).await;
    let page = bench.get("/", &session).await.body;
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
        assert_eq!(bench.get(path, &session).await.status, status, "{path}");
    }
    let csrf = bench.csrf(&session).await;
    let answer = bench.post("/", &session, &[("csrf", &csrf), ("document", &simple("third"))]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let reader = bench.sign_in(&bench.token(2, "Eve", Role::Read, None)).await;
    let csrf = bench.csrf(&reader).await;
    assert_eq!(bench.post("/policies/one/review", &reader, &[("csrf", &csrf)]).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_needs_the_session_that_it_was_made_for() {
    let bench = Bench::new(false);
    beside(|| bench.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    let token = bench.token(1, "Ann", Role::Admin, None);
    let session = bench.sign_in(&token).await;
    let other = bench.csrf(&bench.sign_in(&token).await).await;
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
                bench.post(&path, &session, &fields).await.status,
                StatusCode::FORBIDDEN,
                "{path} with {csrf:?}"
            );
        }
        let fields = [("csrf", "x"), ("meaning", "m"), ("reason", "r"), ("token", &token), ("document", "")];
        assert_eq!(bench.post(&path, "", &fields).await.location, "/sign-in", "{path} without a session");
    }
    assert!(!bench.engine.policy(NAME).expect("a policy").live.lock().state().stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_needs_the_signers_own_token_and_keeps_the_words() {
    let bench = Bench::new(false);
    beside(|| bench.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    let (ann, ben) = (bench.token(1, "Ann", Role::Admin, None), bench.token(2, "Ben", Role::Review, None));
    let reading = bench.token(3, "Ann", Role::Read, None);
    let session = bench.sign_in(&ann).await;
    let csrf = bench.csrf(&session).await;
    let path = format!("{PAGE}/stop");
    let reason = "because <em>it hurts</em>";
    let cases = [
        ("wrong", StatusCode::UNAUTHORIZED, "not a rarely token"),
        (ben.as_str(), StatusCode::FORBIDDEN, "This token belongs to Ben, but you are signed in as Ann."),
        (&reading, StatusCode::FORBIDDEN, "requires the role `review`"),
    ];
    for (token, status, words) in cases {
        let fields = [("csrf", csrf.as_str()), ("meaning", "I stop \"it\""), ("reason", reason), ("token", token)];
        let answer = bench.post(&path, &session, &fields).await;
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
        bench.post(&path, &session, &fields).await.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "no reason is none"
    );
    let long = "x".repeat(4001);
    let fields = [("csrf", csrf.as_str()), ("meaning", "I stop it"), ("reason", long.as_str()), ("token", &ann)];
    assert_eq!(bench.post(&path, &session, &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY, "too long");
    let fields = [("csrf", csrf.as_str()), ("meaning", "I stop it"), ("reason", reason), ("token", &ann)];
    assert_eq!(bench.post(&path, &session, &fields).await.location, format!("{PAGE}?done=stopped"));
    assert!(bench.engine.policy(NAME).expect("a policy").live.lock().state().stopped);
    assert_eq!(bench.post(&path, &session, &fields).await.status, StatusCode::CONFLICT, "it is stopped already");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_words_are_never_code() {
    let bench = Bench::new(false);
    let token = bench.token(1, "<b>Ann</b>", Role::Admin, None);
    let session = bench.sign_in(&token).await;
    let csrf = bench.csrf(&session).await;
    let answer = bench
        .post("/", &session, &[("csrf", &csrf), ("document", &DOCUMENT.replace("cuts = [50]", "cuts = [500]"))])
        .await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.body.contains("line 11, column"), "{}", answer.body);
    let mut pages = vec![answer.body];
    // A slash in a name has no page of its own in the API; the engine may hold one all the same.
    beside(|| bench.engine.register("<b>Ann</b>", DOCUMENT, 1)).expect("a policy");
    let handle = bench.engine.policy(NAME).expect("a policy");
    let mut last = 0;
    for value in 0..40 {
        let record = vec![RecordField::Number(f64::from(value) * 2.5)];
        let context = handle.reader.context(&record).expect("in range");
        let ask = DecisionRequest { key: Some(format!("<s>{value}</s>")), record, context };
        last = bench.engine.decide(&handle, "<b>ward</b>", vec![ask]).await.remove(0).expect("an answer").decision;
        let report = |outcome, correction| NewOutcome::OfDecision { decision: last, outcome, correction };
        bench.engine.observe(&handle, "<b>ward</b>", vec![report(0.5, None)]).await.remove(0).expect("taken in");
        let reason = Some(Some("<s>typing error</s>".to_owned()));
        bench.engine.observe(&handle, "<b>ward</b>", vec![report(0.25, reason)]).await.remove(0).expect("taken in");
    }
    let fields =
        [("csrf", csrf.as_str()), ("meaning", "<i>kept</i>"), ("reason", "<script>1</script>"), ("token", &token)];
    let answer = bench.post(&format!("{PAGE}/confirm"), &session, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    for path in ["", "/audit", &format!("/decisions/{last}"), "/audit?kind=decided&actor=%22%3E%3Cscript%3E"] {
        let answer = bench.get(&format!("{PAGE}{path}"), &session).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        pages.push(answer.body);
    }
    pages.push(bench.get("/?q=%3Cscript%3E", &session).await.body);
    for page in pages {
        for code in ["<script>", "<b>", "<i>", "<u>", "<s>", "<img"] {
            assert!(!page.contains(code), "{code} in {page}");
        }
        assert!(!page.contains(" style=\"") && !page.contains(" onclick"), "nothing inline");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_policies_fit_pages_of_a_hundred() {
    let bench = Bench::new(false);
    let text = |at: u32| {
        format!(
            "policy = \"policy {at:03}\"\noptions = [\"a\", \"b\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n[[features]]\n\
             column = \"x\"\nrange = [0, 1]\n[rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"a\", \"b\"] }}\n"
        )
    };
    for at in 0..205 {
        beside(|| bench.engine.register("Ann", &text(at), 1)).expect("a policy");
    }
    let session = bench.sign_in(&bench.token(1, "Ann", Role::Read, None)).await;
    let rows = |page: &str| page.matches("<th scope=\"row\">").count();
    let first = bench.get("/", &session).await.body;
    assert_eq!(rows(&first), 100);
    assert!(first.contains("205\u{a0}policies") && first.contains("page 1 of 3"), "{first}");
    assert_eq!(rows(&bench.get("/?page=3", &session).await.body), 5);
    assert_eq!(rows(&bench.get("/?page=99", &session).await.body), 5, "beyond the last is the last");
    assert_eq!(rows(&bench.get("/?q=POLICY+00", &session).await.body), 10);
    assert!(bench.get("/?q=nothing", &session).await.body.contains("No policy matches"));
    assert!(bench.get("/?waiting=yes", &session).await.body.contains("No policy matches"));
}

#[tokio::test(flavor = "multi_thread")]
async fn assets_are_kept_for_good() {
    let bench = Bench::new(false);
    for path in ["/assets/style.css", "/assets/live.js"] {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let response = bench.router.clone().oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
    }
    let page = bench.get("/sign-in", "").await.body;
    assert!(page.contains("/assets/style.css?"), "{page}");
}

/// A policy with one feature, and one person who answered.
async fn one_answer(bench: &Bench) -> Arc<PolicyHandle> {
    let handle = beside(|| bench.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    answer(bench, &handle).await;
    handle
}

async fn answer(bench: &Bench, handle: &PolicyHandle) {
    let record = vec![RecordField::Number(10.0)];
    let context = handle.reader.context(&record).expect("in range");
    let asks = vec![DecisionRequest { key: None, record, context }];
    let decision = bench.engine.decide(handle, "ward", asks).await.remove(0).expect("an answer").decision;
    let report = NewOutcome::OfDecision { decision, outcome: 0.5, correction: None };
    bench.engine.observe(handle, "ward", vec![report]).await.remove(0).expect("taken in");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_told_of_events_until_the_service_stops() {
    let bench = Bench::new(false);
    let handle = one_answer(&bench).await;
    let session = bench.sign_in(&bench.token(1, "Ann", Role::Read, None)).await;
    let request = Request::get(format!("{PAGE}/live")).header(header::COOKIE, format!("rarely_session={session}"));
    let response =
        bench.router.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut stream = response.into_body().into_data_stream();
    let last = |handle: &PolicyHandle| format!("data: {}\n\n", handle.live.lock().state().last_event);
    assert_eq!(stream.next().await.expect("a message").expect("bytes"), last(&handle));
    answer(&bench, &handle).await;
    assert_eq!(
        stream.next().await.expect("a message").expect("bytes"),
        last(&handle),
        "a second later, both events at once"
    );
    assert_eq!(bench.get(&format!("{PAGE}/live"), "").await.status, StatusCode::NO_CONTENT, "the end, for a browser");
    bench.app.close();
    assert!(stream.next().await.is_none(), "a server that stops does not wait for pages");
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_worked_out_once() {
    let bench = Bench::new(false);
    let handle = one_answer(&bench).await;
    let evidence = EvidenceCache::default();
    let (one, other) = tokio::join!(evidence.of(&bench.engine, &handle), evidence.of(&bench.engine, &handle));
    let (one, other) = (one.expect("evidence").expect("an outcome"), other.expect("evidence").expect("an outcome"));
    assert!(Arc::ptr_eq(&one, &other), "two readers at once");
    let record = vec![RecordField::Number(10.0)];
    let context = handle.reader.context(&record).expect("in range");
    bench
        .engine
        .decide(&handle, "ward", vec![DecisionRequest { key: None, record, context }])
        .await
        .remove(0)
        .expect("an answer");
    let again = evidence.of(&bench.engine, &handle).await.expect("evidence").expect("an outcome");
    assert!(Arc::ptr_eq(&one, &again), "a decision says nothing of outcomes");
    let signature = Signature { meaning: "m".to_owned(), reason: "r".to_owned() };
    beside(|| bench.engine.stop_policy(&handle, "Ann", signature)).expect("stopped");
    let again = evidence.of(&bench.engine, &handle).await.expect("evidence").expect("an outcome");
    assert!(Arc::ptr_eq(&one, &again), "the same rule is in force");
}

/// What no request brings about on demand: the store fails, the log and the memory disagree.
#[test]
fn an_error_has_one_status() {
    use std::sync::Arc;

    use rarely_live::Objection;
    use rarely_live::engine::ChangeError;
    use rarely_store::StoreError;

    use super::page_error::PageError;
    use crate::problem::ProblemDetails;

    let errors: [fn() -> ChangeError; 6] = [
        || Objection::NoProposal(9).into(),
        || Objection::NoVersion(9).into(),
        || ChangeError::NoToken("0123".to_owned()),
        || rarely_live::engine::EngineFault::ApplierEnded.into(),
        || ChangeError::Store(Arc::new(StoreError::Closed)),
        || rarely_review::ReviewError::Empty.into(),
    ];
    for error in errors {
        assert_eq!(ProblemDetails::from(error()).status(), PageError::from(error()).status(), "{}", error());
    }
    let problem = ProblemDetails::from(StoreError::Closed);
    assert_eq!(problem.status(), PageError::from(StoreError::Closed).status());
}

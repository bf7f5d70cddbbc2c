//! The pages through their router, without a browser. Each file tests the source file of the same name.

mod assets;
mod erasure;
mod evidence;
mod layout;
mod live;
mod page_error;
mod policies;
mod sign_in;
mod signing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use rarely_live::engine::{Clock, Durability, EngineOptions, NewOutcome, PolicyHandle};
use rarely_live::{Engine, RecordField, Role, TokenGrant};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::routes;
use crate::app::{App, ServiceSettings};

/// A document whose names are HTML, to find a page that does not escape them.
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

struct TestService {
    app: Arc<App>,
    router: Router,
    engine: Arc<Engine>,
    now: Arc<AtomicU64>,
    _folder: TempDir,
}

/// Runs work that waits for the disk.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}

/// The response to a request for a page.
#[derive(Debug)]
struct PageResponse {
    status: StatusCode,
    location: String,
    cookie: String,
    body: String,
}

impl TestService {
    fn new(secure: bool) -> Self {
        let (folder, now) = (tempfile::tempdir().expect("a folder"), Arc::new(AtomicU64::new(1_000_000)));
        let clock = now.clone();
        let options = EngineOptions {
            durability: Durability::Relaxed,
            clock: Clock::simulated(move || clock.load(Ordering::SeqCst)),
            draw: Arc::new(|_, _| Vec::new()),
            snapshot_every: 1_000_000,
            checkpoints: None,
        };
        let engine =
            Engine::start(&folder.path().join("rarely.db"), options, |_| {}).unwrap_or_else(|error| panic!("{error}"));
        let settings = ServiceSettings { secure, ..ServiceSettings::plain("test") };
        let app = Arc::new(App::new(engine.clone(), settings));
        Self { router: routes(app.clone()), app, engine, now, _folder: folder }
    }

    /// Creates a token from a byte.
    fn token(&self, byte: u8, name: &str, role: Role, policies: Option<&[&str]>) -> String {
        let policies = policies.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let (token, grant) = TokenGrant::new([byte; 40], name, vec![role], policies, Some(1_000_000_000));
        blocking(|| self.engine.create_token("test", grant)).expect("a token");
        token
    }

    async fn ask(&self, request: Request<Body>) -> PageResponse {
        let response = self.router.clone().oneshot(request).await.expect("an answer");
        let text = |name| response.headers().get(name).map_or("", |value| value.to_str().expect("text")).to_owned();
        let (status, location, cookie) = (response.status(), text(header::LOCATION), text(header::SET_COOKIE));
        let body = to_bytes(response.into_body(), 1 << 24).await.expect("a body");
        PageResponse { status, location, cookie, body: String::from_utf8(body.to_vec()).expect("text") }
    }

    async fn get(&self, path: &str, session: &str) -> PageResponse {
        let cookie = format!("other=1; rarely_session={session}");
        self.ask(Request::get(path).header(header::COOKIE, cookie).body(Body::empty()).expect("a request")).await
    }

    async fn post(&self, path: &str, session: &str, fields: &[(&str, &str)]) -> PageResponse {
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

/// A policy with one decision and its outcome.
async fn policy_with_an_outcome(service: &TestService) -> Arc<PolicyHandle> {
    let handle = blocking(|| service.engine.register("Ann", DOCUMENT, 1)).expect("a policy");
    report_one_outcome(service, &handle).await;
    handle
}

async fn report_one_outcome(service: &TestService, handle: &PolicyHandle) {
    let record = vec![RecordField::Number(10.0)];
    let asks = vec![handle.edition().request_of(None, record).expect("in range")];
    let decision = service.engine.decide(handle, "ward", asks).await.remove(0).expect("an answer").decision;
    let report = NewOutcome::OfDecision { decision, outcome: 0.5, guardrails: BTreeMap::new(), correction: None };
    service.engine.observe(handle, "ward", vec![report]).await.remove(0).expect("taken in");
}

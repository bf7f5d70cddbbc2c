//! A desk without a socket, and a person with a browser.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use rarely_desk::Desk;
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) const PORT: u16 = 4711;
pub(crate) const ORIGIN: &str = "http://127.0.0.1:4711";
/// How long a task may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The log of the clinical example.
pub(crate) fn clinical_log() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/clinical/log.csv"))
}

pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn location(&self) -> &str {
        self.headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A person whose browser has the cookie.
pub(crate) struct Person {
    pub(crate) desk: Desk,
    router: Router,
    cookie: String,
    /// Where the page saves.
    pub(crate) folder: TempDir,
}

impl Person {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let desk = Desk::new(PORT, folder.path().to_owned()).expect("a desk");
        let router = desk.router();
        let address = desk.address().expect("an address");
        let path = address.strip_prefix(ORIGIN).expect("of this machine").to_owned();
        let mut person = Self { desk, router, cookie: String::new(), folder };
        let reply = person.get(&path).await;
        let cookie = reply.headers.get(header::SET_COOKIE).expect("a cookie").to_str().expect("text");
        cookie.split(';').next().unwrap_or_default().clone_into(&mut person.cookie);
        person
    }

    /// A request as a browser sends it, before anything is changed.
    pub(crate) fn request(&self, method: &Method, path: &str) -> axum::http::request::Builder {
        let request = Request::builder().method(method.clone()).uri(path).header(header::HOST, "127.0.0.1:4711");
        let request = request.header(header::COOKIE, &self.cookie);
        if *method == Method::GET { request } else { request.header(header::ORIGIN, ORIGIN) }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.expect("a response");
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.expect("a body");
        Reply { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request(&Method::GET, path).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let body =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&");
        let request = self.request(&Method::POST, path);
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request.body(Body::from(body)).expect("a request")).await
    }

    pub(crate) async fn upload(&self, name: &str, content: impl Into<Body>) -> Reply {
        let request = self.request(&Method::PUT, &format!("/upload?name={}", encoded(name)));
        self.send(request.body(content.into()).expect("a request")).await
    }

    /// Waits for the task to end, and returns the page that it leads to.
    pub(crate) async fn finished(&self) -> (String, Reply) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let reply = self.get("/work").await;
            if reply.status == StatusCode::SEE_OTHER {
                let place = reply.location().to_owned();
                let page = self.get(&place).await;
                return (place, page);
            }
            assert!(Instant::now() < deadline, "the task does not end");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Uploads a log, and has every row checked with the roles that were guessed and these changes.
    pub(crate) async fn at_the_rule(&self, name: &str, content: impl Into<Body>, changes: &[(&str, &str)]) -> Reply {
        self.upload(name, content).await;
        let (place, page) = self.finished().await;
        assert_eq!(place, "/columns", "{}", page.text);
        self.post("/columns", changes).await;
        let (place, page) = self.finished().await;
        assert_eq!(place, "/rule", "{}", page.text);
        page
    }

    /// The same with the clinical example, which is then reviewed by its threshold.
    pub(crate) async fn at_the_review(&self) -> Reply {
        self.at_the_rule("log.csv", std::fs::read(clinical_log()).expect("a log"), &CLINICAL_COLUMNS).await;
        self.post("/rule", &THRESHOLD).await;
        let (place, page) = self.finished().await;
        assert_eq!(place, "/review", "{}", page.text);
        page
    }
}

/// The columns of the clinical example, where the guess is wrong.
pub(crate) const CLINICAL_COLUMNS: [(&str, &str); 3] =
    [("role.0", "ignored"), ("options", "watch\ntreat"), ("unit.1", "mmHg")];

/// The rule of the clinical example.
pub(crate) const THRESHOLD: [(&str, &str); 5] = [
    ("form", "threshold"),
    ("feature", "systolic"),
    ("threshold.option.0", "watch"),
    ("threshold.cut.1", "140"),
    ("threshold.option.1", "treat"),
];

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

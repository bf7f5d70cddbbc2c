//! A test service on a temporary store. Every response of the API is checked against the OpenAPI document.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use rarely_live::engine::{CheckpointOptions, Clock, Durability, EngineOptions, SNAPSHOT_FORMAT};
use rarely_live::{Engine, PolicyState, Role, TokenGrant, audit};
use rarely_server::{App, ServiceSettings, openapi, router};
use rarely_store::{
    EventLog, Lease, PostgresAddress, PostgresLog, PostgresStore, SigningKeyFile, SnapshotFile, SqliteLog, Store,
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

/// The time at the start of every test.
pub(crate) const START_MS: u64 = 1_800_000_000_000;
pub(crate) const DAY_MS: u64 = 86_400_000;

/// A service with its clock and a token that may do everything.
pub(crate) struct Service {
    folder: Arc<TempDir>,
    pub(crate) app: Arc<App>,
    router: Router,
    clock: Arc<AtomicU64>,
    pub(crate) admin: String,
    openapi: Json,
    snapshot: SnapshotFile,
    /// Of a store in a database.
    lease: Option<Lease>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn lines(&self) -> Vec<Json> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    pub(crate) fn kind(&self) -> &str {
        let kind = self.headers.get("content-type").map(|kind| kind.to_str().expect("text"));
        kind.unwrap_or_default().split(';').next().unwrap_or_default()
    }

    /// The JSON of a response, which must have this status.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> Json {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        if self.body.is_empty() { Json::Null } else { self.json() }
    }
}

impl Service {
    /// A service on an empty store.
    pub(crate) fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let mut service = Self::open(folder, Arc::new(AtomicU64::new(START_MS)), false);
        service.admin = service.token("admin", &[Role::Admin, Role::Review], None);
        service
    }

    /// A service on an empty store that runs in this way.
    pub(crate) fn with(settings: ServiceSettings) -> Self {
        let mut service = Self::new();
        service.app = Arc::new(App::new(service.app.engine.clone(), settings));
        service.router = router(service.app.clone());
        service
    }

    /// A service on an empty store with a signing key. Checkpoints are signed only when a test does it.
    pub(crate) fn signing() -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let mut service = Self::open(folder, Arc::new(AtomicU64::new(START_MS)), true);
        service.admin = service.token("admin", &[Role::Admin, Role::Review], None);
        service
    }

    fn open(folder: Arc<TempDir>, clock: Arc<AtomicU64>, signs: bool) -> Self {
        let checkpoints = signs.then(|| CheckpointOptions {
            key_file: SigningKeyFile::at(&folder.path().join("key")),
            every: u64::MAX,
            publish: Arc::new(|_, _| {}),
        });
        let time = clock.clone();
        let options = EngineOptions {
            durability: Durability::Relaxed,
            clock: Clock::simulated(move || time.load(Ordering::SeqCst)),
            draw: Arc::new(|_, _| Vec::new()),
            snapshot_every: 100_000,
            checkpoints,
        };
        let (store, lease) = open_store(&folder);
        let snapshot = store.snapshot();
        let engine = Engine::start_on(store, options, |_| {}).expect("a store");
        let app = Arc::new(App::new(engine, ServiceSettings::plain("0.0.0")));
        let (router, openapi) = (router(app.clone()), openapi("0.0.0"));
        Self { folder, router, app, clock, admin: String::new(), openapi, snapshot, lease }
    }

    /// Stops the service and starts it again on the same store.
    pub(crate) fn restart(self) -> Self {
        let (folder, clock, admin) = (self.folder.clone(), self.clock.clone(), self.admin.clone());
        self.stop();
        drop(self);
        Self { admin, ..Self::open(folder, clock, false) }
    }

    fn stop(&self) {
        tokio::task::block_in_place(|| self.app.engine.stop());
        if let Some(lease) = &self.lease {
            lease.release();
        }
    }

    /// The snapshot of the store.
    pub(crate) fn snapshot(&self) -> &SnapshotFile {
        &self.snapshot
    }

    pub(crate) fn has_snapshot(&self) -> bool {
        let read = self.snapshot.read(SNAPSHOT_FORMAT, self.app.engine.log().as_ref());
        read.expect("a snapshot that fits").is_some()
    }

    /// Sets the clock, forwards or back.
    pub(crate) fn set_time(&self, time_ms: u64) {
        self.clock.store(time_ms, Ordering::SeqCst);
    }

    /// Advances the clock.
    pub(crate) fn wait_ms(&self, time_ms: u64) {
        self.clock.fetch_add(time_ms, Ordering::SeqCst);
    }

    /// Creates a token.
    pub(crate) fn token(&self, name: &str, roles: &[Role], policies: Option<&[&str]>) -> String {
        self.token_until(name, roles, policies, None).0
    }

    pub(crate) fn token_until(
        &self,
        name: &str,
        roles: &[Role],
        policies: Option<&[&str]>,
        expires_ms: Option<u64>,
    ) -> (String, String) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut random = [7; 40];
        random[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        let policies = policies.map(|policies| policies.iter().map(|&name| name.to_owned()).collect());
        let (token, grant) = TokenGrant::new(random, name, roles.to_vec(), policies, expires_ms);
        let id = grant.id.clone();
        tokio::task::block_in_place(|| self.app.engine.create_token("console", grant)).expect("a token");
        (token, id)
    }

    /// Sends a request to the API, and checks the response against the OpenAPI document.
    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let reply = self.send_page(request).await;
        self.check(method.as_str(), &path, &reply);
        reply
    }

    /// Sends a request to the dashboard, whose responses are pages.
    pub(crate) async fn send_page(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body").to_vec();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    /// Sends a request with a token and a body.
    pub(crate) async fn call(&self, token: &str, method: &str, path: &str, kind: &str, body: impl Into<Body>) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        self.send(request.body(body.into()).expect("a request")).await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Reply {
        self.call(token, "GET", path, "", Body::empty()).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: &Json) -> Reply {
        self.call(token, "POST", path, "application/json", body.to_string()).await
    }

    pub(crate) async fn batch(&self, token: &str, path: &str, lines: &[Json]) -> Vec<Json> {
        let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let reply = self.call(token, "POST", path, "application/x-ndjson", text).await;
        assert_eq!((reply.status.as_u16(), reply.kind()), (200, "application/x-ndjson"), "{}", reply.text());
        reply.lines()
    }

    pub(crate) async fn register(&self, text: &str) -> Json {
        self.call(&self.admin, "POST", "/v1/policies", "application/toml", text.to_owned()).await.is(201)
    }

    /// Waits until all events on disk are applied. Decision requests do not wait for that.
    pub(crate) async fn caught_up(&self) {
        let committed = self.app.engine.committed();
        drop(self.app.engine.subscribe().wait_for(|applied| *applied >= committed).await);
    }

    /// Waits until the state of a policy fulfils a condition, which is checked after each batch of applied events.
    pub(crate) async fn wait_until(&self, policy: &str, condition: impl Fn(&PolicyState) -> bool) {
        let handle = self.app.engine.policy(policy).expect("a policy");
        let mut applied = self.app.engine.subscribe();
        loop {
            applied.borrow_and_update();
            if condition(handle.live.lock().state()) {
                return;
            }
            applied.changed().await.expect("the engine runs");
        }
    }

    /// Checks that the status and the type of a response are declared, and that every error is a problem document.
    #[track_caller]
    fn check(&self, method: &str, path: &str, reply: &Reply) {
        let status = reply.status.as_u16();
        assert_ne!(status, 500, "{method} {path}: {}", reply.text());
        for name in ["content-security-policy", "x-content-type-options", "referrer-policy", "cache-control"] {
            assert!(reply.headers.contains_key(name), "{method} {path}: no {name}");
        }
        // OFREP has error documents of its own.
        let is_problem = !path.starts_with("/ofrep/") || reply.kind() == "application/problem+json";
        if status >= 400 && !path.starts_with("/dashboard") && path != "/" && is_problem {
            assert_eq!(reply.kind(), "application/problem+json", "{method} {path} {status}");
            let problem = reply.json();
            assert_eq!(problem["status"], status);
            assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        }
        let Some(operation) = self.operation(method, path) else { return };
        let declared = &operation["responses"][status.to_string()];
        assert!(!declared.is_null(), "{method} {path} returns {status}, which is not declared: {}", reply.text());
        if reply.body.is_empty() {
            return;
        }
        let kinds = declared["content"].as_object().expect("what it gives");
        assert!(kinds.contains_key(reply.kind()), "{method} {path} returns {}", reply.kind());
        if let (Some(schema), true) = (kinds.get("application/json"), reply.kind() == "application/json") {
            let mut missing = Vec::new();
            fits(&self.openapi, &schema["schema"], &reply.json(), "", &mut missing);
            assert!(missing.is_empty(), "{method} {path}: {missing:?}");
        }
    }

    fn operation(&self, method: &str, path: &str) -> Option<&Json> {
        let parts: Vec<&str> = path.split('/').collect();
        let paths = self.openapi["paths"].as_object().expect("paths");
        let matches = |template: &str| {
            let template: Vec<&str> = template.split('/').collect();
            template.len() == parts.len()
                && template
                    .iter()
                    .zip(&parts)
                    .all(|(one, part)| one.starts_with('{') && !part.is_empty() || one == part)
        };
        let found = paths.iter().find(|(template, _)| matches(template))?;
        found.1.get(method.to_ascii_lowercase())
    }

    /// Stops the service and audits its whole log.
    pub(crate) fn finish(self) -> audit::AuditSummary {
        let folder = self.folder.clone();
        self.stop();
        drop(self);
        let (log, file): (Arc<dyn EventLog>, SnapshotFile) = if let Some(address) = database(&folder) {
            let log = Arc::new(PostgresLog::open_read_only(address).expect("a store"));
            (log.clone(), SnapshotFile::in_database(log))
        } else {
            let store = folder.path().join("rarely.db");
            (Arc::new(SqliteLog::open_read_only(&store).expect("a store")), SnapshotFile::beside(&store))
        };
        let snapshot = file.read(SNAPSHOT_FORMAT, log.as_ref()).expect("a snapshot that fits");
        let findings = audit::verify(log.as_ref(), snapshot.as_ref(), |_| {}).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(findings.snapshot, snapshot.map(|snapshot| snapshot.number));
        drop(folder);
        findings
    }
}

/// The database of a test, if `RARELY_TEST_POSTGRES` names a server for all of them, like `postgres://tester@127.0.0.1:5433`.
fn database(folder: &TempDir) -> Option<PostgresAddress> {
    let server = std::env::var("RARELY_TEST_POSTGRES").ok()?;
    let name = folder.path().file_name().expect("a name").to_str().expect("text");
    let name: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    Some(PostgresAddress::parse(&format!("{server}/{name}")).expect("an address"))
}

/// Opens the store in a file, or in a database of its own.
fn open_store(folder: &TempDir) -> (Store, Option<Lease>) {
    let Some(address) = database(folder) else {
        return (Store::open(&folder.path().join("rarely.db"), Durability::Relaxed).expect("a store"), None);
    };
    let [host, port, name, user] = address.login();
    // It fails if the database exists: then this is a restart.
    let created = std::process::Command::new("createdb").args(["-h", &host, "-p", &port, "-U", &user, &name]).output();
    drop(created.expect("createdb"));
    let store = PostgresStore::connect(address, Durability::Relaxed).expect("a store");
    let lease = store.acquire("test", "", std::time::Duration::from_secs(60)).expect("an answer").expect("it is free");
    (Store::open_postgres(&store, &lease).expect("a store"), Some(lease))
}

/// Validates a value, with the parts of JSON Schema that the document uses.
fn fits(document: &Json, schema: &Json, value: &Json, place: &str, missing: &mut Vec<String>) {
    if let Some(pointer) = schema["$ref"].as_str() {
        return fits(document, document.pointer(&pointer[1..]).expect("a schema"), value, place, missing);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits(document, part, value, place, missing);
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let right = match &schema["type"] {
        Json::String(kind) => is(kind),
        Json::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().expect("a type"))),
        _ => true,
    };
    if !right {
        missing.push(format!("{place} is {value}, not {}", schema["type"]));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if value.get(name).is_none() {
            missing.push(format!("{place}.{name} is not there"));
        }
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            fits(document, schema, value, &format!("{place}.{name}"), missing);
        }
    }
    for (at, value) in value.as_array().into_iter().flatten().enumerate() {
        fits(document, &schema["items"], value, &format!("{place}[{at}]"), missing);
    }
}

/// A policy on age. Its threshold of 30 is wrong: treating is better from 60 on.
pub(crate) fn document(name: &str, control: &str) -> String {
    format!(
        "policy = \"{name}\"\noptions = [\"wait\", \"treat\"]\noutcome = {{ column = \"y\", range = [-5.0, 5.0] }}\n\
         [[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [0, 100]\n\
         [[features]]\ncolumn = \"smoker\"\nlevels = [\"no\", \"yes\"]\n\
         [evidence]\nnoise = 0.1\nnorm_bound = 5.0\npenalty = 0.01\n\
         [control]\n{control}\n\
         [rule]\nthreshold = {{ feature = \"age\", cuts = [30], options = [\"wait\", \"treat\"] }}\n"
    )
}

/// Reviews only on request; a token is enough to sign.
pub(crate) const BY_HAND: &str = "signatures = \"token\"\nreview_every = 1000000";

/// The n-th person: age and smoker.
pub(crate) fn person(n: u64) -> (f64, &'static str) {
    ((n * 37 % 101) as f64, if n.is_multiple_of(3) { "yes" } else { "no" })
}

/// The outcome of an option for the n-th person, with some noise.
pub(crate) fn outcome(n: u64, age: f64, option: &str) -> f64 {
    let noise = ((n * 7919 % 13) as f64 - 6.0) / 60.0;
    let mean = if option == "treat" { age / 100.0 } else { 0.6 };
    mean + noise
}

pub(crate) fn record(n: u64) -> Json {
    let (age, smoker) = person(n);
    json!({ "age": age, "smoker": smoker })
}

/// Observations of decisions made elsewhere, with alternating options.
pub(crate) fn observations(range: std::ops::Range<u64>) -> Vec<Json> {
    range
        .map(|n| {
            let option = if n.is_multiple_of(2) { "wait" } else { "treat" };
            json!({ "record": record(n), "option": option, "outcome": outcome(n, person(n).0, option), "propensity": 0.5 })
        })
        .collect()
}

pub(crate) fn signature() -> Json {
    json!({ "meaning": "I stand for it.", "reason": "The evidence is sound." })
}

//! A test service on a loopback port and a temporary store.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rarely_core::Rng;
use rarely_live::engine::{Clock, Durability, EngineOptions, NewOutcome, PolicyHandle};
use rarely_live::event::{Drawing, ExternalDecision};
use rarely_live::{Engine, RecordField, RelyingParty, Role, TokenGrant};
use rarely_report::pictures;
use rarely_server::{App, OpenIdProvider, ServiceSettings, router};
use tempfile::TempDir;

/// The time at the start: 2026-11-02 08:00 UTC.
const BEGINNING_MS: u64 = 1_793_606_400_000;

/// A threshold policy. Treating helps from 140, so its cut of 160 is wrong.
pub(crate) const BLOOD_PRESSURE: &str = r#"policy = "blood pressure"
options = ["watch", "treat"]
outcome = { column = "wellbeing", range = [0, 1] }

[[features]]
column = "systolic"
unit = "mmHg"
range = [100, 200]

[evidence]
noise = 0.1

[change]
explore = "pilot:6+equipoise:0.2"

[control]
approval = "one"
signatures = "token"
review_every = 250
proposal_expires = "30 days"
outcome_window = "6 weeks"
bounds = { cut = [110, 190] }

[rule]
threshold = { feature = "systolic", cuts = [160], options = ["watch", "treat"] }
"#;

/// A score policy with three options and four features. Figures show its score.
pub(crate) const TRIAGE: &str = r#"policy = "triage"
options = ["home", "clinic", "ward"]
outcome = { column = "days lost", range = [0, 30], better = "lower" }

[[features]]
column = "age"
unit = "years"
range = [18, 98]

[[features]]
column = "fever"
unit = "°C"
range = [36, 41]

[[features]]
column = "lives alone"
levels = ["no", "yes"]

[[features]]
column = "pulse"
unit = "beats a minute"
range = [40, 160]

[evidence]
noise = 1

[control]
approval = "two"
signatures = "token"
minimum_days_between_changes = 14
maximum_changes = 3

[rule]
score = { coefficients = { age = 0.1, fever = 2, "lives alone" = { yes = 2 } }, cuts = [82, 87], options = ["home", "clinic", "ward"] }
"#;

pub(crate) struct Service {
    pub(crate) engine: Arc<Engine>,
    pub(crate) address: String,
    /// The token of an administrator.
    pub(crate) ann: String,
    /// A token with the role `review`.
    pub(crate) ben: String,
    /// A token with the role `read`.
    pub(crate) eve: String,
    now: Arc<AtomicU64>,
    rng: Mutex<Rng>,
    folder: TempDir,
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| None).await
    }

    /// A service at an address that its identity provider needs to know.
    pub(crate) async fn start_with(openid: impl FnOnce(&str) -> Option<OpenIdProvider>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let now = Arc::new(AtomicU64::new(BEGINNING_MS));
        let clock = now.clone();
        let options = EngineOptions {
            durability: Durability::Relaxed,
            clock: Clock::simulated(move || clock.load(Ordering::SeqCst)),
            draw: Arc::new(|ground, review| {
                let drawn = pictures(ground, review).into_iter();
                drawn
                    .map(|picture| Drawing {
                        svg: picture.figure.svg(),
                        title: picture.title,
                        caption: picture.caption,
                    })
                    .collect()
            }),
            snapshot_every: 1_000_000,
            checkpoints: None,
        };
        let engine =
            Engine::start(&folder.path().join("rarely.db"), options, |_| {}).unwrap_or_else(|error| panic!("{error}"));
        let token = |first: u8, name: &str, roles: &[Role]| {
            let (token, grant) = TokenGrant::new([first; 40], name, roles.to_vec(), None, None);
            tokio::task::block_in_place(|| engine.create_token("test", grant)).expect("a token");
            token
        };
        let ann = token(1, "Ann", &[Role::Admin, Role::Review]);
        let (ben, eve) = (token(2, "Ben", &[Role::Review]), token(3, "Eve", &[Role::Read]));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://localhost:{}", listener.local_addr().expect("an address").port());
        let relying_party = Some(RelyingParty::at(&address).expect("passkeys work on localhost"));
        let settings = ServiceSettings { relying_party, ..ServiceSettings::plain("test") };
        let app = Arc::new(App::new(engine.clone(), settings).with_openid(openid(&address)));
        let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        Self { engine, address, ann, ben, eve, now, rng: Mutex::new(Rng::new(5, 0)), folder }
    }

    pub(crate) fn policy(&self, name: &str) -> Arc<PolicyHandle> {
        self.engine.policy(name).expect("a policy")
    }

    pub(crate) fn pass(&self, milliseconds: u64) {
        self.now.fetch_add(milliseconds, Ordering::SeqCst);
    }

    /// Decides for this many patients, and reports their outcomes.
    pub(crate) async fn patients(&self, count: usize) {
        self.people("blood pressure", count, wellbeing).await;
    }

    /// Decides by a policy for this many people, one every ten minutes, and reports their outcomes.
    pub(crate) async fn people(&self, policy: &str, count: usize, mean: impl Fn(f64, &str) -> f64) {
        let handle = self.policy(policy);
        for _ in 0..count {
            self.pass(600_000);
            let (systolic, noise) = self.draw();
            let record = vec![RecordField::Number(systolic)];
            let ask = handle.edition().request_of(None, record).expect("in range");
            let answer = self.engine.decide(&handle, "ward 3", vec![ask]).await.remove(0).expect("an answer");
            let outcome = (mean(systolic, &answer.option) + noise).clamp(0.0, 1.0);
            let report = NewOutcome::OfDecision {
                decision: answer.decision,
                outcome,
                guardrails: BTreeMap::new(),
                correction: None,
            };
            self.engine.observe(&handle, "ward 3", vec![report]).await.remove(0).expect("taken in");
        }
    }

    /// Reports this many cases that were decided at random elsewhere.
    pub(crate) async fn triage(&self, count: usize) {
        let handle = self.policy("triage");
        let mut reports = Vec::new();
        for _ in 0..count {
            self.pass(60_000);
            let (age, fever, alone, pulse, option, noise) = {
                let mut rng = self.rng.lock().expect("nobody panicked");
                (
                    18.0 + 80.0 * rng.uniform(),
                    36.0 + 5.0 * rng.uniform(),
                    ["no", "yes"][rng.below(2)],
                    40.0 + 120.0 * rng.uniform(),
                    rng.below(3),
                    rng.normal(),
                )
            };
            let need = 0.15 * (age - 18.0) + 2.0 * (fever - 36.0) + if alone == "yes" { 2.0 } else { 0.0 };
            let days = [0.8 * need, 4.0 + 0.45 * need, 9.0 + 0.1 * need][option] + noise;
            let record = vec![
                RecordField::Number(age),
                RecordField::Number(fever),
                RecordField::Text(alone.to_owned()),
                RecordField::Number(pulse),
            ];
            let option = ["home", "clinic", "ward"][option].to_owned();
            let elsewhere = ExternalDecision {
                key: None,
                record,
                option,
                propensity: Some(1.0 / 3.0),
                edition: None,
                time_ms: None,
            };
            reports.push(NewOutcome::External {
                decision: elsewhere,
                outcome: days.clamp(0.0, 30.0),
                guardrails: BTreeMap::new(),
                subject: None,
            });
        }
        for report in reports.chunks(500) {
            for result in self.engine.observe(&handle, "registry", report.to_vec()).await {
                result.expect("taken in");
            }
        }
    }

    /// Reports cases until a change of the triage policy is proposed.
    pub(crate) async fn triage_until_proposed(&self) {
        let handle = self.policy("triage");
        for _ in 0..20 {
            self.triage(1000).await;
            // The review starts a moment after the outcome that makes it due.
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            if handle.live.lock().open_proposal().is_some() {
                return;
            }
        }
        panic!("no proposal: {:?}", handle.live.lock().state().reviews);
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("rarely.db")
    }

    fn draw(&self) -> (f64, f64) {
        let mut rng = self.rng.lock().expect("nobody panicked");
        ((1000.0 + 1000.0 * rng.uniform()).round() / 10.0, 0.1 * rng.normal())
    }
}

fn wellbeing(systolic: f64, option: &str) -> f64 {
    match option {
        "treat" => 0.5 + 0.3 * (systolic - 140.0) / 100.0,
        _ => 0.5 - 0.3 * (systolic - 140.0) / 100.0,
    }
}

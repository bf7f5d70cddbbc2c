//! A policy with a known truth, a manual clock, and an engine over a store of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rarely_core::Rng;
use rarely_live::audit::{self, AuditSummary};
use rarely_live::engine::{Clock, DecisionRequest, Durability, EngineOptions, NewOutcome, PolicyHandle};
use rarely_live::event::Signature;
use rarely_live::{Engine, RecordField};
use rarely_store::{SnapshotFile, SqliteLog};
use tempfile::TempDir;

/// A screening policy. In truth inviting helps from age 65; the noise is 0.1.
pub(crate) fn document(control: &str, explore: &str) -> String {
    format!(
        r#"
policy = "screening"
options = ["wait", "invite"]
outcome = {{ column = "benefit", range = [-1.0, 2.0] }}
[[features]]
column = "age"
range = [40, 90]
[evidence]
noise = 0.1
[change]
explore = "{explore}"
[control]
{control}
[rule]
threshold = {{ feature = "age", cuts = [80], options = ["wait", "invite"] }}
"#
    )
}

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) now: Arc<AtomicU64>,
    pub(crate) engine: Arc<Engine>,
    rng: Rng,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let (folder, now) = (tempfile::tempdir().expect("a folder"), Arc::new(AtomicU64::new(1_000_000)));
        let engine = start(&folder.path().join("rarely.db"), &now, 1_000);
        Self { folder, now, engine, rng: Rng::new(1, 0) }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("rarely.db")
    }

    pub(crate) fn restart(&mut self) {
        self.engine.stop();
        let path = self.store();
        // The lock is held until the last owner of the log is dropped, so another engine takes this one's place for now.
        let elsewhere = tempfile::tempdir().expect("a folder");
        let other = start(&elsewhere.path().join("other.db"), &self.now, 1_000);
        drop(std::mem::replace(&mut self.engine, other.clone()));
        other.stop();
        self.engine = start(&path, &self.now, 1_000);
    }

    pub(crate) fn register(&self, control: &str, explore: &str) -> Arc<PolicyHandle> {
        self.engine.register("owner", &document(control, explore), 7).expect("a policy")
    }

    pub(crate) fn pass(&self, milliseconds: u64) {
        self.now.fetch_add(milliseconds, Ordering::SeqCst);
    }

    /// Decides `count` cases and reports their outcomes.
    pub(crate) fn people(&mut self, handle: &PolicyHandle, count: usize) {
        for _ in 0..count {
            let age = 40.0 + 50.0 * self.rng.uniform();
            let answer = block_on(self.engine.decide(handle, "ward", vec![request(handle, age, None)]))
                .remove(0)
                .expect("an answer");
            let noise = 0.1 * self.rng.normal();
            let outcome = benefit(age, &answer.option) + noise;
            let report = NewOutcome::OfDecision {
                decision: answer.decision,
                outcome: outcome.clamp(-1.0, 2.0),
                guardrails: BTreeMap::new(),
                correction: None,
            };
            block_on(self.engine.observe(handle, "ward", vec![report])).remove(0).expect("recorded");
        }
    }

    /// Makes a decision, and waits until it is applied.
    pub(crate) fn decide(&self, handle: &PolicyHandle, age: f64) -> u64 {
        let made = block_on(self.engine.decide(handle, "ward", vec![request(handle, age, None)])).remove(0);
        let decision = made.expect("an answer").decision;
        let mut applied = self.engine.subscribe();
        block_on(async { drop(applied.wait_for(|applied| *applied >= decision).await) });
        decision
    }

    /// Requests `count` decisions whose outcomes stay out.
    pub(crate) fn people_without_outcomes(&mut self, handle: &PolicyHandle, count: usize) {
        for _ in 0..count {
            let age = 40.0 + 50.0 * self.rng.uniform();
            self.decide(handle, age);
        }
    }

    /// Reports `count` cases with decisions drawn at random elsewhere.
    pub(crate) fn cases(&mut self, handle: &PolicyHandle, count: usize) {
        let mut reports = Vec::new();
        for _ in 0..count {
            let age = 40.0 + 50.0 * self.rng.uniform();
            let option = ["wait", "invite"][self.rng.below(2)];
            let outcome = (benefit(age, option) + 0.1 * self.rng.normal()).clamp(-1.0, 2.0);
            let decision = rarely_live::event::ExternalDecision {
                key: None,
                record: vec![RecordField::Number(age)],
                option: option.to_owned(),
                propensity: Some(0.5),
                edition: Some(handle.edition().version).filter(|version| *version > 1),
                time_ms: None,
            };
            reports.push(NewOutcome::External { decision, outcome, guardrails: BTreeMap::new(), subject: None });
        }
        for result in block_on(self.engine.observe(handle, "registry", reports)) {
            result.expect("recorded");
        }
    }

    /// Audits the store and its snapshot.
    pub(crate) fn verify(&self) -> AuditSummary {
        let log = SqliteLog::open_read_only(&self.store()).expect("a log");
        let snapshot =
            SnapshotFile::beside(&self.store()).read(rarely_live::engine::SNAPSHOT_FORMAT, &log).expect("of this log");
        audit::verify(&log, snapshot.as_ref(), |_| {}).unwrap_or_else(|fault| panic!("{fault}"))
    }
}

/// The mean outcome.
fn benefit(age: f64, option: &str) -> f64 {
    if option == "invite" { (age - 65.0) / 50.0 } else { 0.0 }
}

pub(crate) fn start(path: &Path, now: &Arc<AtomicU64>, snapshot_every: u64) -> Arc<Engine> {
    let now = now.clone();
    let options = EngineOptions {
        durability: Durability::Relaxed,
        clock: Clock::simulated(move || now.load(Ordering::SeqCst)),
        draw: Arc::new(|_, _| Vec::new()),
        snapshot_every,
        checkpoints: None,
    };
    Engine::start(path, options, |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn request(handle: &PolicyHandle, age: f64, key: Option<&str>) -> DecisionRequest {
    let record = vec![RecordField::Number(age)];
    handle.edition().request_of(key.map(ToOwned::to_owned), record).expect("in range")
}

pub(crate) fn signature(meaning: &str) -> Signature {
    Signature::by_token(meaning, "the evidence was looked at")
}

/// Runs a future to its end on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

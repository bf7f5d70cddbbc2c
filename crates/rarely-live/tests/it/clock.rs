//! A clock that jumps spoils nothing, and a log that is ahead can be set back.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rarely_live::engine::{ChangeError, CheckpointOptions, Clock, Durability, EngineOptions};
use rarely_live::event::{ClockJumped, Event};
use rarely_live::{Engine, TokenGrant, audit, replay};
use rarely_store::{SigningKeyFile, SqliteLog, verify_chain};

const START_MS: u64 = 1_800_000_000_000;
const YEARS_MS: u64 = 10 * 365 * 86_400_000;

/// What the system's clock shows, and what has elapsed.
#[derive(Clone, Default)]
struct Times {
    wall: Arc<AtomicU64>,
    elapsed: Arc<AtomicU64>,
}

impl Times {
    fn at(wall_ms: u64) -> Self {
        let times = Self::default();
        times.wall.store(wall_ms, Ordering::SeqCst);
        times
    }

    fn pass(&self, milliseconds: u64) {
        self.wall.fetch_add(milliseconds, Ordering::SeqCst);
        self.elapsed.fetch_add(milliseconds, Ordering::SeqCst);
    }

    fn set(&self, wall_ms: u64) {
        self.wall.store(wall_ms, Ordering::SeqCst);
    }

    fn start(&self, store: &Path, signs: bool) -> Arc<Engine> {
        let Self { wall, elapsed } = self.clone();
        let checkpoints = CheckpointOptions {
            key_file: SigningKeyFile::beside(store),
            every: u64::MAX,
            publish: Arc::new(|_, _| {}),
        };
        let options = EngineOptions {
            durability: Durability::Relaxed,
            clock: Clock::new(move || wall.load(Ordering::SeqCst), move || elapsed.load(Ordering::SeqCst)),
            draw: Arc::new(|_, _| Vec::new()),
            snapshot_every: 1_000_000,
            checkpoints: signs.then_some(checkpoints),
        };
        Engine::start(store, options, |_| {}).expect("a store")
    }
}

/// Creates a token and returns the time of its event.
fn token(engine: &Engine, id: u8, expires_ms: Option<u64>) -> u64 {
    let (_, grant) = TokenGrant::new([id; 40], format!("person {id}"), Vec::new(), None, expires_ms);
    let event = engine.create_token("console", grant).expect("a token");
    engine.log().entry(event).expect("a log").expect("the event").time_ms
}

#[test]
fn a_clock_that_jumps_ahead_for_two_seconds_spoils_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("rarely.db");
    let times = Times::at(START_MS);
    let engine = times.start(&store, false);
    assert_eq!(token(&engine, 1, None), START_MS);
    times.set(START_MS + YEARS_MS);
    times.pass(2_000);
    assert_eq!(token(&engine, 2, None), START_MS + 2_000, "time goes on by what has elapsed");
    assert_eq!(engine.clock_offset_ms().unsigned_abs(), YEARS_MS);
    assert_eq!(engine.watch_clock().expect("recorded").map(i64::unsigned_abs), Some(YEARS_MS));
    assert_eq!(engine.watch_clock().expect("nothing new"), None);
    times.set(START_MS + 2_000);
    times.pass(1_000);
    assert_eq!(token(&engine, 3, None), START_MS + 3_000);
    assert_eq!(engine.watch_clock().expect("recorded"), Some(0));
    let last = engine.log().entry(5).expect("a log").expect("an event");
    assert_eq!(
        replay::event(engine.log().as_ref(), &last).expect("it parses"),
        Event::ClockJumped(ClockJumped { offset_ms: 0 })
    );
    assert_eq!((last.time_ms, last.elapsed_ms), (START_MS + 3_000, Some(3_000)));
    engine.stop();
    drop(engine);
    times.pass(60_000);
    let engine = times.start(&store, false);
    assert_eq!(token(&engine, 4, None), START_MS + 63_000, "after a restart, too");
    engine.stop();
}

#[test]
fn a_log_that_is_ahead_is_set_back_under_signature() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("rarely.db");
    let wrong = Times::at(START_MS + YEARS_MS);
    let engine = wrong.start(&store, true);
    let expires_ms = START_MS + 86_400_000;
    assert_eq!(token(&engine, 1, Some(expires_ms)), START_MS + YEARS_MS);
    engine.stop();
    drop(engine);

    let times = Times::at(START_MS);
    let unsigned = times.start(&store, false);
    times.pass(5_000);
    assert_eq!(unsigned.now_ms(), START_MS + YEARS_MS + 5_000, "time does not stand still");
    let refused = unsigned.correct_clock("console", START_MS, "the clock of the machine was wrong");
    assert!(matches!(refused, Err(ChangeError::NoSigningKey)));
    unsigned.stop();
    drop(unsigned);
    let engine = times.start(&store, true);
    engine.correct_clock("console", START_MS + 5_000, "the clock of the machine was wrong").expect("corrected");
    engine.stop();
    drop(engine);

    let engine = times.start(&store, true);
    assert_eq!(engine.now_ms(), START_MS + 5_000);
    assert!(engine.now_ms() < expires_ms, "the token is valid again");
    assert_eq!(token(&engine, 2, None), START_MS + 5_000);
    engine.stop();
    drop(engine);
    let log = SqliteLog::open_read_only(&store).expect("a store");
    verify_chain(&log, |_| ()).expect("only the correction goes back");
    audit::verify(&log, None, |_| ()).expect("the signature is right");
}

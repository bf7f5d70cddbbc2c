//! Checkpoints of an engine's log: signed at a stop, kept by the key's replacement, and a forged snapshot is refused.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rarely_live::engine::{CheckpointOptions, Clock, Durability, EngineOptions, StartError};
use rarely_live::event::KeyReplaced;
use rarely_live::{Engine, Event, TokenGrant, audit};
use rarely_store::{
    EventLog as _, Hash, NoteSigner, NoteVerdict, SigningKeyFile, SnapshotFault, SnapshotFile, SqliteLog, StoreError,
    verify_tree,
};
use tempfile::TempDir;

/// A store with a key, and the checkpoints that were published.
struct Scene {
    folder: TempDir,
    published: Arc<Mutex<Vec<u64>>>,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), published: Arc::default() }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("rarely.db")
    }

    fn key_file(&self) -> SigningKeyFile {
        SigningKeyFile::at(&self.folder.path().join("key"))
    }

    fn start(&self, signs: bool) -> Result<Arc<Engine>, StartError> {
        let published = self.published.clone();
        let checkpoints = CheckpointOptions {
            key_file: self.key_file(),
            every: 1_000_000,
            publish: Arc::new(move |_, checkpoint| published.lock().unwrap().push(checkpoint.size())),
        };
        let options = EngineOptions {
            durability: Durability::Relaxed,
            clock: Clock::simulated(|| 1_000),
            draw: Arc::new(|_, _| Vec::new()),
            snapshot_every: 1_000_000,
            checkpoints: signs.then_some(checkpoints),
        };
        Engine::start(&self.store(), options, |_| {})
    }

    /// Starts the engine, creates tokens and stops it.
    fn run(&self, tokens: u8) {
        let engine = self.start(true).unwrap_or_else(|error| panic!("{error}"));
        let from = engine.tokens().iter().count();
        for number in 0..tokens {
            let mut random = [number; 40];
            random[0] = u8::try_from(from).unwrap();
            let (_, grant) = TokenGrant::new(random, "ann", Vec::new(), None, None);
            engine.create_token("console", grant).unwrap();
        }
        engine.stop();
    }

    fn log(&self) -> SqliteLog {
        SqliteLog::open_read_only(&self.store()).unwrap()
    }
}

#[test]
fn a_clean_stop_signs_everything() {
    let scene = Scene::new();
    scene.run(5);
    let last = scene.log().last_checkpoint().unwrap().unwrap();
    assert_eq!(last.size(), 5);
    assert_eq!(scene.published.lock().unwrap().last(), Some(&5), "it was published");
    let key = scene.key_file().read().unwrap().unwrap().key().clone();
    assert_eq!(last.verdict(&key), NoteVerdict::Signed);
    scene.run(2);
    scene.run(0);
    let summary = verify_tree(&scene.log(), &[last], &[key]).unwrap();
    assert_eq!((summary.covered, summary.size), (7, 7));
}

#[test]
fn a_forged_snapshot_stops_the_start_and_an_unsigned_one_is_not_used() {
    let scene = Scene::new();
    scene.run(3);
    let path: PathBuf = SnapshotFile::beside(&scene.store()).path().to_owned();
    let text = std::fs::read_to_string(&path).unwrap();
    let (header, body) = text.split_once('\n').unwrap();
    let forged = body.replace("\"ann\"", "\"eve\"");
    assert_ne!(body, forged);
    let sha = |body: &str| Hash::of(body.as_bytes()).to_string();
    let header = header.replacen(&sha(body), &sha(&forged), 1);
    std::fs::write(&path, format!("{header}\n{forged}")).unwrap();
    let refused = scene.start(true).err().expect("tampering");
    assert!(matches!(refused, StartError::Snapshot(SnapshotFault::Forged { number: 3, .. })), "{refused}");
    let mut unsigned: serde_json::Value = serde_json::from_str(&header).unwrap();
    unsigned.as_object_mut().unwrap().remove("seal");
    std::fs::write(&path, format!("{unsigned}\n{forged}")).unwrap();
    let engine = scene.start(true).unwrap_or_else(|error| panic!("{error}"));
    assert!(engine.tokens().iter().all(|token| token.grant.name == "ann"), "the log counts");
    engine.stop();
    assert!(!path.exists(), "it is of no use any more");
}

/// Without the key of a signed log no snapshot is written: nobody could tell it from a forged one.
#[test]
fn an_engine_without_the_key_writes_no_snapshot() {
    let scene = Scene::new();
    scene.run(3);
    let path = SnapshotFile::beside(&scene.store()).path().to_owned();
    let before = std::fs::read(&path).unwrap();
    let engine = scene.start(false).unwrap_or_else(|error| panic!("{error}"));
    let (_, grant) = TokenGrant::new([9; 40], "ben", Vec::new(), None, None);
    engine.create_token("console", grant).unwrap();
    engine.stop();
    drop(engine);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    scene.run(0);
    assert_eq!(scene.log().last_checkpoint().unwrap().unwrap().size(), 4, "the next start signs what is new");
}

#[test]
fn a_replaced_key_is_vouched_for_by_the_one_before() {
    let scene = Scene::new();
    scene.run(3);
    let held = scene.log().last_checkpoint().unwrap().unwrap();
    let old = scene.key_file().read().unwrap().unwrap();
    let engine = scene.start(true).unwrap_or_else(|error| panic!("{error}"));
    let event = engine.replace_signing_key("console", &scene.key_file(), old.key().name()).unwrap();
    engine.stop();
    drop(engine);
    assert_eq!(event, 4);
    let new = scene.key_file().read().unwrap().unwrap();
    assert_ne!(old.key(), new.key());
    assert!(!scene.key_file().next().path().exists());
    scene.run(2);
    let log = scene.log();
    let replacements = audit::verify(&log, None, |_| {}).unwrap().key_replacements;
    for key in [old.key(), new.key()] {
        let trusted = KeyReplaced::trusted(key, &replacements);
        assert_eq!(trusted.len(), 2);
        let summary = verify_tree(&log, std::slice::from_ref(&held), &trusted).unwrap();
        assert_eq!((summary.covered, summary.by_other_keys), (6, 0));
    }
    let stranger = NoteSigner::generate(old.key().name());
    assert_eq!(KeyReplaced::trusted(stranger.key(), &replacements).len(), 1);
    // The old key no longer opens the store.
    std::fs::remove_file(scene.key_file().path()).unwrap();
    scene.key_file().create(&old).unwrap();
    assert!(matches!(scene.start(true).err(), Some(StartError::Store(StoreError::OtherKey { .. }))));
    // An interrupted replacement: the event is there, the new key still waits.
    scene.key_file().next().create(&new).unwrap();
    scene.run(1);
    assert_eq!(scene.key_file().read().unwrap().unwrap().key(), new.key());
}

#[test]
fn a_lost_key_is_replaced_without_its_signature() {
    let scene = Scene::new();
    scene.run(3);
    let old = scene.key_file().read().unwrap().unwrap();
    std::fs::remove_file(scene.key_file().path()).unwrap();
    assert!(matches!(scene.start(true).err(), Some(StartError::Store(StoreError::KeyMissing { .. }))));
    let engine = scene.start(false).unwrap_or_else(|error| panic!("{error}"));
    engine.replace_signing_key("console", &scene.key_file(), old.key().name()).unwrap();
    engine.stop();
    drop(engine);
    scene.run(1);
    let replacements = audit::verify(&scene.log(), None, |_| {}).unwrap().key_replacements;
    let trusted = KeyReplaced::trusted(old.key(), &replacements);
    assert_eq!(trusted, [old.key().clone()], "the old key does not vouch for the new one");
}

/// A forged event of this kind is refused by everyone who reads the log.
#[test]
fn a_replacement_needs_both_signatures() {
    let (old, new) = (NoteSigner::generate("log"), NoteSigner::generate("log"));
    let good = KeyReplaced::sign(Some(&old), &new);
    assert!(good.is_signed() && KeyReplaced::sign(None, &new).is_signed());
    let bad = [
        KeyReplaced { signed_by_old: None, ..good.clone() },
        KeyReplaced { from: None, signed_by_old: None, ..good.clone() },
        KeyReplaced { signed_by_old: Some(new.sign(b"rarely")), ..good.clone() },
        KeyReplaced { signed_by_new: String::new(), ..good.clone() },
        KeyReplaced { to: NoteSigner::generate("log").key().clone(), ..good.clone() },
    ];
    assert!(bad.iter().all(|bad| !bad.is_signed()));
    let event = Event::KeyReplaced(good);
    assert_eq!(Event::parse(event.kind(), &event.body()), Ok(event));
}

//! Whoever can write the files but does not have the key is found, given the public key and one checkpoint kept elsewhere.
//!
//! The forger of these tests is good: after every change the chain is computed again, so that `verify_chain` finds nothing, and
//! the witness, the stored tree and the stored checkpoints are adapted.

use std::path::Path;

use rarely_store::{
    Durability, EventLog as _, Hash, HeadWitness, LogEntry, NoteKey, NoteSigner, SignedCheckpoint, SigningKeyFile,
    SnapshotFault, SnapshotFile, SqliteLog, Store, StoredSnapshot, tree_root, verify_chain, verify_tree,
};
use rusqlite::{Connection, params};

use crate::support::{Folder, said, say};

const CASES: u64 = 1_200;
const FORMAT: &str = "test 1";

/// A store that was stopped cleanly, and what an auditor keeps of it.
struct Scene {
    folder: Folder,
    key: NoteKey,
    held: SignedCheckpoint,
    entries: Vec<LogEntry>,
}

impl Scene {
    fn new(size: u64) -> Self {
        let folder = Folder::new();
        let mut store = Store::open(&folder.store(), Durability::Relaxed).unwrap();
        let (log, file) = (store.log().clone(), store.snapshot());
        let signer = store.signer(&SigningKeyFile::at(&folder.file("key"))).unwrap();
        let notary = store.sign_with(signer).unwrap();
        let writer = store.start::<(), _>(|| 1_000, |_| ()).unwrap();
        for number in 1..=size {
            say(&writer, said(&format!("event {number}")), ());
            if number % (size / 3) == 0 {
                notary.sign_checkpoint().unwrap();
            }
        }
        notary.sign_checkpoint().unwrap();
        let entries = log.entries(0, None, usize::MAX).unwrap();
        let last = entries.last().unwrap();
        let snapshot = StoredSnapshot { number: size, hash: last.hash, body: b"the state".to_vec() };
        file.write_signed(FORMAT, "test", &snapshot, &notary).unwrap();
        let (key, held) = (notary.key().clone(), notary.latest().unwrap());
        assert_eq!(held.size(), size);
        writer.stop();
        drop((notary, log));
        Self { folder, key, held, entries }
    }

    /// A copy of the store's files.
    fn copy(&self, to: &Folder) {
        for name in ["rarely.db", "rarely.db.head", "rarely.db.snapshot"] {
            std::fs::copy(self.folder.file(name), to.file(name)).unwrap();
        }
    }

    /// Why the store at `path` is not the one that was signed, if anything is found.
    fn found(&self, path: &Path) -> Option<String> {
        let log = SqliteLog::open_read_only(path).unwrap();
        if let Err(error) = verify_tree(&log, std::slice::from_ref(&self.held), std::slice::from_ref(&self.key)) {
            return Some(error.to_string());
        }
        let keys = std::slice::from_ref(&self.key);
        let snapshot = SnapshotFile::beside(path).read_signed(FORMAT, &log, keys, |number| tree_root(&log, number));
        snapshot.err().map(|error| error.to_string())
    }
}

/// SplitMix64.
struct Draws(u64);

impl Draws {
    fn next(&mut self, below: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below).unwrap()
    }
}

/// Changes the history in one of eight ways.
fn rewrite(entries: &mut Vec<LogEntry>, draws: &mut Draws) {
    let count = entries.len() as u64;
    let at = draws.next(count);
    match draws.next(8) {
        0 => entries[at].body = format!("{{\"said\":\"{}\"}}", draws.next(1_000_000)),
        1 => entries[at].actor.push('x'),
        2 => "other".clone_into(&mut entries[at].kind),
        3 => entries[at].policy += 1,
        4 => {
            let shift = 1 + draws.next(1000) as u64;
            entries[at..].iter_mut().for_each(|entry| entry.time_ms += shift);
        }
        5 => drop(entries.remove(at)),
        6 => entries.insert(at, LogEntry { body: "{\"said\":\"never\"}".to_owned(), ..entries[at].clone() }),
        _ => {
            let other = (at + 1 + draws.next(count - 1)) % entries.len();
            entries.swap(at, other);
        }
    }
}

/// Writes these entries into the store, with numbers and hashes that fit, and a witness of their end.
fn store(path: &Path, entries: &[LogEntry]) {
    let mut database = Connection::open(path).unwrap();
    database.pragma_update(None, "synchronous", "OFF").unwrap();
    let transaction = database.transaction().unwrap();
    transaction.execute("DELETE FROM events", []).unwrap();
    transaction.execute("DELETE FROM tree", []).unwrap();
    let mut hash = Hash::ZERO;
    for (number, entry) in (1..).zip(entries) {
        let entry = LogEntry { number, ..entry.clone() };
        hash = entry.expected_hash(&hash);
        let LogEntry { time_ms, elapsed_ms, actor, policy, kind, body, .. } = entry;
        let signed = |number: u64| i64::try_from(number).unwrap();
        let elapsed = elapsed_ms.map(signed);
        let row = params![signed(number), signed(time_ms), actor, signed(policy), kind, body, &hash.0[..], elapsed];
        transaction.execute("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", row).unwrap();
    }
    transaction.commit().unwrap();
    drop(database);
    let log = SqliteLog::open_read_only(path).unwrap();
    HeadWitness::open(path).unwrap().accept_loss(&log).unwrap();
    verify_chain(&log, |_| ()).expect("the forger computes the chain again");
}

/// Makes the stored checkpoints fit the forged log as well as somebody without the key can.
fn forge_checkpoints(path: &Path, scene: &Scene, draws: &mut Draws) {
    let log = SqliteLog::open_read_only(path).unwrap();
    let size = log.head().unwrap().map_or(0, |(number, _)| number);
    let root = tree_root(&log, size).unwrap().base64();
    let text = format!("{}\n{size}\n{root}\n", scene.key.name());
    let database = Connection::open(path).unwrap();
    let note = match draws.next(4) {
        // Left as they are, if they are not beyond the end.
        0 => None,
        // All are removed.
        1 => {
            database.execute("DELETE FROM checkpoints", []).unwrap();
            None
        }
        // Signed with the forger's own key, under the same name.
        2 => Some(NoteSigner::generate(scene.key.name()).sign_note(&text)),
        // The true signature over another text.
        _ => {
            let signature = scene.held.to_string();
            Some(format!("{text}\n{}\n", signature.lines().last().unwrap()))
        }
    };
    let end = i64::try_from(size).unwrap();
    database.execute("DELETE FROM checkpoints WHERE size > ?1", [end]).unwrap();
    if let Some(note) = note {
        database.execute("DELETE FROM checkpoints", []).unwrap();
        database.execute("INSERT INTO checkpoints VALUES (?1, ?2)", params![end, note]).unwrap();
    }
}

/// Changes the snapshot as well as somebody without the key can.
fn forge_snapshot(folder: &Folder, scene: &Scene, draws: &mut Draws) {
    let path = folder.file("rarely.db.snapshot");
    let text = std::fs::read_to_string(&path).unwrap();
    let (header, _) = text.split_once('\n').unwrap();
    let body = format!("another state {}", draws.next(1_000_000));
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header["length"] = body.len().into();
    header["sha256"] = Hash::of(body.as_bytes()).to_string().into();
    match draws.next(3) {
        // The seal of the true one.
        0 => {}
        1 => drop(header.as_object_mut().unwrap().remove("seal")),
        _ => {
            let seal = header["seal"].as_str().unwrap();
            let text = format!("{}\n", seal.split("\n\n").next().unwrap());
            header["seal"] = NoteSigner::generate(scene.key.name()).sign_note(&text).into();
        }
    }
    std::fs::write(path, format!("{header}\n{body}")).unwrap();
}

#[test]
fn every_tampering_is_found() {
    let scenes = [12, 60, 300].map(Scene::new);
    for scene in &scenes {
        assert_eq!(scene.found(&scene.folder.store()), None, "what nobody changed is accepted");
    }
    let mut draws = Draws(17);
    for case in 0..CASES {
        // The large logs are rewritten less often: they take most of the time.
        let scene = &scenes[[0, 0, 0, 1, 1, 1, 1, 2][draws.next(8)]];
        let folder = Folder::new();
        scene.copy(&folder);
        let kind = draws.next(10);
        let mut entries = scene.entries.clone();
        match kind {
            0..=5 => {
                rewrite(&mut entries, &mut draws);
                if entries == scene.entries {
                    continue;
                }
            }
            6 | 7 => entries.truncate(draws.next(scene.entries.len() as u64)),
            _ => forge_snapshot(&folder, scene, &mut draws),
        }
        if kind < 8 {
            store(&folder.store(), &entries);
            forge_checkpoints(&folder.store(), scene, &mut draws);
        }
        let found = scene.found(&folder.store());
        assert!(found.is_some(), "case {case} of kind {kind} was not found");
    }
}

#[test]
fn a_forged_snapshot_is_called_tampering() {
    let scene = Scene::new(12);
    let folder = Folder::new();
    scene.copy(&folder);
    let path = folder.file("rarely.db.snapshot");
    let text = std::fs::read_to_string(&path).unwrap();
    let forged = text.replace("the state", "The state");
    let (old, new) = (Hash::of(b"the state").to_string(), Hash::of(b"The state").to_string());
    std::fs::write(&path, forged.replacen(&old, &new, 1)).unwrap();
    let log = SqliteLog::open_read_only(&folder.store()).unwrap();
    let keys = [scene.key.clone()];
    let read = SnapshotFile::beside(&folder.store()).read_signed(FORMAT, &log, &keys, |size| tree_root(&log, size));
    assert!(matches!(read, Err(SnapshotFault::Forged { number: 12, .. })), "{read:?}");
    assert!(read.unwrap_err().to_string().starts_with("tampering"));
}

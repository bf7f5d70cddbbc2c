//! `SnapshotFile`: an intact snapshot is read back, and any other is refused with its reason.

use std::fs;

use rarely_store::{Hash, SnapshotFault, SnapshotFile, SqliteLog, StoredSnapshot};

use crate::support::{Folder, filled, said, say, writer};

struct Scene {
    folder: Folder,
    file: SnapshotFile,
    snapshot: StoredSnapshot,
}

impl Scene {
    fn new() -> Self {
        let folder = Folder::new();
        let entries = filled(&folder.store(), 9);
        let file = SnapshotFile::beside(&folder.store());
        let body = b"the state\nin lines\n\0and bytes \xff".to_vec();
        Self { folder, file, snapshot: StoredSnapshot { number: 6, hash: entries[5].hash, body } }
    }

    fn log(&self) -> SqliteLog {
        SqliteLog::open_read_only(&self.folder.store()).unwrap()
    }

    fn write(&self) {
        self.file.write("state-1", "0.1.0", &self.snapshot).unwrap();
    }
}

#[test]
fn an_intact_snapshot_is_read_back() {
    let scene = Scene::new();
    assert_eq!(scene.file.read("state-1", &scene.log()).unwrap(), None);
    scene.write();
    assert_eq!(scene.file.read("state-1", &scene.log()).unwrap().as_ref(), Some(&scene.snapshot));
    let empty = StoredSnapshot { number: 0, hash: Hash::ZERO, body: Vec::new() };
    scene.file.write("state-1", "0.1.0", &empty).unwrap();
    assert_eq!(scene.file.read("state-1", &scene.log()).unwrap(), Some(empty));
    scene.file.remove().unwrap();
    scene.file.remove().unwrap();
    assert_eq!(scene.file.read("state-1", &scene.log()).unwrap(), None);
}

#[test]
fn another_format_is_refused() {
    let scene = Scene::new();
    scene.write();
    let fault = scene.file.read("state-2", &scene.log()).unwrap_err();
    assert!(matches!(&fault, SnapshotFault::OtherFormat { found, .. } if found == "state-1"), "{fault}");
    assert!(fault.to_string().contains("format \"state-1\" of rarely 0.1.0"), "{fault}");
}

#[test]
fn every_flipped_byte_and_every_truncation_is_detected() {
    let scene = Scene::new();
    scene.write();
    let log = scene.log();
    let bytes = fs::read(scene.file.path()).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(scene.file.path(), &damaged).unwrap();
        // Only a change of the program's version goes undetected: nothing depends on it.
        match scene.file.read("state-1", &log) {
            Err(_) => {}
            Ok(read) => assert!(read.as_ref() == Some(&scene.snapshot), "byte {at} changed the snapshot"),
        }
        fs::write(scene.file.path(), &bytes[..at]).unwrap();
        let fault = scene.file.read("state-1", &log).unwrap_err();
        assert!(matches!(fault, SnapshotFault::Damaged { .. }), "cut at {at}: {fault}");
    }
    fs::write(scene.file.path(), [&bytes[..], b"x"].concat()).unwrap();
    assert!(matches!(scene.file.read("state-1", &log), Err(SnapshotFault::Damaged { .. })));
}

#[test]
fn a_snapshot_of_another_log_is_refused() {
    let scene = Scene::new();
    let log = scene.log();
    let written = |number, hash| {
        let snapshot = StoredSnapshot { number, hash, ..scene.snapshot.clone() };
        scene.file.write("state-1", "0.1.0", &snapshot).unwrap();
        scene.file.read("state-1", &log).unwrap_err()
    };
    assert!(matches!(written(10, Hash::ZERO), SnapshotFault::BeyondTheLog { number: 10, log_ends: 9, .. }));
    assert!(matches!(written(6, Hash::of(b"other")), SnapshotFault::OtherLog { number: 6, .. }));
    assert!(matches!(written(0, Hash::of(b"other")), SnapshotFault::OtherLog { number: 0, .. }));
}

#[test]
fn an_interrupted_write_leaves_the_previous_snapshot() {
    let scene = Scene::new();
    scene.write();
    fs::write(scene.folder.file("rarely.db.snapshot.partial"), "half of").unwrap();
    assert_eq!(scene.file.read("state-1", &scene.log()).unwrap().as_ref(), Some(&scene.snapshot));
    let writer = writer(&scene.folder.store());
    let number = say(&writer, said("more"), ());
    let hash = writer.log().entry(number).unwrap().unwrap().hash;
    let next = StoredSnapshot { number, hash, body: b"next".to_vec() };
    scene.file.write("state-1", "0.1.0", &next).unwrap();
    assert_eq!(scene.file.read("state-1", &**writer.log()).unwrap(), Some(next));
}

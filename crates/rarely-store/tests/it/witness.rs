//! `HeadWitness`: a log that lacks acknowledged entries is refused.

use std::fs::{self, OpenOptions};

use rarely_store::{Durability, EventLoss, HeadWitness, Store, StoreError, restore};

use crate::support::{Folder, all, copy_store, filled, remedy, said, say, writer};

#[test]
fn a_truncated_write_ahead_log_is_detected() {
    let folder = Folder::new();
    let (path, copy) = (folder.store(), folder.file("copy.db"));
    let writer = writer(&path);
    for round in 0..20 {
        say(&writer, said(&format!("event {round}")), ());
    }
    copy_store(&path, &copy);
    let wal = folder.file("copy.db-wal");
    // Preallocated space follows the written frames.
    let whole = fs::read(&wal).unwrap().iter().rposition(|byte| *byte != 0).unwrap() as u64 + 1;
    // The intact copy opens.
    let pristine = folder.file("pristine.db");
    copy_store(&copy, &pristine);
    drop(Store::open(&pristine, Durability::Full).unwrap());
    for cut in [whole - 1, whole / 2, 32, 0] {
        let cut_store = folder.file(&format!("cut-{cut}.db"));
        copy_store(&copy, &cut_store);
        let wal = folder.file(&format!("cut-{cut}.db-wal"));
        OpenOptions::new().write(true).open(&wal).unwrap().set_len(cut).unwrap();
        match Store::open(&cut_store, Durability::Full).map(|_| ()).unwrap_err() {
            StoreError::Lost { log_ends, witnessed: 20, .. } => assert!(log_ends < 20),
            other => panic!("cut at {cut}: {other}"),
        }
        // After the loss is accepted, the log continues from its end.
        let (now, before) = Store::accept_loss(&cut_store).unwrap();
        assert_eq!(before.unwrap().number, 20);
        let writer = crate::support::writer(&cut_store);
        assert_eq!(say(&writer, said("goes on"), ()), now.number + 1);
    }
}

#[test]
fn an_old_copy_put_back_is_detected() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 5);
    let old = fs::read(&path).unwrap();
    let writer = writer(&path);
    say(&writer, said("newer"), ());
    writer.stop();
    fs::write(&path, old).unwrap();
    let error = Store::open(&path, Durability::Full).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::Lost { log_ends: 5, witnessed: 6, .. }), "{error}");
    assert_eq!(remedy(&error), "put the right files back, or accept the loss of the missing events");
}

#[test]
fn a_missing_database_is_detected_and_not_replaced() {
    let folder = Folder::new();
    let path = folder.store();
    let running = writer(&path);
    say(&running, said("one"), ());
    let copy = folder.file("copy.db");
    copy_store(&path, &copy);
    running.stop();
    fs::remove_file(&path).unwrap();
    let error = Store::open(&path, Durability::Full).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::Lost { log_ends: 0, witnessed: 1, .. }), "{error}");
    assert!(!path.exists());
    let (now, before) = Store::accept_loss(&path).unwrap();
    assert_eq!((now.number, before.unwrap().number), (0, 1));
    drop(Store::open(&path, Durability::Full).unwrap());

    // Only the copy's write-ahead log is left, without a witness.
    fs::remove_file(&copy).unwrap();
    fs::remove_file(HeadWitness::path(&copy)).unwrap();
    let before = fs::read(folder.file("copy.db-wal")).unwrap();
    for error in [
        Store::open(&copy, Durability::Full).map(|_| ()).unwrap_err(),
        restore(&path, &copy, EventLoss::Refuse).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::StrayWal { .. }), "{error}");
    }
    assert_eq!(fs::read(folder.file("copy.db-wal")).unwrap(), before);
}

#[test]
fn a_file_of_another_store_is_detected() {
    let folder = Folder::new();
    let (path, other) = (folder.store(), folder.file("other.db"));
    filled(&path, 5);
    let writer = writer(&other);
    for _ in 0..9 {
        say(&writer, said("something else"), ());
    }
    writer.stop();
    fs::copy(&other, &path).unwrap();
    let error = Store::open(&path, Durability::Full).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::Replaced { number: 5, .. }), "{error}");
}

#[test]
fn a_torn_or_missing_witness_is_ignored() {
    let folder = Folder::new();
    let path = folder.store();
    let entries = filled(&path, 5);
    let witness = HeadWitness::path(&path);
    let bytes = fs::read(&witness).unwrap();
    for damaged in [Vec::new(), bytes[..20.min(bytes.len())].to_vec(), vec![0; bytes.len()], vec![0xff; 8192]] {
        fs::write(&witness, damaged).unwrap();
        let store = Store::open(&path, Durability::Full).unwrap();
        assert_eq!(all(&**store.log()), entries);
    }
    fs::remove_file(&witness).unwrap();
    drop(Store::open(&path, Durability::Full).unwrap());
}

#[test]
fn one_torn_slot_leaves_the_other_valid() {
    let folder = Folder::new();
    let path = folder.store();
    let writer = writer(&path);
    for _ in 0..4 {
        say(&writer, said("one"), ());
    }
    writer.stop();
    let file = HeadWitness::path(&path);
    let bytes = fs::read(&file).unwrap();
    let mut seen = Vec::new();
    for torn in [10, bytes.len() - 10] {
        let mut damaged = bytes.clone();
        damaged[torn] ^= 1;
        fs::write(&file, damaged).unwrap();
        seen.push(HeadWitness::open(&path).unwrap().seen().unwrap().number);
    }
    seen.sort_unstable();
    assert_eq!(seen, [3, 4]);
}

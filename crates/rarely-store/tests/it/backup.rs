//! `backup` and `restore`.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rarely_store::{Durability, EventLoss, SqliteLog, Store, StoreError, backup, restore, verify_chain};

use crate::support::{Folder, all, filled, head, remedy, said, say, writer};

#[test]
fn a_backup_while_writing_is_an_intact_prefix() {
    let folder = Folder::new();
    let path = folder.store();
    let writer = writer(&path);
    say(&writer, said("first"), ());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Relaxed) {
                say(&writer, said(&format!("round {round}")), ());
                round += 1;
            }
        });
        for copy in 0..5 {
            let before = writer.committed();
            let to = folder.file(&format!("backup-{copy}.db"));
            let made = backup(&path, &to).unwrap();
            assert!(made.number >= before, "{} < {before}", made.number);
            let log = SqliteLog::open_read_only(&to).unwrap();
            assert_eq!(verify_chain(&log, |_| ()).unwrap(), made);
            let entries = all(&log);
            assert_eq!(writer.log().entries(0, None, entries.len()).unwrap(), entries);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_backup_never_overwrites_and_leaves_no_partial_file() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 5);
    let to = folder.file("backup.db");
    fs::write(&to, "mine").unwrap();
    assert!(matches!(backup(&path, &to), Err(StoreError::AlreadyExists { .. })));
    assert_eq!(fs::read(&to).unwrap(), b"mine");
    let missing = folder.file("missing.db");
    assert!(matches!(backup(&missing, &folder.file("b.db")), Err(StoreError::Missing { .. })));
    backup(&path, &folder.file("good.db")).unwrap();
    let names: Vec<_> = fs::read_dir(folder.folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| !name.contains("partial")), "{names:?}");
}

#[test]
fn restore_over_a_prefix_and_over_nothing() {
    let folder = Folder::new();
    let path = folder.store();
    let entries = filled(&path, 50);
    let early = folder.file("early.db");
    backup(&path, &early).unwrap();
    let running = writer(&path);
    for _ in 0..5 {
        say(&running, said("later"), ());
    }
    let late = folder.file("late.db");
    let made = backup(&path, &late).unwrap();
    running.stop();

    // The early copy becomes a store, over which the late copy is restored.
    let restored = restore(&late, &early, EventLoss::Refuse).unwrap();
    assert_eq!((restored.head, restored.before), (made, None));
    let store = Store::open(&early, Durability::Full).unwrap();
    assert_eq!(head(&**store.log()), made);
    assert_eq!(all(&**store.log())[..50], entries);
    drop(store);

    let fresh = folder.file("fresh.db");
    restore(&late, &fresh, EventLoss::Refuse).unwrap();
    let writer = writer(&fresh);
    assert_eq!(say(&writer, said("goes on"), ()), made.number + 1);
}

#[test]
fn restore_never_loses_events() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 20);
    let to = folder.file("backup.db");
    backup(&path, &to).unwrap();
    let writer = writer(&path);
    assert!(
        matches!(restore(&to, &path, EventLoss::Refuse), Err(StoreError::Locked { .. })),
        "restored under a running server"
    );
    for _ in 0..3 {
        say(&writer, said("after the backup"), ());
    }
    writer.stop();
    let before = all(&SqliteLog::open_read_only(&path).unwrap());
    let error = restore(&to, &path, EventLoss::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::WouldLose { first: 21, last: 23, .. }), "{error}");
    assert_eq!(all(&SqliteLog::open_read_only(&path).unwrap()), before);

    // After the store is moved away, the restore reports the events that are given up.
    fs::rename(&path, folder.file("away.db")).unwrap();
    let restored = restore(&to, &path, EventLoss::Refuse).unwrap();
    assert_eq!((restored.head.number, restored.before.map(|before| before.number)), (20, Some(23)));
    drop(Store::open(&path, Durability::Full).unwrap());
}

#[test]
fn a_loss_that_is_accepted_goes_back_to_the_backup() {
    let folder = Folder::new();
    let (path, to) = (folder.store(), folder.file("backup.db"));
    let kept = filled(&path, 20);
    backup(&path, &to).unwrap();
    let running = writer(&path);
    for _ in 0..3 {
        say(&running, said("after the backup"), ());
    }
    running.stop();
    let ended = head(&SqliteLog::open_read_only(&path).unwrap());
    let restored = restore(&to, &path, EventLoss::Accept).unwrap();
    assert_eq!((restored.head.number, restored.before), (20, Some(ended)));
    let store = Store::open(&path, Durability::Full).unwrap();
    assert_eq!(all(&**store.log()), kept);
}

#[test]
fn a_store_with_a_different_history_is_not_overwritten() {
    let folder = Folder::new();
    let (path, to) = (folder.store(), folder.file("backup.db"));
    filled(&path, 20);
    backup(&path, &to).unwrap();
    for (store, text) in [(&path, "one way"), (&to, "another way")] {
        let writer = writer(store);
        for _ in 0..9 {
            say(&writer, said(text), ());
        }
    }
    let error = restore(&to, &path, EventLoss::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::WouldLose { first: 21, last: 29, .. }), "{error}");
}

#[test]
fn a_damaged_backup_is_refused_and_a_damaged_store_not_overwritten() {
    let folder = Folder::new();
    let (path, to) = (folder.store(), folder.file("backup.db"));
    filled(&path, 200);
    backup(&path, &to).unwrap();
    let good = fs::read(&to).unwrap();
    let at = good.windows(9).position(|window| window == b"event 77,").unwrap();
    let mut bad = good.clone();
    bad[at] ^= 1;
    fs::write(&to, &bad).unwrap();
    let error = restore(&to, &folder.file("new.db"), EventLoss::Refuse).unwrap_err();
    assert!(matches!(&error, StoreError::Chain(fault) if fault.number() == 78), "{error}");
    assert!(!folder.file("new.db").exists());

    fs::write(&to, &good).unwrap();
    fs::write(&path, "no database at all, but long enough to be taken for one if nobody looks at it".repeat(3))
        .unwrap();
    let error = restore(&to, &path, EventLoss::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::Incomparable { .. }), "{error}");
    assert_eq!(remedy(&error), "move this store away, then restore again");
}

#[test]
fn a_damaged_store_is_not_backed_up() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 200);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(9).position(|window| window == b"event 77,").unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = backup(&path, &folder.file("backup.db")).unwrap_err();
    assert!(matches!(&error, StoreError::Chain(fault) if fault.number() == 78), "{error}");
    assert!(!folder.file("backup.db").exists());
}

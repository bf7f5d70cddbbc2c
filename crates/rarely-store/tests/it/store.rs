//! `Store` and `SqliteLog`: the lock, the format, files that are not stores, and readers beside a writer.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rarely_store::{
    Durability, EventLog, FORMAT, LogWriter, SqliteLog, Stamp, Store, StoreError, StoreLock, verify_chain,
};

use crate::support::{Folder, all, filled, remedy, said, say, writer};

#[test]
fn a_second_process_is_refused_and_told_the_process_id() {
    let folder = Folder::new();
    let path = folder.store();
    let first = Store::open(&path, Durability::Full).unwrap();
    let error = Store::open(&path, Durability::Full).map(|_| ()).unwrap_err();
    let me = std::process::id();
    assert!(matches!(error, StoreError::Locked { process: Some(process), .. } if process == me), "{error}");
    assert!(
        error.to_string().contains(&format!("another rarely process (process id {me}) uses this store")),
        "{error}"
    );
    // The lock is held while the writer runs.
    let running = first.start(|| 0, |_: Vec<(_, Option<()>)>| ()).unwrap();
    assert!(matches!(StoreLock::take(&path), Err(StoreError::Locked { .. })));
    running.stop();
    drop(Store::open(&path, Durability::Full).unwrap());
}

#[test]
#[cfg(target_os = "linux")]
fn another_path_to_the_same_file_does_not_open_it_twice() {
    let folder = Folder::new();
    let path = folder.store();
    // The first time the database does not exist when the lock is taken.
    for entries in [0, 3] {
        let store = Store::open(&path, Durability::Full).unwrap();
        let (symbolic, hard) = (folder.file("symbolic.db"), folder.file("hard.db"));
        std::os::unix::fs::symlink(&path, &symbolic).unwrap();
        fs::hard_link(&path, &hard).unwrap();
        for other in [&symbolic, &hard] {
            let error = Store::open(other, Durability::Full).map(|_| ()).unwrap_err();
            assert!(matches!(error, StoreError::Locked { .. }), "{error}");
            assert!(matches!(StoreLock::take(other), Err(StoreError::Locked { .. })));
            // Another process: `flock` is a program of its own.
            let free =
                std::process::Command::new("flock").args(["--nonblock"]).arg(other).arg("true").status().unwrap();
            assert!(!free.success(), "{} is free", other.display());
        }
        drop(store);
        fs::remove_file(&hard).unwrap();
        // Through a symbolic link it is the same store, with the same witness.
        drop(Store::open(&symbolic, Durability::Full).unwrap());
        assert!(!folder.file("symbolic.db.head").exists() && !folder.file("symbolic.db.lock").exists());
        fs::remove_file(&symbolic).unwrap();
        if entries == 0 {
            filled(&path, 3);
        }
    }
}

#[test]
fn a_newer_format_is_refused() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 3);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let check = |error: StoreError| {
        assert!(matches!(error, StoreError::NewerFormat { found: 7, known: FORMAT, .. }), "{error}");
        assert_eq!(remedy(&error), "use the version of rarely that wrote it");
    };
    check(Store::open(&path, Durability::Full).map(|_| ()).unwrap_err());
    check(SqliteLog::open_read_only(&path).map(|_| ()).unwrap_err());
    assert_eq!(fs::read(&path).unwrap(), before, "a store of a newer format was changed");
}

#[test]
fn a_file_that_is_not_a_store_is_refused_and_unchanged() {
    let folder = Folder::new();
    let text = folder.file("text.db");
    fs::write(&text, "This is a letter, and it is longer than the header of a database would be. ".repeat(9)).unwrap();
    let other = folder.file("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE mine(x)").unwrap();
    for path in [text, other] {
        let before = fs::read(&path).unwrap();
        for error in [
            Store::open(&path, Durability::Full).map(|_| ()).unwrap_err(),
            SqliteLog::open_read_only(&path).map(|_| ()).unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let missing = folder.file("missing.db");
    assert!(matches!(SqliteLog::open_read_only(&missing), Err(StoreError::Missing { .. })));
    assert!(!missing.exists());
}

#[test]
fn a_reader_beside_a_writer_sees_committed_entries() {
    let folder = Folder::new();
    let path = folder.store();
    let writer = writer(&path);
    say(&writer, said("one"), ());
    let reader = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(all(&reader).len(), 1);
    say(&writer, said("two"), ());
    assert_eq!(all(&reader).len(), 2);
    assert!(reader.append(&[]).is_ok());
    assert!(reader.reopen().is_err());
    assert_eq!(reader.durability(), None);
    writer.stop();
    assert_eq!(all(&reader).len(), 2);
    drop(reader);
    assert_eq!(all(&SqliteLog::open_read_only(&path).unwrap()).len(), 2);
}

#[test]
fn a_store_in_a_read_only_directory_can_be_read() {
    let folder = Folder::new();
    let path = folder.file("a?b%c #d.db");
    let entries = filled(&path, 20);
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let mut closed = fs::metadata(folder.folder.path()).unwrap().permissions();
    closed.set_readonly(true);
    let before = fs::metadata(folder.folder.path()).unwrap().permissions();
    fs::set_permissions(folder.folder.path(), closed).unwrap();
    let read = SqliteLog::open_read_only(&path).map(|log| all(&log));
    fs::set_permissions(folder.folder.path(), before).unwrap();
    assert_eq!(read.unwrap(), entries);
}

#[test]
fn two_readers_while_writing() {
    let folder = Folder::new();
    let writer = writer(&folder.store());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            let reader = SqliteLog::open_read_only(&folder.store()).unwrap();
            let (done, writer) = (&done, &writer);
            scope.spawn(move || {
                let mut before = 0;
                while !done.load(Ordering::Relaxed) {
                    let committed = writer.committed();
                    let seen = verify_chain(&reader, |_| ()).unwrap().number;
                    assert!(seen >= committed && seen >= before);
                    before = seen;
                }
            });
        }
        for round in 0..60 {
            let ((), receipt) = writer.append(|turn| {
                for part in 0..5 {
                    turn.push(said(&format!("{round} {part}")), ());
                }
            });
            receipt.wait_blocking().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_store_keeps_its_id_and_another_store_has_another_id() {
    let folder = Folder::new();
    let id = |name: &str| {
        let log = SqliteLog::open(&folder.file(name), Durability::Full).unwrap();
        log.id().to_owned()
    };
    assert_eq!(id("a.db"), id("a.db"));
    assert_ne!(id("a.db"), id("b.db"));
    assert_eq!(id("a.db").len(), 32);
}

#[test]
fn the_write_ahead_log_is_bounded() {
    let folder = Folder::new();
    let path = folder.store();
    let writer = writer(&path);
    let text = "x".repeat(10_000);
    for _ in 0..60 {
        let ((), receipt) = writer.append(|turn| {
            for _ in 0..200 {
                turn.push(said(&text), ());
            }
        });
        receipt.wait_blocking().unwrap();
    }
    // 120 MB are written; a checkpoint starts at about 16 MB, and more is written while it runs.
    let wal = folder.file("rarely.db-wal").metadata().unwrap().len();
    assert!(wal < 90 << 20, "the write-ahead log has {wal} bytes");
    assert_eq!(verify_chain(&**writer.log(), |_| ()).unwrap().number, 12_000);
    writer.stop();
    let left = folder.file("rarely.db-wal").metadata().map_or(0, |metadata| metadata.len());
    assert_eq!(left, 0, "a closed store is one file");
}

/// A store of format 1 is read as it is, and gets the new column when it is written to; its old events keep their hashes.
#[test]
fn a_store_of_format_1_is_read_and_upgraded() {
    let folder = Folder::new();
    let path = folder.store();
    filled(&path, 10);
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("ALTER TABLE events DROP COLUMN elapsed_ms; PRAGMA user_version = 1").unwrap();
    drop(old);
    let read_only = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(verify_chain(&read_only, |_| ()).unwrap().number, 10);
    drop(read_only);
    let clock = || Stamp { time_ms: 2_000, elapsed_ms: Some(7) };
    let writer: LogWriter<()> = Store::open(&path, Durability::Full).unwrap().start(clock, |_| ()).unwrap();
    assert_eq!(say(&writer, said("more"), ()), 11);
    writer.stop();
    let log = SqliteLog::open_read_only(&path).unwrap();
    assert_eq!(verify_chain(&log, |_| ()).unwrap().number, 11);
    let elapsed = |number| log.entry(number).unwrap().unwrap().elapsed_ms;
    assert_eq!((elapsed(10), elapsed(11)), (None, Some(7)));
    let changed = rusqlite::Connection::open(&path).unwrap();
    changed.execute("UPDATE events SET elapsed_ms = 8 WHERE number = 11", []).unwrap();
    assert!(verify_chain(&log, |_| ()).is_err(), "the hash covers it");
}

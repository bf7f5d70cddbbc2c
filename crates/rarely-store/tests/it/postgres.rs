//! The log in PostgreSQL: the laws of every log, the lease, fencing, settings, migrations and copies.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rarely_store::{
    Durability, EntryDraft, EventLog, Hash, Head, KeyedEntry, Lease, LogWriter, LookupKey, NoteSigner, POSTGRES_FORMAT,
    PolicyRef, PostgresAddress, PostgresLog, PostgresStore, SnapshotFile, SqliteLog, Store, StoreError, StoredSnapshot,
    Subject, SubjectKeys, copy_from_postgres, copy_to_postgres, verify_chain,
};

use crate::event_log::{check_backwards, check_entries_of_one_policy};
use crate::postgres_server::PostgresServer;
use crate::support::{Folder, all, chained, filled, head, marked, remedy, said, said_entry, say};

pub(crate) const TERM: Duration = Duration::from_secs(30);

/// A database of its own in a server.
pub(crate) fn database(server: &PostgresServer) -> PostgresAddress {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let name = format!("store_{}", NEXT.fetch_add(1, Ordering::SeqCst));
    server.query(&format!("CREATE DATABASE {name}"));
    PostgresAddress::parse(&server.database(&name)).unwrap()
}

pub(crate) fn connect(address: &PostgresAddress) -> PostgresStore {
    PostgresStore::connect(address.clone(), Durability::Full).unwrap()
}

pub(crate) fn owned(store: &PostgresStore) -> Lease {
    store.acquire("test", "http://127.0.0.1:1", TERM).unwrap().expect("the lease is free")
}

pub(crate) fn writer(store: &PostgresStore, lease: &Lease) -> LogWriter<()> {
    Store::open_postgres(store, lease).unwrap().start(|| 1_000, |_| ()).unwrap()
}

#[test]
fn the_laws_of_every_log_hold() {
    let server = PostgresServer::start();
    let address = database(&server);
    let store = connect(&address);
    let lease = owned(&store);
    let writer = writer(&store, &lease);
    check_entries_of_one_policy(&writer);
    check_backwards(&**writer.log());
    let key = LookupKey::new(1, b"once");
    let first = say(&writer, marked("one", &key), ());
    assert_eq!(writer.log().find(&key).unwrap(), Some(first));
    let both = writer.append(|turn| (turn.push(marked("two", &key), ()), turn.push(marked("three", &key), ())));
    both.1.wait_blocking().unwrap();
    assert_eq!(writer.log().find(&key).unwrap(), Some(both.0.1), "the latest entry with the key");
    assert_eq!(writer.log().find(&LookupKey::new(1, b"never")).unwrap(), None);
    let log = writer.log().clone();
    assert_eq!(verify_chain(&*log, |_| ()).unwrap(), head(&*log));
    assert_eq!(log.hashes(3, 2).unwrap(), [log.entry(4).unwrap().unwrap().hash, log.entry(5).unwrap().unwrap().hash]);
    writer.stop();
    // It is read as it was when it was opened.
    let reader = PostgresLog::open_read_only(address).unwrap();
    let before = all(&reader);
    assert_eq!(before, all(&*log));
    let next = chained(head(&*log), [said_entry(before.len() as u64 + 1)]);
    log.append(&next).unwrap();
    assert_eq!(all(&reader), before);
    assert!(reader.append(&next).is_err() && reader.reopen().is_err(), "it is for reading only");
}

#[test]
fn a_former_owner_cannot_write() {
    let server = PostgresServer::start();
    let address = database(&server);
    let (one, other) = (connect(&address), connect(&address));
    let first = one.acquire("one", "http://127.0.0.1:1", Duration::from_secs(1)).unwrap().expect("free");
    let log = one.open(&first).unwrap();
    let entries = chained(Head::EMPTY, (1..=3).map(said_entry));
    log.append(&entries[..1]).unwrap();
    assert!(other.acquire("other", "http://127.0.0.1:2", TERM).unwrap().is_none(), "it is renewed");
    sleep(Duration::from_millis(2_500));
    assert!(first.is_valid() && other.acquire("other", "", TERM).unwrap().is_none(), "still");
    let epoch = first.epoch();
    // As if its process was stopped: nothing is renewed any more.
    drop(first);
    let until = Instant::now() + Duration::from_secs(10);
    let second = loop {
        match other.acquire("other", "http://127.0.0.1:2", TERM).unwrap() {
            Some(lease) => break lease,
            None => assert!(Instant::now() < until, "the lease expires"),
        }
        sleep(Duration::from_millis(20));
    };
    assert_eq!(second.epoch(), epoch + 1);
    let status = one.lease(TERM).unwrap();
    assert_eq!((status.owner.as_str(), status.address.as_str()), ("other", "http://127.0.0.1:2"));
    let fenced = |result: Result<(), StoreError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
    };
    fenced(log.append(&entries[1..2]));
    fenced(log.reopen());
    fenced(log.try_to_write());
    let snapshot = StoredSnapshot { number: 1, hash: entries[0].entry.hash, body: b"{}".to_vec() };
    let log = Arc::new(log);
    fenced(SnapshotFile::in_database(log.clone()).write("f", "p", &snapshot));
    let mine = other.open(&second).unwrap();
    mine.append(&entries[1..]).unwrap();
    assert_eq!(verify_chain(&mine, |_| ()).unwrap().number, 3);
    second.release();
    assert!(one.lease(TERM).unwrap().expired && !second.is_valid());
    assert!(one.acquire("one", "", TERM).unwrap().is_some(), "at once");
}

/// A transaction that its client never ends must not keep the others from taking over.
#[test]
fn an_open_transaction_of_a_former_owner_is_ended() {
    let server = PostgresServer::start();
    let address = database(&server);
    let store = connect(&address);
    drop(store.acquire("one", "", Duration::from_secs(1)).unwrap().expect("free"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let named = PostgresAddress::parse(&format!("{address}?application_name=x")).unwrap();
    let client = runtime.block_on(named.connect()).unwrap();
    let stuck = "SET application_name = 'rarely writer 0 1'; BEGIN; SELECT rarely.fence(0, 1)";
    runtime.block_on(client.batch_execute(stuck)).unwrap();
    let (began, until) = (Instant::now(), Instant::now() + Duration::from_secs(20));
    while !store.acquire("other", "", TERM).is_ok_and(|lease| lease.is_some()) {
        assert!(Instant::now() < until, "the lease is taken over");
        sleep(Duration::from_millis(50));
    }
    assert!(began.elapsed() > Duration::from_millis(900), "it waited for the lock first");
    assert!(runtime.block_on(client.batch_execute("COMMIT")).is_err(), "the connection is gone");
}

#[test]
fn a_commit_whose_connection_breaks_is_found_again() {
    let server = PostgresServer::start();
    let address = database(&server);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    let store = connect(&address);
    let lease = owned(&store);
    let writer = Arc::new(writer(&store, &lease));
    let stop = Arc::new(AtomicU64::new(0));
    let appending = {
        let (writer, stop) = (writer.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut acknowledged = Vec::new();
            for request in 0_u64.. {
                if stop.load(Ordering::SeqCst) == 1 {
                    break;
                }
                let key = LookupKey::new(1, &request.to_be_bytes());
                // Until it is acknowledged; what is there already is not written again.
                loop {
                    if let Ok(found) = writer.find(&key) {
                        if let Some(number) = found.number {
                            acknowledged.push((request, number));
                            break;
                        }
                        let draft = marked(&format!("request {request}"), &key);
                        let (number, receipt) = writer.append(|turn| turn.push(draft, ()));
                        if receipt.wait_blocking().is_ok() {
                            acknowledged.push((request, number));
                            break;
                        }
                    }
                    sleep(Duration::from_millis(5));
                }
            }
            acknowledged
        })
    };
    for _ in 0..20 {
        sleep(Duration::from_millis(40));
        server.query_in(
            &name,
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
    }
    server.crash();
    sleep(Duration::from_millis(300));
    server.launch();
    let committed = writer.committed();
    let until = Instant::now() + Duration::from_secs(30);
    while writer.committed() < committed + 5 {
        assert!(Instant::now() < until, "it goes on after the database is back");
        sleep(Duration::from_millis(20));
    }
    stop.store(1, Ordering::SeqCst);
    let acknowledged = appending.join().unwrap();
    let entries = all(&**writer.log());
    assert_eq!(verify_chain(&**writer.log(), |_| ()).unwrap().number, entries.len() as u64);
    assert_eq!(entries.len(), acknowledged.len(), "each request is there once");
    for (request, number) in acknowledged {
        let body = &entries[usize::try_from(number).unwrap() - 1].body;
        assert!(body.contains(&format!("\"request {request}\"")), "{number}: {body}");
    }
}

#[test]
fn weak_settings_are_refused() {
    let server = PostgresServer::start_with("-c fsync=off");
    let address = database(&server);
    let error = PostgresStore::connect(address.clone(), Durability::Full).map(|_| ()).unwrap_err();
    assert!(matches!(&error, StoreError::WeakSetting { setting: "fsync", .. }), "{error}");
    assert!(remedy(&error).contains("ALTER SYSTEM SET fsync = on"), "{}", remedy(&error));
    PostgresStore::connect(address, Durability::Relaxed).unwrap();
    let server = PostgresServer::start();
    let address = database(&server);
    for weak in ["off", "local", "remote_write"] {
        server.query(&format!("ALTER ROLE tester SET synchronous_commit = {weak}"));
        let error = PostgresStore::connect(address.clone(), Durability::Full).map(|_| ()).unwrap_err();
        assert!(matches!(&error, StoreError::WeakSetting { setting: "synchronous_commit", .. }), "{weak}: {error}");
    }
    server.query("ALTER ROLE tester SET synchronous_commit = 'on'");
    connect(&address);
    // With standbys an acknowledged event is visible there, too. This one does not exist, so nothing may wait for it.
    server.query("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'");
    server.query("SET synchronous_commit = local; SELECT pg_reload_conf()");
    sleep(Duration::from_millis(200));
    let error = PostgresStore::connect(address.clone(), Durability::Full).map(|_| ()).unwrap_err();
    assert!(matches!(&error, StoreError::WeakSetting { required: "remote_apply", .. }), "{error}");
}

/// The server commits and warns when somebody cancels the wait for a standby: that is no acknowledgement.
#[test]
fn a_commit_that_is_not_replicated_is_not_acknowledged() {
    let server = PostgresServer::start();
    let address = database(&server);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    server.query("ALTER ROLE tester SET synchronous_commit = 'remote_apply'");
    let store = connect(&address);
    let lease = owned(&store);
    let log = Arc::new(store.open(&lease).unwrap());
    let key = LookupKey::new(1, b"doubtful");
    let mut entries = chained(Head::EMPTY, (1..=2).map(said_entry));
    entries[0].key = Some(key.clone());
    server.query("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'");
    server.query("SET synchronous_commit = local; SELECT pg_reload_conf()");
    sleep(Duration::from_millis(300));
    let appended = {
        let (log, first) = (log.clone(), entries[0].clone());
        std::thread::spawn(move || log.append(&[first]))
    };
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'rarely writer%'";
    let until = Instant::now() + Duration::from_secs(20);
    while server.query_in(&name, cancel) == "0" {
        assert!(Instant::now() < until, "the commit waits for the standby");
        sleep(Duration::from_millis(50));
    }
    let error = appended.join().unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Unreplicated { .. }), "{error}");
    assert_eq!(server.query_in(&name, "SELECT count(*) FROM rarely.events"), "1", "it is there");
    assert_eq!(log.find(&key).unwrap(), None, "and nobody relies on it yet");
    server.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    server.query("SELECT pg_reload_conf()");
    log.reopen().unwrap();
    assert_eq!(log.find(&key).unwrap(), Some(1), "what follows it is replicated, so it is");
    log.append(&entries[1..]).unwrap();
}

/// A plan that is made while the tables are small must not read the whole log when they have grown.
#[test]
fn lookups_use_their_index_while_the_log_grows() {
    let server = PostgresServer::start_with("-c autovacuum=off");
    let address = database(&server);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    let store = connect(&address);
    let lease = owned(&store);
    let log = store.open(&lease).unwrap();
    let key = |number: u64| LookupKey::new(2, &number.to_be_bytes());
    let grow = |from: u64, to: u64| {
        let mut entries = chained(head(&log), (from..=to).map(said_entry));
        for entry in &mut entries {
            entry.key = Some(key(entry.entry.number));
        }
        log.append(&entries).unwrap();
    };
    grow(1, 20);
    for number in 1..=20 {
        assert_eq!(log.find_each(&[key(number), key(1_000_000)]).unwrap(), [Some(number), None]);
        assert_eq!(log.entry_each(&[number, 1_000_000]).unwrap().iter().flatten().count(), 1);
    }
    (0..20).for_each(|block| grow(21 + block * 1_000, 20 + (block + 1) * 1_000));
    let read = |index: &str| -> u64 {
        server
            .query_in(&name, &format!("SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = '{index}'"))
            .parse()
            .unwrap()
    };
    let indexes = ["marks_pkey", "events_pkey", "events_by_policy"];
    let rows = |reading: bool| {
        // The server counts with a delay of a second, at the next query of the connection.
        for _ in 0..2 {
            sleep(Duration::from_millis(1_200));
            if reading {
                assert_eq!(log.find_each(&[key(17_000), key(9)]).unwrap(), [Some(17_000), Some(9)]);
                assert_eq!(log.entry_each(&[17_000, 9]).unwrap().iter().flatten().count(), 2);
            }
        }
        sleep(Duration::from_millis(1_200));
        log.find_each(&[key(1)]).unwrap();
        log.entry_each(&[1]).unwrap();
        sleep(Duration::from_millis(200));
        indexes.map(read).iter().sum::<u64>()
    };
    let before = rows(false);
    let after = rows(true);
    assert!((5..200).contains(&(after - before)), "{} rows were read", after - before);
}

#[test]
fn a_newer_format_is_refused_and_replicas_create_the_tables_once() {
    let server = PostgresServer::start();
    let address = database(&server);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    let secrets: Vec<String> = std::thread::scope(|scope| {
        let opened: Vec<_> = (0..4).map(|_| scope.spawn(|| connect(&address).secret().to_owned())).collect();
        opened.into_iter().map(|opened| opened.join().unwrap()).collect()
    });
    assert!(secrets.iter().all(|secret| *secret == secrets[0] && secret.len() == 64), "they share one");
    server.query_in(&name, "UPDATE rarely.meta SET value = '7' WHERE name = 'format'");
    for error in [
        PostgresStore::connect(address.clone(), Durability::Full).map(|_| ()).unwrap_err(),
        PostgresLog::open_read_only(address.clone()).map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::NewerFormat { found: 7, known: POSTGRES_FORMAT, .. }), "{error}");
        assert_eq!(remedy(&error), "use the version of rarely that wrote it");
    }
    let empty = database(&server);
    assert!(matches!(PostgresLog::open_read_only(empty), Err(StoreError::Missing { .. })));
}

#[test]
fn a_store_is_copied_into_a_database_and_back() {
    let (server, folder) = (PostgresServer::start(), Folder::new());
    let (path, back) = (folder.store(), folder.file("back.db"));
    filled(&path, 2_500);
    let mut store = Store::open(&path, Durability::Full).unwrap();
    let notary = store.sign_with(NoteSigner::generate(&store.origin())).unwrap();
    notary.sign_checkpoint().unwrap();
    drop((store, notary));
    let address = database(&server);
    let copied = copy_to_postgres(&path, address.clone(), Durability::Full, |_| ()).unwrap();
    assert_eq!(copied.number, 2_500);
    let again = copy_to_postgres(&path, address.clone(), Durability::Full, |_| ()).unwrap_err();
    assert!(matches!(again, StoreError::NotEmpty { events: 2_500, .. }), "{again}");
    let in_database = PostgresLog::open_read_only(address.clone()).unwrap();
    assert_eq!(copy_from_postgres(address.clone(), &back, |_| ()).unwrap(), copied);
    assert!(matches!(copy_from_postgres(address.clone(), &back, |_| ()), Err(StoreError::AlreadyExists { .. })));
    let (original, returned) = (SqliteLog::open_read_only(&path).unwrap(), SqliteLog::open_read_only(&back).unwrap());
    let seen = |log: &dyn EventLog| {
        let mut keys = Vec::new();
        log.lookup_keys(&mut |key, number| keys.push((key.clone(), number))).unwrap();
        keys.sort();
        let notes: Vec<String> = log.checkpoints(None).unwrap().iter().map(ToString::to_string).collect();
        (all(log), keys, notes, log.tree_blocks().unwrap())
    };
    assert_eq!(seen(&original), seen(&in_database));
    assert_eq!(seen(&original), seen(&returned));
    assert_eq!([in_database.id(), returned.id()], [original.id(), original.id()]);
    drop(Store::open(&back, Durability::Full).unwrap());
    // A copy that was interrupted is not taken for a store.
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    server.query_in(&name, "UPDATE rarely.chains SET copying = true");
    for error in [
        PostgresStore::connect(address.clone(), Durability::Full).map(|_| ()).unwrap_err(),
        PostgresLog::open_read_only(address.clone()).map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::CopyInterrupted { .. }), "{error}");
    }
}

#[test]
fn damage_is_found() {
    let server = PostgresServer::start();
    let address = database(&server);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    let store = connect(&address);
    let lease = owned(&store);
    let log = store.open(&lease).unwrap();
    let mut entries: Vec<KeyedEntry> = chained(Head::EMPTY, (1..=9).map(said_entry));
    entries[4].key = Some(LookupKey::new(1, b"five"));
    log.append(&entries).unwrap();
    let gap = log.append(&chained(Head::EMPTY, [said_entry(12)])).unwrap_err();
    assert!(gap.to_string().contains("event 12 cannot follow event 9"), "{gap}");
    log.reopen().unwrap();
    verify_chain(&log, |_| ()).unwrap();
    for (damage, repair, words) in [
        ("UPDATE rarely.marks SET number = 4", "UPDATE rarely.marks SET number = 5", "checksum"),
        (
            "UPDATE rarely.events SET body = body || ' ' WHERE number = 7",
            "UPDATE rarely.events SET body = rtrim(body) WHERE number = 7",
            "event 7 was modified",
        ),
        (
            "UPDATE rarely.events SET number = 20 WHERE number = 9",
            "UPDATE rarely.events SET number = 9 WHERE number = 20",
            "event 9 is missing",
        ),
    ] {
        server.query_in(&name, damage);
        let fault = verify_chain(&log, |_| ()).unwrap_err();
        assert!(fault.to_string().contains(words), "{damage}: {fault}");
        server.query_in(&name, repair);
    }
    verify_chain(&log, |_| ()).unwrap();
}

/// Snapshots are in the database, complete or not at all.
#[test]
fn a_snapshot_is_kept_in_the_database() {
    let server = PostgresServer::start();
    let address = database(&server);
    let store = connect(&address);
    let lease = owned(&store);
    let log = Arc::new(store.open(&lease).unwrap());
    log.append(&chained(Head::EMPTY, (1..=3).map(said_entry))).unwrap();
    let file = SnapshotFile::in_database(log.clone());
    assert_eq!(file.read("f", &*log).unwrap(), None);
    let Head { number, hash } = head(&*log);
    for body in [vec![7; 3_000_000], b"{\"small\": 1}\n\n".to_vec()] {
        let snapshot = StoredSnapshot { number, hash, body };
        file.write("f", "program", &snapshot).unwrap();
        assert_eq!(file.read("f", &*log).unwrap(), Some(snapshot));
    }
    assert!(file.read("another format", &*log).is_err());
    file.remove().unwrap();
    assert_eq!(file.read("f", &*log).unwrap(), None);
    // An entry with a key of its own policy is found by the reader of the same log.
    let writer = writer(&store, &lease);
    let key = LookupKey::new(2, b"x");
    let number = say(&writer, EntryDraft { policy: PolicyRef::OwnNumber, ..marked("x", &key) }, ());
    assert_eq!(PostgresLog::open_read_only(address).unwrap().find(&key).unwrap(), Some(number));
    say(&writer, said("the end"), ());
}

#[test]
fn keys_of_people_are_destroyed_with_the_event_and_copied_otherwise() {
    let server = PostgresServer::start();
    let address = database(&server);
    let store = connect(&address);
    let lease = owned(&store);
    let writer = writer(&store, &lease);
    let log = writer.log().clone();
    assert!(log.subject_secret().unwrap().is_some());
    let people: Vec<Subject> = (0..3_u8).map(|n| Subject::generate(Hash::of(&[n]))).collect();
    log.keep_subjects(&people).unwrap();
    log.keep_subjects(&[Subject { name: people[0].name, ..Subject::generate(Hash::ZERO) }]).unwrap();
    assert_eq!(log.subject(&people[0].name).unwrap().as_ref(), Some(&people[0]), "a name has one key");
    let ((), receipt) = writer.append(|turn| {
        turn.push(said("erased"), ());
        turn.destroy(vec![people[1].tag]);
    });
    receipt.wait_blocking().unwrap();
    assert_eq!(log.subject_key(&people[1].tag).unwrap(), None);
    assert!(log.scrub().unwrap());
    assert_eq!(log.subject_key(&people[2].tag).unwrap().as_ref(), Some(&people[2].key));
    let secret = log.subject_secret().unwrap();
    writer.stop();
    drop(log);
    let folder = Folder::new();
    let copied = folder.file("copy.db");
    copy_from_postgres(address, &copied, |_| ()).unwrap();
    let copy = SqliteLog::open_read_only(&copied).unwrap();
    assert_eq!(copy.subject_secret().unwrap(), secret);
    let mut kept: Vec<_> = copy.subjects().unwrap().into_iter().map(|subject| subject.tag).collect();
    kept.sort();
    let mut expected = vec![people[0].tag, people[2].tag];
    expected.sort();
    assert_eq!(kept, expected, "a key that was destroyed is not copied");
}

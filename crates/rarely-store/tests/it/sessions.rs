//! Sessions in PostgreSQL, which replicas share.

use std::thread::sleep;
use std::time::Duration;

use rarely_store::{Durability, Hash, PostgresAddress, PostgresStore, SessionTable, StoreError};

use crate::postgres_server::PostgresServer;

const LONG: Duration = Duration::from_secs(3_600);
const MOST: u64 = 100;

fn key(number: u8) -> Hash {
    Hash::of(&[number])
}

/// The sessions as another replica sees them.
fn replica(server: &PostgresServer) -> SessionTable {
    let address = PostgresAddress::parse(&server.address()).unwrap();
    PostgresStore::connect(address, Durability::Full).unwrap().sessions()
}

fn count(server: &PostgresServer) -> String {
    server.query("SELECT count(*) FROM rarely.sessions")
}

#[test]
fn replicas_share_sessions_without_a_lease() {
    let server = PostgresServer::start();
    let (one, other) = (replica(&server), replica(&server));
    assert_eq!((one.find(&key(1)).unwrap(), one.count().unwrap()), (None, 0));
    one.keep(&key(1), "first", LONG, MOST).unwrap();
    other.keep(&key(2), "second", LONG, MOST).unwrap();
    for replica in [&one, &other] {
        assert_eq!(replica.find(&key(1)).unwrap().as_deref(), Some("first"));
        assert_eq!(replica.find(&key(2)).unwrap().as_deref(), Some("second"));
        assert_eq!((replica.find(&key(3)).unwrap(), replica.count().unwrap()), (None, 2));
    }
    other.end(&key(1)).unwrap();
    other.end(&key(1)).unwrap();
    assert_eq!((one.find(&key(1)).unwrap(), one.count().unwrap()), (None, 1));
    // A connection that is lost is opened again.
    server.crash();
    let away = one.find(&key(2)).unwrap_err();
    assert!(matches!(away, StoreError::Postgres { .. }), "{away}");
    server.launch();
    assert_eq!(one.find(&key(2)).unwrap().as_deref(), Some("second"));
}

#[test]
fn sessions_end_with_their_time_and_are_removed_when_one_is_opened() {
    let server = PostgresServer::start();
    let sessions = replica(&server);
    sessions.keep(&key(1), "short", Duration::from_millis(300), MOST).unwrap();
    sessions.keep(&key(2), "long", LONG, MOST).unwrap();
    sleep(Duration::from_millis(400));
    assert_eq!((sessions.find(&key(1)).unwrap(), sessions.count().unwrap()), (None, 1));
    assert_eq!(count(&server), "2");
    sessions.keep(&key(3), "another", LONG, MOST).unwrap();
    assert_eq!(count(&server), "2");
    assert!(sessions.find(&key(2)).unwrap().is_some());
}

#[test]
fn the_oldest_session_ends_when_there_are_too_many() {
    let server = PostgresServer::start();
    let sessions = replica(&server);
    for number in 1..=5 {
        sessions.keep(&key(number), "x", LONG, 3).unwrap();
    }
    let open: Vec<u8> = (1..=5).filter(|number| sessions.find(&key(*number)).unwrap().is_some()).collect();
    assert_eq!(open, [3, 4, 5]);
    // Replicas that open sessions at the same moment do not wait for each other's removals.
    let replicas: Vec<SessionTable> = (0..4).map(|_| replica(&server)).collect();
    std::thread::scope(|scope| {
        for (replica, first) in replicas.iter().zip([10_u8, 60, 110, 160]) {
            scope.spawn(move || (0..50).for_each(|n| replica.keep(&key(first + n), "x", LONG, 3).unwrap()));
        }
    });
    sessions.keep(&key(9), "x", LONG, 3).unwrap();
    assert_eq!(sessions.count().unwrap(), 3);
    sessions.keep(&key(8), "x", LONG, 1).unwrap();
    assert_eq!((sessions.count().unwrap(), sessions.find(&key(9)).unwrap()), (1, None));
}

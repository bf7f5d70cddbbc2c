//! `rarely doctor`: what is bad is found, and said with what to do.

use std::fs;

use crate::cluster::{Replica, owner, wait_for};
use crate::postgres_server::PostgresServer;
use crate::program::{Place, data};
use crate::server::{Server, used};

/// The lines, and the exit code.
fn doctor(place: &Place, arguments: &str) -> (String, Option<i32>) {
    let output = place.rarely(&format!("doctor {arguments}")).env_remove("RARELY_STORE").output().expect("it starts");
    (data(&output), output.status.code())
}

#[test]
fn a_used_store_is_good() {
    let place = Place::new();
    used(&place);
    let (said, code) = doctor(&place, "--store s.db");
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "good     store        s.db: ",
        "good     witness ",
        "good     clock ",
        "good     signing key  s.db.signing-key: ",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(said.lines().all(|line| line.starts_with("good ")), "{said}");
}

#[test]
fn a_running_service_is_asked() {
    let place = Place::new();
    let server = Server::start(&place, "");
    let (said, code) = doctor(&place, &format!("--store s.db --url {}", server.url));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("can serve requests"), "{said}");
    let url = server.url.clone();
    server.stop();
    let (said, code) = doctor(&place, &format!("--store s.db --url {url}"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("bad      service      {url}: not ready")), "{said}");
}

#[test]
fn a_store_that_is_none_or_has_lost_its_end_is_bad() {
    let place = Place::new();
    let (said, code) = doctor(&place, "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("warning  store        rarely.db is not there yet"), "{said}");
    place.write("rarely.db", "no database");
    let (said, code) = doctor(&place, "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("bad      store        rarely.db: not a rarely store"), "{said}");

    let (full, short) = (Place::new(), Place::new());
    used(&short);
    fs::copy(short.path("s.db"), full.path("s.db")).expect("a store");
    used_again(&short);
    fs::copy(short.path("s.db.head"), full.path("s.db.head")).expect("a witness");
    let (said, code) = doctor(&full, "--store s.db");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("bad      witness"), "{said}");
    assert!(said.contains("rarely store recover"), "{said}");
}

/// Another start is another event.
fn used_again(place: &Place) {
    Server::start(place, "").stop();
    place.done("token create --store s.db --name second --role decide");
}

#[cfg(unix)]
#[test]
fn what_others_can_read_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    used(&place);
    let let_others_read = |name: &str| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o644)).expect("a mode");
    };
    let_others_read("s.db");
    let (said, code) = doctor(&place, "--store s.db --format json");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\"outcome\": \"warning\"") && said.contains("s.db has mode 644"), "{said}");
    let_others_read("s.db.signing-key");
    let (said, code) = doctor(&place, "--store s.db");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("bad      signing key  s.db.signing-key: other users may read"), "{said}");
}

#[test]
fn a_database_is_looked_at_and_nothing_is_changed() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let store = server.address();
    let looked = |expected: &[&str], expected_code: i32| {
        let (said, code) = doctor(&place, &format!("--store {store}"));
        assert_eq!(code, Some(expected_code), "{said}");
        for line in expected {
            assert!(said.contains(line), "{line}: {said}");
        }
        said
    };
    let none = "no store is in it yet";
    looked(&["good     database     PostgreSQL ", "good     connections ", "good     clocks ", none], 0);
    assert_eq!(server.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'rarely'"), "0", "nothing is created");

    let replica = Replica::start(&place, &store, "--chains 2");
    let url = owner(&server);
    let owned = |said: &str| said.contains(&format!("good     owners       {url} (3)"));
    wait_for("an owner of each chain", || owned(&doctor(&place, &format!("--store {store}")).0).then_some(()));
    let said =
        looked(&["good     durability   synchronous_commit = on; no standby", " in 3 chains", "good     clock "], 0);
    assert!(said.lines().all(|line| line.starts_with("good ")), "{said}");
    replica.stop();
    looked(&["warning  owners       no replica owns the store", "start `rarely serve`"], 0);

    server.query("ALTER SYSTEM SET synchronous_commit = 'off'");
    server.query("SELECT pg_reload_conf()");
    wait_for("the setting", || (server.query("SHOW synchronous_commit") == "off").then_some(()));
    looked(&["bad      durability   ", "synchronous_commit = off", "ALTER SYSTEM SET synchronous_commit = on"], 1);
    server.crash();
    looked(&["bad      database     "], 1);
}

#[test]
fn a_standby_and_its_primary_are_told_apart() {
    let (server, place) = (PostgresServer::start(), Place::new());
    Replica::start(&place, &server.address(), "").stop();
    let standby = server.start_standby();
    let (said, code) = doctor(&place, &format!("--store {}", server.address()));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("synchronous_commit = remote_apply; synchronous standbys standby"), "{said}");
    let (said, code) = doctor(&place, &format!("--store {}", standby.address()));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a standby\n") && said.contains("name both hosts in --store"), "{said}");
}

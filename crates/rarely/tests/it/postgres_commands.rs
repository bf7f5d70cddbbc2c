//! `rarely token` and `rarely store` on a store in PostgreSQL: refused while a replica owns it, done under the lease otherwise.

use std::fs;

use serde_json::json;

use crate::cluster::{POLICY, Replica, admin, agent, owner, post, refused, register, wait_for};
use crate::postgres_server::PostgresServer;
use crate::program::{Place, data, talk};

/// A store with a policy and a decision, which no replica uses, and its admin token.
fn used(server: &PostgresServer, place: &Place) -> String {
    let replica = Replica::start(place, &server.address(), "");
    let token = admin(place);
    register(&replica.url, &token);
    decide(&replica, &token, "visit 1");
    replica.stop();
    token
}

fn decide(replica: &Replica, token: &str, key: &str) {
    let ask = json!({ "record": { "systolic": 150, "diabetic": "no" }, "key": key }).to_string();
    let url = format!("{}{POLICY}/decisions", replica.url);
    wait_for("a decision", || {
        post(&agent(), &url, token, "application/json", &ask).filter(|(status, _)| *status == 200)
    });
}

#[test]
fn tokens_are_made_where_no_replica_runs() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let store = server.address();
    let missing = refused(&place, &format!("token list --store {store}"));
    assert!(missing.contains("no store found"), "{missing}");
    assert_eq!(server.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'rarely'"), "0", "nothing is created");
    used(&server, &place);
    let made = data(&place.done(&format!("token create --store {store} --name ann --role decide")));
    let id = made.split('_').nth(1).expect("an id").to_owned();
    // With the key the last snapshot is believed.
    let listed = data(&place.done(&format!("token list --store {store} --signing-key key")));
    assert!(listed.contains(&id), "{listed}");
    let replica = Replica::start(&place, &store, "");
    owner(&server);
    decide(&replica, made.trim(), "visit 2");
    for command in [
        format!("token create --store {store} --name ben --role read"),
        format!("token list --store {store}"),
        format!("token revoke {id} --store {store}"),
    ] {
        let said = refused(&place, &command);
        assert!(said.contains(&format!("a service at {} uses this database", replica.url)), "{command}: {said}");
        assert!(said.contains("--url"), "{command}: {said}");
    }
    replica.stop();
    place.done(&format!("token revoke {id} --store {store}"));
    place.done(&format!("audit verify --store {store}"));
}

#[test]
fn the_signing_key_of_a_database_is_replaced() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let store = server.address();
    used(&server, &place);
    let replica = Replica::start(&place, &store, "");
    owner(&server);
    let rotate = format!("store rotate-key --store {store} --signing-key key");
    let said = refused(&place, &rotate);
    assert!(said.contains("stop every replica"), "{said}");
    let old = signed_with(&replica);
    replica.stop();
    let unnamed = refused(&place, &format!("store rotate-key --store {store}"));
    assert!(unnamed.contains("--signing-key"), "{unnamed}");
    fs::copy(place.path("key"), place.path("old.key")).expect("a copy");
    let output = place.done(&rotate);
    let new = data(&output).trim().to_owned();
    assert!(talk(&output).contains("copy key to every machine"), "{}", talk(&output));
    assert_ne!(new, old);
    let replica = Replica::start(&place, &store, "");
    owner(&server);
    assert_eq!(signed_with(&replica), new);
    replica.stop();
    place.write("old.pub", &old);
    let audited = data(&place.done(&format!("audit verify --store {store} --key old.pub")));
    assert!(audited.contains("they cover all events"), "{audited}");
    let forgotten =
        place.rarely(&format!("token list --store {store} --signing-key old.key")).output().expect("it starts");
    assert!(talk(&forgotten).contains("it was replaced by"), "{}", talk(&forgotten));
}

/// The public key that a replica announces once it owns the store.
fn signed_with(replica: &Replica) -> String {
    wait_for("the key", || {
        let heard = replica.heard.lock().expect("not poisoned");
        heard.iter().find_map(|line| Some(line.split_once("checkpoints are signed with the key ")?.1.to_owned()))
    })
}

#[test]
fn a_backup_is_restored_into_a_database() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let store = server.address();
    let token = used(&server, &place);
    place.done(&format!("store copy --from {store} --to old.db"));
    let events = server.query("SELECT count(*) FROM rarely.events");
    let made = data(&place.done(&format!("token create --store {store} --name ann --role review")));
    let id = made.split('_').nth(1).expect("an id").to_owned();
    place.done(&format!("store copy --from {store} --to late.db"));
    // Into an empty database, and then what came later.
    server.query("CREATE DATABASE other");
    let other = server.database("other");
    place.done(&format!("store restore --from old.db --to {other}"));
    place.done(&format!("store restore --from late.db --to {other}"));
    place.done(&format!("audit verify --store {other}"));
    assert_eq!(
        server.query_in("other", "SELECT number FROM rarely.events ORDER BY number DESC LIMIT 1"),
        count(&server)
    );
    // Going back loses events.
    let back = format!("store restore --from old.db --to {store}");
    let said = refused(&place, &back);
    assert!(said.contains("--accept-loss"), "{said}");
    let replica = Replica::start(&place, &store, "");
    owner(&server);
    let accept = format!("{back} --accept-loss --name cem --reason test --yes");
    let said = refused(&place, &accept);
    assert!(said.contains("uses this database"), "{said}");
    replica.stop();
    server.query("INSERT INTO rarely.sessions VALUES ('x', '{}', 'infinity')");
    let said = talk(&place.done(&accept));
    assert!(said.contains("ann") && said.contains(&format!("to event {events};")), "{said}");
    place.done(&format!("audit verify --store {store}"));
    let listed = data(&place.done(&format!("token list --store {store}")));
    assert!(!listed.contains(&id), "{listed}");
    assert_eq!(server.query("SELECT count(*) FROM rarely.sessions"), "0", "people sign in again");
    let replica = Replica::start(&place, &store, "");
    owner(&server);
    decide(&replica, &token, "visit 1");
    decide(&replica, &token, "visit 3");
    replica.stop();
    place.done(&format!("audit verify --store {store}"));
}

fn count(server: &PostgresServer) -> String {
    server.query("SELECT count(*) FROM rarely.events")
}

/// A restore that was killed leaves a store that nobody uses by mistake, and can be repeated.
#[test]
fn an_interrupted_restore_is_repeated() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let store = server.address();
    used(&server, &place);
    place.done(&format!("store copy --from {store} --to backup.db"));
    server.query("UPDATE rarely.chains SET copying = true");
    server.query("DELETE FROM rarely.events WHERE number > 2");
    server.query("DELETE FROM rarely.marks");
    server.query("DELETE FROM rarely.checkpoints");
    for command in [format!("token list --store {store}"), format!("serve --store {store} --signing-key key")] {
        let said = refused(&place, &command);
        assert!(said.contains("interrupted") && said.contains("restore"), "{command}: {said}");
    }
    place.done(&format!("store restore --from backup.db --to {store}"));
    place.done(&format!("audit verify --store {store}"));
    Replica::start(&place, &store, "").stop();
}

#[test]
fn the_clock_of_a_log_in_a_database_is_shown_and_corrected() {
    use rarely_live::engine::{CheckpointOptions, Clock, Durability, EngineOptions};
    use rarely_live::{Engine, TokenGrant};
    use rarely_store::{PostgresAddress, PostgresStore, SigningKeyFile, Store, now_ms};
    use std::sync::Arc;
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let key_file = SigningKeyFile::at(&place.path("key"));
    let options = EngineOptions {
        durability: Durability::Full,
        clock: Clock::simulated(|| now_ms() + 3650 * 86_400_000),
        draw: Arc::new(|_, _| Vec::new()),
        snapshot_every: 1000,
        checkpoints: Some(CheckpointOptions { key_file, every: u64::MAX, publish: Arc::new(|_, _| {}) }),
    };
    let store = PostgresStore::connect(PostgresAddress::parse(&address).expect("an address"), Durability::Full);
    let store = store.expect("a store");
    let lease = store.reserve("test", std::time::Duration::from_secs(30)).expect("it is free");
    let engine = Engine::start_on(Store::open_postgres(&store, &lease).expect("a log"), options, |_| {});
    let engine = engine.expect("it starts");
    let (_, grant) = TokenGrant::new([1; 40], "ann", Vec::new(), None, None);
    engine.create_token("console", grant).expect("a token");
    engine.stop();
    let correct = format!("store clock --store {address} --correct --reason battery --signing-key key");
    let said = refused(&place, &correct);
    assert!(said.contains("another command uses this database"), "{said}");
    lease.release();
    let shown = data(&place.done(&format!("store clock --store {address}")));
    assert!(shown.contains("days ahead of the system's clock"), "{shown}");
    let unsigned = refused(&place, &format!("store clock --store {address} --correct --reason wrong"));
    assert!(unsigned.contains("--signing-key"), "{unsigned}");
    place.done(&correct);
    let shown = data(&place.done(&format!("store clock --store {address}")));
    assert!(shown.contains("not ahead") && shown.contains("battery"), "{shown}");
    place.done(&format!("audit verify --store {address}"));
}

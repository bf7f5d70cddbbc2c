//! Commands on a store of several chains: each acts on all of them, as far as they are concerned.

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rarely_live::Engine;
use rarely_live::engine::{CheckpointOptions, Clock, DecisionRequest, Durability, EngineOptions};
use rarely_store::{Lease, PostgresAddress, PostgresStore, SigningKeyFile, Store, now_ms, origin};
use serde_json::{Value as Json, json};

use crate::cluster::refused;
use crate::postgres_server::PostgresServer;
use crate::program::{Place, data, talk};
use crate::server::DOCUMENT;

/// The policy of each chain.
const POLICIES: [&str; 3] = ["first", "second", "third"];

fn connected(address: &str) -> PostgresStore {
    PostgresStore::connect(PostgresAddress::parse(address).expect("an address"), Durability::Full).expect("a store")
}

fn reserved(store: &PostgresStore) -> Lease {
    store.reserve("test", Duration::from_secs(30)).expect("it is free")
}

/// Runs the engine on a chain that is free, with a clock that is ahead.
fn on_chain<R>(store: &PostgresStore, key: &Path, ahead_ms: u64, act: impl FnOnce(&Arc<Engine>) -> R) -> R {
    let lease = reserved(store);
    let options = EngineOptions {
        durability: Durability::Full,
        clock: Clock::simulated(move || now_ms() + ahead_ms),
        draw: Arc::new(|_, _| Vec::new()),
        snapshot_every: 1000,
        checkpoints: Some(CheckpointOptions {
            key_file: SigningKeyFile::at(key),
            every: u64::MAX,
            publish: Arc::new(|_, _| {}),
        }),
    };
    let engine = Engine::start_on(Store::open_postgres(store, &lease).expect("a log"), options, |_| {});
    let engine = engine.expect("it starts");
    let done = act(&engine);
    engine.stop();
    lease.release();
    done
}

fn register(engine: &Engine, name: &str, people: &[&str]) {
    let document = DOCUMENT.replace("hypertension-treatment", name) + "\n[control]\nretain = \"1 second\"\n";
    let policy = engine.register("owner", &document, 42).expect("it is registered");
    let requests = people.iter().map(|person| {
        let record = json!({ "systolic": 150, "diabetic": "no" }).as_object().cloned().expect("an object");
        let request = policy.edition().request(Some(format!("visit of {person}")), record).expect("a record");
        DecisionRequest { subject: Some((*person).to_owned()), ..request }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for decided in runtime.block_on(engine.decide(&policy, "clinic", requests.collect())) {
        decided.expect("a decision");
    }
}

/// A store of three chains with a policy each, which are signed with the key in the file `key`. Some people are known in one chain, one in
/// two.
fn divided(address: &str, place: &Place) -> PostgresStore {
    let store = connected(address);
    let lease = reserved(&store);
    store.add_chains(&lease, 2).expect("chains");
    for (chain, policy) in (0..).zip(POLICIES) {
        store.place_at(&lease, &[policy.to_owned()], chain).expect("placed");
    }
    lease.release();
    let people: [&[&str]; 3] = [&["ann"], &["ann", "ben"], &["cem"]];
    for (chain, (policy, people)) in (0..).zip(POLICIES.into_iter().zip(people)) {
        on_chain(&store.chain(chain), &place.path("key"), 0, |engine| register(engine, policy, people));
    }
    place.write("key.pub", public_key(place));
    store
}

fn public_key(place: &Place) -> String {
    let signer = SigningKeyFile::at(&place.path("key")).read().expect("readable").expect("a key");
    format!("{}\n", signer.key())
}

/// What an audit with a key finds, as JSON; it must be good.
fn audited(place: &Place, store: &str, more: &str) -> Json {
    let output = place.done(&format!("audit verify --store {store} --format json {more}"));
    serde_json::from_str(&data(&output)).expect("JSON")
}

#[test]
fn all_chains_are_audited() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let store = divided(&address, &place);
    let found = audited(&place, &address, "--key key.pub");
    assert_eq!(found["fits"], true);
    for (number, decisions) in [(0, 1), (1, 2), (2, 1)] {
        let chain = &found["chains"][number];
        assert_eq!(
            (&chain["chain"], &chain["policies"], &chain["decisions"]),
            (&json!(number), &json!(1), &json!(decisions))
        );
        assert_eq!(chain["signed"]["covered"], chain["head"]["number"], "{chain}");
    }
    let id = store.chain(2).read().expect("a log").id().to_owned();
    assert!(found["chains"][2]["signed"]["key"].as_str().expect("a key").starts_with(&origin(&id)));
    let shown = data(&place.done(&format!("audit verify --store {address}")));
    assert!(shown.starts_with("chain 0: the log is consistent") && shown.contains("\nchain 2: the log is"), "{shown}");
    // What was kept elsewhere is about one of them.
    let head = &found["chains"][1]["head"];
    let head = format!("{}:{}", head["number"], head["hash"].as_str().expect("a hash"));
    audited(&place, &address, &format!("--head {head}"));
    let note = server.query("SELECT note FROM rarely.checkpoints WHERE chain = 2 ORDER BY size DESC LIMIT 1");
    place.write("kept", note.clone() + "\n");
    audited(&place, &address, "--key key.pub --checkpoint kept");
    let wrong = format!("1:{}", "ab".repeat(32));
    let output = place.rarely(&format!("audit verify --store {address} --head {wrong}")).output().expect("it starts");
    assert!(output.status.code() == Some(1) && data(&output).contains("chain 0: the log is not"), "{}", data(&output));
    // A report has all of them.
    place.done(&format!("audit report --store {address} --out report"));
    let changes = place.text("report/changes.csv");
    assert!(POLICIES.iter().all(|policy| changes.contains(&format!("\n{policy},"))), "{changes}");
    // One chain that was changed makes the whole store inconsistent.
    server.query("UPDATE rarely.events SET body = body || ' ' WHERE chain = 1 AND number = 2");
    let output = place.rarely(&format!("audit verify --store {address} --format json")).output().expect("it starts");
    let found: Json = serde_json::from_str(&data(&output)).expect("JSON");
    assert_eq!((output.status.code(), &found["fits"]), (Some(1), &json!(false)));
    let fits: Vec<&Json> = (0..3).map(|chain| &found["chains"][chain]["fits"]).collect();
    assert_eq!(fits, [true, false, true]);
}

#[test]
fn a_policy_in_two_chains_is_found() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let store = divided(&address, &place);
    on_chain(&store.chain(2), &place.path("key"), 0, |engine| register(engine, "second", &[]));
    let output = place.rarely(&format!("audit verify --store {address}")).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let shown = data(&output);
    assert!(shown.contains("the policy second is registered in chain 1 and in chain 2"), "{shown}");
}

#[test]
fn all_chains_are_copied_into_a_folder_and_back() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let store = divided(&address, &place);
    let said = refused(&place, &format!("store copy --from {address} --to copy.db"));
    assert!(said.contains("3 chains") && said.contains("folder"), "{said}");
    place.done(&format!("store copy --from {address} --to early/"));
    on_chain(&store.chain(1), &place.path("key"), 0, |engine| register(engine, "later", &["ann"]));
    let told = talk(&place.done(&format!("store copy --from {address} --to late/")));
    assert!(told.contains("chain 2: ") && told.contains("late/chain-1.db"), "{told}");
    assert!(refused(&place, &format!("store copy --from {address} --to late")).contains("already exists"));
    // A chain is a log like any other.
    let chain = audited(&place, "late/chain-1.db", "--key key.pub");
    assert_eq!((&chain["policies"], &chain["signed"]["covered"]), (&json!(2), &chain["head"]["number"]));
    // Into an empty database, and what came later.
    server.query("CREATE DATABASE other");
    let other = server.database("other");
    place.done(&format!("store copy --from early --to {other}"));
    assert!(refused(&place, &format!("store copy --from late --to {other}")).contains("needs an empty one"));
    place.done(&format!("store restore --from late --to {other}"));
    // Snapshots are not copied.
    let logs = |store: &str| {
        let mut found = audited(&place, store, "--key key.pub");
        for chain in found["chains"].as_array_mut().expect("chains") {
            chain["snapshot"] = Json::Null;
        }
        found
    };
    assert_eq!(logs(&other), logs(&address));
    let placed = connected(&other);
    let chains = ["first", "second", "third", "later"].map(|policy| placed.placement(policy).expect("an answer"));
    assert_eq!(chains, [Some(0), Some(1), Some(2), Some(1)]);
    drop(placed);
    let ids = |database| server.query_in(database, "SELECT id FROM rarely.chains ORDER BY chain");
    assert_eq!(ids("other"), ids("postgres"));
    // Nothing is lost, nor mixed.
    let said = refused(&place, &format!("store restore --from early --to {other}"));
    assert!(said.contains("would lose them") && said.contains("another, empty database"), "{said}");
    let said = refused(&place, &format!("store restore --from late/service.db --to {other}"));
    assert!(said.contains("3 chains"), "{said}");
    // One that was interrupted is repeated.
    server.query_in("other", "DELETE FROM rarely.events WHERE chain = 2 AND number > 1");
    server.query_in("other", "DELETE FROM rarely.marks WHERE chain = 2");
    server.query_in("other", "DELETE FROM rarely.checkpoints WHERE chain = 2");
    server.query_in("other", "UPDATE rarely.chains SET copying = true WHERE chain = 2");
    assert!(refused(&place, &format!("token list --store {other}")).contains("interrupted"));
    place.done(&format!("store restore --from late --to {other}"));
    audited(&place, &other, "--key key.pub");
    std::fs::rename(place.path("late/chain-2.db"), place.path("late/chain-1.db")).expect("renamed");
    server.query("CREATE DATABASE mixed");
    let said = refused(&place, &format!("store copy --from late --to {}", server.database("mixed")));
    assert!(said.contains("chain 1 of one store was expected"), "{said}");
}

#[test]
fn people_are_erased_in_every_chain_that_knows_them() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    divided(&address, &place);
    let erase = format!("erase --store {address} --signing-key key --reason asked");
    let said = refused(&place, &format!("{erase} --subject ann --subject nobody"));
    assert!(said.contains("no record of this person"), "{said}");
    let done = data(&place.done(&format!("{erase} --subject ann --subject ben")));
    assert!(
        done.contains("3 decisions") && done.contains("chain 0: event") && done.contains("chain 1: event"),
        "{done}"
    );
    let found = audited(&place, &address, "--key key.pub");
    let people: Vec<&Json> = (0..3).map(|chain| &found["chains"][chain]["erased"]["people"]).collect();
    assert_eq!(people, [1, 2, 0]);
    assert!(refused(&place, &format!("{erase} --subject ann")).contains("erased already"));
}

#[test]
fn the_key_of_all_chains_is_replaced_also_after_an_interruption() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let store = divided(&address, &place);
    let old = place.text("key.pub");
    let rotate = format!("store rotate-key --store {address} --signing-key key");
    let new = data(&place.done(&rotate));
    assert!(new != old && new == public_key(&place), "{new}");
    place.write("new.pub", &new);
    for key in ["key.pub", "new.pub"] {
        let found = audited(&place, &address, &format!("--key {key}"));
        for chain in 0..3 {
            let chain = &found["chains"][chain];
            assert_eq!(chain["signed"]["covered"], chain["head"]["number"], "{key}: {chain}");
        }
    }
    // As if the command was killed when one chain knew the new key.
    let file = SigningKeyFile::at(&place.path("key"));
    let service = origin(store.read().expect("a log").id());
    on_chain(&store.chain(2), &place.path("key"), 0, |engine| {
        engine.replace_signing_key("console", &file, &service).expect("recorded")
    });
    assert_eq!(public_key(&place), new, "the key is put in place last");
    let next = file.next().read().expect("readable").expect("a key").key().to_string();
    // A replica that has the file of the new key goes on.
    on_chain(&store.chain(2), &place.path("key"), 0, |engine| {
        assert_eq!(engine.notary().expect("it signs").key().id(), {
            let key: rarely_store::NoteKey = next.parse().expect("a key");
            key.named(&origin(engine.store_id())).id()
        });
    });
    let output = place.done(&rotate);
    assert_eq!(data(&output).trim(), next);
    assert!(talk(&output).contains("chain 2: the new key is recorded already"), "{}", talk(&output));
    assert!(!place.path("key.next").exists());
    // A chain that was added later is signed with the new key only, and the service's own log vouches for it.
    let lease = reserved(&store);
    store.add_chains(&lease, 4).expect("chains");
    lease.release();
    on_chain(&store.chain(3), &place.path("key"), 0, |engine| register(engine, "fourth", &["ann"]));
    let found = audited(&place, &address, "--key key.pub");
    assert_eq!(
        (found["chains"][3]["signed"]["checkpoints"].as_u64(), found["chains"].as_array().map(Vec::len)),
        (Some(1), Some(5))
    );
    // The key is lost.
    std::fs::remove_file(place.path("key")).expect("removed");
    place.done(&format!("{rotate} --lost"));
    place.write("key.pub", public_key(&place));
    audited(&place, &address, "--key key.pub");
}

#[test]
fn records_are_archived_from_all_chains() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    divided(&address, &place);
    sleep(Duration::from_millis(1100));
    place.done(&format!("store archive --store {address} --signing-key key --out archive"));
    let names = place.names("archive");
    for start in ["events-", "chain-1-events-", "chain-2-events-"] {
        assert_eq!(names.iter().filter(|name| name.starts_with(start)).count(), 2, "{names:?}");
    }
    let archived = |more: &str| {
        let found = audited(&place, &address, more);
        let count = |chain: usize| found["chains"][chain]["archived"]["events"].as_u64().expect("a number");
        (0..3).map(count).sum::<u64>()
    };
    assert!(archived("--key key.pub") > 0);
    assert_eq!(archived("--key key.pub --archive archive"), 0);
}

#[test]
fn tokens_are_in_the_own_chain_and_each_clock_is_corrected() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let store = divided(&address, &place);
    let made = data(&place.done(&format!("token create --store {address} --signing-key key --name ann --role read")));
    let id = made.split('_').nth(1).expect("an id");
    assert!(data(&place.done(&format!("token list --store {address}"))).contains(id));
    assert_eq!(server.query("SELECT DISTINCT chain FROM rarely.events WHERE kind = 'token created'"), "0");
    on_chain(&store.chain(1), &place.path("key"), 86_400_000, |engine| register(engine, "tomorrow", &[]));
    let shown = data(&place.done(&format!("store clock --store {address}")));
    assert!(shown.starts_with("chain 0\nlast event") && shown.matches("is not ahead").count() == 2, "{shown}");
    let done = place.done(&format!("store clock --store {address} --correct --reason battery --signing-key key"));
    assert!(talk(&done).starts_with("chain 1: event ") && !talk(&done).contains("chain 2"), "{}", talk(&done));
    let shown = data(&place.done(&format!("store clock --store {address}")));
    assert_eq!(shown.matches("is not ahead").count(), 3, "{shown}");
    audited(&place, &address, "--key key.pub");
    // A chain that a replica owns keeps all commands away.
    let lease = store.chain(2).acquire("replica", "http://127.0.0.1:9", Duration::from_secs(30)).expect("an answer");
    let said = refused(&place, &format!("token list --store {address}"));
    assert!(said.contains("a service at http://127.0.0.1:9 uses this database"), "{said}");
    drop(lease);
}

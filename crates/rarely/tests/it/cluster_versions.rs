//! Replicas of different versions: an older one passes requests on and does not take over what it cannot read.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use rarely_live::engine::Durability;
use rarely_store::{
    EntryDraft, Lease, LogWriter, POSTGRES_FORMAT, PolicyRef, PostgresAddress, PostgresStore, Store, now_ms,
};
use serde_json::{Value as Json, json};

use crate::cluster::{POLICY, Replica, admin, agent, owner, post, refused, register, wait_for};
use crate::postgres_server::PostgresServer;
use crate::program::{Place, talk};

const TERM: Duration = Duration::from_secs(30);

/// A replica of a newer version, as far as others notice it.
struct NewerReplica {
    store: PostgresStore,
    url: String,
}

impl NewerReplica {
    fn start(address: &str) -> Self {
        let address = PostgresAddress::parse(address).expect("an address");
        let store = PostgresStore::connect(address, Durability::Full).and_then(|store| store.reading(99));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("its number"));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut request = [0; 4096];
                drop(stream.read(&mut request));
                let body = "{\"newer\":true}";
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                drop(stream.write_all(answer.as_bytes()));
            }
        });
        Self { store: store.expect("a store"), url }
    }

    fn own(&self) -> Lease {
        wait_for("the lease", || self.store.acquire("newer", &self.url, TERM).expect("an answer"))
    }

    /// Writes an event that an older version does not know.
    fn write(&self, lease: &Lease) {
        let writer: LogWriter<()> =
            Store::open_postgres(&self.store, lease).expect("a log").start(now_ms, |_| ()).expect("a writer");
        let (_, receipt) = writer.append(|turn| {
            let (actor, body) = ("newer".to_owned(), "{}".to_owned());
            turn.push(EntryDraft { actor, policy: PolicyRef::None, kind: "dreamed", body, key: None }, ())
        });
        receipt.wait_blocking().expect("it is stored");
        writer.stop();
    }
}

/// What a replica answers to a request for a decision.
fn ask(replica: &Replica, token: &str) -> Option<(u16, Json)> {
    let body = json!({ "record": { "systolic": 150, "diabetic": "no" }, "key": "visit 1" }).to_string();
    post(&agent(), &format!("{}{POLICY}/decisions", replica.url), token, "application/json", &body)
}

/// Waits until a replica says why there is no owner.
fn no_owner_because(replica: &mut Replica, token: &str, words: &str) {
    wait_for(words, || {
        let (status, answer) = ask(replica, token)?;
        let detail = answer["detail"].as_str().unwrap_or_default();
        (status == 503 && detail.contains(words) && detail.contains("replace it with the newer version")).then_some(())
    });
    replica.assert_running();
}

fn passes_on(replica: &Replica, token: &str) {
    wait_for("it passes requests on", || {
        ask(replica, token).filter(|(status, answer)| *status == 200 && answer["newer"] == true)
    });
}

#[test]
fn an_older_replica_passes_on_and_does_not_take_over() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let first = Replica::start(&place, &address, "");
    let token = admin(&place);
    register(&first.url, &token);
    assert_eq!(owner(&server), first.url);
    let mut older = Replica::start(&place, &address, "");
    // The rolling upgrade: the first machine gets the newer version, which then owns the store.
    let newer = NewerReplica::start(&address);
    older.signal("STOP");
    first.stop();
    let lease = newer.own();
    older.signal("CONT");
    passes_on(&older, &token);
    assert_eq!(server.query("SELECT value FROM rarely.meta WHERE name = 'edition'"), "99");
    place.done(&format!("store copy --from {address} --to before.db"));
    // It ends, and the older one says what is to be done.
    newer.write(&lease);
    lease.release();
    no_owner_because(&mut older, &token, "events of edition 99");
    let heard = older.heard.lock().expect("not poisoned").join("\n");
    assert!(heard.contains("does not take the store over"), "{heard}");
    for command in [
        format!("serve --store {address} --listen 127.0.0.1:0 --signing-key key"),
        format!("token list --store {address}"),
    ] {
        let said = refused(&place, &command);
        assert!(said.contains("newer version"), "{command}: {said}");
    }
    let lease = newer.own();
    passes_on(&older, &token);
    lease.release();
    // Even if nobody had recorded it, an event that cannot be read is one.
    server.query("UPDATE rarely.meta SET value = '2' WHERE name = 'edition'");
    no_owner_because(&mut older, &token, "unknown event kind \"dreamed\"");
    let lease = newer.own();
    passes_on(&older, &token);
    lease.release();
    older.stop();
    // The way back.
    let back = "--accept-loss --name cem --reason downgrade --yes";
    let said = talk(&place.done(&format!("store restore --from before.db --to {address} {back}")));
    assert!(said.contains("by newer: dreamed, which this version of rarely does not know"), "{said}");
    let older = Replica::start(&place, &address, "");
    wait_for("it owns the store", || ask(&older, &token).filter(|(status, _)| *status == 200));
    older.stop();
    place.done(&format!("audit verify --store {address}"));
}

#[test]
fn tables_of_a_newer_format_are_left_to_newer_replicas() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let first = Replica::start(&place, &address, "");
    let token = admin(&place);
    register(&first.url, &token);
    let mut older = Replica::start(&place, &address, "");
    server.query("UPDATE rarely.meta SET value = '99' WHERE name = 'format'");
    first.stop();
    no_owner_because(&mut older, &token, "format 99");
    let said = refused(&place, &format!("serve --store {address} --listen 127.0.0.1:0 --signing-key key"));
    assert!(said.contains("format 99"), "{said}");
    server.query(&format!("UPDATE rarely.meta SET value = '{POSTGRES_FORMAT}' WHERE name = 'format'"));
    wait_for("it takes over after all", || ask(&older, &token).filter(|(status, _)| *status == 200));
    older.stop();
    place.done(&format!("audit verify --store {address}"));
}

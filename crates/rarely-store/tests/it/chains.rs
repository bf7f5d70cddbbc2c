//! A store of several chains: each has an owner, a log and a name for the key of the service.

use std::thread;
use std::time::Duration;

use rarely_store::{
    ChainStatus, EventLog, Hash, Head, NoteSigner, NoteVerdict, PostgresAddress, PostgresLog, PostgresStore,
    SigningKeyFile, Store, StoreError, Subject, SubjectKeys, chain_number, is_service_log, origin, service_id,
    verify_chain, verify_tree,
};

use crate::postgres::{TERM, connect, database, owned, writer};
use crate::postgres_server::PostgresServer;
use crate::support::{Folder, all, chained, head, said, said_entry, say};

/// A store that has two chains beside the service's own, whose lease is free.
fn divided(address: &PostgresAddress) -> PostgresStore {
    let store = connect(address);
    let lease = owned(&store);
    store.add_chains(&lease, 2).unwrap();
    lease.release();
    store
}

fn is_fenced<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Fenced { .. }))
}

#[test]
fn chains_are_added_and_have_owners_of_their_own() {
    let server = PostgresServer::start();
    let address = database(&server);
    let store = connect(&address);
    assert_eq!(store.number(), 0);
    let described = |store: &PostgresStore| -> Vec<(u64, String, String)> {
        let whole = |chain: ChainStatus| (chain.number, chain.id, chain.lease.owner);
        store.chains(TERM).unwrap().into_iter().map(whole).collect()
    };
    let [(0, id, _)] = &described(&store)[..] else { panic!("one chain") };
    assert!(matches!(store.chain(1).read(), Err(StoreError::Missing { .. })));
    assert!(store.chain(1).acquire("nobody", "", TERM).unwrap().is_none());
    let lease = owned(&store);
    store.add_chains(&lease, 2).unwrap();
    store.add_chains(&lease, 1).unwrap();
    let other = store.chain(2).acquire("other", "http://127.0.0.1:2", TERM).unwrap().expect("it is free");
    let named = |number: u64, owner: &str| (number, format!("{id}-{number}"), owner.to_owned());
    assert_eq!(described(&store), [(0, id.clone(), "test".to_owned()), named(1, ""), named(2, "other")]);
    let status = store.chain(2).lease(TERM).unwrap();
    assert_eq!(status, store.chains(TERM).unwrap()[2].lease);
    assert!(!status.expired && status.epoch == 1);
    for (number, id) in [(0, id.clone()), (2, format!("{id}-2"))] {
        let reader = PostgresLog::open_chain_read_only(address.clone(), number).unwrap();
        assert_eq!(reader.id(), id);
        assert_eq!((chain_number(&id), is_service_log(&id)), (number, number == 0));
        assert_eq!(service_id(&id), described(&store)[0].1);
    }
    // The lease of one chain is none of another, even if their epochs are equal.
    assert_eq!(lease.epoch(), other.epoch());
    assert!(is_fenced(&store.open(&other)) && is_fenced(&store.chain(2).open(&lease)));
    assert!(is_fenced(&store.add_chains(&other, 5)) && is_fenced(&store.place(&other, "p")));
    lease.release();
    assert!(other.is_valid() && !store.chain(2).lease(TERM).unwrap().expired, "only one was released");
    let _newer = owned(&store);
    assert!(is_fenced(&store.add_chains(&lease, 5)), "its epoch is over");
    assert_eq!(described(&store).len(), 3);
}

#[test]
fn two_owners_append_to_two_chains_at_the_same_time() {
    let server = PostgresServer::start();
    let address = database(&server);
    let (one, other) = (divided(&address).chain(1), connect(&address).chain(2));
    let person = |n: u8| Subject::generate(Hash::of(&[n]));
    let work = |store: &PostgresStore| {
        let lease = owned(store);
        let writer = writer(store, &lease);
        writer.log().keep_subjects(&[person(1), person(2)]).unwrap();
        for number in 1..=50 {
            assert_eq!(say(&writer, said(&format!("{number} in chain {}", store.number())), ()), number);
        }
        writer.stop();
        lease
    };
    let leases = thread::scope(|scope| {
        let both = [&one, &other].map(|store| scope.spawn(move || work(store)));
        both.map(|done| done.join().unwrap())
    });
    for (store, unread) in [(&one, "chain 2"), (&other, "chain 1")] {
        let log = store.read().unwrap();
        assert_eq!(verify_chain(&log, |_| ()).unwrap().number, 50);
        assert!(all(&log).iter().all(|entry| !entry.body.contains(unread)));
        assert_eq!(log.subjects().unwrap().len(), 2);
        assert!(log.append(&chained(head(&log), [said_entry(51)])).is_err(), "it is for reading only");
    }
    assert_eq!(connect(&address).read().unwrap().head().unwrap(), None);
    // A reader sees what comes later.
    let (reader, log) = (one.read().unwrap(), one.open(&leases[0]).unwrap());
    log.append(&chained(head(&log), [said_entry(51)])).unwrap();
    assert_eq!(reader.head().unwrap(), log.head().unwrap());
    // A new epoch of one chain does not end the other's.
    leases[0].release();
    let again = owned(&one);
    assert_eq!(again.epoch(), leases[1].epoch() + 1);
    assert!(is_fenced(&log.append(&chained(head(&log), [said_entry(52)]))));
    let log = other.open(&leases[1]).unwrap();
    log.append(&chained(head(&log), [said_entry(51)])).unwrap();
}

#[test]
fn policies_are_spread_over_the_chains_and_stay() {
    let server = PostgresServer::start();
    let address = database(&server);
    let store = connect(&address);
    let lease = owned(&store);
    assert_eq!(store.place(&lease, "alone").unwrap(), 0, "there is no other chain");
    store.place_at(&lease, &["old".to_owned(), "alone".to_owned()], 0).unwrap();
    store.add_chains(&lease, 3).unwrap();
    let placed = ["a", "b", "c", "d", "b", "old", "alone"].map(|policy| store.place(&lease, policy).unwrap());
    assert_eq!(placed, [1, 2, 3, 1, 2, 0, 0]);
    store.place_at(&lease, &["a".to_owned(), "e".to_owned(), "f".to_owned()], 2).unwrap();
    assert_eq!(store.place(&lease, "g").unwrap(), 3, "it has the fewest");
    assert_eq!(store.place(&lease, "h").unwrap(), 1, "a lower number");
    let found = ["a", "e", "old", "nowhere"].map(|policy| connect(&address).placement(policy).unwrap());
    assert_eq!(found, [Some(1), Some(2), Some(0), None]);
    assert!(store.place_at(&lease, &["x".to_owned()], 9).is_err(), "there is no such chain");
    lease.release();
    let _newer = owned(&store);
    assert!(is_fenced(&store.place(&lease, "later")) && is_fenced(&store.place_at(&lease, &["later".to_owned()], 1)));
    assert_eq!(store.placement("later").unwrap(), None);
}

#[test]
fn replicas_say_that_they_run() {
    let server = PostgresServer::start();
    let address = database(&server);
    let (one, other) = (connect(&address), connect(&address));
    assert_eq!(one.announce("b", "http://127.0.0.1:1", TERM).unwrap(), ["b"]);
    assert_eq!(other.announce("a", "http://127.0.0.1:2", Duration::from_millis(600)).unwrap(), ["a", "b"]);
    assert_eq!(one.announce("b", "http://127.0.0.1:3", TERM).unwrap(), ["a", "b"]);
    thread::sleep(Duration::from_millis(700));
    assert_eq!(one.announce("b", "http://127.0.0.1:3", TERM).unwrap(), ["b"]);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    assert_eq!(server.query_in(&name, "SELECT id || ' ' || address FROM rarely.replicas"), "b http://127.0.0.1:3");
    assert_eq!(other.announce("a", "http://127.0.0.1:2", TERM).unwrap(), ["a", "b"], "it was only late");
    one.withdraw("b").unwrap();
    assert_eq!(other.announce("a", "http://127.0.0.1:2", TERM).unwrap(), ["a"]);
}

/// The owner may be of an older version, whose tables have one chain.
#[test]
fn tables_of_an_older_format_have_one_chain() {
    let server = PostgresServer::start();
    let address = database(&server);
    let name = address.to_string().rsplit('/').next().unwrap().to_owned();
    let store = connect(&address);
    let older = "DROP TABLE rarely.placements, rarely.replicas, rarely.sessions; \
         UPDATE rarely.meta SET value = '3' WHERE name = 'format'";
    server.query_in(&name, older);
    server.query_in(&name, "UPDATE rarely.leases SET owner = 'older', epoch = 7, expires = 'infinity'");
    let chains = store.chains(TERM).unwrap();
    assert_eq!((chains.len(), chains[0].lease.owner.as_str(), chains[0].lease.epoch), (1, "older", 7));
    assert_eq!(store.placement("p").unwrap(), None);
    assert_eq!(store.announce("a", "http://127.0.0.1:1", TERM).unwrap(), ["a"]);
    store.withdraw("a").unwrap();
    assert!(store.acquire("newer", "", TERM).unwrap().is_none(), "the older one owns it");
    server.query_in(&name, "UPDATE rarely.leases SET expires = '-infinity'");
    let lease = owned(&store);
    store.add_chains(&lease, 1).unwrap();
    assert_eq!(store.place(&lease, "p").unwrap(), 1);
}

#[test]
fn one_key_signs_all_chains_under_their_names() {
    let (server, folder) = (PostgresServer::start(), Folder::new());
    let address = database(&server);
    let store = divided(&address);
    let file = SigningKeyFile::at(&folder.file("key"));
    let open = |number: u64| {
        let chain = store.chain(number);
        let lease = owned(&chain);
        let log = chain.open(&lease).unwrap();
        log.append(&chained(Head::EMPTY, (1..=3).map(said_entry))).unwrap();
        (Store::open_postgres(&chain, &lease).unwrap(), lease)
    };
    let (mut other, other_lease) = open(1);
    let early = other.signer(&file);
    assert!(matches!(early, Err(StoreError::KeyMissing { .. })), "the key is made for the service's own chain");
    let (mut own, own_lease) = open(0);
    let keys = [&mut own, &mut other].map(|store| {
        let signer = store.signer(&file).unwrap();
        let notary = store.sign_with(signer).unwrap();
        notary.sign_checkpoint().unwrap().unwrap();
        notary.key().clone()
    });
    assert_eq!(keys[1].name(), origin(other.id()));
    assert_eq!(keys[1], keys[0].named(&other.origin()));
    assert_eq!(keys[1].named(&own.origin()), keys[0]);
    assert_ne!(keys[0].id(), keys[1].id());
    for (number, key, wrong) in [(0, &keys[0], &keys[1]), (1, &keys[1], &keys[0])] {
        let log = PostgresLog::open_chain_read_only(address.clone(), number).unwrap();
        let tree = verify_tree(&log, &[], std::slice::from_ref(key)).unwrap();
        assert_eq!((tree.checkpoints, tree.covered), (1, 3));
        assert_eq!(log.last_checkpoint().unwrap().unwrap().verdict(wrong), NoteVerdict::NotSigned);
    }
    let foreign = NoteSigner::generate("rarely/another");
    assert!(matches!(other.sign_with(foreign), Err(StoreError::OtherKey { .. })));
    drop((own_lease, other_lease));
}

#[test]
fn a_key_under_another_name_is_the_same_key() {
    let signer = NoteSigner::generate("rarely/one");
    let named = signer.named("rarely/one-1");
    assert_eq!(named.key(), &signer.key().named("rarely/one-1"));
    assert_eq!(named.named("rarely/one").secret(), signer.secret());
    assert_eq!(NoteSigner::parse(named.secret()).unwrap().key(), named.key());
    assert!(signer.key().has_signed(b"text", &named.sign(b"text")));
    let note = named.sign_note("text\n");
    assert_eq!(named.key().verdict(&note), NoteVerdict::Signed);
    assert_eq!(signer.key().verdict(&note), NoteVerdict::NotSigned, "another name is another signature line");
    assert_eq!(signer.key().named("a name+sign").name(), "a-name-sign");
}

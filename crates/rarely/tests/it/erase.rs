//! `rarely erase`.

use std::thread::sleep;
use std::time::Duration;

use crate::program::{Place, data, talk};
use crate::server::{Server, used};

/// A store with decisions about people `person 0`, `person 1` …
fn with_people(place: &Place, people: usize) -> String {
    let token = used(place);
    let server = Server::start(place, "");
    for person in 0..people {
        let ask = format!(
            "{{\"record\": {{\"systolic\": {}, \"diabetic\": \"no\"}}, \"subject\": \"person {person}\"}}",
            100.5 + person as f64
        );
        let path = "/v1/policies/hypertension-treatment/decisions";
        assert_eq!(server.post(&token, path, "application/json", &ask).0, 200);
    }
    server.stop();
    token
}

fn erased(place: &Place) -> u64 {
    let found: serde_json::Value =
        serde_json::from_str(&data(&place.done("audit verify --store s.db --format json"))).expect("JSON");
    found["erased"]["people"].as_u64().expect("a number")
}

#[test]
fn a_person_is_erased_in_a_store_and_through_a_server() {
    let place = Place::new();
    with_people(&place, 3);
    let mut alone = place.rarely("erase --store s.db --reason asked --subject");
    let done = alone.arg("person 0").output().unwrap();
    assert!(
        data(&done).contains("the records of 1 decisions and 0 outcomes cannot be read any more"),
        "{}",
        talk(&done)
    );
    let again = place.rarely("erase --store s.db --reason asked --subject").arg("person 0").output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(
        talk(&again).contains("there is no record of this person, or the person was erased already"),
        "{}",
        talk(&again)
    );
    let server = Server::start(&place, "");
    let through = format!("erase --url {} --token-file admin.token --reason asked --subject", server.url);
    let done = place.rarely(&through).arg("person 1").output().unwrap();
    assert!(data(&done).contains("erased"), "{}", talk(&done));
    server.stop();
    assert_eq!(erased(&place), 2);
    let verified = data(&place.done("audit verify --store s.db"));
    assert!(verified.contains("2 people were erased: 2 decisions cannot be drawn again"), "{verified}");
    place.done("audit report --store s.db --out report");
    assert!(place.text("report/changes.csv").contains("erased"));
}

#[cfg(unix)]
#[test]
fn a_kill_in_the_middle_leaves_the_person_or_erases_them() {
    let place = Place::new();
    let people = 12;
    with_people(&place, people);
    let mut expected = 0;
    for person in 0..people {
        let mut command = place.rarely("erase --store s.db --reason asked --subject");
        let mut child = command.arg(format!("person {person}")).stdout(std::process::Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(8 * person as u64));
        drop(child.kill());
        child.wait().unwrap();
        let known = erased(&place);
        assert!(known == expected || known == expected + 1, "{known} people are erased, and were {expected}");
        expected = known;
        let again =
            place.rarely("erase --store s.db --reason asked --subject").arg(format!("person {person}")).output();
        let again = again.unwrap();
        let code = again.status.code();
        assert!(code == Some(0) || talk(&again).contains("erased already"), "{}", talk(&again));
        expected += u64::from(code == Some(0));
        assert_eq!(erased(&place), expected);
    }
    assert_eq!(expected, people as u64, "everybody is erased, once");
}

/// Sends a request until a service that starts over a database answers it.
#[cfg(unix)]
fn post(server: &Server, token: &str, path: &str, kind: &str, body: &str) -> serde_json::Value {
    for _ in 0..300 {
        let (status, answer) = server.post(token, path, kind, body);
        if status != 503 {
            assert!(status < 300, "{status}: {answer}");
            return serde_json::from_str(&answer).expect("JSON");
        }
        sleep(Duration::from_millis(100));
    }
    panic!("{path} is not answered");
}

#[cfg(unix)]
#[test]
fn a_person_is_erased_in_a_database() {
    let (database, place) = (crate::postgres_server::PostgresServer::start(), Place::new());
    let address = database.address();
    let serve = || {
        let listen = "--listen 127.0.0.1:0 --lease 2 --signing-key key --admin-token-file admin.token";
        Server::run(place.rarely(&format!("serve --store {address} {listen}")))
    };
    let server = serve();
    // The file is created first, and written a moment later.
    let written = || std::fs::read_to_string(place.path("admin.token")).unwrap_or_default().trim().to_owned();
    let mut token = written();
    for _ in 0..300 {
        if !token.is_empty() {
            break;
        }
        sleep(Duration::from_millis(100));
        token = written();
    }
    post(&server, &token, "/v1/policies", "application/toml", crate::server::DOCUMENT);
    let policy = "/v1/policies/hypertension-treatment";
    for person in 0..30 {
        let ask = format!(
            "{{\"record\": {{\"systolic\": {}, \"diabetic\": \"no\"}}, \"subject\": \"person {person}\", \"key\": \"visit {person}\"}}",
            100.5 + f64::from(person)
        );
        let made = post(&server, &token, &format!("{policy}/decisions"), "application/json", &ask);
        let report = format!("{{\"decision\": {}, \"outcome\": 0.5}}", made["decision"]);
        post(&server, &token, &format!("{policy}/outcomes"), "application/json", &report);
    }
    let erase = format!("erase --url {} --token-file admin.token --reason asked --subject", server.url);
    let done = place.rarely(&erase).arg("person 3").output().unwrap();
    assert!(data(&done).contains("1 decisions and 1 outcomes"), "{}", talk(&done));
    assert_eq!(database.query("SELECT count(*) FROM rarely.subjects").trim(), "29");
    server.stop();
    place.done(&format!("audit verify --store {address}"));
    let server = serve();
    let ask = "{\"record\": {\"systolic\": 103.5, \"diabetic\": \"no\"}, \"subject\": \"person 3\"}";
    post(&server, &token, &format!("{policy}/decisions"), "application/json", ask);
    server.stop();
    place.done(&format!("store copy --from {address} --to s.db"));
    assert_eq!(erased(&place), 1);

    // Without a server; and into a copy in which the person still is.
    database.query("CREATE DATABASE other");
    let other = database.database("other");
    place.done(&format!("store restore --from s.db --to {other}"));
    let keys = || database.query_in("other", "SELECT count(*) FROM rarely.subjects").trim().to_owned();
    assert_eq!(keys(), "30", "those of 29 people, and of one who came back");
    let alone = format!("erase --store {address} --signing-key key --reason asked --subject");
    let done = place.rarely(&alone).arg("person 4").output().unwrap();
    assert!(data(&done).contains("1 decisions and 1 outcomes"), "{}", talk(&done));
    place.done(&format!("store copy --from {address} --to late.db"));
    place.done(&format!("store restore --from late.db --to {other}"));
    assert_eq!(keys(), "29");
    place.done(&format!("audit verify --store {other}"));
    place.done(&format!("store restore --from s.db --to {address} --accept-loss --name cem --reason test --yes"));
    place.done(&format!("audit verify --store {address}"));
}

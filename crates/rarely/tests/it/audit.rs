//! `rarely audit`.

use std::fs;

use crate::program::{Place, data, talk};
use crate::server::{Server, used};

#[test]
fn an_audit_names_the_event_that_was_changed() {
    let place = Place::new();
    used(&place);
    let fits = data(&place.done("audit verify --store s.db --format json"));
    let fits: serde_json::Value = serde_json::from_str(&fits).unwrap();
    assert_eq!((&fits["fits"], &fits["decisions"]), (&true.into(), &3.into()));
    let head = format!("{}:{}", fits["head"]["number"], fits["head"]["hash"].as_str().unwrap());
    place.done(&format!("audit verify --store s.db --head {head}"));
    let other = format!("{}:{}", fits["head"]["number"], "0".repeat(64));
    let noted = place.rarely(&format!("audit verify --store s.db --head {other}")).output().unwrap();
    assert_eq!(noted.status.code(), Some(1));
    let server = Server::start(&place, "");
    place.done("audit verify --store s.db");
    server.stop();
    assert!(!place.names(".").iter().any(|name| name.contains("audit-")), "no copy is left");

    let mut bytes = fs::read(place.path("s.db")).unwrap();
    let at = bytes.windows(3).position(|window| window == b"180").expect("a record");
    bytes[at + 1] = b'7';
    fs::write(place.path("s.db"), &bytes).unwrap();
    let changed = place.rarely("audit verify --store s.db").output().unwrap();
    assert_eq!(changed.status.code(), Some(1), "{}", talk(&changed));
    assert!(data(&changed).contains("event 5 was modified"), "{}", data(&changed));
    let missing = place.rarely("audit verify --store none.db").output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}

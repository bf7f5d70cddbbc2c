//! `rarely store`.

use std::fs;

use crate::program::{Place, talk};
use crate::server::{DOCUMENT, Server, used};

#[test]
fn a_store_in_use_is_backed_up_and_restored() {
    let place = Place::new();
    used(&place);
    let server = Server::start(&place, "");
    place.done("store backup --store s.db --to copy.db");
    let busy = place.rarely("store restore --from copy.db --to s.db").output().unwrap();
    assert_eq!(busy.status.code(), Some(2));
    server.stop();
    let again = place.rarely("store backup --store s.db --to copy.db").output().unwrap();
    assert_eq!(again.status.code(), Some(2), "nothing is overwritten");
    place.done("store restore --from copy.db --to new.db");
    place.done("audit verify --store new.db");
    // The whole log is lost; the witness still knows its length.
    fs::remove_file(place.path("new.db")).unwrap();
    assert!(talk(&place.done("store recover --store new.db")).contains("events 1 to 5 are lost"));
    let nothing = place.rarely("store recover --store none.db").output().unwrap();
    assert_eq!(nothing.status.code(), Some(2), "there is nothing to recover");
    assert!(talk(&place.done("store recover --store s.db")).contains("nothing is lost"));
    let token = place.path("admin.token");
    assert!(token.exists());
    place.done("audit report --store s.db --out report");
    assert!(place.text("report/changes.csv").contains("registered as version 1"));
    assert!(place.text("report/changes.html").contains("treat from 140 mmHg"));
}

#[test]
fn lost_events_are_refused_until_the_loss_is_accepted() {
    let place = Place::new();
    let server = Server::start(&place, "--admin-token-file admin.token");
    let token = place.text("admin.token").trim().to_owned();
    server.stop();
    fs::copy(place.path("s.db"), place.path("old.db")).unwrap();
    let server = Server::start(&place, "");
    assert_eq!(server.post(&token, "/v1/policies", "application/toml", DOCUMENT).0, 201);
    server.stop();
    // Replace the store by an old copy.
    fs::copy(place.path("old.db"), place.path("s.db")).unwrap();
    let refused = place.rarely("serve --store s.db --listen 127.0.0.1:0").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(talk(&refused).contains("rarely store recover"), "{}", talk(&refused));
    let audited = place.rarely("audit verify --store s.db").output().unwrap();
    assert_eq!(audited.status.code(), Some(1), "{}", talk(&audited));
    assert!(talk(&place.done("store recover --store s.db")).contains("events 2 to 2 are lost"));
    place.done("audit verify --store s.db");
    Server::start(&place, "").stop();
}

//! `rarely store`.

use std::fs;

use crate::program::{Place, data, talk};
use crate::server::{DOCUMENT, Server, used};

#[test]
fn a_store_in_use_is_backed_up_and_restored() {
    let place = Place::new();
    let token = used(&place);
    let server = Server::start(&place, "");
    // It answers once its start is recorded. A document that is known is no event.
    assert_eq!(server.post(&token, "/v1/policies", "application/toml", DOCUMENT).0, 200);
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
    assert!(talk(&place.done("store recover --store new.db")).contains("events 1 to 8 are lost"));
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
    assert!(talk(&place.done("store recover --store s.db")).contains("events 4 to 6 are lost"));
    place.done("audit verify --store s.db");
    Server::start(&place, "").stop();
}

#[test]
fn an_older_backup_says_what_it_undoes_and_records_itself() {
    let place = Place::new();
    used(&place);
    place.done("store backup --store s.db --to old.db");
    let made = data(&place.done("token create --store s.db --name ann --role review"));
    let id = made.split('_').nth(1).unwrap().to_owned();
    place.done(&format!("token revoke {id} --store s.db"));
    let server = Server::start(&place, "");
    let stop = "{\"meaning\": \"I stop it\", \"reason\": \"an incident\"}";
    let reviewer = data(
        &place.done(&format!("token create --url {} --token-file admin.token --name ben --role review", server.url)),
    );
    let path = "/v1/policies/hypertension-treatment/stop";
    assert_eq!(server.post(reviewer.trim(), path, "application/json", stop).0, 200);
    server.stop();

    let plain = place.rarely("store restore --from old.db --to s.db").output().unwrap();
    assert_eq!(plain.status.code(), Some(2));
    assert!(talk(&plain).contains("--accept-loss"), "{}", talk(&plain));
    let accept = "store restore --from old.db --to s.db --accept-loss --name cem --reason test";
    let unasked = place.rarely(accept).output().unwrap();
    assert_eq!(unasked.status.code(), Some(2), "there is no terminal to ask on");
    assert!(talk(&unasked).contains("--yes"), "{}", talk(&unasked));
    let nameless = place.rarely("store restore --from old.db --to s.db --accept-loss --yes").output().unwrap();
    assert_eq!(nameless.status.code(), Some(2));
    place.done("audit verify --store s.db");

    let said = talk(&place.done(&format!("{accept} --yes")));
    assert!(said.contains(&format!("The token {id} was revoked.")), "{said}");
    assert!(said.contains("by ben: policy hypertension-treatment: stopped"), "{said}");
    assert!(said.contains("the log went back from event 13 to event 7; event 8 records this"), "{said}");
    place.done("audit verify --store s.db");
    place.done("audit report --store s.db --out report");
    let changes = place.text("report/changes.csv");
    assert!(
        changes.contains("cem restored a backup: the log went back from event 13 to event 7. Reason: test"),
        "{changes}"
    );
    assert!(changes.contains("The service started: rarely") && changes.contains("durability full"), "{changes}");
    Server::start(&place, "").stop();
}

/// A wrong clock has put a log ten years ahead: it is shown, and set back under the key of the log.
#[test]
fn the_clock_of_a_log_is_shown_and_corrected() {
    use rarely_live::engine::{CheckpointOptions, Clock, Durability, EngineOptions};
    use rarely_live::{Engine, TokenGrant};
    use rarely_store::{SigningKeyFile, now_ms};
    use std::sync::Arc;
    let place = Place::new();
    let store = place.path("s.db");
    let checkpoints =
        CheckpointOptions { key_file: SigningKeyFile::beside(&store), every: u64::MAX, publish: Arc::new(|_, _| {}) };
    let options = EngineOptions {
        durability: Durability::Full,
        clock: Clock::simulated(|| now_ms() + 3650 * 86_400_000),
        draw: Arc::new(|_, _| Vec::new()),
        snapshot_every: 1000,
        checkpoints: Some(checkpoints),
    };
    let engine = Engine::start(&store, options, |_| {}).expect("a store");
    let (_, grant) = TokenGrant::new([1; 40], "ann", Vec::new(), None, None);
    engine.create_token("console", grant).expect("a token");
    engine.stop();
    drop(engine);
    let shown = String::from_utf8(place.done("store clock --store s.db").stdout).unwrap();
    assert!(shown.contains("days ahead of the system's clock"), "{shown}");
    let unexplained = place.rarely("store clock --store s.db --correct").output().unwrap();
    assert_eq!(unexplained.status.code(), Some(2), "a correction has a reason");
    fs::rename(place.path("s.db.signing-key"), place.path("key")).unwrap();
    let unsigned = place.rarely("store clock --store s.db --correct --reason wrong").output().unwrap();
    assert!(talk(&unsigned).contains("--signing-key"), "{}", talk(&unsigned));
    place.done("store clock --store s.db --correct --reason battery --signing-key key");
    let shown = String::from_utf8(place.done("store clock --store s.db").stdout).unwrap();
    assert!(shown.contains("not ahead") && shown.contains("battery"), "{shown}");
    place.done("audit verify --store s.db");
}

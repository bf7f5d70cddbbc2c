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
    assert!(data(&changed).contains("event 6 was modified"), "{}", data(&changed));
    let missing = place.rarely("audit verify --store none.db").output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}

/// Rewrites the reason of the first event that has this text, and computes the chain again.
fn rewrite(place: &Place, from: &str, to: &str) {
    use rarely_store::{EventLog as _, Hash, HeadWitness, SqliteLog};
    let entries = SqliteLog::open_read_only(&place.path("s.db")).unwrap().entries(0, None, 1000).unwrap();
    let database = rusqlite::Connection::open(place.path("s.db")).unwrap();
    let mut previous = Hash::ZERO;
    for mut entry in entries {
        entry.body = entry.body.replacen(from, to, 1);
        previous = entry.expected_hash(&previous);
        let number = i64::try_from(entry.number).unwrap();
        let changed = database.execute(
            "UPDATE events SET body = ?1, hash = ?2 WHERE number = ?3",
            rusqlite::params![entry.body, &previous.0[..], number],
        );
        assert_eq!(changed.unwrap(), 1);
    }
    drop(database);
    let log = SqliteLog::open_read_only(&place.path("s.db")).unwrap();
    HeadWitness::open(&place.path("s.db")).unwrap().accept_loss(&log).unwrap();
    fs::remove_file(place.path("s.db.snapshot")).unwrap();
}

#[test]
fn a_log_whose_chain_was_computed_again_is_found() {
    let place = Place::new();
    used(&place);
    let server = Server::start(&place, "--witness file:held.txt --checkpoint-every 1");
    let key = server.heard.iter().find_map(|line| line.strip_prefix("checkpoints are signed with the key ")).unwrap();
    place.write("log.pub", format!("{key}\n"));
    place.write("other.pub", format!("{}\n", rarely_store::NoteSigner::generate("rarely/other").key()));
    server.stop();
    assert!(place.done("token create --store s.db --name ann --role read").status.success());
    Server::start(&place, "--witness file:held.txt").stop();
    assert!(place.text("held.txt").matches("rarely/").count() >= 2, "{}", place.text("held.txt"));
    let verify = "audit verify --store s.db --key log.pub --checkpoint held.txt";
    let fits = data(&place.done(verify));
    assert!(fits.contains("they cover all events"), "{fits}");
    let json: serde_json::Value = serde_json::from_str(&data(&place.done(&format!("{verify} --format json")))).unwrap();
    assert_eq!((&json["signed"]["covered"], &json["signed"]["by_other_keys"]), (&12.into(), &0.into()));
    let other = place.rarely("audit verify --store s.db --key other.pub").output().unwrap();
    assert_eq!(other.status.code(), Some(1), "{}", talk(&other));
    let nothing = place.rarely("audit verify --store s.db --key nonsense").output().unwrap();
    assert_eq!(nothing.status.code(), Some(2), "{}", talk(&nothing));

    rewrite(&place, "\"ann\"", "\"eve\"");
    fs::rename(place.path("s.db.signing-key"), place.path("stolen")).unwrap();
    let unsigned = place.rarely("audit verify --store s.db").output().unwrap();
    assert_eq!(unsigned.status.code(), Some(0), "without the key nobody can tell: {}", data(&unsigned));
    assert!(data(&unsigned).contains("--key"), "{}", data(&unsigned));
    let found = place.rarely(verify).output().unwrap();
    assert_eq!(found.status.code(), Some(1), "{}", talk(&found));
    assert!(data(&found).contains("tampering"), "{}", data(&found));
    fs::rename(place.path("stolen"), place.path("s.db.signing-key")).unwrap();
    let refused = place.rarely("serve --store s.db --listen 127.0.0.1:0").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(talk(&refused).contains("tampering"), "{}", talk(&refused));
}

#[test]
fn a_key_is_replaced_and_the_old_one_still_verifies() {
    let place = Place::new();
    used(&place);
    let server = Server::start(&place, "--witness file:held.txt");
    let key = server.heard.iter().find_map(|line| line.strip_prefix("checkpoints are signed with the key ")).unwrap();
    place.write("old.pub", key);
    server.stop();
    let new = data(&place.done("store rotate-key --store s.db"));
    place.write("new.pub", &new);
    assert_ne!(new.trim(), place.text("old.pub"));
    let server = Server::start(&place, "");
    assert!(server.heard.iter().any(|line| line.contains(new.trim())), "{:?}", server.heard);
    server.stop();
    for key in ["old.pub", "new.pub"] {
        let fits = data(&place.done(&format!("audit verify --store s.db --key {key}")));
        assert!(fits.contains("they cover all events"), "{fits}");
    }
    fs::remove_file(place.path("s.db.signing-key")).unwrap();
    let refused = place.rarely("serve --store s.db --listen 127.0.0.1:0").output().unwrap();
    assert!(talk(&refused).contains("rotate-key --lost"), "{}", talk(&refused));
    place.done("store rotate-key --store s.db --lost");
    Server::start(&place, "").stop();
}

/// Runs the program where nothing may be written; root may, so as somebody else.
#[cfg(unix)]
fn without_writing(place: &Place, arguments: &str) -> std::process::Output {
    let command = place.rarely(arguments);
    let mut as_nobody = std::process::Command::new("setpriv");
    as_nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(command.get_program());
    as_nobody.args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    let probe = place.path("probe");
    if fs::write(&probe, "").is_err() {
        return place.rarely(arguments).output().unwrap();
    }
    drop(fs::remove_file(probe));
    as_nobody.output().unwrap()
}

#[test]
#[cfg(unix)]
fn a_store_on_a_read_only_medium_is_audited() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    used(&place);
    let modes = |file: u32, folder: u32| {
        for name in place.names(".") {
            fs::set_permissions(place.path(&name), fs::Permissions::from_mode(file)).unwrap();
        }
        fs::set_permissions(place.path("."), fs::Permissions::from_mode(folder)).unwrap();
    };
    fs::write(place.path("s.db-wal"), "").unwrap();
    modes(0o444, 0o555);
    let read = without_writing(&place, "audit verify --store s.db");
    modes(0o644, 0o755);
    assert_eq!(read.status.code(), Some(0), "{}", talk(&read));
    assert!(data(&read).contains("7 events"), "{}", data(&read));

    // A write-ahead log that was left behind has events that cannot be read here.
    fs::write(place.path("s.db-wal"), [1; 4096]).unwrap();
    drop(fs::remove_file(place.path("s.db-shm")));
    modes(0o444, 0o555);
    let left = without_writing(&place, "audit verify --store s.db");
    modes(0o644, 0o755);
    assert_eq!(left.status.code(), Some(2), "{}", talk(&left));
    assert!(talk(&left).contains("copy the store and this file together"), "{}", talk(&left));
}

#[test]
fn another_file_is_no_finding_of_an_audit() {
    let place = Place::new();
    place.write("log.csv", "systolic,option\n150,treat\n");
    let output = place.rarely("audit verify --store log.csv").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert!(talk(&output).contains("log.csv: not a rarely store"), "{}", talk(&output));
    // With a witness it was one.
    used(&place);
    place.write("s.db", "no database");
    let output = place.rarely("audit verify --store s.db").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", talk(&output));
    assert!(data(&output).contains("the log is not consistent"), "{}", data(&output));
}

//! `rarely store archive`: what it writes is read by programs of others, and a kill at any moment loses nothing.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::program::{Place, data, talk};
use crate::server::{DOCUMENT, Server};
use crate::shard_examples::python_with;

const POLICY: &str = "/v1/policies/hypertension-treatment";

/// The document, which keeps records for a second.
fn document() -> String {
    format!("{DOCUMENT}\n[control]\nretain = \"1 second\"\n")
}

/// Decides about people whose outcomes are reported, every other one by name.
fn people(server: &Server, token: &str, numbers: std::ops::Range<u32>) -> Vec<u64> {
    let mut decisions = Vec::new();
    for number in numbers {
        let subject = (number % 2 == 0).then(|| format!("person {number}"));
        let record = json!({ "systolic": 100.123_456 + f64::from(number % 110), "diabetic": "no" });
        let mut ask = json!({ "record": record, "key": format!("visit {number}") });
        if let Some(subject) = subject {
            ask["subject"] = subject.into();
        }
        let (status, answer) = server.post(token, &format!("{POLICY}/decisions"), "application/json", &ask.to_string());
        assert_eq!(status, 200, "{answer}");
        let made: Json = serde_json::from_str(&answer).expect("JSON");
        let report = json!({ "decision": made["decision"], "outcome": 0.5 }).to_string();
        let (status, answer) = server.post(token, &format!("{POLICY}/outcomes"), "application/json", &report);
        assert!(status < 300, "{answer}");
        decisions.push(made["decision"].as_u64().expect("a number"));
    }
    decisions
}

/// A store with decisions that are old.
fn old(place: &Place, count: u32) -> (String, Vec<u64>) {
    let server = Server::start(place, "--admin-token-file admin.token");
    let token = place.text("admin.token").trim().to_owned();
    assert_eq!(server.post(&token, "/v1/policies", "application/toml", &document()).0, 201);
    let decisions = people(&server, &token, 0..count);
    server.stop();
    sleep(Duration::from_millis(1100));
    (token, decisions)
}

fn verified(place: &Place, more: &str) -> Json {
    serde_json::from_str(&data(&place.done(&format!("audit verify --store s.db --format json {more}")))).expect("JSON")
}

fn has(place: &Place, file: &str, text: &str) -> bool {
    let bytes = fs::read(place.path(file)).unwrap_or_default();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn old_records_are_archived_and_the_store_shrinks() {
    let place = Place::new();
    let (token, decisions) = old(&place, 400);
    let before = fs::metadata(place.path("s.db")).expect("a file").len();
    assert!(has(&place, "s.db", "101.123456") && has(&place, "s.db", "visit 1"));
    let early = place.done("store archive --store s.db --out archive --before 2020-01-01");
    assert!(talk(&early).contains("no record is older"), "{}", talk(&early));
    let done = place.done("store archive --store s.db --out archive");
    assert!(data(&done).contains("800 events of hypertension-treatment (400 decisions)"), "{}", data(&done));
    let after = fs::metadata(place.path("s.db")).expect("a file").len();
    assert!(after < before, "{after} bytes, and were {before}");
    assert!(!has(&place, "s.db", "101.123456") && !has(&place, "s.db", "visit 1"));
    let names = place.names("archive");
    assert!(names.len() == 2, "{names:?}");

    let summary = verified(&place, "");
    assert_eq!((&summary["archived"]["events"], &summary["decisions"]), (&json!(800), &json!(0)));
    let text = data(&place.done("audit verify --store s.db"));
    assert!(text.contains("800 events are archived, and were not read: 400 decisions were not drawn again"), "{text}");
    let whole = verified(&place, "--archive archive");
    assert_eq!((&whole["archived"]["events"], &whole["decisions"]), (&json!(0), &json!(400)));
    let lost = place.rarely("audit verify --store s.db --archive elsewhere").output().unwrap();
    assert_eq!(lost.status.code(), Some(2), "{}", talk(&lost));

    let server = Server::start(&place, "");
    let late =
        json!({ "decision": decisions[3], "outcome": 0.25, "correction": true, "reason": "misread" }).to_string();
    let (status, answer) = server.post(&token, &format!("{POLICY}/outcomes"), "application/json", &late);
    assert!(status == 410 && answer.contains("is archived in events-"), "{status}: {answer}");
    people(&server, &token, 400..404);
    server.stop();
    place.done("store backup --store s.db --to copy.db");
    place.done("store restore --from copy.db --to new.db");
    place.done("audit verify --store new.db --archive archive");
    let erased = place.rarely("erase --store s.db --reason asked --subject").arg("person 2").output().unwrap();
    assert!(data(&erased).contains("1 decisions and 1 outcomes"), "{}", talk(&erased));
    assert_eq!(verified(&place, "--archive archive")["decisions"], json!(403), "those of the archive but one");
}

#[test]
fn the_archive_of_another_store_is_not_replaced() {
    let place = Place::new();
    old(&place, 3);
    place.done("store archive --store s.db --out archive");
    let name = place.names("archive").into_iter().find(|name| name.ends_with(".parquet")).expect("a file");
    let other = Place::new();
    old(&other, 3);
    fs::create_dir(other.path("archive")).unwrap();
    fs::copy(place.path(&format!("archive/{name}")), other.path(&format!("archive/{name}"))).unwrap();
    let refused = other.rarely("store archive --store s.db --out archive").output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", talk(&refused));
    assert!(
        talk(&refused).contains("with other events") && talk(&refused).contains("help: name a directory of its own")
    );
    assert!(has(&other, "s.db", "101.123456"), "nothing was removed");
}

/// Checks a file of events with nothing of ours: every hash, and that the signed tree has them.
const CHECK: &str = r#"
import base64, hashlib, json, struct, sys
import duckdb
about = json.load(open(sys.argv[1] + ".json"))
raw = open(sys.argv[1] + ".parquet", "rb").read()
assert hashlib.sha256(raw).hexdigest() == about["sha256"]
rows = duckdb.sql(f"SELECT * FROM read_parquet('{sys.argv[1]}.parquet') ORDER BY number").fetchall()
assert [row[0] for row in rows] == list(range(about["first"], about["last"] + 1))
previous, whole, systolic = about["hash_before"], 0, set()
for number, time_ms, elapsed_ms, actor, policy, kind, body, digest in rows:
    if body is not None:
        frame = bytes.fromhex(previous) + struct.pack(">QQQ", number, time_ms, policy)
        for text in (actor, kind, body):
            frame += struct.pack(">Q", len(text.encode())) + text.encode()
        if elapsed_ms is not None:
            frame += struct.pack(">QQ", 8, elapsed_ms)
        assert hashlib.sha256(frame).hexdigest() == digest, number
        whole += 1
        if kind == "decided" and "record" in json.loads(body):
            systolic.add(json.loads(body)["record"][0])
    previous = digest
assert whole == about["events"] == 120 and 101.123456 in systolic, (whole, systolic)
node = lambda left, right: hashlib.sha256(b"\1" + left + right).digest()
leaves = [hashlib.sha256(b"\0" + bytes.fromhex(row[7])).digest() for row in rows]
proof = [bytes.fromhex(part) for part in about["proof"]]
def root(start, length):
    low, high = about["first"] - 1, about["last"]
    if start >= high or start + length <= low:
        return proof.pop(0)
    if length == 1:
        return leaves[start - low]
    left = 1 << ((length - 1).bit_length() - 1)
    before = root(start, left)
    return node(before, root(start + left, length - left))
origin, size, signed = about["checkpoint"].split("\n")[:3]
assert origin == about["origin"] and root(0, int(size)) == base64.b64decode(signed) and not proof
print("checked")
"#;

#[test]
fn another_program_reads_the_archive_and_checks_it() {
    let Some(python) = python_with("duckdb") else { return };
    let place = Place::new();
    old(&place, 60);
    place.done("store archive --store s.db --out archive");
    let names = place.names("archive");
    let stem = names.iter().find_map(|name| name.strip_suffix(".json")).expect("a file");
    let checked = Command::new(python)
        .args(["-c", CHECK, &format!("archive/{stem}")])
        .current_dir(place.path(""))
        .output()
        .expect("Python runs");
    assert!(data(&checked).contains("checked"), "{}", talk(&checked));
}

#[cfg(unix)]
#[test]
fn a_kill_in_the_middle_leaves_the_records_or_archives_them() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let (token, _) = old(&place, 20);
    let mut archived = 0;
    for round in 0..14_u64 {
        let mut command = place.rarely("store archive --store s.db --out archive");
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(5 * round));
        drop(child.kill());
        child.wait().unwrap();
        let events = verified(&place, "")["archived"]["events"].as_u64().expect("a number");
        assert!(events >= archived, "{events} after {archived}");
        assert!((events == 0) || verified(&place, "--archive archive")["archived"]["events"] == 0);
        if events > archived && round < 13 {
            let server = Server::start(&place, "");
            people(&server, &token, 20..25);
            server.stop();
            sleep(Duration::from_millis(1100));
        }
        archived = events;
    }
    place.done("store archive --store s.db --out archive");
    let whole = verified(&place, "--archive archive");
    assert!(whole["decisions"].as_u64() >= Some(20), "{whole}");
    for name in place.names("archive").iter().filter(|name| !name.starts_with('.')) {
        let mode = fs::metadata(place.path("archive").join(name)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} is private");
    }
}

#[cfg(unix)]
#[test]
fn records_are_archived_in_a_database() {
    let (database, place) = (crate::postgres_server::PostgresServer::start(), Place::new());
    old(&place, 30);
    let address = database.address();
    place.done(&format!("store copy --from s.db --to {address}"));
    let done = place.done(&format!("store archive --store {address} --signing-key s.db.signing-key --out archive"));
    assert!(data(&done).contains("60 events of hypertension-treatment (30 decisions)"), "{}", data(&done));
    assert_eq!(database.query("SELECT count(*) FROM rarely.events WHERE body LIKE '%101.123456%'").trim(), "0");
    assert_eq!(database.query("SELECT count(*) FROM rarely.marks").trim(), "0");
    place.done(&format!("audit verify --store {address}"));
    place.done(&format!("audit verify --store {address} --archive archive"));
    place.done(&format!("store copy --from {address} --to back.db"));
    place.done("audit verify --store back.db --archive archive");
}

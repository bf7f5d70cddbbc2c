//! `rarely import`.

use serde_json::json;

use crate::program::{Place, data, talk};
use crate::server::{DOCUMENT, Server};

/// A past decision of a day in May.
fn past(day: u32, key: u32) -> String {
    let record = json!({ "systolic": 100 + key, "diabetic": "no" });
    let time = format!("2024-05-{day:02}");
    json!({ "time": time, "record": record, "option": "watch", "outcome": 0.5, "key": format!("case {key}") })
        .to_string()
}

#[test]
fn history_is_imported_from_a_file() {
    let place = Place::new();
    let server = Server::start(&place, "--admin-token-file admin.token");
    let token = place.text("admin.token").trim().to_owned();
    assert_eq!(server.post(&token, "/v1/policies", "application/toml", DOCUMENT).0, 201);
    let lines: Vec<String> = (0..2500).map(|key| past(1 + key / 1000, key % 100)).collect();
    // Keys come again after a hundred lines, with another time: those are refused.
    place.write("mixed.ndjson", lines.join("\n"));
    let unique: Vec<String> = (0..90).map(|key| past(1 + key / 30, key)).collect();
    place.write("history.ndjson", format!("{}\n\n", unique.join("\n")));
    let import = format!("import --url {} --token-file admin.token --policy hypertension-treatment --data", server.url);
    let done = place.done(&format!("{import} history.ndjson"));
    assert_eq!(data(&done), "90 decisions imported, 0 known already, 0 refused\n");
    let again = place.done(&format!("{import} history.ndjson"));
    assert_eq!(data(&again), "0 decisions imported, 90 known already, 0 refused\n");
    place.write("early.ndjson", past(1, 95));
    let early = place.rarely(&format!("{import} early.ndjson")).output().unwrap();
    assert_eq!(early.status.code(), Some(1), "{}", talk(&early));
    assert!(
        talk(&early).contains("error: line 1: ") && talk(&early).contains("send the oldest decision first"),
        "{}",
        talk(&early)
    );
    let mixed = place.rarely(&format!("{import} mixed.ndjson")).output().unwrap();
    assert_eq!(mixed.status.code(), Some(1), "{}", talk(&mixed));
    let none = place.rarely(&format!("{import} none.ndjson")).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    server.stop();
    place.done("audit verify --store s.db");
}

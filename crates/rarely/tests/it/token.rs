//! `rarely token`.

use crate::program::{Place, data, talk};
use crate::server::{Server, used};

#[test]
fn tokens_in_a_store_and_through_a_server() {
    let place = Place::new();
    let admin = used(&place);
    let made = place.done(
        "token create --store s.db --name ann --role decide observe --policy hypertension-treatment --expires 30",
    );
    let token = data(&made).trim().to_owned();
    let id = token.split('_').nth(1).unwrap().to_owned();
    assert!(data(&place.done("token list --store s.db")).contains(&id));
    let server = Server::start(&place, "");
    let ask = "{\"record\": {\"systolic\": 150, \"diabetic\": \"no\"}}";
    let decide = "/v1/policies/hypertension-treatment/decisions";
    assert_eq!(server.post(&token, decide, "application/json", ask).0, 200);
    let there = format!("--url {} --token-file admin.token", server.url);
    place.done(&format!("token revoke {id} {there}"));
    assert_eq!(server.post(&token, decide, "application/json", ask).0, 401);
    let made = data(&place.done(&format!("token create --name ben --role read {there}")));
    assert!(made.starts_with("rarely_") && made.lines().count() == 1);
    let listed = data(&place.done(&format!("token list --format json {there}")));
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["tokens"].as_array().map(Vec::len), Some(3));
    let again =
        place.rarely(&format!("token revoke {id} --url {}", server.url)).env("RARELY_TOKEN", &admin).output().unwrap();
    assert!(again.status.code() == Some(2) && talk(&again).contains("404"), "{}", talk(&again));
    let reserved = place.rarely(&format!("token create --name engine --role read {there}")).output().unwrap();
    assert_eq!(reserved.status.code(), Some(2));
    let king = place.rarely("token create --store s.db --name a --role king").output().unwrap();
    assert!(king.status.code() == Some(2) && talk(&king).contains("no role"), "{}", talk(&king));
}

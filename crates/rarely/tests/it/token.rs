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

#[test]
fn a_key_is_created_registered_and_used() {
    let place = Place::new();
    used(&place);
    let key = data(&place.done("sign keygen --name ann --out ann.key"));
    assert!(key.starts_with("ann+"), "{key}");
    let again = place.rarely("sign keygen --name ann --out ann.key").output().unwrap();
    assert_eq!(again.status.code(), Some(2), "nothing is overwritten");
    let ann = data(&place.done("token create --store s.db --name ann --role review"));
    place.write("ann.token", &ann);
    let server = Server::start(&place, "");
    let admin = format!("--url {} --token-file admin.token", server.url);
    let said = talk(&place.done(&format!("sign register {admin} --name ann --public-key {key}")));
    assert!(said.contains("ann signs with the key"), "{said}");
    let there = format!(
        "--url {} --token-file ann.token --key ann.key --policy hypertension-treatment --meaning back --reason test",
        server.url
    );
    // There is nothing to sign, and the server says so after it has accepted who asks.
    for act in ["approve", "reject"] {
        let none = place.rarely(&format!("sign {act} {there} --proposal 1")).output().unwrap();
        assert!(none.status.code() == Some(2) && talk(&none).contains("no proposal 1"), "{}", talk(&none));
    }
    let same = place.rarely(&format!("sign rollback {there} --to 1")).output().unwrap();
    assert!(same.status.code() == Some(2) && talk(&same).contains("nothing would change"), "{}", talk(&same));
    for act in ["stop", "resume"] {
        let said = talk(&place.done(&format!("sign {act} {there}")));
        assert!(said.contains("has the signature of"), "{said}");
    }
    // Signed by token, only a stop is accepted.
    let by_token = there.replace("--key ann.key ", "");
    let said = talk(&place.done(&format!("sign stop {by_token}")));
    assert!(said.contains("has the signature of the token's person"), "{said}");
    let refused = place.rarely(&format!("sign resume {by_token}")).output().unwrap();
    assert!(refused.status.code() == Some(2) && talk(&refused).contains("key"), "{}", talk(&refused));
    place.done(&format!("sign resume {there}"));
    let bare = "{\"meaning\": \"as agreed\", \"reason\": \"a test\"}";
    let acts = ["stop", "resume"].map(|act| {
        server.post(ann.trim(), &format!("/v1/policies/hypertension-treatment/{act}"), "application/json", bare).0
    });
    assert_eq!(acts, [200, 409]);
    server.stop();
    place.done("audit verify --store s.db");
}

//! Policies that are spread over several chains, each with an owner of its own: the replicas share the work, and what is done to the service
//! holds in every chain.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::cluster::{LEASE, Replica, admin, agent, post, register_as, sign_in, wait_for};
use crate::postgres_server::PostgresServer;
use crate::program::{Place, data};

const CHAINS: usize = 4;
const SPREAD: &str = "--chains 4";

/// A divided service: its database, and what people and programs see of it.
struct Divided {
    server: PostgresServer,
    place: Place,
    agent: ureq::Agent,
}

impl Divided {
    fn new() -> Self {
        Self { server: PostgresServer::start(), place: Place::new(), agent: agent() }
    }

    fn start(&self) -> Replica {
        Replica::start(&self.place, &self.server.address(), SPREAD)
    }

    /// The address of the owner of each chain that has one.
    fn owners(&self) -> BTreeMap<u64, String> {
        let query =
            "SELECT chain || ' ' || address FROM rarely.leases WHERE expires > clock_timestamp() ORDER BY chain";
        let rows = self.server.query(query);
        rows.lines()
            .filter_map(|row| row.split_once(' '))
            .map(|(chain, address)| (chain.parse().expect("a number"), address.to_owned()))
            .collect()
    }

    /// Waits until every chain has an owner, and each replica about as many.
    fn all_owned(&self, replicas: &[&Replica]) -> BTreeMap<u64, String> {
        wait_for("every chain has an owner, and no replica two more than another", || {
            let owners = self.owners();
            let counts = replicas.iter().map(|replica| owners.values().filter(|owner| **owner == replica.url).count());
            let counts: Vec<usize> = counts.collect();
            let even = counts.iter().max()? - counts.iter().min()? < 2;
            (owners.len() == CHAINS + 1 && even && counts.iter().sum::<usize>() == CHAINS + 1).then_some(owners)
        })
    }

    /// The chain of a policy.
    fn chain_of(&self, policy: &str) -> u64 {
        let chain = self.server.query(&format!("SELECT chain FROM rarely.placements WHERE policy = '{policy}'"));
        chain.trim().parse().expect("it is placed")
    }

    fn get(&self, url: &str, token: &str) -> (u16, Json) {
        let request = self.agent.get(url).header("authorization", format!("Bearer {token}"));
        let mut response = request.call().expect("an answer");
        let text = response.body_mut().read_to_string().expect("text");
        (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Json::String(text)))
    }

    fn post(&self, url: &str, token: &str, body: &Json) -> (u16, Json) {
        post(&self.agent, url, token, "application/json", &body.to_string()).expect("an answer")
    }

    fn decide(&self, url: &str, token: &str, policy: &str, key: &str) -> (u16, Json) {
        self.try_to_decide(url, token, policy, key).expect("an answer")
    }

    fn try_to_decide(&self, url: &str, token: &str, policy: &str, key: &str) -> Option<(u16, Json)> {
        let body = json!({ "record": { "systolic": 150, "diabetic": "no" }, "key": key, "subject": "patient 4711" });
        let url = format!("{url}/v1/policies/{policy}/decisions");
        post(&self.agent, &url, token, "application/json", &body.to_string())
    }
}

fn names() -> Vec<String> {
    (1..=CHAINS).map(|number| format!("policy-{number}")).collect()
}

#[test]
fn each_policy_is_served_by_the_owner_of_its_chain() {
    let service = Divided::new();
    let replicas = [service.start(), service.start()];
    let token = admin(&service.place);
    let owners = service.all_owned(&replicas.each_ref());
    assert_eq!(owners.values().collect::<BTreeSet<_>>().len(), 2, "both work: {owners:?}");
    let [one, other] = replicas.each_ref().map(|replica| replica.url.as_str());
    for (turn, name) in names().iter().enumerate() {
        register_as(name, [one, other][turn % 2], &token);
        // The same again is the same policy.
        register_as(name, [other, one][turn % 2], &token);
    }
    let placed: BTreeSet<u64> = names().iter().map(|name| service.chain_of(name)).collect();
    assert_eq!(placed, (1..=CHAINS as u64).collect(), "one policy in each chain");
    for url in [one, other] {
        let (status, list) = service.get(&format!("{url}/v1/policies"), &token);
        let listed: Vec<&str> =
            list["policies"].as_array().expect("a list").iter().filter_map(|policy| policy["name"].as_str()).collect();
        assert_eq!((status, listed), (200, names().iter().map(String::as_str).collect()));
        for name in names() {
            let (status, answer) = service.decide(url, &token, &name, "visit 1");
            assert_eq!(status, 200, "{name} at {url}: {answer}");
            let outcome = json!({ "decision": answer["decision"], "outcome": 0.5 });
            let (status, answer) = service.post(&format!("{url}/v1/policies/{name}/outcomes"), &token, &outcome);
            assert_eq!(status, 200, "{name} at {url}: {answer}");
        }
    }
    people_see_one_service(&service, [one, other], &token);
    what_is_done_holds_in_every_chain(&service, [one, other], &token);
    each_chain_is_a_log(&service, one, &token);
    wait_for("the service's own chain covers the others", || {
        let covered = "SELECT count(*) FROM rarely.events WHERE chain = 0 AND kind = 'covered'";
        (service.server.query(covered).trim() != "0").then_some(())
    });
    replicas.into_iter().for_each(Replica::stop);
    let audited = service.place.done(&format!("audit verify --store {}", service.server.address()));
    assert!(data(&audited).contains("the log is consistent"), "{}", data(&audited));
}

fn people_see_one_service(service: &Divided, [one, other]: [&str; 2], token: &str) {
    let cookie = sign_in(&service.agent, one, token);
    for url in [one, other] {
        let page = |path: &str| {
            let mut page = service.agent.get(format!("{url}{path}")).header("cookie", &cookie).call().expect("a page");
            (page.status().as_u16(), page.body_mut().read_to_string().expect("text"))
        };
        let (status, home) = page("/");
        assert_eq!(status, 200);
        for name in names() {
            assert!(home.contains(&format!("href=\"/policies/{}", name.replace('-', "%2D"))), "{name}: {home}");
            let (status, text) = page(&format!("/policies/{name}"));
            assert_eq!(status, 200, "the session holds at every owner: {name} at {url}");
            assert!(text.contains(&name));
        }
    }
}

fn what_is_done_holds_in_every_chain(service: &Divided, urls: [&str; 2], token: &str) {
    for round in 0..5 {
        let at = urls[round % 2];
        let wanted = json!({ "name": format!("clinic {round}"), "roles": ["decide"] });
        let (status, made) = service.post(&format!("{at}/v1/tokens"), token, &wanted);
        assert_eq!(status, 201, "{made}");
        let (new, id) = (made["token"].as_str().expect("a token"), made["id"].as_str().expect("an id"));
        for (name, url) in names().iter().flat_map(|name| urls.map(|url| (name.clone(), url))) {
            let (status, answer) = service.decide(url, new, &name, "visit 1");
            assert_eq!(status, 200, "a new token holds at once, {name}: {answer}");
        }
        let revoked =
            service.agent.delete(format!("{at}/v1/tokens/{id}")).header("authorization", format!("Bearer {token}"));
        assert_eq!(revoked.call().expect("an answer").status().as_u16(), 204);
        for (name, url) in names().iter().flat_map(|name| urls.map(|url| (name.clone(), url))) {
            assert_eq!(service.decide(url, new, &name, "visit 1").0, 401, "a revoked token is refused at once");
        }
    }
    let erase = |subject: &str| {
        let body = json!({ "subjects": [subject], "reason": "requested" });
        service.post(&format!("{}/v1/erasures", urls[1]), token, &body)
    };
    assert_eq!(erase("patient 1").0, 404, "nobody has decided about this person");
    let (status, erased) = erase("patient 4711");
    assert_eq!((status, &erased["decisions"], &erased["outcomes"]), (200, &json!(4), &json!(4)), "{erased}");
    assert_eq!(erased["chains"], json!([1, 2, 3, 4]), "{erased}");
    assert_eq!(erase("patient 4711").0, 404, "there is nobody any more");
}

fn each_chain_is_a_log(service: &Divided, url: &str, token: &str) {
    let mut keys = BTreeSet::new();
    for chain in 0..=CHAINS as u64 {
        let (status, events) = service.get(&format!("{url}/chains/{chain}/v1/events?limit=1"), token);
        assert_eq!((status, &events["number"]), (200, &json!(1)), "chain {chain}: {events}");
        let (status, key) = service.get(&format!("{url}/chains/{chain}/v1/checkpoint/key"), token);
        assert_eq!(status, 200, "chain {chain}");
        keys.insert(key.to_string());
    }
    assert_eq!(keys.len(), CHAINS + 1, "each signs under its own name");
    assert_eq!(service.get(&format!("{url}/chains/9/v1/events"), token).0, 404);
    let made = service.post(&format!("{url}/chains/2/v1/tokens"), token, &json!({ "name": "x", "roles": ["read"] }));
    assert_eq!(made.0, 404, "the service has one chain of its own: {}", made.1);
    let asked = service.post(&format!("{url}/replica/chains/2"), token, &json!("summaries"));
    assert_eq!(asked.0, 404, "only replicas ask each other");
}

#[test]
fn the_death_of_an_owner_concerns_its_chains_only() {
    let service = Divided::new();
    let mut replicas = vec![service.start(), service.start(), service.start()];
    let token = admin(&service.place);
    service.all_owned(&replicas.iter().collect::<Vec<_>>());
    for name in names() {
        register_as(&name, &replicas[0].url, &token);
    }
    let owners = service.all_owned(&replicas.iter().collect::<Vec<_>>());
    // One that does not own the service's own chain, so that policies of another go on undisturbed.
    let victim = replicas.iter().position(|replica| replica.url != owners[&0]).expect("one of them");
    let lost: Vec<u64> =
        owners.iter().filter(|(_, owner)| **owner == replicas[victim].url).map(|(chain, _)| *chain).collect();
    let gone = replicas.remove(victim);
    gone.signal("KILL");
    drop(gone);
    let began = Instant::now();
    let (mut undisturbed, mut taken_over) = (0, BTreeSet::new());
    let stays: Vec<String> = names().into_iter().filter(|name| !lost.contains(&service.chain_of(name))).collect();
    let moves: Vec<String> = names().into_iter().filter(|name| lost.contains(&service.chain_of(name))).collect();
    assert!(!stays.is_empty() && !moves.is_empty(), "{lost:?}");
    for turn in 0.. {
        for name in &stays {
            let key = format!("visit {turn}");
            let (status, answer) = service.decide(&replicas[turn % 2].url, &token, name, &key);
            assert_eq!(status, 200, "{name} has its owner: {answer}");
            undisturbed += 1;
        }
        for name in &moves {
            let answer = service.try_to_decide(&replicas[turn % 2].url, &token, name, "visit");
            if answer.is_some_and(|(status, _)| status == 200) {
                taken_over.insert(name.clone());
            }
        }
        if taken_over.len() == moves.len() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20 * LEASE), "{taken_over:?} of {moves:?}");
    }
    println!(
        "{} chains taken over in {:.1} s; {undisturbed} decisions of other policies meanwhile",
        lost.len(),
        began.elapsed().as_secs_f64()
    );
    // A new replica gets its share.
    replicas.push(service.start());
    let owners = service.all_owned(&replicas.iter().collect::<Vec<_>>());
    assert!(owners.values().any(|owner| *owner == replicas[2].url), "{owners:?}");
    replicas.into_iter().for_each(Replica::stop);
    service.place.done(&format!("audit verify --store {}", service.server.address()));
}

/// While the owner of a chain cannot read what the service does, a token might be revoked: it does not go on for longer than a lease.
#[test]
fn an_owner_that_cannot_follow_the_service_gives_its_chain_up() {
    let service = Divided::new();
    let replica = service.start();
    let token = admin(&service.place);
    service.all_owned(&[&replica]);
    register_as("policy-1", &replica.url, &token);
    let heard =
        |words: &str| replica.heard.lock().expect("not poisoned").iter().filter(|line| line.contains(words)).count();
    wait_for("it works for every chain", || (heard("this replica owns the store") == CHAINS + 1).then_some(()));
    // Leases are renewed meanwhile.
    let seconds = 2 * LEASE;
    service.server.query(&format!("BEGIN; LOCK TABLE rarely.events; SELECT pg_sleep({seconds}); COMMIT"));
    let gave_up = "what the service did could not be copied in time";
    assert_eq!(heard(gave_up), CHAINS, "all but the service's own: {:?}", replica.heard);
    wait_for("it takes them again", || {
        service.try_to_decide(&replica.url, &token, "policy-1", "visit").filter(|(status, _)| *status == 200)
    });
    replica.stop();
    service.place.done(&format!("audit verify --store {}", service.server.address()));
}

//! `kill -9` at random moments under load.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::client::Answer;
use crate::service::{DOCUMENT, Service, assert_verified};

const CLIENTS: usize = 4;
/// More with `RARELY_KILLS`.
const ROUNDS: usize = 200;

/// What was acknowledged: each key's answer, and each decision's answer to its outcome.
#[derive(Default)]
struct Acknowledged {
    decisions: BTreeMap<String, Value>,
    outcomes: BTreeMap<u64, Value>,
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_twice() {
    let rounds = std::env::var("RARELY_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").subsec_nanos();
    println!("seed {seed}");
    let mut random = rarely_core::Rng::new(u64::from(seed), 0);
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("rarely.db");
    let (known, next) = (Mutex::new(Acknowledged::default()), AtomicUsize::new(0));
    let mut unanswered: Vec<String> = Vec::new();
    for round in 0..rounds {
        let service = Service::start(&store, &[]).unwrap_or_else(|said| panic!("round {round}: {said}"));
        assert!(service.post("/v1/policies", DOCUMENT).is_some_and(|answer| answer.is_success()), "round {round}");
        check_some(&service, &known.lock().expect("a lock"), &mut random, round);
        // What was cut off is asked again, under the same keys.
        for key in unanswered.drain(..) {
            keep(&known, &key, service.decide(&key));
        }
        let (over, cut_off) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        let key = format!("k{}", next.fetch_add(1, Ordering::Relaxed));
                        match service.decide(&key) {
                            Some(answer) => keep(&known, &key, Some(answer)),
                            None => cut_off.lock().expect("a lock").push(key),
                        }
                        report_one(&service, &known);
                    }
                });
            }
            std::thread::sleep(Duration::from_micros(random.bits() % 60_000));
            over.store(true, Ordering::Relaxed);
            let id = service.process();
            drop(std::process::Command::new("kill").args(["-9", &id.to_string()]).status());
        });
        service.kill();
        unanswered = cut_off.into_inner().expect("a lock");
        if round % 50 == 49 {
            assert_verified(&store, &format!("after round {round}"));
        }
    }
    finally(&store, &known.into_inner().expect("a lock"));
}

fn keep(known: &Mutex<Acknowledged>, key: &str, answer: Option<Answer>) {
    let Some(answer) = answer else { return };
    assert!(answer.is_success(), "{answer:?}");
    let mut known = known.lock().expect("a lock");
    let (new, before) = (answer.json(), known.decisions.get(key));
    assert!(before.is_none_or(|before| *before == new), "{key}: {before:?}, then {new}");
    known.decisions.insert(key.to_owned(), new);
}

/// The outcome of some decision that has none yet.
fn report_one(service: &Service, known: &Mutex<Acknowledged>) {
    let decision = {
        let known = known.lock().expect("a lock");
        let open = known.decisions.values().rev().filter_map(|answer| answer["decision"].as_u64());
        open.take(64).find(|decision| !known.outcomes.contains_key(decision))
    };
    if let Some(decision) = decision
        && let Some(answer) = service.outcome(decision)
    {
        assert!(answer.is_success(), "{answer:?}");
        known.lock().expect("a lock").outcomes.insert(decision, answer.json());
    }
}

/// After a restart the same requests get the same answers.
fn check_some(service: &Service, known: &Acknowledged, random: &mut rarely_core::Rng, round: usize) {
    for _ in 0..5.min(known.decisions.len()) {
        let (key, before) = known.decisions.iter().nth(random.below(known.decisions.len())).expect("one");
        let again = service.decide(key).expect("an answer").json();
        assert_eq!(again, *before, "round {round}, {key}");
    }
    for _ in 0..5.min(known.outcomes.len()) {
        let (decision, before) = known.outcomes.iter().nth(random.below(known.outcomes.len())).expect("one");
        let again = service.outcome(*decision).expect("an answer").json();
        assert_eq!(again["event"], before["event"], "round {round}, the outcome of {decision}");
    }
}

/// Every key and every outcome is in the log once, and every acknowledged one is there.
fn finally(store: &std::path::Path, known: &Acknowledged) {
    let service = Service::start(store, &[]).expect("it starts once more");
    let (mut keys, mut outcomes) = (BTreeMap::new(), BTreeMap::new());
    let events = service.get("/v1/policies/triage/events?after=0&limit=1000000").expect("the events");
    for line in events.body.lines().filter(|line| !line.is_empty()) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let (number, body) = (event["number"].as_u64().expect("a number"), &event["body"]);
        match event["kind"].as_str() {
            Some("decided") => {
                let key = body["key"].as_str().expect("a key").to_owned();
                assert_eq!(keys.insert(key.clone(), number), None, "{key} is there twice");
            }
            Some("observed") => {
                let decision = body["decision"].as_u64().expect("a decision");
                assert_eq!(outcomes.insert(decision, number), None, "the outcome of {decision} is there twice");
            }
            _ => {}
        }
    }
    for (key, answer) in &known.decisions {
        assert_eq!(keys.get(key).copied(), answer["decision"].as_u64(), "{key} was acknowledged");
    }
    for decision in known.outcomes.keys() {
        assert!(outcomes.contains_key(decision), "the outcome of {decision} was acknowledged");
    }
    assert!(known.decisions.len() > 200 && known.outcomes.len() > 100, "there was a load");
    println!("{} decisions and {} outcomes acknowledged", known.decisions.len(), known.outcomes.len());
    service.kill();
    assert_verified(store, "at the end");
}

//! Snapshots that earlier versions wrote still open: `testdata/snapshots-1*.json` hold one of every algorithm.
//!
//! `RARELY_WRITE_TESTDATA=1 cargo test -p rarely-core --all-features formats` writes the file anew: only for algorithms that no file has yet.

use std::path::PathBuf;

use rarely_core::conformance::learnable;
use rarely_core::{Algorithm, Context, Policy, Rng, SNAPSHOT_FORMAT, Snapshot};
use serde_json::{Value, json};

use crate::sample;

const ROUNDS: usize = 40;

/// The files, by the ends of their names: one with marks, one from before there were marks, renewals and `rarely-quick`, then the algorithms that came later, by groups. The
/// last is the newest.
const FILES: [&str; 5] = ["-marks", "", "-later", "-logistic", "-local"];

fn file(end: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/snapshots-{SNAPSHOT_FORMAT}{end}.json"))
}

/// What a policy decides next, with its propensities, and the fingerprint of what it has learned.
fn behaviour(policy: &dyn Policy) -> Value {
    let mut rng = Rng::new(5, 1);
    let decisions: Vec<Value> = (0..20)
        .map(|_| {
            let context = sample::context(policy.shape().dimension(), &mut rng);
            let decision = policy.decide(Context::new(&context).expect("finite"), &mut rng).expect("fits");
            json!([decision.arm.index(), decision.propensity])
        })
        .collect();
    let digest = policy.learner().map(|learner| learner.statistics().digest().to_string());
    json!({ "decisions": decisions, "digest": digest, "rounds": policy.rounds(), "changes": policy.changes() })
}

/// The same arms for the same reasons; propensities may differ by the error of their integrals.
fn same_behaviour(expected: &Value, found: &Value, algorithm: Algorithm) {
    for part in ["digest", "rounds", "changes"] {
        assert_eq!(expected[part], found[part], "{algorithm}: {part}");
    }
    let decisions = |value: &Value| value["decisions"].as_array().expect("a list").clone();
    for (expected, found) in decisions(expected).iter().zip(decisions(found)) {
        assert_eq!(expected[0], found[0], "{algorithm}");
        let propensity = |value: &Value| value[1].as_f64().expect("a number");
        assert!((propensity(expected) - propensity(&found)).abs() < 1e-9, "{algorithm}: {expected} and {found}");
    }
}

/// Lets a policy live in a world of its own.
fn live(policy: &mut dyn Policy) {
    let mut rng = Rng::new(5, 2);
    let truth = sample::parameters(policy.shape(), &mut rng);
    for _ in 0..3 * ROUNDS {
        let values = sample::context(policy.shape().dimension(), &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let reward = learnable(policy.algorithm(), reward);
        let _ = policy.observe(context, &decision, reward).expect("an ordinary outcome");
    }
}

/// Writes the algorithms that no earlier file has into the newest.
fn write() {
    let [earlier @ .., newest] = FILES;
    let earlier = entries(&earlier);
    let is_new = |algorithm: &Algorithm| !earlier.iter().any(|entry| entry["algorithm"] == algorithm.name());
    let entries: Vec<Value> = Algorithm::all()
        .filter(is_new)
        .map(|algorithm| {
            let mut policy = sample::settings(algorithm, 3, 2).build().expect("compatible");
            let mut rng = Rng::new(5, 0);
            let truth = sample::parameters(policy.shape(), &mut rng);
            for _ in 0..ROUNDS {
                let values = sample::context(2, &mut rng);
                let context = Context::new(&values).expect("finite");
                let decision = policy.decide(context, &mut rng).expect("fits");
                let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
                let reward = learnable(algorithm, reward);
                let _ = policy.observe(context, &decision, reward).expect("an ordinary outcome");
            }
            json!({ "algorithm": algorithm.name(), "snapshot": policy.snapshot(), "behaviour": behaviour(&*policy) })
        })
        .collect();
    let text = serde_json::to_string(&entries).expect("plain data");
    std::fs::write(file(newest), text + "\n").expect("testdata can be written");
}

fn entries(ends: &[&str]) -> Vec<Value> {
    let read = |end: &&str| {
        let text = std::fs::read_to_string(file(end)).expect("testdata is part of the project");
        serde_json::from_str::<Vec<Value>>(&text).expect("JSON")
    };
    ends.iter().flat_map(read).collect()
}

#[test]
fn snapshots_of_this_format_open_and_decide_as_they_did() {
    if std::env::var_os("RARELY_WRITE_TESTDATA").is_some() {
        write();
    }
    let entries = entries(&FILES);
    for algorithm in Algorithm::all() {
        assert!(entries.iter().any(|entry| entry["algorithm"] == algorithm.name()), "{algorithm} is missing");
    }
    for entry in entries {
        let snapshot: Snapshot = serde_json::from_value(entry["snapshot"].clone()).expect("a snapshot");
        let policy = snapshot.restore().expect("it opens");
        assert_eq!(entry["algorithm"], policy.algorithm().name());
        same_behaviour(&entry["behaviour"], &behaviour(&*policy), policy.algorithm());

        // What earlier versions wrote and this one would not is replaced when it is read: both continue alike.
        let mut policy = policy;
        let text = serde_json::to_string(&policy.snapshot()).expect("plain data");
        let mut copy = serde_json::from_str::<Snapshot>(&text).expect("a snapshot").restore().expect("it opens");
        live(&mut *policy);
        live(&mut *copy);
        assert!(copy.snapshot() == policy.snapshot(), "{} continued differently", policy.algorithm());
    }
}

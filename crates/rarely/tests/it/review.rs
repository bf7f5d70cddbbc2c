//! `rarely review` against numbers that are not ours, and its promises about states and files.

use std::fmt::Write as _;
use std::path::Path;

use rarely_data::{Cases, Columns, LoggedCase};
use rarely_policy::PolicyDocument;
use rarely_review::{EvidenceBase, Tally};
use serde_json::{Value, json};

use crate::program::{Place, talk};

/// The test vectors of the repository.
fn vectors() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/test-vectors.json");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// A vector as a document with a linear rule on features in [0, 1], and its log as CSV.
fn files(vector: &Value, place: &Place, algorithm: &str) {
    let arms = usize::try_from(vector["arms"].as_u64().unwrap()).unwrap();
    let dimension = usize::try_from(vector["dimension"].as_u64().unwrap()).unwrap();
    let options: Vec<String> = (0..arms).map(|arm| format!("option {arm}")).collect();
    let mut text = format!(
        "policy = \"vector\"\noptions = {options:?}\noutcome = {{ column = \"y\" }}\n[evidence]\nnoise = {}\nnorm_bound = {}\npenalty = {}\n\
         error_probability = {}\n[change]\nalgorithm = \"{algorithm}\"\n",
        vector["noise"], vector["norm_bound"], vector["penalty"], vector["error_probability"]
    );
    for feature in 1..dimension {
        let _ = writeln!(text, "[[features]]\ncolumn = \"x{feature}\"\nrange = [0, 1]");
    }
    text += "[rule.linear]\n";
    for (option, deployed) in options.iter().zip(vector["deployed"].as_array().unwrap()) {
        let deployed = numbers(deployed);
        let _ = write!(text, "{option:?} = {{ intercept = {:?}", deployed[0]);
        for (feature, value) in deployed.iter().enumerate().skip(1) {
            let _ = write!(text, ", x{feature} = {value:?}");
        }
        text += " }\n";
    }
    place.write("policy.toml", text);
    let mut log = "y,option".to_owned();
    for feature in 1..dimension {
        let _ = write!(log, ",x{feature}");
    }
    for row in vector["log"].as_array().unwrap() {
        let _ = write!(log, "\n{},option {}", row["reward"], row["arm"]);
        for value in numbers(&row["context"]).iter().skip(1) {
            let _ = write!(log, ",{value}");
        }
    }
    place.write("log.csv", log);
}

/// What the joint set of docs/mathematics.md §3 says of a log's own statistics. A review itself uses sharp sets.
struct JointSet {
    radius: f64,
    /// Whether each pair's boundary is plausible, and all at once.
    plausible: Vec<((usize, usize), bool)>,
    jointly_plausible: bool,
    max_cosine: f64,
    /// Of a change to the estimates, on the people of the log.
    gain: rarely_core::Gain,
}

impl JointSet {
    fn of(place: &Place) -> Self {
        let document = PolicyDocument::read(&place.path("policy.toml")).expect("a document");
        let columns = Columns { option: "option".to_owned(), ..Columns::default() };
        let mut cases = Cases::open(&document, &columns, &[place.path("log.csv")], 0).expect("a log");
        let (mut tally, mut case) = (Tally::new(&document), LoggedCase::new(&document));
        while cases.next(&mut case).expect("a row") {
            tally.add(case.row_in_file, &case.context, case.arm, case.reward);
        }
        let base = EvidenceBase::of(&document, &tally, None).expect("it fits");
        let (set, policy) = (base.confidence().set(&base.statistics), document.rule().parameters(&document));
        let decide = |parameters| rarely_core::Rule::new(parameters).choose_many(base.contexts()).expect("it fits");
        let (before, after) = (decide(policy.clone()), decide(base.statistics.estimates()));
        Self {
            radius: set.radius(),
            plausible: set.boundaries(&policy).iter().map(|found| (found.arms, found.plausible)).collect(),
            jointly_plausible: set.is_jointly_plausible(&policy),
            max_cosine: set.conservative(&policy).cosine,
            gain: set.gain(base.contexts(), &before, &after).expect("it fits"),
        }
    }
}

fn close(found: &Value, expected: &Value, what: &str) {
    let (found, expected) = (found.as_f64().expect(what), expected.as_f64().expect(what));
    assert!((found - expected).abs() <= 1e-7 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

#[test]
fn the_test_vectors_as_logs() {
    let vectors = vectors();
    let mut changed = 0;
    for (number, vector) in vectors.iter().enumerate() {
        let place = Place::new();
        files(vector, &place, "boundary-greedy");
        let output = place.rarely("review --policy policy.toml --data log.csv --format json").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", talk(&output)));
        let expected = &vector["expected"];
        let joint = JointSet::of(&place);
        close(&json!(joint.radius), &expected["radius"], "radius");
        for (arm, estimates) in expected["estimates"].as_array().unwrap().iter().enumerate() {
            for (at, estimate) in estimates.as_array().unwrap().iter().enumerate() {
                let name = if at == 0 { "intercept".to_owned() } else { format!("x{at}") };
                close(&answer["estimates"][format!("option {arm}")][name], estimate, "estimate");
            }
        }
        for pair in expected["pairs"].as_array().unwrap() {
            let found = joint.plausible.iter().find(|((i, j), _)| pair["arms"] == json!([i, j]));
            assert_eq!(json!(found.expect("the pair").1), pair["plausible"], "vector {number}");
        }
        assert_eq!(json!(joint.jointly_plausible), expected["jointly_plausible"], "vector {number}");
        if !expected["max_cosine"].is_null() {
            close(&json!(joint.max_cosine), &expected["max_cosine"], "cosine");
        }
        let implausible = expected["pairs"].as_array().unwrap().iter().any(|pair| pair["plausible"] == false);
        let gain = &expected["gain_of_estimates_over_deployed_on_logged_contexts"];
        if implausible && !gain.is_null() {
            let found = joint.gain;
            close(&json!(found.interval.estimate), &gain["estimate"], "gain");
            close(&json!(found.interval.lower), &gain["lower"], "lower end of the gain");
            close(&json!(found.interval.upper), &gain["upper"], "upper end of the gain");
            close(&json!(found.changed_share), &gain["changed_share"], "share that changes");
            changed += 1;
        }
    }
    assert!(changed >= 4 || vectors.is_empty(), "{changed} vectors have an implausible boundary");
}

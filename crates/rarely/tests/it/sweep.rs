//! `rarely sweep`.

use serde_json::Value;

use crate::ihdp::children;
use crate::program::{Place, assert_data_refused, assert_snapshot_of, data};
use crate::simulate::check_rows;

#[test]
fn of_one_setting() {
    assert_snapshot_of!(
        Place::new().rarely("sweep --vary penalty=0.01,1 --runs 2 --rounds 100 --algorithms rarely,linucb")
    );
}

#[test]
fn of_two_settings() {
    let arguments = "sweep --vary arms=2,3 --vary dim=1,4 --runs 2 --rounds 100 --algorithms rarely";
    assert_snapshot_of!(Place::new().rarely(arguments));
}

#[test]
fn as_csv_and_json() {
    let place = Place::new();
    let arguments = "sweep --vary tolerance=0.01,0.1 --runs 2 --rounds 60 --algorithms rs-greedy,rarely";
    assert_snapshot_of!(place.rarely(&format!("{arguments} --format csv")));
    let answer: Value = serde_json::from_str(&data(&place.done(&format!("{arguments} --format json")))).expect("JSON");
    assert_eq!(answer["settings"]["vary"][0]["setting"], "tolerance");
    let cells = answer["cells"].as_array().expect("cells");
    let values: Vec<&Value> = cells.iter().map(|cell| &cell["values"][0]).collect();
    assert_eq!(values, [0.01, 0.1]);
    for cell in cells {
        check_rows(&cell["algorithms"], &["rs-greedy", "rarely"]);
    }
}

/// Every setting that the help names can be varied.
#[test]
fn of_every_setting() {
    let place = Place::new();
    for axis in [
        "tolerance=0.1",
        "penalty=0.1",
        "equipoise=0.1",
        "pilot=2",
        "arms=3",
        "dim=3",
        "declared-noise=2",
        "curvature=0.5",
        "growth=0.5",
        "excluded-share=0.1",
        "prior-mean=0.5",
        "error-probability=0.1",
        "noise=0.5",
        "rounds=30",
        "norm-bound=5",
        "cap=0.2",
        "z=3",
        "minimum-gain=0.01",
        "renewal=1",
        "safety=0.2",
        "posterior-scale=0.2",
        "epsilon=0.2",
        "alpha=0.5",
        "gap-scale=5",
        "late=5",
        "missing=0.2",
        "drift=10",
        "batch=5",
    ] {
        let arguments = format!("sweep --vary {axis} --runs 1 --rounds 20 --algorithms all --format csv");
        let output = place.done(&arguments);
        let setting = axis.split('=').next().expect("a name");
        assert!(data(&output).starts_with(&format!("{setting},algorithm,")), "{}", data(&output));
    }
}

#[test]
fn over_ihdp_plays_the_embedded_realisations() {
    let arguments = "sweep --ihdp --vary penalty=0.1 --runs 1 --rounds 40 --algorithms rarely --format json";
    let output = Place::new().done(arguments);
    assert!(data(&output).contains("IHDP, realisation 100"), "{}", data(&output));
}

#[test]
fn reads_its_data_before_it_runs_anything() {
    assert_data_refused!("ihdp_npci_1.csv", children(3), "sweep --vary penalty=0.1 --data ihdp_npci_1.csv");
}

#[test]
fn of_a_strength_only_where_there_is_one() {
    let place = Place::new();
    let arguments = "sweep --vary strength=0.5,2 --runs 1 --rounds 20 --algorithms rarely --format csv";
    let output = place.done(&format!("{arguments} --environment heavy-tailed"));
    assert_eq!(data(&output).lines().count(), 3, "{}", data(&output));
    assert_snapshot_of!(place.rarely(arguments));
}

#[test]
fn of_a_setting_that_nobody_uses() {
    assert_snapshot_of!(Place::new().rarely("sweep --vary tolerance=0.1 --runs 1 --rounds 20 --algorithms rarely"));
}

//! `rarely frontier`.

use serde_json::Value;

use crate::program::{Place, assert_snapshot_of, data};

#[test]
fn as_a_table_and_as_json() {
    let place = Place::new();
    let arguments = "frontier --runs 2 --rounds 60 --arms 2 --dim 2";
    assert_snapshot_of!(place.rarely(arguments));
    let answer: Value = serde_json::from_str(&data(&place.done(&format!("{arguments} --format json")))).expect("JSON");
    let points = answer["points"].as_array().expect("points");
    let on_frontier: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point["on_frontier"] == true)
        .map(|point| {
            (point["summary"]["changes"]["mean"].as_f64(), point["summary"]["regret_per_step"]["mean"].as_f64())
        })
        .map(|(changes, regret)| (changes.expect("changes"), regret.expect("regret")))
        .collect();
    assert!(!on_frontier.is_empty());
    for one in &on_frontier {
        let better = on_frontier.iter().find(|other| other.0 < one.0 && other.1 < one.1);
        assert!(better.is_none(), "{one:?} is on the frontier, but {better:?} has fewer changes and less regret");
    }
}

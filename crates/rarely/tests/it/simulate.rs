//! `rarely simulate`.

use serde_json::Value;

use crate::program::{Place, assert_data_refused, assert_snapshot_of, data, with_field};

pub(crate) const SMALL: &str = "simulate --runs 3 --rounds 200 --algorithms rarely,linucb,rs-greedy";

#[test]
fn as_a_table() {
    assert_snapshot_of!(Place::new().rarely(SMALL));
}

#[test]
fn as_csv() {
    assert_snapshot_of!(Place::new().rarely(&format!("{SMALL} --format csv")));
}

#[test]
fn as_json() {
    let output = Place::new().done(&format!("{SMALL} --format json --seed 18446744073709551615"));
    let answer: Value = serde_json::from_str(&data(&output)).expect("JSON");
    let settings = &answer["settings"];
    assert_eq!(settings["command"], "simulate");
    assert_eq!(settings["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(settings["seed"], u64::MAX);
    assert_eq!(settings["runs"], 3);
    assert_eq!(settings["rounds"], 200);
    assert_eq!(settings["environment"]["environment"], "linear");
    assert_eq!(settings["assumptions"]["profile"], "rigorous");
    check_rows(&answer["algorithms"], &["rarely", "linucb", "rs-greedy"]);
    let rows = answer["algorithms"].as_array().expect("rows");
    assert_eq!(rows[1]["changes"]["mean"], 200.0, "linucb changes every round");
    assert!(rows[1]["improving_percent"].is_null(), "so that none of its changes is judged");
    assert!(rows[0]["improving_percent"].is_object());
}

/// Every row has every field, of its type and in its range.
pub(crate) fn check_rows(rows: &Value, names: &[&str]) {
    let rows = rows.as_array().expect("rows");
    let found: Vec<&str> = rows.iter().map(|row| row["name"].as_str().expect("a name")).collect();
    assert_eq!(found, names);
    for row in rows {
        for estimate in ["regret_per_step", "regret_per_step_tenth", "changes"] {
            for part in ["mean", "se"] {
                let value = row[estimate][part].as_f64().unwrap_or_else(|| panic!("{estimate}.{part} of {row}"));
                assert!(value >= 0.0, "{row}");
            }
        }
        for share in ["below_baseline_percent", "below_nine_tenths_percent", "improving_percent"] {
            if row[share].is_null() && share == "improving_percent" {
                continue;
            }
            let [low, mean, high] = ["low", "mean", "high"]
                .map(|part| row[share][part].as_f64().unwrap_or_else(|| panic!("{share}.{part} of {row}")));
            assert!(0.0 <= low && low <= mean && mean <= high && high <= 100.0, "{share} of {row}");
        }
        assert!(row["rounds_per_second"].as_f64().is_some_and(|speed| speed > 0.0), "{row}");
        assert!(row["coverage"].as_f64().is_none_or(|share| (0.0..=1.0).contains(&share)), "{row}");
    }
}

#[test]
fn every_environment_and_every_algorithm_runs() {
    let place = Place::new();
    for environment in ["linear", "quadratic", "logistic", "heavy-tailed", "understated-noise", "drifting"] {
        let arguments = format!("simulate --environment {environment} --runs 1 --rounds 40 --format json");
        let output = place.done(&arguments);
        let answer: Value = serde_json::from_str(&data(&output)).expect("JSON");
        assert_eq!(answer["algorithms"].as_array().map(Vec::len), Some(19), "{environment}");
    }
}

#[test]
fn with_every_option() {
    let options = "--environment quadratic --strength 0.5 --arms 3 --dim 2 --noise 0.2 --profile published \
        --explore pilot:3+equipoise:0.1 --penalty 0.5 --declared-noise 0.3 --norm-bound 2 --prior-mean -1 \
        --error-probability 0.05 --tolerance 0.02 --seed 7 --threads 1";
    assert_snapshot_of!(
        Place::new().rarely(&format!("simulate --runs 2 --rounds 100 --algorithms rs-greedy {options}"))
    );
}

const PEOPLE: &str = "age,outcome:call,outcome:letter\n0.1,0.9,0.2\n0.5,0.4,0.6\n0.7,0.3,0.8\n0.2,0.8,0.3\n";

#[test]
fn with_a_table_of_people() {
    let place = Place::new();
    place.write("people.csv", PEOPLE);
    assert_snapshot_of!(place.rarely("simulate --table people.csv --runs 2 --algorithms rarely,fixed"));
}

const TWO_PEOPLE: &str = "age,outcome:call,outcome:letter\n0.1,0.9,0.2\n0.5,0.4,0.6\n";

#[test]
fn a_table_has_no_outcomes() {
    assert_data_refused!("people.csv", "age,income\n41,2.3\n", "simulate --table people.csv");
}

#[test]
fn a_table_has_one_outcome() {
    assert_data_refused!("people.csv", "age,outcome:call\n41,2.3\n", "simulate --table people.csv");
}

#[test]
fn a_table_has_no_people() {
    assert_data_refused!("people.csv", "age,outcome:call,outcome:letter\n", "simulate --table people.csv");
}

#[test]
fn a_table_has_a_gap() {
    assert_data_refused!("people.csv", with_field(TWO_PEOPLE, 3, 2, ""), "simulate --table people.csv");
}

#[test]
fn a_table_has_fewer_people_than_rounds() {
    assert_data_refused!("people.csv", TWO_PEOPLE, "simulate --table people.csv");
}

#[test]
fn a_table_goes_with_no_environment() {
    assert_data_refused!("people.csv", TWO_PEOPLE, "simulate --table people.csv --environment linear");
}

//! `rarely simulate`.

use rarely_core::Algorithm;
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
    let command =
        "rarely simulate --rounds=200 --runs=3 --algorithms=rarely,linucb,rs-greedy --seed=18446744073709551615";
    assert_eq!(settings["command"], command);
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
    // Logistic algorithms learn outcomes from 0 to 1 only.
    let any = Algorithm::all().filter(|algorithm| !algorithm.is_logistic()).count();
    for environment in ["linear", "quadratic", "logistic", "binary", "heavy-tailed", "understated-noise", "drifting"] {
        let expected = if environment == "binary" { Algorithm::all().count() } else { any };
        let arguments = format!("simulate --environment {environment} --runs 1 --rounds 40 --format json");
        let output = place.done(&arguments);
        let answer: Value = serde_json::from_str(&data(&output)).expect("JSON");
        assert_eq!(answer["algorithms"].as_array().map(Vec::len), Some(expected), "{environment}");
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

/// The noise of a table is estimated and the note says so; σ = 1 is not assumed.
#[test]
fn the_noise_of_a_table_is_estimated() {
    let place = Place::new();
    let mut people = "one,age,outcome:call,outcome:letter\n".to_owned();
    for number in 0..200 {
        let age = f64::from(number) / 200.0;
        // Every other person has 0.3 more, the others 0.3 less: σ = 0.3.
        let noise = if number % 2 == 0 { 0.3 } else { -0.3 };
        people += &["1".to_owned(), age.to_string(), (1.0 + age + noise).to_string(), (2.0 - age + noise).to_string()]
            .join(",");
        people.push('\n');
    }
    place.write("people.csv", &people);
    let arguments = "simulate --table people.csv --runs 2 --algorithms rarely,linucb";
    let answer: Value = serde_json::from_str(&data(&place.done(&format!("{arguments} --format json")))).expect("JSON");
    let told = answer["settings"]["assumptions"]["declared_noise"].as_f64().expect("a number");
    // 200 people and 2 coefficients: √(200·0.09/198) is 0.3015; a fit to alternating signs takes off next to nothing.
    assert!((told - 0.3015).abs() < 0.001, "{told}");
    let source = answer["settings"]["declared_noise_source"].as_str().expect("words");
    assert_eq!(source, "estimated from the residuals of least squares for each arm");
    let answer = place.done(&format!("{arguments} --declared-noise 0.5 --format json"));
    let answer: Value = serde_json::from_str(&data(&answer)).expect("JSON");
    assert_eq!(answer["settings"]["assumptions"]["declared_noise"], 0.5);
    assert!(answer["settings"]["declared_noise_source"].is_null());
}

#[test]
fn the_noise_of_a_table_that_is_too_small_is_asked_for() {
    let place = Place::new();
    place.write("people.csv", "one,age,outcome:call,outcome:letter\n1,0.1,0.9,0.2\n1,0.5,0.4,0.6\n");
    assert_snapshot_of!(place.rarely("simulate --table people.csv --runs 2 --algorithms rarely"));
}

/// What is written beside results has no `null`, and no "auto" without the values that it had.
#[test]
fn settings_are_written_resolved() {
    let place = Place::new();
    let _ = place.done(&format!("{SMALL} --out out"));
    let text = String::from_utf8(place.files("out")["run.json"].clone()).expect("text");
    assert!(!text.contains("null"), "{text}");
    let settings: Value = serde_json::from_str(&text).expect("JSON");
    let told = &settings["assumptions"];
    assert_eq!((&told["declared_noise"], &told["penalty"]), (&0.1.into(), &0.01.into()));
    assert_eq!((&told["error_probability"], &told["tolerance"]), (&0.005.into(), &0.01.into()));
    assert_eq!(told["norm_bound"], "auto");
    let (least, most) = (&told["norm_bound_values"]["least"], &told["norm_bound_values"]["most"]);
    assert!(least.as_f64() > Some(1.0) && most.as_f64() >= least.as_f64(), "{told}");
    assert_eq!(settings["contestants"][0]["explore"], "posterior:0.5");
}

#[test]
fn a_strength_that_does_nothing() {
    assert_snapshot_of!(Place::new().rarely("simulate --strength 2 --runs 1 --rounds 10"));
}

#[test]
fn a_delay_where_nothing_is_late() {
    assert_snapshot_of!(Place::new().rarely("simulate --delay independent --runs 1 --rounds 10"));
}

#[test]
fn a_tolerance_that_nobody_uses() {
    assert_snapshot_of!(Place::new().rarely("simulate --tolerance 0.1 --runs 1 --rounds 10 --algorithms linucb"));
}

#[test]
fn late_missing_drifting_and_batched() {
    let place = Place::new();
    let small = "simulate --runs 3 --rounds 400 --algorithms rarely,thompson --format json";
    let regret = |options: &str| {
        let answer: Value = serde_json::from_str(&data(&place.done(&format!("{small} {options}")))).expect("JSON");
        answer["algorithms"][1]["regret_per_step"]["mean"].as_f64().expect("a number")
    };
    let plain = regret("");
    for options in ["--late 50", "--missing 0.8", "--drift 100", "--batch 100"] {
        assert!(regret(options) > plain, "{options} makes it harder");
    }
    assert!((regret("--batch 1") - plain).abs() < 1e-12, "a batch of one round is none");
}

//! What stdout gets from commands that run something.

use serde_json::Value;

use crate::program::{Place, assert_snapshot_of, data, talk};

const SMALL: &str = "simulate --runs 3 --rounds 200 --algorithms rarely,linucb,rs-greedy";

#[test]
fn simulate_as_a_table() {
    assert_snapshot_of!(Place::new().rarely(SMALL));
}

#[test]
fn simulate_as_csv() {
    assert_snapshot_of!(Place::new().rarely(&format!("{SMALL} --format csv")));
}

#[test]
fn simulate_as_json() {
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
fn check_rows(rows: &Value, names: &[&str]) {
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
        assert_eq!(answer["algorithms"].as_array().map(Vec::len), Some(18), "{environment}");
    }
}

#[test]
fn simulate_with_every_option() {
    let options = "--environment quadratic --strength 0.5 --arms 3 --dim 2 --noise 0.2 --profile published \
        --explore pilot:3+equipoise:0.1 --penalty 0.5 --declared-noise 0.3 --norm-bound 2 --prior-mean -1 \
        --error-probability 0.05 --tolerance 0.02 --seed 7 --threads 1";
    assert_snapshot_of!(
        Place::new().rarely(&format!("simulate --runs 2 --rounds 100 --algorithms rs-greedy {options}"))
    );
}

const PEOPLE: &str = "age,outcome:call,outcome:letter\n0.1,0.9,0.2\n0.5,0.4,0.6\n0.7,0.3,0.8\n0.2,0.8,0.3\n";

#[test]
fn simulate_with_a_table_of_people() {
    let place = Place::new();
    place.write("people.csv", PEOPLE);
    assert_snapshot_of!(place.rarely("simulate --table people.csv --runs 2 --algorithms rarely,fixed"));
}

#[test]
fn sweep_of_one_setting() {
    assert_snapshot_of!(
        Place::new().rarely("sweep --vary penalty=0.01,1 --runs 2 --rounds 100 --algorithms rarely,linucb")
    );
}

#[test]
fn sweep_of_two_settings() {
    let arguments = "sweep --vary arms=2,3 --vary dim=1,4 --runs 2 --rounds 100 --algorithms rarely";
    assert_snapshot_of!(Place::new().rarely(arguments));
}

#[test]
fn sweep_as_csv_and_json() {
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
fn sweep_of_every_setting() {
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
    ] {
        let arguments = format!("sweep --vary {axis} --runs 1 --rounds 20 --algorithms rarely,rs-linucb --format csv");
        let output = place.done(&arguments);
        let setting = axis.split('=').next().expect("a name");
        assert!(data(&output).starts_with(&format!("{setting},algorithm,")), "{}", data(&output));
    }
}

#[test]
fn sweep_over_synthetic_children_says_so() {
    let arguments = "sweep --synthetic --vary penalty=0.1 --runs 1 --rounds 40 --algorithms rarely";
    let output = Place::new().done(arguments);
    assert!(data(&output).to_lowercase().contains("synthetic"), "{}", data(&output));
}

#[test]
fn frontier() {
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

#[test]
fn ihdp_with_synthetic_children() {
    let place = Place::new();
    let arguments = "ihdp --synthetic --runs 2 --rounds 60 --algorithms rarely,rs-greedy,linucb,fixed";
    assert_snapshot_of!(place.rarely(arguments));
    let output = place.done(&format!("{arguments} --format json"));
    let answers: Vec<Value> = serde_json::from_str(&data(&output)).expect("JSON");
    assert_eq!(answers.len(), 2, "without and with an intercept");
    for (answer, dimension) in answers.iter().zip([25, 26]) {
        assert_eq!(answer["settings"]["environment"]["synthetic"], true);
        assert_eq!(answer["settings"]["environment"]["dimension"], dimension);
        check_rows(&answer["algorithms"], &["rarely", "rs-greedy", "linucb", "fixed"]);
    }
}

/// CSV is one table: a header, and under it rows of as many fields, that can be told apart.
#[test]
fn ihdp_as_csv_is_one_table() {
    let arguments = "ihdp --synthetic --runs 1 --rounds 30 --algorithms rarely,fixed --format csv";
    let text = data(&Place::new().done(arguments));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 2, "a header, and two algorithms without and with an intercept:\n{text}");
    let fields = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == fields), "{text}");
    assert!(lines[1..].iter().all(|line| !line.starts_with("algorithm,")), "{text}");
}

#[test]
fn ihdp_with_and_without_an_intercept_only() {
    let place = Place::new();
    for (choice, said, not_said) in
        [("yes", "with an intercept", "without an "), ("no", "without an intercept", "with an ")]
    {
        let arguments = format!("ihdp --synthetic --runs 1 --rounds 30 --algorithms fixed --intercept {choice}");
        let text = data(&place.done(&arguments));
        assert!(text.contains(said) && !text.contains(not_said), "{text}");
    }
}

/// The environment variable is a default, which an option overrules.
#[test]
fn synthetic_children_overrule_the_environment_variable() {
    let place = Place::new();
    let mut command = place.rarely("ihdp --synthetic --runs 1 --rounds 30 --algorithms fixed");
    let output = command.env("RARELY_IHDP", "somewhere").output().expect("it starts");
    assert!(output.status.success(), "{}", talk(&output));
}

/// The seed is all that decides.
#[test]
fn the_same_seed_gives_the_same_answer_for_any_number_of_threads() {
    let place = Place::new();
    for command in [
        "simulate --runs 4 --rounds 120 --algorithms rarely,thompson,random",
        "sweep --vary penalty=0.01,0.1 --runs 4 --rounds 60",
        "frontier --runs 2 --rounds 40 --arms 2 --dim 2",
        "ihdp --synthetic --runs 3 --rounds 40 --algorithms rarely,thompson",
    ] {
        let answer = |rest: &str| data(&place.done(&format!("{command} --format csv {rest}")));
        let one = answer("--threads 1 --seed 4");
        assert_eq!(one, answer("--threads 3 --seed 4"), "{command}");
        assert_ne!(one, answer("--threads 3 --seed 5"), "{command}");
    }
}

#[test]
fn a_command_that_writes_no_folder_leaves_nothing_behind() {
    let place = Place::new();
    let _ = place.done(SMALL);
    assert!(place.names("").is_empty());
}

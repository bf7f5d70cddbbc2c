//! `rarely replay`: when a rule would have changed, and what that would have gained.

use std::fmt::Write as _;

use serde_json::Value;

use crate::program::{Place, assert_snapshot_of, data, talk};
use crate::review_states::{POLICY, Person, log, mean, people, place_with};

const REPLAY: &str = "replay --policy policy.toml --data log.csv";

fn replayed(place: &Place, arguments: &str) -> Value {
    serde_json::from_str(&data(&place.done(&format!("{REPLAY} {arguments} --format json")))).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn cut(rule: &Value) -> f64 {
    number(&rule["threshold"]["cuts"][0])
}

/// The truth's cut is 132.5: the rule's is ruled out soon, and each change is a step towards the truth.
#[test]
fn a_wrong_rule_changes_when_the_rows_until_then_say_so() {
    let people = people(4000, 21);
    let place = place_with(POLICY, &people);
    let walk = replayed(&place, "--every 50");
    let changes = walk["changes"].as_array().expect("a list");
    let first = usize::try_from(changes[0]["row"].as_u64().expect("a row")).expect("a row");
    assert!((100..=1000).contains(&first), "{walk}");
    let mut before = 160.0;
    for change in changes {
        assert_eq!(cut(&change["from"]), before);
        before = cut(&change["to"]);
        assert!(before < cut(&change["from"]) && before > 125.0, "{change}");
    }
    assert_eq!(cut(&walk["rule"]), before);
}

#[test]
fn a_right_rule_does_not_change() {
    let place = place_with(&POLICY.replace("[160]", "[132.5]"), &people(3000, 22));
    let text = data(&place.done(REPLAY));
    assert!(text.contains("The rule would not have changed."), "{text}");
    let walk = replayed(&place, "");
    assert_eq!(walk["changes"], Value::Array(Vec::new()));
    assert_eq!(walk["held"], walk["replayed"]);
}

/// The mean outcome if the rule with this cut had been in force for everyone between 80 and 220 mmHg; the lines are straight, so each
/// part counts by its middle.
fn mean_outcome(cut: f64) -> f64 {
    let (below, above) = ((cut - 80.0) / 140.0, (220.0 - cut) / 140.0);
    below * mean("watch", f64::midpoint(80.0, cut)) + above * mean("treat", f64::midpoint(cut, 220.0))
}

/// Twenty logs: each interval misses the truth with a probability of 5 %, so that more than five misses have a probability of 0.03 %
/// (binomial); the direct interval holds with 99.9 %, and one miss in twenty logs has 2 %, two 0.02 %.
#[test]
fn values_by_weights_cover_the_truth() {
    let mut misses = [0; 3];
    for seed in 100..120 {
        let place = place_with(POLICY, &people(1000, seed));
        let held = &replayed(&place, "--propensity-column probability --every 1000")["held"];
        for (misses, how) in misses.iter_mut().zip(["inverse_propensity", "doubly_robust", "direct"]) {
            let inside = number(&held[how]["lower"]) <= mean_outcome(160.0)
                && mean_outcome(160.0) <= number(&held[how]["upper"]);
            *misses += i32::from(!inside);
        }
    }
    assert!(misses[0] <= 5 && misses[1] <= 5 && misses[2] <= 1, "misses {misses:?}");
}

/// Weights leave the doubly robust interval no wider than the plain one here: the model explains much of the outcome.
#[test]
fn the_model_helps_the_weights() {
    let place = place_with(POLICY, &people(3000, 23));
    let held = &replayed(&place, "--propensity-column probability")["held"];
    let width = |how: &str| number(&held[how]["upper"]) - number(&held[how]["lower"]);
    assert!(width("doubly_robust") < width("inverse_propensity"), "{held}");
}

#[test]
fn a_log_without_propensities_is_not_weighted() {
    let place = place_with(POLICY, &people(1000, 24));
    let walk = replayed(&place, "");
    for how in ["inverse_propensity", "doubly_robust"] {
        for rule in ["held", "replayed"] {
            let refused = walk[rule][how]["refused"].as_str().expect("a refusal");
            assert!(refused.contains("--propensity-column"), "{refused}");
        }
    }
    assert_snapshot_of!(place.rarely(&format!("{REPLAY} --every 200")));
}

#[test]
fn a_deterministic_log_is_not_weighted() {
    let certain: Vec<Person> =
        people(1000, 25).into_iter().map(|person| Person { probability: 1.0, ..person }).collect();
    let place = place_with(POLICY, &certain);
    let walk = replayed(&place, "--propensity-column probability");
    let refused = walk["held"]["inverse_propensity"]["refused"].as_str().expect("a refusal");
    assert!(refused.contains("deterministic") && refused.contains("explore"), "{refused}");
    assert_eq!(walk["held"]["doubly_robust"]["refused"], refused);
}

/// One row whose option was certain, and the rule wants the other one: no row can represent that person.
#[test]
fn people_out_of_reach_are_counted() {
    let mut people = people(1000, 26);
    let place = place_with(POLICY, &people);
    let other = people.iter().position(|person| person.systolic < 160.0 && person.treatment == "treat");
    people[other.expect("somebody")].probability = 1.0;
    place.write("log.csv", log(&people).to_csv());
    let walk = replayed(&place, "--propensity-column probability");
    let refused = walk["held"]["inverse_propensity"]["refused"].as_str().expect("a refusal");
    assert!(refused.contains("in 1 of 1000 rows"), "{refused}");
}

/// The last rows are reviewed, however many they are.
#[test]
fn a_short_log_is_reviewed_too() {
    let place = place_with(POLICY, &people(1950, 27));
    let whole = place.rarely("review --policy policy.toml --data log.csv").output().expect("it starts");
    assert!(data(&whole).contains("Verdict: change"));
    let walk = replayed(&place, "--every 2000");
    assert_eq!(walk["changes"].as_array().expect("a list").len(), 1, "after the last row at the latest: {walk}");
}

/// A log of four cases with a time.
fn with_times(times: [&str; 4]) -> Place {
    let place = Place::new();
    place.write("policy.toml", POLICY);
    let mut text = "visit,systolic,treatment,probability,wellbeing\n".to_owned();
    for time in times {
        let _ = writeln!(text, "{time},130,watch,0.5,0.6");
    }
    place.write("log.csv", text);
    place
}

#[test]
fn times_in_order_are_read() {
    for times in [["1", "2", "2", "10"], ["2026-01-31", "2026-02-01", "2026-02-01", "2027-01-01"]] {
        let text = data(&with_times(times).done(&format!("{REPLAY} --time-column visit")));
        assert!(text.contains("4 rows"), "{text}");
    }
}

/// Rows of people in any order are replayed as those in the order of their times.
#[test]
fn rows_are_sorted_by_their_time() {
    let lines = log(&people(600, 27)).to_csv();
    let (header, rows) = lines.split_once('\n').expect("a header");
    let mut rows: Vec<String> = (0_u64..).zip(rows.lines()).map(|(at, row)| format!("{},{row}", time_of(at))).collect();
    let answer = |rows: &[String]| {
        let place = Place::new();
        place.write("policy.toml", POLICY);
        place.write("log.csv", format!("visit,{header}\n{}\n", rows.join("\n")));
        let output = place.done(&format!("{REPLAY} --time-column visit --every 50"));
        (data(&output), talk(&output))
    };
    let (in_order, said) = answer(&rows);
    assert!(!said.contains("sorted"), "{said}");
    rows.reverse();
    let (sorted, said) = answer(&rows);
    assert_eq!(sorted, in_order);
    assert!(said.contains("the rows are not in the order of visit: they are sorted by it"), "{said}");
}

/// The time of a row, an hour after that before it, in one of two zones: as text, these are in another order.
fn time_of(row: u64) -> String {
    let (ahead, zone) = if row.is_multiple_of(2) { (0, "-05:00") } else { (10, "+05:00") };
    let time = rarely_output::utc(1_767_225_600_000 + 3_600_000 * (row + ahead));
    format!("{}{zone}", time.trim_end_matches('Z'))
}

/// The refusal, with no answer.
macro_rules! refused {
    ($($name:ident: $place:expr, $arguments:expr;)*) => {
        $(#[test]
        fn $name() {
            let place = $place;
            assert_snapshot_of!(place.rarely(&format!("{REPLAY} {}", $arguments)));
            let output = place.rarely(&format!("{REPLAY} {}", $arguments)).output().expect("it starts");
            assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
            assert!(output.stdout.is_empty());
        })*
    };
}

refused! {
    a_time_is_a_word: with_times(["1", "soon", "3", "4"]), "--time-column visit";
    a_time_is_missing: with_times(["1", "2", "", "4"]), "--time-column visit";
    times_are_mixed: with_times(["1", "2", "2026-01-01", "4"]), "--time-column visit";
    a_time_column_is_not_there: with_times(["1", "2", "3", "4"]), "--time-column vist";
    a_propensity_is_no_probability: with_times(["1", "2", "3", "4"]), "--propensity-column systolic";
    a_propensity_column_is_not_there: with_times(["1", "2", "3", "4"]), "--propensity-column propensity";
    no_row_between_two_reviews: with_times(["1", "2", "3", "4"]), "--every 0";
}

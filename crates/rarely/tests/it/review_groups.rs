//! `rarely review --by`, guard-rails and fairness columns.

use std::fmt::Write as _;

use rarely_core::Rng;
use serde_json::Value;

use crate::program::{Place, data, talk};

/// Treatment helps from 132.5 mmHg on; the rule treats from 160.
const POLICY: &str = r#"# the owner's comment
policy = "blood-pressure"
options = ["watch", "treat"]
outcome = { column = "wellbeing", range = [0, 1] }
[[features]]
column = "systolic"
unit = "mmHg"
range = [80, 220]
[rule]
threshold = { feature = "systolic", cuts = [160], options = ["watch", "treat"] }
"#;

const GUARDED: &str =
    "[[guardrails]]\noutcome = { column = \"readmission\", range = [0, 1] }\nworse = \"higher\"\nmargin = 0.02\n";

/// A log of three departments. In surgery treatment makes no difference; in each, `harm` is added to the probability of readmission by it.
fn log(rows: usize, harm: f64) -> String {
    let mut rng = Rng::new(9, 0);
    let mut text = "systolic,option,wellbeing,readmission,department,sex\n".to_owned();
    for row in 0..rows {
        let department = ["cardiology", "renal", "surgery"][row % 3];
        let (systolic, treated) = ((80.0 + 140.0 * rng.uniform()).round(), rng.below(2) == 1);
        let place = (systolic - 80.0) / 140.0;
        let effect = if department == "surgery" { 0.0 } else { 0.4 * place - 0.15 };
        let wellbeing = 0.7 - 0.3 * place + if treated { effect } else { 0.0 } + 0.05 * rng.normal();
        let readmitted = rng.uniform() < 0.1 + if treated { harm } else { 0.0 };
        let (option, sex) = (["watch", "treat"][usize::from(treated)], ["f", "m"][rng.below(2)]);
        let wellbeing = wellbeing.clamp(0.0, 1.0);
        let _ = writeln!(text, "{systolic},{option},{wellbeing:.4},{},{department},{sex}", u8::from(readmitted));
    }
    text
}

fn place(policy: &str, rows: usize, harm: f64) -> Place {
    let place = Place::new();
    place.write("policy.toml", policy);
    place.write("log.csv", log(rows, harm));
    place
}

const REVIEW: &str = "review --policy policy.toml --data log.csv";

/// Rows that lack a value are not left out of a review of groups without a word.
#[test]
fn groups_say_how_many_rows_lack_a_value() {
    let dropping = POLICY.replace("range = [80, 220]", "range = [80, 220]\nmissing = \"drop\"");
    let place = place(&dropping, 3000, 0.0);
    let mut lines: Vec<String> = log(3000, 0.0).lines().map(str::to_owned).collect();
    for line in lines.iter_mut().skip(1).step_by(10) {
        let comma = line.find(',').expect("a comma");
        line.replace_range(..comma, "");
    }
    place.write("log.csv", lines.join("\n") + "\n");
    let output = place.rarely(&format!("{REVIEW} --by department")).output().expect("it starts");
    let said = data(&output);
    assert!(said.contains("2,700 rows, 0 rejected, 300 left out because they lack a value"), "{said}{}", talk(&output));
    let output = place.rarely(&format!("{REVIEW} --by department --format json")).output().expect("it starts");
    let found: Value = serde_json::from_str(&data(&output)).expect("JSON");
    assert_eq!((&found["rows"], &found["rows_dropped"]), (&2700.into(), &300.into()));
}

#[test]
fn groups_are_judged_at_once_and_their_cuts_applied() {
    let place = place(POLICY, 9000, 0.0);
    let output =
        place.rarely(&format!("{REVIEW} --by department --out out --apply new.toml")).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1), "{}", talk(&output));
    let said = data(&output);
    assert!(said.contains("Change the rule of 2 groups: cardiology, renal."), "{said}");
    assert!(said.contains("3 groups with another rule to try share it by Holm's steps"), "{said}");
    assert!(said.contains("pooled gain"), "{said}");
    let page = place.text("out/review.html");
    assert!(page.contains("href=\"group-1.html\"") && page.contains("surgery"));
    assert!(place.text("out/group-1.html").contains("department cardiology"));
    let json: Value = serde_json::from_str(&place.text("out/review.json")).expect("JSON");
    assert_eq!((&json["by"], &json["rows"]), (&"department".into(), &9000.into()));
    let written = place.text("new.toml");
    assert!(written.starts_with("# the owner's comment") && written.contains("[groups]"), "{written}");
    // The new document is one with a cut for each of the two, which a review follows by itself, and finds nothing more to change.
    let shown = data(&place.done("policy show new.toml"));
    assert!(shown.contains("cardiology: watch below 13") && shown.contains("renal: watch below 13"), "{shown}");
    let differs = data(&place.done("policy diff policy.toml new.toml"));
    assert!(differs.contains("groups by department, was none"), "{differs}");
    assert!(differs.contains("cardiology: treat from 13") && differs.contains(", was 160"), "{differs}");
    let again = place.rarely("review --policy new.toml --data log.csv").output().expect("it starts");
    assert!(data(&again).contains("No group is shown to gain by a change."), "{}", data(&again));
}

#[test]
fn what_groups_cannot_have_is_refused_with_a_reason() {
    let place = place(POLICY, 60, 0.0);
    for (arguments, expected) in [
        ("--by department --save-state s.json", "cannot be saved or continued in a review of groups"),
        ("--by department --population log.csv", "a population cannot be given in a review of groups"),
        ("--by systolic", "is a feature, which has one value within a group"),
        ("--by wellbeing", "is the option or the outcome"),
        ("--by ward", "ward"),
    ] {
        let output = place.rarely(&format!("{REVIEW} {arguments}")).output().expect("it starts");
        let said = talk(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(expected) && said.contains("help: "), "{arguments}: {said}");
    }
    place.write("grouped.toml", format!("{POLICY}\n[groups]\ncolumn = \"department\"\ncuts = {{ renal = [130] }}\n"));
    for (command, expected) in [
        ("replay --policy grouped.toml --data log.csv", "the policy document has rules by group"),
        ("sums sql --policy grouped.toml --dialect duckdb --table log", "the policy document has rules by group"),
        (
            "review --policy grouped.toml --data log.csv --by sex",
            "the document has rules by \"department\", not by \"sex\"",
        ),
    ] {
        let output = place.rarely(command).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(talk(&output).contains(expected), "{command}: {}", talk(&output));
    }
}

#[test]
fn a_guardrail_is_in_the_way_of_a_harmful_change() {
    let guarded = format!("fairness = [\"sex\"]\n{POLICY}\n{GUARDED}");
    // A fifth of the people change, so that readmissions rise by a fifth of 0.5.
    let place = place(&guarded, 9000, 0.5);
    let output = place.rarely(&format!("{REVIEW} --out out")).output().expect("it starts");
    let said = data(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("Keep the rule: what gains breaks a guard-rail"), "{said}");
    assert!(said.contains("The guard-rail is broken: readmission moves by 0."), "{said}");
    assert!(place.text("out/review.html").contains("Outcomes that must not get worse"));
    place.write("log.csv", log(9000, 0.0));
    let output = place.rarely(&format!("{REVIEW} --format json")).output().expect("it starts");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["verdict"], "change");
    let mut candidates = json["candidates"].as_array().expect("a list").iter();
    assert!(candidates.any(|candidate| candidate["guardrails"][0]["holds"] == true), "{}", json["candidates"]);
    assert_eq!(json["fairness"][0]["column"], "sex");
    let output = place.rarely(REVIEW).output().expect("it starts");
    let said = data(&output);
    assert!(said.contains("Who gains, by columns that are no features") && said.contains("sex f"), "{said}");
    let output =
        place.rarely("sums sql --policy policy.toml --dialect duckdb --table log").output().expect("it starts");
    assert!(talk(&output).contains("the policy document has guard-rails"), "{}", talk(&output));
}

/// Saved statistics have the sums of guard-rails and levels.
#[test]
fn saved_statistics_keep_guardrails() {
    let guarded = format!("fairness = [\"sex\"]\n{POLICY}\n{GUARDED}");
    let place = place(&guarded, 3000, 0.0);
    let _ = place.rarely(&format!("{REVIEW} --save-state first.json")).output().expect("it starts");
    let output =
        place.rarely("review --policy policy.toml --state first.json --format json").output().expect("it starts");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", talk(&output)));
    assert_eq!(json["fairness"].as_array().map(Vec::len), Some(2));
    assert!(
        json["candidates"][0]["guardrails"][0]["evidence_words"]
            .as_str()
            .is_some_and(|words| words.contains("residual variance"))
    );
}

//! Logs with missing values and bent outcomes, as their owner meets them.

use std::fmt::Write as _;

use crate::program::{Place, data};
use crate::review_states::answer;

const POLICY: &str = r#"policy = "screening"
options = ["wait", "invite"]
option_column = "given"
outcome = { column = "benefit", range = [0, 1] }
[[features]]
column = "age"
unit = "years"
range = [40, 90]
MISSING
[[features]]
column = "sex"
levels = ["f", "m"]
missing = "level"
[evidence]
order = "any"
[rule]
threshold = { feature = "age", cuts = [], options = ["wait"] }
"#;

/// A small generator, so that the log is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A row: age, sex, option and outcome, as text; nothing where it is missing.
type Row = [String; 4];

fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut numbers = Numbers(seed);
    (0..count)
        .map(|_| {
            let age = 40.0 + 50.0 * numbers.next();
            let invited = numbers.next() < 0.5;
            // Ages are missing more often of those who were invited, and they fare worse.
            let no_age = numbers.next() < if invited { 0.3 } else { 0.1 };
            let sex = match numbers.next() {
                draw if draw < 0.4 => "f",
                draw if draw < 0.8 => "m",
                draw if draw < 0.9 => "NA",
                _ => "",
            };
            let worse = if no_age { 0.2 } else { 0.0 };
            let outcome = 0.3 + if invited { 0.2 } else { 0.0 } - worse + 0.4 * numbers.next();
            [
                if no_age { String::new() } else { format!("{age:.1}") },
                sex.to_owned(),
                if invited { "invite" } else { "wait" }.to_owned(),
                format!("{outcome:.4}"),
            ]
        })
        .collect()
}

fn csv(rows: &[Row]) -> String {
    rows.iter().fold("age,sex,given,benefit\n".to_owned(), |mut text, row| {
        let _ = writeln!(text, "{}", row.join(","));
        text
    })
}

#[test]
fn dropped_rows_are_counted_and_compared() {
    let place = Place::new();
    let rows = rows(2000, 7);
    place.write("log.csv", csv(&rows));
    place.write("policy.toml", POLICY.replace("MISSING", "missing = \"drop\""));
    let found = answer(&place, "review --policy policy.toml --data log.csv");
    let of = |keep: &dyn Fn(&&Row) -> bool| rows.iter().filter(keep).count();
    let dropped: Vec<f64> =
        rows.iter().filter(|row| row[0].is_empty()).map(|row| row[3].parse().expect("a number")).collect();
    let kept: Vec<f64> =
        rows.iter().filter(|row| !row[0].is_empty()).map(|row| row[3].parse().expect("a number")).collect();
    let missing = &found["missing"];
    assert_eq!(found["rows"], kept.len());
    assert_eq!(found["rows_rejected"], 0);
    assert_eq!(missing["dropped"], dropped.len());
    assert_eq!(missing["dropped_per_option"]["invite"], of(&|row| row[0].is_empty() && row[2] == "invite"));
    let sexes = missing["columns"].as_array().expect("columns").iter().find(|column| column["column"] == "sex");
    let sexes = sexes.expect("sex lacks values");
    // Of dropped rows too: what a row lacks is counted whatever happens to it.
    assert_eq!(sexes["rows"], of(&|row| row[1].is_empty() || row[1] == "NA"));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let variance = |values: &[f64]| {
        let mean = mean(values);
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (values.len() - 1) as f64
    };
    let error = (variance(&dropped) / dropped.len() as f64 + variance(&kept) / kept.len() as f64).sqrt();
    let (difference, expected) = (&missing["difference"], mean(&dropped) - mean(&kept));
    let near = |found: &serde_json::Value, expected: f64| (found.as_f64().expect("a number") - expected).abs() < 1e-6;
    assert!(near(&difference["estimate"], expected), "{difference} {expected}");
    assert!(near(&difference["lower"], expected - 1.959_964 * error), "{difference} {error}");
    assert!(near(&difference["upper"], expected + 1.959_964 * error), "{difference} {error}");
    let output = place.rarely("review --policy policy.toml --data log.csv --out report").output().expect("it starts");
    let (text, page) = (data(&output), place.text("report/review.html"));
    for words in ["are left out because they lack a value", "sex is missing in ", "Missing is one of its levels"] {
        assert!(text.contains(words) && page.contains(words), "{words}: {text}");
    }
}

#[test]
fn states_of_logs_that_lack_values_add_up() {
    let place = Place::new();
    for treatment in ["drop", "indicator"] {
        let (first, second) = (rows(700, 8), rows(900, 9));
        place.write("policy.toml", POLICY.replace("MISSING", &format!("missing = {treatment:?}\ncut_points = [60]")));
        place.write("first.csv", csv(&first));
        place.write("second.csv", csv(&second));
        let state = format!("{treatment}.json");
        let _ = answer(&place, &format!("review --policy policy.toml --data first.csv --save-state {state}"));
        let both = answer(&place, "review --policy policy.toml --data first.csv second.csv");
        let merged = answer(&place, &format!("review --policy policy.toml --data second.csv --state {state}"));
        for part in ["rows", "missing", "estimates"] {
            assert_eq!(both[part], merged[part], "{treatment}, {part}");
        }
        let lost = if treatment == "drop" { both["missing"]["dropped"].as_u64() } else { Some(0) };
        assert_eq!(both["rows"].as_u64().zip(lost).map(|(rows, lost)| rows + lost), Some(1600), "{treatment}");
        // A population lacks values too, and a replay drops the same rows.
        let given = answer(&place, "review --policy policy.toml --data first.csv --population second.csv");
        assert_eq!(given["rows"], answer(&place, "review --policy policy.toml --data first.csv")["rows"]);
        let replayed = place.done("replay --policy policy.toml --data first.csv --format json");
        let replayed: serde_json::Value = serde_json::from_str(&data(&replayed)).expect("JSON");
        assert_eq!(replayed["rows"], given["rows"], "{treatment}");
    }
}

#[test]
fn following_the_advice_about_a_bend_ends_it() {
    let place = Place::new();
    let mut numbers = Numbers(3);
    let mut log = "x,given,y\n".to_owned();
    for _ in 0..4000 {
        let (x, invited, noise) = (numbers.next(), numbers.next() < 0.5, numbers.next() - 0.5);
        // Invited people fare best in the middle: a straight line cannot say that.
        let y = if invited { 0.25 + 2.0 * x * (1.0 - x) } else { 0.55 } + 0.2 * noise;
        let _ = writeln!(log, "{:.4},{},{y:.4}", 10.0 * x, if invited { "invite" } else { "wait" });
    }
    place.write("log.csv", log);
    let policy = "policy = \"p\"\noptions = [\"wait\", \"invite\"]\noption_column = \"given\"\noutcome = { column = \"y\", range = [0, 1] }\n\
                  [[features]]\ncolumn = \"x\"\nrange = [0, 10]\n[evidence]\norder = \"any\"\n[rule]\n\
                  threshold = { feature = \"x\", cuts = [], options = [\"wait\"] }\n";
    place.write("policy.toml", policy);
    let text = data(&place.rarely("review --policy policy.toml --data log.csv").output().expect("it starts"));
    let advice = "two more lines in the policy document, [[features]] and square = \"x\"";
    assert!(text.contains(advice), "{text}");
    place.write("policy.toml", policy.replace("[evidence]", "[[features]]\nsquare = \"x\"\n[evidence]"));
    let output = place.rarely("review --policy policy.toml --data log.csv --out report --format json").output();
    let found: serde_json::Value = serde_json::from_str(&data(&output.expect("it starts"))).expect("JSON");
    let text = data(&place.rarely("review --policy policy.toml --data log.csv").output().expect("it starts"));
    assert!(!text.contains(advice) && !text.contains("bends"), "{text}");
    // The straight line saw no gain for anyone; the bent one finds who gains: those in the middle.
    assert_eq!(found["verdict"], "change", "{text}");
    assert!(text.contains("x squared is x²"), "{text}");
}

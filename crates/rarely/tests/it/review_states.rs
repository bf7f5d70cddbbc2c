//! Laws of `rarely review`: what must not matter (the format, the order of rows, names, units, which way is better), what must add
//! up (saved statistics), and what must never be lost (stored files).

use rarely_core::Rng;
use rarely_output::ColumnTable;
use serde_json::Value;

use crate::program::{Place, assert_snapshot_of, data, talk};

/// A rule whose cut is far from the truth's, 132.5 mmHg (see [`people`]).
pub(crate) const POLICY: &str = r#"policy = "blood-pressure"
options = ["watch", "treat"]
option_column = "treatment"
outcome = { column = "wellbeing", range = [0, 1] }

[[features]]
column = "systolic"
unit = "mmHg"
range = [80, 220]

[evidence]
noise = 0.05

[rule]
threshold = { feature = "systolic", cuts = [160], options = ["watch", "treat"] }
"#;

/// One row of a log.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) systolic: f64,
    pub(crate) treatment: &'static str,
    pub(crate) probability: f64,
    pub(crate) wellbeing: f64,
}

/// The mean outcome under an option: the two lines cross at three eighths of the range, 132.5 mmHg.
pub(crate) fn mean(treatment: &str, systolic: f64) -> f64 {
    let place = (systolic - 80.0) / 140.0;
    if treatment == "treat" { 0.55 + 0.1 * place } else { 0.7 - 0.3 * place }
}

/// People who were treated at random, with a probability that rises with their pressure.
pub(crate) fn people(rows: usize, seed: u64) -> Vec<Person> {
    let mut rng = Rng::new(seed, 0);
    let mut person = |_| {
        let systolic = (800.0 + 1400.0 * rng.uniform()).round() / 10.0;
        let chance = 0.3 + 0.4 * (systolic - 80.0) / 140.0;
        let treated = rng.uniform() < chance;
        let (treatment, probability) = if treated { ("treat", chance) } else { ("watch", 1.0 - chance) };
        let wellbeing = (mean(treatment, systolic) + 0.05 * rng.normal()).clamp(0.0, 1.0);
        Person { systolic, treatment, probability, wellbeing }
    };
    (0..rows).map(&mut person).collect()
}

/// A log of these people, with the outcome turned by `outcome`.
pub(crate) fn log_with(people: &[Person], outcome: impl Fn(f64) -> f64) -> ColumnTable {
    ColumnTable::default()
        .numbers("systolic", people.iter().map(|person| person.systolic))
        .texts("treatment", people.iter().map(|person| person.treatment))
        .numbers("probability", people.iter().map(|person| person.probability))
        .numbers("wellbeing", people.iter().map(|person| outcome(person.wellbeing)))
}

/// A log of these people.
pub(crate) fn log(people: &[Person]) -> ColumnTable {
    log_with(people, |wellbeing| wellbeing)
}

/// A folder with a document and a log.
pub(crate) fn place_with(policy: &str, people: &[Person]) -> Place {
    let place = Place::new();
    place.write("policy.toml", policy);
    place.write("log.csv", log(people).to_csv());
    place
}

/// The answer as JSON, and the exit code, which says the verdict.
pub(crate) fn answer(place: &Place, arguments: &str) -> Value {
    let output = place.rarely(&format!("{arguments} --format json")).output().expect("it starts");
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments}: {}", talk(&output)));
    assert_eq!(output.status.code(), Some(i32::from(answer["verdict"] != "keep")), "{arguments}: {answer}");
    answer
}

/// Without the numbers that rest on marks (mathematics, section 12). Marks are edges between stretches of rows, and states of logs without
/// times have other edges than one log.
fn without_marks(mut answer: Value) -> Value {
    const MARKED: [&str; 6] = [
        "angle_degrees",
        "threshold_interval",
        "max_cosine",
        "excluded_share",
        "excluded_share_after",
        "model_interval",
    ];
    fn remove(answer: &mut Value) {
        match answer {
            Value::Object(fields) => {
                fields.retain(|key, _| !MARKED.contains(&key.as_str()));
                fields.values_mut().for_each(remove);
            }
            Value::Array(parts) => parts.iter_mut().for_each(remove),
            _ => {}
        }
    }
    remove(&mut answer);
    answer
}

/// Every number within a relative tolerance, everything else equal.
fn assert_alike(one: &Value, other: &Value, tolerance: f64, what: &str) {
    match (one, other) {
        (Value::Number(first), Value::Number(second)) => {
            let (first, second) = (first.as_f64().expect("finite"), second.as_f64().expect("finite"));
            // What divides a small difference of sums magnifies their last bits.
            let magnified = what.ends_with("p_value") || what.ends_with("standard_error");
            let tolerance = if magnified { tolerance.max(1e-9) } else { tolerance };
            let room = tolerance * first.abs().max(second.abs()) + 1e-15;
            assert!((first - second).abs() <= room, "{what}: {first}, {second}");
        }
        (Value::Array(first), Value::Array(second)) => {
            assert_eq!(first.len(), second.len(), "{what}");
            for (at, (first, second)) in first.iter().zip(second).enumerate() {
                assert_alike(first, second, tolerance, &format!("{what}/{at}"));
            }
        }
        (Value::Object(first), Value::Object(second)) => {
            assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>(), "{what}");
            for (key, value) in first {
                assert_alike(value, &second[key], tolerance, &format!("{what}/{key}"));
            }
        }
        // Words around numbers that may differ in their last bits.
        _ if what.ends_with("/sentence") => {}
        _ => assert_eq!(one, other, "{what}"),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// One JSON object per line, with every digit.
fn ndjson(people: &[Person]) -> String {
    let line = |person: &Person| {
        let Person { systolic, treatment, probability, wellbeing } = person;
        format!(
            "{{\"systolic\":{systolic},\"treatment\":{treatment:?},\"probability\":{probability},\"wellbeing\":{wellbeing}}}\n"
        )
    };
    people.iter().map(line).collect()
}

#[test]
fn the_format_of_a_log_does_not_matter() {
    let people = people(1500, 1);
    let place = place_with(POLICY, &people);
    let frame = log(&people);
    place.write("log.tsv", frame.to_csv().replace(',', "\t"));
    place.write("log.parquet", frame.to_parquet().expect("a file"));
    place.write("log.ndjson", ndjson(&people));
    let bytes = |file: &str| {
        let output = place.rarely(&format!("review --policy policy.toml --data {file} --format json")).output();
        data(&output.expect("it starts"))
    };
    let csv = bytes("log.csv");
    assert!(csv.contains("\"rows\": 1500"), "{csv}");
    for file in ["log.tsv", "log.parquet", "log.ndjson"] {
        assert_eq!(bytes(file), csv, "{file}");
    }
}

/// A folder with a log in three parts, each with its saved statistics.
pub(crate) fn in_parts() -> Place {
    let people = people(2400, 2);
    let place = place_with(POLICY, &people);
    for (name, part) in [("one", &people[..500]), ("two", &people[500..600]), ("three", &people[600..])] {
        place.write(&format!("{name}.csv"), log(part).to_csv());
        let _ = answer(&place, &format!("review --policy policy.toml --data {name}.csv --save-state {name}.state"));
    }
    place
}

/// The answer from the three logs, but for what needs the rows, which saved statistics do not hold: the jump at the cut, and the errors of
/// gains.
fn whole_without_rows(place: &Place, policy: &str) -> Value {
    let mut whole = answer(place, &format!("review --policy {policy} --data one.csv two.csv three.csv"));
    let summed = answer(place, &format!("review --policy {policy} --state one.state two.state three.state"));
    let jump = &summed["checks"][4];
    assert!(whole["checks"][4]["from_rows"].is_object() && jump["from_rows"].is_null(), "{whole} {summed}");
    whole["checks"][4] = jump.clone();
    let candidates = |answer: &Value| answer["candidates"].as_array().expect("a list").clone();
    assert_eq!(candidates(&whole).len(), candidates(&summed).len());
    for (whole, summed) in candidates(&whole).iter().zip(&candidates(&summed)) {
        assert_eq!(
            (whole["method"].as_str(), summed["method"].as_str()),
            (Some("LeastSquaresHc3"), Some("LeastSquaresSums"))
        );
        assert_alike(&whole["rule"], &summed["rule"], 1e-9, "a rule");
        assert_alike(&whole["gain"]["estimate"], &summed["gain"]["estimate"], 1e-9, "a gain");
    }
    for key in ["candidates", "keeping_costs_at_most"] {
        whole[key] = summed[key].clone();
    }
    if whole["proposal"].is_object() {
        whole["proposal"]["gain"] = summed["proposal"]["gain"].clone();
    }
    without_marks(whole)
}

#[test]
fn saved_statistics_add_up() {
    let place = in_parts();
    let whole = whole_without_rows(&place, "policy.toml");
    assert_eq!(whole["rows"], 2400);
    let same = |arguments: &str| {
        let found = without_marks(answer(&place, &format!("review --policy policy.toml {arguments}")));
        assert_alike(&found, &whole, 1e-12, arguments);
    };
    same("--state one.state --data two.csv three.csv");
    same("--state three.state one.state --data two.csv");
    for order in
        ["one.state two.state three.state", "three.state two.state one.state", "two.state three.state one.state"]
    {
        same(&format!("--state {order}"));
        let name = order.replace(' ', "-");
        let output = place.done(&format!("state merge --out {name} {order}"));
        assert!(talk(&output).contains("2400 rows of 3 states"), "{}", talk(&output));
        same(&format!("--state {name}"));
    }
}

/// Month after month into one file.
#[test]
fn a_state_is_continued_in_its_own_file() {
    let place = in_parts();
    let whole = whole_without_rows(&place, "policy.toml");
    for month in ["two", "three"] {
        let _ = answer(
            &place,
            &format!("review --policy policy.toml --state one.state --data {month}.csv --save-state one.state"),
        );
    }
    let found = without_marks(answer(&place, "review --policy policy.toml --state one.state"));
    assert_alike(&found, &whole, 1e-12, "three months");
}

/// With two planned looks, the second is at twice the cases of the first. Any other is refused, and the state stays as it was.
#[test]
fn looks_are_taken_as_planned() {
    let people = people(1600, 11);
    let policy = POLICY.replace("noise = 0.05", "noise = 0.05\nstandard = { looks = 2 }");
    let place = place_with(&policy, &people);
    for (name, part) in [("one", &people[..500]), ("two", &people[500..600]), ("three", &people[600..1000])] {
        place.write(&format!("{name}.csv"), log(part).to_csv());
    }
    place.write("more.csv", log(&people[1000..]).to_csv());
    let _ = answer(&place, "review --policy policy.toml --data one.csv --save-state looks.state");
    let state = place.text("looks.state");
    let refused = |arguments: &str, words: &str| {
        let before = place.text("looks.state");
        let command = format!("review --policy policy.toml --state looks.state {arguments} --save-state looks.state");
        let output = place.rarely(&command).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
        assert!(talk(&output).contains(words), "{}", talk(&output));
        assert!(place.text("looks.state") == before);
    };
    refused("--data two.csv", "1000");
    let again = answer(&place, "review --policy policy.toml --state looks.state");
    assert_eq!((again["rows"].as_u64(), place.text("looks.state") == state), (Some(500), true));
    let second = "review --policy policy.toml --state looks.state --data two.csv three.csv --save-state looks.state";
    assert_eq!(answer(&place, second)["rows"], 1000);
    refused("--data more.csv", "1600");
}

/// The sums are about options, features and outcomes; another rule, other assumptions and another name find them as they are.
#[test]
fn a_state_serves_another_rule() {
    let place = in_parts();
    let policy = POLICY.replace("[160]", "[132]").replace("noise = 0.05", "noise = 0.06").replace("blood-", "high-");
    place.write("other.toml", policy);
    let found = without_marks(answer(&place, "review --policy other.toml --state one.state two.state three.state"));
    // What happens at the cuts was counted at the other rule's, so that there is no estimate at this one's.
    let whole = whole_without_rows(&place, "other.toml");
    assert_alike(&found, &whole, 1e-12, "another rule");
    assert_eq!(found["verdict"], "keep");
}

#[test]
fn the_order_of_rows_does_not_matter_to_the_sums() {
    let mut people = people(2000, 3);
    let place = place_with(POLICY, &people);
    let found = without_marks(answer(&place, "review --policy policy.toml --data log.csv"));
    people.sort_by(|one, other| other.wellbeing.total_cmp(&one.wellbeing));
    place.write("sorted.csv", log(&people).to_csv());
    // Which rows propose and which confirm does depend on their places.
    let sorted = without_marks(answer(&place, "review --policy policy.toml --data sorted.csv"));
    for key in ["per_option", "radius", "estimates", "boundaries", "support", "checks"] {
        assert_alike(&sorted[key], &found[key], 1e-9, key);
    }
}

#[test]
fn lower_is_better_mirrors_the_answer() {
    let people = people(2000, 4);
    let place = place_with(POLICY, &people);
    place.write("mirrored.csv", log_with(&people, |wellbeing| -wellbeing).to_csv());
    place.write("mirrored.toml", POLICY.replace("range = [0, 1]", "range = [-1, 0], better = \"lower\""));
    let found = answer(&place, "review --policy policy.toml --data log.csv");
    let mut mirrored = answer(&place, "review --policy mirrored.toml --data mirrored.csv");
    for (option, name) in [("watch", "intercept"), ("watch", "systolic"), ("treat", "intercept"), ("treat", "systolic")]
    {
        let estimate = &found["estimates"][option][name];
        assert_alike(&Value::from(-number(&mirrored["estimates"][option][name])), estimate, 1e-12, "an estimate");
    }
    mirrored["estimates"] = found["estimates"].clone();
    // Bends and jumps are of the outcome as it is logged.
    for check in mirrored["checks"].as_array_mut().expect("a list") {
        for sign in ["largest_bend", "local", "model"] {
            if let Some(value) = check.get_mut(sign) {
                *value = Value::from(-number(value));
            }
        }
        if let Some(value) = check.pointer_mut("/from_rows/bias_corrected") {
            *value = Value::from(-number(value));
        }
        for place in ["/model_interval", "/from_rows/interval"] {
            if let Some(Value::Array(ends)) = check.pointer_mut(place) {
                ends.reverse();
                for end in ends {
                    *end = Value::from(-number(end));
                }
            }
        }
    }
    assert_alike(&mirrored, &found, 1e-12, "mirrored");
    assert_eq!(found["verdict"], "change");
}

/// Other names for the options, in another order, with all that makes names hard to write.
#[test]
fn names_and_their_order_do_not_matter() {
    let people = people(2000, 5);
    let place = place_with(POLICY, &people);
    let found = answer(&place, "review --policy policy.toml --data log.csv");
    let policy = POLICY.replace("options = [\"watch\", \"treat\"]\noption", "options = [\"treat\", \"watch\"]\noption");
    let renamed = |text: &str, quotation: &str| {
        text.replace("watch", "größer = „besser“, 1").replace("treat\"", &format!("say {quotation}no{quotation}\""))
    };
    place.write("renamed.toml", renamed(&policy, "\\\""));
    let quoted = log(&people).to_csv().replace(",watch,", ",\"watch\",").replace(",treat,", ",\"treat\",");
    place.write("renamed.csv", renamed(&quoted, "\"\""));
    let output = place.rarely("review --policy renamed.toml --data renamed.csv --format json").output();
    let text = data(&output.expect("it starts")).replace("größer = „besser“, 1", "watch");
    let mut other: Value = serde_json::from_str(&text.replace("say \\\"no\\\"", "treat")).expect("JSON");
    // Lists that follow the document's order of options.
    other["boundaries"][0]["options"].as_array_mut().expect("a pair").reverse();
    other["checks"].as_array_mut().expect("a list").swap(0, 1);
    other["checks"].as_array_mut().expect("a list").swap(2, 3);
    assert_alike(&other, &found, 1e-9, "renamed");
}

/// From mmHg to kPa: cuts and slopes follow the unit, everything else stays.
#[test]
fn units_do_not_matter() {
    const KPA: f64 = 0.133_322;
    let people = people(2000, 6);
    let place = place_with(POLICY, &people);
    let scaled: Vec<Person> =
        people.iter().map(|person| Person { systolic: KPA * person.systolic, ..person.clone() }).collect();
    place.write("scaled.csv", log(&scaled).to_csv());
    let range = format!("[{}, {}]", KPA * 80.0, KPA * 220.0);
    let policy = POLICY.replace("[80, 220]", &range).replace("[160]", &format!("[{}]", KPA * 160.0));
    place.write("scaled.toml", policy.replace("mmHg", "kPa"));
    let found = answer(&place, "review --policy policy.toml --data log.csv");
    let scaled = answer(&place, "review --policy scaled.toml --data scaled.csv");
    let follows = |one: &Value, other: &Value, factor: f64, what: &str| {
        assert_alike(&Value::from(factor * number(one)), &Value::from(number(other)), 1e-9, what);
    };
    for option in ["watch", "treat"] {
        follows(&found["estimates"][option]["systolic"], &scaled["estimates"][option]["systolic"], 1.0 / KPA, "slope");
        assert_alike(
            &found["estimates"][option]["intercept"],
            &scaled["estimates"][option]["intercept"],
            1e-9,
            "intercept",
        );
    }
    let (first, second) = (&found["boundaries"][0], &scaled["boundaries"][0]);
    follows(&first["threshold"], &second["threshold"], KPA, "threshold");
    for end in 0..2 {
        follows(&first["threshold_interval"][end], &second["threshold_interval"][end], KPA, "threshold interval");
    }
    let exact = |answer: &Value| answer["proposal"]["exact_rule"]["threshold"]["cuts"][0].clone();
    follows(&exact(&found), &exact(&scaled), KPA, "exact cut");
    for same in ["radius", "max_cosine", "excluded_share", "verdict", "jointly_plausible", "per_option"] {
        assert_alike(&found[same], &scaled[same], 1e-9, same);
    }
    assert_alike(&first["angle_degrees"], &second["angle_degrees"], 1e-9, "angle");
}

/// The keys of the object that starts on the line of `name`, as they stand in indented JSON; of the whole for no name.
fn keys(text: &str, name: &str) -> Vec<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let start = if name.is_empty() { 0 } else { text.lines().position(|line| line.contains(name)).expect("the key") };
    let outer = text.lines().nth(start).map(depth).expect("a line");
    let inside = text.lines().skip(start + 1).take_while(|line| depth(line) > outer);
    let named = inside.filter(|line| depth(line) == outer + 2 && line.trim_start().starts_with('"'));
    named.map(|line| line.trim_start()[1..].split('"').next().expect("a name").to_owned()).collect()
}

/// The keys of the specification in its order, whatever the verdict, and the exit codes.
#[test]
fn an_answer_has_the_keys_that_were_promised_in_that_order() {
    let place = place_with(POLICY, &people(3000, 7));
    place.write("right.toml", POLICY.replace("[160]", "[132]"));
    place.write("few.csv", log(&people(5, 8)).to_csv());
    for (arguments, verdict) in [
        ("--policy policy.toml --data log.csv", "change"),
        ("--policy right.toml --data log.csv", "keep"),
        ("--policy policy.toml --data few.csv", "cannot tell"),
    ] {
        assert_eq!(answer(&place, &format!("review {arguments}"))["verdict"], verdict, "{arguments}");
        let output = place.rarely(&format!("review {arguments} --format json")).output().expect("it starts");
        let text = data(&output);
        let reasons = if verdict == "change" { "" } else { " reasons" };
        let promised = format!(
            "policy rows rows_rejected per_option radius error_probability estimates boundaries jointly_plausible max_cosine \
                        excluded_share verdict{reasons} candidates keeping_costs_at_most proposal stuck_options support checks"
        );
        assert_eq!(keys(&text, "").join(" "), promised, "{verdict}");
        assert_eq!(keys(&text, "\"per_option\"").join(" "), "watch treat");
        assert_eq!(keys(&text, "\"watch\": {").join(" "), "intercept systolic");
        if verdict == "change" {
            let promised = "rule exact_rule gain changed_share excluded_share_after certified_by";
            assert_eq!(keys(&text, "\"proposal\"").join(" "), promised);
            assert_eq!(keys(&text, "\"gain\"").join(" "), "estimate lower upper");
        } else {
            assert!(text.contains("\"proposal\": null"), "{text}");
        }
        let output = place.rarely(&format!("review {arguments}")).output().expect("it starts");
        assert!(data(&output).contains(&format!("Verdict: {verdict}")), "{}", data(&output));
    }
}

/// The refusal of a state, and that it leaves no file.
macro_rules! state_refused {
    ($($name:ident: $state:expr, $policy:expr;)*) => {
        $(#[test]
        fn $name() {
            let place = in_parts();
            let state: fn(&str) -> Vec<u8> = $state;
            place.write("bad.state", state(&place.text("one.state")));
            let policy: fn(&str) -> String = $policy;
            place.write("policy.toml", policy(POLICY));
            let _ = answer(&place, "review --policy policy.toml --data two.csv --save-state own.state");
            let before = place.names("");
            assert_snapshot_of!(place.rarely("review --policy policy.toml --state bad.state --data two.csv"));
            for command in [
                "review --policy policy.toml --state bad.state --data two.csv --out out --save-state new.state --apply new.toml",
                "state merge --out new.state own.state bad.state",
            ] {
                let output = place.rarely(command).output().expect("it starts");
                assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
                assert!(output.stdout.is_empty());
            }
            assert_eq!(place.names(""), before, "nothing was written");
        })*
    };
}

state_refused! {
    a_state_that_was_cut: |state| state.as_bytes()[..state.len() / 2].to_vec(), str::to_owned;
    a_state_that_is_empty: |_| Vec::new(), str::to_owned;
    a_state_that_is_a_log: |_| b"systolic,treatment\n130,watch\n".to_vec(), str::to_owned;
    a_state_that_is_not_text: |_| vec![0xff, 0xfe, 0x00], str::to_owned;
    a_state_of_another_format: |state| state.replacen("\"format\":2", "\"format\":1", 1).into_bytes(), str::to_owned;
    a_state_with_a_negative_count: |state| state.replacen("\"rejected\":0", "\"rejected\":-1", 1).into_bytes(), str::to_owned;
    a_state_of_another_unit: |state| state.as_bytes().to_vec(), |policy| policy.replace("mmHg", "kPa");
    a_state_of_another_range: |state| state.as_bytes().to_vec(), |policy| policy.replace("220", "230");
    a_state_of_another_penalty: |state| state.as_bytes().to_vec(), |policy| policy.replace("noise", "penalty = 0.1\nnoise");
    a_state_of_other_options: |state| state.as_bytes().to_vec(), |policy| policy.replacen("\"treat\"]", "\"treat\", \"operate\"]", 1);
}

#[test]
fn a_state_that_is_not_there() {
    assert_snapshot_of!(in_parts().rarely("review --policy policy.toml --state none.state"));
}

/// As with files of cases: the rows would count twice.
#[test]
fn a_state_is_given_twice() {
    let place = in_parts();
    for command in
        ["review --policy policy.toml --state one.state ./one.state", "state merge --out new.state one.state one.state"]
    {
        let output = place.rarely(command).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{command}: {}", data(&output));
        assert!(talk(&output).contains("one.state"), "{}", talk(&output));
    }
}

/// If a command that failed is run again, no row may count twice.
#[test]
fn a_command_that_could_not_run_leaves_the_state_as_it_was() {
    let place = in_parts();
    let before = place.text("one.state");
    place.write("file", "no folder");
    let output = place.rarely(
        "review --policy policy.toml --state one.state --data two.csv three.csv --save-state one.state --apply file/new.toml",
    );
    let output = { output }.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert!(place.text("one.state") == before, "the state was saved, and the command could not run");
}

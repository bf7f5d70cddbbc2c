//! Policy documents as their owner meets them: mistakes are said with line, column, value and remedy; drafts, words and differences.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::program::{Place, assert_snapshot_of, data, talk};
use crate::review_states::{POLICY as PLAN, answer, log, people};

const POLICY: &str = r#"policy = "plan"
options = ["watch", "treat"]
option_column = "treatment"
outcome = { column = "wellbeing", range = [0, 1] }

[[features]]
column = "systolic"
unit = "mmHg"
range = [80, 220]

[[features]]
column = "diabetic"
levels = ["no", "yes"]

[evidence]
noise = 0.1
penalty = 0.01

[rule]
threshold = { feature = "systolic", cuts = [140], options = ["watch", "treat"] }
"#;

/// What stands in [`POLICY`] as its rule.
const RULE: &str = "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }";

/// A mistake: what stands there, and what is written instead. `check` says it and ends with 1; what needs the document ends with 2.
macro_rules! mistaken {
    ($($name:ident: $from:expr => $to:expr;)*) => {
        $(#[test]
        fn $name() {
            let place = Place::new();
            assert!(POLICY.contains($from), "the document has it");
            place.write("plan.toml", POLICY.replacen($from, $to, 1));
            assert_snapshot_of!(place.rarely("policy check plan.toml"));
            let said = talk(&place.rarely("policy check plan.toml").output().expect("it starts"));
            place.write("log.csv", "systolic,diabetic,treatment,wellbeing\n120,no,watch,0.5\n");
            for command in ["policy show plan.toml", "review --policy plan.toml --data log.csv --out out", "replay --policy plan.toml --data log.csv"] {
                let output = place.rarely(command).output().expect("it starts");
                assert_eq!(output.status.code(), Some(2), "{command}: {}", talk(&output));
                assert_eq!(talk(&output).trim(), said.trim(), "{command}");
            }
            assert_eq!(place.names(""), ["log.csv", "plan.toml"], "nothing was written");
        })*
    };
}

mistaken! {
    a_key_is_misspelt: "outcome =" => "outcom =";
    a_key_of_a_table_is_misspelt: "penalty" => "penalti";
    a_heading_is_misspelt: "[evidence]" => "[evidense]";
    a_key_of_an_inline_table_is_misspelt: "{ column = \"wellbeing\"" => "{ colunm = \"wellbeing\"";
    a_key_stands_twice: "noise = 0.1" => "noise = 0.1\nnoise = 0.2";
    a_name_is_missing: "policy = \"plan\"\n" => "";
    a_rule_is_missing: "[rule]\n" => "";
    a_rule_is_empty: RULE => "";
    a_rule_has_two_forms: RULE => "threshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }\nlinear = {}";
    a_number_is_a_text: "noise = 0.1" => "noise = \"large\"";
    a_number_is_no_number: "noise = 0.1" => "noise = 0.1.2";
    a_text_is_not_closed: "\"plan\"" => "\"plan";
    a_list_is_a_text: "options = [\"watch\", \"treat\"]\noption" => "options = \"watch\"\noption";
    a_direction_is_unknown: "range = [0, 1] }" => "range = [0, 1], better = \"more\" }";
    a_range_is_inverted: "[80, 220]" => "[220, 80]";
    a_range_has_no_width: "[80, 220]" => "[80, 80]";
    a_range_has_one_end: "[80, 220]" => "[80]";
    a_range_is_infinite: "[80, 220]" => "[80, inf]";
    a_feature_has_neither_range_nor_levels: "range = [80, 220]\n" => "";
    a_feature_has_both: "levels = " => "range = [0, 1]\nlevels = ";
    a_feature_stands_twice: "column = \"diabetic\"" => "column = \"systolic\"";
    a_feature_is_the_outcome: "column = \"diabetic\"" => "column = \"wellbeing\"";
    a_level_stands_twice: "[\"no\", \"yes\"]" => "[\"no\", \"no\"]";
    one_level: "[\"no\", \"yes\"]" => "[\"no\"]";
    one_option: "options = [\"watch\", \"treat\"]\noption" => "options = [\"watch\"]\noption";
    an_option_stands_twice: "options = [\"watch\", \"treat\"]\noption" => "options = [\"treat\", \"treat\"]\noption";
    a_cut_is_outside_the_range: "[140]" => "[240]";
    a_cut_is_nan: "[140]" => "[nan]";
    cuts_descend: "[140]" => "[150, 140]";
    more_cuts_than_options: "[140]" => "[140, 150]";
    a_rule_of_an_unknown_feature: "feature = \"systolic\"" => "feature = \"sistolic\"";
    a_rule_of_a_feature_with_levels: "feature = \"systolic\"" => "feature = \"diabetic\"";
    a_rule_with_an_unknown_option: "\"treat\"] }" => "\"treet\"] }";
    a_rule_with_an_option_twice: "\"treat\"] }" => "\"watch\"] }";
    a_score_of_an_unknown_feature: RULE => "score = { coefficients = { weight = 1 }, cuts = [140], options = [\"watch\", \"treat\"] }";
    a_score_with_one_number_for_levels: RULE => "score = { coefficients = { diabetic = 1 }, cuts = [140], options = [\"watch\", \"treat\"] }";
    a_score_with_the_reference_level: RULE => "score = { coefficients = { diabetic = { no = 1 } }, cuts = [140], options = [\"watch\", \"treat\"] }";
    a_score_of_nothing: RULE => "score = { coefficients = {}, cuts = [140], options = [\"watch\", \"treat\"] }";
    a_linear_rule_without_an_option: RULE => "linear = { watch = { systolic = 1 } }";
    a_noise_of_nothing: "noise = 0.1" => "noise = 0";
    a_penalty_of_nothing: "penalty = 0.01" => "penalty = 0";
    an_error_probability_above_one: "penalty = 0.01" => "error_probability = 1.5";
    an_algorithm_that_holds_no_rule: "[rule]" => "[change]\nalgorithm = \"linucb\"\n[rule]";
    an_algorithm_is_unknown: "[rule]" => "[change]\nalgorithm = \"boundary\"\n[rule]";
    an_exploration_is_unknown: "[rule]" => "[change]\nexplore = \"sometimes\"\n[rule]";
    a_minimum_gain_is_negative: "[rule]" => "[change]\nminimum_gain = -1\n[rule]";
    a_standard_is_unknown: "[rule]" => "[evidence]\nstandard = \"sometimes\"\n[rule]";
    a_feature_to_forbid_is_unknown: "[rule]" => "[change]\nforbid = [\"sistolic\"]\n[rule]";
    capacities_leave_people_out: "[rule]" => "[change]\ncapacity = { watch = 0.3, treat = 0.5 }\n[rule]";
    a_cost_is_of_an_unknown_option: "[rule]" => "[change]\ncost = { wotch = 1 }\n[rule]";
    a_gain_worth_a_change_is_below_the_minimum: "[rule]" => "[change]\nminimum_gain = 0.2\nworth = 0.1\n[rule]";
}

/// The remedy is in the owner's words, not in those of the program's source.
#[test]
fn an_outcome_is_a_text() {
    let place = Place::new();
    place.write("plan.toml", POLICY.replace("{ column = \"wellbeing\", range = [0, 1] }", "\"wellbeing\""));
    let output = place.rarely("policy check plan.toml").output().expect("it starts");
    let said = talk(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("plan.toml, line 4, column 11") && said.contains("\"wellbeing\""), "{said}");
    assert!(!said.contains("struct") && !said.contains("Written"), "{said}");
}

#[test]
fn a_document_that_is_not_text() {
    let place = Place::new();
    place.write("plan.toml", b"policy = \"pl\xe4n\"\n");
    assert_snapshot_of!(place.rarely("policy check plan.toml"));
}

/// That there is no document is no answer about one.
#[test]
fn a_document_that_is_not_there() {
    assert_snapshot_of!(Place::new().rarely("policy check plan.toml"));
}

fn words(rule: &str) -> String {
    let place = Place::new();
    place.write("plan.toml", POLICY.replace(RULE, rule));
    data(&place.done("policy show plan.toml"))
}

#[test]
fn rules_in_words() {
    let mut all = words(RULE);
    for rule in [
        "threshold = { feature = \"systolic\", cuts = [], options = [\"treat\"] }",
        "threshold = { feature = \"systolic\", cuts = [131.25], options = [\"treat\", \"watch\"] }",
        "score = { coefficients = { systolic = 1.0, diabetic = { yes = 15 } }, cuts = [140], options = [\"watch\", \"treat\"] }",
        "score = { coefficients = { systolic = -0.5, diabetic = { yes = -7.5 } }, cuts = [-70], options = [\"treat\", \"watch\"] }",
        "linear = { watch = { intercept = 0.3, systolic = 0.001 }, treat = { systolic = 0.002, diabetic = { yes = -0.1 } } }",
    ] {
        all += &words(rule);
    }
    insta::assert_snapshot!(all);
}

/// The rule in words is the rule: every digit of a cut that its owner wrote.
#[test]
fn a_cut_is_said_as_it_is_written() {
    let place = Place::new();
    for cut in ["131.123456", "1234567", "1234567.5", "0.000123456789"] {
        let policy = POLICY.replace("[80, 220]", "[0, 10000000]").replace("[140]", &format!("[{cut}]"));
        place.write("plan.toml", policy);
        let text = data(&place.done("policy show plan.toml"));
        assert!(text.contains(&format!("watch below {cut} mmHg")), "{cut}: {text}");
    }
}

#[test]
fn differences_in_words() {
    let place = Place::new();
    let mut all = String::new();
    place.write("old.toml", POLICY);
    for (from, to) in [
        ("[140]", "[131]"),
        (RULE, "score = { coefficients = { systolic = 1 }, cuts = [150], options = [\"watch\", \"treat\"] }"),
        ("[80, 220]", "[80, 230]"),
        ("unit = \"mmHg\"", "unit = \"kPa\""),
        ("noise = 0.1", "noise = \"bounded\""),
        ("range = [0, 1] }", "range = [0, 1], better = \"lower\" }"),
        ("[\"no\", \"yes\"]", "[\"no\", \"type 1\", \"type 2\"]"),
        ("\"plan\"", "\"plan\""),
    ] {
        place.write("new.toml", POLICY.replacen(from, to, 1));
        let _ = writeln!(all, "{}", data(&place.done("policy diff old.toml new.toml")));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_difference_of_groups_counts_nobody() {
    let place = Place::new();
    let example = |name: &str| concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/departments/").to_owned() + name;
    let old = fs::read_to_string(example("policy.toml")).expect("a document");
    place.write("new.toml", old.replace("cuts = {}", "cuts = { \"department 03\" = [31] }"));
    place.write("old.toml", old);
    place.write("people.csv", "score\n40\n60\n");
    assert_eq!(data(&place.done("policy diff old.toml new.toml")), "department 03: admit from 31 points, was 50\n");
    let output = place.rarely("policy diff old.toml new.toml --population people.csv").output().expect("it starts");
    assert_eq!((output.status.code(), data(&output)), (Some(2), String::new()), "no share is right");
    assert!(talk(&output).contains("help: leave --population out"), "{}", talk(&output));
}

#[test]
fn a_difference_counts_the_people_who_change() {
    let place = Place::new();
    place.write("old.toml", POLICY);
    place.write("new.toml", POLICY.replace("[140]", "[131]"));
    // 131 and 139.9 change from watch to treat; 140 does not.
    place.write(
        "people.csv",
        "systolic,diabetic\n100,no\n130.9,no\n131,yes\n139.9,no\n140,no\n150,no\n160,yes\n170,no\n",
    );
    let text = data(&place.done("policy diff old.toml new.toml --population people.csv"));
    assert_eq!(text, "treat from 131 mmHg, was 140\n25.0 % of people change option\n");
}

/// A log with all that makes a draft hard: odd names, dates, an identity, nothing, one value, an option of 0 and 1.
fn odd_log() -> String {
    let mut text =
        "Patient ID,\"Alter, Jahre\",gegeben,date of visit,raucher?,leer,gleich,\"Ergebnis \"\"neu\"\" €\"\n"
            .to_owned();
    for row in 0..400 {
        let (age, smoker) = (18 + row % 71, ["ja", "nein", "früher"][row % 3]);
        let _ = writeln!(
            text,
            "p{row:05},{age},{},2026-{:02}-{:02},{smoker},,5,{}.5",
            row % 2,
            1 + row % 12,
            1 + row % 28,
            row % 40
        );
    }
    text
}

#[test]
fn a_draft_of_an_odd_log() {
    let place = Place::new();
    place.write("odd log.csv", odd_log());
    let mut command = place.rarely("policy init --option-column gegeben --from");
    command.args(["odd log.csv", "--outcome-column", "Ergebnis \"neu\" €"]);
    let output = command.output().expect("it starts");
    let draft = data(&output);
    insta::assert_snapshot!(draft);
    // It is valid as it is, and fits the file it is of.
    place.write("draft.toml", &draft);
    let _ = place.done("policy check draft.toml");
    let mut command = place.rarely("review --policy draft.toml --data");
    let output = command.arg("odd log.csv").output().expect("it starts");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", talk(&output));
}

/// A draft with the owner's rule written into it is a document like any other.
#[test]
fn a_draft_is_edited_reviewed_and_applied() {
    let place = Place::new();
    // Without the column of probabilities, which is no feature.
    let text = log(&people(3000, 41)).to_csv();
    let mut without = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').enumerate().filter(|(at, _)| *at != 2).map(|(_, cell)| cell).collect();
        without += &(cells.join(",") + "\n");
    }
    place.write("log.csv", without);
    let _ = place.done("policy init --from log.csv --name plan --out plan.toml");
    let draft = place.text("plan.toml");
    let rule = draft.lines().find(|line| line.starts_with("threshold = ")).expect("a rule");
    let own = "threshold = { feature = \"systolic\", cuts = [160], options = [\"watch\", \"treat\"] }";
    let edited = draft.replace(rule, own).replace("noise = \"bounded\"", "noise = 0.05");
    place.write("plan.toml", edited.replace("column = \"systolic\"\n", "column = \"systolic\"\nunit = \"mmHg\"\n"));
    let _ = place.done("policy check plan.toml");
    let found = answer(&place, "review --policy plan.toml --data log.csv --apply new.toml");
    assert_eq!(found["verdict"], "change");
    assert_eq!(answer(&place, "review --policy new.toml --data log.csv")["verdict"], "keep");
    let text = data(&place.done("policy diff plan.toml new.toml --population log.csv"));
    assert!(text.starts_with("treat from ") && text.contains(" mmHg, was 160\n"), "{text}");
    assert!(text.ends_with(" % of people change option\n"), "{text}");
}

/// A column with more words than a draft may name is not cut short in silence.
#[test]
fn a_draft_says_what_it_leaves_out() {
    let place = Place::new();
    let mut text = "age,treatment,outcome\n".to_owned();
    (0..3000).for_each(|row| writeln!(text, "{},option {},0.{}", 20 + row % 60, row % 300, row % 10).expect("a line"));
    place.write("log.csv", text);
    let output = place.rarely("policy init --from log.csv --option-column treatment").output().expect("it starts");
    let draft = data(&output);
    let all = draft.matches("\"option ").count() >= 300;
    assert!(all || !draft.contains("these are all that the file has"), "{}", &draft[..600]);
}

/// A draft that says it is a draft of a document must be one.
#[test]
fn a_column_with_two_roles_makes_no_draft() {
    let place = Place::new();
    place.write("log.csv", log(&people(100, 42)).to_csv());
    let output = place
        .rarely("policy init --from log.csv --option-column treatment --outcome-column treatment --out plan.toml")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert_eq!(place.names(""), ["log.csv"]);
}

#[test]
fn a_draft_cannot_guess_everything() {
    let place = Place::new();
    place.write("log.csv", "kilos,grams\n1,2\n3,4\n");
    assert_snapshot_of!(place.rarely("policy init --from log.csv"));
}

#[test]
fn a_draft_of_a_column_that_is_not_there() {
    let place = Place::new();
    place.write("log.csv", log(&people(50, 43)).to_csv());
    assert_snapshot_of!(place.rarely("policy init --from log.csv --option-column treatmnt"));
}

/// A worked example's folder.
fn example(name: &str) -> Place {
    let place = Place::new();
    for file in ["policy.toml", "log.csv"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).join(file);
        fs::copy(from, place.path(file)).expect("an example");
    }
    place
}

/// What is proposed is kept once it is in force, and the document around it is as its owner wrote it.
#[test]
fn an_applied_proposal_is_kept() {
    for name in ["clinical", "pricing"] {
        let place = example(name);
        let found = answer(&place, "review --policy policy.toml --data log.csv --apply new.toml");
        assert_eq!(found["verdict"], "change", "{name}");
        let (old, new) = (place.text("policy.toml"), place.text("new.toml"));
        let changed = old.lines().zip(new.lines()).filter(|(old, new)| old != new).count();
        assert_eq!((old.lines().count(), changed), (new.lines().count(), 1), "{new}");
        let again = answer(&place, "review --policy new.toml --data log.csv --apply newer.toml");
        assert_eq!(again["verdict"], "keep", "{name}");
        assert!(!place.path("newer.toml").exists(), "there was nothing to apply");
    }
}

/// The schema names every key that the worked examples use, and forbids others.
#[test]
fn the_schema_knows_the_examples() {
    let schema: serde_json::Value = serde_json::from_str(&data(&Place::new().done("policy schema"))).expect("JSON");
    assert_eq!(schema["additionalProperties"], false);
    for name in ["clinical", "pricing"] {
        let document: toml::Table = example(name).text("policy.toml").parse().expect("TOML");
        for key in document.keys() {
            assert!(schema["properties"].get(key).is_some(), "{key}");
        }
    }
    let required = schema["required"].as_array().expect("a list");
    assert!(["policy", "options", "outcome", "rule"].iter().all(|&key| required.iter().any(|found| found == key)));
}

/// 20 options and one feature: the sentences stay readable.
#[test]
fn many_options_do_not_drown_the_reader() {
    let place = Place::new();
    let options: Vec<String> = (0..20).map(|option| format!("\"o{option}\"")).collect();
    let list = format!("[{}]", options.join(", "));
    let policy = PLAN.replace("[\"watch\", \"treat\"]", &list);
    let cuts: Vec<String> = (1..20).map(|cut| (80 + 7 * cut).to_string()).collect();
    place.write("plan.toml", policy.replace("[160]", &format!("[{}]", cuts.join(", "))));
    let mut text = "systolic,treatment,wellbeing\n".to_owned();
    (0..400).for_each(|row| writeln!(text, "{},o{},0.{}", 80 + (row * 7) % 140, row % 20, row % 10).expect("a line"));
    place.write("log.csv", text);
    let output = place.rarely("review --policy plan.toml --data log.csv").output().expect("it starts");
    let text = data(&output);
    assert!(reasons(&text).len() <= 21, "{text}");
}

/// What follows the verdict until the next heading.
fn reasons(text: &str) -> Vec<&str> {
    text.lines().skip_while(|line| !line.starts_with("Verdict")).skip(1).take_while(|line| !line.is_empty()).collect()
}

/// Who keeps a rule with an implausible boundary is told why, by the names of the options.
#[test]
fn keeping_an_implausible_rule_has_a_reason() {
    let place = Place::new();
    place.write("log.csv", log(&people(3000, 44)).to_csv());
    place.write("plan.toml", PLAN);
    place.write("dear.toml", PLAN.replace("[rule]", "[change]\nminimum_gain = 0.5\n[rule]"));
    // Nobody whom the change would reach.
    place.write("high.csv", "systolic\n210\n");
    for arguments in ["--policy dear.toml", "--policy plan.toml --population high.csv"] {
        let output = place.rarely(&format!("review {arguments} --data log.csv")).output().expect("it starts");
        let text = data(&output);
        assert!(text.contains("Verdict: keep") && text.contains("implausible"), "{text}");
        let reasons = reasons(&text).join(" ");
        assert!(!reasons.is_empty() && !reasons.contains("arm 0"), "{arguments}: {reasons:?}");
    }
}

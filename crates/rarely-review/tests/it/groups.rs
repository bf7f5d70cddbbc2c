//! Many groups at once: wrong changes of any group are as rare as declared, and planted gains are found.

use rarely_core::{Arm, Rng};
use rarely_policy::PolicyDocument;
use rarely_review::{
    GroupEvidence, GroupTallies, GroupsFinding, GroupsJson, Tally, TallyError, TallyRow, UnusedRows, Verdict, holm,
    pool,
};

/// One number in [0, 1]; the rule in force gives "new" from one half on.
fn document(further: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"family\"\noptions = [\"old\", \"new\"]\noutcome = {{ column = \"y\", range = [-1, 2] }}\n\
         [[features]]\ncolumn = \"x\"\nrange = [0, 1]\n[evidence]\nerror_probability = 0.05\nstandard = \"once\"\n\
         [rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"old\", \"new\"] }}\n{further}\n"
    );
    let read = PolicyDocument::parse(&text, "family.toml").unwrap_or_else(|error| panic!("{error}"));
    read.grouped_by("department").expect("groups")
}

/// A row of a group.
struct Row {
    group: String,
    context: [f64; 2],
    arm: Arm,
    reward: f64,
}

/// Options by lot; `effect(group, x)` is what "new" adds.
fn rows(groups: usize, each: usize, seed: u64, effect: impl Fn(usize, f64) -> f64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 13);
    let mut row = |group: usize| {
        let (x, arm) = (rng.uniform(), rng.below(2));
        let mean = 0.3 + 0.2 * x + 0.01 * group as f64 + if arm == 1 { effect(group, x) } else { 0.0 };
        Row { group: name(group), context: [1.0, x], arm: Arm::new(arm), reward: mean + 0.2 * rng.normal() }
    };
    (0..groups * each).map(|at| row(at % groups)).collect()
}

fn name(group: usize) -> String {
    format!("d{group:02}")
}

fn evidence(document: &PolicyDocument, rows: &[Row]) -> GroupEvidence {
    let mut shares = GroupTallies::shared(document);
    shares.truncate(1);
    let tallied = |number: u64, row| -> TallyRow<'_> {
        let Row { context, arm, reward, .. }: &Row = row;
        TallyRow::new(number, context, *arm, *reward)
    };
    (0..).zip(rows).for_each(|(number, row)| shares[0].add_row(&row.group, &tallied(number, row)));
    let found =
        GroupEvidence::new(GroupTallies::joined(shares, UnusedRows::default()).expect("groups")).expect("it fits");
    let mut second = found.second_reading().expect("it fits");
    (0..).zip(rows).for_each(|(number, row)| second.add_row(&row.group, &tallied(number, row)));
    found.with_second_reading(second)
}

fn changed(document: &PolicyDocument, rows: &[Row]) -> Vec<bool> {
    let judged = evidence(document, rows).judge().expect("it runs");
    judged.iter().map(|(_, found)| found.verdict == Verdict::Change).collect()
}

/// Without an effect every change is wrong, in any of 23 groups: at most δn + 3√(δn) = 71 of 1,000 families at δ = 5 %. 330 rows give
/// each option about 110 cases that confirm, just enough for the approximate interval.
#[test]
fn wrong_changes_of_any_group_are_as_rare_as_declared() {
    let document = document("");
    let wrong = (0..1000).filter(|&seed| changed(&document, &rows(23, 330, seed, |_, _| 0.0)).contains(&true));
    let wrong = wrong.count();
    println!("{wrong} of 1000 families");
    assert!(wrong <= 71, "{wrong} of 1000 families");
}

/// Five of 23 groups gain 0.1 by giving "new" to everyone. The error of a gain is about ½·0.2·√(4/267)·√(4/3) ≈ 0.014, so that 0.1 is seven of
/// them, where the first step asks for t(1 − 0.05/46) ≈ 3.1.
#[test]
fn planted_gains_are_found_in_their_groups() {
    let document = document("");
    let effect = |group: usize, _: f64| if group.is_multiple_of(5) { 0.2 } else { 0.0 };
    let (mut found, mut wrong) = (0, 0);
    for seed in 0..20 {
        let changed = changed(&document, &rows(23, 400, seed, effect));
        for (group, changed) in changed.iter().enumerate() {
            *(if group.is_multiple_of(5) { &mut found } else { &mut wrong }) += u32::from(*changed);
        }
    }
    println!("{found} of 100 found, {wrong} wrong in 20 families");
    assert!(found >= 95, "{found} of 100");
    // One wrong change in 20 families is expected at most; four have a probability below 2 %.
    assert!(wrong <= 3, "{wrong}");
}

/// By sorting, as the paper has it.
#[test]
fn holm_s_steps_are_those_of_sorted_p_values() {
    let mut rng = Rng::new(3, 0);
    for _ in 0..2000 {
        let count = 1 + rng.below(12);
        let p: Vec<f64> = (0..count).map(|_| rng.uniform().powi(4)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
        let first = order.iter().enumerate().position(|(rank, &at)| p[at] > 0.05 / (count - rank) as f64);
        let rejected = &order[..first.unwrap_or(count)];
        let steps = holm(count, 0.05, |at, level| Ok::<bool, ()>(p[at] <= level)).unwrap();
        for (at, step) in steps.iter().enumerate() {
            assert_eq!(step.shown, rejected.contains(&at), "{p:?}");
        }
        let left = count - rejected.len();
        assert!(steps.iter().filter(|step| !step.shown).all(|step| step.level == 0.05 / left as f64));
    }
}

/// Thirteen trials of the BCG vaccine, log relative risks: `metafor` (R), `rma(method = "DL")`, has τ² = 0.3088, μ = −0.7141 with error 0.1787.
#[test]
fn pooling_gives_the_numbers_of_metafor() {
    const TRIALS: [[f64; 4]; 13] = [
        [4.0, 119.0, 11.0, 128.0],
        [6.0, 300.0, 29.0, 274.0],
        [3.0, 228.0, 11.0, 209.0],
        [62.0, 13536.0, 248.0, 12619.0],
        [33.0, 5036.0, 47.0, 5761.0],
        [180.0, 1361.0, 372.0, 1079.0],
        [8.0, 2537.0, 10.0, 619.0],
        [505.0, 87886.0, 499.0, 87892.0],
        [29.0, 7470.0, 45.0, 7232.0],
        [17.0, 1699.0, 65.0, 1600.0],
        [186.0, 50448.0, 141.0, 27197.0],
        [5.0, 2493.0, 3.0, 2338.0],
        [27.0, 16886.0, 29.0, 17825.0],
    ];
    let estimates = TRIALS.map(|[ill, well, control_ill, control_well]| {
        let (treated, control) = (ill + well, control_ill + control_well);
        let variance = 1.0 / ill - 1.0 / treated + 1.0 / control_ill - 1.0 / control;
        (((ill / treated) / (control_ill / control)).ln(), variance.sqrt())
    });
    let pooled = pool(&estimates).expect("thirteen");
    assert!((pooled.spread.powi(2) - 0.3088).abs() < 5e-5, "{}", pooled.spread.powi(2));
    assert!((pooled.mean + 0.7141).abs() < 5e-5 && (pooled.mean_error - 0.1787).abs() < 5e-5, "{pooled:?}");
    for (shrunk, (own, _)) in pooled.shrunk.iter().zip(estimates) {
        let between = (shrunk.estimate - own) * (shrunk.estimate - pooled.mean);
        assert!(between <= 0.0, "between its own estimate and the mean");
    }
    assert_eq!(pool(&estimates[..2]), None);
}

#[test]
fn a_group_is_judged_by_its_own_rule() {
    // "New" is right for everyone in d00, and from 0.8 on in d01, whose rule says so already.
    let own = document("[groups]\ncolumn = \"department\"\ncuts = { d01 = [0.8] }");
    let rows = rows(2, 3000, 4, |group, x| if group == 0 { 0.3 } else { x - 0.8 });
    let found = evidence(&own, &rows).review().expect("it runs");
    let verdicts: Vec<Verdict> = found.groups.iter().map(|group| group.review.judgement.verdict).collect();
    assert_eq!(verdicts[0], Verdict::Change);
    assert_ne!(verdicts[1], Verdict::Change);
    let findings = GroupsFinding::new(&found);
    assert_eq!(findings.groups[0].group, "d00", "those that change come first");
    assert_eq!(findings.proposed_rules().len(), 1);
    assert!(findings.groups[1].cells[3].contains("0.8"), "{:?}", findings.groups[1].cells);
    let json = serde_json::to_value(GroupsJson::new(&findings)).unwrap();
    assert_eq!((&json["verdict"], &json["groups"][0]["group"]), (&"change".into(), &"d00".into()));
    // With the same rule for both, the second changes too.
    let verdicts = changed(&document(""), &rows);
    assert_eq!(verdicts, [true, true]);
}

#[test]
fn groups_with_few_cases_say_so_and_do_not_share_the_error_probability() {
    let document = document("");
    let mut rows = rows(3, 900, 4, |group, _| if group == 0 { 0.3 } else { 0.0 });
    rows.retain({
        let mut kept = 0;
        move |row| {
            kept += usize::from(row.group == "d02");
            row.group != "d02" || kept <= 8
        }
    });
    let found = evidence(&document, &rows).review().expect("it runs");
    assert_eq!(found.tested, 2);
    let findings = GroupsFinding::new(&found);
    let few = findings.groups.iter().find(|group| group.group == "d02").unwrap();
    assert!(few.too_few);
    assert_eq!(few.cells[2], "too few cases");
    assert!(findings.sentence.contains("1 of them because there are too few cases"), "{}", findings.sentence);
}

#[test]
fn too_many_groups_are_refused() {
    let document = document("");
    let mut shares = GroupTallies::shared(&document);
    for number in 0..400_u64 {
        shares[0].add_row(&format!("person {number}"), &TallyRow::new(number, &[1.0, 0.5], Arm::new(0), 0.5));
    }
    let error = GroupTallies::joined(shares, UnusedRows::default()).expect_err("refused");
    assert_eq!(error, TallyError::TooManyGroups { column: "department".to_owned() });
    assert_eq!(error.to_string(), "the column \"department\" has more than 200 groups");
}

/// However the rows are divided among readers, the groups are the same.
#[test]
fn shared_readings_find_the_same() {
    let document = document("");
    let rows = rows(3, 500, 6, |_, _| 0.1);
    let read = |readers: usize| {
        let mut shares = vec![GroupTallies::shared(&document).remove(0); readers];
        for (number, row) in (0..).zip(&rows) {
            let place = Some(rarely_review::RowPlace { file: 0, position: number });
            let tallied = TallyRow { place, ..TallyRow::new(number, &row.context, row.arm, row.reward) };
            shares[usize::try_from(number).unwrap() / 64 % readers].add_row(&row.group, &tallied);
        }
        let found =
            GroupEvidence::new(GroupTallies::joined(shares, UnusedRows { rejected: 2, dropped: 0 }).expect("groups"))
                .expect("it fits");
        GroupsFinding::new(&found.review().expect("it runs"))
    };
    assert_eq!(read(1), read(3));
    // The sums of one group are those of a log with its rows alone.
    let mut alone = Tally::keeping_rows(&document.of_group("d01"));
    for (number, row) in (0..).zip(&rows).filter(|(_, row)| row.group == "d01") {
        alone.add(number, &row.context, row.arm, row.reward);
    }
    assert_eq!(read(1).groups.iter().find(|group| group.group == "d01").unwrap().findings.cases.rows, alone.rows());
}

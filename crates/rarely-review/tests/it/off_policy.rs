//! What rules are worth by the propensities of a log.

use rarely_core::{Arm, Interval, Rng};
use rarely_policy::PolicyDocument;
use rarely_review::{
    Check, EvidenceBase, Findings, NotWeightable, PROPENSITY_BINS, Replay, Review, ReviewJson, RuleValues, Tally,
    WeightedValue, review,
};

use crate::propensities::{Row, allowed, base_of, document, proposes, randomised, tally_of};

const NINETY_FIVE: f64 = 1.959_963_984_540_054;
const PROPENSITY: &str = "standard = \"once\"\npropensity = \"p\"";

fn reviewed(document: &PolicyDocument, rows: &[Row]) -> Review {
    let tally = tally_of(document, rows);
    review(&base_of(document, &tally, rows, None), &tally).expect("it runs")
}

fn values(document: &PolicyDocument, rows: &[Row]) -> RuleValues {
    reviewed(document, rows).off_policy.expect("propensities are declared")
}

fn close(found: Interval, [estimate, error]: [f64; 2]) {
    let half = NINETY_FIVE * error;
    let off = [found.estimate - estimate, found.lower - estimate + half, found.upper - estimate - half];
    assert!(off.iter().all(|off| off.abs() < 1e-10), "{found:?}, expected {estimate} ± {half}");
}

/// Half of 80 cases got "new" with probability ½, and 60 of 80 in all: their weights are 2. Of the 40 with "new" 30 have the outcome 1
/// and 10 the outcome 0, and "old" gives ½.
///
/// Inverse propensity of "new" for everyone: `60/80`; the terms are 2 (30 times) and 0 (50 times), with the sum of squares
/// `30·4 − 80·0.75² = 75`. Self-normalised: `60/80`; its terms are `2·(y − 0.75)`, with the sum of squares
/// `30·4·0.0625 + 10·4·0.5625 = 30`.
#[test]
fn a_log_by_hand() {
    let text = "policy = \"hand\"\noptions = [\"old\", \"new\"]\noutcome = { column = \"y\", range = [0, 1] }\n\
                [[features]]\ncolumn = \"x\"\nrange = [0, 1]\n[rule]\nthreshold = { feature = \"x\", cuts = [], options = [\"new\"] }\n";
    let document = PolicyDocument::parse(text, "hand.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut replay = Replay::new(&document, 1000).expect("it can be replayed");
    for row in 0..80_u32 {
        let arm = usize::from(row % 2 == 0);
        let reward = if arm == 0 { 0.5 } else { f64::from(u8::from(row % 8 != 0)) };
        replay.step(&[1.0, 0.5], Arm::new(arm), reward, Some(0.5), None).expect("it fits");
    }
    let held = replay.finish(None).expect("it runs").held.weighted.expect("weights");
    close(held.inverse_propensity, [0.75, (75.0_f64 / 79.0 / 80.0).sqrt()]);
    close(held.self_normalised, [0.75, (30.0_f64 / 79.0 / 80.0).sqrt()]);
    assert_eq!((held.rows, held.matching_rows, held.effective_rows, held.mean_weight), (80, 40, 40.0, 1.0));
}

/// The same from the rows: ridge regressions of the rows that propose, and terms of the others. `new_from` is where the rule starts to
/// give "new".
fn by_rows(document: &PolicyDocument, rows: &[Row], new_from: f64) -> [[f64; 2]; 3] {
    let penalty = document.evidence().penalty;
    let lines: Vec<[f64; 2]> = (0..2)
        .map(|arm| {
            let (mut a, mut b, mut c, mut u, mut v) = (penalty, 0.0, penalty, 0.0, 0.0);
            for (_, row) in (0..).zip(rows).filter(|&(number, row)| proposes(number) && row.arm == arm) {
                a += 1.0;
                b += row.x;
                c += row.x * row.x;
                u += row.reward;
                v += row.x * row.reward;
            }
            let determinant = a * c - b * b;
            [(c * u - b * v) / determinant, (a * v - b * u) / determinant]
        })
        .collect();
    let confirming: Vec<&Row> = (0..).zip(rows).filter(|&(number, _)| !proposes(number)).map(|(_, row)| row).collect();
    let count = confirming.len() as f64;
    let choice = |row: &Row| usize::from(row.x >= new_from);
    let weight = |row: &Row| if choice(row) == row.arm { 1.0 / row.propensities[row.arm] } else { 0.0 };
    let total: f64 = confirming.iter().map(|row| weight(row)).sum();
    let normalised = confirming.iter().map(|row| weight(row) * row.reward).sum::<f64>() / total;
    let predict = |row: &Row, arm: usize| (lines[arm][0] + lines[arm][1] * row.x).clamp(-1.0, 2.0);
    let mean_and_error = |term: &dyn Fn(&Row) -> f64| {
        let mean = confirming.iter().map(|row| term(row)).sum::<f64>() / count;
        let squares: f64 = confirming.iter().map(|row| (term(row) - mean) * (term(row) - mean)).sum();
        [mean, (squares / (count - 1.0) / count).sqrt()]
    };
    let [_, error] = mean_and_error(&|row| weight(row) * (row.reward - normalised) / (total / count));
    [
        mean_and_error(&|row| weight(row) * row.reward),
        [normalised, error],
        mean_and_error(&|row| predict(row, choice(row)) + weight(row) * (row.reward - predict(row, row.arm))),
    ]
}

#[test]
fn values_are_those_of_the_rows_that_confirm() {
    let document = document(PROPENSITY);
    let rows = randomised(1200, 2, |x| 0.2 + 0.5 * x, |x| 0.3 - 0.2 * x);
    let found = reviewed(&document, &rows);
    let (at, best) = found.off_policy.clone().expect("values").best.expect("a candidate");
    let new_from =
        if found.judgement.candidates[at].rule.words(&document) == ["everyone gets new"] { 0.0 } else { 2.0 };
    assert!(new_from < 1.0, "{:?}", found.judgement.candidates[at].rule);
    for (value, new_from) in [(found.off_policy.clone().expect("values").in_force, 0.5), (best, new_from)] {
        let value = value.expect("weights");
        let [inverse, normalised, doubly] = by_rows(&document, &rows, new_from);
        close(value.inverse_propensity, inverse);
        close(value.self_normalised, normalised);
        close(value.doubly_robust, doubly);
        assert!(value.effective_rows < value.matching_rows as f64 && value.effective_rows > 30.0, "{value:?}");
    }
    // Text, page and JSON lay the same findings out.
    let findings = Findings::new(&document, &found);
    let rules = &findings.off_policy.as_ref().expect("a finding").rules;
    assert_eq!([rules[0].name, rules[1].name], ["the rule in force", "the proposed rule"]);
    let json = serde_json::to_value(ReviewJson::new(&findings)).unwrap();
    let expected = found.off_policy.expect("values").in_force.expect("weights").doubly_robust.estimate;
    assert_eq!(json["off_policy"][0]["doubly_robust"]["estimate"].as_f64(), Some(expected), "{json}");
    // The cases of each option by their propensities: 0.2 to 0.7 for "new", the rest for "old".
    let bins = findings.checks.iter().find_map(|check| match &check.check {
        Check::Propensity(check) if check.option == "new" => Some(check.bins.clone()),
        _ => None,
    });
    let bins = bins.expect("a check");
    let count = |arm: usize, from: f64, to: f64| {
        let within = |row: &&Row| row.arm == arm && (from..to).contains(&row.propensities[1]);
        rows.iter().filter(within).count() as u64
    };
    for bin in 0..PROPENSITY_BINS {
        let (from, to) = (0.05 * bin as f64, 0.05 * (bin + 1) as f64);
        assert_eq!((bins.given[bin], bins.others[bin]), (count(1, from, to), count(0, from, to)), "{from}");
    }
}

#[test]
fn a_value_is_refused_with_the_reason() {
    let rows = randomised(1200, 3, |_| 0.5, |_| 0.1);
    let refusal = |document: &PolicyDocument, rows: &[Row]| values(document, rows).in_force.expect_err("a refusal");
    assert!(values(&document(PROPENSITY), &rows).in_force.is_ok());
    let clustered = document(&format!("{PROPENSITY}\ncluster = \"clinic\""));
    assert_eq!(refusal(&clustered, &rows), NotWeightable::RowsNotAlike);
    // Without a second reading.
    let plain = document(PROPENSITY);
    let tally = Tally::from_text(&tally_of(&plain, &rows).to_text().unwrap()).unwrap().revive(&plain).unwrap();
    let found = review(&EvidenceBase::of(&plain, &tally, None).unwrap(), &tally).expect("it runs");
    assert_eq!(found.off_policy.as_ref().expect("declared").in_force, Err(NotWeightable::NotReadAgain));
    let findings = Findings::new(&plain, &found);
    let sentence = &findings.off_policy.expect("declared").rules[0].sentence;
    assert!(sentence.contains("second reading") && sentence.contains("as a file"), "{sentence}");
    // Hardly anybody got what the rule wants.
    let few = randomised(1200, 4, |x| if x < 0.5 { 0.97 } else { 0.03 }, |_| 0.1);
    assert!(
        matches!(refusal(&plain, &few), NotWeightable::FewEffectiveRows { effective_rows } if effective_rows < 30.0)
    );
    // The probability of "new" in the place of that of the option given.
    let mut wrong = randomised(3000, 1, |x| 0.2 + 0.6 * x, |_| 0.1);
    for row in wrong.iter_mut().filter(|row| row.arm == 0) {
        row.propensities.swap(0, 1);
    }
    assert!(matches!(refusal(&plain, &wrong), NotWeightable::DoesNotFit { .. }));
    // Certain options, of which the rule wants others.
    let certain = randomised(1200, 5, |x| if x < 0.25 { 1.0 } else { 0.5 }, |_| 0.1);
    assert!(matches!(refusal(&plain, &certain), NotWeightable::OutOfReach { .. }));
    assert_eq!(reviewed(&document(""), &rows).off_policy, None);
}

/// Nearly everybody has the best outcome there is, and weights are large: inverse propensity goes beyond it.
#[test]
fn intervals_stay_inside_the_range_of_the_outcome() {
    let document = document(PROPENSITY);
    let mut beyond = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed, 5);
        let rows: Vec<Row> = (0..600)
            .map(|_| {
                let arm = usize::from(rng.uniform() < 0.3);
                let reward = if rng.uniform() < 0.97 { 2.0 } else { -1.0 };
                Row { propensities: vec![0.7, 0.3], ..Row::new(rng.uniform(), arm, reward) }
            })
            .collect();
        let value = values(&document, &rows).in_force.expect("weights");
        for interval in [value.inverse_propensity, value.self_normalised, value.doubly_robust] {
            assert!(-1.0 <= interval.lower && interval.lower <= interval.estimate, "{interval:?}");
            assert!(interval.estimate <= interval.upper && interval.upper <= 2.0, "{interval:?}");
        }
        let [inverse, ..] = by_rows(&document, &rows, 0.5);
        beyond += u64::from(inverse[0] + NINETY_FIVE * inverse[1] > 2.0);
    }
    assert!(beyond > 10, "{beyond} of 40 intervals would reach beyond the range");
}

/// 400 logs with a bent truth: each of the three intervals misses the value of the rule in force in about 5 %.
#[test]
fn intervals_cover_the_value_of_the_rule() {
    let document = document(PROPENSITY);
    // "new" from the middle on adds x² there: ∫x² from ½ to 1 is 7/24.
    let (logs, truth) = (400, 0.4 + 7.0 / 24.0);
    let mut misses = [0; 3];
    for seed in 0..logs {
        let rows = randomised(600, seed, |x| 0.25 + 0.5 * x, |x| x * x);
        let WeightedValue { inverse_propensity, self_normalised, doubly_robust, .. } =
            values(&document, &rows).in_force.expect("weights");
        for (misses, interval) in misses.iter_mut().zip([inverse_propensity, self_normalised, doubly_robust]) {
            *misses += u64::from(!interval.contains(truth));
        }
    }
    println!("missed {misses:?} of {logs}");
    assert!(misses.iter().all(|&misses| misses <= allowed(0.05, logs) && misses >= 5), "{misses:?} of {logs}");
}

//! The statistics of a log: corrections, another rule, saving half-way, merging.

use proptest::prelude::*;
use rarely_core::{Arm, Rng};
use rarely_policy::{PolicyDocument, UnitHash};
use rarely_review::{
    Bandwidth, EvidenceBase, Findings, Judgement, Jumps, Kernel, ReviewJson, RowPlace, Tally, TallyRow,
};

use crate::logs::{
    Row, THREE, age_and_smoker, by_lot, drawn, judged, live_sums, log, reviewed, three_features, threshold,
};

/// Written and read as a store does it.
fn saved(tally: &Tally, document: &PolicyDocument) -> Tally {
    let text = serde_json::to_string(tally).expect("a state is JSON");
    assert_eq!(text, serde_json::to_string(&tally.clone()).unwrap(), "same state, same bytes");
    let back: Tally = serde_json::from_str(&text).expect("a state comes back");
    assert_eq!(serde_json::to_string(&back).unwrap(), text, "same state, same bytes");
    assert!(Tally::from_text(&tally.to_text().unwrap()).is_ok(), "a file can be read");
    back.revive(document).expect("it is of this document")
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found} instead of {expected}");
}

/// Options' sums, statistics and jumps of two tallies agree.
#[track_caller]
fn alike(found: &Tally, expected: &Tally, document: &PolicyDocument, tolerance: f64) {
    assert_eq!(found.rows(), expected.rows());
    for (found, expected) in found.totals().iter().zip(expected.totals()) {
        let (found_base, expected_base) = (found.base(), expected.base());
        assert_eq!(found_base.1, expected_base.1, "a context is not corrected");
        found_base.2.iter().zip(&expected_base.2).for_each(|(found, expected)| close(*found, *expected, tolerance));
        match (found.curvature(), expected.curvature()) {
            (Ok(found), Ok(expected)) => close(found.residual_variance, expected.residual_variance, tolerance),
            (found, expected) => assert_eq!(found.err(), expected.err()),
        }
        assert!(found.is_sound());
    }
    let estimates = |tally: &Tally| tally.statistics(document).expect("it fits").estimates();
    let (one, other) = (estimates(found), estimates(expected));
    one.values().iter().zip(other.values()).for_each(|(found, expected)| close(*found, *expected, tolerance));
    let jump = |tally: &Tally| tally.jumps().map(|jumps| jumps.jump(0, Kernel::Triangular, Bandwidth::Given(30.0)));
    match (jump(found), jump(expected)) {
        (Some(Ok(found)), Some(Ok(expected))) => {
            close(found.estimate, expected.estimate, tolerance);
            close(found.standard_error, expected.standard_error, tolerance);
            assert_eq!(found.rows, expected.rows);
        }
        (found, expected) => assert_eq!(found, expected),
    }
    assert!(found.jumps().is_none_or(Jumps::is_sound));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Corrected sums are those of the corrected rows, whenever the correction comes.
    #[test]
    fn corrections_are_as_if_it_had_been_so_all_along(count in 1_usize..1500, share in 0.0..1.0_f64, seed: u64) {
        let document = age_and_smoker("", &threshold(60.0));
        let mut rng = Rng::new(seed, 0);
        let (mut tally, mut rows): (Tally, Vec<Row>) = (Tally::undivided(&document), Vec::new());
        let mut marks = Vec::new();
        for row in 0..count {
            let (person, arm, reward) = drawn(&mut rng);
            tally.add(row as u64, &person, arm, reward);
            rows.push((person, arm, reward));
            marks.push(tally.marks());
            if rng.uniform() < share {
                let at = rng.below(rows.len());
                let (person, arm, old) = rows[at];
                let new = 5.0 * (2.0 * rng.uniform() - 1.0);
                tally.correct(&person, arm, old, new, marks[at]);
                rows[at].2 = new;
            }
        }
        let expected = live_sums(&document, &rows);
        alike(&tally, &expected, &document, 1e-9);
        let (found, expected) = (judged(&document, &tally), judged(&document, &expected));
        prop_assert_eq!(found.verdict, expected.verdict);
        let rule = |judgement: &Judgement| judgement.proposal.as_ref().map(|proposal| proposal.rule.clone());
        prop_assert_eq!(rule(&found), rule(&expected));
        // The sums at marks are corrected too: sharp sets are the same.
        prop_assert!(tally.marks() == usize::from(count > 24) + usize::from(count > 96) + usize::from(count > 384));
        let plausible = |judgement: &Judgement| judgement.standing.boundaries[0].plausible;
        prop_assert_eq!(plausible(&found), plausible(&expected));
        for (found, expected) in found.candidates.iter().zip(&expected.candidates) {
            let (found, expected) = (found.gain.interval, expected.gain.interval);
            prop_assert!((found.lower == expected.lower) || (found.lower - expected.lower).abs() < 1e-6, "{found} {expected}");
        }
    }

    /// Saved, read and gone on with is never saved, bit for bit, also with corrections and another rule in between.
    #[test]
    fn a_tally_saved_mid_way_goes_on(
        parts in prop::collection::vec((0_usize..700, any::<bool>(), 0_usize..3), 1..5),
        seed: u64,
    ) {
        let mut document = age_and_smoker("", &threshold(60.0));
        let mut rng = Rng::new(seed, 0);
        let (mut kept, mut stored) = (Tally::undivided(&document), Tally::undivided(&document));
        let mut number = 0;
        for (rows, correct, change) in parts {
            for _ in 0..rows {
                let (person, arm, reward) = drawn(&mut rng);
                let corrected = rng.uniform();
                for tally in [&mut kept, &mut stored] {
                    tally.add(number, &person, arm, reward);
                    if correct {
                        tally.correct(&person, arm, reward, corrected, tally.marks());
                    }
                }
                number += 1;
            }
            stored = saved(&stored, &document);
            prop_assert_eq!(&stored, &kept);
            let rule = [None, Some(30.0 + 60.0 * rng.uniform()), Some(60.0)][change];
            if let Some(cut) = rule {
                let rule = document.rule().with_numbers(&[cut]);
                document = document.with_rule(rule).unwrap();
                kept.follow(&document);
                stored.follow(&document);
            }
        }
        prop_assert_eq!(serde_json::to_string(&stored).unwrap(), serde_json::to_string(&kept).unwrap());
        if number > 0 {
            prop_assert_eq!(judged(&document, &stored), judged(&document, &kept));
        }
    }
}

/// More people than the sample holds, so that who is kept is put to the test too.
#[test]
fn a_long_log_saved_mid_way_goes_on() {
    let document = age_and_smoker("", &threshold(40.0));
    let mut rng = Rng::new(5, 0);
    let (mut kept, mut stored) = (Tally::undivided(&document), Tally::undivided(&document));
    for row in 0..25_000 {
        let (person, arm, reward) = drawn(&mut rng);
        kept.add(row, &person, arm, reward);
        stored.add(row, &person, arm, reward);
        if row % 6000 == 5999 {
            stored = saved(&stored, &document);
        }
    }
    assert_eq!(stored, kept);
    assert_eq!(serde_json::to_string(&stored).unwrap(), serde_json::to_string(&kept).unwrap());
    assert_eq!(reviewed(&document, &stored), reviewed(&document, &kept));
}

/// One outcome that is corrected to and fro: every turn rounds once, by at most 1e-16 of what is recent.
#[test]
fn corrections_repeated_many_times_do_not_drift() {
    let document = age_and_smoker("", &threshold(60.0));
    let mut rng = Rng::new(2, 0);
    let mut rows: Vec<Row> = (0..2000).map(|_| drawn(&mut rng)).collect();
    let mut tally = live_sums(&document, &rows);
    for _ in 0..100_000 {
        let at = rng.below(20);
        let (person, arm, old) = rows[at];
        rows[at].2 = 10.0 * rng.uniform() - 5.0;
        tally.correct(&person, arm, old, rows[at].2, 0);
    }
    alike(&tally, &live_sums(&document, &rows), &document, 1e-9);
}

/// Where every outcome is corrected to nothing only rounding is left, which must not look like damage, also when states are merged.
#[test]
fn what_rounding_leaves_of_a_sum_of_squares_is_no_damage() {
    let document = age_and_smoker("", &threshold(50.0));
    for seed in 0..200 {
        let mut rng = Rng::new(seed, 0);
        let mut nothing = || {
            let count = 1 + rng.below(700);
            let mut tally = Tally::undivided(&document);
            let rows: Vec<Row> = (0..count).map(|_| drawn(&mut rng)).collect();
            let mut marks = Vec::new();
            for (row, (person, arm, reward)) in rows.iter().enumerate() {
                tally.add(row as u64, person, *arm, 1e3 * reward);
                marks.push(tally.marks());
            }
            for ((person, arm, reward), marks) in rows.iter().zip(marks) {
                tally.correct(person, *arm, 1e3 * reward, 0.0, marks);
            }
            tally
        };
        let (mut one, other) = (nothing(), nothing());
        one = saved(&one, &document);
        one.merge(&saved(&other, &document)).unwrap();
        one = saved(&one, &document);
        assert!(one.statistics(&document).unwrap().estimates().values().iter().all(|value| value.abs() < 1e-6));
    }
}

/// Jumps begin again at the new cut; a row from before is in everything but them.
#[test]
fn another_rule_is_followed() {
    let old = age_and_smoker("", &threshold(60.0));
    let new = old.with_rule(old.rule().with_numbers(&[40.0])).unwrap();
    let mut rng = Rng::new(3, 0);
    let early: Vec<Row> = (0..3000).map(|_| drawn(&mut rng)).collect();
    let late: Vec<Row> = (0..3000).map(|_| drawn(&mut rng)).collect();
    let mut tally = live_sums(&old, &early);
    let before = tally.clone();
    tally.follow(&old);
    assert_eq!(tally, before, "the same rule changes nothing");
    tally.follow(&new);
    assert_eq!(tally.totals(), before.totals());
    assert_eq!(tally.sample(), before.sample());
    for (row, (person, arm, reward)) in late.iter().enumerate() {
        tally.add(3000 + row as u64, person, *arm, *reward);
    }
    assert!(tally.jumps() == live_sums(&new, &late).jumps());
    let all: Vec<Row> = early.iter().chain(&late).copied().collect();
    assert_eq!(tally.totals(), live_sums(&new, &all).totals());

    let (person, arm, reward) = early[7];
    let jumps = tally.jumps().cloned();
    tally.correct_earlier(&person, arm, reward, 1.0, 0);
    assert!(tally.jumps().cloned() == jumps);
    assert!(tally.totals() != live_sums(&new, &all).totals());
    // Outcomes are summed at the cuts for those who got what the rule gives.
    let as_given = |(person, arm, _): &&Row| arm.index() == usize::from(person[1] >= 0.4);
    let (person, arm, reward) = *late.iter().find(as_given).unwrap();
    tally.correct(&person, arm, reward, 1.0, tally.marks());
    assert!(tally.jumps().cloned() != jumps);

    let linear = "linear = { wait = { intercept = 0.6 }, treat = { age = 0.01 } }";
    let linear = age_and_smoker("", linear);
    tally.follow(&linear);
    assert!(tally.jumps().is_some_and(|jumps| jumps.cuts().len() == 1), "two options have a boundary");
    let everyone = age_and_smoker("", "threshold = { feature = \"age\", cuts = [], options = [\"wait\"] }");
    tally.follow(&everyone);
    assert!(tally.jumps().is_none());
    assert_eq!(saved(&tally, &everyone), tally);
}

#[test]
#[should_panic(expected = "the sums are of this document but for its rule")]
fn a_rule_of_another_document_is_not_followed() {
    let mut tally = Tally::undivided(&age_and_smoker("", &threshold(60.0)));
    let text = "policy = \"p\"\noptions = [\"a\", \"b\"]\noutcome = { column = \"y\", range = [0, 1] }\n\
                rule = { score = { coefficients = {}, cuts = [], options = [\"b\"] } }\n";
    tally.follow(&PolicyDocument::parse(text, "other.toml").unwrap());
}

/// Two states give what one pass gives, also when they are saved in between: but for what rests on marks, which are edges of other
/// stretches.
#[test]
fn states_merge() {
    let document = three_features(
        THREE,
        "",
        "threshold = { feature = \"age\", cuts = [40, 60], options = [\"low\", \"middle\", \"high\"] }",
    );
    let means = [[0.5, 0.0, 0.0, 0.1], [0.2, 0.5, 0.5, 0.0], [-0.6, 1.0, 1.0, 0.0]];
    let (first, second) = (log(&document, 7000, 8, &means, by_lot(3)), log(&document, 9000, 9, &means, by_lot(3)));
    let mut one_pass = Tally::new(&document);
    for (rows, seed) in [(7000, 8), (9000, 9)] {
        let mut rng = Rng::new(seed, 0);
        for row in 0..rows {
            let person = [1.0, rng.uniform(), rng.uniform(), f64::from(rng.uniform() < 0.3)];
            let arm = rng.below(3);
            let mean: f64 = person.iter().zip(means[arm]).map(|(x, y)| x * y).sum();
            one_pass.add(row, &person, Arm::new(arm), mean + 0.1 * rng.normal());
        }
    }
    let saved =
        |tally: &Tally| -> Tally { Tally::from_text(&tally.to_text().unwrap()).unwrap().revive(&document).unwrap() };
    let mut merged = saved(&second);
    merged.merge(&saved(&first)).unwrap();
    assert_eq!(merged.sample(), one_pass.sample());
    assert!(matches!(merged.merge(&first), Err(rarely_review::TallyError::Twice { rows: 7000 })));
    assert!(one_pass.check_sources().is_ok());
    let answer = |tally: &Tally| {
        let mut answer =
            serde_json::to_value(ReviewJson::new(&Findings::new(&document, &reviewed(&document, tally)))).unwrap();
        without_sharp_numbers(&mut answer);
        answer
    };
    assert_same(&answer(&merged), &answer(&one_pass), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the rows of a reading are shared out, the statistics are the same bit for bit, and so is every word of the review.
    #[test]
    fn shares_join_into_one_reading(
        files in prop::collection::vec(1_usize..9000, 1..4),
        shares in 2_usize..5,
        block in 1_usize..700,
        seed: u64,
    ) {
        let document = age_and_smoker("", &threshold(55.0));
        let mut rng = Rng::new(seed, 0);
        let (mut alone, mut parts) = (Tally::keeping_rows(&document), vec![Tally::keeping_rows(&document); shares]);
        let (mut position, mut part) = (0, 0);
        for (file, &rows) in files.iter().enumerate() {
            for number in 0..rows as u64 {
                let (person, arm, reward) = drawn(&mut rng);
                let place = Some(RowPlace { file, position });
                let row = TallyRow { place, ..TallyRow::new(number, &person, arm, reward) };
                alone.add_row(&row);
                if position % block as u64 == 0 {
                    part = rng.below(shares);
                }
                parts[part].add_row(&row);
                position += 1;
            }
        }
        let joined = Tally::joined(parts, 3).expect("different logs");
        alone.reject(3);
        prop_assert_eq!(joined.to_text().unwrap(), alone.to_text().unwrap());
        let words = |tally: &Tally| {
            serde_json::to_string(&ReviewJson::new(&Findings::new(&document, &reviewed(&document, tally)))).unwrap()
        };
        prop_assert_eq!(words(&joined), words(&alone));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Where rows have keys and times, neither their order nor their numbers nor their files matter.
    #[test]
    fn rows_with_keys_and_times_may_come_in_any_order(rows in 300_usize..6000, days in 1_usize..4000, logs in 1_usize..4, seed: u64) {
        let document = age_and_smoker("key = \"case\"\ntime = \"day\"\norder = \"any\"", &threshold(55.0));
        let mut rng = Rng::new(seed, 0);
        let drawn: Vec<_> = (0..rows)
            .map(|row| {
                let day = i64::try_from(rng.below(days)).expect("a few thousand");
                (UnitHash::of(&row.to_string()), day * 86_400 - 1_000_000, drawn(&mut rng))
            })
            .collect();
        let row = |number: u64, at: usize| {
            let (key, seconds, (person, arm, reward)) = &drawn[at];
            TallyRow { key: Some(*key), seconds: Some(*seconds), ..TallyRow::new(number, person, *arm, *reward) }
        };
        let mut in_order = Tally::keeping_rows(&document);
        (0..rows).for_each(|at| in_order.add_row(&row(at as u64, at)));
        let mut shuffled: Vec<usize> = (0..rows).collect();
        (1..rows).for_each(|at| shuffled.swap(at, rng.below(at + 1)));
        let mut merged = Tally::keeping_rows(&document);
        for part in shuffled.chunks(rows.div_ceil(logs)) {
            let mut log = Tally::keeping_rows(&document);
            (0..).zip(part).for_each(|(number, &at)| log.add_row(&row(number, at)));
            merged.merge(&log).unwrap();
        }
        let words = |tally: &Tally| {
            serde_json::to_string(&ReviewJson::new(&Findings::new(&document, &reviewed(&document, tally)))).unwrap()
        };
        prop_assert_eq!(words(&merged), words(&in_order));
    }
}

#[test]
fn a_key_that_does_not_tell_rows_apart_is_refused() {
    let document = age_and_smoker("key = \"case\"", &threshold(55.0));
    let (mut rng, mut tally) = (Rng::new(1, 0), Tally::new(&document));
    for row in 0..1000 {
        let (person, arm, reward) = drawn(&mut rng);
        let key = Some(UnitHash::of(&(row % 990).to_string()));
        tally.add_row(&TallyRow { key, ..TallyRow::new(row, &person, arm, reward) });
    }
    let error = EvidenceBase::of(&document, &tally, None).expect_err("ten keys are there twice");
    assert_eq!(
        error.to_string(),
        "the key \"case\" does not tell rows apart: 1.0% of the rows in a sample have the key of another"
    );
}

fn without_sharp_numbers(answer: &mut serde_json::Value) {
    use serde_json::Value;
    let sharp = [
        "angle_degrees",
        "threshold_interval",
        "max_cosine",
        "excluded_share",
        "excluded_share_after",
        "model_interval",
    ];
    match answer {
        Value::Object(fields) => {
            fields.retain(|key, _| !sharp.contains(&key.as_str()));
            fields.values_mut().for_each(without_sharp_numbers);
        }
        Value::Array(parts) => parts.iter_mut().for_each(without_sharp_numbers),
        _ => {}
    }
}

fn assert_same(one: &serde_json::Value, other: &serde_json::Value, at: &str) {
    use serde_json::Value;
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{at}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(i, (a, b))| assert_same(a, b, &format!("{at}[{i}]")));
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().for_each(|(key, a)| assert_same(a, &b[key], &format!("{at}.{key}")));
        }
        _ => assert_eq!(one, other, "{at}"),
    }
}

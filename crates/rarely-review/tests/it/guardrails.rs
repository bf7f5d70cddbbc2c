//! Outcomes that must not get worse, and what a change does for whom.

use rarely_core::{Arm, Rng};
use rarely_error::Explain as _;
use rarely_policy::PolicyDocument;
use rarely_review::{
    EvidenceBase, Findings, Judgement, Replay, Review, Tally, TallyRow, Verdict, VerdictReason, review,
};

/// The margin of the guard-rail.
const MARGIN: f64 = 0.05;

/// One number in [0, 1]; the rule in force gives "new" from one half on. The guard-rail must not rise.
fn document(evidence: &str, further: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"guarded\"\noptions = [\"old\", \"new\"]\noutcome = {{ column = \"y\", range = [-1, 2] }}\n{further}\n\
         [[features]]\ncolumn = \"x\"\nrange = [0, 1]\n[evidence]\nerror_probability = 0.05\n{evidence}\n\
         [rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"old\", \"new\"] }}\n\
         [[guardrails]]\noutcome = {{ column = \"stay\", range = [-2, 3] }}\nworse = \"higher\"\nmargin = {MARGIN}\n"
    );
    PolicyDocument::parse(&text, "guarded.toml").unwrap_or_else(|error| panic!("{error}"))
}

struct Row {
    context: [f64; 2],
    arm: Arm,
    reward: f64,
    guardrails: [f64; 1],
    levels: [String; 1],
    cluster: Option<u64>,
}

impl Row {
    fn tallied(&self, number: u64) -> TallyRow<'_> {
        TallyRow {
            guardrails: &self.guardrails,
            levels: &self.levels,
            cluster: self.cluster,
            ..TallyRow::new(number, &self.context, self.arm, self.reward)
        }
    }
}

/// Options by lot. "New" adds `effect` to the outcome and `harm` to the guard-rail.
fn rows(count: usize, seed: u64, effect: f64, harm: f64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 11);
    let mut row = || {
        let (x, arm) = (rng.uniform(), rng.below(2));
        let given = arm as f64;
        Row {
            context: [1.0, x],
            arm: Arm::new(arm),
            reward: 0.3 + 0.2 * x + effect * given + 0.2 * rng.normal(),
            // In the good direction.
            guardrails: [-(0.4 + 0.1 * x + harm * given + 0.2 * rng.normal())],
            levels: [["men", "women"][rng.below(2)].to_owned()],
            cluster: None,
        }
    };
    (0..count).map(|_| row()).collect()
}

fn tallied(document: &PolicyDocument, rows: &[Row]) -> Tally {
    let mut tally = Tally::new(document);
    (0..).zip(rows).for_each(|(number, row)| tally.add_row(&row.tallied(number)));
    tally
}

fn reviewed(document: &PolicyDocument, rows: &[Row]) -> Review {
    let tally = tallied(document, rows);
    let base = EvidenceBase::of(document, &tally, None).expect("it fits");
    let mut second = base.second_reading().expect("rows are divided");
    (0..).zip(rows).for_each(|(number, row)| second.add_row(&row.tallied(number)));
    review(&base.with_second_reading(second), &tally).expect("it runs")
}

fn judged(document: &PolicyDocument, rows: &[Row]) -> Judgement {
    let tally = tallied(document, rows);
    let base = EvidenceBase::of(document, &tally, None).expect("it fits");
    let mut second = base.second_reading().expect("rows are divided");
    (0..).zip(rows).for_each(|(number, row)| second.add_row(&row.tallied(number)));
    rarely_review::examine(&base.with_second_reading(second), &tally).expect("it runs")
}

/// The main outcome gains so much that only the guard-rail can be in the way; "new" for everyone harms by exactly the margin, the hardest case.
/// At most δn + 3√(δn) = 71 of 1,000 at δ = 5 %.
#[test]
fn a_change_that_breaks_a_guardrail_is_as_rare_as_declared() {
    let document = document("standard = \"once\"", "");
    let harm = 2.0 * MARGIN;
    let broken = (0..1000).filter(|&seed| {
        let found = judged(&document, &rows(700, seed, 0.5, harm));
        // The gain is an average over the people of the log, so that the harm is that of those who change.
        found.proposal.is_some_and(|proposal| harm * proposal.certificate.gain.changed_share >= MARGIN)
    });
    let broken = broken.count();
    println!("{broken} of 1000");
    assert!(broken <= 71, "{broken} of 1000");
}

/// Without harm the guard-rail is shown to hold: its error is about 0.2·√(4/2000)·½·√(4/3) < 0.006, an eighth of the margin.
#[test]
fn a_harmless_change_is_proposed() {
    let document = document("standard = \"once\"", "");
    let found = (0..50).filter(|&seed| judged(&document, &rows(3000, seed, 0.5, 0.0)).verdict == Verdict::Change);
    let found = found.count();
    assert!(found >= 48, "{found} of 50");
}

#[test]
fn a_broken_guardrail_keeps_the_rule_and_an_open_one_cannot_tell() {
    let document = document("", "");
    let found = reviewed(&document, &rows(4000, 1, 0.5, 0.5));
    assert_eq!(found.judgement.verdict, Verdict::Keep);
    let [VerdictReason::Guardrail { guardrail, gain }, VerdictReason::NothingToGain { .. }] =
        found.judgement.reasons.as_slice()
    else {
        panic!("{:?}", found.judgement.reasons)
    };
    assert!(guardrail.is_broken() && gain.lower > 0.0);
    let said = Findings::new(&document, &found).verdict;
    assert!(said.sentence.starts_with("Keep the rule: what gains breaks a guard-rail"), "{}", said.sentence);
    let reason = &said.reasons[0].sentence;
    assert!(reason.contains("but a guard-rail is in the way. With it stay moves by 0.2"), "{reason}");
    assert!(reason.ends_with("per case, and may rise by 0.05."), "{reason}");
    let found = reviewed(&document, &rows(1500, 1, 0.5, 0.08));
    assert_eq!(found.judgement.verdict, Verdict::CannotTell);
    let reason = &Findings::new(&document, &found).verdict.reasons[0].sentence;
    assert!(reason.contains("but a guard-rail is not shown to hold: it may rise by 0.0"), "{reason}");
}

/// A guard-rail that is the outcome itself moves as the outcome does, with the same error, as long as nobody shares the error probability.
#[test]
fn a_guardrail_has_the_interval_of_an_outcome() {
    for (evidence, clusters) in [("standard = \"once\"", false), ("standard = \"once\"\ncluster = \"c\"", true)] {
        let document = document(evidence, "");
        let mut rows = rows(2400, 5, 0.5, 0.0);
        for (number, row) in (0..).zip(&mut rows) {
            row.guardrails = [row.reward];
            row.cluster = clusters.then_some(number / 8);
        }
        for candidate in judged(&document, &rows).candidates {
            let (gain, guarded) = (candidate.gain, candidate.guardrails[0].gain);
            assert_eq!(gain.method, guarded.method);
            let close = |one: f64, other: f64| (one - other).abs() < 1e-6;
            assert!(close(gain.interval.estimate, guarded.interval.estimate), "{gain:?} {guarded:?}");
            assert!(close(gain.standard_error.unwrap(), guarded.standard_error.unwrap()), "{gain:?} {guarded:?}");
            assert!(guarded.interval.lower <= gain.interval.lower + 1e-6, "the candidates share the error probability");
        }
    }
}

/// Where rows are not divided, sets judge guard-rails too. They take the noise of a guard-rail to be half of its range, so that the interval of a
/// harmless change is wider than the margin with these rows.
#[test]
fn sets_judge_guardrails_of_an_adaptive_log() {
    let document = document("design = \"adaptive\"", "");
    for (harm, verdict) in [(0.0, Verdict::CannotTell), (1.0, Verdict::Keep)] {
        let rows = rows(60_000, 3, 0.5, harm);
        let tally = tallied(&document, &rows);
        let base = EvidenceBase::of(&document, &tally, None).expect("it fits");
        let found = rarely_review::examine(&base, &tally).expect("it runs");
        assert_eq!(found.verdict, verdict, "{:?}", found.candidates[0].guardrails);
        assert!(matches!(found.reasons[0], VerdictReason::Guardrail { .. }), "{:?}", found.reasons);
        let interval = found.candidates[0].guardrails[0].gain.interval;
        assert!(interval.contains(-harm * found.candidates[0].changed_share), "{interval:?}");
    }
}

#[test]
fn states_with_guardrails_and_levels_merge_into_one_pass() {
    let document = document("order = \"any\"", "fairness = [\"sex\"]");
    let all = rows(900, 8, 0.5, 0.02);
    let whole = tallied(&document, &all);
    let saved = |from: usize, to: usize| {
        let mut tally = Tally::new(&document);
        (0..).zip(&all[..]).skip(from).take(to - from).for_each(|(number, row)| tally.add_row(&row.tallied(number)));
        Tally::from_text(&tally.to_text().unwrap()).unwrap()
    };
    let mut merged = saved(0, 400);
    merged.merge(&saved(400, 900)).unwrap();
    let merged = merged.revive(&document).unwrap();
    let examined = |tally: &Tally| {
        let base = EvidenceBase::of(&document, tally, None).expect("it fits");
        review(&base, tally).expect("it runs")
    };
    let (merged, whole) = (examined(&merged), examined(&whole));
    assert_eq!(merged.judgement.candidates, whole.judgement.candidates);
    assert_eq!(merged.fairness, whole.fairness);
    assert_eq!(merged.fairness.len(), 2);
}

/// "New" helps men by 0.8 and harms women by 0.2: half of the people change, so that they gain 0.4 and −0.1.
#[test]
fn gains_by_a_fairness_column_are_those_of_its_people() {
    let document = document("standard = \"once\"", "fairness = [\"sex\"]");
    let mut inside = 0;
    for seed in 0..40 {
        let mut rows = rows(2000, seed, 0.0, 0.0);
        for row in &mut rows {
            let effect = if row.levels[0] == "men" { 0.8 } else { -0.2 };
            row.reward += effect * row.arm.index() as f64;
        }
        let found = reviewed(&document, &rows);
        for (level, truth) in found.fairness.iter().zip([0.8, -0.2]) {
            let share = level.changed as f64 / level.people as f64;
            assert!((share - 0.5).abs() < 0.1, "{level:?}");
            assert_eq!(level.before.iter().sum::<usize>(), level.people);
            inside += u32::from(level.gain.interval.contains(truth * share));
        }
        assert_eq!([&found.fairness[0].level, &found.fairness[1].level], ["men", "women"]);
    }
    // 80 intervals at 95 %: 76 expected, a standard deviation of 2.
    assert!(inside >= 70, "{inside} of 80");
}

#[test]
fn a_fairness_column_with_too_many_values_is_refused() {
    let document = document("", "fairness = [\"sex\"]");
    let mut rows = rows(100, 1, 0.5, 0.0);
    (0..).zip(&mut rows).for_each(|(number, row): (u32, _)| row.levels = [format!("person {number}")]);
    let tally = tallied(&document, &rows);
    let error = EvidenceBase::of(&document, &tally, None).expect_err("refused");
    assert_eq!(error.to_string(), "the fairness column \"sex\" has more than 20 values");
    assert!(error.remedy().is_some());
}

#[test]
fn a_replay_refuses_what_it_would_ignore() {
    let error = Replay::new(&document("", ""), 100).expect_err("refused");
    assert!(error.to_string().contains("has guard-rails"), "{error}");
    assert!(error.remedy().unwrap().to_string().contains("without guard-rails"));
}

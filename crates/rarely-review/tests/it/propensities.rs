//! Clusters, weights and propensities of a log.

use rarely_core::{Arm, Context, Rng, Rule};
use rarely_policy::{PolicyDocument, WrittenRule};
use rarely_review::{
    CandidateKind, Check, Demotion, EvidenceBase, Findings, Judgement, PropensityWarning, ReviewJson, Tally, TallyRow,
    Verdict, VerdictReason, examine, review,
};

/// A row with everything that a log can say of it.
pub(crate) struct Row {
    pub(crate) x: f64,
    pub(crate) arm: usize,
    pub(crate) reward: f64,
    pub(crate) weight: f64,
    pub(crate) cluster: Option<u64>,
    pub(crate) propensities: Vec<f64>,
}

impl Row {
    pub(crate) fn new(x: f64, arm: usize, reward: f64) -> Self {
        Self { x, arm, reward, weight: 1.0, cluster: None, propensities: Vec::new() }
    }

    /// Passes it to `take` under its number.
    fn pass(&self, number: u64, take: impl FnOnce(&TallyRow<'_>)) {
        take(&TallyRow {
            weight: self.weight,
            cluster: self.cluster,
            propensities: &self.propensities,
            ..TallyRow::new(number, &[1.0, self.x], Arm::new(self.arm), self.reward)
        });
    }
}

/// Two options, one number in [0, 1], outcomes in [−1, 2]; the rule in force gives "new" from the middle on.
pub(crate) fn document(evidence: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"planted\"\noptions = [\"old\", \"new\"]\noutcome = {{ column = \"y\", range = [-1, 2] }}\n\
         [[features]]\ncolumn = \"x\"\nrange = [0, 1]\n[evidence]\nerror_probability = 0.05\norder = \"any\"\n{evidence}\n\
         [rule]\nthreshold = {{ feature = \"x\", cuts = [0.5], options = [\"old\", \"new\"] }}\n"
    );
    PolicyDocument::parse(&text, "planted.toml").unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn tally_of(document: &PolicyDocument, rows: &[Row]) -> Tally {
    let mut tally = Tally::new(document);
    for (number, row) in (0..).zip(rows) {
        row.pass(number, |row| tally.add_row(row));
    }
    tally
}

pub(crate) fn base_of<'a>(
    document: &'a PolicyDocument,
    tally: &Tally,
    rows: &[Row],
    people: Option<Vec<f64>>,
) -> EvidenceBase<'a> {
    let base = EvidenceBase::of(document, tally, people).expect("it fits");
    let mut second = base.second_reading().expect("rows are divided");
    for (number, row) in (0..).zip(rows) {
        row.pass(number, |row| second.add_row(row));
    }
    base.with_second_reading(second)
}

pub(crate) fn judge(document: &PolicyDocument, rows: &[Row]) -> Judgement {
    let tally = tally_of(document, rows);
    examine(&base_of(document, &tally, rows, None), &tally).expect("it runs")
}

/// δn + 3√(δn).
pub(crate) fn allowed(delta: f64, logs: u64) -> u64 {
    let expected = delta * logs as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let allowed = (expected + 3.0 * expected.sqrt()) as u64;
    allowed
}

/// The part that a row belongs to, written down once more.
pub(crate) fn proposes(unit: u64) -> bool {
    let value = unit ^ 0x5bd1_e995_9d1c_3f6b;
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (value ^ (value >> 31)).is_multiple_of(3)
}

/// Weighted least squares of one option and the HC3 variance of `gᵀβ`: `β = GΣw·s·y`, `G = (Σw·ssᵀ)⁻¹`,
/// `Σ(w·sᵀGg)²e²/(1 − w·sᵀGs)²`.
fn weighted(rows: &[&Row], g: [f64; 2]) -> (f64, f64) {
    let (mut a, mut b, mut c, mut u, mut v) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for row in rows {
        a += row.weight;
        b += row.weight * row.x;
        c += row.weight * row.x * row.x;
        u += row.weight * row.reward;
        v += row.weight * row.x * row.reward;
    }
    let determinant = a * c - b * b;
    let solve = |p: f64, q: f64| [(c * p - b * q) / determinant, (a * q - b * p) / determinant];
    let (beta, direction) = (solve(u, v), solve(g[0], g[1]));
    let variance = rows.iter().map(|row| {
        let residual = row.reward - beta[0] - beta[1] * row.x;
        let [p, q] = solve(1.0, row.x);
        let leverage = row.weight * (p + q * row.x);
        let score = row.weight * (direction[0] + direction[1] * row.x) * residual / (1.0 - leverage);
        score * score
    });
    (g[0] * beta[0] + g[1] * beta[1], variance.sum())
}

#[test]
fn weights_are_those_of_weighted_least_squares_with_hc3_errors() {
    let document = document("standard = \"once\"\nweight = \"w\"");
    let mut rng = Rng::new(4, 0);
    let rows: Vec<Row> = (0..900)
        .map(|at| {
            let (x, arm) = (rng.uniform(), rng.below(2));
            let reward = 0.2 + 0.3 * x * x + 0.4 * arm as f64 + (0.1 + 0.2 * x) * rng.normal();
            Row { weight: [1e-3, 2e-3, 5e-3][at % 3], ..Row::new(x, arm, reward) }
        })
        .collect();
    let people: Vec<f64> = (0..10).flat_map(|at| [1.0, f64::from(at) / 10.0]).collect();
    let tally = tally_of(&document, &rows);
    let base = base_of(&document, &tally, &rows, Some(people));
    let found = examine(&base, &tally).expect("it runs");
    let constant = found.candidates.iter().find(|candidate| candidate.kind == CandidateKind::Constant).expect("one");
    // "new" for everyone: the five people below the middle change.
    let g = [0.5, (0..5).map(|at| f64::from(at) / 100.0).sum::<f64>()];
    let part = |arm: usize| -> Vec<&Row> {
        let numbered = (0..).zip(&rows).filter(|&(number, row)| !proposes(number) && row.arm == arm);
        numbered.map(|(_, row)| row).collect()
    };
    let (new, old) = (weighted(&part(1), g), weighted(&part(0), g));
    let (estimate, error) = (new.0 - old.0, (new.1 + old.1).sqrt());
    assert!((constant.gain.interval.estimate - estimate).abs() < 1e-8, "{:?} {estimate}", constant.gain);
    assert!((constant.gain.standard_error.unwrap() - error).abs() < 1e-8, "{:?} {error}", constant.gain);
    assert_eq!(found.verdict, Verdict::Change);
    // Weights have no unit. A power of two rounds nothing.
    let heavier: Vec<Row> =
        rows.iter().map(|row| Row { weight: 8.0 * row.weight, ..Row::new(row.x, row.arm, row.reward) }).collect();
    let again = judge(&document, &heavier);
    let first = judge(&document, &rows);
    let (again, first) = (again.candidates[0].gain.interval, first.candidates[0].gain.interval);
    assert!((again.lower - first.lower).abs() < 1e-9 && (again.upper - first.upper).abs() < 1e-9);
}

#[test]
fn people_count_by_their_weights() {
    let document = document("weight = \"w\"");
    // A quarter of the rows has three quarters of the weight; in the larger log a sample stands for all of them.
    for count in [400, 40_000] {
        let mut rng = Rng::new(1, 1);
        let rows: Vec<Row> = (0..count)
            .map(|at| {
                let heavy = at % 4 == 0;
                let x = if heavy { 0.9 } else { 0.1 };
                Row { weight: if heavy { 9e-7 } else { 1e-7 }, ..Row::new(x, rng.below(2), rng.uniform()) }
            })
            .collect();
        let people = tally_of(&document, &rows).sample().contexts();
        let share = people.chunks_exact(2).filter(|person| person[1] > 0.5).count() as f64 / (people.len() / 2) as f64;
        // √(¾·¼/10,000) is 0.43 %.
        assert!((share - 0.75).abs() < 0.02, "{count}: {share}");
    }
}

/// Options by cluster, outcomes that differ between clusters and not between options.
fn clustered(seed: u64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 21);
    let effects: Vec<f64> = (0..60).map(|_| 0.3 * rng.normal()).collect();
    (0..900)
        .map(|at| {
            let cluster = at % 60;
            let reward = (0.5 + effects[cluster] + 0.3 * rng.normal()).clamp(-1.0, 2.0);
            Row { cluster: Some(7919 * cluster as u64), ..Row::new(rng.uniform(), cluster % 2, reward) }
        })
        .collect()
}

#[test]
fn clusters_make_wrong_changes_as_rare_as_declared() {
    let logs = 300;
    let with = document("standard = \"once\"\ncluster = \"clinic\"");
    let without = document("standard = \"once\"");
    let (mut wrong, mut pretended) = (0, 0);
    for seed in 0..logs {
        let mut rows = clustered(seed);
        wrong += u64::from(judge(&with, &rows).verdict == Verdict::Change);
        for row in &mut rows {
            row.cluster = None;
        }
        pretended += u64::from(judge(&without, &rows).verdict == Verdict::Change);
    }
    println!("{wrong} wrong changes of {logs} with clusters, {pretended} without");
    assert!(wrong <= allowed(0.05, logs), "{wrong} of {logs}");
    // Half of the variance is between clusters of 15 rows, so that the variance of a mean is 1 + 14/2 = 8 times what independent rows would have:
    // the lower end is above 0 with the probability of a normal above 1.96/√8, 24 %, in 73 ± 7 logs.
    assert!(pretended > 2 * allowed(0.05, logs), "{pretended} of {logs}");
}

#[test]
fn sums_of_clustered_rows_confirm_nothing() {
    let document = document("standard = \"once\"\ncluster = \"clinic\"");
    let mut rows = clustered(1);
    for row in &mut rows {
        row.reward += row.arm as f64 * 0.5;
    }
    let tally = Tally::from_text(&tally_of(&document, &rows).to_text().unwrap()).unwrap().revive(&document).unwrap();
    let base = EvidenceBase::of(&document, &tally, None).unwrap();
    let found = review(&base, &tally).expect("it runs");
    assert_eq!(found.judgement.verdict, Verdict::CannotTell);
    for candidate in &found.judgement.candidates {
        assert_eq!(candidate.gain.interval.lower, f64::NEG_INFINITY);
        assert!(candidate.not_confirmed.as_ref().is_some_and(|reason| reason.contains("saved sums")));
    }
    let findings = Findings::new(&document, &found);
    assert!(
        findings.candidates.rules[0].cells[2].ends_with("(not bounded)"),
        "{:?}",
        findings.candidates.rules[0].cells
    );
    let said = |findings: &Findings| findings.assumptions.iter().any(|found| found.name == "independent rows");
    assert!(said(&findings), "{:?}", findings.assumptions);
    let alike = self::document("");
    let tally = tally_of(&alike, &rows);
    let found = review(&base_of(&alike, &tally, &rows, None), &tally).expect("it runs");
    assert!(!said(&Findings::new(&alike, &found)));
    // With the rows, the gain is shown.
    assert_eq!(judge(&document, &rows).verdict, Verdict::Change);
}

/// "new" with probability `share(x)`, and what it adds.
pub(crate) fn randomised(count: usize, seed: u64, share: impl Fn(f64) -> f64, effect: impl Fn(f64) -> f64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 31);
    (0..count)
        .map(|_| {
            let x = rng.uniform();
            let arm = usize::from(rng.uniform() < share(x));
            let reward = 0.4 + if arm == 1 { effect(x) } else { 0.0 } + 0.1 * rng.normal();
            Row { propensities: vec![1.0 - share(x), share(x)], ..Row::new(x, arm, reward) }
        })
        .collect()
}

fn checks_of(document: &PolicyDocument, rows: &[Row]) -> Vec<rarely_review::PropensityCheck> {
    let tally = tally_of(document, rows);
    let found = review(&base_of(document, &tally, rows, None), &tally).expect("it runs");
    let findings = Findings::new(document, &found);
    let only = |check: &Check| match check {
        Check::Propensity(check) => Some(check.clone()),
        _ => None,
    };
    let warned =
        findings.checks.iter().filter(|check| only(&check.check).is_some_and(|check| !check.warnings.is_empty()));
    assert!(warned.into_iter().all(|check| check.warning.is_some()));
    found.checks.iter().filter_map(only).collect()
}

#[test]
fn a_column_with_the_probability_of_one_option_is_caught() {
    let document = document("standard = \"once\"\npropensity = \"p\"\nminimum_propensity = 0.1");
    let share = |x: f64| 0.2 + 0.6 * x;
    let mut rows = randomised(3000, 1, share, |_| 0.1);
    let checks = checks_of(&document, &rows);
    assert_eq!(checks.len(), 2);
    let direct: f64 = rows.iter().filter(|row| row.arm == 1).map(|row| 1.0 / row.propensities[1]).sum::<f64>() / 3000.0;
    assert!((checks[1].mean_weight - direct).abs() < 1e-8, "weights are rounded to 26 bits");
    for check in &checks {
        assert!(check.warnings.is_empty(), "{check:?}");
        assert!((check.mean_weight - 1.0).abs() < 5.0 * check.standard_error && check.below_minimum == Some(0.0));
        assert!(check.effective_rows < check.rows as f64 && check.effective_rows > 1000.0);
    }
    assert!(judge(&document, &rows).candidates.iter().all(|candidate| candidate.model_free.is_some()));
    // The probability of "new" in the place of that of the option given.
    for row in &mut rows {
        row.propensities = if row.arm == 1 { row.propensities.clone() } else { vec![share(row.x), 1.0 - share(row.x)] };
    }
    let checks = checks_of(&document, &rows);
    assert!(checks.iter().any(|check| check.warnings.contains(&PropensityWarning::DoesNotFit)), "{checks:?}");
    for candidate in judge(&document, &rows).candidates {
        assert!(candidate.model_free.is_none());
        assert!(candidate.not_model_free.is_some_and(|reason| reason.contains("do not fit")));
    }
}

#[test]
fn an_option_with_few_effective_rows_has_no_model_free_gain() {
    let document = document("standard = \"once\"\npropensity = \"p\"\nminimum_propensity = 0.01");
    let rows = randomised(1500, 3, |_| 0.012, |_| 0.1);
    let checks = checks_of(&document, &rows);
    assert_eq!(checks[1].warnings, [PropensityWarning::FewEffectiveRows]);
    assert!(judge(&document, &rows).candidates.iter().all(|candidate| candidate.model_free.is_none()));
}

/// What "new" adds in [`bent`]: it helps in the middle and harms elsewhere.
fn bend(x: f64) -> f64 {
    0.6 * (0.25 - 4.0 * (x - 0.5) * (x - 0.5))
}

/// "new" goes mostly to people in the middle.
fn bent(seed: u64) -> Vec<Row> {
    randomised(3000, seed, |x| if (0.3..0.7).contains(&x) { 0.9 } else { 0.1 }, bend)
}

/// The gain of a rule over everyone.
fn true_gain(document: &PolicyDocument, rule: &WrittenRule) -> f64 {
    let (old, new) = (Rule::new(document.rule().parameters(document)), Rule::new(rule.parameters(document)));
    let people = (0..2000).map(|at| (f64::from(at) + 0.5) / 2000.0);
    let gain = people.map(|x| {
        let choose = |rule: &Rule| rule.choose(Context::new(&[1.0, x]).unwrap()).unwrap().index() as f64;
        (choose(&new) - choose(&old)) * bend(x)
    });
    gain.sum::<f64>() / 2000.0
}

#[test]
fn model_free_gains_are_true_where_straight_lines_are_not() {
    for (standard, logs) in [("standard = \"once\"", 100), ("", 100)] {
        let document = document(&format!("{standard}\npropensity = \"p\"\nminimum_propensity = 0.1"));
        let (mut lies, mut missed, mut wrong, mut disagree) = (0, 0, 0, 0);
        for seed in 0..logs {
            let found = judge(&document, &bent(seed));
            let first = &found.candidates[0];
            let gain = true_gain(&document, &first.rule);
            let free = first.model_free.expect("propensities").gain.interval;
            lies += u64::from(!(first.gain.interval.lower..=first.gain.interval.upper).contains(&gain));
            missed += u64::from(!(free.lower..=free.upper).contains(&gain));
            let proposed = found.proposal.as_ref().map(|proposal| true_gain(&document, &proposal.rule));
            wrong += u64::from(proposed.is_some_and(|gain| gain < 0.0));
            let apart = |reason: &VerdictReason| {
                matches!(reason, VerdictReason::NotCertain { demotion: Demotion::Disagreement { .. }, .. })
            };
            disagree += u64::from(found.reasons.iter().any(apart));
        }
        println!(
            "{standard:?}: lines miss {lies} of {logs}, propensities {missed}; {wrong} wrong, {disagree} disagree"
        );
        assert!(lies > logs / 2, "{lies} of {logs}");
        assert!(missed <= allowed(0.05, logs) && wrong <= allowed(0.05, logs), "{missed} missed, {wrong} wrong");
    }
}

/// Lines show a gain that propensities deny, or one that is far too large: neither is certified, and both are said.
#[test]
fn lines_and_propensities_that_contradict_each_other_certify_nothing() {
    let document = document("standard = \"once\"\npropensity = \"p\"\nminimum_propensity = 0.1");
    // "new" is mostly given in the middle, where it helps by 0.15; with 0.12 more it also helps over all, by less than the lines say.
    for more in [0.0, 0.12] {
        let share = |x: f64| if (0.3..0.7).contains(&x) { 0.9 } else { 0.1 };
        let rows = randomised(6000, 8, share, |x| bend(x) + more);
        let tally = tally_of(&document, &rows);
        let found = review(&base_of(&document, &tally, &rows, None), &tally).expect("it runs");
        let best = &found.judgement.candidates[found.judgement.best.expect("a candidate")];
        let (linear, free) = (best.gain.interval, best.model_free.expect("propensities").gain.interval);
        assert!(linear.lower > 0.0 && linear.lower > free.upper, "{linear} {free}");
        assert_eq!(free.lower > 0.0, more > 0.0, "{free}");
        assert_eq!(found.judgement.verdict, Verdict::CannotTell);
        assert!(found.judgement.proposal.is_none());
        let [VerdictReason::NotCertain { demotion: Demotion::Disagreement { linear: said, model_free }, .. }] =
            &found.judgement.reasons[..]
        else {
            panic!("{:?}", found.judgement.reasons)
        };
        assert_eq!((*said, *model_free), (linear, free));
        let findings = Findings::new(&document, &found);
        let sentence = &findings.verdict.reasons[0].sentence;
        assert!(sentence.contains("Straight lines and propensities contradict each other"), "{sentence}");
        let rule = &findings.candidates.rules[findings.candidates.best.expect("a candidate")];
        assert!(rule.model_free_sentence.as_ref().is_some_and(|said| said.contains("contradicts it")));
        let json = serde_json::to_value(ReviewJson::new(&findings)).unwrap();
        assert_eq!(json["reasons"][0]["demotion"]["reason"], "disagreement", "{json}");
        assert_eq!(json["reasons"][0]["demotion"]["linear"]["lower"].as_f64(), Some(linear.lower));
    }
}

#[test]
fn a_gain_by_propensities_is_said() {
    let document = document("propensity = \"p\"\nminimum_propensity = 0.3");
    let rows = randomised(3000, 5, |x| 0.35 + 0.3 * x, |_| 0.3);
    let tally = tally_of(&document, &rows);
    let found = review(&base_of(&document, &tally, &rows, None), &tally).expect("it runs");
    assert_eq!(found.judgement.verdict, Verdict::Change, "{:?}", found.judgement.reasons);
    let findings = Findings::new(&document, &found);
    let rule = &findings.candidates.rules[0];
    assert!(rule.cells[2].contains("model-free") && rule.cells[4].contains("model-free scores"), "{:?}", rule.cells);
    assert!(matches!(findings.checks[0].check, Check::Propensity(_)));
    let json = serde_json::to_value(ReviewJson::new(&findings)).unwrap();
    assert!(json["candidates"][0]["model_free"]["gain"]["interval"]["lower"].as_f64().unwrap() > 0.0, "{json}");
    // Where an option was too improbable the change is left out, and the share is said.
    let document = self::document("propensity = \"p\"\nminimum_propensity = 0.45");
    let found = judge(&document, &rows);
    let left_out = found.candidates[0].model_free.unwrap().left_out;
    assert!(left_out > 0.1 && left_out < 0.9 && !found.candidates[0].is_model_free(), "{left_out}");
}

//! Planted truths, for every standard and design: wrong changes are as rare as declared, and it does not take many more cases than a t-test
//! of the known change.

use rarely_core::{Arm, Rng};
use rarely_policy::PolicyDocument;
use rarely_review::{EvidenceBase, Judgement, Tally, Verdict, VerdictReason, examine};

/// A context, an option and a reward.
type Row = (Vec<f64>, Arm, f64);

/// Two options, `features` numbers in [0, 1] and outcomes in [0, 1]; the rule in force gives "new" from half of the first feature on.
fn document(features: usize, evidence: &str) -> PolicyDocument {
    let column = |at: usize| format!("[[features]]\ncolumn = \"x{at}\"\nrange = [0, 1]\n");
    let columns = (0..features).map(column).collect::<Vec<_>>().concat();
    let text = format!(
        "policy = \"planted\"\noptions = [\"old\", \"new\"]\noutcome = {{ column = \"y\", range = [-1, 2] }}\n{columns}\
         [evidence]\nerror_probability = 0.05\n{evidence}\n\
         [rule]\nthreshold = {{ feature = \"x0\", cuts = [0.5], options = [\"old\", \"new\"] }}\n"
    );
    PolicyDocument::parse(&text, "planted.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Options by lot. `effect(x0)` is what "new" adds; the noise is larger for it.
fn rows(features: usize, count: usize, seed: u64, effect: impl Fn(f64) -> f64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 7);
    let mut row = || {
        let context: Vec<f64> = std::iter::once(1.0).chain((0..features).map(|_| rng.uniform())).collect();
        let arm = rng.below(2);
        let mean = 0.3 + 0.2 * context[1] + if arm == 1 { effect(context[1]) } else { 0.0 };
        let noise = if arm == 1 { 0.3 } else { 0.2 };
        let reward = mean + noise * rng.normal();
        (context, Arm::new(arm), reward)
    };
    (0..count).map(|_| row()).collect()
}

fn judge(document: &PolicyDocument, rows: &[Row]) -> Judgement {
    let mut tally = Tally::new(document);
    for (row, (context, arm, reward)) in (0..).zip(rows) {
        tally.add(row, context, *arm, *reward);
    }
    let mut base = EvidenceBase::of(document, &tally, None).expect("it fits");
    if let Some(mut second) = base.second_reading() {
        for (row, (context, arm, reward)) in (0..).zip(rows) {
            second.add(row, context, *arm, *reward);
        }
        base = base.with_second_reading(second);
    }
    examine(&base, &tally).expect("it runs")
}

/// δn + 3√(δn).
fn allowed(delta: f64, logs: u64) -> u64 {
    let expected = delta * logs as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let allowed = (expected + 3.0 * expected.sqrt()) as u64;
    allowed
}

/// Without an effect every change is wrong. At any time: looked at ten times while the log grows, with new candidates at each look.
#[test]
fn wrong_changes_are_as_rare_as_declared() {
    let logs = 1000;
    for (evidence, looks) in [
        ("standard = \"once\"", vec![800]),
        ("standard = { looks = 4 }", vec![300, 600, 900, 1200]),
        ("", (1..=10).map(|look| 200 * look).collect::<Vec<usize>>()),
        ("design = \"adaptive\"", vec![400, 800, 1600]),
    ] {
        let document = document(2, evidence);
        let wrong = (0..logs).filter(|&seed| {
            let rows = rows(2, *looks.last().unwrap(), seed, |_| 0.0);
            looks.iter().any(|&look| judge(&document, &rows[..look]).verdict == Verdict::Change)
        });
        let wrong = wrong.count() as u64;
        println!("{evidence:?}: {wrong} of {logs}");
        assert!(wrong <= allowed(0.05, logs), "{evidence}: {wrong} of {logs}");
    }
}

/// A change that harms is never certified more often than declared either: "new" helps below the middle and harms above it as much, so that the
/// rule in force is the worst one, and its opposite the best.
#[test]
fn certified_gains_are_true() {
    let (logs, mut missed, mut changed) = (400, 0, 0);
    let document = document(2, "standard = \"once\"");
    for seed in 0..logs {
        let found = judge(&document, &rows(2, 1500, 5000 + seed, |x| 0.1 * (0.5 - x)));
        if let Some(proposal) = &found.proposal {
            changed += 1;
            let rarely_policy::WrittenRule::Threshold(rule) = &proposal.rule else { continue };
            let cut = rule.cuts.first().copied().unwrap_or(1.0);
            // The mean of 0.1(½ − x) where decisions change, over x in [0, 1].
            let gain = match rule.options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["new", "old"] => 0.1 * (0.5 * cut - 0.5 * cut * cut) + 0.0125,
                ["old", "new"] => -0.1 * (0.5 * cut - 0.5 * cut * cut) + 0.0125,
                ["new" | "old"] => 0.0125,
                _ => f64::NAN,
            };
            let interval = proposal.certificate.gain.interval;
            missed += u64::from(!(interval.lower - 0.003 <= gain));
        }
    }
    println!("{changed} of {logs} changed, {missed} missed");
    // Of all logs: among those with a change, gains that were overestimated are frequent.
    assert!(changed > logs / 8 && missed <= allowed(0.05, logs), "{changed} changed, {missed} missed");
}

/// The cases at which half of the planted gains of 5 % of the range are certified, against those of a t-test of the known change on all rows
/// at the same level. The known change: "new" for everyone, where half of the people have it now.
#[test]
fn half_of_the_gains_are_certified_with_a_few_times_the_cases_of_a_t_test() {
    // Half of the people change and gain 0.04 each: 0.02 on average, 5 % of a range of 0.4.
    let effect = 0.04;
    // A t-test of the known change on all rows: the standard error of the mean difference of people below the middle, times ½.
    let error_once = |cases: f64| 0.5 * ((0.04 + 0.09) / (cases / 4.0)).sqrt();
    let t_test = (1..1000).map(|step| 4.0 * f64::from(step)).find(|&cases| 0.5 * effect / error_once(cases) >= 1.96);
    let t_test = t_test.expect("some number of cases");
    for (features, evidence, times) in
        [(1, "standard = \"once\"", 3.0), (1, "", 6.0), (23, "standard = \"once\"", 3.0), (23, "", 6.0)]
    {
        let document = document(features, &format!("{evidence}\n[change]\nworth = 0.004"));
        let certified = |cases: usize| {
            let changed = (0..40).filter(|&seed| {
                judge(&document, &rows(features, cases, 900 + seed, |_| effect)).verdict == Verdict::Change
            });
            changed.count() >= 20
        };
        let needed = (10..60).map(|step| step * 200).find(|&cases| certified(cases)).expect("some number of cases");
        let found = needed as f64 / t_test;
        println!("{features} features, {evidence:?}: {needed} cases, {found:.1} times the {t_test} of a t-test");
        assert!(found <= times, "{features} features, {evidence:?}: {found} times");
    }
}

/// Outcomes rise with time, options change with time, and neither does anything: never a change.
#[test]
fn a_trend_without_an_effect_is_never_a_change() {
    for (standard, abrupt) in [("standard = \"once\"", true), ("standard = \"once\"", false), ("", true), ("", false)] {
        let document = document(1, standard);
        for seed in 0..60 {
            let mut rng = Rng::new(seed, 3);
            let count = 4000;
            let rows: Vec<Row> = (0..count)
                .map(|at| {
                    let time = f64::from(at) / f64::from(count);
                    let share = if abrupt { if time < 0.5 { 0.02 } else { 0.98 } } else { 0.2 + 0.6 * time };
                    let context = vec![1.0, rng.uniform()];
                    let arm = usize::from(rng.uniform() < share);
                    (context, Arm::new(arm), 0.2 + 0.5 * time + 0.2 * rng.normal())
                })
                .collect();
            let found = judge(&document, &rows);
            assert_ne!(found.verdict, Verdict::Change, "{standard} {abrupt} {seed}: {:?}", found.proposal);
            let said = found.reasons.iter().any(|reason| matches!(reason, VerdictReason::NotCertain { .. }));
            assert!(said || abrupt || found.verdict == Verdict::CannotTell, "{:?}", found.reasons);
        }
    }
}

/// The truth bends so that straight lines promise a gain where there is a loss: where the linear certificate is false it is taken back.
#[test]
fn a_false_linear_certificate_is_taken_back() {
    let document = document(1, "standard = \"once\"");
    // Treated are mostly people in the middle, where "new" helps; elsewhere it harms.
    let (mut false_ones, mut taken_back) = (0, 0);
    for seed in 0..200 {
        let mut rng = Rng::new(seed, 11);
        let rows: Vec<Row> = (0..3000)
            .map(|_| {
                let x = rng.uniform();
                let arm = usize::from(rng.uniform() < if (0.3..0.7).contains(&x) { 0.9 } else { 0.1 });
                let bend = 0.6 * (0.25 - 4.0 * (x - 0.5) * (x - 0.5));
                (vec![1.0, x], Arm::new(arm), 0.4 + if arm == 1 { bend } else { 0.0 } + 0.1 * rng.normal())
            })
            .collect();
        let found = judge(&document, &rows);
        let linear = found.candidates.iter().any(|candidate| candidate.gain.interval.lower > 0.0);
        // The mean effect of "new" over everyone is 0.6(0.25 − 1/3) < 0, so that "new" for everyone loses.
        if linear {
            false_ones += 1;
            taken_back += u64::from(found.verdict != Verdict::Change);
        }
    }
    println!("{taken_back} of {false_ones} taken back");
    assert!(taken_back as f64 >= 0.95 * f64::from(false_ones), "{taken_back} of {false_ones}");
}

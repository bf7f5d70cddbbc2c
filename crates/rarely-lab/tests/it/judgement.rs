//! Holds, does not hold, or not settled: the judging function, on numbers worked out by hand.

use rarely_lab::reproduction::{ClaimJudgement, ClaimVerdict, Condition, MeasuredValue, Reading, Unjudged, claim};
use rarely_lab::{Estimate, Interval95};

use ClaimVerdict::{DoesNotHold, Holds, NotSettled};
use Condition::{Above, AtLeast, AtMost, Never, Sometimes, Within};

fn mean(effect: f64, standard_error: f64, runs: u64) -> MeasuredValue {
    let interval = Estimate { mean: effect, standard_error }.interval(usize::try_from(runs).expect("few"));
    MeasuredValue::Mean { interval, runs }
}

/// With 100 runs Student's t is 1.984, with 10 it is 2.262. A deviation of s and an effect e at n runs need
/// `e·√n ≥ (t + 0.8416)·s`: for e = 0.9, s = 5 that is n = 244, rounded up to 250; for e = 0.1 it is 19,625 and 20,000; for e = 0.5,
/// s = 0.5·√10 (10 runs) it is 81.
#[test]
fn a_mean_with_its_error() {
    let table = [
        // effect, error, runs, condition, comparisons, verdict, runs needed
        (1.0, 0.5, 100, Above(0.0), 1, Holds, None),
        (0.9, 0.5, 100, Above(0.0), 1, NotSettled, Some(250)),
        (-0.9, 0.5, 100, Above(0.0), 1, NotSettled, Some(250)),
        (0.1, 0.5, 100, Above(0.0), 1, NotSettled, Some(20_000)),
        (-1.0, 0.5, 100, Above(0.0), 1, DoesNotHold, None),
        (0.5, 0.5, 10, Above(0.0), 1, NotSettled, Some(81)),
        // The same number on the other side of the limit.
        (1.0, 0.5, 100, AtMost(0.0), 1, DoesNotHold, None),
        (-1.0, 0.5, 100, AtMost(0.0), 1, Holds, None),
        (2.0, 0.5, 100, AtLeast(1.0), 1, Holds, None),
        (1.9, 0.5, 100, AtLeast(1.0), 1, NotSettled, Some(250)),
        // Two limits: the nearer one counts.
        (1.0, 0.4, 100, Within(0.0, 2.0), 1, Holds, None),
        (1.1, 0.5, 100, Within(0.0, 2.0), 1, NotSettled, Some(250)),
        (3.0, 0.5, 100, Within(0.0, 2.0), 1, DoesNotHold, None),
        (2.9, 0.5, 100, Within(0.0, 2.0), 1, NotSettled, Some(250)),
        // A wide interval around a narrow condition refutes nothing.
        (1.0, 5.0, 100, Within(0.9, 1.1), 1, NotSettled, None),
        // At the limit itself no number of runs is enough; nor is a single run.
        (0.0, 0.5, 100, Above(0.0), 1, NotSettled, None),
        (9.0, 0.0, 1, Above(0.0), 1, NotSettled, None),
        // All runs agree.
        (2.0, 0.0, 50, AtMost(10.0), 1, Holds, None),
        (12.0, 0.0, 50, AtMost(10.0), 1, DoesNotHold, None),
    ];
    for (effect, error, runs, condition, comparisons, verdict, needed) in table {
        let found = mean(effect, error, runs).judge(condition, comparisons);
        let expected = ClaimJudgement { verdict, runs_needed: needed };
        assert_eq!(found, expected, "{effect} ± {error} of {runs} runs, {condition:?}");
    }
}

/// Of 24 measurements one in 24 × 2.5 % = 60 % misses by chance where nothing is different: to refute takes 3.08 errors instead of 1.96
/// (the normal quantile of 1 − 0.025/24), to affirm it does not.
#[test]
fn one_of_many_measurements_refutes_only_if_it_is_far_off() {
    assert_eq!(mean(-1.0, 0.5, 100).judge(Above(0.0), 24).verdict, NotSettled);
    assert_eq!(mean(-1.5, 0.5, 100).judge(Above(0.0), 24).verdict, NotSettled);
    assert_eq!(mean(-1.6, 0.5, 100).judge(Above(0.0), 24).verdict, DoesNotHold);
    assert_eq!(mean(1.0, 0.5, 100).judge(Above(0.0), 24).verdict, Holds);
}

#[test]
fn what_is_counted_or_has_no_error() {
    let count = |cases| MeasuredValue::Count { cases, among: 1_000, runs: 10 };
    assert_eq!(count(0).judge(Never, 1).verdict, Holds);
    assert_eq!(count(1).judge(Never, 1).verdict, DoesNotHold);
    assert_eq!(count(1).judge(Sometimes, 1).verdict, Holds);
    assert_eq!(count(0).judge(Sometimes, 1).verdict, NotSettled, "not seen is not refuted");
    assert_eq!(MeasuredValue::Exact(1.05).judge(AtMost(1.0), 5).verdict, DoesNotHold);
    assert_eq!(MeasuredValue::Exact(0.95).judge(AtMost(1.0), 5).verdict, Holds);
    // Wilson's upper end of 0 of 1,000: z²/(n + z²) = 0.3827 %.
    let Interval95 { low, high, .. } = count(0).interval().expect("an interval");
    assert!(low == 0.0 && (high - 0.3827).abs() < 1e-3, "{low} to {high}");
}

#[test]
fn several_measurements_together() {
    let settled = ClaimJudgement::settled;
    let open = |runs_needed| ClaimJudgement { verdict: NotSettled, runs_needed };
    let table = [
        (vec![settled(Holds), settled(Holds)], settled(Holds)),
        (vec![settled(Holds), settled(DoesNotHold)], settled(DoesNotHold)),
        (vec![open(Some(90)), settled(DoesNotHold)], settled(DoesNotHold)),
        (vec![settled(Holds), open(Some(90)), open(Some(400))], open(Some(400))),
        (vec![open(Some(90)), open(None)], open(None)),
    ];
    for (all, expected) in table {
        assert_eq!(ClaimJudgement::of_all(all.clone()), expected, "{all:?}");
    }
    assert_eq!(open(Some(400)).words(), "not settled (about 400 runs)");
    assert_eq!(open(None).words(), "not settled");
}

/// Each reading has its own verdict, and the claim has the last one's.
#[test]
fn a_claim_is_judged_by_its_strictest_reading() {
    let found = |profile, effect, runs| Unjudged {
        profile,
        what: "an effect".to_owned(),
        found: mean(effect, 0.1, runs),
        condition: Above(0.0),
    };
    let all = vec![
        found(Reading::Published, 1.0, 50),
        found(Reading::Published, 1.0, 20),
        found(Reading::Repaired, 0.1, 100),
        found(Reading::Rigorous, -1.0, 50),
    ];
    let judged = claim(("id", "where"), "text", "paper", all);
    let readings: Vec<_> = judged.readings.iter().map(|one| (one.profile, one.judgement.verdict, one.runs)).collect();
    let expected = [
        (Reading::Published, Holds, Some(20)),
        (Reading::Repaired, NotSettled, Some(100)),
        (Reading::Rigorous, DoesNotHold, Some(50)),
    ];
    assert_eq!(readings, expected);
    assert_eq!((judged.verdict(), judged.runs, judged.close), (DoesNotHold, Some(20), false));
    // Without a measurement nothing is claimed to hold.
    assert_eq!(claim(("id", "where"), "text", "paper", Vec::new()).verdict(), NotSettled);
}

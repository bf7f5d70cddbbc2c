//! A gain that is not certain never takes effect by itself: its lines bend, or it rests on people to whom the option was never given.

use rarely_core::Rng;
use rarely_live::RecordField;
use rarely_live::engine::{NewOutcome, PolicyHandle};
use rarely_live::event::ExternalDecision;
use rarely_review::Verdict;
use std::collections::BTreeMap;

use crate::support::{Bench, block_on, document, signature};

const BY_ONE: &str = "signatures = \"token\"\napproval = \"one\"\nreview_every = 1000000";
const AUTOMATIC: &str = "signatures = \"token\"\napproval = \"automatic\"\nreview_every = 1000000";

/// Reports cases whose options and mean outcomes are these, with a noise of 0.1.
fn report(
    bench: &Bench,
    handle: &PolicyHandle,
    cases: u32,
    option: impl Fn(f64, &mut Rng) -> &'static str,
    mean: impl Fn(f64, &str) -> f64,
) {
    let mut rng = Rng::new(5, 0);
    let reports = (0..cases).map(|_| {
        let age = 40.0 + 50.0 * rng.uniform();
        let option = option(age, &mut rng);
        let outcome = (mean(age, option) + 0.1 * rng.normal()).clamp(-1.0, 2.0);
        let record = vec![RecordField::Number(age)];
        let decision = ExternalDecision {
            key: None,
            record,
            option: option.to_owned(),
            propensity: None,
            edition: None,
            time_ms: None,
        };
        NewOutcome::External { decision, outcome, guardrails: BTreeMap::new(), subject: None }
    });
    for result in block_on(bench.engine.observe(handle, "registry", reports.collect())) {
        result.expect("recorded");
    }
}

fn at_random(_: f64, rng: &mut Rng) -> &'static str {
    ["wait", "invite"][rng.below(2)]
}

/// The benefit is bent. Straight lines say that inviting helps from 61; in truth it harms until 65, where the rule begins.
#[test]
fn a_gain_by_bent_lines_is_not_proposed() {
    let bent = |age: f64, option: &str| {
        let x = (age - 65.0) / 25.0;
        if option == "invite" { 0.65 * ((x + 1.0).powi(2) - 1.0) } else { 0.0 }
    };
    let bench = Bench::new();
    let text = document(AUTOMATIC, "none").replace("cuts = [80]", "cuts = [65]");
    let handle = bench.engine.register("owner", &text, 7).expect("a policy");
    report(&bench, &handle, 40_000, at_random, bent);
    let reviewed = bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    assert_ne!(reviewed.verdict, Verdict::Change, "{reviewed:?}");
    assert!(reviewed.reasons.iter().any(|reason| reason.contains("bent lines")), "{reviewed:?}");
    assert_eq!((reviewed.proposal, handle.live.lock().version().number), (None, 1));
    bench.verify();
}

/// The rule in force gave the other option to nobody below 80, so that straight lines have to be prolonged.
#[test]
fn an_extrapolated_gain_waits_for_a_person_or_is_refused() {
    let straight = |age: f64, option: &str| if option == "invite" { (age - 65.0) / 50.0 } else { 0.0 };
    let by_the_rule = |age: f64, _: &mut Rng| if age < 80.0 { "wait" } else { "invite" };
    for (control, proposal) in [(AUTOMATIC, None), (BY_ONE, Some(1))] {
        let mut bench = Bench::new();
        let handle = bench.register(control, "none");
        report(&bench, &handle, 4_000, by_the_rule, straight);
        let reviewed = bench.engine.review(&handle, Some(("ann", None))).expect("a review");
        assert_eq!((reviewed.verdict, reviewed.proposal), (Verdict::Change, proposal), "{reviewed:?}");
        assert_eq!(reviewed.refused.is_empty(), proposal.is_some(), "{reviewed:?}");
        drop(handle);
        bench.restart();
        let handle = bench.engine.policy("screening").expect("still there");
        assert_eq!(handle.live.lock().version().number, 1, "nothing takes effect by itself");
        let refused = handle.live.lock().state().reviews.refused.clone().unwrap_or_default();
        assert_eq!(refused, reviewed.refused, "the page shows why");
        if let Some(number) = proposal {
            bench.engine.approve(&handle, "ann", number, signature("I know")).expect("a person may sign it");
            assert_eq!(handle.live.lock().version().number, 2);
        }
        bench.verify();
    }
}

/// The same gain, where both options were given to everybody, takes effect.
#[test]
fn a_certain_gain_takes_effect_by_itself() {
    let straight = |age: f64, option: &str| if option == "invite" { (age - 65.0) / 50.0 } else { 0.0 };
    let bench = Bench::new();
    let handle = bench.register(AUTOMATIC, "none");
    report(&bench, &handle, 4_000, at_random, straight);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    assert_eq!(handle.live.lock().version().number, 2);
    bench.verify();
}

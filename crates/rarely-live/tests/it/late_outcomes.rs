//! Outcomes are learned in the order of decisions, unless the document declares that delays are independent of them.

use rarely_live::engine::{NewOutcome, PolicyHandle};
use rarely_live::event::Registered;
use std::collections::BTreeMap;

use crate::support::{Bench, block_on};

const DAY_MS: u64 = 86_400_000;

impl Bench {
    fn report(&self, handle: &PolicyHandle, decision: u64, outcome: f64, correction: bool) {
        let correction = correction.then(|| "typing error".to_owned());
        let report = NewOutcome::OfDecision { decision, outcome, guardrails: BTreeMap::new(), correction };
        block_on(self.engine.observe(handle, "ward", vec![report])).remove(0).expect("recorded");
    }
}

/// Outcomes learned, and outcomes that wait.
fn learned(handle: &PolicyHandle) -> (u64, u64) {
    let live = handle.live.lock();
    let state = live.state();
    (state.learned.outcomes(), state.late.as_ref().map_or(0, |late| late.waiting().reported))
}

fn sentence(handle: &PolicyHandle) -> Option<String> {
    let live = handle.live.lock();
    live.state().late.as_ref()?.sentence(live.document().control().outcome_window_ms)
}

fn sums(handle: &PolicyHandle) -> String {
    serde_json::to_string(&handle.live.lock().state().learned).expect("JSON")
}

#[test]
fn an_outcome_waits_for_those_of_earlier_decisions() {
    let mut bench = Bench::new();
    let handle = bench.register("review_every = 1000000", "none");
    let decisions: Vec<u64> = [50.0, 60.0, 70.0, 80.0].map(|age| bench.decide(&handle, age)).to_vec();
    bench.report(&handle, decisions[2], 0.3, false);
    bench.report(&handle, decisions[1], 0.9, false);
    assert_eq!(learned(&handle), (0, 2));
    assert_eq!(
        sentence(&handle).expect("something waits"),
        format!(
            "2 outcomes wait for the outcome of decision {}; without an outcome_window there is no limit. Outcomes are learned in the \
             order of their decisions, unless the document declares delay = \"independent\".",
            decisions[0]
        )
    );
    bench.report(&handle, decisions[1], 0.2, true);
    // What waits survives a restart.
    bench.restart();
    let handle = bench.engine.policy("screening").expect("is there");
    bench.report(&handle, decisions[0], 0.1, false);
    assert_eq!((learned(&handle), sentence(&handle)), ((3, 0), None));
    let late = sums(&handle);
    bench.engine.stop();
    assert_eq!(bench.verify().outcomes, 4, "three outcomes and a correction");

    // The same cases, reported in order and right from the start.
    let bench = Bench::new();
    let handle = bench.register("review_every = 1000000", "none");
    let decisions: Vec<u64> = [50.0, 60.0, 70.0, 80.0].map(|age| bench.decide(&handle, age)).to_vec();
    for (decision, outcome) in decisions.into_iter().zip([0.1, 0.2, 0.3]) {
        bench.report(&handle, decision, outcome, false);
    }
    assert_eq!(sums(&handle), late);
    bench.engine.stop();
}

#[test]
fn a_decision_that_runs_out_of_time_no_longer_holds_up_the_others() {
    let bench = Bench::new();
    let handle = bench.register("review_every = 1000000\noutcome_window = \"1 day\"", "none");
    let (first, second) = (bench.decide(&handle, 50.0), bench.decide(&handle, 60.0));
    bench.report(&handle, second, 0.3, false);
    bench.pass(DAY_MS);
    let third = bench.decide(&handle, 70.0);
    assert_eq!(learned(&handle), (0, 1), "a day is within the window");
    assert!(sentence(&handle).expect("it waits").contains("at most 1 day after that decision"));
    bench.pass(1);
    // Decisions run out of time by the log's clock: with the next event.
    let fourth = bench.decide(&handle, 80.0);
    assert_eq!(learned(&handle), (1, 0));
    let before = sums(&handle);
    bench.report(&handle, first, 0.9, false);
    bench.report(&handle, first, 0.8, true);
    assert_eq!(sums(&handle), before, "too late: recorded, and not learned");
    assert_eq!(handle.live.lock().state().late.as_ref().map(rarely_live::LateOutcomes::too_late), Some(1));
    bench.report(&handle, fourth, 0.5, false);
    bench.report(&handle, third, 0.4, false);
    assert_eq!(learned(&handle), (3, 0));
    bench.engine.stop();
    bench.verify();
}

#[test]
fn under_an_independent_delay_outcomes_are_learned_as_they_arrive() {
    let bench = Bench::new();
    let handle = bench.register("review_every = 1000000\ndelay = \"independent\"", "none");
    let decisions = [50.0, 60.0].map(|age| bench.decide(&handle, age));
    bench.report(&handle, decisions[1], 0.3, false);
    assert_eq!(learned(&handle), (1, 0));
    bench.report(&handle, decisions[1], 0.4, true);
    bench.engine.stop();
    bench.verify();
}

/// Policies that were registered before there was a declaration go on as they began, so that their logs can be audited.
#[test]
fn earlier_registrations_learn_as_outcomes_arrive() {
    let registered: Registered = serde_json::from_str(r#"{"document":"","seed":7}"#).expect("an earlier event");
    assert!(!registered.decision_order);
    assert_eq!(serde_json::to_string(&registered).expect("JSON"), r#"{"document":"","seed":7}"#);
}

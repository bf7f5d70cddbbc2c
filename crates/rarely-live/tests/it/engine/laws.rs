//! Laws: after any sequence of acts the audit passes, and a restart changes nothing.

use proptest::prelude::*;
use rarely_live::engine::{NewOutcome, PolicyHandle};
use std::collections::BTreeMap;

use crate::support::{Bench, block_on, request, signature};

/// An act of a person or a program.
#[derive(Debug, Clone)]
enum Act {
    Decide { age: f64, key: Option<u8> },
    Outcome { of: usize, outcome: f64, correction: bool },
    Cases(usize),
    Review { asked: bool },
    Approve { by: usize },
    Reject,
    RollBack { to: u64, by: usize },
    Stop,
    Resume,
    Pass { hours: u64 },
    ClockBack { hours: u64 },
    Restart,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (40.0..90.0_f64, prop::option::of(0..5_u8)).prop_map(|(age, key)| Act::Decide { age: age.round(), key }),
        6 => (0..40_usize, 0..20_u8, prop::bool::weighted(0.3))
            .prop_map(|(of, tenths, correction)| Act::Outcome { of, outcome: f64::from(tenths) / 10.0, correction }),
        3 => (1..600_usize).prop_map(Act::Cases),
        3 => any::<bool>().prop_map(|asked| Act::Review { asked }),
        3 => (0..3_usize).prop_map(|by| Act::Approve { by }),
        1 => Just(Act::Reject),
        1 => (1..4_u64, 0..3_usize).prop_map(|(to, by)| Act::RollBack { to, by }),
        1 => Just(Act::Stop),
        1 => Just(Act::Resume),
        1 => (1..100_u64).prop_map(|hours| Act::Pass { hours }),
        1 => (1..100_u64).prop_map(|hours| Act::ClockBack { hours }),
        1 => Just(Act::Restart),
    ]
}

const HOUR_MS: u64 = 3_600_000;
const PEOPLE: [&str; 3] = ["ann", "bob", "eve"];

fn perform(bench: &mut Bench, decisions: &mut Vec<u64>, act: &Act) {
    let handle = bench.engine.policy("screening").expect("registered");
    let open = |handle: &PolicyHandle| handle.live.lock().open_proposal().map_or(1, |open| open.number);
    let words = || signature("as I see it");
    match act {
        Act::Decide { age, key } => {
            let key = key.map(|key| format!("k{key}"));
            let answer =
                block_on(bench.engine.decide(&handle, "ward", vec![request(&handle, *age, key.as_deref())])).remove(0);
            decisions.extend(answer.ok().map(|answer| answer.decision));
        }
        Act::Outcome { of, outcome, correction } => {
            let decision = decisions.get(*of).copied().unwrap_or(1);
            let correction = correction.then(|| "typing error".to_owned());
            drop(block_on(bench.engine.observe(
                &handle,
                "ward",
                vec![NewOutcome::OfDecision { decision, outcome: *outcome, guardrails: BTreeMap::new(), correction }],
            )));
        }
        Act::Cases(count) => bench.cases(&handle, *count),
        Act::Review { asked } => drop(bench.engine.review(&handle, asked.then_some(("ann", Some(words()))))),
        Act::Approve { by } => drop(bench.engine.approve(&handle, PEOPLE[*by], open(&handle), words())),
        Act::Reject => drop(bench.engine.reject(&handle, "eve", open(&handle), words())),
        Act::RollBack { to, by } => drop(bench.engine.roll_back(&handle, PEOPLE[*by], *to, words())),
        Act::Stop => drop(bench.engine.stop_policy(&handle, "ann", words())),
        Act::Resume => drop(bench.engine.resume_policy(&handle, "bob", words())),
        Act::Pass { hours } => bench.pass(hours * HOUR_MS),
        Act::ClockBack { hours } => {
            let now = bench.now.load(std::sync::atomic::Ordering::SeqCst);
            bench.now.store(now.saturating_sub(hours * HOUR_MS), std::sync::atomic::Ordering::SeqCst);
        }
        Act::Restart => {
            let before = handle.live.lock().state().clone();
            drop(handle);
            bench.restart();
            let handle = bench.engine.policy("screening").expect("still there");
            // The reviewer may have run in between.
            let after = handle.live.lock().state().clone();
            assert!(after == before || after.last_event > before.last_event, "a restart changes nothing");
        }
    }
    assert!(bench.engine.fault().is_none(), "after {act:?}: {:?}", bench.engine.fault());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_audit_passes_whatever_happens(
        approval in prop::sample::select(vec!["automatic", "one", "two"]),
        explore in prop::sample::select(vec!["none", "equipoise:0.4", "pilot:4"]),
        pause in 0..3_u8,
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut bench = Bench::new();
        let control = format!(
            "approval = \"{approval}\"\nsignatures = \"token\"\nreview_every = 300\nminimum_days_between_changes = {pause}\nmaximum_changes = 3\n\
             proposal_expires = \"3 days\"\noutcome_window = \"1 day\"\nreview_after = \"2 days\""
        );
        bench.register(&control, explore);
        let mut decisions = Vec::new();
        for act in &acts {
            perform(&mut bench, &mut decisions, act);
        }
        bench.engine.stop();
        prop_assert!(bench.engine.fault().is_none());
        bench.verify();
    }
}

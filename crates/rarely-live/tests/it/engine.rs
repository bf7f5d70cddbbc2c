//! `Engine`: register, decide, learn, propose, sign, roll back, stop.

mod laws;

use rarely_live::engine::{ChangeError, DecisionError, NewOutcome, OutcomeError};
use rarely_live::{Objection, ProposalStatus, VersionOrigin};
use rarely_review::Verdict;
use std::collections::BTreeMap;

use crate::support::{Bench, block_on, request, signature};

#[test]
fn register_decide_review_sign_roll_back_restart() {
    let mut bench = Bench::new();
    let handle = bench.register("signatures = \"token\"\napproval = \"one\"\nreview_every = 100000", "none");
    assert_eq!(
        bench.register("signatures = \"token\"\napproval = \"one\"\nreview_every = 100000", "none").id,
        handle.id,
        "the same again"
    );
    bench.cases(&handle, 3000);
    let outcome = bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    assert_eq!((outcome.verdict, outcome.proposal), (Verdict::Change, Some(1)));
    let again = bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    assert_eq!(again.proposal, None, "one proposal at a time");

    let incomplete = bench.engine.approve(&handle, "ann", 1, signature(" "));
    assert!(matches!(incomplete, Err(ChangeError::Objection(Objection::SignatureIncomplete("meaning")))));
    bench.engine.reject(&handle, "ann", 1, signature("not yet")).expect("rejected");
    assert!(bench.engine.approve(&handle, "bob", 1, signature("after all")).is_err(), "it is closed");
    bench.engine.review(&handle, None).expect("a review");
    assert!(handle.live.lock().open_proposal().is_none(), "no new proposal on the same evidence without a request");
    bench.cases(&handle, 1000);
    bench.engine.review(&handle, None).expect("a review");
    bench.engine.approve(&handle, "bob", 2, signature("for the clinic")).expect("approved");
    assert_eq!(handle.decider().version, 2);
    {
        let live = handle.live.lock();
        assert_eq!(live.version().origin, VersionOrigin::Proposal { proposal: 2 });
        assert_eq!(live.version().signers[0].name, "bob");
        assert!(matches!(live.state().proposals[0].status, ProposalStatus::Rejected { .. }));
    }
    bench.people(&handle, 50);
    bench.engine.roll_back(&handle, "bob", 1, signature("a complaint")).expect("rolled back");
    assert_eq!(handle.decider().version, 3);
    let same = bench.engine.roll_back(&handle, "bob", 1, signature("again"));
    assert!(matches!(same, Err(ChangeError::Objection(Objection::SameRule { version: 1 }))));
    bench.people(&handle, 50);
    let before = handle.live.lock().state().clone();
    bench.restart();
    let handle = bench.engine.policy("screening").expect("still there");
    assert_eq!(*handle.live.lock().state(), before, "the same after a restart");
    bench.people(&handle, 10);
    let summary = bench.verify();
    assert_eq!((summary.versions, summary.proposals, summary.decisions), (3, 2, 110));
    assert!(summary.snapshot.is_some());
}

#[test]
fn exploring_decisions_are_repeated_by_the_audit() {
    let mut bench = Bench::new();
    let handle = bench.register("approval = \"automatic\"\nreview_every = 50", "pilot:3+equipoise:0.5");
    bench.people(&handle, 400);
    // Options that were given to everybody alike: nothing has to be extrapolated.
    bench.cases(&handle, 3000);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    bench.engine.stop_policy(&handle, "ann", signature("stop")).expect("stopped");
    assert!(!handle.decider().explores());
    bench.people(&handle, 20);
    bench.engine.resume_policy(&handle, "ann", signature("go on")).expect("resumed");
    bench.people(&handle, 20);
    let summary = bench.verify();
    assert_eq!(summary.decisions, 440);
    assert!(summary.versions >= 2, "it changed by itself: {summary:?}");
    let state = handle.live.lock().state().clone();
    assert!(state.counts.explored > 50, "{:?}", state.counts);
    let stopped = state.versions.iter().find(|version| matches!(version.origin, VersionOrigin::Stop { .. }));
    assert_eq!(stopped.expect("a version").rule, state.versions[0].rule, "back to what a person had signed");
}

/// Thirty decisions without an outcome once all got the first option, whatever the signed rule said.
#[test]
fn a_pilot_counts_decisions_without_outcomes() {
    let mut bench = Bench::new();
    let handle = bench.register("signatures = \"token\"\napproval = \"one\"", "pilot:5");
    bench.people_without_outcomes(&handle, 100);
    let counts = handle.live.lock().state().counts.clone();
    assert_eq!(counts.explored, 10, "{counts:?}");
    assert!(counts.decided.iter().all(|&decided| decided >= 1), "{counts:?}");
    bench.verify();
}

#[test]
fn two_different_people_must_sign() {
    let mut bench = Bench::new();
    let handle = bench.register("signatures = \"token\"\napproval = \"two\"\nreview_every = 1000000", "none");
    bench.cases(&handle, 3000);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    bench.engine.approve(&handle, "ann", 1, signature("yes")).expect("a first signature");
    assert_eq!(handle.live.lock().version().number, 1);
    let twice = bench.engine.approve(&handle, "ann", 1, signature("yes, yes"));
    assert!(matches!(twice, Err(ChangeError::Objection(Objection::SameSigner { .. }))));
    bench.engine.approve(&handle, "bob", 1, signature("me too")).expect("a second one");
    assert_eq!(handle.live.lock().version().signers.len(), 2);
    bench.engine.roll_back(&handle, "ann", 1, signature("back")).expect("proposed");
    assert_eq!(handle.live.lock().version().number, 2, "a rollback needs two as well");
    assert!(bench.engine.approve(&handle, "ann", 2, signature("by myself")).is_err());
    bench.engine.approve(&handle, "bob", 2, signature("back")).expect("rolled back");
    assert_eq!(handle.live.lock().version().origin, VersionOrigin::Rollback { to: 1 });
    bench.verify();
}

#[test]
fn a_change_outside_the_plan_is_refused() {
    let mut bench = Bench::new();
    let handle = bench.register("review_every = 1000000\nbounds = { \"cut 1\" = [75, 85] }", "none");
    bench.cases(&handle, 3000);
    let outcome = bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    assert_eq!(outcome.proposal, None);
    assert!(outcome.refused[0].starts_with("cut 1 would be"), "{:?}", outcome.refused);
    let reasons = handle.live.lock().state().reviews.refused.clone();
    assert_eq!(reasons, Some(outcome.refused), "recorded as such");
    bench.verify();
}

#[test]
fn a_proposal_expires_even_if_the_clock_is_set_back() {
    let mut bench = Bench::new();
    let handle = bench.register("review_every = 1000000\nproposal_expires = \"2 days\"", "none");
    bench.cases(&handle, 3000);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    bench.pass(3 * 86_400_000);
    let late = bench.engine.approve(&handle, "ann", 1, signature("yes"));
    assert!(matches!(late, Err(ChangeError::Objection(Objection::ProposalExpired(1)))));
    bench.now.store(5, std::sync::atomic::Ordering::SeqCst);
    bench.people(&handle, 5);
    bench.pass(4 * 86_400_000);
    let outcome = bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    assert_eq!(outcome.proposal, Some(2));
    assert_eq!(handle.live.lock().state().proposals[0].status, ProposalStatus::Expired);
    bench.verify();
}

#[test]
fn a_repeated_request_gets_the_same_response() {
    let mut bench = Bench::new();
    let handle = bench.register("review_every = 1000000", "equipoise:0.9");
    let requests = |age| (0..40).map(|at| request(&handle, age, Some(["a", "b", "c", "d"][at % 4]))).collect();
    let first = block_on(bench.engine.decide(&handle, "ward", requests(66.0)));
    let numbers: std::collections::BTreeSet<u64> =
        first.iter().map(|answer| answer.as_ref().expect("one").decision).collect();
    assert_eq!(numbers.len(), 4, "four keys, four decisions");
    let again = block_on(bench.engine.decide(&handle, "ward", requests(66.0)));
    let plain = |answers: Vec<Result<rarely_live::engine::DecisionResponse, DecisionError>>| -> Vec<_> {
        answers.into_iter().map(|answer| answer.expect("an answer")).collect()
    };
    assert_eq!(plain(first), plain(again));
    let other = block_on(bench.engine.decide(&handle, "ward", requests(67.0)));
    assert!(other.iter().all(|answer| matches!(answer, Err(DecisionError::KeyTaken { .. }))));

    let decision = *numbers.first().expect("one");
    let report = |outcome, correction| {
        vec![NewOutcome::OfDecision { decision, outcome, guardrails: BTreeMap::new(), correction }]
    };
    let observe = |reports| block_on(bench.engine.observe(&handle, "ward", reports)).remove(0);
    let event = observe(report(0.5, None)).expect("recorded").event;
    let twice = observe(report(0.5, None)).expect("known");
    assert_eq!((twice.event, twice.repeated), (event, true));
    assert!(matches!(observe(report(0.6, None)), Err(OutcomeError::Differs { .. })));
    let because = |reason: &str| Some(reason.to_owned());
    observe(report(0.6, because("a slip"))).expect("corrected");
    assert!(matches!(observe(report(0.7, because(" "))), Err(OutcomeError::NoReason(_))));
    observe(report(0.7, because("another slip"))).expect("corrected again");
    assert!(matches!(observe(report(9.0, None)), Err(OutcomeError::Value(_))));
    let unknown =
        vec![NewOutcome::OfDecision { decision: 999, outcome: 0.1, guardrails: BTreeMap::new(), correction: None }];
    assert!(matches!(observe(unknown), Err(OutcomeError::Unknown(999))));
    let other = *numbers.last().expect("one");
    let nothing = vec![NewOutcome::OfDecision {
        decision: other,
        outcome: 0.1,
        guardrails: BTreeMap::new(),
        correction: Some("late".to_owned()),
    }];
    assert!(matches!(observe(nothing), Err(OutcomeError::NothingToCorrect(_))));
    assert_eq!(handle.live.lock().state().counts.corrections, 2);
    assert_eq!(handle.live.lock().state().learned.outcomes(), 1);
    drop(handle);
    bench.restart();
    let handle = bench.engine.policy("screening").expect("still there");
    let kept = block_on(bench.engine.decide(&handle, "ward", vec![request(&handle, 66.0, Some("a"))]))
        .remove(0)
        .expect("known");
    assert!(numbers.contains(&kept.decision), "also after a restart");
    bench.verify();
}

/// A live policy would ignore fairness columns and rules by group: it is not registered.
#[test]
fn what_only_a_review_takes_into_account_is_refused() {
    let bench = Bench::new();
    let plain = crate::support::document("", "none");
    for (text, expected) in [
        (format!("fairness = [\"sex\"]\n{plain}"), "fairness columns"),
        (format!("{plain}[groups]\ncolumn = \"department\"\n"), "rules by group"),
    ] {
        let Err(error @ ChangeError::OnlyReviewed(_)) = bench.engine.register("owner", &text, 7) else {
            panic!("{expected}")
        };
        assert!(error.to_string().contains(expected), "{error}");
        assert!(rarely_error::Explain::remedy(&error).is_some());
    }
}

//! What becomes of a policy: register, decide, learn, propose, sign, roll back, stop.

use rarely_live::engine::{AskError, ChangeError, OutcomeError, Report};
use rarely_live::{Objection, Origin, Status};
use rarely_review::Verdict;

use crate::support::{Bench, ask, block_on, signature};

#[test]
fn a_whole_life() {
    let mut bench = Bench::new();
    let slot = bench.register("approval = \"one\"\nreview_every = 100000", "none");
    assert_eq!(bench.register("approval = \"one\"\nreview_every = 100000", "none").id, slot.id, "the same again");
    bench.cases(&slot, 3000);
    let outcome = bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    assert_eq!((outcome.verdict, outcome.proposal), (Verdict::Change, Some(1)));
    let again = bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    assert_eq!(again.proposal, None, "one proposal at a time");

    let wordless = bench.engine.approve(&slot, "ann", 1, signature(" "));
    assert!(matches!(wordless, Err(ChangeError::Objection(Objection::Wordless("meaning")))));
    bench.engine.reject(&slot, "ann", 1, signature("not yet")).expect("refused");
    assert!(bench.engine.approve(&slot, "bob", 1, signature("after all")).is_err(), "it is closed");
    bench.engine.review(&slot, None).expect("a review");
    assert!(slot.live.lock().open_proposal().is_none(), "nothing new on the same evidence, unless somebody asks");
    bench.cases(&slot, 1000);
    bench.engine.review(&slot, None).expect("a review");
    bench.engine.approve(&slot, "bob", 2, signature("for the clinic")).expect("approved");
    assert_eq!(slot.decider().version, 2);
    {
        let live = slot.live.lock();
        assert_eq!(live.version().origin, Origin::Proposal { proposal: 2 });
        assert_eq!(live.version().signers[0].name, "bob");
        assert!(matches!(live.state().proposals[0].status, Status::Rejected { .. }));
    }
    bench.people(&slot, 50);
    bench.engine.roll_back(&slot, "bob", 1, signature("a complaint")).expect("rolled back");
    assert_eq!(slot.decider().version, 3);
    let same = bench.engine.roll_back(&slot, "bob", 1, signature("again"));
    assert!(matches!(same, Err(ChangeError::Objection(Objection::SameRule { version: 1 }))));
    bench.people(&slot, 50);
    let before = slot.live.lock().state().clone();
    bench.restart();
    let slot = bench.engine.policy("screening").expect("still there");
    assert_eq!(*slot.live.lock().state(), before, "the same after a restart");
    bench.people(&slot, 10);
    let findings = bench.verify();
    assert_eq!((findings.versions, findings.proposals, findings.decisions), (3, 2, 110));
    assert!(findings.snapshot.is_some());
}

#[test]
fn exploring_decisions_are_drawn_again() {
    let mut bench = Bench::new();
    let slot = bench.register("approval = \"automatic\"\nreview_every = 50", "pilot:3+equipoise:0.5");
    bench.people(&slot, 400);
    bench.engine.stop_policy(&slot, "ann", signature("stop")).expect("stopped");
    assert!(!slot.decider().explores());
    bench.people(&slot, 20);
    bench.engine.resume_policy(&slot, "ann", signature("go on")).expect("resumed");
    bench.people(&slot, 20);
    let findings = bench.verify();
    assert_eq!(findings.decisions, 440);
    assert!(findings.versions >= 2, "it changed by itself: {findings:?}");
    let state = slot.live.lock().state().clone();
    assert!(state.counts.explored > 50, "{:?}", state.counts);
    let stopped = state.versions.iter().find(|version| matches!(version.origin, Origin::Stop { .. }));
    assert_eq!(stopped.expect("a version").rule, state.versions[0].rule, "back to what a person had signed");
}

#[test]
fn two_people_sign() {
    let mut bench = Bench::new();
    let slot = bench.register("approval = \"two\"\nreview_every = 1000000", "none");
    bench.cases(&slot, 3000);
    bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    bench.engine.approve(&slot, "ann", 1, signature("yes")).expect("a first signature");
    assert_eq!(slot.live.lock().version().number, 1);
    let twice = bench.engine.approve(&slot, "ann", 1, signature("yes, yes"));
    assert!(matches!(twice, Err(ChangeError::Objection(Objection::SameSigner { .. }))));
    bench.engine.approve(&slot, "bob", 1, signature("me too")).expect("a second one");
    assert_eq!(slot.live.lock().version().signers.len(), 2);
    bench.engine.roll_back(&slot, "ann", 1, signature("back")).expect("proposed");
    assert_eq!(slot.live.lock().version().number, 2, "a rollback needs two as well");
    assert!(bench.engine.approve(&slot, "ann", 2, signature("by myself")).is_err());
    bench.engine.approve(&slot, "bob", 2, signature("back")).expect("rolled back");
    assert_eq!(slot.live.lock().version().origin, Origin::Rollback { to: 1 });
    bench.verify();
}

#[test]
fn the_plan_refuses() {
    let mut bench = Bench::new();
    let slot = bench.register("review_every = 1000000\nbounds = { \"cut 1\" = [75, 85] }", "none");
    bench.cases(&slot, 3000);
    let outcome = bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    assert_eq!(outcome.proposal, None);
    assert!(outcome.refused[0].starts_with("cut 1 would be"), "{:?}", outcome.refused);
    let reasons = slot.live.lock().state().reviews.refused.clone();
    assert_eq!(reasons, Some(outcome.refused), "recorded as such");
    bench.verify();
}

#[test]
fn a_proposal_expires_and_a_clock_goes_backwards() {
    let mut bench = Bench::new();
    let slot = bench.register("review_every = 1000000\nproposal_expires = \"2 days\"", "none");
    bench.cases(&slot, 3000);
    bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    bench.pass(3 * 86_400_000);
    let late = bench.engine.approve(&slot, "ann", 1, signature("yes"));
    assert!(matches!(late, Err(ChangeError::Objection(Objection::TooLate(1)))));
    bench.now.store(5, std::sync::atomic::Ordering::SeqCst);
    bench.people(&slot, 5);
    bench.pass(4 * 86_400_000);
    let outcome = bench.engine.review(&slot, Some(("ann", None))).expect("a review");
    assert_eq!(outcome.proposal, Some(2));
    assert_eq!(slot.live.lock().state().proposals[0].status, Status::Expired);
    bench.verify();
}

#[test]
fn the_same_request_again() {
    let mut bench = Bench::new();
    let slot = bench.register("review_every = 1000000", "equipoise:0.9");
    let asks = |age| (0..40).map(|at| ask(&slot, age, Some(["a", "b", "c", "d"][at % 4]))).collect();
    let first = block_on(bench.engine.decide(&slot, "ward", asks(66.0)));
    let numbers: std::collections::BTreeSet<u64> =
        first.iter().map(|answer| answer.as_ref().expect("one").decision).collect();
    assert_eq!(numbers.len(), 4, "four keys, four decisions");
    let again = block_on(bench.engine.decide(&slot, "ward", asks(66.0)));
    let plain = |answers: Vec<Result<rarely_live::engine::Answer, AskError>>| -> Vec<_> {
        answers.into_iter().map(|answer| answer.expect("an answer")).collect()
    };
    assert_eq!(plain(first), plain(again));
    let other = block_on(bench.engine.decide(&slot, "ward", asks(67.0)));
    assert!(other.iter().all(|answer| matches!(answer, Err(AskError::KeyTaken { .. }))));

    let decision = *numbers.first().expect("one");
    let report = |outcome, correction| vec![Report::Outcome { decision, outcome, correction }];
    let observe = |reports| block_on(bench.engine.observe(&slot, "ward", reports)).remove(0);
    let event = observe(report(0.5, None)).expect("taken in").event;
    let twice = observe(report(0.5, None)).expect("known");
    assert_eq!((twice.event, twice.repeated), (event, true));
    assert!(matches!(observe(report(0.6, None)), Err(OutcomeError::Differs { .. })));
    observe(report(0.6, Some(Some("a slip".to_owned())))).expect("corrected");
    observe(report(0.7, Some(None))).expect("corrected again");
    assert!(matches!(observe(report(9.0, None)), Err(OutcomeError::Value(_))));
    let unknown = vec![Report::Outcome { decision: 999, outcome: 0.1, correction: None }];
    assert!(matches!(observe(unknown), Err(OutcomeError::Unknown(999))));
    let other = *numbers.last().expect("one");
    let nothing = vec![Report::Outcome { decision: other, outcome: 0.1, correction: Some(None) }];
    assert!(matches!(observe(nothing), Err(OutcomeError::NothingToCorrect(_))));
    assert_eq!(slot.live.lock().state().counts.corrections, 2);
    assert_eq!(slot.live.lock().state().learned.outcomes(), 1);
    drop(slot);
    bench.restart();
    let slot = bench.engine.policy("screening").expect("still there");
    let kept =
        block_on(bench.engine.decide(&slot, "ward", vec![ask(&slot, 66.0, Some("a"))])).remove(0).expect("known");
    assert!(numbers.contains(&kept.decision), "also after a restart");
    bench.verify();
}

//! Amendments of a policy's document.

use std::collections::BTreeMap;
use std::sync::Arc;

use rarely_live::engine::{DecisionError, NewOutcome, PolicyHandle};
use rarely_live::{Objection, ProposalStatus, RecordField, VersionOrigin};

use crate::support::{Bench, block_on, document, request, signature};

const BY_HAND: &str = "signatures = \"token\"\napproval = \"one\"\nreview_every = 1000000";

fn amend(bench: &Bench, handle: &PolicyHandle, text: &str) -> u64 {
    let number = bench.engine.amend(handle, "owner", text, "the world has changed").expect("a proposal");
    bench.engine.approve(handle, "ann", number, signature("I agree")).expect("signed");
    number
}

fn refusal(bench: &Bench, handle: &PolicyHandle, text: &str) -> String {
    let refused = bench.engine.amend(handle, "owner", text, "because");
    refused.expect_err("it is refused").to_string()
}

fn outcomes(handle: &PolicyHandle) -> u64 {
    handle.live.lock().state().learned.outcomes()
}

fn report(bench: &Bench, handle: &PolicyHandle, decision: u64, outcome: f64, correction: Option<&str>) {
    let correction = correction.map(ToOwned::to_owned);
    let report = NewOutcome::OfDecision { decision, outcome, guardrails: BTreeMap::new(), correction };
    block_on(bench.engine.observe(handle, "ward", vec![report])).remove(0).expect("recorded");
}

#[test]
fn noise_and_plan_are_amended_and_what_was_learned_stays() {
    let mut bench = Bench::new();
    let handle = bench.register(BY_HAND, "none");
    bench.people(&handle, 30);
    let text =
        document(&format!("{BY_HAND}\noutcome_window = \"2 days\""), "none").replace("noise = 0.1", "noise = 0.2");
    let number = bench.engine.amend(&handle, "owner", &text, "the noise was measured").expect("a proposal");
    assert_eq!(bench.engine.amend(&handle, "owner", &text, "again").expect("the same"), number, "asked twice");
    assert_eq!(handle.live.lock().version().number, 1, "a proposal changes nothing");
    bench.engine.approve(&handle, "ann", number, signature("I agree")).expect("signed");
    {
        let live = handle.live.lock();
        assert_eq!((live.version().number, live.version().origin), (2, VersionOrigin::Amendment { proposal: number }));
        assert_eq!(live.document().noise(), Some(0.2));
        assert_eq!(live.edition_of(1).document.noise(), Some(0.1));
    }
    assert_eq!(outcomes(&handle), 30);
    bench.people(&handle, 20);
    assert_eq!(outcomes(&handle), 50);
    let summary = bench.verify();
    assert_eq!((summary.decisions, summary.versions), (50, 2));
    let before = handle.live.lock().state().clone();
    drop(handle);
    bench.restart();
    let handle = bench.engine.policy("screening").expect("the policy");
    assert_eq!(*handle.live.lock().state(), before);
    assert_eq!(handle.edition().text, text);
}

#[test]
fn with_a_wider_range_the_statistics_start_again_and_old_decisions_can_be_repeated() {
    let mut bench = Bench::new();
    let handle = bench.register(BY_HAND, "none");
    bench.people(&handle, 25);
    let (open, corrected) = (bench.decide(&handle, 85.0), bench.decide(&handle, 50.0));
    report(&bench, &handle, corrected, 0.1, None);
    let old = handle.edition();
    let late = request(&handle, 60.0, None);
    old.request_of(None, vec![RecordField::Number(100.0)]).expect_err("beyond the range");

    let wider = document(BY_HAND, "none").replace("[40, 90]", "[40, 110]");
    let number = bench.engine.amend(&handle, "owner", &wider, "people get older").expect("a proposal");
    let effect = handle.live.lock().amendment(&handle.edition());
    assert!(matches!(effect, Err(Objection::Amendment { .. })), "the document in force is no amendment");
    bench.engine.approve(&handle, "ann", number, signature("I agree")).expect("signed");
    assert_eq!(outcomes(&handle), 0, "the sums were on another scale");
    assert!(!Arc::ptr_eq(&old, &handle.edition()));

    let refused = block_on(bench.engine.decide(&handle, "ward", vec![late])).remove(0);
    assert!(matches!(refused, Err(DecisionError::Amended)), "its record was read with the old document");
    let aged = bench.decide(&handle, 100.0);
    report(&bench, &handle, open, 0.3, None);
    report(&bench, &handle, corrected, 0.2, Some("misread"));
    assert_eq!(outcomes(&handle), 0, "outcomes of earlier decisions are recorded, not learned");
    report(&bench, &handle, aged, 0.7, None);
    assert_eq!(outcomes(&handle), 1);
    assert_eq!(handle.live.lock().state().counts.outcomes(), 28);
    bench.people(&handle, 10);
    bench.cases(&handle, 5);
    assert_eq!(outcomes(&handle), 16);
    let summary = bench.verify();
    assert_eq!((summary.decisions, summary.versions), (38, 2));
    let before = handle.live.lock().state().clone();
    drop(handle);
    bench.restart();
    let handle = bench.engine.policy("screening").expect("the policy");
    assert_eq!(*handle.live.lock().state(), before);
    bench.people(&handle, 5);
    bench.verify();
}

#[test]
fn an_option_a_feature_and_exploration_come_with_an_amendment() {
    let mut bench = Bench::new();
    let handle = bench.register(BY_HAND, "none");
    bench.people(&handle, 12);
    let decided = handle.live.lock().state().counts.decided.clone();
    let control = format!("{BY_HAND}\noutcome_window = \"1 day\"");
    let more = document(&control, "pilot:3+equipoise:0.5")
        .replace("options = [\"wait\", \"invite\"]\noutcome", "options = [\"call\", \"wait\", \"invite\"]\noutcome");
    amend(&bench, &handle, &more);
    assert_eq!(handle.live.lock().state().counts.decided, [0, decided[0], decided[1]], "counted by name");
    bench.people(&handle, 60);
    let drawn = handle.live.lock().state().counts.clone();
    assert!(drawn.explored > 0 && drawn.decided[0] > 0, "{drawn:?}");
    assert_eq!(bench.verify().decisions, 72, "each is drawn again");

    let with_sex = more.replace("[evidence]", "[[features]]\ncolumn = \"sex\"\nlevels = [\"f\", \"m\"]\n[evidence]");
    amend(&bench, &handle, &with_sex);
    let record = vec![RecordField::Number(70.0), RecordField::Text("m".to_owned())];
    let ask = handle.edition().request_of(None, record).expect("in range");
    let made = block_on(bench.engine.decide(&handle, "ward", vec![ask])).remove(0).expect("an answer");
    report(&bench, &handle, made.decision, 0.1, None);
    assert_eq!((made.version, outcomes(&handle)), (3, 1));
    let summary = bench.verify();
    assert_eq!((summary.decisions, summary.versions), (73, 3));
}

#[test]
fn what_an_amendment_may_not_do() {
    let mut bench = Bench::new();
    let handle = bench.register(BY_HAND, "none");
    let text = document(BY_HAND, "none");
    for (from, to, part) in [
        ("policy = \"screening\"", "policy = \"other\"", "its name is \"other\""),
        ("cuts = [80]", "cuts = [70]", "its rule is not the rule in force: invite from 70, was 80"),
        ("noise = 0.1", "noise = 0.1", "it is the document in force"),
        ("noise = 0.1", "noise = -1", "noise"),
    ] {
        let refused = refusal(&bench, &handle, &text.replace(from, to));
        assert!(refused.contains(part), "{refused}");
    }
    let (three, four) = ("\"wait\", \"invite\", \"call\"]\noutcome", "\"wait\", \"invite\", \"visit\"]\noutcome");
    amend(&bench, &handle, &text.replace("\"wait\", \"invite\"]\noutcome", three));
    let refused = refusal(&bench, &handle, &text.replace("\"wait\", \"invite\"]\noutcome", four));
    assert!(refused.contains("it has no option \"call\""), "{refused}");
    let wordless = bench.engine.amend(&handle, "owner", &text.replace("0.1", "0.3"), "  ");
    assert!(wordless.is_err_and(|error| error.to_string().contains("no reason")));

    bench.cases(&handle, 600);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    let open = handle.live.lock().open_proposal().map(|open| open.number).expect("evidence for a change");
    let refused =
        refusal(&bench, &handle, &text.replace("\"wait\", \"invite\"]\noutcome", three).replace("0.1", "0.3"));
    assert!(refused.contains(&format!("proposal {open} is still open")), "{refused}");
    bench.verify();
}

#[test]
fn a_rule_that_no_longer_fits_is_not_rolled_back_to() {
    let mut bench = Bench::new();
    let handle = bench.register(BY_HAND, "none");
    bench.cases(&handle, 600);
    bench.engine.review(&handle, Some(("ann", None))).expect("a review");
    bench.engine.approve(&handle, "ann", 1, signature("I agree")).expect("signed");
    let in_force = handle.live.lock().document().rule().clone();
    let narrow = document(BY_HAND, "none").replace("[40, 90]", "[40, 75]");
    let narrow = rarely_policy::apply(&narrow.replace("[80]", "[70]"), &in_force).expect("the rule in force fits");
    amend(&bench, &handle, &narrow);
    let back = bench.engine.roll_back(&handle, "ann", 1, signature("back"));
    let refused = back.expect_err("80 is beyond the range").to_string();
    assert!(refused.contains("the rule of version 1 does not fit the document in force"), "{refused}");
    bench.verify();
}

#[test]
fn people_sign_an_amendment_whatever_the_plan_says() {
    for (approval, needed) in [("automatic", 1), ("one", 1), ("two", 2)] {
        let bench = Bench::new();
        let control = format!("signatures = \"token\"\napproval = \"{approval}\"");
        let handle = bench.register(&control, "none");
        bench.engine.stop_policy(&handle, "ann", signature("stop")).expect("stopped");
        let text = document(&control, "none").replace("noise = 0.1", "noise = 0.2");
        let number = bench.engine.amend(&handle, "owner", &text, "while it is stopped").expect("a proposal");
        for (at, person) in ["ann", "ben"].into_iter().take(needed).enumerate() {
            assert_eq!(handle.live.lock().version().number, 1, "{at} of {needed} have signed");
            bench.engine.approve(&handle, person, number, signature("I agree")).expect("signed");
        }
        assert_eq!(handle.live.lock().version().number, 2);
        // A rejection counts for nothing but itself.
        let other = bench.engine.amend(&handle, "owner", &text.replace("0.2", "0.4"), "once more").expect("a proposal");
        bench.engine.reject(&handle, "ann", other, signature("no")).expect("rejected");
        let live = handle.live.lock().clone();
        let status = &live.state().proposals.last().expect("the proposal").status;
        assert!(matches!(status, ProposalStatus::Rejected { .. }) && live.state().reviews.rejected_at.is_none());
        bench.verify();
    }
}

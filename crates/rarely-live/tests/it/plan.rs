//! The plan: every allowed and every refused act, one row each.

use rarely_core::Digest;
use rarely_live::event::{
    Event, Expired, Proposed, Recovered, Registered, ReviewPoint, Reviewed, RolledBack, Signature, Signed,
};
use rarely_live::{EventHeader, LivePolicy, Objection, SignedAct};
use rarely_policy::{PolicyDocument, SignedWith};

use crate::support::document;

const HOUR_MS: u64 = 3_600_000;
/// Proposals expire after this many hours.
const EXPIRY: u64 = 48;
const ENGINE: &str = rarely_live::ENGINE_ACTOR;

/// What is done, by whom, and at which hour.
#[derive(Debug, Clone, Copy)]
struct Step(u64, &'static str, Act);

#[derive(Debug, Clone, Copy)]
enum Act {
    /// Proposes the rule with this cut.
    Propose(Proposal),
    Approve(u64, Words),
    Reject(u64, Words),
    RollBack(u64, Words),
    Stop(Words),
    Resume(Words),
    Expire(u64),
    Confirm(Words),
    /// An event that does not belong to a policy.
    Foreign,
}

#[derive(Debug, Clone, Copy)]
struct Proposal {
    number: u64,
    version: u64,
    cut: u32,
    rollback: Option<u64>,
    signed: bool,
}

/// The texts of a signature.
#[derive(Debug, Clone, Copy)]
enum Words {
    Complete,
    NoMeaning,
    NoReason,
}
use Words::{Complete, NoMeaning, NoReason};

/// A proposal of evidence: the first one, of a rule with the cut at 70.
const FIRST: Proposal = Proposal { number: 1, version: 1, cut: 70, rollback: None, signed: false };
/// The one after it was approved.
const SECOND: Proposal = Proposal { number: 2, version: 2, cut: 66, rollback: None, signed: false };
/// A proposed rollback to version 1, whose rule has the cut at 80.
const BACK: Proposal = Proposal { number: 2, version: 2, cut: 80, rollback: Some(1), signed: true };

const PROPOSED: Step = Step(1, ENGINE, Act::Propose(FIRST));
const APPROVED: Step = Step(2, "ann", Act::Approve(1, Complete));
const APPROVED_BY_BOB: Step = Step(2, "bob", Act::Approve(1, Complete));
const REJECTED: Step = Step(2, "ann", Act::Reject(1, Complete));
const EXPIRED: Step = Step(1 + EXPIRY, ENGINE, Act::Expire(1));
const STOPPED: Step = Step(3, "ann", Act::Stop(Complete));

/// Plans: how many signatures, and limits.
const ONE: &str = "approval = \"one\"";
const TWO: &str = "approval = \"two\"";
const NONE: &str = "approval = \"automatic\"";
const ONCE: &str = "maximum_changes = 1";
const MONTHLY: &str = "minimum_days_between_changes = 30";
const BOUNDED: &str = "bounds = { \"cut 1\" = [75, 85] }";

/// Plan; what happened before; what is done; allowed, or part of the objection.
type Row = (&'static str, &'static [Step], Step, Result<(), &'static str>);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Proposals.
    (ONE, &[], PROPOSED, Ok(())),
    (ONE, &[PROPOSED], Step(2, ENGINE, Act::Propose(Proposal { number: 2, ..FIRST })), Err("proposal 1 is still open")),
    (ONE, &[PROPOSED, REJECTED], Step(3, ENGINE, Act::Propose(Proposal { number: 2, ..FIRST })), Ok(())),
    (ONE, &[PROPOSED, APPROVED], Step(3, ENGINE, Act::Propose(SECOND)), Ok(())),
    (ONE, &[], Step(1, ENGINE, Act::Propose(Proposal { number: 7, ..FIRST })), Err("wrong number")),
    (ONE, &[], Step(1, ENGINE, Act::Propose(Proposal { version: 7, ..FIRST })), Err("refers to version 7, but version 1 is in force")),
    (ONE, &[], Step(1, ENGINE, Act::Propose(Proposal { signed: true, ..FIRST })), Err("or another proposal with one")),
    (ONE, &[STOPPED], Step(4, ENGINE, Act::Propose(FIRST)), Err("the policy is stopped")),
    (BOUNDED, &[], PROPOSED, Err("does not allow the change: cut 1")),
    (BOUNDED, &[], Step(1, ENGINE, Act::Propose(Proposal { cut: 78, ..FIRST })), Ok(())),
    (ONCE, &[PROPOSED, APPROVED], Step(3, ENGINE, Act::Propose(SECOND)), Err("1 of at most 1 changes")),
    (MONTHLY, &[PROPOSED, APPROVED], Step(30 * 24, ENGINE, Act::Propose(SECOND)), Err("version 2 is less than 30 days old")),
    (MONTHLY, &[PROPOSED, APPROVED], Step(2 + 30 * 24, ENGINE, Act::Propose(SECOND)), Ok(())),
    // Approvals.
    (ONE, &[PROPOSED], APPROVED, Ok(())),
    (ONE, &[PROPOSED], Step(EXPIRY, "ann", Act::Approve(1, Complete)), Ok(())),
    (ONE, &[PROPOSED], Step(1 + EXPIRY, "ann", Act::Approve(1, Complete)), Err("proposal 1 has expired")),
    (ONE, &[PROPOSED], Step(2, "ann", Act::Approve(1, NoMeaning)), Err("no meaning")),
    (ONE, &[PROPOSED], Step(2, "ann", Act::Approve(1, NoReason)), Err("no reason")),
    (ONE, &[PROPOSED], Step(2, "ann", Act::Approve(2, Complete)), Err("no proposal 2")),
    (ONE, &[PROPOSED], Step(2, ENGINE, Act::Approve(1, Complete)), Err("without a signature")),
    (ONE, &[PROPOSED, APPROVED], Step(3, "bob", Act::Approve(1, Complete)), Err("proposal 1 is approved")),
    (ONE, &[PROPOSED, REJECTED], Step(3, "bob", Act::Approve(1, Complete)), Err("proposal 1 is rejected")),
    (ONE, &[PROPOSED, EXPIRED], Step(60, "bob", Act::Approve(1, Complete)), Err("proposal 1 is expired")),
    (ONE, &[PROPOSED, STOPPED], Step(4, "bob", Act::Approve(1, Complete)), Err("the policy is stopped")),
    (ONE, &[PROPOSED, APPROVED, Step(3, ENGINE, Act::Propose(SECOND)), Step(4, "ann", Act::RollBack(1, Complete))],
        Step(5, "bob", Act::Approve(2, Complete)), Err("proposal 2 is overtaken")),
    (NONE, &[PROPOSED], Step(2, ENGINE, Act::Approve(1, Complete)), Ok(())),
    (NONE, &[PROPOSED], APPROVED, Ok(())),
    (TWO, &[PROPOSED], APPROVED, Ok(())),
    (TWO, &[PROPOSED], Step(2, ENGINE, Act::Approve(1, Complete)), Err("without a signature")),
    (TWO, &[PROPOSED, APPROVED], Step(3, "ann", Act::Approve(1, Complete)), Err("ann has already signed")),
    (TWO, &[PROPOSED, APPROVED], Step(3, "bob", Act::Approve(1, Complete)), Ok(())),
    // Rejections. They are allowed while the policy is stopped, and until the expiry is recorded.
    (ONE, &[PROPOSED], REJECTED, Ok(())),
    (ONE, &[PROPOSED], Step(60, "ann", Act::Reject(1, Complete)), Ok(())),
    (ONE, &[PROPOSED, STOPPED], Step(4, "ann", Act::Reject(1, Complete)), Ok(())),
    (TWO, &[PROPOSED, APPROVED], Step(3, "ann", Act::Reject(1, Complete)), Ok(())),
    (ONE, &[PROPOSED], Step(2, "ann", Act::Reject(1, NoMeaning)), Err("no meaning")),
    (ONE, &[PROPOSED], Step(2, "ann", Act::Reject(1, NoReason)), Err("no reason")),
    (ONE, &[], REJECTED, Err("no proposal 1")),
    (ONE, &[PROPOSED, APPROVED], Step(3, "ann", Act::Reject(1, Complete)), Err("proposal 1 is approved")),
    (ONE, &[PROPOSED, EXPIRED], Step(60, "ann", Act::Reject(1, Complete)), Err("proposal 1 is expired")),
    // Expiry.
    (ONE, &[PROPOSED], EXPIRED, Ok(())),
    (ONE, &[PROPOSED], Step(EXPIRY, ENGINE, Act::Expire(1)), Err("before its expiry time")),
    (ONE, &[], Step(60, ENGINE, Act::Expire(1)), Err("no proposal 1")),
    (ONE, &[PROPOSED, REJECTED], Step(60, ENGINE, Act::Expire(1)), Err("proposal 1 is rejected")),
    // Rollbacks. The plan's limits do not apply to them.
    (ONE, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(1, Complete)), Ok(())),
    (MONTHLY, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(1, Complete)), Ok(())),
    (ONCE, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(1, Complete)), Ok(())),
    (ONE, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(1, NoMeaning)), Err("no meaning")),
    (ONE, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(1, NoReason)), Err("no reason")),
    (ONE, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(2, Complete)), Err("version 2 has the rule that is in force")),
    (ONE, &[PROPOSED, APPROVED], Step(3, "bob", Act::RollBack(3, Complete)), Err("no version 3")),
    (ONE, &[PROPOSED, APPROVED, STOPPED], Step(4, "bob", Act::RollBack(1, Complete)), Err("the policy is stopped")),
    (TWO, &[PROPOSED, APPROVED, APPROVED_BY_BOB], Step(3, "ann", Act::RollBack(1, Complete)), Err("the document requires two")),
    (TWO, &[PROPOSED, APPROVED, APPROVED_BY_BOB], Step(3, "ann", Act::Propose(BACK)), Ok(())),
    (TWO, &[PROPOSED, APPROVED, APPROVED_BY_BOB], Step(3, "ann", Act::Propose(Proposal { signed: false, ..BACK })), Err("a rollback without a signature")),
    (TWO, &[PROPOSED, APPROVED, APPROVED_BY_BOB, Step(3, "ann", Act::Propose(BACK))], Step(4, "ann", Act::Approve(2, Complete)), Err("ann has already signed")),
    (TWO, &[PROPOSED, APPROVED, APPROVED_BY_BOB, Step(3, "ann", Act::Propose(BACK))], Step(4, "bob", Act::Approve(2, Complete)), Ok(())),
    // Stopping and resuming.
    (ONE, &[], STOPPED, Ok(())),
    (ONE, &[], Step(3, "ann", Act::Stop(NoMeaning)), Err("no meaning")),
    (ONE, &[], Step(3, "ann", Act::Stop(NoReason)), Err("no reason")),
    (ONE, &[STOPPED], Step(4, "ann", Act::Stop(Complete)), Err("the policy is stopped")),
    (ONE, &[STOPPED], Step(4, "ann", Act::Resume(Complete)), Ok(())),
    (ONE, &[STOPPED], Step(4, "ann", Act::Resume(NoMeaning)), Err("no meaning")),
    (ONE, &[STOPPED], Step(4, "ann", Act::Resume(NoReason)), Err("no reason")),
    (ONE, &[], Step(4, "ann", Act::Resume(Complete)), Err("the policy is not stopped")),
    // A signed review that nothing changes.
    (ONE, &[], Step(1, "ann", Act::Confirm(Complete)), Ok(())),
    (ONE, &[STOPPED], Step(4, "ann", Act::Confirm(Complete)), Ok(())),
    (ONE, &[], Step(1, "ann", Act::Confirm(NoMeaning)), Err("no meaning")),
    (ONE, &[], Step(1, "ann", Act::Confirm(NoReason)), Err("no reason")),
    // Events of the store.
    (ONE, &[], Step(1, ENGINE, Act::Foreign), Err("does not belong to a policy")),
];

#[test]
fn every_allowed_and_refused_act() {
    for (row, (plan, before, act, expected)) in ROWS.iter().enumerate() {
        let what = format!("row {row}: {plan}, after {before:?}: {act:?}");
        let mut live = registered(plan);
        for (number, step) in (2..).zip(*before) {
            perform(&mut live, number, *step).unwrap_or_else(|objection| panic!("{what}: {step:?}: {objection}"));
        }
        let state = live.state().clone();
        match (perform(&mut live, 100, *act), expected) {
            (Ok(()), Ok(())) => assert_ne!(*live.state(), state, "{what}"),
            (Err(objection), Err(part)) => {
                assert!(objection.to_string().contains(part), "{what}: {objection}");
                assert_eq!(*live.state(), state, "{what}: a refused act changes nothing");
            }
            (found, _) => panic!("{what}: {found:?}, but expected {expected:?}"),
        }
    }
}

#[test]
fn when_an_automatic_review_may_propose() {
    let rows: [(&[Step], bool); 6] = [
        (&[], true),
        (&[PROPOSED], false),
        (&[PROPOSED, APPROVED], true),
        // The proposal was based on 100 outcomes, and there are no more now.
        (&[PROPOSED, REJECTED], false),
        (&[PROPOSED, EXPIRED], true),
        (&[STOPPED], false),
    ];
    for (before, expected) in rows {
        let mut live = registered(ONE);
        for (number, step) in (2..).zip(before) {
            perform(&mut live, number, *step).unwrap_or_else(|objection| panic!("{step:?}: {objection}"));
        }
        assert_eq!(live.may_propose(), expected, "after {before:?}");
    }
}

fn registered(plan: &str) -> LivePolicy {
    let text = document(&format!("{plan}\nproposal_expires = \"{EXPIRY} hours\""), "none");
    let header = EventHeader { number: 1, time_ms: 0, actor: "owner", hash: rarely_store::Hash::ZERO };
    let registered = Registered { document: text, seed: 7, decision_order: true, signatures: Some(SignedWith::Token) };
    LivePolicy::register(header, &registered).unwrap_or_else(|error| panic!("{error}"))
}

/// Applies the act, and checks that the question asked before it is written gives the same answer.
fn perform(live: &mut LivePolicy, number: u64, Step(hour, actor, act): Step) -> Result<(), Objection> {
    let header = EventHeader { number, time_ms: hour * HOUR_MS, actor, hash: rarely_store::Hash::ZERO };
    let asked = match act {
        Act::Approve(proposal, words) => live.may_sign(proposal, header, &signature(words)),
        Act::Reject(proposal, words) => live.may_reject(proposal, &signature(words)),
        Act::RollBack(to, words) => live.may_roll_back(to, &signature(words)),
        Act::Stop(words) => live.may_stop(&signature(words)),
        Act::Resume(words) => live.may_resume(&signature(words)),
        Act::Propose(_) | Act::Expire(_) | Act::Confirm(_) | Act::Foreign => Ok(()),
    };
    let applied = live.apply(header, &event(act, header.time_ms), None);
    if asked.is_err() {
        assert_eq!(asked, applied, "{act:?}");
    }
    applied
}

fn event(act: Act, time_ms: u64) -> Event {
    match act {
        Act::Propose(proposal) => Event::Proposed(Box::new(proposed(proposal, time_ms))),
        Act::Approve(proposal, words) => Event::Approved(Signed { proposal, signature: signature(words) }),
        Act::Reject(proposal, words) => Event::Rejected(Signed { proposal, signature: signature(words) }),
        Act::RollBack(to, words) => Event::RolledBack(RolledBack { to, signature: signature(words) }),
        Act::Stop(words) => Event::Stopped(signature(words)),
        Act::Resume(words) => Event::Resumed(signature(words)),
        Act::Expire(proposal) => Event::Expired(Expired { proposal }),
        Act::Confirm(words) => Event::Reviewed(Reviewed {
            basis: 1,
            version: 1,
            verdict: rarely_review::Verdict::Keep,
            reasons: Vec::new(),
            point: ReviewPoint { outcomes: 100, strain: 0.5, excluded_share: 0.0, cuts: Vec::new() },
            digest: Digest([0; 32]),
            signature: Some(signature(words)),
        }),
        Act::Foreign => Event::Recovered(Recovered { log_ended: 1, acknowledged: 2 }),
    }
}

fn proposed(proposal: Proposal, time_ms: u64) -> Proposed {
    let text = document("", "none").replace("cuts = [80]", &format!("cuts = [{}]", proposal.cut));
    Proposed {
        proposal: proposal.number,
        basis: 1,
        version: proposal.version,
        rule: PolicyDocument::parse(&text, "document").expect("a document").rule().clone(),
        rollback: proposal.rollback,
        expires_ms: time_ms + EXPIRY * HOUR_MS,
        outcomes: 100,
        digest: Digest([0; 32]),
        amendment: None,
        signature: proposal.signed.then(|| signature(Complete)),
        case: None,
    }
}

fn signature(words: Words) -> Signature {
    let text = |missing| if missing { String::new() } else { "as agreed".to_owned() };
    Signature::by_token(text(matches!(words, NoMeaning)), text(matches!(words, NoReason)))
}

/// A log from before policies could say what people sign with: a token is enough, as it was then.
#[test]
fn an_old_registration_replays_as_it_was() {
    let text = serde_json::to_string(&document(ONE, "none")).expect("a text");
    let body = format!("{{\"document\":{text},\"seed\":7,\"decision_order\":true}}");
    let registered = match Event::parse("registered", &body).expect("an event") {
        Event::Registered(registered) => registered,
        other => panic!("{other:?}"),
    };
    assert_eq!(Event::Registered(registered.clone()).body(), body, "and it is written as it was");
    let header = EventHeader { number: 1, time_ms: 0, actor: "owner", hash: rarely_store::Hash::ZERO };
    let live = LivePolicy::register(header, &registered).expect("a policy");
    assert_eq!((live.signed_with(), live.last_act()), (SignedWith::Token, rarely_store::Hash::ZERO));
    let people = rarely_live::PersonKeys::default();
    for act in [SignedAct::Approve, SignedAct::Reject, SignedAct::RollBack, SignedAct::Stop, SignedAct::Resume] {
        assert!(!live.requires_key(&people, "ann", act), "{act}");
    }
}

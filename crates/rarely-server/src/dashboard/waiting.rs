//! What waits for a visitor: proposals to sign, and policies that are stopped.

use maud::{Markup, html};
use rarely_live::{ProposalRecord, Role};

use super::address;
use super::format::{age, plural, time};
use super::visitor::Visitor;
use crate::views::PolicySummary;

/// A proposal that is open.
struct Waiting {
    policy: String,
    proposal: ProposalRecord,
    needed: usize,
    signed_by_visitor: bool,
}

/// What waits for the visitor; nothing for somebody who signs nothing.
pub(super) fn waiting(visitor: &Visitor, policies: &[&PolicySummary], now_ms: u64) -> Markup {
    let own: Vec<&PolicySummary> =
        policies.iter().filter(|policy| visitor.may(Role::Review, &policy.brief.name)).copied().collect();
    if own.is_empty() {
        return html! {};
    }
    let mut open: Vec<Waiting> = own.iter().filter_map(|policy| waits(visitor, policy)).collect();
    // What expires first stands first.
    open.sort_by_key(|waiting| waiting.proposal.expires_ms);
    let (signed, unsigned): (Vec<Waiting>, Vec<Waiting>) =
        open.into_iter().partition(|waiting| waiting.signed_by_visitor);
    let stopped: Vec<&str> =
        own.iter().filter(|policy| policy.brief.stopped).map(|policy| policy.brief.name.as_str()).collect();
    html! {
        section.waiting aria-labelledby="waits" {
            h2 #waits { "What waits for you" }
            @if unsigned.is_empty() && stopped.is_empty() && signed.is_empty() { p { "Nothing." } }
            @if !unsigned.is_empty() {
                ul { @for waiting in &unsigned { li { (sentence(waiting, now_ms)) } } }
            }
            @for name in &stopped {
                p { a href=(address(name, "")) { (name) } " is stopped. It explores no more and changes nothing until somebody resumes it." }
            }
            @if !signed.is_empty() {
                p { "You have signed, and another signature is needed:" }
                ul { @for waiting in &signed { li { (sentence(waiting, now_ms)) } } }
            }
        }
    }
}

fn waits(visitor: &Visitor, policy: &PolicySummary) -> Option<Waiting> {
    let proposal = policy.open.clone()?;
    let person = visitor.person();
    Some(Waiting {
        policy: policy.brief.name.clone(),
        needed: policy.needed,
        signed_by_visitor: proposal.signers.iter().any(|signer| signer.person_id() == person),
        proposal,
    })
}

fn sentence(Waiting { policy, proposal, needed, .. }: &Waiting, now_ms: u64) -> Markup {
    let what = match (proposal.rollback, &proposal.amendment) {
        (Some(to), _) => format!("a rollback to version {to}"),
        (None, Some(_)) => "another document".to_owned(),
        (None, None) => "another rule".to_owned(),
    };
    let missing = needed.saturating_sub(proposal.signers.len()) as u64;
    html! {
        a href=(address(policy, &format!("/proposals/{}", proposal.number))) { (policy) ": proposal " (proposal.number) }
        ", " (what) ", for " (age(proposal.time_ms, now_ms)) ". It needs " (plural(missing, "signature")) " until " (time(proposal.expires_ms)) "."
    }
}

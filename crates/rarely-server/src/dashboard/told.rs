//! What happened, each event in a sentence.

use maud::{Markup, html};
use rarely_core::Reason;
use rarely_live::Event;
use rarely_live::event::{Observed, Signature};

use super::format::{percent, plural, value};
use super::{address, refusal};

/// An event of a policy in a sentence.
pub(super) fn told(policy: &str, event: &Event) -> Markup {
    let decision =
        |number: u64| html! { a href=(address(policy, &format!("/decisions/{number}"))) { "decision " (number) } };
    let proposal =
        |number: u64| html! { a href=(address(policy, &format!("/proposals/{number}"))) { "proposal " (number) } };
    html! {
        @match event {
            Event::Registered(_) => "The policy was registered; its document is version 1.",
            Event::Decided(decided) => {
                "Somebody was given " strong { (decided.option) } " by version " (decided.version) ": " (why(decided.reason))
                " (probability " (percent(decided.propensity)) ")."
            },
            Event::Observed(Observed { decision: Some(number), outcome, .. }) => { "Outcome " (value(*outcome)) " of " (decision(*number)) "." },
            Event::Observed(Observed { elsewhere, outcome, .. }) => {
                "Outcome " (value(*outcome)) " of a decision taken elsewhere"
                @if let Some(elsewhere) = elsewhere { ": " strong { (elsewhere.option) } } "."
            },
            Event::Corrected(corrected) => {
                "The outcome of " (decision(corrected.decision)) " was corrected from " (value(corrected.from)) " to " (value(corrected.outcome)) "."
                @if let Some(reason) = &corrected.reason { " Reason: " (reason) }
            },
            Event::Reviewed(reviewed) => {
                "Version " (reviewed.version) " was reviewed on " (plural(reviewed.point.outcomes, "outcome")) ": " strong { (reviewed.verdict.name()) } "."
                @for reason in &reviewed.reasons { " " (refusal::sentence(reason)) }
                @if let Some(signature) = &reviewed.signature { (words(signature)) }
            },
            Event::Proposed(proposed) => {
                @match proposed.rollback {
                    Some(to) => { "A rollback to version " (to) " was proposed as " (proposal(proposed.proposal)) "." },
                    None => { "A change was proposed: " (proposal(proposed.proposal)) "." },
                }
                @if let Some(case) = &proposed.case { " " (refusal::sentence(&case.difference.join("; "))) }
                @if let Some(signature) = &proposed.signature { (words(signature)) }
            },
            Event::Refused(refused) => {
                "The evidence asked for a change that the plan does not allow (" (refused.words.join("; ")) "): " (refused.reasons.join("; ")) "."
            },
            Event::Approved(signed) => { "Signed for " (proposal(signed.proposal)) "." (words(&signed.signature)) },
            Event::Rejected(signed) => { "Refused " (proposal(signed.proposal)) "." (words(&signed.signature)) },
            Event::Expired(expired) => { "Nobody signed " (proposal(expired.proposal)) " in time: it lapsed." },
            Event::RolledBack(rolled) => { "The rule of version " (rolled.to) " was put in force again." (words(&rolled.signature)) },
            Event::Stopped(signature) => { "The policy was stopped." (words(signature)) },
            Event::Resumed(signature) => { "The policy was resumed." (words(signature)) },
            other => { (refusal::sentence(other.kind())) },
        }
    }
}

/// Why somebody got an option, in a few words.
pub(super) fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Policy => "the rule says so",
        Reason::Pilot => "the option's turn, to learn",
        Reason::Equipoise | Reason::Draw | Reason::Uniform => "drawn by lot",
        Reason::Optimistic => "the most promising option",
        Reason::Baseline => "the baseline, to be safe",
        Reason::Fixed => "the only option",
        Reason::Recorded => "decided elsewhere",
        _ => "another way of deciding",
    }
}

fn words(signature: &Signature) -> Markup {
    html! { " “" (signature.meaning) "”. Reason: " (signature.reason) }
}

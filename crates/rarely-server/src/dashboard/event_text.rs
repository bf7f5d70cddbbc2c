//! Events in words.

use maud::{Markup, html};
use rarely_core::Reason;
use rarely_live::event::{Observed, RecordsRead, Signature};
use rarely_live::{ENGINE_ACTOR, Event};

use super::format::{measured, percent, plural, time};
use super::{address, page_error};

/// An event of a policy as a sentence.
pub(super) fn event_text(policy: &str, actor: &str, event: &Event) -> Markup {
    let decision =
        |number: u64| html! { a href=(address(policy, &format!("/decisions/{number}"))) { "decision " (number) } };
    let proposal =
        |number: u64| html! { a href=(address(policy, &format!("/proposals/{number}"))) { "proposal " (number) } };
    let signature_text = |signature: &Signature| {
        html! {
            @if actor != ENGINE_ACTOR { " Signed " (signature.means()) ":" }
            " “" (signature.meaning) "”. Reason: " (signature.reason)
        }
    };
    html! {
        @match event {
            erased @ (Event::Observed(_) | Event::Corrected(_) | Event::Overridden(_)) if erased.is_erased() || erased.archived().is_some() => {
                @match erased {
                    Event::Observed(_) => "An outcome was reported.",
                    Event::Corrected(_) => "An outcome was corrected.",
                    _ => "Another option was given than was decided.",
                }
                @if erased.is_erased() { " The person was erased since." } @else { " It was archived since." }
            },
            Event::Registered(_) => "The policy was registered. Its document is version 1.",
            Event::Decided(decided) => {
                "Version " (decided.version) @if decided.pinned { ", which the request named," } " gave " strong { (decided.option) } ": " (reason_text(decided.reason))
                " (probability " (percent(decided.propensity)) ")."
                @if event.is_erased() { " The person was erased since." } @else if event.archived().is_some() { " The record was archived since." }
            },
            Event::Observed(Observed { decision: Some(number), outcome, .. }) => { "Outcome " (measured(*outcome)) " of " (decision(*number)) "." },
            Event::Observed(Observed { elsewhere, outcome, .. }) => {
                "Outcome " (measured(*outcome)) " of a decision made elsewhere"
                @if let Some(elsewhere) = elsewhere {
                    @if let Some(made_ms) = elsewhere.time_ms { ", " (time(made_ms)) }
                    ": " strong { (elsewhere.option) }
                } "."
            },
            Event::Corrected(corrected) => {
                "The outcome of " (decision(corrected.decision)) " was corrected from " (measured(corrected.from)) " to " (measured(corrected.outcome)) "."
                @if let Some(reason) = &corrected.reason { " Reason: " (reason) }
            },
            Event::Reviewed(reviewed) => {
                "Version " (reviewed.version) " was reviewed on " (plural(reviewed.point.outcomes, "outcome")) ": " strong { (reviewed.verdict.name()) } "."
                @for reason in &reviewed.reasons { " " (page_error::sentence(reason)) }
                @if let Some(signature) = &reviewed.signature { (signature_text(signature)) }
            },
            Event::Proposed(proposed) => {
                @match (proposed.rollback, &proposed.amendment) {
                    (Some(to), _) => { "A rollback to version " (to) " was proposed as " (proposal(proposed.proposal)) "." },
                    (None, Some(amendment)) => {
                        "Another document was proposed: " (proposal(proposed.proposal)) ". "
                        (page_error::sentence(&amendment.difference.join("; "))) " Reason: " (amendment.reason)
                    },
                    (None, None) => { "A change was proposed: " (proposal(proposed.proposal)) "." },
                }
                @if let Some(case) = &proposed.case { " " (page_error::sentence(&case.difference.join("; "))) }
                @if let Some(signature) = &proposed.signature { (signature_text(signature)) }
            },
            Event::Refused(refused) => {
                "The evidence calls for a change that the plan does not allow (" (refused.words.join("; ")) "): " (refused.reasons.join("; ")) "."
            },
            Event::Approved(signed) => { "Approved " (proposal(signed.proposal)) "." (signature_text(&signed.signature)) },
            Event::Rejected(signed) => { "Rejected " (proposal(signed.proposal)) "." (signature_text(&signed.signature)) },
            Event::Expired(expired) => { "The " (proposal(expired.proposal)) " expired without a signature." },
            Event::RolledBack(rolled) => { "The rule of version " (rolled.to) " came into force again." (signature_text(&rolled.signature)) },
            Event::ShadowStarted(started) => { "A candidate began to decide beside the rule in force. Nothing acts on it. Reason: " (started.reason) },
            Event::ShadowEnded(ended) => { "The candidate beside the rule in force decides no more. Reason: " (ended.reason) },
            Event::Overridden(overridden) => {
                "Instead of " (decision(overridden.decision)) ", " strong { (overridden.option) } " was given. The outcome is no evidence. Reason: " (overridden.reason)
            },
            Event::Stopped(signature) => { "The policy was stopped." (signature_text(signature)) },
            Event::Resumed(signature) => { "The policy was resumed." (signature_text(signature)) },
            Event::DecisionRead(RecordsRead { person, decision: Some(number) }) => {
                "The person " (person) " read the record of " (decision(*number)) "."
            },
            other => { (other.service_sentence().unwrap_or_else(|| page_error::sentence(other.kind()))) },
        }
    }
}

/// How an option was chosen, in a few words.
pub(super) fn reason_text(reason: Reason) -> &'static str {
    match reason {
        Reason::Policy => "by the rule",
        Reason::Pilot => "drawn in the pilot",
        Reason::Equipoise | Reason::Draw | Reason::Uniform => "drawn at random",
        Reason::Optimistic => "the most promising option",
        Reason::Baseline => "the baseline, to be safe",
        Reason::Fixed => "the only option",
        Reason::Recorded => "decided elsewhere",
        _ => "in another way",
    }
}

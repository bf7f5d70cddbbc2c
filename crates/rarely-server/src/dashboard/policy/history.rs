//! How the rule came about: versions, and proposals that led to them or did not.

use maud::{Markup, html};
use rarely_live::{ProposalStatus, Signer, Version, VersionOrigin};

use super::super::format::{age, time};
use super::super::layout::{Cell, rule, table};
use super::View;

impl View<'_> {
    pub(super) fn versions(&self) -> Markup {
        let versions = &self.state.versions;
        html! {
            h2 #versions { "Versions" }
            ol.timeline reversed {
                @for (at, version) in versions.iter().enumerate().rev() { (self.version(version, versions.get(at + 1))) }
            }
            @if !self.state.proposals.is_empty() { (self.proposals()) }
        }
    }

    fn version(&self, version: &Version, next: Option<&Version>) -> Markup {
        let ended = next.map_or(self.now_ms, |next| next.time_ms);
        html! {
            li {
                h3 { "Version " (version.number) @if next.is_none() { " " span.badge.good { "in force" } } }
                p { (time(version.time_ms)) " · for " (age(version.time_ms, ended)) " · " (self.origin(version)) }
                (rule(&version.rule.words(self.live.document())))
                @for signer in &version.signers { (signed(signer)) }
            }
        }
    }

    fn origin(&self, version: &Version) -> Markup {
        html! {
            @match version.origin {
                VersionOrigin::Registration => { "registered by " strong { (self.state.registration.author) } },
                VersionOrigin::Proposal { proposal } => {
                    a href=(self.link(&format!("/proposals/{proposal}"))) { "proposal " (proposal) }
                    @if version.signers.is_empty() { ", put in force by the plan without a signature" }
                },
                VersionOrigin::Rollback { to } => { "the rule of version " (to) " again" },
                VersionOrigin::Stop { to } => { "stopped: back to the rule of version " (to) },
            }
        }
    }

    fn proposals(&self) -> Markup {
        let rows = self.state.proposals.iter().rev().map(|proposal| {
            vec![
                Cell::Name(html! { a href=(self.link(&format!("/proposals/{}", proposal.number))) { "proposal " (proposal.number) } }),
                Cell::Whole(time(proposal.time_ms)),
                Cell::Words(html! { (proposal.rule.words(self.live.document()).join("; ")) }),
                Cell::Words(status(&proposal.status)),
            ]
        });
        html! {
            h3 { "Proposals" }
            (table("Proposals", &["", "made", "rule", "what became of it"], rows))
        }
    }
}

/// Who signed, what that means, and why.
pub(in crate::dashboard) fn signed(signer: &Signer) -> Markup {
    html! {
        p {
            "Signed by " strong { (signer.name) } " " (time(signer.time_ms)) ": “" (signer.signature.meaning) "”. Reason: "
            (signer.signature.reason)
        }
    }
}

/// What became of a proposal.
pub(in crate::dashboard) fn status(status: &ProposalStatus) -> Markup {
    html! {
        @match status {
            ProposalStatus::Open => span.badge.fair { "waits for a signature" },
            ProposalStatus::Approved { version } => { span.badge.good { "approved" } " as version " (version) },
            ProposalStatus::Rejected { by } => {
                span.badge.bad { "refused" } " by " strong { (by.name) } ": “" (by.signature.meaning) "”. Reason: " (by.signature.reason)
            },
            ProposalStatus::Expired => { span.badge { "lapsed" } " nobody signed in time" },
            ProposalStatus::Overtaken => { span.badge { "overtaken" } " another rule came in force meanwhile" },
        }
    }
}

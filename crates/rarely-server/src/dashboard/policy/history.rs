//! The versions and the proposals of a policy.

use maud::{Markup, html};
use rarely_live::{ProposalStatus, Signer, Version, VersionOrigin};

use super::super::format::{age, time};
use super::super::layout::{TableCell, rule, table};
use super::PolicyPage;

impl PolicyPage<'_> {
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
                (rule(&version.rule.words(&self.live.edition_of(version.number).document)))
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
                    @if version.signers.is_empty() { ", in force without a signature, as the plan allows" }
                },
                VersionOrigin::Amendment { proposal } => {
                    "the same rule under another document: " a href=(self.link(&format!("/proposals/{proposal}"))) { "proposal " (proposal) }
                },
                VersionOrigin::Rollback { to } => { "the rule of version " (to) " again" },
                VersionOrigin::Stop { to } => { "stopped: the rule of version " (to) " again" },
            }
        }
    }

    fn proposals(&self) -> Markup {
        let rows = self.state.proposals.iter().rev().map(|proposal| {
            vec![
                TableCell::Name(html! { a href=(self.link(&format!("/proposals/{}", proposal.number))) { "proposal " (proposal.number) } }),
                TableCell::OneLine(time(proposal.time_ms)),
                TableCell::Words(html! {
                    @if proposal.amendment.is_some() { "another document, the same rule" }
                    @else { (proposal.rule.words(&self.live.edition_of(proposal.version).document).join("; ")) }
                }),
                TableCell::Words(status(&proposal.status)),
            ]
        });
        html! {
            h3 { "Proposals" }
            (table("Proposals", &["", "created", "rule", "status"], rows))
        }
    }
}

/// A signature: who, when, its meaning and its reason.
pub(in crate::dashboard) fn signed(signer: &Signer) -> Markup {
    html! {
        p {
            "Signed by " strong { (signer.name) } " " (signer.signature.means()) " " (time(signer.time_ms)) ": “" (signer.signature.meaning) "”. Reason: "
            (signer.signature.reason)
        }
    }
}

/// The status of a proposal.
pub(in crate::dashboard) fn status(status: &ProposalStatus) -> Markup {
    html! {
        @match status {
            ProposalStatus::Open => span.badge.fair { "waits for a signature" },
            ProposalStatus::Approved { version } => { span.badge.good { "approved" } " as version " (version) },
            ProposalStatus::Rejected { by } => {
                span.badge.bad { "rejected" } " by " strong { (by.name) } " " (by.signature.means()) ": “" (by.signature.meaning) "”. Reason: " (by.signature.reason)
            },
            ProposalStatus::Expired => { span.badge { "expired" } " nobody signed in time" },
            ProposalStatus::Overtaken => { span.badge { "superseded" } " another rule came into force first" },
        }
    }
}

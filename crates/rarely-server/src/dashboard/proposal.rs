//! The page of a proposal: what changes, what that gains and what speaks against it, the forms to approve or reject it; then the evidence.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rarely_core::Interval;
use rarely_live::engine::PolicyHandle;
use rarely_live::event::{AffectedBand, Event, ProposalRationale, Proposed, ProposedAmendment};
use rarely_live::{LivePolicy, Objection, ProposalRecord, Role, SignedAct};
use rarely_policy::{PolicyDocument, SignedWith, difference};
use rarely_review::ThinSupport;
use rarely_review::findings::{
    ASSUMPTIONS_MEANING, AgainstFinding, CertificateFinding, DIGEST_TITLE, ExactFinding, THIN_MEANING, gain_meaning,
    numbers, recent_people,
};

use super::format::{age, count, plural, time};
use super::layout::{PageLayout, TableCell, fact, list, picture, rule, table};
use super::page_error::{PageError, sentence};
use super::policy::{signed, status, thin};
use super::signature_form::{RejectedForm, SignatureForm, SigningMeans};
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, event_of};
use crate::problem::ProblemDetails;

/// `GET /policies/{name}/proposals/{proposal}`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path((name, number)): Path<(String, u64)>,
) -> Result<Response, PageError> {
    let handle = dashboard.policy(&visitor, &name)?;
    page(&dashboard, &visitor, &handle, number, None).await
}

/// The page, with the input of a form that was not accepted.
pub(super) async fn page(
    dashboard: &Arc<Dashboard>,
    visitor: &Visitor,
    handle: &Arc<PolicyHandle>,
    number: u64,
    rejected: Option<&RejectedForm>,
) -> Result<Response, PageError> {
    let live = handle.live.lock().clone();
    let proposal = live
        .state()
        .proposals
        .iter()
        .find(|proposal| proposal.number == number)
        .ok_or(Objection::NoProposal(number))?;
    let (engine, event) = (dashboard.app.engine.clone(), proposal.event);
    let proposed = blocking(move || {
        let entry = engine.log().entry(event)?.ok_or_else(ProblemDetails::internal)?;
        match event_of(engine.log().as_ref(), &entry)? {
            Event::Proposed(proposed) => Ok(proposed),
            _ => Err(ProblemDetails::internal().into()),
        }
    })
    .await?;
    let (means, now_ms) = (SigningMeans::of(dashboard, visitor), dashboard.now_ms());
    let view = ProposalPage { handle, live: &live, proposal, proposed: &proposed, visitor, means, now_ms };
    let content = html! {
        h1 { "Proposal " (number) " for " (handle.name) }
        (view.stand())
        @if let Some(amendment) = &proposed.amendment {
            (view.amendment(amendment))
        } @else {
            (view.change())
        }
        (view.in_short())
        (view.forms(rejected))
        (view.signers())
        @if let Some(case) = &proposed.case {
            (view.evidence(case))
            (view.who(case))
            (guardrails(case))
            (against(case))
            (view.assumptions(case))
        }
    };
    let title = format!("Proposal {number}");
    let frame = PageLayout::of(dashboard, visitor, &title)
        .under("/", "Policies")
        .under(address(&handle.name, ""), &handle.name)
        .signing();
    let status = rejected.map_or(StatusCode::OK, |rejected| rejected.error.status());
    Ok((status, frame.html(&content)).into_response())
}

struct ProposalPage<'a> {
    handle: &'a PolicyHandle,
    live: &'a LivePolicy,
    proposal: &'a ProposalRecord,
    proposed: &'a Proposed,
    visitor: &'a Visitor,
    means: SigningMeans<'a>,
    now_ms: u64,
}

impl ProposalPage<'_> {
    /// The document when it was proposed.
    fn document(&self) -> &PolicyDocument {
        &self.live.edition_of(self.proposal.version).document
    }

    fn stand(&self) -> Markup {
        let proposal = self.proposal;
        html! {
            p {
                (status(&proposal.status)) " · created " (time(proposal.time_ms)) " on " (plural(proposal.outcomes, "outcome"))
                " · would replace version " (proposal.version)
                @if proposal.is_open() {
                    @if proposal.is_overdue(self.now_ms) {
                        " · expired " (time(proposal.expires_ms))
                    } @else {
                        " · expires " (time(proposal.expires_ms)) " (" (age(self.now_ms, proposal.expires_ms)) " left)"
                    }
                }
            }
        }
    }

    /// What a signer must know, in a few lines.
    fn in_short(&self) -> Markup {
        let case = self.proposed.case.as_ref();
        let facts = case.map(|case| {
            let found = CertificateFinding::new(self.document(), &case.certificate, case.certified_by.clone(), &[]);
            let against = case.against.first().map_or(AgainstFinding::NOTHING.to_owned(), |found| sentence(found));
            let lines = found.lines.into_iter().take(2).map(|line| (line.name.to_owned(), line.value));
            lines.chain([("what speaks most against it".to_owned(), against)]).collect::<Vec<_>>()
        });
        html! {
            @if let Some(facts) = facts {
                dl.facts.brief { @for (name, value) in &facts { (fact(name, &html! { (value) })) } }
            }
            @if let Some(to) = self.proposed.rollback {
                p { "This is a rollback, not a change on new evidence: it puts the rule of version " (to) " into force again." }
            }
        }
    }

    /// Another document, and what that does.
    fn amendment(&self, amendment: &ProposedAmendment) -> Markup {
        html! {
            h2 #change { "Another document" }
            p { "The rule stays as it is. Proposed because: " (amendment.reason) }
            p { "What changes:" }
            (list(&amendment.difference))
            p { (amendment.statistics) }
            p { "The rule:" }
            (rule(&self.proposal.rule.words(self.document())))
            details #document { summary { "The whole document" } pre tabindex="0" { code { (amendment.document) } } }
        }
    }

    fn evidence(&self, case: &ProposalRationale) -> Markup {
        let found = CertificateFinding::new(self.document(), &case.certificate, case.certified_by.clone(), &[]);
        let rows = found.lines.into_iter().map(|line| {
            vec![
                TableCell::head(line.name),
                TableCell::Words(html! { (line.value) }),
                TableCell::Words(html! { (line.meaning) }),
            ]
        });
        html! {
            h2 #evidence { "The evidence" }
            p { "Why the rule in force is in question: " (sentence(&case.cause)) }
            p { "The rule in force:" }
            (rule(&case.before))
            @for drawing in &case.pictures { (picture(&drawing.svg, &drawing.caption)) }
            (never_tried(case))
            h3 { "What a change would bring, and how sure that is" }
            (table("What a change would bring", &["", "value", "what it means"], rows))
        }
    }

    fn who(&self, case: &ProposalRationale) -> Markup {
        let rows = case.who.iter().map(|band: &AffectedBand| {
            let [estimate, lower, upper] = band.gain;
            let gain = numbers::interval(Interval { estimate, lower, upper });
            vec![
                TableCell::Head(html! { (band.band) }),
                TableCell::number(count(band.people)),
                TableCell::number(super::format::share(band.changed, band.people)),
                TableCell::Words(html! { (band.moves.join(", ")) }),
                TableCell::number(gain),
            ]
        });
        html! {
            h2 #who { "Who changes" }
            p { (recent_people(case.certificate.sample as u64)) " " (gain_meaning(self.document())) }
            (table("Who changes", &["people", "#how many", "#change", "from, to", "#gain per case"], rows))
        }
    }

    fn assumptions(&self, case: &ProposalRationale) -> Markup {
        let rows = case.assumptions.iter().map(|assumption| {
            vec![
                TableCell::head(&assumption.name),
                TableCell::left(&assumption.value),
                TableCell::Words(html! { (assumption.meaning) }),
            ]
        });
        html! {
            h2 #assumptions { "What was assumed" }
            p { (ASSUMPTIONS_MEANING) }
            (table("What was assumed", &["assumption", "value", "what it means"], rows))
            p { (DIGEST_TITLE) " (everything up to event " (self.proposed.basis) "):" }
            pre tabindex="0" { code { (self.proposed.digest) } }
        }
    }

    fn change(&self) -> Markup {
        let (document, proposal) = (self.document(), self.proposal);
        let replaced = self.live.version_of(proposal.version).ok();
        let differs = replaced.map(|version| difference((document, &version.rule), (document, &proposal.rule)));
        let exact = self.proposed.case.as_ref().filter(|case| case.exact != proposal.rule).map(|case| &case.exact);
        html! {
            h2 #change { "The change" }
            div.sides {
                div {
                    h3 { "Now: version " (proposal.version) }
                    @if let Some(version) = replaced { (rule(&version.rule.words(document))) }
                }
                div { h3 { "Proposed" } (rule(&proposal.rule.words(document))) }
            }
            @if let Some(differs) = differs { p { "What changes:" } (list(&differs)) }
            @if let Some(note) = self.proposed.case.as_ref().and_then(|case| case.note.as_ref()) { p { (note) } }
            @if let Some(exact) = exact {
                details #exact {
                    summary { "The same rule with all its digits" }
                    p { (ExactFinding::ROUNDING) " Without rounding:" }
                    (list(&exact.words(document)))
                }
            }
        }
    }

    fn signers(&self) -> Markup {
        let needed = self.live.signatures_needed_for(self.proposal);
        let signers = &self.proposal.signers;
        html! {
            h2 #signatures { "Signatures" }
            p {
                @match needed {
                    0 => "The plan requires no signature.",
                    1 => "One signature is required.",
                    _ => "Signatures of two different people are required.",
                }
                @if needed > 0 {
                    @match self.live.signed_with() {
                        SignedWith::Key => " Everyone signs with a key: a passkey or a key file.",
                        SignedWith::Token => " A token is enough to sign; whoever has a key signs with it.",
                    }
                }
                @if signers.is_empty() { " Nobody has signed yet." } @else { " " (plural(signers.len() as u64, "signature")) " so far:" }
            }
            @for signer in signers { (signed(signer)) }
            @if !self.proposal.is_open() { p { "Status: " (status(&self.proposal.status)) } }
        }
    }

    fn forms(&self, rejected: Option<&RejectedForm>) -> Markup {
        let link = |rest: &str| address(&self.handle.name, &format!("/proposals/{}/{rest}", self.proposal.number));
        let approve = SignatureForm {
            id: "approve",
            title: "Approve the change",
            about: "With the last required signature, what is proposed comes into force at once, as a new version.",
            action: link("approve"),
            act: Some((SignedAct::Approve, self.proposal.number)),
            meaning: "I have looked at the evidence, and I approve this change",
            button: "Sign and approve",
        };
        let reject = SignatureForm {
            id: "reject",
            title: "Reject the change",
            about: "One rejection is enough: the rule in force is kept, and a change is proposed again only when there is clearly more evidence, or after a \
                    review on request.",
            action: link("reject"),
            act: Some((SignedAct::Reject, self.proposal.number)),
            meaning: "I have looked at the evidence, and I reject this change",
            button: "Sign and reject",
        };
        html! {
            @if self.proposal.is_open() {
                h2 #sign { "Approve or reject" }
                @if self.visitor.may(Role::Review, &self.handle.name) {
                    (self.means.form(self.live, &approve, &html! {}, rejected))
                    (self.means.form(self.live, &reject, &html! {}, rejected))
                } @else {
                    p { "A signature requires the role " code { "review" } " on this policy." }
                }
            } @else if let Some(rejected) = rejected {
                div.notice.bad role="alert" { p { (rejected.error.sentences()) } }
            }
        }
    }
}

/// Where the review found that an option was never or hardly ever tried.
fn never_tried(case: &ProposalRationale) -> Markup {
    let places: Vec<ThinSupport> = serde_json::from_value(case.review["support"].clone()).unwrap_or_default();
    html! {
        @if !places.is_empty() {
            h3 #never-tried { "What the data cannot say" }
            p { (THIN_MEANING) }
            (thin(&places))
        }
    }
}

fn guardrails(case: &ProposalRationale) -> Markup {
    html! {
        @if !case.guardrails.is_empty() {
            h2 #guardrails { "What must not get worse" }
            (list(&case.guardrails))
        }
    }
}

fn against(case: &ProposalRationale) -> Markup {
    html! {
        h2 #against { "What speaks against it" }
        @if case.against.is_empty() {
            p { (AgainstFinding::NOTHING) }
        } @else { ul { @for found in &case.against { li { (sentence(found)) } } } }
    }
}

//! A proposal: the evidence first, then what is recommended, then the form to sign or refuse it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rarely_core::Interval;
use rarely_live::engine::PolicyHandle;
use rarely_live::event::{AffectedBand, Event, ProposalRationale, Proposed};
use rarely_live::{LivePolicy, ProposalRecord, Role};
use rarely_policy::{PolicyDocument, difference};
use rarely_review::findings::{AgainstFinding, CertificateFinding, ExactFinding, gain_unit, numbers};

use super::format::{age, count, plural, time};
use super::layout::{Cell, Frame, list, picture, rule, table};
use super::policy::{signed, status};
use super::refusal::{Refusal, sentence};
use super::signing::{Act, Typed, sheet};
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, event_of};

/// `GET /policies/{name}/proposals/{proposal}`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path((name, number)): Path<(String, u64)>,
) -> Result<Response, Refusal> {
    let handle = dashboard.policy(&visitor, &name)?;
    page(&dashboard, &visitor, &handle, number, None).await
}

/// The page; with what was typed into a form of it that was not taken.
pub(super) async fn page(
    dashboard: &Arc<Dashboard>,
    visitor: &Visitor,
    handle: &Arc<PolicyHandle>,
    number: u64,
    typed: Option<&Typed>,
) -> Result<Response, Refusal> {
    let live = handle.live.lock().clone();
    let missing = || Refusal::not_found(format!("The policy {:?} has no proposal {number}.", handle.name));
    let proposal = live.state().proposals.iter().find(|proposal| proposal.number == number).ok_or_else(missing)?;
    let (engine, event) = (dashboard.app.engine.clone(), proposal.event);
    let proposed = blocking(move || {
        let entry = engine.log().entry(event)?.ok_or_else(|| Refusal::fault("The proposal's event is missing."))?;
        match event_of(&entry)? {
            Event::Proposed(proposed) => Ok(proposed),
            _ => Err(Refusal::fault("The proposal's event is another.")),
        }
    })
    .await?;
    let view = View { handle, live: &live, proposal, proposed: &proposed, visitor, now_ms: dashboard.now_ms() };
    let content = html! {
        h1 { "Proposal " (number) " for " (handle.name) }
        (view.stand())
        @match (&proposed.case, proposed.rollback) {
            (Some(case), _) => {
                (view.evidence(case))
                (view.who(case))
                (against(case))
                (view.assumptions(case))
            },
            (None, Some(to)) => {
                p { "This is no change on new evidence: somebody asks to put the rule of version " (to) " in force again." }
            },
            (None, None) => {},
        }
        (view.change())
        (view.signers())
        (view.forms(typed))
    };
    let title = format!("Proposal {number}");
    let frame =
        Frame::of(dashboard, visitor, &title).under("/", "Policies").under(address(&handle.name, ""), &handle.name);
    let status = typed.map_or(StatusCode::OK, |typed| typed.refusal.status);
    Ok((status, frame.html(&content)).into_response())
}

struct View<'a> {
    handle: &'a PolicyHandle,
    live: &'a LivePolicy,
    proposal: &'a ProposalRecord,
    proposed: &'a Proposed,
    visitor: &'a Visitor,
    now_ms: u64,
}

impl View<'_> {
    fn document(&self) -> &PolicyDocument {
        self.live.document()
    }

    fn stand(&self) -> Markup {
        let proposal = self.proposal;
        html! {
            p {
                (status(&proposal.status)) " · made " (time(proposal.time_ms)) " on " (plural(proposal.outcomes, "outcome"))
                " · would replace version " (proposal.version)
                @if proposal.is_open() {
                    @if proposal.is_overdue(self.now_ms) {
                        " · its time is over since " (time(proposal.expires_ms))
                    } @else {
                        " · can be signed until " (time(proposal.expires_ms)) " (" (age(self.now_ms, proposal.expires_ms)) " left)"
                    }
                }
            }
        }
    }

    fn evidence(&self, case: &ProposalRationale) -> Markup {
        let found = CertificateFinding::new(self.document(), &case.certificate, case.certified_by.clone());
        let rows = found.lines.into_iter().map(|line| {
            vec![Cell::head(line.name), Cell::Words(html! { (line.value) }), Cell::Words(html! { (line.meaning) })]
        });
        html! {
            h2 #evidence { "The evidence" }
            p { "Why the rule in force is in question: " (sentence(&case.cause)) }
            p { "The rule in force:" }
            (rule(&case.before))
            @for drawing in &case.pictures { (picture(&drawing.svg, &drawing.caption)) }
            h3 { "What a change would bring, and how sure that is" }
            (table("What a change would bring", &["", "value", "what it means"], rows))
        }
    }

    fn who(&self, case: &ProposalRationale) -> Markup {
        let unit = gain_unit(self.document());
        let rows = case.who.iter().map(|band: &AffectedBand| {
            let [estimate, lower, upper] = band.gain;
            let gain = numbers::interval(Interval { estimate, lower, upper });
            vec![
                Cell::Head(html! { (band.band) }),
                Cell::number(count(band.people)),
                Cell::number(super::format::share(band.changed, band.people)),
                Cell::Words(html! { (band.moves.join(", ")) }),
                Cell::number(gain),
            ]
        });
        html! {
            h2 #who { "Who changes" }
            p {
                "Of the last " (count(case.certificate.sample as u64)) " people with an outcome, by every feature. The gain is the average over all \
                 people of a row, changed or not, in " (unit) ", with its interval."
            }
            (table("Who changes", &["people", "#how many", "#change", "from, to", "#gain per case"], rows))
        }
    }

    fn assumptions(&self, case: &ProposalRationale) -> Markup {
        let rows = case.assumptions.iter().map(|assumption| {
            vec![
                Cell::head(&assumption.name),
                Cell::left(&assumption.value),
                Cell::Words(html! { (assumption.meaning) }),
            ]
        });
        html! {
            h2 #assumptions { "What was assumed" }
            p { "If one of these statements of the policy document is wrong, so may be the evidence." }
            (table("What was assumed", &["assumption", "value", "what it means"], rows))
            p { "Fingerprint of the statistics (everything up to event " (self.proposed.basis) "):" }
            pre { code { (self.proposed.digest) } }
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
        let needed = self.live.signatures_needed();
        let signers = &self.proposal.signers;
        html! {
            h2 #signatures { "Signatures" }
            p {
                @match needed {
                    0 => "The plan asks for no signature.",
                    1 => "One signature is needed.",
                    _ => "Signatures of two different people are needed.",
                }
                @if signers.is_empty() { " Nobody has signed for it." } @else { " " (plural(signers.len() as u64, "signature")) " so far:" }
            }
            @for signer in signers { (signed(signer)) }
            @if !self.proposal.is_open() { p { "What became of it: " (status(&self.proposal.status)) } }
        }
    }

    fn forms(&self, typed: Option<&Typed>) -> Markup {
        let link = |rest: &str| address(&self.handle.name, &format!("/proposals/{}/{rest}", self.proposal.number));
        let approve = Act {
            id: "approve",
            title: "Sign for the change",
            about: "With the last signature that is needed, the proposed rule comes in force at once, as a new version.",
            action: link("approve"),
            meaning: "I have looked at the evidence, and approve this change",
            button: "Sign for the change",
        };
        let reject = Act {
            id: "reject",
            title: "Refuse the change",
            about: "One refusal is enough: the rule in force is kept, and a change is proposed again only when there is clearly more evidence, or when \
                    somebody asks for a review.",
            action: link("reject"),
            meaning: "I have looked at the evidence, and refuse this change",
            button: "Sign the refusal",
        };
        html! {
            @if self.proposal.is_open() {
                h2 #sign { "Sign or refuse" }
                @if self.visitor.may(Role::Review, &self.handle.name) {
                    (sheet(self.visitor, &approve, &html! {}, typed))
                    (sheet(self.visitor, &reject, &html! {}, typed))
                } @else {
                    p { "Your token is for reading. A signature needs the role review on this policy." }
                }
            } @else if let Some(typed) = typed {
                div.notice.bad role="alert" { p { (typed.refusal.words()) } }
            }
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

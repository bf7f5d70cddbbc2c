//! Proposals, signatures, rollbacks, stops and reviews.

use axum::http::StatusCode;
use rarely_live::engine::RecordedReview;
use rarely_live::event::{Event, Signature};
use rarely_live::replay;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{self, Written};
use crate::call::{Call, blocking};
use crate::limits::{BODY_BYTES, check_text};
use crate::policies::json;
use crate::problem::Problem;
use crate::route::Answered;
use crate::views::{PolicyView, ProposalView, json as value};

/// A signature.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signing {
    /// What the signature means to its signer.
    meaning: String,
    /// Why it is given.
    reason: String,
}

/// An older version is put in force again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rollback {
    /// The version whose rule it is.
    to: u64,
    /// What the signature means to its signer.
    meaning: String,
    /// Why it is given.
    reason: String,
}

/// All proposals of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Proposals {
    proposals: Vec<ProposalView>,
}

/// What came of a signature.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignedView {
    /// The event that keeps it.
    event: u64,
    /// The proposal that was signed, or made.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<ProposalView>,
    /// The policy as it is now.
    policy: PolicyView,
}

/// What came of a review.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewedView {
    /// Its event.
    event: u64,
    /// keep, change, cannot tell.
    verdict: String,
    /// Why not otherwise.
    reasons: Vec<String>,
    /// The proposal that came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<u64>,
    /// Why the plan does not allow the change that the evidence asks for.
    refused: Vec<String>,
    /// Whether "reviewed, no change" was signed with it.
    signed: bool,
}

impl Signing {
    fn signature(self) -> Result<Signature, Problem> {
        check_text("meaning", &self.meaning)?;
        check_text("reason", &self.reason)?;
        Ok(Signature { meaning: self.meaning, reason: self.reason })
    }
}

pub(crate) async fn proposals(call: Call) -> Answered {
    let live = call.policy()?.live.lock();
    let proposals = live.state().proposals.iter().map(|proposal| ProposalView::new(&live, proposal, None)).collect();
    Ok(json(StatusCode::OK, &Proposals { proposals }))
}

pub(crate) async fn proposal(call: Call) -> Answered {
    let number = call.number("number", "proposal")?;
    let (app, handle) = (call.app.clone(), call.policy()?.clone());
    blocking(move || {
        let found = handle.live.lock().state().proposals.iter().find(|proposal| proposal.number == number).cloned();
        let found = found.ok_or(rarely_live::Objection::NoProposal(number))?;
        let entry = app.engine.log().entry(found.event)?;
        let evidence = match entry.as_ref().map(replay::event).transpose()? {
            Some(Event::Proposed(proposed)) => Some(value(&*proposed)),
            _ => None,
        };
        Ok(json(StatusCode::OK, &ProposalView::new(&handle.live.lock(), &found, evidence)))
    })
    .await?
}

pub(crate) async fn approve(call: Call) -> Answered {
    sign(call, Act::Approve).await
}

pub(crate) async fn reject(call: Call) -> Answered {
    sign(call, Act::Reject).await
}

pub(crate) async fn stop(call: Call) -> Answered {
    sign(call, Act::Stop).await
}

pub(crate) async fn resume(call: Call) -> Answered {
    sign(call, Act::Resume).await
}

pub(crate) async fn roll_back(mut call: Call) -> Answered {
    let Rollback { to, meaning, reason } = call.json().await?;
    let signature = Signing { meaning, reason }.signature()?;
    act(call, Act::RollBack { to }, None, signature).await
}

pub(crate) async fn review(mut call: Call) -> Answered {
    let written = call.written(&[Written::Json, Written::Nothing])?;
    let bytes = call.bytes(BODY_BYTES).await?;
    let signature = match written {
        _ if bytes.iter().all(u8::is_ascii_whitespace) => None,
        Written::Json => Some(body::parse::<Signing>(&bytes)?.signature()?),
        _ => call.written(&[Written::Json]).map(|_| None)?,
    };
    for (field, text) in
        signature.iter().flat_map(|signature| [("meaning", &signature.meaning), ("reason", &signature.reason)])
    {
        if text.trim().is_empty() {
            return Err(rarely_live::Objection::SignatureIncomplete(field).into());
        }
    }
    let (app, handle, actor) = (call.app.clone(), call.policy()?.clone(), call.actor().to_owned());
    blocking(move || {
        let outcome = app.engine.review(&handle, Some((&actor, signature)))?;
        let RecordedReview { event, verdict, reasons, proposal, refused } = outcome;
        let entry = app.engine.log().entry(event)?;
        // Whoever signs that nothing changes does not sign where something should.
        let kept = entry.as_ref().map(replay::event).transpose()?;
        let signed = matches!(kept, Some(Event::Reviewed(reviewed)) if reviewed.signature.is_some());
        let verdict = verdict.name().to_owned();
        Ok(json(StatusCode::OK, &ReviewedView { event, verdict, reasons, proposal, refused, signed }))
    })
    .await?
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Approve,
    Reject,
    Stop,
    Resume,
    RollBack { to: u64 },
}

async fn sign(mut call: Call, kind: Act) -> Answered {
    let number = match kind {
        Act::Approve | Act::Reject => Some(call.number("number", "proposal")?),
        _ => None,
    };
    let signature = call.json::<Signing>().await?.signature()?;
    act(call, kind, number, signature).await
}

async fn act(call: Call, kind: Act, number: Option<u64>, signature: Signature) -> Answered {
    let (app, handle, actor) = (call.app.clone(), call.policy()?.clone(), call.actor().to_owned());
    blocking(move || {
        let engine = &app.engine;
        let wanted = number.unwrap_or(0);
        let event = match kind {
            Act::Approve => engine.approve(&handle, &actor, wanted, signature),
            Act::Reject => engine.reject(&handle, &actor, wanted, signature),
            Act::Stop => engine.stop_policy(&handle, &actor, signature),
            Act::Resume => engine.resume_policy(&handle, &actor, signature),
            Act::RollBack { to } => engine.roll_back(&handle, &actor, to, signature),
        }?;
        let live = handle.live.lock();
        let mut proposals = live.state().proposals.iter();
        let proposal = proposals.find(|proposal| number == Some(proposal.number) || proposal.event == event);
        let proposal = proposal.map(|proposal| ProposalView::new(&live, proposal, None));
        let policy = PolicyView::new(&handle, &live, engine.now_ms());
        Ok(json(StatusCode::OK, &SignedView { event, proposal, policy }))
    })
    .await?
}

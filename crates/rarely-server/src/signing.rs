//! Proposals, and what needs a signature: approvals, rejections, rollbacks, stops, resumes, reviews.

use axum::http::StatusCode;
use rarely_live::engine::RecordedReview;
use rarely_live::event::{Event, Signature};
use rarely_live::{Engine, KeySignature, NoteSignature, PasskeySignature, ProposalRecord, TokenGrant, replay};
use rarely_store::{Hash, NoteKey};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::body::{self, BodyFormat};
use crate::limits::{BODY_BYTES, check_text};
use crate::page::ListPart;
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;
use crate::views::{PolicyView, ProposalView, json as value};

/// A signature.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signing {
    /// What the signature means.
    meaning: String,
    /// Why the signer signs.
    reason: String,
    /// Made with the signer's own key; required where the policy says `signatures = "key"`, and of whoever has a key. A stop never
    /// requires one.
    #[serde(default)]
    by_key: Option<KeySigning>,
}

/// A signature made with a person's own key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "by_key must have key, digest and signature, or credential, digest, client_data, authenticator_data and signature"
)]
pub(crate) enum KeySigning {
    /// With a key file.
    Note(NoteSigning),
    /// With a passkey.
    Passkey(PasskeySigning),
}

/// A signature made with a passkey.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasskeySigning {
    /// The id of the credential, in base64url.
    credential: String,
    /// SHA-256 of what is signed, 64 hexadecimal digits; it is the challenge.
    #[schema(value_type = String)]
    digest: Hash,
    /// `clientDataJSON`, in base64url.
    client_data: String,
    /// `authenticatorData`, in base64url.
    authenticator_data: String,
    /// The signature, in base64url.
    signature: String,
}

/// A signature made with a key file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoteSigning {
    /// The public key, as name+id+key.
    #[schema(value_type = String)]
    key: NoteKey,
    /// SHA-256 of what is signed, 64 hexadecimal digits.
    #[schema(value_type = String)]
    digest: Hash,
    /// The Ed25519 signature of the digest's bytes, in base64.
    signature: String,
}

/// A rollback to an older version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rollback {
    /// The version whose rule comes into force again.
    to: u64,
    /// What the signature means.
    meaning: String,
    /// Why the signer signs.
    reason: String,
    /// Made with the signer's own key.
    #[serde(default)]
    by_key: Option<KeySigning>,
}

/// The proposals of a policy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Proposals {
    proposals: Vec<ProposalView>,
    /// What `after` of the next part is, if the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The result of a signature.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignedView {
    /// The event that records it.
    event: u64,
    /// The proposal that was signed or created.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<ProposalView>,
    /// The policy as it is now.
    policy: PolicyView,
}

/// The result of a review.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewedView {
    /// The event that records it.
    event: u64,
    /// `keep`, `change` or `cannot tell`.
    verdict: String,
    /// The reasons for the verdict.
    reasons: Vec<String>,
    /// The proposal that it created.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<u64>,
    /// Why the plan does not allow the change that the evidence calls for.
    refused: Vec<String>,
    /// Whether "no change" was signed.
    signed: bool,
}

impl Signing {
    fn signature(self, signer: &TokenGrant) -> Result<Signature, ProblemDetails> {
        check_text("meaning", &self.meaning)?;
        check_text("reason", &self.reason)?;
        let (person, by_key) = (Some(signer.person_id()), self.by_key.map(KeySignature::from));
        Ok(Signature { meaning: self.meaning, reason: self.reason, person, by_key })
    }
}

impl From<KeySigning> for KeySignature {
    fn from(made: KeySigning) -> Self {
        match made {
            KeySigning::Note(NoteSigning { key, digest, signature }) => {
                Self::Note(NoteSignature { key, digest, signature })
            }
            KeySigning::Passkey(made) => {
                let PasskeySigning { credential, digest, client_data, authenticator_data, signature } = made;
                Self::Passkey(PasskeySignature { credential, digest, client_data, authenticator_data, signature })
            }
        }
    }
}

pub(crate) async fn proposals(request: AuthorizedRequest) -> ApiResult {
    let live = request.policy()?.live.lock();
    let ListPart { items, next } =
        ListPart::of(&request, &live.state().proposals, |proposal| proposal.number.to_string())?;
    let proposals = items.into_iter().map(|proposal| ProposalView::new(&live, proposal, None)).collect();
    Ok(json(StatusCode::OK, &Proposals { proposals, next }))
}

pub(crate) async fn proposal(request: AuthorizedRequest) -> ApiResult {
    let number = request.number("number", "proposal")?;
    let (app, handle) = (request.app.clone(), request.policy()?.clone());
    blocking(move || {
        let found = handle.live.lock().state().proposals.iter().find(|proposal| proposal.number == number).cloned();
        let found = found.ok_or(rarely_live::Objection::NoProposal(number))?;
        let evidence = evidence_of(&app.engine, &found)?;
        Ok(json(StatusCode::OK, &ProposalView::new(&handle.live.lock(), &found, evidence)))
    })
    .await?
}

/// What a proposal rests on, as its event has it.
pub(crate) fn evidence_of(engine: &Engine, proposal: &ProposalRecord) -> Result<Option<Json>, ProblemDetails> {
    let entry = engine.log().entry(proposal.event)?;
    Ok(match entry.as_ref().map(|entry| replay::event(engine.log().as_ref(), entry)).transpose()? {
        Some(Event::Proposed(proposed)) => Some(value(&*proposed)),
        _ => None,
    })
}

pub(crate) async fn approve(request: AuthorizedRequest) -> ApiResult {
    sign(request, SignedAction::Approve).await
}

pub(crate) async fn reject(request: AuthorizedRequest) -> ApiResult {
    sign(request, SignedAction::Reject).await
}

pub(crate) async fn stop(request: AuthorizedRequest) -> ApiResult {
    sign(request, SignedAction::Stop).await
}

pub(crate) async fn resume(request: AuthorizedRequest) -> ApiResult {
    sign(request, SignedAction::Resume).await
}

pub(crate) async fn roll_back(mut request: AuthorizedRequest) -> ApiResult {
    let Rollback { to, meaning, reason, by_key } = request.json().await?;
    let signature = Signing { meaning, reason, by_key }.signature(request.grant()?)?;
    act(request, SignedAction::RollBack { to }, None, signature).await
}

pub(crate) async fn review(mut request: AuthorizedRequest) -> ApiResult {
    let format = request.format(&[BodyFormat::Json, BodyFormat::None])?;
    let bytes = request.bytes(BODY_BYTES).await?;
    let signature = match format {
        _ if bytes.iter().all(u8::is_ascii_whitespace) => None,
        BodyFormat::Json => Some(body::parse::<Signing>(&bytes)?.signature(request.grant()?)?),
        _ => request.format(&[BodyFormat::Json]).map(|_| None)?,
    };
    for (field, text) in
        signature.iter().flat_map(|signature| [("meaning", &signature.meaning), ("reason", &signature.reason)])
    {
        if text.trim().is_empty() {
            return Err(rarely_live::Objection::SignatureIncomplete(field).into());
        }
    }
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    blocking(move || {
        let review = app.engine.review(&handle, Some((&actor, signature)))?;
        let RecordedReview { event, verdict, reasons, proposal, refused } = review;
        let entry = app.engine.log().entry(event)?;
        // If the evidence calls for a change, "no change" is not signed.
        let kept = entry.as_ref().map(|entry| replay::event(app.engine.log().as_ref(), entry)).transpose()?;
        let signed = matches!(kept, Some(Event::Reviewed(reviewed)) if reviewed.signature.is_some());
        let verdict = verdict.name().to_owned();
        Ok(json(StatusCode::OK, &ReviewedView { event, verdict, reasons, proposal, refused, signed }))
    })
    .await?
}

/// What a signature does.
#[derive(Debug, Clone, Copy)]
enum SignedAction {
    Approve,
    Reject,
    Stop,
    Resume,
    RollBack { to: u64 },
}

async fn sign(mut request: AuthorizedRequest, action: SignedAction) -> ApiResult {
    let number = match action {
        SignedAction::Approve | SignedAction::Reject => Some(request.number("number", "proposal")?),
        _ => None,
    };
    let signature = request.json::<Signing>().await?.signature(request.grant()?)?;
    act(request, action, number, signature).await
}

async fn act(request: AuthorizedRequest, action: SignedAction, number: Option<u64>, signature: Signature) -> ApiResult {
    let (app, handle, actor) = (request.app.clone(), request.policy()?.clone(), request.actor().to_owned());
    blocking(move || {
        let engine = &app.engine;
        let wanted = number.unwrap_or(0);
        let event = match action {
            SignedAction::Approve => engine.approve(&handle, &actor, wanted, signature),
            SignedAction::Reject => engine.reject(&handle, &actor, wanted, signature),
            SignedAction::Stop => engine.stop_policy(&handle, &actor, signature),
            SignedAction::Resume => engine.resume_policy(&handle, &actor, signature),
            SignedAction::RollBack { to } => engine.roll_back(&handle, &actor, to, signature),
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

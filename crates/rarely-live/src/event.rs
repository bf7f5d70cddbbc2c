//! The events of the log, and their JSON form.

mod archived;
mod beside;
mod chains;
mod clock;
mod error;
mod key_replaced;
mod person;
mod service;

use std::collections::BTreeMap;

use rarely_core::{Certificate, Digest, Reason};
use rarely_policy::{SignedWith, WrittenRule};
use rarely_review::{CertifiedBy, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::person::person_of;
use crate::person_key::KeySignature;
use crate::record::RecordField;
use crate::token::TokenGrant;

pub use archived::{ArchiveFile, Archived};
pub use beside::{Overridden, ShadowEnded, ShadowStarted};
pub use chains::{Covered, CoveredChain, Followed};
pub use clock::{ClockCorrected, ClockJumped};
pub use error::EventError;
pub use key_replaced::{KeyReplaced, PersonKey};
pub use person::{AboutPerson, PersonErased};
pub use service::{
    BackupRestored, LogEnd, NoticeResult, Notified, RecordsRead, Recovered, ServiceRun, SignInFailed, SignInsFailed,
    SignedIn, TokenRevoked,
};

/// Everything that can happen to policies and tokens. The log stores an event's [kind](Event::kind) and
/// [body](Event::body); time, actor and policy are fields of the log entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A policy was registered.
    Registered(Registered),
    /// A decision was made.
    Decided(Decided),
    /// An outcome was reported.
    Observed(Observed),
    /// A reported outcome was corrected.
    Corrected(Corrected),
    /// The rule in force was reviewed.
    Reviewed(Reviewed),
    /// A change was proposed.
    Proposed(Box<Proposed>),
    /// The evidence supports a change that the plan does not allow.
    Refused(Refused),
    /// A proposal was signed.
    Approved(Signed),
    /// A proposal was rejected.
    Rejected(Signed),
    /// A proposal expired unsigned.
    Expired(Expired),
    /// An earlier version's rule was put in force again.
    RolledBack(RolledBack),
    /// Exploration and automatic changes were stopped.
    Stopped(Signature),
    /// They were resumed.
    Resumed(Signature),
    /// An access token was created.
    TokenCreated(TokenGrant),
    /// An access token was revoked.
    TokenRevoked(TokenRevoked),
    /// A sign-in with an invalid token was refused. Earlier versions recorded each.
    SignInFailed(SignInFailed),
    /// Sign-ins with invalid tokens were refused, all since the last such event.
    SignInsFailed(SignInsFailed),
    /// The system's clock jumped, or is right again.
    ClockJumped(ClockJumped),
    /// The time of the log was set back.
    ClockCorrected(ClockCorrected),
    /// The loss of the log's last events was accepted.
    Recovered(Recovered),
    /// The key that signs checkpoints was replaced.
    KeyReplaced(KeyReplaced),
    /// A person's key was registered.
    PersonKeyRegistered(PersonKey),
    /// A person's key was revoked.
    PersonKeyRevoked(PersonKey),
    /// The service started.
    ServiceStarted(ServiceRun),
    /// The service stopped.
    ServiceStopped(ServiceRun),
    /// A person signed in to the dashboard.
    SignedIn(SignedIn),
    /// All cases of a policy were exported.
    Exported(RecordsRead),
    /// A decision was read, with the record that it is about.
    DecisionRead(RecordsRead),
    /// An older backup replaced the log.
    BackupRestored(BackupRestored),
    /// Somebody outside was told what happened.
    Notified(Notified),
    /// A candidate decides beside the rule in force.
    ShadowStarted(ShadowStarted),
    /// It decides no more.
    ShadowEnded(ShadowEnded),
    /// A person gave another option than was decided.
    Overridden(Overridden),
    /// People were erased.
    PersonErased(Box<PersonErased>),
    /// Records were moved into an archive.
    Archived(Box<Archived>),
    /// An act of the service was copied from the service's own chain.
    Followed(Box<Followed>),
    /// Other chains had come so far.
    Covered(Covered),
}

/// A policy was registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Registered {
    /// The policy document, exactly as received.
    pub document: String,
    /// The seed of randomised decisions; each is drawn from the seed and its own event number.
    pub seed: u64,
    /// Whether outcomes are learned in the order of their decisions; otherwise as they arrive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decision_order: bool,
    /// What people sign with; absent in logs from before policies could say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<SignedWith>,
}

/// A decision was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The caller's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The feature values, in the document's order.
    pub record: Vec<RecordField>,
    /// The chosen option.
    pub option: String,
    /// The policy version that decided.
    pub version: u64,
    /// The last event that the decision takes into account.
    pub basis: u64,
    /// Why this option.
    pub reason: Reason,
    /// The probability with which it was chosen.
    pub propensity: f64,
    /// What a candidate beside the rule in force would have given; nothing acts on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<String>,
    /// Whether the request named the version; its rule then decided alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// The person that it is about, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<AboutPerson>,
    /// The event that archived it: what it tells about a record is then empty, and numbers are not numbers.
    #[serde(skip)]
    pub archived: Option<u64>,
}

/// An outcome was reported, either of one of our decisions or of a decision made elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Our decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<u64>,
    /// A decision made elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<ExternalDecision>,
    /// The outcome, in the document's units.
    pub outcome: f64,
    /// The outcomes of the document's guard-rails, by column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guardrails: BTreeMap<String, f64>,
    /// The person that it is about, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<AboutPerson>,
    /// The event that archived it: what it tells about a record is then empty, and numbers are not numbers.
    #[serde(skip)]
    pub archived: Option<u64>,
}

/// A decision that another system made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExternalDecision {
    /// The caller's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The feature values, in the document's order.
    pub record: Vec<RecordField>,
    /// The chosen option.
    pub option: String,
    /// The probability with which it was chosen, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propensity: Option<f64>,
    /// The first version under the document that the record was read with; absent for the registered document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edition: Option<u64>,
    /// When it was made, if it is imported history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

impl Observed {
    /// Whether an earlier event reported the same, under whichever document.
    pub(crate) fn repeats(&self, earlier: &Event) -> bool {
        let Event::Observed(earlier) = earlier else { return false };
        let elsewhere = earlier.elsewhere.clone().zip(self.elsewhere.as_ref());
        let elsewhere = elsewhere.map(|(earlier, now)| ExternalDecision { edition: now.edition, ..earlier });
        *self == Self { elsewhere, ..earlier.clone() }
    }
}

/// A reported outcome was corrected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    /// The decision.
    pub decision: u64,
    /// The event that first reported an outcome.
    pub first: u64,
    /// The event that is corrected.
    pub previous: u64,
    /// The outcome that it reported.
    pub from: f64,
    /// The new outcome, in the document's units.
    pub outcome: f64,
    /// The outcomes of guard-rails that it reported, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub from_guardrails: BTreeMap<String, f64>,
    /// … and the new ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guardrails: BTreeMap<String, f64>,
    /// The reason; absent in old logs, where none was required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The person that it is about, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<AboutPerson>,
    /// The event that archived it: what it tells about a record is then empty, and numbers are not numbers.
    #[serde(skip)]
    pub archived: Option<u64>,
}

/// The rule in force was reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reviewed {
    /// The last event that the review takes into account.
    pub basis: u64,
    /// The version in force.
    pub version: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The reasons for the verdict.
    pub reasons: Vec<String>,
    /// The position of the rule.
    pub point: ReviewPoint,
    /// SHA-256 of the statistics.
    pub digest: Digest,
    /// The signature of the person who confirmed that nothing changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// The position of a rule at a review, in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewPoint {
    /// Outcomes so far.
    pub outcomes: u64,
    /// The distance of the rule's boundaries from the estimates, divided by the plausible distance. Above 1 the rule is
    /// implausible.
    pub strain: f64,
    /// Share of recent cases given an option that the data rule out.
    pub excluded_share: f64,
    /// The boundaries along a single running variable.
    pub cuts: Vec<CutPoint>,
}

/// A boundary at a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutPoint {
    /// The options on either side.
    pub options: [String; 2],
    /// Its position.
    pub at: f64,
    /// The lower end of its plausible interval; `None` if unbounded.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A change was proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// The proposal's number within the policy, from 1.
    pub proposal: u64,
    /// The last event that the review takes into account.
    pub basis: u64,
    /// The version that would be replaced.
    pub version: u64,
    /// The proposed rule.
    pub rule: WrittenRule,
    /// For a rollback, the earlier version whose rule this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<u64>,
    /// From this time on it can no longer be signed.
    pub expires_ms: u64,
    /// Outcomes so far.
    pub outcomes: u64,
    /// SHA-256 of the statistics.
    pub digest: Digest,
    /// For an amendment, the document that would replace the one in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amendment: Option<ProposedAmendment>,
    /// The signature of the person who requested the rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// The rationale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<ProposalRationale>,
}

/// Another document for the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedAmendment {
    /// The document, exactly as received.
    pub document: String,
    /// Why it is proposed.
    pub reason: String,
    /// What it changes, in words.
    pub difference: Vec<String>,
    /// What becomes of the statistics.
    pub statistics: String,
}

/// The rationale of a proposal, in words and numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalRationale {
    /// Why the rule in force is rejected.
    pub cause: String,
    /// The rule in force, in words.
    pub before: Vec<String>,
    /// The proposed rule, in words.
    pub after: Vec<String>,
    /// The differences.
    pub difference: Vec<String>,
    /// The rule that the algorithm computed, with all digits.
    pub exact: WrittenRule,
    /// Why its form differs from the rule in force, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The certificate.
    pub certificate: Certificate,
    /// What certifies the change.
    pub certified_by: Vec<CertifiedBy>,
    /// The affected bands.
    pub who: Vec<AffectedBand>,
    /// Evidence against the change.
    pub against: Vec<String>,
    /// What it does to outcomes that must not get worse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guardrails: Vec<String>,
    /// The assumptions.
    pub assumptions: Vec<Assumption>,
    /// The whole review, as JSON.
    pub review: Json,
    /// Pictures, as SVG.
    pub pictures: Vec<Drawing>,
}

/// The effect of a change on one band of a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AffectedBand {
    /// The band.
    pub band: String,
    /// Recent cases in the band.
    pub people: u64,
    /// How many of them would get another option.
    pub changed: u64,
    /// The moves, such as `watch → treat (12)`.
    pub moves: Vec<String>,
    /// The average gain over all people of the band: estimate, lower end, upper end.
    pub gain: [f64; 3],
}

/// An assumption of the policy document on which the evidence depends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its meaning.
    pub meaning: String,
}

/// A picture of the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// Its title.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The SVG text.
    pub svg: String,
}

/// The evidence supports a change that the plan does not allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// The last event that the review takes into account.
    pub basis: u64,
    /// The version in force.
    pub version: u64,
    /// The rule that the evidence supports.
    pub rule: WrittenRule,
    /// That rule in words.
    pub words: Vec<String>,
    /// Why the rule in force is rejected.
    pub cause: String,
    /// Why the plan does not allow it.
    pub reasons: Vec<String>,
    /// SHA-256 of the statistics.
    pub digest: Digest,
}

/// A signature: its meaning and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Such as "I approve this change for the clinic."
    pub meaning: String,
    /// The reason.
    pub reason: String,
    /// The signer's id; derived from the actor's name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Made with the person's own key; without it, by token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_key: Option<KeySignature>,
}

impl Signature {
    /// The id of the person who signed as `name`.
    pub fn person_id(&self, name: &str) -> String {
        self.person.clone().unwrap_or_else(|| person_of(name))
    }
}

/// A proposal was signed or rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The proposal.
    pub proposal: u64,
    /// The signature.
    #[serde(flatten)]
    pub signature: Signature,
}

/// A proposal expired unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expired {
    /// The proposal.
    pub proposal: u64,
}

/// An earlier version's rule was put in force again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolledBack {
    /// That version.
    pub to: u64,
    /// The signature.
    #[serde(flatten)]
    pub signature: Signature,
}

/// One table for writing and reading.
macro_rules! kinds {
    ($($name:literal => $variant:ident),* $(,)?) => {
        impl Event {
            /// All kinds.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// Its kind, as stored.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Its body, as JSON.
            ///
            /// # Panics
            /// Never: events consist of strings, numbers and lists.
            pub fn body(&self) -> String {
                let body = match self {
                    $(Self::$variant(body) => serde_json::to_string(body),)*
                };
                body.expect("events consist of strings, numbers and lists")
            }

            /// Parses a stored event.
            ///
            /// # Errors
            /// [`EventError`] if the kind is unknown or the body is invalid.
            pub fn parse(kind: &str, body: &str) -> Result<Self, EventError> {
                let read = match kind {
                    $($name => serde_json::from_str(body).map(Self::$variant),)*
                    other => return Err(EventError::Kind(other.to_owned())),
                };
                read.map_err(|error| EventError::Body { kind: kind.to_owned(), problem: error.to_string() })
            }
        }
    };
}

kinds! {
    "registered" => Registered,
    "decided" => Decided,
    "observed" => Observed,
    "corrected" => Corrected,
    "reviewed" => Reviewed,
    "proposed" => Proposed,
    "refused" => Refused,
    "approved" => Approved,
    "rejected" => Rejected,
    "expired" => Expired,
    "rolled back" => RolledBack,
    "stopped" => Stopped,
    "resumed" => Resumed,
    "token created" => TokenCreated,
    "token revoked" => TokenRevoked,
    "sign-in failed" => SignInFailed,
    "sign-ins failed" => SignInsFailed,
    "clock jumped" => ClockJumped,
    "clock corrected" => ClockCorrected,
    "recovered" => Recovered,
    "signing key replaced" => KeyReplaced,
    "person key registered" => PersonKeyRegistered,
    "person key revoked" => PersonKeyRevoked,
    "service started" => ServiceStarted,
    "service stopped" => ServiceStopped,
    "signed in" => SignedIn,
    "exported" => Exported,
    "decision read" => DecisionRead,
    "backup restored" => BackupRestored,
    "notified" => Notified,
    "shadow started" => ShadowStarted,
    "shadow ended" => ShadowEnded,
    "overridden" => Overridden,
    "person erased" => PersonErased,
    "archived" => Archived,
    "followed" => Followed,
    "covered" => Covered,
}

//! What can happen, as it is written into the log.

use rarely_core::{Certificate, Digest, Reason};
use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::record::Field;
use crate::token::Grant;

/// Everything that can happen to policies and to those who may touch them. The log holds its [kind](Event::kind) and its
/// [body](Event::body); when, by whom and to which policy is beside them.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A policy began.
    Registered(Registered),
    /// Somebody was given an option.
    Decided(Decided),
    /// It became known how it went.
    Observed(Observed),
    /// It went otherwise than was said.
    Corrected(Corrected),
    /// The rule in force was held against the evidence.
    Reviewed(Reviewed),
    /// A change is put up for signature.
    Proposed(Box<Proposed>),
    /// A change that the evidence asks for is outside the plan.
    Refused(Refused),
    /// Somebody signed for a proposal.
    Approved(Signed),
    /// Somebody signed against it.
    Rejected(Signed),
    /// Nobody signed in time.
    Expired(Expired),
    /// An older rule was put in force again.
    RolledBack(RolledBack),
    /// Exploration and automatic changes were stopped.
    Stopped(Signature),
    /// They go on.
    Resumed(Signature),
    /// Somebody may do something from now on.
    TokenCreated(Grant),
    /// No longer.
    TokenRevoked(TokenRevoked),
    /// A token that is none, or no longer one, was shown.
    SignInFailed(SignInFailed),
    /// The end of the log was lost, and somebody said to go on.
    Recovered(Recovered),
}

/// A policy began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Registered {
    /// The policy document, as it was sent.
    pub document: String,
    /// From which, with its own number, each randomised decision is drawn.
    pub seed: u64,
}

/// Somebody was given an option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The caller's name for the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The features, in the document's order.
    pub record: Vec<Field>,
    /// The option.
    pub option: String,
    /// The version of the policy.
    pub version: u64,
    /// The last event that was known when this was decided.
    pub basis: u64,
    /// Why this option.
    pub reason: Reason,
    /// With what probability.
    pub propensity: f64,
}

/// It became known how it went: with one of our decisions, or with one that was taken elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Our decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<u64>,
    /// A decision taken elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// The outcome, in the document's units.
    pub outcome: f64,
}

/// A decision taken elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The caller's name for the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The features, in the document's order.
    pub record: Vec<Field>,
    /// The option.
    pub option: String,
    /// With what probability, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propensity: Option<f64>,
}

/// It went otherwise than was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    /// The decision.
    pub decision: u64,
    /// The event that first said how it went.
    pub first: u64,
    /// The last event that said otherwise.
    pub previous: u64,
    /// What that said.
    pub from: f64,
    /// The outcome, in the document's units.
    pub outcome: f64,
    /// Why, if somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The rule in force was held against the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reviewed {
    /// The last event that was looked at.
    pub basis: u64,
    /// The version in force.
    pub version: u64,
    /// `keep`, `change`, `cannot tell`.
    pub verdict: String,
    /// Why not otherwise.
    pub reasons: Vec<String>,
    /// Where the rule stood.
    pub point: Point,
    /// Fingerprint of the statistics.
    pub digest: Digest,
    /// Whoever signed that nothing changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// Where a rule stood at a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Outcomes until then.
    pub outcomes: u64,
    /// How far the rule's boundaries are from the estimates, over how far they may be: above 1 they are implausible.
    pub strain: f64,
    /// Share of recent people given an option that the data rule out.
    pub excluded_share: f64,
    /// The boundaries that lie along one running variable.
    pub cuts: Vec<CutPoint>,
}

/// A boundary at a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutPoint {
    /// The options on its two sides.
    pub options: [String; 2],
    /// Where it is.
    pub at: f64,
    /// From where it may be; nothing if that has no end.
    pub low: Option<f64>,
    /// To where.
    pub high: Option<f64>,
}

/// A change is put up for signature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// The proposal's number among the policy's, from 1.
    pub proposal: u64,
    /// The last event that was looked at.
    pub basis: u64,
    /// The version that would be replaced.
    pub version: u64,
    /// The rule that would replace it.
    pub rule: WrittenRule,
    /// An older version whose rule that is, if this is a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<u64>,
    /// After this time it can no longer be signed.
    pub expires_ms: u64,
    /// Outcomes until then.
    pub outcomes: u64,
    /// Fingerprint of the statistics.
    pub digest: Digest,
    /// The signature of whoever asks for a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
}

/// What a proposal rests on, in words and numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What made the rule in force untenable.
    pub cause: String,
    /// The rule in force, in words.
    pub before: Vec<String>,
    /// The proposed rule, in words.
    pub after: Vec<String>,
    /// What differs.
    pub difference: Vec<String>,
    /// The rule the algorithm asks for, to all its digits.
    pub exact: WrittenRule,
    /// Why it is of another form, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The certificate.
    pub certificate: Certificate,
    /// By what the change is certified.
    pub certified_by: Vec<String>,
    /// Who changes: band, people, changed, gain.
    pub who: Vec<Affected>,
    /// What speaks against it.
    pub against: Vec<String>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
    /// The whole review, as `rarely review --format json` prints it.
    pub review: Json,
    /// Pictures, as SVG.
    pub pictures: Vec<Drawing>,
}

/// What a change means for one band of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Affected {
    /// Who.
    pub band: String,
    /// How many, of the recent people.
    pub people: u64,
    /// How many of them get another option.
    pub changed: u64,
    /// From which to which: `12 from watch to treat`.
    pub moves: Vec<String>,
    /// The gain over all of the band: estimate, lower end, upper end.
    pub gain: [f64; 3],
}

/// A statement of the policy document that the evidence rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// What it is called.
    pub name: String,
    /// What it is set to.
    pub value: String,
    /// What that means.
    pub meaning: String,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// What it is of.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The picture, as SVG.
    pub svg: String,
}

/// A change that the evidence asks for is outside the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// The last event that was looked at.
    pub basis: u64,
    /// The version in force.
    pub version: u64,
    /// The rule that would have replaced it.
    pub rule: WrittenRule,
    /// In words.
    pub words: Vec<String>,
    /// What made the rule in force untenable.
    pub cause: String,
    /// Why it is outside the plan.
    pub reasons: Vec<String>,
    /// Fingerprint of the statistics.
    pub digest: Digest,
}

/// What a signature means to its signer, and why it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// "I approve this change for the clinic."
    pub meaning: String,
    /// Why.
    pub reason: String,
}

/// A proposal was signed for or against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The proposal.
    pub proposal: u64,
    /// The signature.
    #[serde(flatten)]
    pub signature: Signature,
}

/// Nobody signed in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expired {
    /// The proposal.
    pub proposal: u64,
}

/// An older rule was put in force again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolledBack {
    /// The version whose rule it is.
    pub to: u64,
    /// The signature.
    #[serde(flatten)]
    pub signature: Signature,
}

/// A token is one no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// Its public part.
    pub id: String,
}

/// A token that is none, or no longer one, was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInFailed {
    /// From where.
    pub address: String,
    /// Why it was not let in.
    pub problem: String,
}

/// The end of the log was lost, and somebody said to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// The last event that was left.
    pub log_ended: u64,
    /// The last event that had been acknowledged.
    pub acknowledged: u64,
}

/// An entry of the log that is no event of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// An unknown kind.
    #[error("events of the kind {0:?} are not known to this version of rarely; use the version that wrote them")]
    Kind(String),
    /// A body that cannot be read.
    #[error("the body of an event of the kind {kind:?} cannot be read: {problem}")]
    Body {
        /// The kind.
        kind: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// One table for writing and reading.
macro_rules! kinds {
    ($($name:literal => $variant:ident),* $(,)?) => {
        impl Event {
            /// Every kind.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// Its kind, in one word.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Its body, as JSON.
            ///
            /// # Panics
            /// If a number in it is not finite, which the checks before do not let through.
            pub fn body(&self) -> String {
                let body = match self {
                    $(Self::$variant(body) => serde_json::to_string(body),)*
                };
                body.expect("an event is made of names, texts and finite numbers")
            }

            /// From what the log holds.
            ///
            /// # Errors
            /// [`EventError`] if it is of another kind or cannot be read.
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
    "recovered" => Recovered,
}

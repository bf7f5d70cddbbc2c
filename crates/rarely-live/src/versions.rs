//! The versions of a policy, and its proposals.

use rarely_policy::WrittenRule;
use rarely_store::Hash;
use serde::{Deserialize, Serialize};

use crate::event::Signature;

/// A version of a policy: a rule that is or was in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// From 1.
    pub number: u64,
    /// The rule.
    pub rule: WrittenRule,
    /// The event that put it in force.
    pub event: u64,
    /// When it was put in force.
    pub time_ms: u64,
    /// How it came about.
    pub origin: VersionOrigin,
    /// Who signed; empty if the plan allows changes without a signature.
    pub signers: Vec<Signer>,
}

/// How a version came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum VersionOrigin {
    /// The rule of the registered document.
    Registration,
    /// A proposal based on evidence.
    Proposal {
        /// Its number.
        proposal: u64,
    },
    /// The rule of an earlier version, put in force again.
    Rollback {
        /// That version.
        to: u64,
    },
    /// The rule that was in force, under an amended document.
    Amendment {
        /// The number of its proposal.
        proposal: u64,
    },
    /// The policy was stopped, which put the last signed rule in force again.
    Stop {
        /// That rule's version.
        to: u64,
    },
}

/// A person who signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signer {
    /// The name.
    pub name: String,
    /// When the person signed.
    pub time_ms: u64,
    /// The signature.
    #[serde(flatten)]
    pub signature: Signature,
}

impl Signer {
    /// The person's id.
    pub fn person_id(&self) -> String {
        self.signature.person_id(&self.name)
    }
}

/// A proposal and its status. Its rationale is in its event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalRecord {
    /// From 1.
    pub number: u64,
    /// Its event.
    pub event: u64,
    /// That event's hash, which signatures are about.
    pub hash: Hash,
    /// When it was made.
    pub time_ms: u64,
    /// From this time on it can no longer be signed.
    pub expires_ms: u64,
    /// The version it would replace.
    pub version: u64,
    /// The proposed rule.
    pub rule: WrittenRule,
    /// For a rollback, the earlier version whose rule this is.
    pub rollback: Option<u64>,
    /// For an amendment, the document that would replace the one in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amendment: Option<String>,
    /// The outcomes that it is based on.
    pub outcomes: u64,
    /// Who has signed so far.
    pub signers: Vec<Signer>,
    /// Its status.
    pub status: ProposalStatus,
}

/// The status of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum ProposalStatus {
    /// It waits for a signature.
    Open,
    /// It is in force, or was.
    Approved {
        /// As this version.
        version: u64,
    },
    /// It was rejected.
    Rejected {
        /// By whom, and why.
        by: Box<Signer>,
    },
    /// It expired unsigned.
    Expired,
    /// Another rule was put in force in the meantime.
    Overtaken,
}

impl ProposalStatus {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved { .. } => "approved",
            Self::Rejected { .. } => "rejected",
            Self::Expired => "expired",
            Self::Overtaken => "overtaken",
        }
    }
}

impl ProposalRecord {
    /// Whether it waits for a signature.
    pub fn is_open(&self) -> bool {
        self.status == ProposalStatus::Open
    }

    /// Whether it is open but past its expiry time.
    pub fn is_overdue(&self, now_ms: u64) -> bool {
        self.is_open() && now_ms >= self.expires_ms
    }
}

impl Version {
    /// Whether a person put it in force.
    pub fn is_signed(&self) -> bool {
        self.origin == VersionOrigin::Registration || !self.signers.is_empty()
    }
}

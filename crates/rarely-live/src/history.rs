//! The versions of a policy, and the proposals that led to them or did not.

use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};

use crate::event::Signature;

/// A rule that was or is in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// From 1.
    pub number: u64,
    /// The rule.
    pub rule: WrittenRule,
    /// The event that put it in force.
    pub event: u64,
    /// When.
    pub time_ms: u64,
    /// How it came about.
    pub origin: Origin,
    /// Who signed for it; nobody if the plan allowed it without.
    pub signers: Vec<Signer>,
}

/// How a version came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Origin {
    /// It is the document's.
    Registration,
    /// A proposal on evidence.
    Proposal {
        /// Its number.
        proposal: u64,
    },
    /// The rule of an older version was put in force again.
    Rollback {
        /// That version.
        to: u64,
    },
    /// The policy was stopped, and went back to the last rule that somebody had signed.
    Stop {
        /// The version whose rule that is.
        to: u64,
    },
}

/// Somebody who signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signer {
    /// Who.
    pub name: String,
    /// When.
    pub time_ms: u64,
    /// What it means, and why.
    #[serde(flatten)]
    pub signature: Signature,
}

/// A proposal; what it rests on is in its event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// From 1.
    pub number: u64,
    /// Its event.
    pub event: u64,
    /// When it was made.
    pub time_ms: u64,
    /// When it can no longer be signed.
    pub expires_ms: u64,
    /// The version it would replace.
    pub version: u64,
    /// By what.
    pub rule: WrittenRule,
    /// The older version whose rule that is, if it is a rollback.
    pub rollback: Option<u64>,
    /// Outcomes it rests on.
    pub outcomes: u64,
    /// Who signed for it so far.
    pub signers: Vec<Signer>,
    /// What became of it.
    pub status: Status,
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Status {
    /// It waits for a signature.
    Open,
    /// It was put in force.
    Approved {
        /// As this version.
        version: u64,
    },
    /// Somebody signed against it.
    Rejected {
        /// Who, and why.
        by: Signer,
    },
    /// Nobody signed in time.
    Expired,
    /// Another rule came in force meanwhile.
    Overtaken,
}

impl Status {
    /// In one word.
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

impl Proposal {
    /// Whether it still waits for a signature.
    pub fn is_open(&self) -> bool {
        self.status == Status::Open
    }

    /// Whether it waits, and its time is over.
    pub fn is_overdue(&self, now_ms: u64) -> bool {
        self.is_open() && now_ms >= self.expires_ms
    }
}

impl Version {
    /// Whether a person put it in force.
    pub fn is_signed(&self) -> bool {
        self.origin == Origin::Registration || !self.signers.is_empty()
    }
}

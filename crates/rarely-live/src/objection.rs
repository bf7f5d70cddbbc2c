//! Why an act on a policy is not allowed.

use rarely_error::{Action, Explain, Remedy, Topic};

/// Why an act on a policy is not allowed. The same checks run when it is requested and when the log is replayed or audited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// The proposal does not exist.
    #[error("the policy has no proposal {0}")]
    NoProposal(u64),
    /// The proposal is not open.
    #[error("proposal {number} is {status}, and only an open proposal can be signed")]
    NotOpen {
        /// The proposal.
        number: u64,
        /// Its status.
        status: &'static str,
    },
    /// The proposal has expired.
    #[error("proposal {0} has expired")]
    ProposalExpired(u64),
    /// The same person signs twice.
    #[error("{name} has already signed, and the document requires the signatures of two different people")]
    SameSigner {
        /// The person.
        name: String,
    },
    /// The policy is stopped.
    #[error("the policy is stopped")]
    Stopped,
    /// The policy is not stopped.
    #[error("the policy is not stopped")]
    NotStopped,
    /// The version does not exist.
    #[error("the policy has no version {0}")]
    NoVersion(u64),
    /// The policy is stopped, and nobody signed the version.
    #[error("the policy is stopped, and nobody has signed version {0}")]
    UnsignedVersion(u64),
    /// The rule is already in force.
    #[error("version {version} has the rule that is in force, so nothing would change")]
    SameRule {
        /// The requested version.
        version: u64,
    },
    /// The rule of an earlier version does not fit the document in force.
    #[error("the rule of version {version} does not fit the document in force: {problem}")]
    UnfitRule {
        /// The requested version.
        version: u64,
        /// What does not fit.
        problem: String,
    },
    /// The document in force cannot be replaced by this one.
    #[error("the document cannot replace the one in force: {problem}")]
    Amendment {
        /// Why not.
        problem: String,
        /// What to do.
        help: &'static str,
    },
    /// The signature lacks its meaning or reason.
    #[error("the signature has no {0}")]
    SignatureIncomplete(&'static str),
    /// The document's plan does not allow the change.
    #[error("the plan of the document does not allow the change: {}", .0.join("; "))]
    Plan(Vec<String>),
    /// Another proposal is open.
    #[error("proposal {0} is still open")]
    OpenProposal(u64),
    /// The act refers to a version that is not in force.
    #[error("this refers to version {found}, but version {in_force} is in force")]
    WrongVersion {
        /// The version it refers to.
        found: u64,
        /// The version in force.
        in_force: u64,
    },
    /// A key is required, and the signature was not made with one.
    #[error("this requires a signature with a key of {name}, not only a token")]
    KeyRequired {
        /// The person.
        name: String,
    },
    /// The signature was made with a key that is not the person's.
    #[error("the key {key} is not a key of {name}, or was revoked")]
    UnknownKey {
        /// The person.
        name: String,
        /// The id of the key.
        key: String,
    },
    /// The signature is not one of this.
    #[error("the signature of {name} was made for something else, or by another key")]
    WrongSignature {
        /// The person.
        name: String,
    },
    /// A passkey has signed with a counter that is not above the last one.
    #[error("the counter of the passkey {key} of {name} has not gone up, so there may be a copy of it")]
    CopiedKey {
        /// The person.
        name: String,
        /// The id of the key.
        key: String,
    },
    /// A candidate decides already beside the rule in force.
    #[error("a candidate decides already beside the rule in force")]
    ShadowRuns,
    /// No candidate decides beside the rule in force.
    #[error("no candidate decides beside the rule in force")]
    NoShadow,
    /// The candidate does not fit the document in force.
    #[error("the candidate does not fit the document in force: {problem}")]
    UnfitCandidate {
        /// What does not fit.
        problem: String,
    },
    /// The option does not exist.
    #[error("the policy has no option {option:?}")]
    NoOption {
        /// Its name.
        option: String,
    },
    /// The option is the one that was decided.
    #[error("{option:?} is what was decided, so nothing is overridden")]
    SameOption {
        /// Its name.
        option: String,
    },
    /// The decision does not exist.
    #[error("the policy has no decision {0}")]
    NoDecision(u64),
    /// The person was erased.
    #[error("the person of decision {0} was erased")]
    Erased(u64),
    /// The record of the decision is archived.
    #[error("the record of decision {decision} is archived in {file}, so nothing more is recorded about it")]
    Archived {
        /// The decision.
        decision: u64,
        /// The name of the file.
        file: String,
    },
    /// These records are not the next ones to archive.
    #[error("records of the policy {0} were archived meanwhile, or its document keeps them longer now")]
    NotDue(String),
    /// The decision was overridden before.
    #[error("decision {0} was overridden before")]
    AlreadyOverridden(u64),
    /// The decision has an outcome, which is evidence already.
    #[error("decision {0} has an outcome already, which may have been learned")]
    HasOutcome(u64),
    /// A decision of the past that lies ahead.
    #[error("the time lies ahead, so that this is no history")]
    FutureHistory,
    /// The policy has decided or learned something that is no history.
    #[error("the policy has decisions or observations already, and earlier ones cannot be put before them")]
    LateHistory,
    /// A decision of the past from before those that were imported.
    #[error("a later decision is imported already, and history is learned in the order of its times")]
    UnorderedHistory,
    /// Something that occurs only in a damaged or foreign log.
    #[error("{0}")]
    Inconsistent(String),
}

impl Explain for Objection {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NoProposal(_) => Some(Remedy::with("{action}", Action::ListProposals)),
            Self::NoVersion(_) => Some(Remedy::with("{action}", Action::ListVersions)),
            Self::ProposalExpired(_) => {
                Some(Remedy::with("{action}, and sign the proposal that results", Action::RequestReview))
            }
            Self::Stopped => Some(Remedy::with("{action} first", Action::ResumePolicy)),
            Self::SignatureIncomplete(part) => Some(Remedy::new(format!("add a {part}, in a few words"))),
            Self::KeyRequired { .. } => Some(
                Remedy::new(
                    "sign with a passkey in the dashboard, or with a key file at a shell; without a key, register one first",
                )
                .see(Topic::PersonKeys),
            ),
            Self::WrongSignature { .. } => Some(Remedy::new("load it again, and sign exactly what is there").see(Topic::Signatures)),
            Self::UnknownKey { .. } => Some(Remedy::new("sign with another key, or register this one first").see(Topic::PersonKeys)),
            Self::CopiedKey { .. } => Some(Remedy::new("revoke the passkey, and register another one").see(Topic::PersonKeys)),
            Self::Amendment { help, .. } => Some(Remedy::new(*help).see(Topic::Amendments)),
            Self::UnsignedVersion(_) => Some(Remedy::new("leave the version out, or name one that people have signed").see(Topic::NamedVersions)),
            Self::FutureHistory => Some(Remedy::new("send the time of the decision, with its zone").see(Topic::History)),
            Self::LateHistory => Some(
                Remedy::new(
                    "import history into a policy that has not decided yet; a review of files takes both, in any order",
                )
                .see(Topic::History),
            ),
            Self::UnorderedHistory => Some(Remedy::new("send the oldest decision first").see(Topic::History)),
            Self::ShadowRuns => Some(Remedy::new("end it first").see(Topic::Candidates)),
            Self::HasOutcome(_) => Some(Remedy::new("override a decision before its outcome is reported").see(Topic::Overrides)),
            Self::NotDue(_) => Some(Remedy::new("start again; what was archived stays archived").see(Topic::Archives)),
            Self::OpenProposal(_) => Some(Remedy::new("sign or reject it first")),
            Self::NotOpen { .. }
            | Self::SameSigner { .. }
            | Self::NotStopped
            | Self::SameRule { .. }
            | Self::UnfitRule { .. }
            | Self::Plan(_)
            | Self::WrongVersion { .. }
            | Self::NoShadow
            | Self::UnfitCandidate { .. }
            | Self::NoOption { .. }
            | Self::SameOption { .. }
            | Self::NoDecision(_)
            | Self::Erased(_)
            | Self::Archived { .. }
            | Self::AlreadyOverridden(_)
            | Self::Inconsistent(_) => None,
        }
    }
}

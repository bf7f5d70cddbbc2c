//! Why something that was asked of a policy is not done.

/// Why something that was asked of a policy is not done. The same checks are made when it is asked and when the log is audited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// No such proposal.
    #[error("the policy has no proposal {0}; `GET …/proposals` lists them")]
    NoProposal(u64),
    /// It does not wait for a signature.
    #[error("proposal {number} is {status}: only an open proposal can be signed")]
    NotOpen {
        /// The proposal.
        number: u64,
        /// What became of it.
        status: &'static str,
    },
    /// Its time is over.
    #[error("proposal {0} has expired: ask for a review, and sign the proposal that comes of it")]
    TooLate(u64),
    /// The same person twice.
    #[error("{name} has signed already: the document asks for signatures of two different people")]
    SameSigner {
        /// Who.
        name: String,
    },
    /// A change while everything is stopped.
    #[error("the policy is stopped: resume it first")]
    Stopped,
    /// It is not stopped.
    #[error("the policy is not stopped")]
    NotStopped,
    /// No such version.
    #[error("the policy has no version {0}; `GET …/versions` lists them")]
    NoVersion(u64),
    /// Nothing would change.
    #[error("version {version} has the rule that is in force: nothing would change")]
    SameRule {
        /// The version asked for.
        version: u64,
    },
    /// A signature without words.
    #[error("a signature needs a {0}: say it in a few words")]
    Wordless(&'static str),
    /// The plan does not allow it.
    #[error("the plan of the document does not allow it: {}", .0.join("; "))]
    Plan(Vec<String>),
    /// One proposal at a time.
    #[error("proposal {0} is open: sign or refuse it first")]
    OpenProposal(u64),
    /// It would replace another version than the one in force.
    #[error("it is about version {found}, but version {in_force} is in force")]
    Version {
        /// The version it is about.
        found: u64,
        /// The version in force.
        in_force: u64,
    },
    /// Something that only a damaged or foreign log holds.
    #[error("{0}")]
    Misfit(String),
}

//! Why the engine does not start, and why a change is not made.

use std::sync::Arc;

use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_store::{SnapshotFault, StoreError};

use crate::objection::Objection;
use crate::person::PersonError;
use crate::replay::ReplayError;

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be replayed.
    #[error("the log cannot be replayed: {0}")]
    Replay(#[from] ReplayError),
    /// The snapshot was tampered with.
    #[error(transparent)]
    Snapshot(SnapshotFault),
    /// A thread cannot be started.
    #[error("a thread could not be started: {0}")]
    Thread(#[source] std::io::Error),
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The policy does not allow it.
    #[error(transparent)]
    Objection(#[from] Objection),
    /// The document is invalid.
    #[error(transparent)]
    Document(#[from] rarely_policy::DocumentError),
    /// Another policy has this name.
    #[error("the policy {0:?} already exists with another document")]
    NameTaken(String),
    /// Neither the noise nor the range of the outcome is known.
    #[error("a policy that runs needs the noise of the outcome, or its range")]
    NoNoise,
    /// The document has something that a policy that runs would ignore.
    #[error(transparent)]
    OnlyReviewed(#[from] rarely_review::OnlyReviewed),
    /// The token does not exist or is already revoked.
    #[error("there is no token {0} to revoke")]
    NoToken(String),
    /// Nobody could create tokens any more.
    #[error("the token {0} is the last one with the role `admin` on all policies, so it cannot be revoked")]
    LastAdmin(String),
    /// The name or the id of a person cannot be used.
    #[error(transparent)]
    Person(#[from] PersonError),
    /// A key belongs to one person, once.
    #[error("the key {0} is registered already")]
    PersonKeyTaken(String),
    /// Whoever has a key registers no second one with a token.
    #[error("{0} has a key already")]
    HasKey(String),
    /// The key does not exist or is already revoked.
    #[error("there is no key {0} to revoke")]
    NoPersonKey(String),
    /// Nobody with this identifier has a key.
    #[error("there is no record of this person, or the person was erased already")]
    NoSubject,
    /// The statistics cannot be computed again without a person, because records of the policy are archived.
    #[error("records of the policy {0} are archived, so its statistics cannot be computed again without this person")]
    ArchivedStatistics(String),
    /// Earlier events could not be written in time.
    #[error("earlier events are still being written")]
    Busy,
    /// The log is not signed, and this must be.
    #[error("this must be signed with the key of the log, and there is none")]
    NoSigningKey,
    /// The evidence cannot be reviewed.
    #[error(transparent)]
    Review(#[from] rarely_review::ReviewError),
    /// The change could not be stored.
    #[error("the change could not be stored: {0}")]
    Store(Arc<StoreError>),
    /// The change is stored, but has no effect.
    #[error(transparent)]
    Fault(#[from] EngineFault),
}

/// Why the engine no longer works, although its log is intact. A restart replays the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineFault {
    /// An event cannot be applied, so the state in memory no longer follows the log.
    #[error("the state in memory no longer follows the log: {0}")]
    Diverged(Arc<ReplayError>),
    /// The thread that applies events has ended.
    #[error("events are stored, but no longer applied")]
    ApplierEnded,
}

impl Explain for StartError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Store(error) => error.remedy(),
            Self::Snapshot(fault) => fault.remedy(),
            Self::Replay(_) => Some(
                Remedy::with("restore a backup, or {action} to find the first invalid event", Action::VerifyLog)
                    .see(Topic::Recovery),
            ),
            Self::Thread(_) => Some(Remedy::new("check the system's limits on processes and memory")),
        }
    }
}

impl Explain for ChangeError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Objection(objection) => objection.remedy(),
            Self::NoNoise => {
                Some(Remedy::new("declare range = [lowest, highest] of the outcome, or noise under [evidence]").see(Topic::Assumptions))
            }
            Self::OnlyReviewed(error) => error.remedy(),
            Self::NameTaken(_) => Some(Remedy::new("choose another name for this policy")),
            Self::Store(error) => error.remedy(),
            Self::Fault(fault) => fault.remedy(),
            Self::Review(error) => error.remedy(),
            Self::Document(error) => error.remedy(),
            Self::LastAdmin(_) => Some(Remedy::new("create another administrator's token first")),
            Self::Person(error) => error.remedy(),
            Self::PersonKeyTaken(_) => Some(Remedy::new("create a new key")),
            Self::NoSubject => Some(Remedy::new("send the `subject` exactly as decision requests had it").see(Topic::Erasures)),
            Self::Busy => Some(Remedy::new("try again").see(Topic::Pressure)),
            Self::NoSigningKey => Some(Remedy::new("name the file of the private key that signs checkpoints").see(Topic::Checkpoints)),
            Self::HasKey(_) => Some(
                Remedy::new(
                    "revoke it with a signature of its own; if it is lost, ask the administrator of the service to revoke it",
                )
                .see(Topic::PersonKeys),
            ),
            Self::ArchivedStatistics(_) => Some(
                Remedy::new("erase the person and keep the statistics: sums have nobody's own data").see(Topic::Archives),
            ),
            Self::NoToken(_) | Self::NoPersonKey(_) => None,
        }
    }
}

impl Explain for EngineFault {
    fn remedy(&self) -> Option<Remedy> {
        Some(
            Remedy::with("restart the service; if it does not start, {action}", Action::VerifyLog).see(Topic::Recovery),
        )
    }
}

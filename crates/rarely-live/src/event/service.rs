//! Events about the service and its people, and what they say.

use std::collections::BTreeMap;

use rarely_store::Head;
use serde::{Deserialize, Serialize};

use super::{Archived, ClockCorrected, ClockJumped, Covered, Event, PersonErased};
use crate::token::Role;

/// An access token was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// Its public part.
    pub id: String,
}

/// A sign-in with an invalid token was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInFailed {
    /// The client's address.
    pub address: String,
    /// Why it was refused.
    pub problem: String,
}

/// Sign-ins with invalid tokens were refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInsFailed {
    /// How many.
    pub count: u64,
    /// When the first of them was.
    pub since_ms: u64,
    /// By the client's address, for the addresses that came first.
    pub addresses: BTreeMap<String, u64>,
    /// From all other addresses.
    pub others: u64,
}

/// A person signed in to the dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The person's id.
    pub person: String,
    /// With what: the public part of a token, or the address of an identity provider.
    pub with: String,
    /// The client's address.
    pub address: String,
}

/// The service started or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceRun {
    /// The version of the program.
    pub program: String,
    /// `full` if every acknowledged event survives a power failure, otherwise `relaxed`.
    pub durability: String,
}

/// A person read or exported records of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsRead {
    /// The person's id.
    pub person: String,
    /// The decision that was read; absent if all cases were exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<u64>,
}

/// The loss of the log's last events was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// The last event that remained.
    pub log_ended: u64,
    /// The last event that had been acknowledged.
    pub acknowledged: u64,
}

/// An older backup replaced the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRestored {
    /// Who did it, as given.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Where the log ended.
    pub from: LogEnd,
    /// Where the backup ends.
    pub to: LogEnd,
}

/// How far somebody outside was told what happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notified {
    /// Who is told: a webhook or a mailbox, without its secrets.
    pub channel: String,
    /// Everything up to this event is settled: told, given up, or nothing to tell.
    pub about: u64,
    /// What became of the notice of that event.
    pub result: NoticeResult,
}

/// What became of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeResult {
    /// There was nothing to tell.
    Nothing,
    /// It was delivered.
    Delivered,
    /// It could not be delivered in time.
    GivenUp,
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEnd {
    /// The last event.
    pub number: u64,
    /// Its hash.
    pub hash: String,
}

impl From<Head> for LogEnd {
    fn from(Head { number, hash }: Head) -> Self {
        Self { number, hash: hash.to_string() }
    }
}

impl Event {
    /// Whether it is only for the record, and changes no state.
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Self::ServiceStarted(_)
                | Self::ServiceStopped(_)
                | Self::SignedIn(_)
                | Self::SignInFailed(_)
                | Self::SignInsFailed(_)
                | Self::ClockJumped(_)
                | Self::Exported(_)
                | Self::DecisionRead(_)
                | Self::Recovered(_)
                | Self::BackupRestored(_)
                | Self::Covered(_)
        )
    }

    /// Kinds of events about which somebody outside may want to be told.
    pub const NOTABLE_KINDS: [&'static str; 3] = ["proposed", "expired", "stopped"];

    /// What happened to the service or its people, as a sentence; `None` for the events by which a policy lives.
    pub fn service_sentence(&self) -> Option<String> {
        Some(match self {
            Self::ServiceStarted(ServiceRun { program, durability }) => {
                format!("The service started: rarely {program}, durability {durability}.")
            }
            Self::ServiceStopped(ServiceRun { program, .. }) => format!("The service stopped: rarely {program}."),
            Self::SignedIn(SignedIn { person, with, address }) => {
                format!("The person {person} signed in to the dashboard with {with}, from {address}.")
            }
            Self::SignInFailed(SignInFailed { address, problem }) => {
                format!("A sign-in from {address} was refused: {problem}.")
            }
            Self::SignInsFailed(SignInsFailed { count, addresses, others, .. }) => {
                let mut from: Vec<String> =
                    addresses.iter().map(|(address, count)| format!("{count} from {address}")).collect();
                from.extend((*others > 0).then(|| format!("{others} from elsewhere")));
                format!("Sign-ins were refused {count} times: {}.", from.join(", "))
            }
            Self::ClockJumped(ClockJumped { offset_ms: 0 }) => "The system's clock was right again.".to_owned(),
            Self::ClockJumped(ClockJumped { offset_ms }) => {
                let side = if *offset_ms > 0 { "ahead" } else { "behind" };
                let seconds = offset_ms.unsigned_abs() / 1000;
                format!("The system's clock jumped: it was {seconds} seconds {side} and was not believed.")
            }
            Self::ClockCorrected(ClockCorrected { from_ms, to_ms, reason, .. }) => {
                let seconds = from_ms.saturating_sub(*to_ms) / 1000;
                format!("The time of the log was set back by {seconds} seconds. Reason: {reason}")
            }
            Self::Exported(RecordsRead { person, .. }) => format!("The person {person} exported all cases."),
            Self::DecisionRead(RecordsRead { person, decision }) => {
                format!("The person {person} read the record of decision {}.", decision.unwrap_or_default())
            }
            Self::TokenCreated(grant) => {
                let roles: Vec<&str> = grant.roles.iter().copied().map(Role::name).collect();
                let person = grant.person_id();
                format!(
                    "The token {} was created for {} (person {person}): {}.",
                    grant.id,
                    grant.name,
                    roles.join(", ")
                )
            }
            Self::TokenRevoked(TokenRevoked { id }) => format!("The token {id} was revoked."),
            Self::PersonKeyRegistered(key) => format!("The key {} of {} was registered.", key.key.id(), key.person),
            Self::PersonKeyRevoked(key) => format!("The key {} of {} was revoked.", key.key.id(), key.person),
            Self::KeyReplaced(replaced) => format!("The key that signs checkpoints was replaced by {}.", replaced.to),
            Self::Recovered(Recovered { log_ended, acknowledged }) => {
                format!(
                    "The log ended at event {log_ended}; the loss of what followed, up to event {acknowledged}, was accepted."
                )
            }
            Self::Notified(Notified { channel, about, result }) => match result {
                NoticeResult::Nothing => format!("Up to event {about} there was nothing to tell {channel}."),
                NoticeResult::Delivered => format!("The notice of event {about} was delivered to {channel}."),
                NoticeResult::GivenUp => format!("The notice of event {about} could not be delivered to {channel}."),
            },
            Self::PersonErased(erased) => {
                let PersonErased { subjects, reason, person, decisions, outcomes, statistics, .. } = erased.as_ref();
                let people = if let [_] = subjects[..] {
                    "A person was".to_owned()
                } else {
                    format!("{} people were", subjects.len())
                };
                let sums = if statistics.is_some() {
                    "what was learned stays in the sums"
                } else {
                    "the statistics forgot it"
                };
                format!(
                    "{people} erased by {person}: the records of {decisions} decisions and of {outcomes} outcomes cannot be read any more; {sums}. Reason: {reason}"
                )
            }
            Self::Archived(archived) => {
                let Archived { first, last, decisions, file, person, .. } = archived.as_ref();
                format!(
                    "Records from event {first} to event {last} were archived in {} by {person}: those of {decisions} decisions. What was learned stays in the sums.",
                    file.name
                )
            }
            Self::Followed(followed) => {
                let act = followed.act.service_sentence().unwrap_or_default();
                format!(
                    "Event {} of the service, by {}, holds here from now on: {act}",
                    followed.number, followed.actor
                )
            }
            Self::Covered(Covered { chains }) => {
                let ends: Vec<String> = chains
                    .iter()
                    .map(|covered| format!("chain {} had {} events", covered.chain, covered.size))
                    .collect();
                format!("Other chains had come so far: {}.", ends.join(", "))
            }
            Self::BackupRestored(BackupRestored { by, reason, from, to }) => format!(
                "{by} restored a backup: the log went back from event {} to event {}. Reason: {reason}",
                from.number, to.number
            ),
            _ => return None,
        })
    }
}

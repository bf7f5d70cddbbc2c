//! What people are told, in words and as data. It has no content of records.

use rarely_live::{Engine, Event, replay};
use rarely_output::utc;
use rarely_store::LogEntry;
use serde_json::{Value as Json, json};

use crate::app::ServiceSettings;
use crate::dashboard::address;

/// One thing that people are told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notice {
    /// The same for every attempt to deliver it.
    pub(crate) id: String,
    /// Such as `proposal.waiting`.
    pub(crate) kind: &'static str,
    pub(crate) time_ms: u64,
    /// One line.
    pub(crate) subject: String,
    /// One or more sentences.
    pub(crate) text: String,
    /// The page about it.
    pub(crate) link: Option<String>,
    /// The same for programs.
    pub(crate) data: Json,
}

impl Notice {
    /// What a log entry says to people outside; `None` if nothing.
    pub(super) fn of(entry: &LogEntry, engine: &Engine, settings: &ServiceSettings) -> Option<Self> {
        let event = replay::event(engine.log().as_ref(), entry).ok()?;
        let handle = engine.policies().into_iter().find(|handle| handle.id == entry.policy)?;
        let name = &handle.name;
        let (kind, subject, text, page, data) = match &event {
            Event::Proposed(proposed) => {
                // Somebody may have signed or rejected it meanwhile.
                let waits = handle.live.lock().open_proposal().is_some_and(|open| open.number == proposed.proposal);
                if !waits {
                    return None;
                }
                let number = proposed.proposal;
                let what = match (proposed.rollback, &proposed.amendment) {
                    (Some(to), _) => format!("a rollback to version {to}"),
                    (None, Some(_)) => "another document".to_owned(),
                    (None, None) => "another rule".to_owned(),
                };
                let until = utc(proposed.expires_ms);
                (
                    "proposal.waiting",
                    format!("proposal {number} of {name} waits for a signature"),
                    format!("For the policy {name}, {what} is proposed. It can be signed or rejected until {until}."),
                    format!("/proposals/{number}"),
                    json!({ "proposal": number, "expires": until }),
                )
            }
            Event::Expired(expired) => (
                "proposal.expired",
                format!("proposal {} of {name} expired", expired.proposal),
                format!(
                    "Proposal {} for the policy {name} expired without the signatures it needs. The rule in force stays.",
                    expired.proposal
                ),
                format!("/proposals/{}", expired.proposal),
                json!({ "proposal": expired.proposal }),
            ),
            Event::Stopped(_) => (
                "policy.stopped",
                format!("{name} was stopped"),
                format!(
                    "{} stopped the policy {name}: it explores no more and changes nothing by itself until somebody resumes it.",
                    entry.actor
                ),
                String::new(),
                json!({ "by": entry.actor }),
            ),
            _ => return None,
        };
        let link = link(settings, &address(name, &page));
        let mut data = data;
        data["policy"] = name.as_str().into();
        data["event"] = entry.number.into();
        Some(Self {
            id: id(engine, &entry.number.to_string()),
            kind,
            time_ms: entry.time_ms,
            subject,
            text,
            link,
            data,
        })
    }

    /// The disk of the store is nearly full.
    pub(super) fn low_disk(engine: &Engine, settings: &ServiceSettings, free: u64) -> Self {
        let megabytes = free / 1_000_000;
        Self {
            id: id(engine, &format!("disk-{}", engine.now_ms())),
            kind: "disk.low",
            time_ms: engine.now_ms(),
            subject: format!("{megabytes} MB are left on the disk of the store"),
            text: format!(
                "{megabytes} MB are left on the disk of the store. When it is full, nothing is decided any more."
            ),
            link: link(settings, "/"),
            data: json!({ "free_bytes": free }),
        }
    }

    /// Events could not be written.
    pub(super) fn store_failing(engine: &Engine, settings: &ServiceSettings, failures: u64) -> Self {
        Self {
            id: id(engine, &format!("store-{}", engine.now_ms())),
            kind: "store.failing",
            time_ms: engine.now_ms(),
            subject: "events cannot be written".to_owned(),
            text: "Events could not be written to the store. The log of the service and /readyz say why.".to_owned(),
            link: link(settings, "/"),
            data: json!({ "failures": failures }),
        }
    }

    /// As a webhook gets it.
    pub(super) fn json(&self) -> Json {
        let mut data = self.data.clone();
        data["subject"] = self.subject.as_str().into();
        data["text"] = self.text.as_str().into();
        if let Some(link) = &self.link {
            data["link"] = link.as_str().into();
        }
        json!({ "type": self.kind, "timestamp": utc(self.time_ms), "data": data })
    }
}

/// The address of a page, if the service knows how browsers reach it.
fn link(settings: &ServiceSettings, page: &str) -> Option<String> {
    let origin = &settings.relying_party.as_ref()?.origin;
    Some(format!("{origin}{}{page}", settings.base_path.as_str()))
}

/// An id that no other notice has, of this store or another.
fn id(engine: &Engine, what: &str) -> String {
    format!("rarely_{}_{what}", engine.store_id())
}

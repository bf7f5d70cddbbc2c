//! Replays one policy up to an earlier event, following the log at a distance.

use std::collections::VecDeque;

use rarely_store::{EventLog, LogEntry};

use crate::event::Event;
use crate::live_policy::LivePolicy;
use crate::replay::{self, ReplayError};

/// Entries read at a time.
const BLOCK: usize = 512;

pub(crate) struct LaggedReplay {
    live: LivePolicy,
    policy: u64,
    at: u64,
    /// Entries that are read but not yet applied.
    ahead: VecDeque<LogEntry>,
    /// The last entry read.
    read: u64,
}

impl LaggedReplay {
    /// The policy after its registration.
    pub(crate) fn new(log: &dyn EventLog, entry: &LogEntry) -> Result<Self, ReplayError> {
        let inconsistent = |source| ReplayError::Inconsistent { number: entry.number, source };
        let Event::Registered(registered) = replay::event(log, entry)? else {
            return Err(inconsistent(crate::live_policy::inconsistent("a policy must start with its registration")));
        };
        let live = LivePolicy::register(replay::header(entry), &registered).map_err(inconsistent)?;
        Ok(Self::from(live, entry))
    }

    /// The policy before an event that erases people or archives records, from what is left in the log.
    pub(crate) fn without_what_is_gone(log: &dyn EventLog, entry: &LogEntry) -> Result<Self, ReplayError> {
        let archived = log.as_archived_at(entry.number);
        let stored = archived.as_deref().unwrap_or(log);
        let registered = stored.entry(entry.policy)?.ok_or_else(|| ReplayError::Inconsistent {
            number: entry.number,
            source: crate::live_policy::inconsistent("the policy is not registered"),
        })?;
        let mut without = Self::new(stored, &registered)?;
        without.advance(stored, entry.number - 1)?;
        Ok(without)
    }

    /// The policy after one of its events.
    pub(crate) fn from(live: LivePolicy, entry: &LogEntry) -> Self {
        let number = entry.number;
        Self { live, policy: entry.policy, at: number, ahead: VecDeque::new(), read: number }
    }

    pub(crate) fn into_live(self) -> LivePolicy {
        self.live
    }

    pub(crate) fn live(&self) -> &LivePolicy {
        &self.live
    }

    /// The event up to which the policy is replayed.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Replays the policy up to an event.
    pub(crate) fn advance(&mut self, log: &dyn EventLog, to: u64) -> Result<(), ReplayError> {
        loop {
            if self.ahead.is_empty() && self.read < to {
                self.ahead.extend(log.entries(self.read, Some(self.policy), BLOCK)?);
                self.read = self.ahead.back().map_or(to, |last| last.number);
            }
            let Some(entry) = self.ahead.front().filter(|entry| entry.number <= to) else {
                self.at = self.at.max(to);
                return Ok(());
            };
            let event = replay::event(log, entry)?;
            if log.beneath().is_some() && self.live.still_has_what_is_gone(entry.number, &event) {
                self.live = Self::without_what_is_gone(log, entry)?.into_live();
            }
            let about = replay::decision_of(log, &event)?;
            let applied = self.live.apply(replay::header(entry), &event, about.as_ref());
            applied.map_err(|source| ReplayError::Inconsistent { number: entry.number, source })?;
            self.ahead.pop_front();
        }
    }
}

//! A policy as it was known at an earlier event, following the log at a distance.

use std::collections::VecDeque;

use rarely_store::{Entry, Log};

use crate::event::Event;
use crate::live::Live;
use crate::replay::{self, ReplayError};

/// Entries that are read ahead.
const BLOCK: usize = 512;

pub(super) struct Behind {
    live: Live,
    policy: u64,
    at: u64,
    /// Entries that were read and not yet taken in.
    ahead: VecDeque<Entry>,
    /// The last entry that was read.
    read: u64,
}

impl Behind {
    /// A policy at its first event.
    pub(super) fn new(entry: &Entry) -> Result<Self, ReplayError> {
        let misfit = |source| ReplayError::Misfit { number: entry.number, source };
        let Event::Registered(registered) = replay::event(entry)? else {
            return Err(misfit(crate::live::misfit("a policy begins with its registration")));
        };
        let live = Live::register(replay::stamp(entry), &registered).map_err(misfit)?;
        let number = entry.number;
        Ok(Self { live, policy: number, at: number, ahead: VecDeque::new(), read: number })
    }

    pub(super) fn live(&self) -> &Live {
        &self.live
    }

    /// The event up to which it is known.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Takes in what happened up to an event.
    pub(super) fn advance(&mut self, log: &dyn Log, to: u64) -> Result<(), ReplayError> {
        loop {
            if self.ahead.is_empty() && self.read < to {
                self.ahead.extend(log.entries(self.read, Some(self.policy), BLOCK)?);
                self.read = self.ahead.back().map_or(to, |last| last.number);
            }
            let Some(entry) = self.ahead.front().filter(|entry| entry.number <= to) else {
                self.at = self.at.max(to);
                return Ok(());
            };
            let event = replay::event(entry)?;
            let about = replay::about(log, &event)?;
            let applied = self.live.apply(replay::stamp(entry), &event, about.as_ref());
            applied.map_err(|source| ReplayError::Misfit { number: entry.number, source })?;
            self.ahead.pop_front();
        }
    }
}

//! Decisions from before the policy was run here, with their own times.
//!
//! Sets that hold at any time need outcomes in the order of their decisions: what an option was chosen by may be any outcome before it, and none
//! after it. So history comes before everything else, the oldest first.

use serde::{Deserialize, Serialize};

use super::LivePolicy;
use crate::objection::Objection;

/// What was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRecord {
    /// Decisions with their outcomes.
    pub decisions: u64,
    /// When the first was made, …
    pub first_ms: u64,
    /// … and the last.
    pub last_ms: u64,
    /// Those that are not learned, because another request came in between.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub not_learned: u64,
}

impl LivePolicy {
    /// Checks whether a decision of this time may be imported.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_import(&self, time_ms: u64, now_ms: u64) -> Result<(), Objection> {
        let imported = self.state.history.map_or(0, |history| history.decisions);
        let counts = &self.state.counts;
        if time_ms > now_ms {
            return Err(Objection::FutureHistory);
        }
        if counts.decided.iter().sum::<u64>() > 0 || counts.outcomes() > imported {
            return Err(Objection::LateHistory);
        }
        match self.state.history {
            Some(HistoryRecord { last_ms, .. }) if time_ms < last_ms => Err(Objection::UnorderedHistory),
            _ => Ok(()),
        }
    }

    /// Counts a decision that is imported.
    pub(super) fn imported(&mut self, time_ms: u64, is_learned: bool) {
        let new = HistoryRecord { decisions: 0, first_ms: time_ms, last_ms: time_ms, not_learned: 0 };
        let history = self.state.history.get_or_insert(new);
        history.decisions += 1;
        history.first_ms = history.first_ms.min(time_ms);
        history.last_ms = history.last_ms.max(time_ms);
        history.not_learned += u64::from(!is_learned);
    }
}

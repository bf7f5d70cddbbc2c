//! What an audit checks of archived records, and what it cannot check without the archive.

use rarely_store::LogEntry;

use super::{Auditor, CheckError};
use crate::event::Archived;
use crate::live_policy::inconsistent;

/// What cannot be verified without the archives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArchivedCounts {
    /// Events whose bodies are archived.
    pub events: u64,
    /// Decisions that cannot be drawn again: those whose records are archived, and those drawn by statistics with archived outcomes.
    pub decisions: u64,
    /// Reviews of statistics with outcomes that were archived later.
    pub reviews: u64,
    /// Proposals from such statistics.
    pub proposals: u64,
}

impl Auditor<'_> {
    /// Checks the sums that an archiving recorded: with the archive, every digit; without it, how many outcomes they are of.
    pub(super) fn check_sums(&self, entry: &LogEntry, archived: &Archived) -> Result<(), CheckError> {
        let Some(live) = self.state.policy(entry.policy).map(|policy| policy.lock()) else { return Ok(()) };
        let (learned, sums) = (&live.state().learned, &archived.statistics);
        let known = learned.outcomes();
        let is_right = if live.lacks_outcomes() {
            (known..=known + live.lacked_outcomes()).contains(&sums.outcomes())
        } else {
            // As text: what is derived is not in the log.
            serde_json::to_string(&learned.sums()).ok() == serde_json::to_string(sums).ok()
        };
        if is_right {
            return Ok(());
        }
        Err(inconsistent("the sums that were kept when records were archived are not those of the log").into())
    }
}

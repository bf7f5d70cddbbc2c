//! A policy as an audit follows it.

use rarely_store::EventLog;

use super::CheckError;
use crate::decider::Decider;
use crate::lagged_replay::LaggedReplay;
use crate::live_policy::{LivePolicy, inconsistent};

/// What the auditor tracks per policy.
pub(super) struct Trail {
    /// The decider of the last decision.
    pub(super) decider: Decider,
    /// For policies that explore: the policy after the last decision's basis. If an amendment began it, after that one at the earliest.
    pub(super) deciding: Option<LaggedReplay>,
    /// The policy after the last review's basis.
    pub(super) reviewing: LaggedReplay,
}

impl Trail {
    /// Whether a decision cannot be drawn again because outcomes are archived that were known then.
    pub(super) fn lacks_archived(&self) -> bool {
        self.deciding.as_ref().is_some_and(|deciding| deciding.live().lacks_archived())
    }

    /// Moves the decider to the state after event `basis`; `live` is the policy's current state.
    pub(super) fn advance(&mut self, log: &dyn EventLog, live: &LivePolicy, basis: u64) -> Result<(), CheckError> {
        if let Some(behind) = self.deciding.as_mut().filter(|behind| behind.at() <= basis) {
            behind.advance(log, basis)?;
            self.decider = behind.live().decider(basis);
            return Ok(());
        }
        // Without exploration only the version matters.
        let version = live
            .version_at(basis)
            .ok_or_else(|| inconsistent("the decision was made before the policy was registered"))?;
        if version.number == self.decider.version {
            self.decider.basis = basis;
        } else {
            let (number, document) = (version.number, live.document_of(version.number)?);
            self.decider = Decider::of_rule((live.edition_of(number), &document), (number, basis));
        }
        Ok(())
    }
}

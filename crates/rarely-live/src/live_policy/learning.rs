//! What happens every day: decisions, outcomes, corrections and reviews.

use std::collections::BTreeMap;

use rarely_core::{Arm, Reason};
use rarely_review::Verdict;

use super::{DecisionRef, EventHeader, LivePolicy, PolicyState, check_complete, inconsistent};
use crate::event::{Corrected, Decided, Observed, Reviewed};
use crate::late_outcomes::{CorrectedOutcome, HeldOutcome};
use crate::objection::Objection;
use crate::record::RecordField;
use crate::review_history::TimedReviewPoint;

impl LivePolicy {
    /// Learns the outcomes that no longer wait. Decisions run out of time by the log's own clock, so that a replay agrees.
    pub(super) fn learn_late(&mut self, header: EventHeader<'_>) {
        let PolicyState { learned, late: Some(late), .. } = &mut self.state else { return };
        while let Some((decision, held)) = late.learnable(header.time_ms) {
            if held.excluded {
                continue;
            }
            learned.observe(learned.outcomes() + 1, decision, &held);
            self.learned_at = header.number;
        }
    }

    pub(super) fn decided(&mut self, header: EventHeader<'_>, decided: &Decided) -> Result<(), Objection> {
        let arm = self.arm(&decided.option)?;
        self.count_shadow(decided)?;
        self.lack(decided.subject, 0);
        let counts = &mut self.state.counts;
        counts.decided[arm.index()] += 1;
        counts.explored += u64::from(decided.reason != Reason::Policy);
        counts.pinned += u64::from(decided.pinned);
        if let Some(unanswered) = &mut counts.unanswered {
            unanswered.decided(header.time_ms, arm.index());
        }
        let is_learned = self.learns_from(decided.version);
        if let Some(late) = self.state.late.as_mut().filter(|_| is_learned) {
            late.decided(header);
        }
        Ok(())
    }

    pub(super) fn observed(
        &mut self,
        header: EventHeader<'_>,
        observed: &Observed,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        let (record, option, version) = match (&observed.elsewhere, about) {
            (Some(elsewhere), _) => (&elsewhere.record, &elsewhere.option, elsewhere.edition.unwrap_or(1)),
            (None, Some(about)) => (&about.decided.record, &about.decided.option, about.decided.version),
            (None, None) => return Err(inconsistent("an outcome of a decision that is not in the log")),
        };
        let arm = self.arm(option)?;
        let is_overridden = observed.decision.is_some_and(|decision| self.is_overridden(decision));
        let imported_ms = observed.elsewhere.as_ref().and_then(|elsewhere| elsewhere.time_ms);
        // A decision may have been made between the check and the import.
        let is_in_order = imported_ms.is_none_or(|time_ms| self.may_import(time_ms, header.time_ms).is_ok());
        let is_learned = self.learns_from(version) && !is_overridden && is_in_order;
        let archived = about.and_then(|about| about.decided.archived).or(observed.archived);
        let is_erased = archived.is_some() || observed.subject.is_some_and(|about| about.erased);
        let held = match (is_learned, is_erased) {
            (false, _) => None,
            (true, true) => Some(HeldOutcome::excluded()),
            (true, false) => Some(self.case(record, arm, (observed.outcome, &observed.guardrails))?),
        };
        self.lack(observed.subject, 1);
        self.lack_archived(archived);
        let counts = &mut self.state.counts;
        match about {
            Some(about) if observed.elsewhere.is_none() => {
                counts.answered[arm.index()] += 1;
                if let Some(unanswered) = &mut counts.unanswered {
                    unanswered.answered(about.time_ms, arm.index());
                }
            }
            _ => counts.elsewhere[arm.index()] += 1,
        }
        if let Some(time_ms) = imported_ms {
            self.imported(time_ms, is_learned);
        }
        let Some(held) = held else { return Ok(()) };
        let PolicyState { learned, late, .. } = &mut self.state;
        let (row, place) = match (late, observed.decision) {
            (Some(late), Some(decision)) => {
                late.report(decision, header, held);
                return Ok(());
            }
            _ if is_erased => return Ok(()),
            // Decisions made elsewhere have no place in our order.
            (Some(_), None) => (learned.outcomes() + 1, 0),
            (None, _) => (header.number, header.number),
        };
        learned.observe(row, place, &held);
        self.learned_at = header.number;
        Ok(())
    }

    pub(super) fn corrected(
        &mut self,
        header: EventHeader<'_>,
        corrected: &Corrected,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        let about = about.ok_or_else(|| inconsistent("a correction of a decision that is not in the log"))?;
        let Decided { record, option, version, .. } = &about.decided;
        let archived = about.decided.archived;
        if archived.is_some() || corrected.subject.is_some_and(|about| about.erased) {
            self.lack(corrected.subject, 1);
            self.lack_archived(archived);
            self.state.counts.corrections += 1;
            return Ok(());
        }
        if !self.learns_from(*version) || self.is_overridden(corrected.decision) {
            self.state.counts.corrections += 1;
            return Ok(());
        }
        let arm = self.arm(option)?;
        let from = self.case(record, arm, (corrected.from, &corrected.from_guardrails))?;
        let to = self.case(record, arm, (corrected.outcome, &corrected.guardrails))?;
        self.state.counts.corrections += 1;
        let (place, earlier) = match &mut self.state.late {
            None => (corrected.first, corrected.first <= self.version().event),
            Some(late) => match late.correct(corrected.decision, &to) {
                CorrectedOutcome::Learned { earlier } => (corrected.decision, earlier),
                CorrectedOutcome::Waiting | CorrectedOutcome::NotLearned => return Ok(()),
            },
        };
        self.state.learned.correct(place, &from, &to, earlier);
        self.learned_at = header.number;
        Ok(())
    }

    pub(super) fn reviewed(&mut self, header: EventHeader<'_>, reviewed: &Reviewed) -> Result<(), Objection> {
        reviewed.signature.as_ref().map_or(Ok(()), check_complete)?;
        let reviews = &mut self.state.reviews;
        reviews.push(TimedReviewPoint {
            time_ms: header.time_ms,
            version: reviewed.version,
            point: reviewed.point.clone(),
        });
        reviews.outcomes = reviewed.point.outcomes;
        reviews.time_ms = header.time_ms;
        reviews.verdict = Some(reviewed.verdict);
        reviews.reasons.clone_from(&reviewed.reasons);
        if reviewed.verdict != Verdict::Change {
            reviews.refused = None;
        }
        Ok(())
    }

    /// Whether outcomes of this version's decisions are learned: those from before an amendment that ended the statistics are not.
    pub(super) fn learns_from(&self, version: u64) -> bool {
        version >= self.state.learning_since
    }

    /// A record, the option that was given and its outcomes, as they are learned.
    fn case(
        &self,
        record: &[RecordField],
        arm: Arm,
        (outcome, guardrails): (f64, &BTreeMap<String, f64>),
    ) -> Result<HeldOutcome, Objection> {
        let reader = &self.edition().reader;
        let context = reader.context(record).map_err(inconsistent)?;
        let reward = reader.reward(outcome, arm).map_err(inconsistent)?;
        let guardrails = reader.guardrails(guardrails).map_err(inconsistent)?;
        Ok(HeldOutcome { context, arm, reward, guardrails, excluded: false })
    }
}

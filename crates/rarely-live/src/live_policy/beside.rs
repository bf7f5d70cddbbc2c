//! A candidate that decides beside the rule in force, and decisions that people overrode.

use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};

use super::{DecisionRef, EventHeader, LivePolicy, inconsistent};
use crate::event::{Decided, Overridden, ShadowStarted};
use crate::objection::Objection;

/// A candidate, and how often it decided otherwise than the rule in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShadowRecord {
    /// The event that started it.
    pub event: u64,
    /// When.
    pub time_ms: u64,
    /// Who started it.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The candidate.
    pub rule: WrittenRule,
    /// The event that ended it, if it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// The options of the document at its start.
    pub options: Vec<String>,
    /// Decisions by what was decided (rows) and by what the candidate would have decided (columns).
    pub counts: Vec<Vec<u64>>,
}

impl ShadowRecord {
    /// How many decisions it watched.
    pub fn decisions(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// What was decided, what it would have decided, and how often, where that happened.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let name = |at: usize| self.options.get(at).map_or("", String::as_str);
        let rows = self.counts.iter().enumerate();
        rows.flat_map(move |(row, counts)| {
            let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            counted.map(move |(column, count)| (name(row), name(column), *count))
        })
    }

    /// How many of them it would have made otherwise.
    pub fn different(&self) -> u64 {
        let rows = self.counts.iter().enumerate();
        rows.flat_map(|(row, counts)| counts.iter().enumerate().filter(move |(column, _)| *column != row))
            .map(|(_, count)| count)
            .sum()
    }
}

impl LivePolicy {
    /// The candidate that decides beside the rule in force.
    pub fn shadow(&self) -> Option<&ShadowRecord> {
        self.state.shadows.last().filter(|shadow| shadow.ended.is_none())
    }

    /// The candidate that decided beside the rule in force after an event.
    pub fn shadow_at(&self, event: u64) -> Option<&ShadowRecord> {
        let mut shadows = self.state.shadows.iter().rev();
        shadows.find(|shadow| shadow.event <= event).filter(|shadow| shadow.ended.is_none_or(|ended| ended > event))
    }

    /// Checks whether a candidate may start.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_shadow(&self, rule: &WrittenRule) -> Result<(), Objection> {
        if self.shadow().is_some() {
            return Err(Objection::ShadowRuns);
        }
        self.document.check_rule(rule).map_err(|problem| Objection::UnfitCandidate { problem: problem.to_string() })
    }

    pub(super) fn shadow_started(&mut self, header: EventHeader<'_>, started: &ShadowStarted) -> Result<(), Objection> {
        self.may_shadow(&started.rule)?;
        let options = self.document.options().to_vec();
        self.state.shadows.push(ShadowRecord {
            event: header.number,
            time_ms: header.time_ms,
            by: header.actor.to_owned(),
            reason: started.reason.clone(),
            rule: started.rule.clone(),
            ended: None,
            counts: vec![vec![0; options.len()]; options.len()],
            options,
        });
        Ok(())
    }

    /// Ends the candidate at this event, if there is one.
    pub(super) fn end_shadow(&mut self, event: u64) -> Result<(), Objection> {
        let running = self.state.shadows.last_mut().filter(|shadow| shadow.ended.is_none());
        running.map(|shadow| shadow.ended = Some(event)).ok_or(Objection::NoShadow)
    }

    /// Counts what the candidate would have decided. A decision may have been made before the candidate's end was known.
    pub(super) fn count_shadow(&mut self, decided: &Decided) -> Result<(), Objection> {
        let Some(beside) = &decided.shadow else { return Ok(()) };
        let mut shadows = self.state.shadows.iter_mut().rev();
        let shadow = shadows.find(|shadow| shadow.event <= decided.basis);
        let shadow = shadow.ok_or_else(|| inconsistent("a candidate that never started has decided"))?;
        let place = |option: &String| shadow.options.iter().position(|known| known == option);
        let (Some(row), Some(column)) = (place(&decided.option), place(beside)) else {
            return Err(inconsistent("a candidate has decided beside an option that it does not know"));
        };
        shadow.counts[row][column] += 1;
        Ok(())
    }

    /// Whether a person gave another option than this decision's.
    pub fn is_overridden(&self, decision: u64) -> bool {
        self.state.overridden.contains(&decision)
    }

    /// Checks whether a decision may be overridden.
    ///
    /// # Errors
    /// [`Objection`] says why not.
    pub fn may_override(&self, overridden: &Overridden, about: &DecisionRef) -> Result<(), Objection> {
        self.arm(&overridden.option).map_err(|_| Objection::NoOption { option: overridden.option.clone() })?;
        if overridden.option == about.decided.option {
            return Err(Objection::SameOption { option: overridden.option.clone() });
        }
        let is_erased = overridden.archived.is_some() || overridden.subject.is_some_and(|about| about.erased);
        if overridden.reason.trim().is_empty() && !is_erased {
            return Err(Objection::SignatureIncomplete("reason"));
        }
        if self.is_overridden(overridden.decision) {
            return Err(Objection::AlreadyOverridden(overridden.decision));
        }
        Ok(())
    }

    pub(super) fn overridden(
        &mut self,
        header: EventHeader<'_>,
        overridden: &Overridden,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        let about = about.ok_or_else(|| inconsistent("an override of a decision that is not in the log"))?;
        self.may_override(overridden, about)?;
        let is_learned = self.learns_from(about.decided.version);
        if let Some(late) = self.state.late.as_mut().filter(|_| is_learned) {
            // Later outcomes do not wait for it.
            late.exclude(overridden.decision, header);
        }
        self.lack(overridden.subject, 0);
        self.state.overridden.insert(overridden.decision);
        Ok(())
    }
}

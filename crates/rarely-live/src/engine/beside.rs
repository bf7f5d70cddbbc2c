//! Starts and ends candidates that decide beside the rule in force, and records what people decided otherwise.

use std::sync::{Arc, PoisonError};

use rarely_policy::WrittenRule;
use rarely_store::{LogEntry, Lookup, PolicyRef};

use super::{ChangeError, Engine, EngineFault, PendingEvent, PolicyHandle, draft};
use crate::event::{Event, Overridden, ShadowEnded, ShadowStarted};
use crate::lookup_key;
use crate::objection::Objection;
use crate::replay::{self, ReplayError};
use crate::token::TokenGrant;

impl Engine {
    /// Lets another rule decide beside the one in force. Nothing acts on it.
    ///
    /// # Errors
    /// [`ChangeError`] if another one runs, the rule does not fit the document, or it cannot be stored.
    pub fn start_shadow(
        &self,
        handle: &PolicyHandle,
        actor: &str,
        rule: WrittenRule,
        reason: &str,
    ) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_shadow(&rule)?;
        let started = ShadowStarted { rule, reason: reason.to_owned() };
        self.record(actor, PolicyRef::Id(handle.id), Event::ShadowStarted(started))
    }

    /// Ends the rule that decides beside the one in force.
    ///
    /// # Errors
    /// [`ChangeError`] if there is none, or it cannot be stored.
    pub fn end_shadow(&self, handle: &PolicyHandle, actor: &str, reason: &str) -> Result<u64, ChangeError> {
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        if handle.live.lock().shadow().is_none() {
            return Err(Objection::NoShadow.into());
        }
        let ended = ShadowEnded { reason: reason.to_owned() };
        self.record(actor, PolicyRef::Id(handle.id), Event::ShadowEnded(ended))
    }

    /// What a person gave instead of a decision, with the entry that says so; `None` if the decision was followed.
    ///
    /// # Errors
    /// [`ReplayError`] if the log cannot be read.
    pub fn override_of(&self, decision: u64) -> Result<Option<(LogEntry, Overridden)>, ReplayError> {
        let found = self.log().find(&lookup_key::of_override(decision))?;
        let Some(entry) = found.map(|number| self.log().entry(number)).transpose()?.flatten() else { return Ok(None) };
        match replay::event(self.log().as_ref(), &entry)? {
            Event::Overridden(overridden) => Ok(Some((entry, overridden))),
            _ => Ok(None),
        }
    }

    /// Records that a person gave another option than was decided. Its outcome is recorded, and not learned.
    ///
    /// # Errors
    /// [`ChangeError`] if there is no such decision or option, if the decision has an outcome already, or if it cannot be stored.
    pub fn override_decision(
        &self,
        handle: &PolicyHandle,
        who: &TokenGrant,
        decision: u64,
        option: &str,
        reason: &str,
    ) -> Result<u64, ChangeError> {
        let archivings = self.archivings();
        let found =
            replay::decision(self.log().as_ref(), decision).map_err(|error| EngineFault::Diverged(Arc::new(error)))?;
        let about = found.filter(|about| about.policy == handle.id).ok_or(Objection::NoDecision(decision))?;
        let about = Arc::new(about);
        if about.decided.archived.is_some() {
            let file = handle.archive_file_of(decision).unwrap_or_default().to_string();
            return Err(Objection::Archived { decision, file }.into());
        }
        let subject = about.decided.subject;
        let person = self.subjects.of_event(self.log().as_ref(), subject);
        let person = person.map_err(|error| ChangeError::Store(Arc::new(error)))?;
        if subject.is_some() && person.is_none() {
            return Err(Objection::Erased(decision).into());
        }
        let (option, reason) = (option.to_owned(), reason.to_owned());
        let overridden = Overridden { decision, option, reason, person: who.person_id(), subject, archived: None };
        let _control = handle.control.lock().unwrap_or_else(PoisonError::into_inner);
        handle.live.lock().may_override(&overridden, &about)?;
        let outcome = lookup_key::of_outcome(decision);
        let known = self.writer.find(&outcome).map_err(|error| ChangeError::Store(Arc::new(error)))?;
        if known.number.is_some() {
            return Err(Objection::HasOutcome(decision).into());
        }
        // Under the lock that gives out numbers: an outcome that came meanwhile is before the override, and is evidence.
        let (event, receipt) = self.append(|turn| {
            if self.archivings() != archivings {
                return Err(ChangeError::Busy);
            }
            if turn.find(&outcome, known.as_of) != Lookup::Absent {
                return Err(Objection::HasOutcome(decision).into());
            }
            if person.as_ref().is_some_and(|person| person.is_closed()) {
                return Err(Objection::Erased(decision).into());
            }
            let event = Event::Overridden(overridden);
            let draft = draft(&who.name, PolicyRef::Id(handle.id), &event, Some(lookup_key::of_override(decision)));
            Ok(turn.push_deferred(draft, PendingEvent { event, about: Some(about), person }))
        });
        let event = event?;
        receipt.wait_blocking().map_err(ChangeError::Store)?;
        self.wait_applied(event)?;
        Ok(event)
    }
}

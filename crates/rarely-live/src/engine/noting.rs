//! What is written down about the service and its people, beside what policies live by.

use rarely_store::{Durability, PolicyRef};

use super::{ChangeError, Engine, PolicyHandle};
use crate::event::{BackupRestored, Event, Notified, RecordsRead, Recovered, ServiceRun, SignInsFailed, SignedIn};
use crate::live_policy::ENGINE_ACTOR;
use crate::token::TokenGrant;

impl Engine {
    /// Records that the service started, with this version of the program.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn service_started(&self, program: &str) -> Result<u64, ChangeError> {
        self.record(ENGINE_ACTOR, PolicyRef::None, Event::ServiceStarted(self.service_run(program)))
    }

    /// Records that the service stops.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn service_stopped(&self, program: &str) -> Result<u64, ChangeError> {
        self.record(ENGINE_ACTOR, PolicyRef::None, Event::ServiceStopped(self.service_run(program)))
    }

    fn service_run(&self, program: &str) -> ServiceRun {
        let durability = match self.durability() {
            Durability::Full => "full",
            Durability::Relaxed => "relaxed",
        };
        ServiceRun { program: program.to_owned(), durability: durability.to_owned() }
    }

    /// Records that a person signed in: with what, and from which address.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn signed_in(&self, who: &TokenGrant, with: String, address: String) -> Result<u64, ChangeError> {
        let signed_in = SignedIn { person: who.person_id(), with, address };
        self.record(&who.name, PolicyRef::None, Event::SignedIn(signed_in))
    }

    /// Records refused sign-ins.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn sign_ins_failed(&self, failed: SignInsFailed) -> Result<u64, ChangeError> {
        self.record(ENGINE_ACTOR, PolicyRef::None, Event::SignInsFailed(failed))
    }

    /// Records how far somebody outside was told what happened.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn record_notice(&self, notified: Notified) -> Result<u64, ChangeError> {
        self.record(ENGINE_ACTOR, PolicyRef::None, Event::Notified(notified))
    }

    /// Records that a person exports all cases of a policy.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn exported(&self, handle: &PolicyHandle, who: &TokenGrant) -> Result<u64, ChangeError> {
        let read = RecordsRead { person: who.person_id(), decision: None };
        self.record(&who.name, PolicyRef::Id(handle.id), Event::Exported(read))
    }

    /// Records that a person reads a decision with the record that it is about.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn decision_read(&self, handle: &PolicyHandle, who: &TokenGrant, decision: u64) -> Result<u64, ChangeError> {
        let read = RecordsRead { person: who.person_id(), decision: Some(decision) };
        self.record(&who.name, PolicyRef::Id(handle.id), Event::DecisionRead(read))
    }

    /// Records that the loss of events was accepted.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn recovered(&self, actor: &str, recovered: Recovered) -> Result<u64, ChangeError> {
        self.record(actor, PolicyRef::None, Event::Recovered(recovered))
    }

    /// Records that an older backup replaced the log.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn backup_restored(&self, actor: &str, restored: BackupRestored) -> Result<u64, ChangeError> {
        self.record(actor, PolicyRef::None, Event::BackupRestored(restored))
    }
}

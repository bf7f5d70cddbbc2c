//! One policy: the state that follows from its events.

mod beside;
mod changing;
mod erasing;
mod history;
mod learning;
mod pinning;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rarely_core::Arm;
use rarely_policy::{Approval, PolicyDocument};
use rarely_store::{Hash, SubjectTag};
use serde::{Deserialize, Serialize};

use crate::amendment::AmendmentRecord;
use crate::decider::{Decider, DecisionBasis};
use crate::document_edition::DocumentEdition;
use crate::event::{Decided, Event, Registered, Signature};
use crate::late_outcomes::LateOutcomes;
use crate::learned::Learned;
use crate::objection::Objection;
use crate::review_history::ReviewHistory;
use crate::signed_statement::SigningState;
use crate::unanswered::Unanswered;
use crate::versions::{ProposalRecord, ProposalStatus, Signer, Version, VersionOrigin};

pub use beside::ShadowRecord;
pub use history::HistoryRecord;

/// Milliseconds in a day.
pub(crate) const DAY_MS: f64 = 86_400_000.0;
/// The actor of automatic events.
pub const ENGINE_ACTOR: &str = "engine";

/// A policy that is in use: its document, and the state that follows from its events.
#[derive(Debug, Clone)]
pub struct LivePolicy {
    /// With the rule in force.
    document: PolicyDocument,
    /// The registered document and its amendments; the last one is in force.
    editions: Vec<Arc<DocumentEdition>>,
    state: PolicyState,
    /// The last event after which something was learned.
    learned_at: u64,
    /// Outcomes of people that could not be read, because the people were erased later.
    lacking: BTreeMap<SubjectTag, u64>,
    /// Outcomes that could not be read, or not their records, by the later event that archives them.
    archived: BTreeMap<u64, u64>,
}

/// The part of a policy that a snapshot stores; the rest is derived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyState {
    /// Its registration.
    #[serde(rename = "birth")]
    pub registration: RegistrationRecord,
    /// Its versions; the last one is in force.
    pub versions: Vec<Version>,
    /// Its proposals.
    pub proposals: Vec<ProposalRecord>,
    /// Whether exploration and automatic changes are stopped.
    pub stopped: bool,
    /// What was learned from outcomes.
    pub learned: Learned,
    /// Outcomes that wait for those of earlier decisions; `None` if outcomes are learned as they arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateOutcomes>,
    /// Counts of decisions and outcomes.
    pub counts: Counts,
    /// Past reviews.
    pub reviews: ReviewHistory,
    /// How people sign; `None` in logs from before policies could say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<SigningState>,
    /// The documents that replaced the registered one, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amendments: Vec<AmendmentRecord>,
    /// Outcomes are learned of decisions from this version on: an amendment may have ended earlier statistics.
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    pub learning_since: u64,
    /// Candidates that decided beside the rule in force, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<ShadowRecord>,
    /// Decisions instead of which people gave another option.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub overridden: BTreeSet<u64>,
    /// Decisions from before the policy was run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryRecord>,
    /// Records that were archived, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<ArchiveRecord>,
    /// The policy's last event.
    pub last_event: u64,
}

/// Records that were archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveRecord {
    /// The event that says so.
    pub event: u64,
    /// The first event that was archived, …
    pub first: u64,
    /// … and the last.
    pub last: u64,
    /// The name of the file.
    pub file: String,
}

/// The registration of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationRecord {
    /// The event's number, which is the policy's id.
    pub event: u64,
    /// When it was registered.
    pub time_ms: u64,
    /// Who registered it.
    pub author: String,
    /// The document, exactly as received.
    pub text: String,
    /// The seed of randomised decisions.
    pub seed: u64,
    /// The event's hash.
    pub hash: Hash,
}

/// Counts of decisions and outcomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Decisions, by option.
    pub decided: Vec<u64>,
    /// Decisions that were drawn by lot or by the pilot.
    pub explored: u64,
    /// Decisions by a version that the request named.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pinned: u64,
    /// Decisions with an outcome, by option.
    pub answered: Vec<u64>,
    /// Outcomes of decisions taken elsewhere, by option.
    pub elsewhere: Vec<u64>,
    /// Outcomes that were corrected.
    pub corrections: u64,
    /// Decisions without an outcome, if the document sets an outcome window.
    #[serde(rename = "waiting")]
    pub unanswered: Option<Unanswered>,
}

impl Counts {
    /// Outcomes that were reported, of decisions made here and elsewhere, whether or not they are learned yet.
    pub fn outcomes(&self) -> u64 {
        self.answered.iter().chain(&self.elsewhere).sum()
    }
}

/// Number, time and actor of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventHeader<'a> {
    /// Its number.
    pub number: u64,
    /// Its time.
    pub time_ms: u64,
    /// Who caused it.
    pub actor: &'a str,
    /// Its hash.
    pub hash: Hash,
}

/// The decision that an outcome or correction refers to.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionRef {
    /// The policy it belongs to.
    pub policy: u64,
    /// When it was made.
    pub time_ms: u64,
    /// What was decided.
    pub decided: Decided,
}

impl LivePolicy {
    /// The policy after its registration.
    ///
    /// # Errors
    /// [`Objection::Inconsistent`] if the document is invalid.
    pub fn register(header: EventHeader<'_>, registered: &Registered) -> Result<Self, Objection> {
        let edition = DocumentEdition::parse(1, &registered.document)?;
        let document = edition.document.clone();
        let options = document.options().len();
        let version = Version {
            number: 1,
            rule: document.rule().clone(),
            event: header.number,
            time_ms: header.time_ms,
            origin: VersionOrigin::Registration,
            signers: Vec::new(),
        };
        let state = PolicyState {
            registration: RegistrationRecord {
                event: header.number,
                time_ms: header.time_ms,
                author: header.actor.to_owned(),
                text: registered.document.clone(),
                seed: registered.seed,
                hash: header.hash,
            },
            versions: vec![version],
            proposals: Vec::new(),
            stopped: false,
            learned: Learned::new(&document),
            late: registered.decision_order.then(|| LateOutcomes::new(document.control().outcome_window_ms)),
            counts: Counts {
                decided: vec![0; options],
                explored: 0,
                pinned: 0,
                answered: vec![0; options],
                elsewhere: vec![0; options],
                corrections: 0,
                unanswered: document.control().outcome_window_ms.map(|window| Unanswered::new(window, options)),
            },
            reviews: ReviewHistory::since(header.time_ms),
            signing: registered.signatures.map(|signed_with| SigningState { signed_with, last_act: header.hash }),
            amendments: Vec::new(),
            learning_since: 1,
            shadows: Vec::new(),
            overridden: BTreeSet::new(),
            history: None,
            archives: Vec::new(),
            last_event: header.number,
        };
        let (editions, lacking) = (vec![edition], BTreeMap::new());
        Ok(Self { document, editions, state, learned_at: header.number, lacking, archived: BTreeMap::new() })
    }

    /// The policy of a snapshot.
    ///
    /// # Errors
    /// [`Objection::Inconsistent`] if its parts contradict each other.
    pub fn restore(mut state: PolicyState) -> Result<Self, Objection> {
        let registered = DocumentEdition::parse(1, &state.registration.text)?;
        let last = state.versions.last().ok_or_else(|| inconsistent("a policy without a version"))?;
        let mut editions = vec![registered.clone()];
        for amendment in &state.amendments {
            editions.push(DocumentEdition::parse(amendment.version, &amendment.text)?);
        }
        let document = &editions.last().unwrap_or(&registered).document;
        let document = document.with_rule(last.rule.clone()).map_err(inconsistent)?;
        state.learned = state.learned.revived(&document).map_err(inconsistent)?;
        let learned_at = state.last_event;
        Ok(Self { document, editions, state, learned_at, lacking: BTreeMap::new(), archived: BTreeMap::new() })
    }

    /// The document, with the rule in force.
    pub fn document(&self) -> &PolicyDocument {
        &self.document
    }

    /// The state.
    pub fn state(&self) -> &PolicyState {
        &self.state
    }

    /// The version in force.
    ///
    /// # Panics
    /// Never: a policy has at least one version.
    pub fn version(&self) -> &Version {
        self.state.versions.last().expect("a policy has at least one version")
    }

    /// The proposal that waits for a signature.
    pub fn open_proposal(&self) -> Option<&ProposalRecord> {
        self.state.proposals.iter().rev().find(|proposal| proposal.is_open())
    }

    /// The decider after event `basis`.
    pub fn decider(&self, basis: u64) -> Decider {
        let PolicyState { learned, stopped, registration, counts, .. } = &self.state;
        let basis =
            DecisionBasis { version: self.version().number, event: basis, decided: counts.by_policy_in_force() };
        let decider = Decider::new((self.edition(), &self.document), learned, basis, registration.seed, *stopped);
        decider.beside(self.shadow().map(|shadow| (&self.document, &shadow.rule)))
    }

    /// Whether the pilot goes on: it counts decisions, so that each of them may end it.
    pub(crate) fn is_piloting(&self) -> bool {
        let pilot = u64::from(self.document.change().explore.pilot) * self.document.options().len() as u64;
        !self.state.stopped && self.state.counts.by_policy_in_force() <= pilot && pilot > 0
    }

    /// Whether something was learned with the last event.
    pub(crate) fn has_just_learned(&self) -> bool {
        self.learned_at == self.state.last_event
    }

    /// The document in force, as it was registered or amended.
    ///
    /// # Panics
    /// Never: a policy has at least one document.
    pub fn edition(&self) -> &Arc<DocumentEdition> {
        self.editions.last().expect("a policy has at least one document")
    }

    /// The document under which a version was or is in force.
    pub fn edition_of(&self, version: u64) -> &Arc<DocumentEdition> {
        let found = self.editions.iter().rev().find(|edition| edition.version <= version);
        found.unwrap_or_else(|| self.edition())
    }

    /// The document of a version, with its rule.
    ///
    /// # Errors
    /// [`Objection::NoVersion`].
    pub fn document_of(&self, version: u64) -> Result<PolicyDocument, Objection> {
        let rule = self.version_of(version)?.rule.clone();
        self.edition_of(version).document.with_rule(rule).map_err(inconsistent)
    }

    /// Whether the rule is due for review.
    pub fn is_review_due(&self, now_ms: u64) -> bool {
        let (control, reviews) = (self.document.control(), &self.state.reviews);
        let new = self.state.learned.outcomes().saturating_sub(reviews.outcomes);
        let waited = || control.review_after_ms.is_some_and(|after| now_ms.saturating_sub(reviews.time_ms) >= after);
        new >= control.review_every || (new > 0 && waited())
    }

    /// Applies an event. `about` is the decision that an outcome or correction refers to.
    ///
    /// # Errors
    /// [`Objection`] if the event contradicts earlier ones; the policy is then unchanged.
    pub fn apply(
        &mut self,
        header: EventHeader<'_>,
        event: &Event,
        about: Option<&DecisionRef>,
    ) -> Result<(), Objection> {
        match event {
            // Reading changes nothing, not even the policy's last event.
            Event::Exported(_) | Event::DecisionRead(_) => return Ok(()),
            Event::Decided(decided) => self.decided(header, decided)?,
            Event::Observed(observed) => self.observed(header, observed, about)?,
            Event::Corrected(corrected) => self.corrected(header, corrected, about)?,
            Event::Reviewed(reviewed) => self.reviewed(header, reviewed)?,
            Event::Proposed(proposed) => self.proposed(header, proposed)?,
            Event::Refused(refused) => {
                self.check_version(refused.version)?;
                self.state.reviews.refused = Some(refused.reasons.clone());
            }
            Event::Approved(signed) => self.approved(header, signed.proposal, &signed.signature)?,
            Event::Rejected(signed) => self.rejected(header, signed.proposal, &signed.signature)?,
            Event::Expired(expired) => {
                let proposal = self.open(expired.proposal)?;
                if !proposal.is_overdue(header.time_ms) {
                    return Err(inconsistent("a proposal expired before its expiry time"));
                }
                self.close(expired.proposal, ProposalStatus::Expired);
            }
            Event::RolledBack(rolled) => {
                self.may_roll_back(rolled.to, &rolled.signature)?;
                if self.document.control().approval == Approval::Two {
                    return Err(inconsistent("a rollback with one signature, but the document requires two"));
                }
                let signer = signer(header, &rolled.signature);
                let document = self.rolled_back(rolled.to)?;
                self.put_in_force(header, document, VersionOrigin::Rollback { to: rolled.to }, vec![signer]);
            }
            Event::ShadowStarted(started) => self.shadow_started(header, started)?,
            Event::ShadowEnded(_) => self.end_shadow(header.number)?,
            Event::Overridden(overridden) => self.overridden(header, overridden, about)?,
            Event::PersonErased(erased) => self.person_erased(header, erased)?,
            Event::Archived(archived) => self.archived(header, archived)?,
            Event::Stopped(signature) => self.stopped(header, signature)?,
            Event::Resumed(signature) => {
                self.may_resume(signature)?;
                self.state.stopped = false;
            }
            other => {
                return Err(inconsistent(format!("an event of kind {:?} does not belong to a policy", other.kind())));
            }
        }
        if let Some(signing) = &mut self.state.signing {
            signing.follow(header, event);
        }
        self.learn_late(header);
        self.state.last_event = header.number;
        Ok(())
    }

    fn arm(&self, option: &str) -> Result<Arm, Objection> {
        self.edition().reader.option(option).map_err(inconsistent)
    }
}

fn first_version() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first_version(version: &u64) -> bool {
    *version == first_version()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) fn signer(header: EventHeader<'_>, signature: &Signature) -> Signer {
    Signer { name: header.actor.to_owned(), time_ms: header.time_ms, signature: signature.clone() }
}

/// Checks that a signature has a meaning and a reason.
pub(crate) fn check_complete(signature: &Signature) -> Result<(), Objection> {
    for (name, text) in [("meaning", &signature.meaning), ("reason", &signature.reason)] {
        if text.trim().is_empty() {
            return Err(Objection::SignatureIncomplete(name));
        }
    }
    Ok(())
}

pub(crate) fn inconsistent(problem: impl std::fmt::Display) -> Objection {
    Objection::Inconsistent(problem.to_string())
}

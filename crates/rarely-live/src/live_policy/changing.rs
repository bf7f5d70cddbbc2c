//! What changes a policy: proposals, signatures, rollbacks, stops and amendments.

use std::sync::Arc;

use rarely_core::Delay;
use rarely_policy::PolicyDocument;

use super::{ENGINE_ACTOR, EventHeader, LivePolicy, check_complete, inconsistent, signer};
use crate::amendment::{AmendmentEffect, AmendmentRecord};
use crate::document_edition::DocumentEdition;
use crate::event::{Proposed, Signature};
use crate::late_outcomes::LateOutcomes;
use crate::learned::Learned;
use crate::objection::Objection;
use crate::unanswered::Unanswered;
use crate::versions::{ProposalRecord, ProposalStatus, Signer, Version, VersionOrigin};

impl LivePolicy {
    pub(super) fn proposed(&mut self, header: EventHeader<'_>, proposed: &Proposed) -> Result<(), Objection> {
        self.check_version(proposed.version)?;
        if let Some(open) = self.open_proposal() {
            return Err(Objection::OpenProposal(open.number));
        }
        if proposed.proposal != self.next_proposal() {
            return Err(inconsistent("a proposal with the wrong number"));
        }
        self.document.check_rule(&proposed.rule).map_err(inconsistent)?;
        let mut signers = Vec::new();
        let amendment = proposed.amendment.as_ref().map(|amendment| amendment.document.clone());
        match (&proposed.signature, proposed.rollback, &amendment) {
            (Some(signature), Some(to), None) => {
                self.may_roll_back(to, signature)?;
                signers.push(signer(header, signature));
            }
            (None, None, None) => self.check_plan(&proposed.rule, header.time_ms)?,
            (None, None, Some(text)) => _ = self.amendment(&*DocumentEdition::parse(proposed.version + 1, text)?)?,
            _ => return Err(inconsistent("a rollback without a signature, or another proposal with one")),
        }
        self.state.proposals.push(ProposalRecord {
            number: proposed.proposal,
            event: header.number,
            hash: header.hash,
            time_ms: header.time_ms,
            expires_ms: proposed.expires_ms,
            version: proposed.version,
            rule: proposed.rule.clone(),
            rollback: proposed.rollback,
            amendment,
            outcomes: proposed.outcomes,
            signers,
            status: ProposalStatus::Open,
        });
        self.state.reviews.refused = None;
        Ok(())
    }

    pub(super) fn approved(
        &mut self,
        header: EventHeader<'_>,
        number: u64,
        signature: &Signature,
    ) -> Result<(), Objection> {
        self.may_sign(number, header, signature)?;
        let proposal = self.open(number)?.clone();
        let mut signers = proposal.signers.clone();
        if header.actor != ENGINE_ACTOR {
            signers.push(signer(header, signature));
        }
        if signers.len() < self.signatures_needed_for(&proposal) {
            let at = self.place(number)?;
            self.state.proposals[at].signers = signers;
            return Ok(());
        }
        let version = self.version().number + 1;
        let (document, origin, amendment) = match (&proposal.amendment, proposal.rollback) {
            (Some(text), _) => {
                let edition = DocumentEdition::parse(version, text)?;
                let effect = self.amendment(&edition)?;
                let document = edition.document.clone();
                (document, VersionOrigin::Amendment { proposal: number }, Some((edition, effect)))
            }
            (None, Some(to)) => (self.rolled_back(to)?, VersionOrigin::Rollback { to }, None),
            (None, None) => {
                let document = self.document.with_rule(proposal.rule).map_err(inconsistent)?;
                (document, VersionOrigin::Proposal { proposal: number }, None)
            }
        };
        let at = self.place(number)?;
        self.state.proposals[at].signers.clone_from(&signers);
        self.close(number, ProposalStatus::Approved { version });
        if let Some((edition, effect)) = amendment {
            self.amend(header, edition, &effect);
        }
        self.put_in_force(header, document, origin, signers);
        Ok(())
    }

    pub(super) fn rejected(
        &mut self,
        header: EventHeader<'_>,
        number: u64,
        signature: &Signature,
    ) -> Result<(), Objection> {
        check_complete(signature)?;
        let proposal = self.open(number)?;
        if proposal.amendment.is_none() {
            self.state.reviews.rejected_at = Some(proposal.outcomes);
        }
        self.close(number, ProposalStatus::Rejected { by: Box::new(signer(header, signature)) });
        Ok(())
    }

    pub(super) fn stopped(&mut self, header: EventHeader<'_>, signature: &Signature) -> Result<(), Objection> {
        self.may_stop(signature)?;
        let (to, rule) = self.last_signed();
        let changes = rule != self.version().rule;
        let document = self.document.with_rule(rule).map_err(inconsistent)?;
        self.state.stopped = true;
        if changes {
            self.put_in_force(header, document, VersionOrigin::Stop { to }, vec![signer(header, signature)]);
        }
        Ok(())
    }

    /// The document in force with the rule of an earlier version.
    ///
    /// # Errors
    /// [`Objection`] if there is no such version, or its rule does not fit the document, which was amended since.
    pub(crate) fn rolled_back(&self, to: u64) -> Result<PolicyDocument, Objection> {
        let rule = self.version_of(to)?.rule.clone();
        let unfit =
            |problem: rarely_policy::RuleError| Objection::UnfitRule { version: to, problem: problem.to_string() };
        self.document.with_rule(rule).map_err(unfit)
    }

    /// Continues with another document. Its statistics are kept, or start again.
    fn amend(&mut self, header: EventHeader<'_>, edition: Arc<DocumentEdition>, effect: &AmendmentEffect) {
        let (old, new) = (self.document.clone(), &edition.document);
        let window_ms = new.control().outcome_window_ms;
        self.state.amendments.push(AmendmentRecord { version: edition.version, text: edition.text.clone() });
        self.count_by(&old, new, header.time_ms);
        if effect.restart.is_some() {
            self.state.learned = Learned::new(new);
            self.state.late = (new.control().delay == Delay::Any).then(|| LateOutcomes::new(window_ms));
            self.state.learning_since = edition.version;
            self.state.reviews.outcomes = 0;
            self.learned_at = header.number;
        } else if let Some(late) = &mut self.state.late {
            late.set_window(window_ms);
        }
        if let Some(signing) = &mut self.state.signing {
            signing.signed_with = new.control().signatures();
        }
        // A candidate is a rule of the document under which it started.
        let _ = self.end_shadow(header.number);
        self.document = new.clone();
        self.editions.push(edition);
    }

    /// Counts by the options of the new document, of which the old one's are some.
    fn count_by(&mut self, old: &PolicyDocument, new: &PolicyDocument, time_ms: u64) {
        let options = new.options().len();
        let counts = &mut self.state.counts;
        if old.options() != new.options() {
            let place = |option: &String| old.options().iter().position(|known| known == option);
            let places: Vec<Option<usize>> = new.options().iter().map(place).collect();
            for counted in [&mut counts.decided, &mut counts.answered, &mut counts.elsewhere] {
                *counted = places.iter().map(|place| place.map_or(0, |place| counted[place])).collect();
            }
        }
        let window_ms = new.control().outcome_window_ms;
        if old.options() != new.options() || old.control().outcome_window_ms != window_ms {
            counts.unanswered = window_ms.map(|window_ms| Unanswered::since(window_ms, options, time_ms));
        }
    }

    /// Makes this document with its rule the next version.
    pub(super) fn put_in_force(
        &mut self,
        header: EventHeader<'_>,
        document: PolicyDocument,
        origin: VersionOrigin,
        signers: Vec<Signer>,
    ) {
        self.document = document;
        if let Some(overtaken) = self.open_proposal().map(|proposal| proposal.number) {
            self.close(overtaken, ProposalStatus::Overtaken);
        }
        let (number, rule) = (self.version().number + 1, self.document.rule().clone());
        let EventHeader { number: event, time_ms, .. } = header;
        self.state.versions.push(Version { number, rule, event, time_ms, origin, signers });
        self.state.reviews.rejected_at = None;
        self.state.reviews.refused = None;
        self.state.learned.follow(&self.document);
        if let Some(late) = &mut self.state.late {
            late.follow(event);
        }
    }

    pub(super) fn close(&mut self, number: u64, status: ProposalStatus) {
        if let Ok(at) = self.place(number) {
            self.state.proposals[at].status = status;
        }
    }
}

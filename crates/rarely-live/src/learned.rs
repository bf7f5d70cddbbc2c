//! What was learned from outcomes: the statistics of a review, and the most recent contexts.

use std::collections::VecDeque;

use rarely_core::RECENT_CONTEXTS;
use rarely_policy::PolicyDocument;
use rarely_review::{EvidenceBase, ReviewError, Tally, TallyRow};
use serde::{Deserialize, Serialize};

use crate::late_outcomes::HeldOutcome;

/// What one policy has learned up to some event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    tally: Tally,
    /// The contexts of the last cases with an outcome, concatenated. A change is judged on them.
    recent: VecDeque<f64>,
    /// The last decision that was learned, or event where outcomes are learned as they arrive, …
    last: u64,
    /// … and the last before each mark of the statistics: a correction concerns the marks from its own on.
    marked: Vec<u64>,
}

/// What was learned, without anybody's own data: sums and counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedSums {
    tally: Tally,
    last: u64,
    marked: Vec<u64>,
}

impl LearnedSums {
    /// Outcomes in the sums.
    pub(crate) fn outcomes(&self) -> u64 {
        self.tally.rows()
    }
}

impl Learned {
    /// Before any outcome.
    pub fn new(document: &PolicyDocument) -> Self {
        Self { tally: Tally::undivided(document), recent: VecDeque::new(), last: 0, marked: Vec::new() }
    }

    /// Outcomes so far.
    pub fn outcomes(&self) -> u64 {
        self.tally.rows()
    }

    /// The statistics.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Learns one outcome. Row numbers must rise. `place` is that of its decision, or of its event where outcomes are learned as they
    /// arrive; 0 if it cannot be corrected.
    pub(crate) fn observe(&mut self, row: u64, place: u64, held: &HeldOutcome) {
        let HeldOutcome { context, arm, reward, guardrails, .. } = held;
        self.tally.add_row(&TallyRow { guardrails, ..TallyRow::new(row, context, *arm, *reward) });
        self.marked.resize(self.tally.marks(), self.last);
        self.last = self.last.max(place);
        if self.recent.len() >= RECENT_CONTEXTS * context.len() {
            self.recent.drain(..context.len());
        }
        self.recent.extend(context);
    }

    /// Replaces one outcome by another. `place` is as when it was learned; `earlier` says whether that was before the rule in force was
    /// put in force.
    pub(crate) fn correct(&mut self, place: u64, from: &HeldOutcome, to: &HeldOutcome, earlier: bool) {
        let (marks, context, arm) = (self.marked.partition_point(|&last| last < place), to.context.as_slice(), to.arm);
        if earlier {
            self.tally.correct_earlier(context, arm, from.reward, to.reward, marks);
        } else {
            self.tally.correct(context, arm, from.reward, to.reward, marks);
        }
        self.tally.correct_guardrails(context, arm, &from.guardrails, &to.guardrails);
    }

    /// Continues with another rule in force.
    pub(crate) fn follow(&mut self, document: &PolicyDocument) {
        self.tally.follow(document);
    }

    /// The sums, without the sample of people and the most recent contexts.
    pub(crate) fn sums(&self) -> LearnedSums {
        LearnedSums { tally: self.tally.without_people(), last: self.last, marked: self.marked.clone() }
    }

    /// Replaces the sums, and keeps the sample of people and the most recent contexts.
    ///
    /// # Errors
    /// [`ReviewError`] if the sums belong to another document.
    pub(crate) fn replace_sums(&mut self, sums: &LearnedSums, document: &PolicyDocument) -> Result<(), ReviewError> {
        let LearnedSums { tally, last, marked } = sums.clone();
        self.tally = tally.revive(document)?.with_people_of(&self.tally);
        (self.last, self.marked) = (last, marked);
        Ok(())
    }

    /// Completes a value that was read from a file.
    ///
    /// # Errors
    /// [`ReviewError`] if the statistics belong to another document.
    pub(crate) fn revived(self, document: &PolicyDocument) -> Result<Self, ReviewError> {
        Ok(Self { tally: self.tally.revive(document)?, ..self })
    }

    /// The evidence on which the document's rule is judged: the statistics, and the last 1,000 contexts.
    ///
    /// # Errors
    /// [`ReviewError`] if there is no outcome yet, or the sums are too large for the penalty.
    pub fn evidence_base<'a>(&self, document: &'a PolicyDocument) -> Result<EvidenceBase<'a>, ReviewError> {
        EvidenceBase::of(document, &self.tally, Some(self.recent.iter().copied().collect()))
    }
}

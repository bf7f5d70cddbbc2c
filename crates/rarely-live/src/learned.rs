//! What the outcomes say: the sums of a review, and the people seen last.

use std::collections::VecDeque;

use rarely_core::{Arm, RECENT_CONTEXTS};
use rarely_policy::PolicyDocument;
use rarely_review::{Ground, ReviewError, Tally};
use serde::{Deserialize, Serialize};

/// What was learned of one policy up to some event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    tally: Tally,
    /// Contexts of the last people with an outcome, one after another: those whom a change is judged on.
    recent: VecDeque<f64>,
}

impl Learned {
    /// Nothing yet.
    pub fn new(document: &PolicyDocument) -> Self {
        Self { tally: Tally::new(document), recent: VecDeque::new() }
    }

    /// Outcomes so far.
    pub fn outcomes(&self) -> u64 {
        self.tally.rows()
    }

    /// The sums.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The outcome of one case; events come in the order of their numbers.
    pub(crate) fn observe(&mut self, event: u64, context: &[f64], arm: Arm, reward: f64) {
        self.tally.add(event, context, arm, reward);
        if self.recent.len() >= RECENT_CONTEXTS * context.len() {
            self.recent.drain(..context.len());
        }
        self.recent.extend(context);
    }

    /// The outcome of one case was another; `earlier` says whether it was learned before the rule in force was followed.
    pub(crate) fn correct(&mut self, context: &[f64], arm: Arm, (from, to): (f64, f64), earlier: bool) {
        if earlier {
            self.tally.correct_earlier(context, arm, from, to);
        } else {
            self.tally.correct(context, arm, from, to);
        }
    }

    /// Goes on with another rule in force.
    pub(crate) fn follow(&mut self, document: &PolicyDocument) {
        self.tally.follow(document);
    }

    /// Made ready again after it was read from a file.
    ///
    /// # Errors
    /// [`ReviewError`] if the sums are of another document.
    pub(crate) fn revived(self, document: &PolicyDocument) -> Result<Self, ReviewError> {
        Ok(Self { tally: self.tally.revive(document)?, recent: self.recent })
    }

    /// What a judgement of the document's rule stands on: these sums, and the last 1,000 people.
    ///
    /// # Errors
    /// [`ReviewError`] if there is no outcome yet, or the sums are too large for the penalty.
    pub fn ground<'a>(&self, document: &'a PolicyDocument) -> Result<Ground<'a>, ReviewError> {
        Ground::of(document, &self.tally, Some(self.recent.iter().copied().collect()))
    }
}

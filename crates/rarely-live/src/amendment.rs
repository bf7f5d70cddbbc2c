//! Amendments: another document for a policy that runs. They need a signature, and leave the rule in force as it is.

use rarely_policy::PolicyDocument;
use rarely_review::findings::numbers::count;
use serde::{Deserialize, Serialize};

use crate::document_edition::DocumentEdition;
use crate::live_policy::LivePolicy;
use crate::objection::Objection;

/// A document that replaced the registered one, as a snapshot stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmendmentRecord {
    /// The first version under it.
    pub version: u64,
    /// The document, exactly as received.
    pub text: String,
}

/// What an amendment does to a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmendmentEffect {
    /// The changes, in words.
    pub difference: Vec<String>,
    /// Why the statistics start again from nothing; `None` if they are kept.
    pub restart: Option<String>,
    /// What becomes of the statistics, in a sentence.
    pub sentence: String,
}

impl LivePolicy {
    /// The effect of replacing the document by another one.
    ///
    /// # Errors
    /// [`Objection::Amendment`] if the document belongs to another policy, has another rule, lacks an option, or changes nothing.
    pub fn amendment(&self, new: &DocumentEdition) -> Result<AmendmentEffect, Objection> {
        let (was, is) = (self.document(), &new.document);
        let refuse = |problem: String, help| Err(Objection::Amendment { problem, help });
        if was.policy() != is.policy() {
            let problem = format!("its name is {:?}, and this policy is {:?}", is.policy(), was.policy());
            return refuse(problem, "keep the name; another name needs a registration of its own");
        }
        if let Some(option) = was.options().iter().find(|option| !is.options().contains(*option)) {
            let problem = format!("it has no option {option:?}, which people were given");
            return refuse(problem, "keep every option; a rule need not use all of them");
        }
        if was.rule() != is.rule() {
            let lines = rarely_policy::difference((was, was.rule()), (is, is.rule()));
            let problem = format!("its rule is not the rule in force: {}", lines.join("; "));
            return refuse(
                problem,
                "start from the document of the version in force; a rule changes on evidence, or by a rollback",
            );
        }
        if new.text == self.edition().text {
            return refuse("it is the document in force".to_owned(), "change something, or leave it as it is");
        }
        let mut difference = was.difference(is);
        if difference.is_empty() {
            difference.push("only names, comments or their order".to_owned());
        }
        let restart = restart(was, is);
        let outcomes = count(self.state().learned.outcomes());
        let sentence = match &restart {
            None => format!("The statistics are kept, with what was learned from {outcomes} outcomes."),
            Some(reason) => format!(
                "The statistics start again from nothing, because of this: {reason}. The {outcomes} outcomes that were learned stay in the log, \
                 but count no longer; outcomes of earlier decisions are recorded and not learned."
            ),
        };
        Ok(AmendmentEffect { difference, restart, sentence })
    }
}

/// The first change under which earlier statistics are of no use.
fn restart(was: &PolicyDocument, is: &PolicyDocument) -> Option<String> {
    let (before, after) = (was.control().delay, is.control().delay);
    let delay = || (before != after).then(|| format!("delay {:?}, was {:?}", after.name(), before.name()));
    was.differs(is).or_else(delay)
}

//! The rule in force, ready to decide: an immutable value that threads share.

use std::sync::Arc;

use rarely_core::{Algorithm, Arm, Context, Decision, Exploration, Policy, Reason, Rng};
use rarely_policy::{PolicyDocument, WrittenRule};

use crate::document_edition::DocumentEdition;
use crate::learned::Learned;

/// Makes decisions from the state after one event. Deciding takes no lock.
#[derive(Debug)]
pub struct Decider {
    /// The policy version.
    pub version: u64,
    /// The last event taken into account.
    pub basis: u64,
    /// The document under which it decides.
    pub edition: Arc<DocumentEdition>,
    seed: u64,
    method: DecisionMethod,
    /// A rule that decides beside it.
    shadow: Option<rarely_core::Rule>,
}

/// What a decider is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionBasis {
    /// The policy version.
    pub(crate) version: u64,
    /// The last event taken into account.
    pub(crate) event: u64,
    /// Decisions made by then.
    pub(crate) decided: u64,
}

#[derive(Debug)]
enum DecisionMethod {
    /// The rule alone.
    Rule(rarely_core::Rule),
    /// The rule, with exploration among the options that the data do not rule out.
    Exploring(Box<dyn Policy>),
}

impl Decider {
    /// The document's rule, with exploration if the document asks for it and the policy is not stopped. `document` is that of the edition, with
    /// the rule in force.
    pub(crate) fn new(
        (edition, document): (&Arc<DocumentEdition>, &PolicyDocument),
        learned: &Learned,
        basis: DecisionBasis,
        seed: u64,
        stopped: bool,
    ) -> Self {
        let explore = document.change().explore != Exploration::NONE && !stopped;
        let DecisionBasis { version, event, decided } = basis;
        match explore.then(|| exploring(document, learned, decided)).flatten() {
            Some(method) => Self { version, basis: event, edition: edition.clone(), seed, method, shadow: None },
            None => Self::of_rule((edition, document), (version, event)),
        }
    }

    /// The document's rule alone.
    pub(crate) fn of_rule(
        (edition, document): (&Arc<DocumentEdition>, &PolicyDocument),
        (version, basis): (u64, u64),
    ) -> Self {
        let rule = rarely_core::Rule::new(document.rule().parameters(document));
        Self { version, basis, edition: edition.clone(), seed: 0, method: DecisionMethod::Rule(rule), shadow: None }
    }

    /// The same with a rule of this document that decides beside it.
    pub(crate) fn beside(self, candidate: Option<(&PolicyDocument, &WrittenRule)>) -> Self {
        let shadow = candidate.map(|(document, rule)| rarely_core::Rule::new(rule.parameters(document)));
        Self { shadow, ..self }
    }

    /// What the rule beside it would give, if there is one.
    ///
    /// # Panics
    /// If the context does not belong to the policy's document.
    pub fn shadow(&self, context: &[f64]) -> Option<&str> {
        let context = Context::new(context).expect("a record within its ranges");
        let arm: Arm = self.shadow.as_ref()?.choose(context).expect("a context of this document");
        Some(&self.edition.document.options()[arm.index()])
    }

    /// Makes the decision with this event number.
    ///
    /// # Panics
    /// If the context does not belong to the policy's document.
    pub fn decide(&self, context: &[f64], number: u64) -> Decision {
        let context = Context::new(context).expect("a record within its ranges");
        match &self.method {
            DecisionMethod::Rule(rule) => {
                let arm: Arm = rule.choose(context).expect("a context of this document");
                Decision { arm, reason: Reason::Policy, propensity: 1.0 }
            }
            DecisionMethod::Exploring(policy) => {
                policy.decide(context, &mut Rng::new(self.seed, number)).expect("a context of this document")
            }
        }
    }

    /// Whether some decisions are randomised.
    pub fn explores(&self) -> bool {
        matches!(self.method, DecisionMethod::Exploring(_))
    }
}

/// The core policy that follows the rule and explores; `None` if the sums are too large for the penalty.
fn exploring(document: &PolicyDocument, learned: &Learned, decided: u64) -> Option<DecisionMethod> {
    let statistics = learned.tally().statistics(document).ok()?;
    // The algorithm does not affect decisions, but a greedy one would start from its estimate instead of the rule.
    let settings = document.settings().ok()?.algorithm(Algorithm::Scheduled);
    let mut policy = settings.learned(statistics).build().ok()?;
    policy.set_decisions(decided);
    Some(DecisionMethod::Exploring(policy))
}

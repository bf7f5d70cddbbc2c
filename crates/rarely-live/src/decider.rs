//! The rule in force, ready to decide: a value that is shared, never changed.

use rarely_core::{Algorithm, Arm, Context, Decision, Exploration, Policy, Reason, Rng};
use rarely_policy::PolicyDocument;

use crate::learned::Learned;

/// What decides between two changes of what is known. Deciding takes no lock and waits for nothing.
#[derive(Debug)]
pub struct Decider {
    /// The version of the policy.
    pub version: u64,
    /// The last event that is known.
    pub basis: u64,
    seed: u64,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// The rule alone.
    Rule(rarely_core::Rule),
    /// The rule, and a draw among the options that the data do not rule out.
    Exploring(Box<dyn Policy>),
}

impl Decider {
    /// The document's rule with what was learned; without exploration if that is stopped.
    pub(crate) fn new(
        document: &PolicyDocument,
        learned: &Learned,
        (version, basis): (u64, u64),
        seed: u64,
        stopped: bool,
    ) -> Self {
        let explore = document.change().explore != Exploration::NONE && !stopped;
        match explore.then(|| exploring(document, learned)).flatten() {
            Some(way) => Self { version, basis, seed, way },
            None => Self::of_rule(document, (version, basis)),
        }
    }

    /// The document's rule alone.
    pub(crate) fn of_rule(document: &PolicyDocument, (version, basis): (u64, u64)) -> Self {
        let rule = rarely_core::Rule::new(document.rule().parameters(document));
        Self { version, basis, seed: 0, way: Way::Rule(rule) }
    }

    /// The decision that has this number.
    ///
    /// # Panics
    /// If the context is not one of the policy's document.
    pub fn decide(&self, context: &[f64], number: u64) -> Decision {
        let context = Context::new(context).expect("a record within its ranges");
        match &self.way {
            Way::Rule(rule) => {
                let arm: Arm = rule.choose(context).expect("a context of this document");
                Decision { arm, reason: Reason::Policy, propensity: 1.0 }
            }
            Way::Exploring(policy) => {
                policy.decide(context, &mut Rng::new(self.seed, number)).expect("a context of this document")
            }
        }
    }

    /// Whether some options are drawn by lot.
    pub fn explores(&self) -> bool {
        matches!(self.way, Way::Exploring(_))
    }
}

/// The core's policy that holds the rule and explores; nothing if the sums are too large for the penalty.
fn exploring(document: &PolicyDocument, learned: &Learned) -> Option<Way> {
    let statistics = learned.tally().statistics(document).ok()?;
    // The algorithm plays no part in deciding; a greedy one would start with its estimate instead of the rule.
    let settings = document.settings().ok()?.algorithm(Algorithm::Scheduled);
    Some(Way::Exploring(settings.learned(statistics).build().ok()?))
}

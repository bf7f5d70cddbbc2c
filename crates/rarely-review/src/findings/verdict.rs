//! The verdict in a sentence, and its reasons.

use rarely_core::{Algorithm, Cause};
use rarely_policy::{PolicyDocument, difference};
use serde::Serialize;

use super::numbers::{interval_with_unit, number, percent, setting};
use super::units::gain_unit;
use crate::judgement::{Judgement, VerdictReason};
use crate::verdict::Verdict;

/// The verdict in a sentence, and its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerdictFinding {
    /// Keep, change, or cannot tell.
    pub verdict: Verdict,
    /// What to do, and why.
    pub sentence: String,
    /// Why the data do not decide, or why no change is proposed after all.
    pub reasons: Vec<ReasonFinding>,
}

/// Why the data do not decide, or why no change is proposed after all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReasonFinding {
    /// Its numbers.
    pub reason: VerdictReason,
    /// What they mean.
    pub sentence: String,
}

impl VerdictFinding {
    /// Of a judgement alone, without the gaps and checks of a whole review.
    pub fn new(document: &PolicyDocument, judgement: &Judgement) -> Self {
        let reasons = judgement.reasons.iter();
        Self {
            verdict: judgement.verdict,
            sentence: sentence(document, judgement),
            reasons: reasons.map(|reason| ReasonFinding::new(document, reason)).collect(),
        }
    }

    /// The reasons' sentences.
    pub fn reason_sentences(&self) -> Vec<String> {
        self.reasons.iter().map(|reason| reason.sentence.clone()).collect()
    }
}

fn sentence(document: &PolicyDocument, judgement: &Judgement) -> String {
    match (judgement.verdict, &judgement.proposal) {
        (Verdict::Change, Some(proposal)) => {
            let changes = difference((document, document.rule()), (document, &proposal.rule));
            format!("Change the rule, because {}: {}.", cause_clause(document, &proposal.cause), changes.join("; "))
        }
        (Verdict::CannotTell, _) => {
            "The data do not yet show whether the rule should change. Keep it for now.".to_owned()
        }
        _ if !judgement.reasons.is_empty() => "Keep the rule, for the reason below.".to_owned(),
        _ if judgement.standing.jointly_plausible => "Keep the rule: the data do not rule it out.".to_owned(),
        _ => "Keep the rule: the data rule out none of its boundaries.".to_owned(),
    }
}

impl ReasonFinding {
    fn new(document: &PolicyDocument, reason: &VerdictReason) -> Self {
        Self { sentence: reason_sentence(document, reason), reason: reason.clone() }
    }
}

fn reason_sentence(document: &PolicyDocument, reason: &VerdictReason) -> String {
    let names = document.options();
    match reason {
        VerdictReason::GainTooSmall { cause, gain, minimum } => format!(
            "A change would gain too little, although {}: {} per case, where the document requires {}.",
            cause_clause(document, cause),
            interval_with_unit(*gain, &gain_unit(document)),
            setting(*minimum)
        ),
        VerdictReason::SameRule { rounded: true } => {
            "Rounded to as many digits as the data justify, the estimate is the rule in force.".to_owned()
        }
        VerdictReason::SameRule { rounded: false } => "The estimate is the rule in force.".to_owned(),
        VerdictReason::NotActedOn { options: (i, j) } => {
            let algorithm = document.change().algorithm;
            let why = match algorithm {
                Algorithm::BoundaryGreedy
                | Algorithm::BoundaryConservative
                | Algorithm::Greedy
                | Algorithm::Scheduled => "a plausible rule would give each of these people the same option".to_owned(),
                _ => format!("{algorithm} acts only when {}", algorithm.info().trigger),
            };
            format!("The boundary between {} and {} is implausible, but {why}.", names[*i], names[*j])
        }
        VerdictReason::NotToldApart { options: (i, j), rows } => format!(
            "The data do not tell {} ({} rows) from {} ({} rows): any boundary between them is still plausible.",
            names[*i], rows.0, names[*j], rows.1
        ),
    }
}

/// Why a rule has to change, as the end of a sentence that says "because".
pub fn cause_clause(document: &PolicyDocument, cause: &Cause) -> String {
    let names = document.options();
    match cause {
        Cause::Boundary { arms: (i, j), .. } => {
            format!("the boundary between {} and {} is implausible", names[*i], names[*j])
        }
        Cause::Population { share, limit } => format!(
            "{} of people get an option that the data rule out, more than the allowed {}",
            percent(*share),
            percent(*limit)
        ),
        Cause::Gain { lower, minimum } => format!(
            "a change is certain to gain {} {} per case, more than the minimum of {}",
            number(*lower, 3),
            gain_unit(document),
            setting(*minimum)
        ),
        Cause::Scheduled => "the algorithm follows the estimate at every review".to_owned(),
        other => other.to_string(),
    }
}

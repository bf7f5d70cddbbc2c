//! The verdict in a sentence, and its reasons.

use rarely_core::Cause;
use rarely_policy::{PolicyDocument, difference};
use serde::Serialize;

use super::demotion::demotion_sentence;
use super::guardrails::{clause, worst};
use super::numbers::{count, duration, interval_with_unit, number, percent, setting};
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
    /// Why the rule is kept, or why the data do not decide.
    pub reasons: Vec<ReasonFinding>,
    /// The most that keeping the rule can cost per case, against the rules tried; null if nothing bounds it.
    pub keeping_costs_at_most: Option<f64>,
    /// The same in a sentence.
    pub keeping_sentence: Option<String>,
}

/// Why the rule is kept, or why the data do not decide.
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
        let (reasons, guarded) = (judgement.reasons.iter(), stopped_by_guardrail(judgement));
        Self {
            verdict: judgement.verdict,
            sentence: sentence(document, judgement),
            reasons: reasons.map(|reason| ReasonFinding::new(document, reason, guarded)).collect(),
            keeping_costs_at_most: judgement.keeping_costs_at_most,
            keeping_sentence: judgement.keeping_costs_at_most.map(|most| {
                let (most, unit) = (number(most, 3), gain_unit(document));
                format!("Against the rules that were tried, keeping this one costs at most {most} {unit} per case.")
            }),
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
        (Verdict::Keep, _) if stopped_by_guardrail(judgement) => {
            "Keep the rule: what gains breaks a guard-rail, and no other rule that was tried gains as much as is worth a change."
                .to_owned()
        }
        (Verdict::Keep, _) if is_bettered(judgement) => {
            "Keep the rule: it could be bettered, but no rule that was tried gains as much as is worth a change."
                .to_owned()
        }
        (Verdict::Keep, _) => "Keep the rule: no rule that was tried gains as much as is worth a change.".to_owned(),
        _ => "The data do not yet show whether the rule should change. Keep it for now.".to_owned(),
    }
}

/// Whether a change gains, and a guard-rail is in its way.
fn stopped_by_guardrail(judgement: &Judgement) -> bool {
    judgement.reasons.iter().any(|reason| matches!(reason, VerdictReason::Guardrail { .. }))
}

/// Whether a rule is known to be better, if only by a little.
fn is_bettered(judgement: &Judgement) -> bool {
    let implausible = judgement.standing.boundaries.iter().any(|pair| !pair.plausible);
    implausible || judgement.candidates.iter().any(|candidate| candidate.gain.interval.lower > 0.0)
}

impl ReasonFinding {
    /// `guarded` says whether another reason is a guard-rail: then the sentences about all rules are about the others.
    fn new(document: &PolicyDocument, reason: &VerdictReason, guarded: bool) -> Self {
        Self { sentence: reason_sentence(document, reason, guarded), reason: reason.clone() }
    }
}

fn reason_sentence(document: &PolicyDocument, reason: &VerdictReason, guarded: bool) -> String {
    let unit = gain_unit(document);
    match reason {
        VerdictReason::NothingToGain { most, worth } => format!(
            "The most that any of {} gains is {} {unit} per case. A gain of {} would be worth a change.",
            if guarded { "the rules whose guard-rails hold" } else { "them" },
            number(most.max(0.0), 3),
            setting(*worth)
        ),
        VerdictReason::NotShown { gain, worth, further_cases, further_days } => {
            let time =
                further_days.map_or_else(String::new, |days| format!(", {} at the rate of the log,", duration(days)));
            let further = further_cases.map_or_else(String::new, |cases| {
                format!(" If the estimate is right, about {} further cases{time} would decide.", count(cases))
            });
            format!(
                "The best rule that was found gains {} per case: it is not shown to gain, and not ruled out that it gains {}, which would \
                 be worth a change.{further}",
                interval_with_unit(*gain, &unit),
                setting(*worth)
            )
        }
        VerdictReason::NotCertain { gain, demotion } => format!(
            "A change would gain {} per case, but only under an assumption that the log contradicts. {}",
            interval_with_unit(*gain, &unit),
            demotion_sentence(document, demotion)
        ),
        VerdictReason::Guardrail { gain, guardrail } => {
            let shown = if guardrail.is_broken() {
                "a guard-rail is in the way".to_owned()
            } else {
                format!("a guard-rail is not shown to hold: {}", worst(document, guardrail))
            };
            let gain = interval_with_unit(*gain, &unit);
            format!("A change would gain {gain} per case, but {shown}. With it {}.", clause(document, guardrail))
        }
        VerdictReason::NothingToCompare { options } => {
            let names: Vec<&str> = options.iter().map(|&option| document.options()[option].as_str()).collect();
            match names.as_slice() {
                [] => "There is no other rule to compare the rule with.".to_owned(),
                names => format!(
                    "There is nothing to compare the rule with: the log has too few cases of {}.",
                    names.join(" and of ")
                ),
            }
        }
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
        Cause::Gain { lower, minimum } => {
            let beyond = if *minimum == 0.0 {
                String::new()
            } else {
                format!(", more than the minimum of {}", setting(*minimum))
            };
            format!("a change gains at least {} {} per case{beyond}", number(*lower, 3), gain_unit(document))
        }
        Cause::Scheduled => "the algorithm follows the estimate at every review".to_owned(),
        other => other.to_string(),
    }
}

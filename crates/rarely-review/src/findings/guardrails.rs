//! What a change does to outcomes that must not get worse.

use rarely_core::Interval;
use rarely_policy::{Better, PolicyDocument};
use serde::Serialize;

use super::candidates::evidence_words;
use super::numbers::{interval, number, setting};
use crate::candidate_gain::JudgedGuardrail;

/// What a rule does to an outcome that must not get worse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GuardrailFinding {
    /// The column.
    pub column: String,
    /// How far it moves per case, in its own direction.
    pub moved: Interval,
    /// How much worse it may get.
    pub margin: f64,
    /// Whether it is shown not to get worse by more.
    pub holds: bool,
    /// Whether it is shown to get worse by more.
    pub broken: bool,
    /// What the interval rests on.
    pub evidence_words: String,
    /// All this in a sentence.
    pub sentence: String,
}

impl GuardrailFinding {
    pub(super) fn new(document: &PolicyDocument, judged: &JudgedGuardrail) -> Self {
        let moved = moved(document, judged);
        let says = if judged.holds() {
            "The guard-rail holds"
        } else if judged.is_broken() {
            "The guard-rail is broken"
        } else {
            "It is not shown that the guard-rail holds"
        };
        let why = judged.not_confirmed.as_ref().map_or_else(String::new, |reason| format!(" {reason}"));
        Self {
            column: judged.column.clone(),
            moved,
            margin: judged.margin,
            holds: judged.holds(),
            broken: judged.is_broken(),
            evidence_words: evidence_words(&judged.gain),
            sentence: format!("{says}: {}.{why}", clause(document, judged)),
        }
    }
}

/// `readmission moves by 0.02 (0.01 to 0.03) per case and may rise by 0.01`.
pub(super) fn clause(document: &PolicyDocument, judged: &JudgedGuardrail) -> String {
    let direction = if is_better_lower(document, judged) { "rise" } else { "fall" };
    let moved = interval(moved(document, judged));
    format!("{} moves by {moved} per case, and may {direction} by {}", judged.column, setting(judged.margin))
}

/// The worst that the data allow, in words: `rises by up to 0.03`.
pub(super) fn worst(document: &PolicyDocument, judged: &JudgedGuardrail) -> String {
    let lower = judged.gain.interval.lower;
    let direction = if is_better_lower(document, judged) { "rise" } else { "fall" };
    if lower.is_finite() {
        format!("it may {direction} by {}", number((-lower).max(0.0), 3))
    } else {
        format!("nothing bounds how far it may {direction}")
    }
}

/// In the direction of the column itself.
fn moved(document: &PolicyDocument, judged: &JudgedGuardrail) -> Interval {
    let Interval { estimate, lower, upper } = judged.gain.interval;
    if is_better_lower(document, judged) {
        Interval { estimate: -estimate, lower: -upper, upper: -lower }
    } else {
        judged.gain.interval
    }
}

fn is_better_lower(document: &PolicyDocument, judged: &JudgedGuardrail) -> bool {
    let mut declared = document.guardrails().iter();
    declared.find(|guardrail| guardrail.column == judged.column).is_some_and(|found| found.better == Better::Lower)
}

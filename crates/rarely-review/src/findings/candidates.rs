//! The rules that were tried, with their gains.

use rarely_core::{Confirmed, Interval, Method, Standard, Timing};
use rarely_policy::{EvidenceStandard, PolicyDocument};
use serde::Serialize;

use super::guardrails::GuardrailFinding;
use super::numbers::{interval, percent};
use super::proposal::RuleFinding;
use crate::candidate_gain::JudgedCandidate;
use crate::candidates::CandidateKind;
use crate::judgement::Judgement;
use crate::model_free::ModelFreeGain;

/// The rules that were tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CandidatesFinding {
    /// How they were found and judged.
    pub sentence: String,
    /// Each of them, the simplest first.
    pub rules: Vec<CandidateFinding>,
    /// The best one, as an index.
    pub best: Option<usize>,
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CandidateFinding {
    /// What kind of rule it is.
    pub kind: CandidateKind,
    /// The same in words.
    pub kind_words: &'static str,
    /// The rule.
    pub rule: RuleFinding,
    /// The share of the people who get another option.
    pub changed_share: f64,
    /// The gain per case.
    pub gain: Interval,
    /// A plain 95 % interval of the same gain.
    pub plain: Option<Interval>,
    /// What the interval of the gain rests on.
    pub evidence: Confirmed,
    /// The same in words: `approximate, at any time: least squares with HC3 errors`.
    pub evidence_words: String,
    /// Why the gain could not be confirmed by least squares, where it could not.
    pub not_confirmed: Option<String>,
    /// The gain by the propensities of the log, where it has them.
    pub model_free: Option<ModelFreeGain>,
    /// The same in a sentence, or why there is none.
    pub model_free_sentence: Option<String>,
    /// What it does to outcomes that must not get worse.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guardrails: Vec<GuardrailFinding>,
    /// The same as cells of a table.
    pub cells: [String; 5],
}

impl CandidatesFinding {
    /// Columns of [`CandidateFinding::cells`].
    pub const COLUMNS: [&'static str; 5] =
        ["rule", "people who change", "gain per case", "plain 95 % interval", "evidence"];

    pub(super) fn new(document: &PolicyDocument, judgement: &Judgement) -> Self {
        let confirmed = judgement.candidates.iter().any(|candidate| candidate.plain.is_some());
        let model_free = judgement.candidates.iter().any(|candidate| candidate.model_free.is_some());
        let once = judgement.candidates.iter().any(|candidate| candidate.gain.method == Method::LeastSquaresSums);
        let mut sentence = if confirmed { confirmed_sentence(document) } else { SETS.to_owned() };
        for (_, more) in [(once, READ_ONCE), (model_free, MODEL_FREE)].into_iter().filter(|(holds, _)| *holds) {
            sentence = format!("{sentence} {more}");
        }
        Self {
            sentence,
            rules: judgement.candidates.iter().map(|candidate| CandidateFinding::new(document, candidate)).collect(),
            best: judgement.best,
        }
    }
}

const MODEL_FREE: &str = "The model-free gain rests on the propensities of the log and holds whatever the shape of the outcome; the \
                          verdict rests on it, and the one by straight lines stands beside it.";

const READ_ONCE: &str = "The rows could not be read a second time, so that errors rest on each option's residual variance instead of \
                         being robust.";

const SETS: &str = "The best rule of each kind. Their intervals hold for every rule at once and at any time, however the options were \
                    chosen.";

fn confirmed_sentence(document: &PolicyDocument) -> String {
    let when = match document.standard() {
        EvidenceStandard::Anytime => "hold at any time, however often the log is reviewed",
        EvidenceStandard::Looks(_) | EvidenceStandard::Sizes(_) => "hold at the planned looks",
        EvidenceStandard::Once => "hold for one review of a finished log",
    };
    format!(
        "A third of the rows proposed the best rule of each kind; the other rows judge them. The intervals {when}. A plain 95 % interval, as for a \
         single change that was declared beforehand and looked at once, stands beside them."
    )
}

impl CandidateFinding {
    fn new(document: &PolicyDocument, candidate: &JudgedCandidate) -> Self {
        let rule = RuleFinding::new(document, &candidate.rule);
        let kind_words = kind_words(candidate.kind);
        let line_words = evidence_words(&candidate.gain);
        let (gain_cell, evidence_words) = match &candidate.model_free {
            None => (interval(candidate.gain.interval), line_words),
            Some(found) => (
                format!(
                    "{} model-free; {} by straight lines",
                    interval(found.gain.interval),
                    interval(candidate.gain.interval)
                ),
                format!("{}; {line_words}", evidence_words(&found.gain)),
            ),
        };
        let cells = [
            format!("{kind_words}: {}", rule.lines.join(", ")),
            percent(candidate.changed_share),
            gain_cell,
            candidate.plain.map_or_else(|| "–".to_owned(), interval),
            evidence_words.clone(),
        ];
        Self {
            kind: candidate.kind,
            kind_words,
            rule,
            changed_share: candidate.changed_share,
            gain: candidate.gain.interval,
            plain: candidate.plain,
            evidence: candidate.gain,
            evidence_words,
            not_confirmed: candidate.not_confirmed.clone(),
            model_free: candidate.model_free,
            model_free_sentence: model_free_sentence(candidate),
            guardrails: candidate.guardrails.iter().map(|found| GuardrailFinding::new(document, found)).collect(),
            cells,
        }
    }
}

/// What the gain by propensities, which stands beside the other, leaves out or contradicts; or why there is none.
fn model_free_sentence(candidate: &JudgedCandidate) -> Option<String> {
    let Some(found) = &candidate.model_free else {
        return candidate.not_model_free.as_ref().map(|reason| format!("There is no model-free gain: {reason}."));
    };
    let left_out = (found.left_out > 0.0).then(|| {
        format!(
            "At {} of the cases an option that changes was less probable than the declared minimum: there the change is left out, and \
             its gain is seen by straight lines only.",
            percent(found.left_out)
        )
    });
    let contradicted = candidate.gain.contradicts(&found.gain).then(|| {
        format!(
            "By propensities the gain is {} per case. The gain by straight lines contradicts it: the lines do not fit, or the propensities \
             are not true.",
            interval(found.gain.interval)
        )
    });
    let said: Vec<String> = left_out.into_iter().chain(contradicted).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// What kind of rule a candidate is.
pub(super) fn kind_words(kind: CandidateKind) -> &'static str {
    match kind {
        CandidateKind::Constant => "the same option for everyone",
        CandidateKind::MovedCuts => "the cuts moved",
        CandidateKind::SameForm => "the same form, refitted",
        CandidateKind::OneThreshold => "one threshold",
        CandidateKind::LinearEstimate => "the best option by estimate",
    }
}

/// What an interval rests on.
pub(super) fn evidence_words(gain: &Confirmed) -> String {
    let when = match gain.timing {
        Timing::Planned => "at planned looks",
        Timing::Anytime => "at any time",
    };
    let standard = match gain.standard {
        Standard::Certain => "certain under the assumptions",
        Standard::ExactIfNormal | Standard::Approximate => "approximate",
    };
    format!("{standard}, {when}: {}", gain.method)
}

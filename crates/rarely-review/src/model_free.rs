//! Model-free gains: what the candidates gain by the propensities of the log, whatever the shape of the truth (mathematics §14).
//!
//! Predictions come from the proposing part, scores from the confirming part. Where an option that changes was given with less than the
//! declared minimum, the candidate is scored as if it decided like the rule in force.

use rarely_core::{Arm, Confirmed, ErrorBudget, Look, RuleChoice, ScoreSettings, ScoredCase, Scores};
use serde::{Deserialize, Serialize};

use crate::evidence_base::EvidenceBase;
use crate::propensities::{PropensityCheck, PropensityWarning};
use crate::propensity_reading::reward_range;
use crate::tally_row::TallyRow;

/// The model-free gain of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ModelFreeGain {
    /// The gain per case, and what its interval rests on.
    pub gain: Confirmed,
    /// The share of the rows at which an option that changes was too improbable: the gain is that of a change that leaves them out.
    pub left_out: f64,
}

/// The scores of every candidate, as rows arrive.
#[derive(Debug, Clone)]
pub(crate) struct ModelFree {
    settings: ScoreSettings,
    candidates: Vec<CandidateScores>,
    rows: u64,
}

/// The scores of one candidate, or why it has none.
#[derive(Debug, Clone)]
struct CandidateScores {
    scores: Scores,
    left_out: u64,
    problem: Option<String>,
}

/// What model-free gains are computed from.
pub(crate) struct ModelFreeSetup<'a> {
    pub(crate) base: &'a EvidenceBase<'a>,
    pub(crate) checks: &'a [PropensityCheck],
    /// Rows that confirm.
    pub(crate) cases: u64,
    /// Whether the people are those of the log.
    pub(crate) sampled: bool,
}

impl ModelFreeSetup<'_> {
    /// No score yet, or why there can be none.
    pub(crate) fn model_free(&self) -> Result<ModelFree, String> {
        let document = self.base.document;
        let columns = document.log_columns();
        if columns.propensities.is_empty() && document.options().len() > 2 {
            return Err(
                "the log has only the probability of the option given; declare propensities, a column for every option"
                    .to_owned(),
            );
        }
        let minimum = columns.minimum_propensity.ok_or("declare minimum_propensity under [evidence]")?;
        let (low, high) = reward_range(document).ok_or("declare the range of the outcome")?;
        if !columns.rows_are_alike() {
            return Err("rows of clusters or with weights are judged by least squares only".to_owned());
        }
        if !self.sampled {
            return Err("the people whom the rule is for are not those of the log".to_owned());
        }
        let warned = |warning| self.checks.iter().map(move |check| check.warnings.contains(&warning));
        if warned(PropensityWarning::DoesNotFit).any(|holds| holds) {
            return Err("the propensities do not fit the options that were given".to_owned());
        }
        let few: Vec<bool> = warned(PropensityWarning::FewEffectiveRows).collect();
        let settings = ScoreSettings::new(document.options().len(), minimum, low, high).map_err(explained)?;
        let budget = ErrorBudget::new(self.base.look_error_probability().map_err(explained)?);
        let expected = expected_cases(self.cases);
        let candidates = (0..self.base.candidates().len()).map(|at| CandidateScores {
            scores: Scores::new(settings, budget, expected),
            left_out: 0,
            problem: self.too_few(at, &few),
        });
        Ok(ModelFree { settings, candidates: candidates.collect(), rows: 0 })
    }

    /// An option that changes and has too few effective rows.
    fn too_few(&self, candidate: usize, few: &[bool]) -> Option<String> {
        let (before, after) = self.base.decisions(candidate);
        let changes = before.iter().zip(after).filter(|(old, new)| old != new).flat_map(|(old, new)| [old, new]);
        let scarce = changes.map(|arm| arm.index()).find(|&arm| few.get(arm).copied().unwrap_or(true))?;
        let option = &self.base.document.options()[scarce];
        Some(format!("the rows of {option}, weighted by one over their propensities, count as fewer than 30"))
    }
}

impl ModelFree {
    /// Adds a row that confirms, with the predictions for every option, and what the rule in force and each candidate decide.
    pub(crate) fn add(&mut self, row: &TallyRow<'_>, predictions: &[f64], before: Arm, after: &[Arm]) {
        self.rows += 1;
        for (candidate, &after) in self.candidates.iter_mut().zip(after) {
            if candidate.problem.is_some() {
                continue;
            }
            let mut case = ScoredCase {
                arm: row.arm,
                reward: row.reward,
                propensities: row.propensities,
                predictions,
                before: RuleChoice::Arm(before),
                after: RuleChoice::Arm(after),
            };
            if !self.settings.overlaps(&case) {
                candidate.left_out += 1;
                case.after = case.before;
            }
            candidate.problem = candidate.scores.add(&case).err().map(explained);
        }
    }

    /// The gain of every candidate, or why it has none.
    pub(crate) fn gains(self, anytime: bool, minimum: f64) -> Vec<Result<ModelFreeGain, String>> {
        let rows = self.rows;
        let gain = |candidate: CandidateScores| {
            if let Some(problem) = candidate.problem {
                return Err(problem);
            }
            let left_out = candidate.left_out as f64 / rows.max(1) as f64;
            interval(&candidate.scores, anytime, minimum).map(|gain| ModelFreeGain { gain, left_out })
        };
        self.candidates.into_iter().map(gain).collect()
    }
}

/// At planned looks the t interval of the mean. At any time the empirical-Bernstein interval if it shows the gain, which is then certain;
/// the asymptotic one otherwise, which is sharper. The former holds for any number of cases, so that it also replaces an approximate one that
/// has too few.
fn interval(scores: &Scores, anytime: bool, minimum: f64) -> Result<Confirmed, String> {
    let certain = scores.empirical_bernstein();
    if anytime && certain.interval.lower > minimum {
        return Ok(certain);
    }
    let approximate = if anytime { scores.asymptotic() } else { scores.planned(Look::only(scores.mean().count())) };
    match approximate {
        Err(rarely_core::ConfirmError::TooFewCases { .. } | rarely_core::ConfirmError::RareOutcomes { .. }) => {
            Ok(certain)
        }
        other => other.map_err(explained),
    }
}

/// The power of four next to the number of cases: it stays the same while they grow fourfold.
pub(crate) fn expected_cases(cases: u64) -> u64 {
    let exponent = (libm::log2(cases.max(4) as f64) / 2.0).round();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let expected = libm::pow(4.0, exponent) as u64;
    expected
}

// By value, so that it can be given to `map_err`.
#[allow(clippy::needless_pass_by_value)]
fn explained<E: rarely_error::Explain + std::fmt::Display>(error: E) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"))
}

//! What a second reading computes from the propensities of a log: the values of the rules and the model-free gains of the candidates.
//!
//! Predictions come from the proposing part and terms from the rows that confirm, so that doubly robust terms are unbiased.

use rarely_core::{Arm, Context, Parameters, Rule};
use rarely_policy::PolicyDocument;

use crate::evidence_base::EvidenceBase;
use crate::least_squares::dot;
use crate::model_free::{ModelFree, ModelFreeGain, ModelFreeSetup};
use crate::off_policy::{NotWeightable, WeighedRow, WeightedSums, WeightedValue};
use crate::propensities::{PropensityCheck, PropensityWarning};
use crate::tally::Tally;
use crate::tally_row::TallyRow;

/// The value of a rule, or why it has none.
pub(crate) type RuleValue = Result<WeightedValue, NotWeightable>;

/// What is computed from propensities, as rows that confirm arrive.
#[derive(Debug, Clone)]
pub(crate) struct PropensityReading {
    /// The rule in force, then the candidates.
    rules: Vec<Rule>,
    /// Of the proposing part.
    estimates: Parameters,
    values: Vec<WeightedSums>,
    /// Why no rule has a value.
    refusal: Option<NotWeightable>,
    model_free: Result<ModelFree, String>,
    predictions: Vec<f64>,
    choices: Vec<Arm>,
}

impl PropensityReading {
    /// Nothing read yet; `None` if the document declares no propensities. `cases` are the rows that confirm; `sampled` says whether the
    /// people are those of the log.
    pub(crate) fn new(
        base: &EvidenceBase<'_>,
        tally: &Tally,
        estimates: Parameters,
        cases: u64,
        sampled: bool,
    ) -> Option<Self> {
        let document = base.document;
        if !document.log_columns().has_propensities() {
            return None;
        }
        let checks = tally.propensities().map(|sums| sums.checks(document)).unwrap_or_default();
        let tried = base.candidates().iter().map(|candidate| &candidate.rule);
        let rules = [document.rule()].into_iter().chain(tried).map(|rule| Rule::new(rule.parameters(document)));
        let rules: Vec<Rule> = rules.collect();
        Some(Self {
            values: vec![WeightedSums::new(reward_range(document)); rules.len()],
            refusal: refusal(document, &checks),
            model_free: ModelFreeSetup { base, checks: &checks, cases, sampled }.model_free(),
            predictions: vec![0.0; document.options().len()],
            choices: Vec::with_capacity(rules.len()),
            rules,
            estimates,
        })
    }

    /// Adds a row that confirms.
    pub(crate) fn add(&mut self, row: &TallyRow<'_>) {
        let Ok(context) = Context::new(row.context) else { return };
        for (prediction, estimate) in self.predictions.iter_mut().zip(self.estimates.iter()) {
            *prediction = dot(estimate, row.context);
        }
        self.choices.clear();
        self.choices.extend(self.rules.iter().filter_map(|rule| rule.choose(context).ok()));
        let [before, after @ ..] = self.choices.as_slice() else { return };
        for (sums, &choice) in self.values.iter_mut().zip(&self.choices) {
            sums.add(&WeighedRow {
                choice,
                logged: row.arm,
                reward: row.reward,
                prediction: self.predictions[choice.index()],
                propensity: row.given_propensity(),
                possible: row.propensities.get(choice.index()).is_none_or(|&propensity| propensity > 0.0),
            });
        }
        if let Ok(model_free) = &mut self.model_free {
            model_free.add(row, &self.predictions, *before, after);
        }
    }

    /// Why there are no model-free gains.
    pub(crate) fn not_model_free(&self) -> Option<&String> {
        self.model_free.as_ref().err()
    }

    /// The values of the rule in force and of every candidate, in units of the outcome.
    pub(crate) fn values(&self, sign: f64) -> Vec<RuleValue> {
        self.values.iter().map(|sums| self.refusal.map_or_else(|| sums.value(sign), Err)).collect()
    }

    /// The model-free gain of every candidate, or why it has none.
    pub(crate) fn gains(self, anytime: bool, minimum: f64) -> Vec<Result<ModelFreeGain, String>> {
        self.model_free.map_or_else(|_| Vec::new(), |found| found.gains(anytime, minimum))
    }
}

/// Why no rule has a value.
fn refusal(document: &PolicyDocument, checks: &[PropensityCheck]) -> Option<NotWeightable> {
    if !document.log_columns().rows_are_alike() {
        return Some(NotWeightable::RowsNotAlike);
    }
    let wrong = checks.iter().find(|check| check.warnings.contains(&PropensityWarning::DoesNotFit))?;
    Some(NotWeightable::DoesNotFit { mean_weight: wrong.mean_weight, expected: wrong.expected_weight })
}

/// The range of rewards: that of outcomes with their sign, less the options' costs.
pub fn reward_range(document: &PolicyDocument) -> Option<(f64, f64)> {
    let (low, high) = document.outcome().range?;
    let sign = document.outcome_sign();
    let costs = document.limits().costs();
    let ends = costs.iter().flat_map(|cost| [sign * low - cost, sign * high - cost]);
    Some(ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), end| (least.min(end), most.max(end))))
}

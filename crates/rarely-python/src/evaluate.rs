//! `rarely.evaluate`: what any policy is worth on a log with propensities. `rarely.evaluation` has the public function.

use std::str::FromStr as _;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rarely_core::{
    Arm, CertainValue, Confirmed, Contexts, ErrorProbability, Estimator, EvaluateError, Folds, LogPropensities,
    Penalty, PolicyProbabilities, PropensityLog, RewardModel, ScoreSettings, ValueInterval, ValueTerms,
    WeightDiagnostics, WeightProblem, interval_rests_on,
};
use rarely_error::Explain;

use crate::array::{self, GivenContexts};
use crate::error;

/// Estimator, estimate, lower and upper end, standard, method, timing, standard error, degrees of freedom, what it rests on.
type ValueRow = (&'static str, f64, f64, f64, String, String, String, Option<f64>, Option<f64>, String);
/// Rows that got an arm, mean inverse propensity, its standard error and expectation, effective rows, largest inverse.
type ArmRow = (u64, f64, f64, f64, f64, f64);
/// Rows, weighted rows, effective rows, largest weight, mean weight, its standard error, the arms.
type WeightRow = (u64, u64, f64, f64, f64, f64, Vec<ArmRow>);
/// The number of the policy, whether only approximate intervals are concerned, the problem, what to do.
type ProblemRow = (usize, bool, String, String);

/// Values of a policy, or differences of two; the public function is `rarely.evaluate`.
#[pyfunction]
#[pyo3(signature = (arms, rewards, propensities, policy, against, contexts, predictions, estimators, interval, *, error_probability,
    penalty, folds, switch_threshold, outcome_range, minimum_propensity, expected_cases, resamples, seed))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one call")]
pub(crate) fn evaluate(
    py: Python<'_>,
    arms: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    propensities: &Bound<'_, PyAny>,
    policy: &Bound<'_, PyAny>,
    against: Option<&Bound<'_, PyAny>>,
    contexts: Option<&Bound<'_, PyAny>>,
    predictions: Option<&Bound<'_, PyAny>>,
    estimators: Vec<String>,
    interval: &str,
    error_probability: f64,
    penalty: f64,
    folds: usize,
    switch_threshold: Option<f64>,
    outcome_range: Option<(f64, f64)>,
    minimum_propensity: Option<f64>,
    expected_cases: Option<u64>,
    resamples: u32,
    seed: u64,
) -> PyResult<(Vec<ValueRow>, Vec<WeightRow>, Vec<ProblemRow>)> {
    let refused = |problem: EvaluateError| error::EVALUATE.explain(py, &problem);
    let (given_policy, given_against) = (GivenContexts::take(policy)?, against.map(GivenContexts::take).transpose()?);
    let (given_contexts, given_predictions) =
        (contexts.map(GivenContexts::take).transpose()?, predictions.map(GivenContexts::take).transpose()?);
    let (arms, rewards) = (arms_of(py, arms)?, array::rewards(rewards)?);
    let given_propensities = GivenContexts::take(propensities)?;
    let width = given_policy.width();
    let probabilities = match &given_propensities {
        GivenContexts::One(line) => LogPropensities::Given(line.values()),
        GivenContexts::Many(_) => LogPropensities::Every(given_propensities.rows(py, width)?.values()),
    };
    let log = PropensityLog::new(width, &arms, rewards.values(), probabilities).map_err(refused)?;
    let policy = PolicyProbabilities::new(&log, given_policy.rows(py, width)?.values()).map_err(refused)?;
    let against = match &given_against {
        Some(given) => Some(PolicyProbabilities::new(&log, given.rows(py, width)?.values()).map_err(refused)?),
        None => None,
    };
    let contexts = given_contexts.as_ref().map(|given| given.block(py, given.width())).transpose()?;
    let predictions = match &given_predictions {
        Some(given) => Some(given.rows(py, width)?.values()),
        None => None,
    };
    let estimator = |name: &String| {
        Estimator::from_str(name).map_err(|()| {
            let known: Vec<&str> = Estimator::ALL.into_iter().map(Estimator::name).collect();
            PyTypeError::new_err(format!("there is no estimator {name:?}; choose from {}", known.join(", ")))
        })
    };
    let estimators: Vec<Estimator> = estimators.iter().map(estimator).collect::<PyResult<_>>()?;
    let settings = EvaluateSettings {
        delta: ErrorProbability::new(error_probability).map_err(|error| error::EVALUATE.explain(py, &error))?,
        penalty: Penalty::new(penalty).map_err(|error| error::EVALUATE.explain(py, &error))?,
        folds,
        // The bias of truncation at √n vanishes as the log grows [ionides-2008].
        switch_threshold: switch_threshold.unwrap_or_else(|| (log.len() as f64).sqrt()),
        kind: interval_kind(py, interval, expected_cases, resamples, seed)?,
        declared: declared(py, width, outcome_range, minimum_propensity)?,
        expected_cases,
        seed,
    };
    if settings.kind.is_none() && settings.declared.is_none() {
        let message = "an empirical-Bernstein interval needs outcome_range and minimum_propensity";
        let help = "declare the range of the outcome, and the least propensity of every arm that the policy gives";
        return Err(error::EVALUATE.with_help(py, message, help));
    }
    let case = EvaluatedCase { log, policy, against, contexts, predictions };
    let values = py.detach(|| settings.values(&case, &estimators)).map_err(refused)?;
    let weights: Vec<WeightDiagnostics> = py.detach(|| {
        [Some(policy), against].into_iter().flatten().map(|policy| WeightDiagnostics::new(&log, policy)).collect()
    });
    let problems = weights.iter().enumerate().flat_map(|(at, weights)| problem_rows(at, weights.problems()));
    Ok((values, weights.iter().map(weight_row).collect(), problems.collect()))
}

/// The rows, the policies, and what predictions are made of.
struct EvaluatedCase<'a> {
    log: PropensityLog<'a>,
    policy: PolicyProbabilities<'a>,
    against: Option<PolicyProbabilities<'a>>,
    contexts: Option<Contexts<'a>>,
    predictions: Option<&'a [f64]>,
}

struct EvaluateSettings {
    delta: ErrorProbability,
    penalty: Penalty,
    folds: usize,
    switch_threshold: f64,
    /// Nothing for the interval that is certain.
    kind: Option<ValueInterval>,
    declared: Option<ScoreSettings>,
    expected_cases: Option<u64>,
    seed: u64,
}

impl EvaluateSettings {
    fn values(&self, case: &EvaluatedCase<'_>, estimators: &[Estimator]) -> Result<Vec<ValueRow>, EvaluateError> {
        let mut plain: Option<Vec<f64>> = None;
        let mut rows = Vec::with_capacity(estimators.len());
        for &estimator in estimators {
            let fitted;
            let predictions = if estimator == Estimator::MoreRobustDoublyRobust {
                let importance = case.log.variance_weights(case.policy, case.against);
                fitted = self.clipped(self.model()?.predictions(&case.log, case.contexts, Some(&importance))?);
                Some(fitted.as_slice())
            } else if estimator.needs_predictions() {
                if plain.is_none() {
                    plain = Some(self.clipped(match case.predictions {
                        Some(given) => given.to_vec(),
                        None => self.model()?.predictions(&case.log, case.contexts, None)?,
                    }));
                }
                plain.as_deref()
            } else {
                None
            };
            rows.push(value_row(estimator, &self.value(case, estimator, predictions)?));
        }
        Ok(rows)
    }

    fn value(
        &self,
        case: &EvaluatedCase<'_>,
        estimator: Estimator,
        predictions: Option<&[f64]>,
    ) -> Result<Confirmed, EvaluateError> {
        let terms = |policy| ValueTerms::new(estimator, &case.log, policy, predictions, self.switch_threshold);
        let mut value = terms(case.policy)?;
        if let Some(against) = case.against {
            value = value.minus(terms(against)?);
        }
        match (self.kind, self.declared) {
            (Some(kind), _) => kind.of(&value, self.delta),
            (None, Some(declared)) => {
                let certain = CertainValue { log: &case.log, policy: case.policy, against: case.against, declared };
                certain.interval(&value, self.delta, self.expected_cases)
            }
            (None, None) => Err(EvaluateError::EveryPropensity),
        }
    }

    /// Rows in time order are predicted from earlier ones where an interval follows them one by one.
    fn model(&self) -> Result<RewardModel, EvaluateError> {
        let folds = match self.kind {
            Some(ValueInterval::StudentT | ValueInterval::Bootstrap { .. }) => {
                Folds::Random { count: self.folds, seed: self.seed }
            }
            _ => Folds::Forward { count: self.folds },
        };
        let start = self.declared.map_or(0.0, |declared| 0.5 * (declared.range().0 + declared.range().1));
        RewardModel::new(self.penalty, folds, start)
    }

    /// Certain intervals need predictions within the range of the outcome.
    fn clipped(&self, mut predictions: Vec<f64>) -> Vec<f64> {
        if let (None, Some(declared)) = (self.kind, self.declared) {
            let (low, high) = declared.range();
            for value in &mut predictions {
                *value = value.clamp(low, high);
            }
        }
        predictions
    }
}

fn interval_kind(
    py: Python<'_>,
    name: &str,
    expected_cases: Option<u64>,
    resamples: u32,
    seed: u64,
) -> PyResult<Option<ValueInterval>> {
    Ok(match name {
        "t" => Some(ValueInterval::StudentT),
        "bootstrap" => Some(ValueInterval::Bootstrap { resamples, seed }),
        "anytime" => {
            let expected_rows = expected_cases.ok_or_else(|| {
                let help = "give the number of cases that was expected before the first was read";
                error::EVALUATE.with_help(py, "an anytime interval needs expected_cases", help)
            })?;
            Some(ValueInterval::Asymptotic { expected_rows })
        }
        "empirical-bernstein" => None,
        other => {
            return Err(PyTypeError::new_err(format!(
                "interval is {other:?}, but must be \"t\", \"bootstrap\", \"empirical-bernstein\" or \"anytime\""
            )));
        }
    })
}

fn declared(
    py: Python<'_>,
    arms: usize,
    outcome_range: Option<(f64, f64)>,
    minimum_propensity: Option<f64>,
) -> PyResult<Option<ScoreSettings>> {
    let (Some((low, high)), Some(minimum)) = (outcome_range, minimum_propensity) else { return Ok(None) };
    let settings = ScoreSettings::new(arms, minimum, low, high);
    settings.map(Some).map_err(|error| error::EVALUATE.explain(py, &error))
}

fn value_row(estimator: Estimator, value: &Confirmed) -> ValueRow {
    (
        estimator.name(),
        value.interval.estimate,
        value.interval.lower,
        value.interval.upper,
        value.standard.to_string(),
        value.method.to_string(),
        value.timing.to_string(),
        value.standard_error,
        value.degrees,
        format!("{}; {}", estimator.rests_on(), interval_rests_on(value.method)),
    )
}

fn weight_row(weights: &WeightDiagnostics) -> WeightRow {
    let arms = weights
        .arms
        .iter()
        .map(|arm| (arm.rows, arm.mean_inverse, arm.standard_error, arm.expected, arm.effective_rows, arm.largest));
    (
        weights.rows,
        weights.weighted_rows,
        weights.effective_rows,
        weights.largest_weight,
        weights.mean_weight,
        weights.standard_error,
        arms.collect(),
    )
}

fn problem_rows(policy: usize, problems: Vec<WeightProblem>) -> impl Iterator<Item = ProblemRow> {
    problems.into_iter().map(move |problem| {
        let approximate_only = matches!(problem, WeightProblem::FewEffectiveRows { .. });
        let help = problem.remedy().map_or_else(String::new, |remedy| remedy.to_string());
        (policy, approximate_only, problem.to_string(), help)
    })
}

fn arms_of(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Vec<Arm>> {
    let arm = |(row, &number): (usize, &i64)| {
        let unknown = || error::EVALUATE.says(py, format!("row {row}: arm {number} does not exist"));
        usize::try_from(number).map(Arm::new).map_err(|_| unknown())
    };
    array::arms(given)?.values().iter().enumerate().map(arm).collect()
}

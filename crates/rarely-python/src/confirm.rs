//! `rarely.confirm`: the gain of one declared change, on rows that did not propose it.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rarely_core::{
    Arm, CaseLog, ConfirmError, Confirmation, Confirmed, Contexts, ErrorBudget, ErrorProbability, LeastSquares, Look,
    LookPlan, Mixture, Noise, PlannedNoise, PlannedSets, RuleChoice, ScoreSettings, ScoredCase, Scores, Shape, Timing,
    gain_functional,
};
use rarely_error::Explain;

use crate::array::{self, GivenContexts, NumberLine};
use crate::error;

/// The gain of a declared change, with what its interval rests on.
#[pyclass(name = "Confirmed", frozen, eq, get_all, module = "rarely")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyConfirmed {
    /// The gain per decision.
    estimate: f64,
    /// The lower end of its interval.
    lower: f64,
    /// The upper end.
    upper: f64,
    /// How far the interval can be trusted: "certain" or "approximate".
    standard: String,
    /// What made it, in words.
    method: String,
    /// When it holds: "planned" or "anytime".
    timing: String,
    /// The standard error, for methods that have one.
    standard_error: Option<f64>,
    /// Degrees of freedom, for methods that have them.
    degrees: Option<f64>,
    /// Rows that confirmed.
    cases: usize,
    /// Share of the rows whose arm changes.
    changed_share: f64,
}

#[pymethods]
impl PyConfirmed {
    fn __repr__(&self) -> String {
        let Self { estimate, lower, upper, standard, timing, method, .. } = self;
        format!("<rarely.Confirmed: {estimate:.4} ({lower:.4} to {upper:.4}); {standard}, {timing}, {method}>")
    }
}

/// The gain of playing `after` instead of `before` at these rows, with an interval that need not pay for all coefficients.
///
/// The change must have been declared before these rows were read: propose it on the first third of a log, confirm it on the rest. Without
/// propensities the gain is that of a linear model, least squares with HC3 errors, or CR2 errors for `clusters`. With the propensities of *every*
/// arm (a row each, `minimum_propensity` and `outcome_range` declared) no model is assumed; `predictions`, if given, must come from other rows.
/// Approximate intervals are refused for arms with fewer than 100 rows or fewer than 30 outcomes of a class.
///
/// `timing="planned"` holds at the planned numbers of rows, `looks` (None: this finished log, once); `"anytime"` at all times, sharpest at
/// `expected_cases`. `method` is "least-squares", "bounded" (planned, needs `outcome_range`, certain), "scores", or "empirical-bernstein" (at any time,
/// certain). `overlap="restrict"` leaves rows as they are where an arm that changes was less probable than the minimum.
///
/// >>> import numpy as np, rarely
/// >>> arms = np.arange(600) % 2
/// >>> rewards = 0.5 * arms + np.random.default_rng(1).normal(size=600)
/// >>> gain = rarely.confirm(np.ones((600, 1)), arms, rewards, before=np.zeros(600), after=np.ones(600))
/// >>> gain.lower < 0.5 < gain.upper, gain.standard
/// (True, 'approximate')
#[pyfunction]
#[pyo3(signature = (
    X, arms, rewards, before, after, *, error_probability = 0.001, looks = None, candidates = 1, timing = "planned",
    expected_cases = None, clusters = None, propensities = None, predictions = None, minimum_propensity = None,
    outcome_range = None, method = None, overlap = "refuse"
))]
#[allow(non_snake_case, reason = "X, as everywhere in this package")]
#[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
pub(crate) fn confirm(
    py: Python<'_>,
    X: &Bound<'_, PyAny>,
    arms: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    before: &Bound<'_, PyAny>,
    after: &Bound<'_, PyAny>,
    error_probability: f64,
    looks: Option<Vec<u64>>,
    candidates: u32,
    timing: &str,
    expected_cases: Option<u64>,
    clusters: Option<&Bound<'_, PyAny>>,
    propensities: Option<&Bound<'_, PyAny>>,
    predictions: Option<&Bound<'_, PyAny>>,
    minimum_propensity: Option<f64>,
    outcome_range: Option<(f64, f64)>,
    method: Option<&str>,
    overlap: &str,
) -> PyResult<PyConfirmed> {
    let given = GivenContexts::take(X)?;
    let width = given.width();
    let contexts = given.block(py, width)?;
    let rewards = array::rewards(rewards)?;
    let rows = Rows {
        contexts,
        shape: Shape::new(2, width).map_err(|error| refused(py, &error))?,
        arms: arms_of(py, arms)?,
        rewards: rewards.values(),
        before: arms_of(py, before)?,
        after: arms_of(py, after)?,
    };
    let propensities = propensities.map(GivenContexts::take).transpose()?;
    let predictions = predictions.map(GivenContexts::take).transpose()?;
    let clusters = clusters.map(array::clusters).transpose()?;
    let rows = rows.with_arms(propensities.as_ref().map(GivenContexts::width)).map_err(|error| refused(py, &error))?;
    if candidates == 0 {
        return Err(needs(py, "a candidate", "give the number of candidates that are confirmed on these rows"));
    }
    let settings = ConfirmSettings {
        delta: ErrorProbability::new(error_probability).map_err(|error| refused(py, &error))?,
        candidates,
        looks,
        timing: timing_of(timing)?,
        expected_cases,
        outcome_range,
        minimum_propensity,
        restrict: match overlap {
            "refuse" => false,
            "restrict" => true,
            other => return Err(unknown("overlap", other, "\"refuse\" or \"restrict\"")),
        },
    };
    let method = method.unwrap_or(if propensities.is_some() { "scores" } else { "least-squares" });
    match (method, &propensities) {
        ("least-squares", _) => settings.least_squares(py, &rows, clusters.as_ref()),
        ("bounded", _) => settings.bounded(py, &rows),
        ("scores" | "empirical-bernstein", Some(propensities)) => {
            let probabilities = propensities.rows(py, rows.shape.arms())?.values();
            let predictions = predictions.as_ref().map(|given| given.rows(py, rows.shape.arms())).transpose()?;
            let predictions = predictions.map(array::ContextRows::values);
            settings.scores(py, &rows, probabilities, predictions, method == "empirical-bernstein")
        }
        ("scores" | "empirical-bernstein", None) => {
            Err(needs(py, "propensities", "give the probability of every arm, a row for each case"))
        }
        (other, _) => {
            Err(unknown("method", other, "\"least-squares\", \"bounded\", \"scores\" or \"empirical-bernstein\""))
        }
    }
}

/// The rows, checked as far as arms go.
struct Rows<'a> {
    contexts: Contexts<'a>,
    shape: Shape,
    arms: Vec<Arm>,
    rewards: &'a [f64],
    before: Vec<Arm>,
    after: Vec<Arm>,
}

impl Rows<'_> {
    /// With as many arms as are named anywhere, or as there are propensities.
    fn with_arms(self, columns: Option<usize>) -> Result<Self, rarely_core::SettingsError> {
        let named = self.arms.iter().chain(&self.before).chain(&self.after).map(|arm| arm.index() + 1).max();
        let arms = columns.unwrap_or(2).max(named.unwrap_or(0));
        Ok(Self { shape: Shape::new(arms, self.shape.dimension())?, ..self })
    }

    fn log(&self) -> Result<CaseLog<'_>, ConfirmError> {
        CaseLog::new(self.shape, self.contexts, &self.arms, self.rewards)
    }

    fn confirmed(&self, confirmed: &Confirmed, changed: usize) -> PyConfirmed {
        let cases = self.arms.len();
        PyConfirmed {
            estimate: confirmed.interval.estimate,
            lower: confirmed.interval.lower,
            upper: confirmed.interval.upper,
            standard: confirmed.standard.to_string(),
            method: confirmed.method.to_string(),
            timing: confirmed.timing.to_string(),
            standard_error: confirmed.standard_error,
            degrees: confirmed.degrees,
            cases,
            changed_share: changed as f64 / cases.max(1) as f64,
        }
    }

    fn changed(&self) -> usize {
        self.before.iter().zip(&self.after).filter(|(before, after)| before != after).count()
    }
}

/// The keyword arguments.
struct ConfirmSettings {
    delta: ErrorProbability,
    candidates: u32,
    looks: Option<Vec<u64>>,
    timing: Timing,
    expected_cases: Option<u64>,
    outcome_range: Option<(f64, f64)>,
    minimum_propensity: Option<f64>,
    restrict: bool,
}

impl ConfirmSettings {
    fn budget(&self) -> ErrorBudget {
        ErrorBudget::new(self.delta).candidates(self.candidates)
    }

    fn look(&self, cases: usize) -> Result<Look, ConfirmError> {
        let cases = cases as u64;
        match &self.looks {
            None => Ok(Look::only(cases)),
            Some(sizes) => Ok(LookPlan::new(sizes.clone())?.look(cases)?),
        }
    }

    /// The number of cases that is expected, which must be fixed beforehand where it matters.
    fn expected(&self, py: Python<'_>) -> PyResult<u64> {
        self.expected_cases.ok_or_else(|| {
            needs(py, "expected_cases", "give the number of cases that was expected before the first was read")
        })
    }

    fn range(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        self.outcome_range
            .ok_or_else(|| needs(py, "outcome_range", "give the smallest and the largest possible outcome"))
    }

    fn least_squares(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        clusters: Option<&NumberLine<'_, i64>>,
    ) -> PyResult<PyConfirmed> {
        let expected = if self.timing == Timing::Anytime { Some(self.expected(py)?) } else { None };
        // Clusters are names: only whether two are equal matters.
        #[allow(clippy::cast_sign_loss)]
        let clusters: Option<Vec<u64>> = clusters.map(|line| line.values().iter().map(|&name| name as u64).collect());
        let confirmed = || {
            let log = rows.log()?;
            let functional = gain_functional(rows.shape, rows.contexts, &rows.before, &rows.after)?;
            let confirmation = match &clusters {
                Some(clusters) => Confirmation::clustered(log, clusters)?,
                None => Confirmation::new(log),
            };
            match expected {
                None => confirmation.planned(&functional, self.budget(), self.look(rows.arms.len())?),
                Some(cases) => {
                    let (arms, dimension) = (rows.shape.arms() as f64, rows.shape.dimension() as f64);
                    let degrees = (cases as f64 / arms - dimension).max(1.0);
                    let mixture = Mixture::sharpest_at(cases as f64, degrees, self.budget().share())?;
                    confirmation.anytime(&functional, self.budget(), mixture)
                }
            }
        };
        let confirmed = py.detach(confirmed).map_err(|error| refused(py, &error))?;
        Ok(rows.confirmed(&confirmed, rows.changed()))
    }

    fn bounded(&self, py: Python<'_>, rows: &Rows<'_>) -> PyResult<PyConfirmed> {
        let (low, high) = self.range(py)?;
        if self.timing == Timing::Anytime {
            return Err(error::CONFIRM.with_help(
                py,
                "bounded sets hold at planned looks only",
                "give timing=\"planned\"",
            ));
        }
        if let Some(row) = rows.rewards.iter().position(|reward| !(low..=high).contains(reward)) {
            let message = format!("row {row}: the outcome is not in the declared range from {low} to {high}");
            return Err(error::CONFIRM.says(py, message));
        }
        let confirmed = || {
            let noise = PlannedNoise::Declared(Noise::new(0.5 * (high - low))?);
            let fit = LeastSquares::fit(&rows.log()?);
            let delta = ErrorProbability::new(self.budget().share())?;
            let sets = PlannedSets::new(&fit, noise, delta, self.look(rows.arms.len())?)?;
            sets.gain(rows.contexts, &rows.before, &rows.after)
        };
        let confirmed = py.detach(confirmed).map_err(|error: ConfirmError| refused(py, &error))?;
        Ok(rows.confirmed(&confirmed, rows.changed()))
    }

    fn scores(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        propensities: &[f64],
        predictions: Option<&[f64]>,
        bernstein: bool,
    ) -> PyResult<PyConfirmed> {
        let (low, high) = self.range(py)?;
        let minimum = self.minimum_propensity.ok_or_else(|| {
            needs(py, "minimum_propensity", "give what every arm that changes was drawn with, at least, by design")
        })?;
        let (arms, cases) = (rows.shape.arms(), rows.arms.len());
        let settings = ScoreSettings::new(arms, minimum, low, high).map_err(|error| refused(py, &error))?;
        // Only sequences depend on what was expected.
        let planned = self.timing == Timing::Planned && !bernstein;
        let expected = if planned { cases as u64 } else { self.expected(py)? };
        // A log that does not fit is refused with the message of the linear model.
        rows.log().map_err(|error| refused(py, &error))?;
        let lengths = [
            ("propensities", propensities.len() / arms),
            ("predictions", predictions.map_or(cases, |values| values.len() / arms)),
            ("arms before", rows.before.len()),
            ("arms after", rows.after.len()),
        ];
        if let Some(&(name, found)) = lengths.iter().find(|(_, found)| *found != cases) {
            return Err(refused(py, &ConfirmError::Length { name, expected: cases, found }));
        }
        let middle = vec![0.5 * (low + high); arms];
        let mut scores = Scores::new(settings, self.budget(), expected);
        let mut changed = 0;
        for row in 0..cases {
            let part = row * arms..(row + 1) * arms;
            let mut case = ScoredCase {
                arm: rows.arms[row],
                reward: rows.rewards[row],
                propensities: &propensities[part.clone()],
                predictions: predictions.map_or(&middle[..], |values| &values[part]),
                before: RuleChoice::Arm(rows.before[row]),
                after: RuleChoice::Arm(rows.after[row]),
            };
            if self.restrict && !settings.overlaps(&case) {
                case.after = case.before;
            }
            changed += usize::from(case.after != case.before);
            let place = format!("row {row}: ");
            scores.add(&case).map_err(|problem| error::CONFIRM.explain_at(py, &place, &problem))?;
        }
        let confirmed = if bernstein {
            Ok(scores.empirical_bernstein())
        } else if planned {
            self.look(cases).and_then(|look| scores.planned(look))
        } else {
            scores.asymptotic()
        };
        Ok(rows.confirmed(&confirmed.map_err(|error| refused(py, &error))?, changed))
    }
}

/// A line of arms.
fn arms_of(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Vec<Arm>> {
    let arm = |(row, &number): (usize, &i64)| {
        let unknown = || error::CONFIRM.says(py, format!("row {row}: arm {number} does not exist"));
        usize::try_from(number).map(Arm::new).map_err(|_| unknown())
    };
    array::arms(given)?.values().iter().enumerate().map(arm).collect()
}

fn timing_of(name: &str) -> PyResult<Timing> {
    match name {
        "planned" => Ok(Timing::Planned),
        "anytime" => Ok(Timing::Anytime),
        other => Err(unknown("timing", other, "\"planned\" or \"anytime\"")),
    }
}

fn refused(py: Python<'_>, error: &impl Explain) -> PyErr {
    error::CONFIRM.explain(py, error)
}

fn needs(py: Python<'_>, what: &str, help: &str) -> PyErr {
    error::CONFIRM.with_help(py, format!("{what} is needed"), help)
}

fn unknown(name: &str, found: &str, known: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} is {found:?}, but must be {known}"))
}

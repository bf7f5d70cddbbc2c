//! What is run, as Python gives it: a world, algorithms of the table and policies of Python's, and assumptions.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rarely_core::{Algorithm, Certificates, Profile, UnknownNoise};
use rarely_data::Counterfactuals;
use rarely_lab::{
    Assumptions, Contestant, ContestantResult, CounterfactualTable, Experiment, ExperimentDescription, ExperimentError,
    NoiseSource, NormBound, RunContext, WorldProperties, WorldSource, frontier,
};

use super::player::PythonAlgorithm;
use crate::error;

/// An experiment with its contestants.
pub(super) struct Setup {
    pub(super) experiment: Experiment,
    pub(super) contestants: Vec<Contestant>,
    assumptions: Assumptions,
    noise: f64,
    noise_source: Option<&'static str>,
    label: Option<String>,
    /// The call, as its user wrote it.
    command: String,
}

/// An algorithm as Python gives it: a name of the table, or a name with what makes its player for each run and its block.
#[derive(FromPyObject)]
enum GivenAlgorithm {
    Name(String),
    Policy((String, Py<PyAny>, usize)),
}

/// A table of people: its label, and rows of contexts, outcomes and expected outcomes.
type GivenTable<'py> = (String, PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>);

impl Setup {
    pub(super) fn of(given: &Bound<'_, PyDict>, told: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = given.py();
        let assumptions = assumptions(told)?;
        let (source, label, noise) = source(given)?;
        let (noise, noise_source) = match (assumptions.declared_noise, noise, &source) {
            (Some(declared), _, WorldSource::Tables(_)) => (declared, None),
            (_, Some(noise), _) => (noise, None),
            _ => {
                let (noise, from) = source.noise().map_err(|error| error::EXPERIMENT.explain(py, &error))?;
                (noise.unwrap_or(1.0), from.map(NoiseSource::words))
            }
        };
        let contestants = contestants(py, get(given, "algorithms")?.extract()?, &source, &assumptions, noise)?;
        let core: Vec<Algorithm> = contestants.iter().filter_map(|contestant| contestant.algorithm.core()).collect();
        assumptions.check(&core).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
        let certificates = get(given, "certificates")?.extract::<bool>()?;
        let properties = WorldProperties {
            late: get(given, "late")?.extract()?,
            missing: get(given, "missing")?.extract()?,
            drift: get(given, "drift")?.extract()?,
            batch: get(given, "batch")?.extract()?,
        };
        let experiment = Experiment {
            rounds: get(given, "rounds")?.extract()?,
            certificates: if certificates { Certificates::Full } else { Certificates::Brief },
            properties,
            ..Experiment::new(source, get(given, "runs")?.extract()?, get(given, "seed")?.extract()?)
        };
        let command = get(given, "command")?.extract()?;
        Ok(Self { experiment, contestants, assumptions, noise, noise_source, label, command })
    }

    /// It, if every contestant can play.
    pub(super) fn checked(self, py: Python<'_>) -> PyResult<Self> {
        self.experiment.check(&self.contestants).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
        Ok(self)
    }

    /// Runs of all contestants.
    pub(super) fn runs(&self) -> u64 {
        self.experiment.runs * self.contestants.len() as u64
    }

    /// Plays them.
    pub(super) fn run(&self, context: &RunContext<'_>) -> Result<Vec<ContestantResult>, ExperimentError> {
        self.experiment.run(&self.contestants, context)
    }

    /// The same with every algorithm of the table over the settings that trade regret for changes.
    pub(super) fn with_candidates(self) -> Self {
        let candidates = |contestant: Contestant| match contestant.algorithm.core() {
            Some(algorithm) => frontier::candidates_of(&[algorithm], self.noise),
            None => vec![contestant],
        };
        let contestants = self.contestants.into_iter().flat_map(candidates).collect();
        Self { contestants, ..self }
    }

    /// What was run.
    pub(super) fn describe<'a>(
        &self,
        py: Python<'_>,
        results: impl IntoIterator<Item = &'a ContestantResult>,
    ) -> PyResult<ExperimentDescription> {
        let described = self.experiment.describe(self.command.clone(), &self.assumptions, results);
        let mut described = described.map_err(|error| error::EXPERIMENT.explain(py, &error))?;
        described.declared_noise_source = self.noise_source;
        described.environment.label.clone_from(&self.label);
        Ok(described)
    }
}

fn get<'py>(given: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let missing = || error::EXPERIMENT.says(given.py(), format!("{name} is missing"));
    given.get_item(name)?.ok_or_else(missing)
}

/// Where contexts and rewards come from, what titles call it, and the noise that is known of it.
fn source(given: &Bound<'_, PyDict>) -> PyResult<(WorldSource, Option<String>, Option<f64>)> {
    let py = given.py();
    let of_tables = |tables| -> PyResult<WorldSource> {
        let tables = CounterfactualTable::new(tables).map_err(|error| error::DATA.explain(py, &error))?;
        Ok(WorldSource::Tables(Arc::new(tables)))
    };
    let path: Option<PathBuf> = get(given, "table")?.extract()?;
    if let Some(path) = path {
        let table = rarely_data::table::read(&path).map_err(|error| error::DATA.explain(py, &error))?;
        return Ok((of_tables(vec![table])?, None, None));
    }
    let tables: Option<Vec<GivenTable<'_>>> = get(given, "tables")?.extract()?;
    if let Some(tables) = tables {
        let label = tables.first().map(|(label, ..)| label.clone());
        let tables = tables.into_iter().map(|table| people(py, table)).collect::<PyResult<_>>()?;
        return Ok((of_tables(tables)?, label, get(given, "noise")?.extract()?));
    }
    let source = WorldSource::Synthetic {
        name: get(given, "environment")?.extract()?,
        arms: get(given, "arms")?.extract()?,
        dimension: get(given, "dimension")?.extract()?,
        noise: get(given, "noise")?.extract()?,
        strength: get(given, "strength")?.extract()?,
    };
    Ok((source, None, None))
}

fn people(py: Python<'_>, (label, contexts, outcomes, means): GivenTable<'_>) -> PyResult<Counterfactuals> {
    let (contexts, outcomes, means) = (contexts.as_array(), outcomes.as_array(), means.as_array());
    let (people, dimension) = contexts.dim();
    if outcomes.dim() != means.dim() || outcomes.nrows() != people || people == 0 {
        let shapes = format!("{:?}, {:?} and {:?}", contexts.dim(), outcomes.dim(), means.dim());
        let message = format!("contexts, outcomes and means of {label} have the shapes {shapes}");
        return Err(error::DATA.with_help(py, message, "give one row for each person in all of them"));
    }
    if let Some(value) = contexts.iter().chain(&outcomes).chain(&means).find(|value| !value.is_finite()) {
        return Err(error::DATA.says(py, format!("{label} holds {value}, which is not a finite number")));
    }
    Ok(Counterfactuals {
        columns: (0..dimension).map(|column| format!("x{column}")).collect(),
        contexts: contexts.iter().copied().collect(),
        arms: outcomes.ncols(),
        outcomes: outcomes.iter().copied().collect(),
        means: means.iter().copied().collect(),
        label,
    })
}

/// The contestants; an algorithm of the table plays once.
fn contestants(
    py: Python<'_>,
    given: Vec<GivenAlgorithm>,
    source: &WorldSource,
    assumptions: &Assumptions,
    noise: f64,
) -> PyResult<Vec<Contestant>> {
    let mut contestants: Vec<Contestant> = Vec::new();
    for algorithm in given {
        let added = match algorithm {
            GivenAlgorithm::Name(name) if name == "all" => source.algorithms(),
            GivenAlgorithm::Name(name) => {
                vec![name.parse::<Algorithm>().map_err(|error| error::SETTINGS.explain(py, &error))?]
            }
            GivenAlgorithm::Policy((name, make, block)) => {
                let mut contestant = Contestant::custom(name, PythonAlgorithm::new(make, block));
                // Late outcomes are learned alike by everybody.
                contestant.declared.delay = assumptions.delay.unwrap_or_default();
                contestants.push(contestant);
                continue;
            }
        };
        let mut added = assumptions.contestants(&added, noise);
        added.retain(|new| !contestants.contains(new));
        contestants.extend(added);
    }
    if contestants.is_empty() {
        Err(error::EXPERIMENT.with_help(py, "there is no algorithm to run", "name one, or \"all\""))
    } else {
        Ok(contestants)
    }
}

fn assumptions(told: &Bound<'_, PyDict>) -> PyResult<Assumptions> {
    let py = told.py();
    let number =
        |name: &str| -> PyResult<Option<f64>> { told.get_item(name)?.map_or(Ok(None), |value| value.extract()) };
    let text =
        |name: &str| -> PyResult<Option<String>> { told.get_item(name)?.map_or(Ok(None), |value| value.extract()) };
    let profile = match text("profile")?.as_deref() {
        None | Some("rigorous") => Profile::Rigorous,
        Some("published") => Profile::Published,
        Some(other) => {
            let message = format!("there is no profile {other:?}");
            return Err(error::EXPERIMENT.with_help(py, message, "use \"rigorous\" or \"published\""));
        }
    };
    let explore = text("explore")?.map(|explore| explore.parse()).transpose();
    let sets = text("sets")?.map(|sets| sets.parse()).transpose();
    let delay = text("delay")?.map(|delay| delay.parse()).transpose();
    let (declared_noise, unknown_noise) = match text("declared_noise") {
        Ok(Some(name)) => {
            (None, Some(name.parse::<UnknownNoise>().map_err(|error| error::SETTINGS.explain(py, &error))?))
        }
        _ => (number("declared_noise")?, None),
    };
    let norm_bound = match text("norm_bound") {
        Ok(Some(auto)) if auto == "auto" => Some(NormBound::Auto),
        Ok(Some(other)) => {
            return Err(
                error::EXPERIMENT.says(py, format!("norm_bound is {other:?}, but must be a number or \"auto\""))
            );
        }
        _ => number("norm_bound")?.map(NormBound::Value),
    };
    Ok(Assumptions {
        profile,
        explore: explore.map_err(|error| error::SETTINGS.explain(py, &error))?,
        penalty: number("penalty")?,
        declared_noise,
        unknown_noise,
        norm_bound,
        norm_bound_values: None,
        prior_mean: number("prior_mean")?,
        error_probability: number("error_probability")?,
        sets: sets.map_err(|error| error::SETTINGS.explain(py, &error))?,
        delay: delay.map_err(|error| error::SETTINGS.explain(py, &error))?,
        tolerance: number("tolerance")?,
    })
}

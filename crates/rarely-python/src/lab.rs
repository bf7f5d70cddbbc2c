//! `simulate` and `reproduce`: the lab's experiments, watched from Python.

mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rarely_core::{Algorithm, Certificates, Profile, UnknownNoise};
use rarely_data::ihdp;
use rarely_lab::report::{reproduction as shown, results as figures};
use rarely_lab::reproduction::{FIGURE_FOUR_REALISATIONS, Reproduced, ReproductionSize, Trial, TrialResults, trials};
use rarely_lab::{
    Assumptions, CounterfactualTable, Experiment, NormBound, RunContext, RunJournal, WorldSource, results,
};
use rarely_output::{ColumnTable, OutputDirectory, OutputError, TableColumn};

use self::watch::Watched;
use crate::error;
use crate::evidence::plain;
use crate::figure::PyFigure;

/// The settings, the tables, the figure and the text of a simulation.
type Simulated<'py> = (Bound<'py, PyAny>, Bound<'py, PyDict>, PyFigure, String);

/// Runs algorithms against each other. `told` has the assumptions, by name.
#[pyfunction]
#[pyo3(signature = (world, rounds, runs, algorithms, told, *, certificates, seed, threads, out, progress))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function in front of it")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    world: &Bound<'py, PyDict>,
    rounds: Option<u64>,
    runs: u64,
    algorithms: Vec<String>,
    told: &Bound<'py, PyDict>,
    certificates: bool,
    seed: u64,
    threads: usize,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Simulated<'py>> {
    let (source, true_noise) = source(world)?;
    let algorithms = chosen(py, &algorithms)?;
    let assumptions = assumptions(told)?;
    let contestants = assumptions.contestants(&algorithms, true_noise);
    let certificates = if certificates { Certificates::Full } else { Certificates::Brief };
    let experiment = Experiment { rounds, certificates, ..Experiment::new(source, runs, seed) };
    experiment.check(&contestants).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    let (directory, journal) = kept(py, out)?;
    let watched = Watched { total: runs * contestants.len() as u64, threads, progress, journal: &journal };
    let outcomes = watched.run(py, |context| experiment.run(&contestants, context))?;
    let settings =
        experiment.describe(&assumptions, &algorithms).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    if let Some(directory) = &directory {
        py.detach(|| figures::write(directory, &settings, &outcomes))
            .map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    }
    journal.finish()?;
    let (title, note) = (figures::text::title(&settings), figures::text::note(&settings));
    let figure = py.detach(|| figures::four_panels(&title, &outcomes, Some(note.clone())));
    let tables = PyDict::new(py);
    tables.set_item("summary", columns(py, &results::summary(&outcomes))?)?;
    tables.set_item("traces", columns(py, &results::traces(&outcomes))?)?;
    tables.set_item("changes", columns(py, &results::changes(&outcomes))?)?;
    let words = figures::text::experiment(&settings, &outcomes, None);
    Ok((plain(py, &settings)?, tables, PyFigure::new("figure", note, figure), words))
}

/// Claims and errata as plain objects, the figures, the page and the text.
type Reproduction<'py> = (Bound<'py, PyAny>, Bound<'py, PyList>, String, String);

/// Reproduces the paper.
#[pyfunction]
#[pyo3(signature = (data, *, full, runs, rounds, seed, threads, out, progress))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function in front of it")]
pub(crate) fn reproduce(
    py: Python<'_>,
    data: Vec<PathBuf>,
    full: bool,
    runs: Option<u64>,
    rounds: u64,
    seed: u64,
    threads: usize,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Reproduction<'_>> {
    let children =
        py.detach(|| if data.is_empty() { ihdp::realisations(FIGURE_FOUR_REALISATIONS) } else { ihdp::read(&data) });
    let children = children.map_err(|error| error::DATA.explain(py, &error))?;
    let command = call(&data, full, runs, rounds, seed);
    let size = ReproductionSize { full, at_most: runs.unwrap_or(u64::MAX), rounds, seed };
    let trials = trials(size, &children).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    for trial in &trials {
        trial.experiment.check(&trial.contestants).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    }
    let (directory, journal) = kept(py, out)?;
    let total = trials.iter().map(Trial::runs).sum();
    let watched = Watched { total, threads, progress, journal: &journal };
    let results = watched.run(py, |context| TrialResults::of(size, &trials, context))?;
    let context = RunContext { journal: &journal, ..RunContext::quiet() };
    let judged = py.detach(|| Reproduced::judge(results, children, &context));
    let reproduced = judged.map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    if let Some(directory) = &directory {
        py.detach(|| shown::write(directory, &reproduced, &command))
            .map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    }
    journal.finish()?;
    let pictures = py.detach(|| shown::figures(&reproduced));
    let page = py.detach(|| shown::page(&reproduced, &pictures, &command));
    let list = PyList::empty(py);
    for picture in pictures {
        list.append(PyFigure::new(picture.name, picture.caption, picture.figure).into_pyobject(py)?)?;
    }
    Ok((plain(py, &reproduced.document())?, list, page, shown::text(&reproduced, None)))
}

/// The call that gives the same report. Threads and directory do not change it.
fn call(data: &[PathBuf], full: bool, runs: Option<u64>, rounds: u64, seed: u64) -> String {
    let mut settings = Vec::new();
    if !data.is_empty() {
        // Rust's quotation marks and escapes are Python's.
        let files: Vec<String> = data.iter().map(|path| format!("{:?}", path.to_string_lossy())).collect();
        settings.push(format!("data=[{}]", files.join(", ")));
    }
    settings.push(format!("full={}", if full { "True" } else { "False" }));
    settings.extend(runs.map(|runs| format!("runs={runs}")));
    settings.extend([format!("rounds={rounds}"), format!("seed={seed}")]);
    format!("rarely.reproduce({})", settings.join(", "))
}

/// The output directory, and the runs already finished in it.
fn kept(py: Python<'_>, out: Option<PathBuf>) -> PyResult<(Option<OutputDirectory>, RunJournal)> {
    let wrong = |error: OutputError| error::EXPERIMENT.explain(py, &error);
    let directory = out.as_deref().map(OutputDirectory::create).transpose().map_err(wrong)?;
    let journal = directory.as_ref().map_or_else(|| Ok(RunJournal::none()), RunJournal::open).map_err(wrong)?;
    Ok((directory, journal))
}

/// Where contexts and rewards come from, and the noise that is declared for them.
fn source(world: &Bound<'_, PyDict>) -> PyResult<(WorldSource, f64)> {
    let py = world.py();
    let get =
        |name: &str| world.get_item(name)?.ok_or_else(|| error::EXPERIMENT.says(py, format!("{name} is missing")));
    let table = get("table")?;
    if !table.is_none() {
        let path: PathBuf = table.extract()?;
        let table = rarely_data::table::read(&path).map_err(|error| error::DATA.explain(py, &error))?;
        let table = CounterfactualTable::new(vec![table]).map_err(|error| error::DATA.explain(py, &error))?;
        return Ok((WorldSource::Tables(Arc::new(table)), 1.0));
    }
    let noise = get("noise")?.extract()?;
    let source = WorldSource::Synthetic {
        name: get("environment")?.extract()?,
        arms: get("arms")?.extract()?,
        dimension: get("dimension")?.extract()?,
        noise,
        strength: get("strength")?.extract()?,
    };
    Ok((source, noise))
}

fn chosen(py: Python<'_>, names: &[String]) -> PyResult<Vec<Algorithm>> {
    if names == ["all"] {
        return Ok(Algorithm::all().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let algorithm = name.parse().map_err(|error| error::SETTINGS.explain(py, &error))?;
        if !chosen.contains(&algorithm) {
            chosen.push(algorithm);
        }
    }
    if chosen.is_empty() {
        Err(error::EXPERIMENT.with_help(py, "there is no algorithm to run", "name one, or \"all\""))
    } else {
        Ok(chosen)
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
        prior_mean: number("prior_mean")?,
        error_probability: number("error_probability")?,
        sets: sets.map_err(|error| error::SETTINGS.explain(py, &error))?,
        delay: delay.map_err(|error| error::SETTINGS.explain(py, &error))?,
        tolerance: number("tolerance")?,
    })
}

/// A table as columns by name: words as a list, numbers as arrays, NaN where one is missing.
fn columns<'py>(py: Python<'py>, frame: &ColumnTable) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for (name, column) in frame.columns() {
        match column {
            TableColumn::Text(values) => named.set_item(name, PyList::new(py, values)?)?,
            TableColumn::Count(values) => {
                let values: Vec<i64> = values.iter().map(|&value| i64::try_from(value).unwrap_or(i64::MAX)).collect();
                named.set_item(name, values.into_pyarray(py))?;
            }
            TableColumn::Number(values) => {
                let values = values.iter().map(|value| value.unwrap_or(f64::NAN));
                named.set_item(name, PyArray1::from_iter(py, values))?;
            }
        }
    }
    Ok(named)
}

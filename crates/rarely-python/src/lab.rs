//! `simulate`, `sweep`, `frontier` and `reproduce`: the lab's experiments, watched from Python.

mod player;
mod setup;
mod watch;

use std::path::PathBuf;

use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rarely_data::ihdp;
use rarely_lab::report::{reproduction as reproduced, results as figures};
use rarely_lab::reproduction::{FIGURE_FOUR_REALISATIONS, Reproduced, ReproductionSize, Trial, TrialResults, trials};
use rarely_lab::results::LabelledResults;
use rarely_lab::sweep::{self, Sweep};
use rarely_lab::{ExperimentDescription, RunContext, RunJournal, frontier as points, results};
use rarely_output::{ColumnTable, OutputDirectory, OutputError, TableColumn};

use self::setup::Setup;
use self::watch::{Raise, Watched};
use crate::error;
use crate::evidence::plain;
use crate::figure::PyFigure;

/// The settings, the tables, the figure and the text of an experiment.
type Simulated<'py> = (Bound<'py, PyAny>, Bound<'py, PyDict>, PyFigure, String);

/// Where an experiment runs, and what was finished there before.
struct Session {
    directory: Option<OutputDirectory>,
    journal: RunJournal,
    threads: usize,
    progress: Option<Py<PyAny>>,
    run_traces: bool,
}

impl Session {
    /// To be called when the arguments have been checked: it creates the output directory.
    fn start(place: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = place.py();
        let get = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            Ok(place.get_item(name)?.unwrap_or_else(|| py.None().into_bound(py)))
        };
        let (directory, journal) = kept(py, get("out")?.extract()?)?;
        Ok(Self {
            directory,
            journal,
            threads: get("threads")?.extract()?,
            progress: get("progress")?.extract()?,
            run_traces: get("run_traces")?.extract()?,
        })
    }

    /// Does work of so many runs.
    fn run<T: Send, E: Raise + Send>(
        &self,
        py: Python<'_>,
        total: u64,
        work: impl FnOnce(&RunContext<'_>) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        let progress = self.progress.as_ref().map(|progress| progress.clone_ref(py));
        Watched { total, threads: self.threads, progress, journal: &self.journal }.run(py, work)
    }

    /// Writes the files, if there is a directory; then nothing is left to resume.
    fn finish(
        self,
        py: Python<'_>,
        write: impl FnOnce(&OutputDirectory, bool) -> Result<(), OutputError> + Send,
    ) -> PyResult<()> {
        if let Some(directory) = &self.directory {
            py.detach(|| write(directory, self.run_traces)).map_err(|error| error::EXPERIMENT.explain(py, &error))?;
        }
        Ok(self.journal.finish()?)
    }
}

/// Runs algorithms against each other. `given` has the world and what is run, `told` the assumptions, `place` where it runs, by name.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    given: &Bound<'py, PyDict>,
    told: &Bound<'py, PyDict>,
    place: &Bound<'py, PyDict>,
) -> PyResult<Simulated<'py>> {
    let setup = Setup::of(given, told)?.checked(py)?;
    let session = Session::start(place)?;
    let outcomes = session.run(py, setup.runs(), |context| setup.run(context))?;
    let settings = setup.describe(py, &outcomes)?;
    let (title, note) = (figures::text::title(&settings), figures::text::note(&settings));
    let figure = py.detach(|| figures::four_panels(&title, &outcomes, Some(note.clone())));
    let tables = run_tables(py, &[LabelledResults::plain(settings.seed, &outcomes)], session.run_traces)?;
    tables.set_item("summary", columns(py, &results::summary(&outcomes))?)?;
    tables.set_item("traces", columns(py, &results::traces(&outcomes))?)?;
    tables.set_item("changes", columns(py, &results::changes(&outcomes))?)?;
    let words = figures::text::experiment(&settings, &outcomes, None);
    session.finish(py, |directory, run_traces| figures::write(directory, &settings, &outcomes, run_traces))?;
    shown(py, &settings, tables, (note, figure), words)
}

/// Runs an experiment for every combination of values; `vary` has a line for each setting, such as `penalty=0.1,1`.
#[pyfunction]
#[pyo3(name = "sweep")]
pub(crate) fn run_sweep<'py>(
    py: Python<'py>,
    vary: Vec<String>,
    given: &Bound<'py, PyDict>,
    told: &Bound<'py, PyDict>,
    place: &Bound<'py, PyDict>,
) -> PyResult<Simulated<'py>> {
    let setup = Setup::of(given, told)?;
    let axes = vary.iter().map(|axis| axis.parse()).collect::<Result<Vec<sweep::SweepAxis>, _>>();
    let axes = axes.map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    let sweep = Sweep::new(&setup.experiment, &setup.contestants, &axes);
    let sweep = sweep.map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    let session = Session::start(place)?;
    let cells = session.run(py, sweep.runs(), |context| sweep.run(context))?;
    let mut settings = setup.describe(py, cells.iter().flat_map(|cell| &cell.results))?;
    settings.vary.clone_from(&axes);
    let (title, note) = (figures::text::title(&settings), figures::text::note(&settings));
    let figure = py.detach(|| figures::sweep(&title, &axes, &cells, Some(note.clone())));
    let tables = run_tables(py, &sweep::labelled(&axes, &cells, settings.seed), session.run_traces)?;
    tables.set_item("cells", columns(py, &sweep::frame(&axes, &cells))?)?;
    let words = figures::text::sweep(&settings, &axes, &cells, None);
    session.finish(py, |directory, run_traces| figures::write_sweep(directory, &settings, &cells, run_traces))?;
    shown(py, &settings, tables, (note, figure), words)
}

/// Regret against changes. Algorithms of the table play over the settings that trade one for the other.
#[pyfunction]
pub(crate) fn frontier<'py>(
    py: Python<'py>,
    given: &Bound<'py, PyDict>,
    told: &Bound<'py, PyDict>,
    place: &Bound<'py, PyDict>,
) -> PyResult<Simulated<'py>> {
    let setup = Setup::of(given, told)?.with_candidates().checked(py)?;
    let session = Session::start(place)?;
    let outcomes = session.run(py, setup.runs(), |context| setup.run(context))?;
    let settings = setup.describe(py, &outcomes)?;
    let all = points::points(&outcomes);
    let title = figures::text::frontier_title(&settings);
    let figure = py.detach(|| figures::frontier(&title, &all, None));
    let tables = run_tables(py, &[LabelledResults::plain(settings.seed, &outcomes)], session.run_traces)?;
    tables.set_item("points", columns(py, &points::frame(&all))?)?;
    let runs = usize::try_from(settings.runs).unwrap_or(usize::MAX);
    let words = format!("{title}\n\n{}", figures::text::frontier(&all, runs, None));
    session.finish(py, |directory, run_traces| figures::write_frontier(directory, &settings, &outcomes, run_traces))?;
    shown(py, &settings, tables, (title, figure), words)
}

/// What Python gets of an experiment.
fn shown<'py>(
    py: Python<'py>,
    settings: &ExperimentDescription,
    tables: Bound<'py, PyDict>,
    (caption, figure): (String, rarely_plot::Figure),
    words: String,
) -> PyResult<Simulated<'py>> {
    let figure = PyFigure::new("figure", caption, figure).made_by(settings.made_by().to_string());
    Ok((plain(py, settings)?, tables, figure, words))
}

/// Every run by itself and every pair of contestants; the traces of the runs, if they were asked for.
fn run_tables<'py>(py: Python<'py>, parts: &[LabelledResults<'_>], run_traces: bool) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    tables.set_item("runs", columns(py, &results::runs(parts))?)?;
    tables.set_item("comparisons", columns(py, &results::comparisons(parts))?)?;
    if run_traces {
        tables.set_item("run_traces", columns(py, &results::run_traces(parts))?)?;
    }
    Ok(tables)
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
    let judged = judged.map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    if let Some(directory) = &directory {
        py.detach(|| reproduced::write(directory, &judged, &command))
            .map_err(|error| error::EXPERIMENT.explain(py, &error))?;
    }
    journal.finish()?;
    let pictures = py.detach(|| reproduced::figures(&judged));
    let page = py.detach(|| reproduced::page(&judged, &pictures, &command));
    let list = PyList::empty(py);
    for picture in pictures {
        list.append(PyFigure::new(picture.name, picture.caption, picture.figure).into_pyobject(py)?)?;
    }
    Ok((plain(py, &judged.document())?, list, page, reproduced::text(&judged, None)))
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

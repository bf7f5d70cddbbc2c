//! Long work in other threads, while Python's own thread hears Ctrl-C and shows how far it is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use rarely_lab::sweep::SweepError;
use rarely_lab::{CustomError, ExperimentError, PlayError, RunContext, RunJournal};

use crate::error;

/// Time between two checks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// An error of the lab as Python's exception. What a policy of Python's raised is raised again as it is, with a note.
pub(super) trait Raise {
    fn raise(self, py: Python<'_>) -> PyErr;
}

impl Raise for ExperimentError {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Play { name, run, source: PlayError::Custom(source) } => {
                again(py, source, &format!("{name} raised this in run {run}"))
            }
            Self::Custom { name, source } => again(py, source, &format!("{name} raised this when it was made")),
            other => error::EXPERIMENT.explain(py, &other),
        }
    }
}

impl Raise for SweepError {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Cell { source, .. }
                if matches!(
                    source,
                    ExperimentError::Play { source: PlayError::Custom(_), .. } | ExperimentError::Custom { .. }
                ) =>
            {
                source.raise(py)
            }
            other => error::EXPERIMENT.explain(py, &other),
        }
    }
}

fn again(py: Python<'_>, error: CustomError, note: &str) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(raised) => {
            // Before Python 3.11 an exception takes no notes.
            let _ = raised.value(py).call_method1("add_note", (note,));
            *raised
        }
        Err(other) => error::EXPERIMENT.says(py, format!("{note}: {other}")),
    }
}

/// Work on runs in other threads, with progress.
pub(super) struct Watched<'a> {
    pub(super) total: u64,
    /// 0: one for each core.
    pub(super) threads: usize,
    /// Called with the runs that are done, and all.
    pub(super) progress: Option<Py<PyAny>>,
    pub(super) journal: &'a RunJournal,
}

impl Watched<'_> {
    /// Does the work. At Ctrl-C, or if `progress` raises, it stops and raises that exception.
    pub(super) fn run<T: Send, E: Raise + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&RunContext<'_>) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool =
            pool.map_err(|error| error::EXPERIMENT.says(py, format!("the threads cannot be started: {error}")))?;
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let (finished, finish) = mpsc::channel();
        // A receiver cannot be lent to the code that runs without the interpreter; a lock can.
        let finish = Mutex::new(finish);
        let (journal, stop, done) = (self.journal, &stop, &done);
        let count = || {
            done.fetch_add(1, Ordering::Relaxed);
        };
        thread::scope(|scope| {
            let context = RunContext { journal, progress: &count, stop };
            // Sending fails only if Python's thread panicked.
            scope.spawn(move || drop(finished.send(pool.install(|| work(&context)))));
            let mut raised = None;
            loop {
                let came = py.detach(|| finish.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
                match (came, raised.take()) {
                    (Err(RecvTimeoutError::Timeout), None) => {
                        raised = py.check_signals().and_then(|()| self.tell(py, done)).err();
                        stop.store(raised.is_some(), Ordering::Relaxed);
                    }
                    (Err(RecvTimeoutError::Timeout), Some(error)) => raised = Some(error),
                    (_, Some(error)) => return Err(error),
                    (Ok(result), None) => {
                        self.tell(py, done)?;
                        return result.map_err(|error| error.raise(py));
                    }
                    (Err(RecvTimeoutError::Disconnected), None) => {
                        return Err(
                            error::EXPERIMENT.says(py, "a thread of the simulation panicked: this is a bug in rarely")
                        );
                    }
                }
            }
        })
    }

    fn tell(&self, py: Python<'_>, done: &AtomicU64) -> PyResult<()> {
        if let Some(progress) = &self.progress {
            progress.call1(py, (done.load(Ordering::Relaxed), self.total))?;
        }
        Ok(())
    }
}

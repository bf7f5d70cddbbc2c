//! Work that takes long: it runs in a thread, tells how far it is, and can be cancelled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rarely_data::DataError;
use rarely_error::Explain;

use crate::problem::Problem;
use crate::session::{Session, Shared};

/// A task that runs.
pub(crate) struct Task {
    id: u64,
    pub(crate) progress: Arc<Progress>,
    /// The page to go to if it is cancelled or fails.
    pub(crate) back: &'static str,
}

/// How far a task is.
#[derive(Default)]
pub(crate) struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
    phase: Mutex<&'static str>,
}

/// Why a task did not come to its end.
pub(crate) enum TaskEnd {
    Cancelled,
    Failed(Problem),
}

/// What a finished task changes.
pub(crate) type Finish = Box<dyn FnOnce(&mut Session) + Send>;

impl<E: Explain> From<E> for TaskEnd {
    fn from(error: E) -> Self {
        Self::Failed(Problem::of(&error))
    }
}

impl Progress {
    /// Begins another phase.
    pub(crate) fn begin(&self, phase: &'static str) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        self.done.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    /// Tells how far it is; an error if it was cancelled.
    pub(crate) fn watch(&self, (done, total): (u64, u64)) -> Result<(), Watched> {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(Watched::Cancelled) } else { Ok(()) }
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn phase(&self) -> &'static str {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is done, and what there is; the second is 0 if it is not known.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// Why reading a log stopped.
pub(crate) enum Watched {
    Cancelled,
    Data(DataError),
}

impl From<DataError> for Watched {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<Watched> for TaskEnd {
    fn from(watched: Watched) -> Self {
        match watched {
            Watched::Cancelled => Self::Cancelled,
            Watched::Data(error) => error.into(),
        }
    }
}

/// Starts a task; one that runs is cancelled. A task that was cancelled, or overtaken by another, changes nothing.
pub(crate) fn start(
    shared: &Arc<Shared>,
    session: &mut Session,
    (next, back): (&'static str, &'static str),
    work: impl FnOnce(&Progress) -> Result<Finish, TaskEnd> + Send + 'static,
) {
    session.cancel();
    session.problem = None;
    session.tasks_started += 1;
    let (id, progress) = (session.tasks_started, Arc::new(Progress::default()));
    session.task = Some(Task { id, progress: Arc::clone(&progress), back });
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| work(&progress))).unwrap_or_else(|_| {
            let help = "this is a mistake of the program; please report it with the lines in the terminal";
            Err(TaskEnd::Failed(Problem::new("the program failed", help)))
        });
        let mut session = shared.session();
        if session.task.as_ref().is_none_or(|task| task.id != id) {
            return;
        }
        session.task = None;
        match ended {
            Ok(finish) => {
                finish(&mut session);
                session.next = next;
            }
            Err(TaskEnd::Cancelled) => session.next = back,
            Err(TaskEnd::Failed(problem)) => session.fail(back, problem.without(&shared.uploads())),
        }
    });
}

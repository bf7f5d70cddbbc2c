//! What the desk knows: the file, the answers, the review, and the task that runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rarely_data::ColumnSpread;
use rarely_policy::{ColumnSketch, DataFormat, PolicyDocument};
use tempfile::TempDir;

use crate::access::Access;
use crate::answers::Answers;
use crate::document::Draft;
use crate::problem::Problem;
use crate::reviewing::FinishedReview;
use crate::task::Task;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) access: Access,
    /// The folder of temporary files; it is there as long as `temporary` has it.
    pub(crate) folder: PathBuf,
    temporary: Mutex<Option<TempDir>>,
    /// The folder that the page offers for saving.
    pub(crate) saves_in: PathBuf,
    session: Mutex<Session>,
}

/// The state of the desk. There is one person, so that there is one.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) log: Option<DeskLog>,
    pub(crate) sketched: Option<Arc<Sketched>>,
    pub(crate) draft: Option<Draft>,
    pub(crate) answers: Option<Answers>,
    /// The people of the log, for the document of the columns as they are now.
    pub(crate) people: Option<Arc<DeskPeople>>,
    pub(crate) review: Option<Arc<FinishedReview>>,
    /// The review before it, of the same file.
    pub(crate) earlier: Option<Arc<FinishedReview>>,
    pub(crate) task: Option<Task>,
    pub(crate) tasks_started: u64,
    /// The page to go to when nothing runs.
    pub(crate) next: &'static str,
    /// What went wrong last, and the page that shows it.
    pub(crate) problem: Option<(&'static str, Problem)>,
    /// The files that were saved last.
    pub(crate) saved: Vec<PathBuf>,
}

/// The log that the person gave.
#[derive(Debug, Clone)]
pub(crate) struct DeskLog {
    pub(crate) path: PathBuf,
    /// Its name in commands: that of an uploaded file, or the path that was typed.
    pub(crate) name: String,
    pub(crate) format: DataFormat,
}

/// What the columns of the log contain.
pub(crate) struct Sketched {
    pub(crate) columns: Vec<ColumnSketch>,
    pub(crate) spreads: Vec<ColumnSpread>,
    pub(crate) read_as: Option<String>,
}

/// The people of the log, as a review samples them.
pub(crate) struct DeskPeople {
    pub(crate) document: PolicyDocument,
    /// Row by row.
    pub(crate) contexts: Vec<f64>,
    pub(crate) rows: u64,
}

impl Shared {
    pub(crate) fn new(access: Access, temporary: TempDir, saves_in: PathBuf) -> Self {
        let folder = temporary.path().to_owned();
        let session = Mutex::new(Session { next: "/", ..Session::default() });
        Self { access, folder, temporary: Mutex::new(Some(temporary)), saves_in, session }
    }

    /// The folder of files that were uploaded.
    pub(crate) fn uploads(&self) -> PathBuf {
        self.folder.join("upload")
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels what runs and removes all temporary files.
    pub(crate) fn close(&self) {
        self.session().cancel();
        let temporary = self.temporary.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(temporary);
    }
}

impl Session {
    /// Begins with another file: whatever was known of the last one is forgotten.
    pub(crate) fn begin(&mut self, log: DeskLog) {
        self.cancel();
        let tasks_started = self.tasks_started;
        *self = Self { log: Some(log), next: "/", tasks_started, ..Self::default() };
    }

    /// Tells the running task to stop.
    pub(crate) fn cancel(&mut self) {
        if let Some(task) = self.task.take() {
            task.progress.cancel();
            self.next = task.back;
        }
    }

    /// What went wrong on this page; it is shown once.
    pub(crate) fn take_problem(&mut self, page: &str) -> Option<Problem> {
        self.problem.take_if(|(place, _)| *place == page).map(|(_, problem)| problem)
    }

    pub(crate) fn fail(&mut self, page: &'static str, problem: Problem) {
        self.problem = Some((page, problem));
        self.next = page;
    }
}

impl DeskLog {
    /// The name of the policy that a draft suggests, as `rarely policy init` does.
    pub(crate) fn stem(&self) -> String {
        let stem = Path::new(&self.name).file_stem();
        stem.map_or_else(|| "policy".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
}

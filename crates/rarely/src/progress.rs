//! Progress on a terminal, and what happens at Ctrl-C.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rarely_lab::{RunContext, RunJournal, runs_text};
use rarely_output::OutputDirectory;

use crate::failure::{Failure, OrFail as _};
use crate::output::say;

/// The threads, the output directory if there is one, and the runs already finished in it.
pub(crate) struct RunSession {
    pool: rayon::ThreadPool,
    directory: Option<OutputDirectory>,
    journal: RunJournal,
    /// Whether finished runs are those of the same command, which was stopped.
    resumes: bool,
    started: Instant,
    /// What its user wrote.
    command: String,
}

impl RunSession {
    /// To be called when the arguments have been checked: it creates the output directory, in which finished runs are saved and found.
    pub(crate) fn start(threads: Option<u16>, out: Option<&Path>, command: String) -> Result<Self, Failure> {
        let directory = out.map(OutputDirectory::create).transpose()?;
        let journal = match &directory {
            Some(directory) => RunJournal::open(directory)?,
            None => RunJournal::none(),
        };
        let stopped = match out {
            Some(path) => {
                let path = path.display();
                format!("stopped; finished runs are kept in {path}: run the same command again to resume")
            }
            None => "stopped; with --out DIR a stopped command can be resumed".to_owned(),
        };
        Self::new(threads, directory, journal, stopped, command)
    }

    /// The same, with runs that shards played.
    pub(crate) fn merging(
        threads: Option<u16>,
        out: Option<&Path>,
        journal: RunJournal,
        command: String,
    ) -> Result<Self, Failure> {
        let directory = out.map(OutputDirectory::create).transpose()?;
        let session = Self::new(threads, directory, journal, "stopped; merge again".to_owned(), command)?;
        Ok(Self { resumes: false, ..session })
    }

    fn new(
        threads: Option<u16>,
        directory: Option<OutputDirectory>,
        journal: RunJournal,
        stopped: String,
        command: String,
    ) -> Result<Self, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build();
        let pool = pool
            .or_fail_with(|| "the threads cannot be started".to_owned())
            .map_err(|failure| failure.help("try --threads 1"))?;
        ctrlc::set_handler(move || {
            say(&format!("\n{stopped}"));
            std::process::exit(130);
        })
        .or_fail_with(|| "Ctrl-C cannot be handled".to_owned())?;
        Ok(Self { pool, directory, journal, resumes: true, started: Instant::now(), command })
    }

    /// The command, as its user wrote it, without where it writes and how many threads it uses.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// The runs that were finished before.
    pub(crate) fn journal(&self) -> &RunJournal {
        &self.journal
    }

    /// Does `work` in the session's threads and shows its progress through `total` runs, of which `finished` were finished before.
    pub(crate) fn watch<T: Send>(
        &self,
        what: &str,
        (total, finished): (u64, usize),
        work: impl FnOnce(&RunContext<'_>) -> T + Send,
    ) -> T {
        if finished > 0 && self.resumes {
            say(&format!("resuming: {} were finished before", runs_text(finished as u64)));
        }
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} runs, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        let progress = || bar.inc(1);
        let context = RunContext { journal: &self.journal, progress: &progress, ..RunContext::quiet() };
        let result = self.pool.install(|| work(&context));
        bar.finish_and_clear();
        result
    }

    pub(crate) fn directory(&self) -> Option<&OutputDirectory> {
        self.directory.as_ref()
    }

    /// Removes the list of finished runs, once all files are written.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.journal.finish().or_fail_with(|| "the list of finished runs cannot be removed".to_owned())?;
        let place = self
            .directory
            .map_or_else(String::new, |directory| format!("; results are in {}", directory.path().display()));
        say(&format!("done in {:.1} s{place}", self.started.elapsed().as_secs_f64()));
        Ok(())
    }
}

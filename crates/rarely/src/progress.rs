//! Progress on a terminal, and what happens at Ctrl-C.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rarely_lab::{Bench, Journal, runs_text};
use rarely_output::OutputDirectory;

use crate::failure::{Failure, OrFail as _};
use crate::output::say;

/// Threads, a folder for results if one was asked for, and the runs that were finished in it.
pub(crate) struct Session {
    pool: rayon::ThreadPool,
    folder: Option<OutputDirectory>,
    journal: Journal,
    started: Instant,
}

impl Session {
    /// Everything that can be wrong with what was asked has been checked.
    pub(crate) fn start(threads: Option<u16>, out: Option<&Path>) -> Result<Self, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build();
        let pool = pool
            .or_fail_with(|| "the threads cannot be started".to_owned())
            .map_err(|failure| failure.help("try --threads 1"))?;
        let folder = out.map(OutputDirectory::create).transpose()?;
        let journal = match &folder {
            Some(folder) => Journal::open(folder)?,
            None => Journal::none(),
        };
        let kept = folder.as_ref().map(|folder| folder.path().display().to_string());
        ctrlc::set_handler(move || {
            say(&match &kept {
                Some(path) => {
                    format!("\nstopped; finished runs are kept in {path}: the same command goes on from there")
                }
                None => "\nstopped; with --out DIR a command can be stopped and goes on where it was".to_owned(),
            });
            std::process::exit(130);
        })
        .or_fail_with(|| "Ctrl-C cannot be handled".to_owned())?;
        Ok(Self { pool, folder, journal, started: Instant::now() })
    }

    /// The runs that were finished before.
    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Shows how far `total` runs are, of which `finished` were before, while `work` is done in the session's threads.
    pub(crate) fn watch<T: Send>(
        &self,
        what: &str,
        (total, finished): (u64, usize),
        work: impl FnOnce(&Bench<'_>) -> T + Send,
    ) -> T {
        if finished > 0 {
            say(&format!("going on: {} were finished before", runs_text(finished as u64)));
        }
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} runs, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        let progress = || bar.inc(1);
        let bench = Bench { journal: &self.journal, progress: &progress, ..Bench::quiet() };
        let result = self.pool.install(|| work(&bench));
        bar.finish_and_clear();
        result
    }

    pub(crate) fn folder(&self) -> Option<&OutputDirectory> {
        self.folder.as_ref()
    }

    /// All files are written: finished runs need not be kept any longer.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.journal.finish().or_fail_with(|| "the list of finished runs cannot be removed".to_owned())?;
        let place =
            self.folder.map_or_else(String::new, |folder| format!("; results are in {}", folder.path().display()));
        say(&format!("done in {:.1} s{place}", self.started.elapsed().as_secs_f64()));
        Ok(())
    }
}

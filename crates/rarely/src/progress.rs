//! Progress on a terminal, and what happens at Ctrl-C.

use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic as _, Report, WrapErr as _};
use rarely_lab::{Bench, Folder, Journal};

/// Threads, a folder for results if one was asked for, and the runs that were finished in it.
pub(crate) struct Session {
    pool: rayon::ThreadPool,
    folder: Option<Folder>,
    journal: Journal,
}

impl Session {
    pub(crate) fn start(threads: Option<u16>, out: Option<&Path>) -> Result<Self, Report> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build();
        let pool = pool.into_diagnostic().wrap_err("could not start the threads; try --threads 1")?;
        let folder = out.map(Folder::create).transpose().into_diagnostic()?;
        let journal = match &folder {
            Some(folder) => folder.journal().into_diagnostic()?,
            None => Journal::none(),
        };
        if journal.found() > 0 {
            eprintln!("going on: {} runs were finished before", journal.found());
        }
        let kept = folder.as_ref().map(|folder| folder.path().display().to_string());
        ctrlc::set_handler(move || {
            match &kept {
                Some(path) => {
                    eprintln!("\nstopped; finished runs are kept in {path}: the same command goes on from there")
                }
                None => eprintln!("\nstopped; with --out DIR a command can be stopped and goes on where it was"),
            }
            std::process::exit(130);
        })
        .into_diagnostic()
        .wrap_err("could not take care of Ctrl-C")?;
        Ok(Self { pool, folder, journal })
    }

    /// Shows how far `runs` runs are, while `work` is done in the session's threads.
    pub(crate) fn watch<T: Send>(&self, what: &str, runs: u64, work: impl FnOnce(&Bench<'_>) -> T + Send) -> T {
        let bar = ProgressBar::new(runs);
        if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} runs, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        let result = self.pool.install(|| work(&Bench { journal: &self.journal, progress: &|| bar.inc(1) }));
        bar.finish_and_clear();
        result
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// All files are written: finished runs need not be kept any longer.
    pub(crate) fn finish(self) -> Result<(), Report> {
        if let Some(folder) = &self.folder {
            eprintln!("results are in {}", folder.path().display());
        }
        self.journal.finish().into_diagnostic().wrap_err("could not remove the list of finished runs")
    }
}

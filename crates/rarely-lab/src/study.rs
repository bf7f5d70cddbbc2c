//! Runs of a study that is no experiment: saved, found again and divided as those of an experiment are.

use std::ops::Range;
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::experiment::{ExperimentError, RunContext};
use crate::run_journal;
use crate::shard::{Divisible, written};

/// Runs that depend on their number and on a description only.
pub(crate) struct Study<F> {
    key: [String; 1],
    runs: u64,
    play: F,
}

impl<T, F> Study<F>
where
    T: Serialize + DeserializeOwned + Send,
    F: Fn(u64) -> Result<T, ExperimentError> + Sync,
{
    /// `runs` runs of `play`, which depends on nothing that the description does not have.
    pub(crate) fn new(description: &Value, runs: u64, play: F) -> Self {
        Self { key: [run_journal::key(description)], runs, play }
    }

    /// All results, in the order of the runs.
    pub(crate) fn results(&self, context: &RunContext<'_>) -> Result<Vec<T>, ExperimentError> {
        (0..self.runs).into_par_iter().map(|run| self.result(run, context)).collect()
    }

    fn result(&self, run: u64, context: &RunContext<'_>) -> Result<T, ExperimentError> {
        let result = context.journal.get_or_play(&self.key[0], run, || {
            if context.stop.load(Ordering::Relaxed) { Err(ExperimentError::Stopped) } else { (self.play)(run) }
        })?;
        (context.progress)();
        Ok(result)
    }
}

impl<T, F> Divisible for Study<F>
where
    T: Serialize + DeserializeOwned + Send,
    F: Fn(u64) -> Result<T, ExperimentError> + Sync,
{
    fn runs(&self) -> u64 {
        self.runs
    }

    fn keys(&self) -> &[String] {
        &self.key
    }

    fn play(
        &self,
        run: u64,
        entrants: Range<usize>,
        context: &RunContext<'_>,
    ) -> Result<Vec<Box<RawValue>>, ExperimentError> {
        entrants.map(|_| written(&self.result(run, context)?)).collect()
    }
}

//! Statistics of several logs, put together.

use super::Tally;
use crate::tally_error::TallyError;

impl Tally {
    /// Adds another log's sums, of the same document.
    ///
    /// # Errors
    /// [`TallyError`] if they are of another document, or a log is in both.
    pub fn merge(&mut self, other: &Self) -> Result<(), TallyError> {
        if self.fingerprint != other.fingerprint
            || self.options.len() != other.options.len()
            || self.tried[0].len() != other.tried[0].len()
        {
            return Err(TallyError::Document);
        }
        if let Some(twice) = other.sources.iter().find(|source| source.rows > 0 && self.sources.contains(source)) {
            return Err(TallyError::Twice { rows: twice.rows });
        }
        self.sources.extend(&other.sources);
        self.merge_outcomes(other);
        if self.is_timed {
            self.stretches.join(other.stretches.clone());
        } else {
            self.stretches.append(&other.stretches);
        }
        self.times = [self.times, other.times].into_iter().sum();
        self.time_marks.append(&other.time_marks);
        self.row_set.merge(other.row_set);
        if self.looks.is_empty() {
            self.looks.clone_from(&other.looks);
        }
        for (mine, theirs) in self.options.iter_mut().zip(&other.options) {
            mine.merge(theirs).map_err(|_| TallyError::Document)?;
        }
        for (mine, theirs) in self.tried.iter_mut().flatten().zip(other.tried.iter().flatten()) {
            *mine += theirs;
        }
        if let (Some(mine), Some(theirs)) = (&mut self.propensities, &other.propensities) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.guardrails.iter_mut().zip(&other.guardrails) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.levels.iter_mut().zip(&other.levels) {
            mine.merge(theirs, &self.options);
        }
        self.rejected += other.rejected;
        self.missing.merge(&other.missing);
        self.sample.merge(&other.sample);
        // If the two are about different rules, neither covers the whole log.
        self.jumps = match (self.jumps.take(), &other.jumps) {
            (Some(mut mine), Some(theirs)) => mine.merge(theirs).is_ok().then_some(mine),
            _ => None,
        };
        self.rows = match (self.rows.take(), &other.rows) {
            (Some(mut mine), Some(theirs)) if self.running == other.running => {
                mine.merge(theirs);
                Some(mine)
            }
            _ => None,
        };
        Ok(())
    }

    /// Adds the outcomes of another log's rows by band. Those of no row are of every log, whatever was kept of them.
    fn merge_outcomes(&mut self, other: &Self) {
        if self.rows() == 0 {
            self.outcomes.clone_from(&other.outcomes);
            return;
        }
        let known = match (&mut self.outcomes, &other.outcomes) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            _ => other.rows() == 0,
        };
        if !known {
            self.outcomes = None;
        }
    }

    /// Checks that no log is included twice.
    ///
    /// # Errors
    /// [`TallyError::Twice`] if one is.
    pub fn check_sources(&self) -> Result<(), TallyError> {
        let twice = |at: &usize| self.sources[*at].rows > 0 && self.sources[..*at].contains(&self.sources[*at]);
        match (0..self.sources.len()).find(twice) {
            Some(at) => Err(TallyError::Twice { rows: self.sources[at].rows }),
            None => Ok(()),
        }
    }
}

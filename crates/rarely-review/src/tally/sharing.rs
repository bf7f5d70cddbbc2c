//! Statistics that several threads gather in one reading.

use std::num::NonZero;
use std::thread;

use rarely_policy::PolicyDocument;

use super::Tally;
use crate::row_set::Source;
use crate::tally_error::TallyError;

impl Tally {
    /// Empty statistics that [keep rows](Tally::keeping_rows), one for each processor, so that several share a reading. Every row must know its
    /// [`RowPlace`](crate::RowPlace). One only, if the sums would depend on who gets which row.
    pub fn shared(document: &PolicyDocument) -> Vec<Self> {
        let empty = Self::keeping_rows(document);
        let threads = if empty.can_be_shared() { thread::available_parallelism().map_or(1, NonZero::get) } else { 1 };
        vec![empty; threads]
    }

    /// The statistics of a [shared](Tally::shared) reading: the same, bit for bit, as if one had read all. Checks that no log was given twice.
    ///
    /// # Errors
    /// [`TallyError::Twice`] if one was.
    pub fn joined(shares: Vec<Self>, rejected: u64) -> Result<Self, TallyError> {
        let mut shares = shares.into_iter();
        let mut joined = shares.next().ok_or(TallyError::Damaged("there is no share"))?;
        for share in shares {
            joined.join(share)?;
        }
        joined.reject(rejected);
        joined.check_sources()?;
        Ok(joined)
    }

    /// Adds another log's sums, of the same document, as [`Tally::merge`] does; without a copy if there is nothing to add them to.
    ///
    /// # Errors
    /// As [`Tally::merge`].
    pub fn absorb(&mut self, other: Self) -> Result<(), TallyError> {
        if self.rows() > 0 || self.rejected > 0 || self.fingerprint != other.fingerprint {
            return self.merge(&other);
        }
        *self = other;
        Ok(())
    }

    /// Adds other rows of the same reading, each of which knows its place.
    ///
    /// # Errors
    /// [`TallyError`] if they are of another document.
    pub(crate) fn join(&mut self, mut other: Self) -> Result<(), TallyError> {
        let (sources, stretches) = (std::mem::take(&mut other.sources), std::mem::take(&mut other.stretches));
        let mut marks = std::mem::take(&mut self.time_marks);
        marks.join(&std::mem::take(&mut other.time_marks), &self.options, &other.options);
        self.merge(&other)?;
        self.time_marks = marks;
        self.stretches.join(stretches);
        if self.sources.len() < sources.len() {
            self.sources.resize(sources.len(), Source::default());
        }
        for (mine, theirs) in self.sources.iter_mut().zip(sources) {
            mine.rows += theirs.rows;
            mine.digest = mine.digest.wrapping_add(theirs.digest);
            mine.last = mine.last.max(theirs.last);
        }
        Ok(())
    }

    /// Not if sums are rounded on a grid that grows with the rows, as without a range of outcomes, or with weights.
    fn can_be_shared(&self) -> bool {
        !self.options.iter().any(|option| option.is_open() || option.has_weights())
    }
}

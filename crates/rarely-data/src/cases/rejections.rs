//! Rows that cannot be used: counted, the first of them kept, and limited in number.

use std::path::PathBuf;

use super::error::CasesError;
use crate::Rejection;

/// Rejections that are kept.
const KEPT: usize = 1000;
/// Rejections that a message lists.
const LISTED: usize = 5;

/// The rows rejected so far.
pub(super) struct Rejections {
    limit: u64,
    count: u64,
    first: Vec<Rejection>,
}

impl Rejections {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, count: 0, first: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it is one more than the limit; if the limit is zero, what is wrong with this row.
    pub(super) fn add(&mut self, rejection: Rejection) -> Result<(), CasesError> {
        self.count += 1;
        if self.limit == 0 {
            return Err(CasesError::Rejected(Box::new(rejection)));
        }
        if self.first.len() < KEPT {
            self.first.push(rejection);
        }
        if self.count > self.limit {
            return Err(CasesError::TooManyRejected { limit: self.limit, first: self.take_listed() });
        }
        Ok(())
    }

    /// The error that there is no row.
    pub(super) fn no_row(&mut self, files: &[PathBuf]) -> CasesError {
        CasesError::NoRow { files: files.to_vec(), first: self.take_listed() }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The first thousand.
    pub(super) fn first(&self) -> &[Rejection] {
        &self.first
    }

    /// The first thousand.
    pub(super) fn into_first(self) -> Vec<Rejection> {
        self.first
    }

    fn take_listed(&mut self) -> Vec<Rejection> {
        self.first.truncate(LISTED);
        std::mem::take(&mut self.first)
    }
}

//! A validated context, and a block of them.

use crate::error::{ContextError, MAX_CONTEXT_ENTRY};

/// One context `s ∈ R^d`: a borrowed slice in which every entry is finite and within [`MAX_CONTEXT_ENTRY`].
///
/// ```
/// use rarely_core::Context;
/// assert!(Context::new(&[1.0, 0.3]).is_ok());
/// assert!(Context::new(&[1.0, f64::NAN]).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context<'a>(&'a [f64]);

impl<'a> Context<'a> {
    /// Checks the numbers without copying them.
    ///
    /// # Errors
    /// [`ContextError::Entry`] names the first entry that is NaN, infinite or too large; [`ContextError::Empty`].
    pub fn new(values: &'a [f64]) -> Result<Self, ContextError> {
        if values.is_empty() {
            return Err(ContextError::Empty);
        }
        match bad_entry(values) {
            Some(index) => Err(ContextError::Entry { index, value: values[index] }),
            None => Ok(Self(values)),
        }
    }

    /// The numbers.
    pub fn values(self) -> &'a [f64] {
        self.0
    }

    /// The numbers, if there are `dimension` of them.
    pub(crate) fn fitting(self, dimension: usize) -> Result<&'a [f64], ContextError> {
        if self.0.len() == dimension {
            Ok(self.0)
        } else {
            Err(ContextError::DimensionMismatch { expected: dimension, found: self.0.len() })
        }
    }
}

/// A block of contexts, one after the other (row-major), checked as [`Context`] is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contexts<'a> {
    values: &'a [f64],
    dimension: usize,
}

impl<'a> Contexts<'a> {
    /// Checks the numbers without copying them. An empty block is allowed.
    ///
    /// # Errors
    /// [`ContextError::RaggedBlock`] if the length is not a multiple of `dimension`; [`ContextError::BlockEntry`].
    pub fn new(values: &'a [f64], dimension: usize) -> Result<Self, ContextError> {
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            return Err(ContextError::RaggedBlock { found: values.len(), dimension });
        }
        match bad_entry(values) {
            Some(at) => {
                let (row, index) = (at / dimension, at % dimension);
                Err(ContextError::BlockEntry { row, index, value: values[at] })
            }
            None => Ok(Self { values, dimension }),
        }
    }

    /// Contexts in the block.
    pub fn len(self) -> usize {
        self.values.len() / self.dimension
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// Variables of each context.
    pub fn dimension(self) -> usize {
        self.dimension
    }

    /// All numbers, row by row.
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// Some rows of the block.
    pub(crate) fn rows(self, rows: std::ops::Range<usize>) -> Self {
        Self { values: &self.values[rows.start * self.dimension..rows.end * self.dimension], ..self }
    }

    /// The contexts in turn.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Context<'a>> {
        self.values.chunks_exact(self.dimension).map(Context)
    }

    pub(crate) fn check_dimension(self, expected: usize) -> Result<(), ContextError> {
        if self.dimension == expected {
            Ok(())
        } else {
            Err(ContextError::DimensionMismatch { expected, found: self.dimension })
        }
    }
}

/// The first entry that is not finite or too large.
fn bad_entry(values: &[f64]) -> Option<usize> {
    // One pass without branches, so that a long block costs no more than reading it; NaN fails every comparison.
    let good = values.iter().fold(true, |good, value| good & (value.abs() <= MAX_CONTEXT_ENTRY));
    if good { None } else { values.iter().position(|value| !(value.abs() <= MAX_CONTEXT_ENTRY)) }
}

//! What the row that is read lacks, and what all rows before it lacked.

use rarely_core::Arm;
use rarely_policy::{MissingCounts, PolicyDocument};

/// The columns in which the current row has no value, and counts of those of all rows.
#[derive(Clone)]
pub(super) struct RowGaps {
    /// Of the current row.
    pub(super) columns: Vec<usize>,
    /// The names of the wanted columns.
    pub(super) names: Vec<String>,
    pub(super) counts: MissingCounts,
}

impl RowGaps {
    pub(super) fn new(document: &PolicyDocument) -> Self {
        let names = document.feature_columns().iter().map(|feature| feature.column.clone()).collect();
        Self { columns: Vec::new(), names, counts: MissingCounts::new(document) }
    }

    /// Counts what a row lacks that is kept.
    #[inline]
    pub(super) fn keep_row(&mut self, arm: Arm) {
        if !self.columns.is_empty() {
            self.count(Some(arm));
        }
    }

    /// Counts a row that is dropped, with its outcome.
    #[cold]
    pub(super) fn drop_row(&mut self, arm: Option<Arm>, outcome: Option<f64>) {
        self.count(arm);
        self.counts.drop_row(arm, outcome);
    }

    /// Counts a row that is dropped because it lacks a value in another column.
    #[cold]
    pub(super) fn drop_named(&mut self, column: &str, arm: Arm, outcome: f64) {
        self.counts.add([column], Some(arm));
        self.drop_row(Some(arm), Some(outcome));
    }

    fn count(&mut self, arm: Option<Arm>) {
        self.counts.add(self.columns.iter().map(|&at| self.names[at].as_str()), arm);
    }
}

//! The batches of a file in their order, for one reader or for several that unpack them at the same time.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::column::ParquetColumn;
use super::{BATCH, damaged, guarded};
use crate::DataError;

/// A file that is unpacked batch by batch.
///
/// Every column has a lock of its own. Who unpacks a batch takes the columns from left to right, each before the one to the left is let go. So batches
/// cannot overtake each other, and while one thread unpacks the second column another can unpack the next batch of the first.
pub(super) struct Batches {
    source: SerializedFileReader<File>,
    next: Mutex<Next>,
    columns: Vec<Mutex<OpenColumn>>,
}

/// The batch that is unpacked next.
#[derive(Default)]
struct Next {
    number: u64,
    /// Its row group, once its rows are known.
    group: usize,
    left_in_group: u64,
    /// The row group that comes after it.
    following_group: usize,
    /// Rows before it.
    rows: u64,
}

/// A column of a row group.
struct OpenColumn {
    /// The file, opened for this column alone.
    source: SerializedFileReader<File>,
    /// The row group, and its rows from the next batch on.
    open: Option<(usize, ColumnReader)>,
}

/// A batch that was unpacked.
pub(super) struct Batch {
    /// Batches before it.
    pub(super) number: u64,
    /// Its rows; 0 at the end of the file.
    pub(super) rows: usize,
}

impl Batches {
    /// Of a file from its beginning; it was opened once more for each wanted column.
    pub(super) fn new(source: SerializedFileReader<File>, sources: Vec<SerializedFileReader<File>>) -> Self {
        let open = |source| Mutex::new(OpenColumn { source, open: None });
        Self { source, next: Mutex::default(), columns: sources.into_iter().map(open).collect() }
    }

    pub(super) fn source(&self) -> &SerializedFileReader<File> {
        &self.source
    }

    /// Rows that were unpacked, and whether there are no more.
    pub(super) fn progress(&self) -> (u64, bool) {
        let next = lock(&self.next);
        (next.rows, next.left_in_group == 0 && next.following_group == self.source.metadata().num_row_groups())
    }

    /// Unpacks the next batch into the columns of a reader, which have these names. An error comes with the number of its batch.
    pub(super) fn unpack(
        &self,
        path: &Path,
        names: &[String],
        columns: &mut [ParquetColumn],
    ) -> Result<Batch, (u64, DataError)> {
        let mut next = lock(&self.next);
        let (number, group, left) = self.next_rows(&mut next).map_err(|problem| {
            next.number += 1;
            (next.number - 1, damaged(path, None, problem))
        })?;
        let rows = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        if rows == 0 {
            return Ok(Batch { number, rows });
        }
        let (mut before_first, mut before) = (Some(next), None);
        for (column, shared) in columns.iter_mut().zip(&self.columns) {
            let mut open = lock(shared);
            drop((before_first.take(), before.take()));
            let name = &names[column.field];
            let found = guarded(path, Some(name), || {
                if !matches!(&open.open, Some((opened, _)) if *opened == group) {
                    let reader = open.source.get_row_group(group)?.get_column_reader(column.leaf)?;
                    open.open = Some((group, reader));
                }
                open.open.as_mut().map_or(Ok(0), |(_, reader)| column.unpack(reader, rows))
            });
            let found = found.map_err(|error| (number, error))?;
            if found != rows {
                let problem = format!("it ends {} rows early", left - found as u64);
                return Err((number, damaged(path, Some(name.clone()), problem)));
            }
            before = Some(open);
        }
        Ok(Batch { number, rows })
    }

    /// The number, the row group and the rows that are left in it of the next batch; it counts as unpacked.
    fn next_rows(&self, next: &mut Next) -> Result<(u64, usize, u64), String> {
        let metadata = self.source.metadata();
        while next.left_in_group == 0 && next.following_group < metadata.num_row_groups() {
            let rows = metadata.row_group(next.following_group).num_rows();
            next.left_in_group =
                u64::try_from(rows).map_err(|_| format!("row group {} has {rows} rows", next.following_group))?;
            next.group = next.following_group;
            next.following_group += 1;
        }
        let (number, left) = (next.number, next.left_in_group);
        let rows = left.min(BATCH as u64);
        next.number += 1;
        next.left_in_group -= rows;
        next.rows += rows;
        Ok((number, next.group, left))
    }
}

/// A panic within the Parquet library is an error of the file, so that a lock is never left in disorder.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

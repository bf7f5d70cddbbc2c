//! The people a rule is meant for: only their contexts.

use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::Arc;

use rarely_policy::PolicyDocument;

use super::LogSequence;
use super::encoding::{Encoding, wanted_features};
use crate::{DataError, LogError, MemoryTable, Rejection};

/// The people a rule is meant for: all of them, or a sample.
#[derive(Debug)]
pub struct TargetPeople {
    /// People × dimension, row by row, in the order of the files.
    pub contexts: Vec<f64>,
    /// Usable rows, of which these people are all or a sample.
    pub rows: u64,
    /// The first thousand rejected rows.
    pub rejected: Vec<Rejection>,
    /// How many rows were rejected.
    pub rejected_count: u64,
    /// How many rows lack a value that the document drops rows for.
    pub dropped: u64,
}

/// Reads the features of files, and keeps at most `most` rows.
///
/// If there are more, those are kept whose row number has the smallest hash. The numbers run through all files, over the rows that
/// can be used, and the hash is a fixed permutation of the 64-bit numbers, the last step of SplitMix64: every row is as likely to be kept
/// as any other, whatever the order of the file, and the same files always give the same people.
///
/// # Errors
/// As [`Cases`](super::Cases): more than `reject_limit` bad rows, or no row at all.
///
/// # Panics
/// If `most` is zero.
pub fn read_people(
    document: &PolicyDocument,
    paths: &[PathBuf],
    reject_limit: u64,
    most: usize,
) -> Result<TargetPeople, DataError> {
    let encoding = Encoding::new(document);
    let wanted = wanted_features(document);
    read(&encoding, LogSequence::of_files(paths, (wanted, document.data_format()), reject_limit)?, most)
}

/// The same for a table in memory.
///
/// # Errors
/// As [`read_people`].
///
/// # Panics
/// If `most` is zero.
pub fn people_of_table(
    document: &PolicyDocument,
    table: Arc<dyn MemoryTable>,
    reject_limit: u64,
    most: usize,
) -> Result<TargetPeople, DataError> {
    let encoding = Encoding::new(document);
    let wanted = wanted_features(document);
    read(&encoding, LogSequence::of_table(table, (wanted, document.data_format()), reject_limit)?, most)
}

fn read(encoding: &Encoding, mut sources: LogSequence, most: usize) -> Result<TargetPeople, DataError> {
    assert!(most > 0, "at least one person is kept");
    let mut context = encoding.encoder.blank();
    let (mut gaps, mut dropped) = (encoding.gaps.clone(), 0);
    let mut sample = Sample::new(most, context.len());
    while sources.advance()? {
        let Some(log) = &mut sources.log else { continue };
        let read = match log.next() {
            Ok(None) => {
                sources.close();
                continue;
            }
            Ok(Some(record)) => encoding.read_context(&record, &mut context, &mut gaps),
            Err(LogError::Row(rejection)) => Err(rejection),
            Err(LogError::File(error)) => return Err(error),
        };
        match read {
            Ok(true) => sample.offer(&context),
            Ok(false) => dropped += 1,
            Err(rejection) => sources.rejections.add(*rejection)?,
        }
    }
    if sample.rows == 0 {
        return Err(sources.no_row());
    }
    let rejected_count = sources.rejections.count();
    Ok(TargetPeople {
        rows: sample.rows,
        contexts: sample.in_order(),
        rejected: sources.rejections.into_first(),
        rejected_count,
        dropped,
    })
}

/// The rows with the smallest hashes.
struct Sample {
    most: usize,
    dimension: usize,
    contexts: Vec<f64>,
    /// Hash, row and place in `contexts`; the greatest hash on top.
    kept: BinaryHeap<(u64, u64, usize)>,
    rows: u64,
}

impl Sample {
    fn new(most: usize, dimension: usize) -> Self {
        Self { most, dimension, contexts: Vec::new(), kept: BinaryHeap::new(), rows: 0 }
    }

    fn offer(&mut self, context: &[f64]) {
        let (row, hash) = (self.rows, hash(self.rows));
        self.rows += 1;
        if self.kept.len() < self.most {
            self.kept.push((hash, row, self.kept.len()));
            self.contexts.extend_from_slice(context);
        } else if let Some(mut greatest) = self.kept.peek_mut()
            && hash < greatest.0
        {
            let place = greatest.2;
            *greatest = (hash, row, place);
            self.contexts[place * self.dimension..(place + 1) * self.dimension].copy_from_slice(context);
        }
    }

    fn in_order(self) -> Vec<f64> {
        let mut kept: Vec<(u64, usize)> = self.kept.into_iter().map(|(_, row, place)| (row, place)).collect();
        kept.sort_unstable();
        let rows = kept.iter().map(|&(_, place)| &self.contexts[place * self.dimension..(place + 1) * self.dimension]);
        rows.flatten().copied().collect()
    }
}

/// The last step of SplitMix64: a permutation of the 64-bit numbers.
fn hash(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

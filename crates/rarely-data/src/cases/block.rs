//! The cases of a piece of a log.

use rarely_policy::MissingCounts;

use super::LoggedCase;
use super::encoding::Encoding;
use super::order::{self, LogTime, Order, OutOfOrder};
use super::rejections::Rejections;
use crate::{DataError, Location, LogError, LogReader, Rejection};

/// The cases of a piece, and what is wrong with its other rows. The memory is used again.
#[derive(Default)]
pub(super) struct Block {
    cases: Vec<LoggedCase>,
    filled: usize,
    /// What is known of each case's time, if its column is wanted.
    times: Vec<CaseTime>,
    /// Rejected rows, each with the number of cases before it.
    rejected: Vec<(usize, Rejection)>,
    /// Why the rest of the file cannot be read.
    error: Option<DataError>,
    /// What its rows lack.
    missing: Option<MissingCounts>,
    rows: u64,
    lines: u64,
}

/// The time of a case, beside its text.
struct CaseTime {
    time: LogTime,
    line: u64,
    location: Option<Location>,
}

/// What is known of a log before a block of it.
pub(super) struct Before<'a> {
    pub(super) order: &'a mut Order,
    pub(super) rejections: &'a mut Rejections,
    pub(super) missing: &'a mut MissingCounts,
    /// Cases in this log and in those before it.
    pub(super) accepted: &'a mut u64,
    /// The log, from 0.
    pub(super) file: usize,
    pub(super) rows: u64,
    pub(super) lines: u64,
}

impl Block {
    pub(super) fn cases(&self) -> &[LoggedCase] {
        &self.cases[..self.filled]
    }

    /// An empty block, with the error that there is no piece.
    pub(super) fn fail(&mut self, error: DataError) {
        self.clear();
        self.error = Some(error);
    }

    /// Reads a piece to its end.
    pub(super) fn read(&mut self, log: &mut LogReader, encoding: &Encoding) {
        self.clear();
        let mut gaps = encoding.gaps.clone();
        loop {
            let record = match log.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(LogError::Row(rejection)) => {
                    self.rejected.push((self.filled, *rejection));
                    continue;
                }
                Err(LogError::File(error)) => {
                    self.error = Some(error);
                    break;
                }
            };
            if self.filled == self.cases.len() {
                self.cases.push(LoggedCase::blank(encoding.encoder.blank()));
            }
            let case = &mut self.cases[self.filled];
            match encoding.read_case(&record, case, &mut gaps) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(rejection) => {
                    self.rejected.push((self.filled, *rejection));
                    continue;
                }
            }
            if let Some(wanted) = encoding.time {
                match order::read(&record, (wanted, encoding.time_in_seconds), case.time.get_or_insert_default()) {
                    Ok((time, seconds)) => {
                        (case.log_time, case.seconds) = (Some(time), seconds);
                        // One location is enough: the others differ in their line only.
                        let location = self.times.is_empty().then(|| record.location(wanted));
                        self.times.push(CaseTime { time, line: record.line(), location });
                    }
                    Err(problem) => {
                        self.rejected.push((self.filled, Rejection { location: record.location(wanted), problem }));
                        continue;
                    }
                }
            }
            self.filled += 1;
        }
        self.missing = Some(gaps.counts);
        (self.rows, self.lines) = (log.rows(), log.lines());
    }

    fn clear(&mut self) {
        self.filled = 0;
        self.times.clear();
        self.rejected.clear();
        self.missing = None;
        self.error = None;
        (self.rows, self.lines) = (0, 0);
    }

    /// Gives every case its place, after all blocks before it: `before` then is what the next block needs.
    ///
    /// # Errors
    /// As [`Cases::next`](super::Cases::next).
    pub(super) fn settle(&mut self, before: &mut Before<'_>) -> Result<(), DataError> {
        let mut rejected = std::mem::take(&mut self.rejected).into_iter().peekable();
        let mut kept = 0;
        for at in 0..self.filled {
            while let Some((_, rejection)) = rejected.next_if(|(cases, _)| *cases == at) {
                before.reject(rejection)?;
            }
            if self.is_in_order(at, before)? {
                let case = &mut self.cases[at];
                (case.file, case.position) = (before.file, *before.accepted);
                case.row_in_file += before.rows;
                *before.accepted += 1;
                if kept < at {
                    self.cases.swap(kept, at);
                }
                kept += 1;
            }
        }
        self.filled = kept;
        for (_, rejection) in rejected {
            before.reject(rejection)?;
        }
        if let Some(mut error) = self.error.take() {
            if let DataError::File(error) = &mut error {
                error.add_lines_before(before.lines);
            }
            return Err(error);
        }
        if let Some(missing) = self.missing.take() {
            before.missing.merge(&missing);
        }
        before.rows += self.rows;
        before.lines += self.lines;
        Ok(())
    }

    /// Whether a case's time is not before that of the case before it, if times are wanted. A time of another kind is rejected.
    fn is_in_order(&self, at: usize, before: &mut Before<'_>) -> Result<bool, DataError> {
        let (Some(CaseTime { time, line, .. }), Some(text)) = (self.times.get(at), &self.cases[at].time) else {
            return Ok(true);
        };
        let line = line + before.lines;
        let location = || {
            let mut location = self.times[0].location.clone().expect("the first has one");
            location.set_line(line);
            location
        };
        match before.order.check((*time, text), (before.file, line), location) {
            Ok(()) => Ok(true),
            Err(OutOfOrder::Row(problem)) => {
                before.rejections.add(Rejection { location: location(), problem })?;
                Ok(false)
            }
            Err(OutOfOrder::Rows(error)) => Err(error.into()),
        }
    }
}

impl Before<'_> {
    fn reject(&mut self, mut rejection: Rejection) -> Result<(), DataError> {
        rejection.location.add_rows_before(self.rows, self.lines);
        Ok(self.rejections.add(rejection)?)
    }
}

//! A log that several threads read, each a piece at a time.

use std::sync::{Mutex, PoisonError};

use super::{FormatReader, LogReader};
use crate::DataError;

/// What is left of a log, to be taken piece by piece. A piece is read by a [`LogReader`] of its own, which counts rows and lines from the
/// beginning of the piece.
pub(crate) struct LogPieces {
    rest: Mutex<Rest>,
}

struct Rest {
    log: LogReader,
    /// Pieces taken.
    taken: u64,
}

/// A piece that was taken.
pub(crate) struct Piece {
    /// Pieces before it.
    pub(crate) number: u64,
    /// Whether it is one, or why it cannot be read.
    pub(crate) found: Result<bool, DataError>,
}

impl LogPieces {
    /// The rest of a log.
    pub(crate) fn of(log: LogReader) -> Self {
        Self { rest: Mutex::new(Rest { log, taken: 0 }) }
    }

    /// A reader without a piece.
    pub(crate) fn reader(&self) -> LogReader {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match &rest.log.reader {
            FormatReader::Csv(reader) => FormatReader::Csv(reader.of_pieces()),
            FormatReader::Parquet(reader) => FormatReader::Parquet(Box::new(reader.of_pieces())),
            FormatReader::Ndjson(reader) => FormatReader::Ndjson(reader.of_pieces()),
            FormatReader::Table(reader) => FormatReader::Table(reader.of_pieces()),
        };
        LogReader { reader, rows: 0 }
    }

    /// Gives a reader the next piece.
    pub(crate) fn take(&self, into: &mut LogReader) -> Piece {
        into.rows = 0;
        // Unpacking is most of the work here, so that it has finer locks of its own.
        if let FormatReader::Parquet(reader) = &mut into.reader {
            return match reader.take_piece() {
                Ok((number, found)) => Piece { number, found: Ok(found) },
                Err((number, error)) => Piece { number, found: Err(error) },
            };
        }
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let number = rest.taken;
        rest.taken += 1;
        let found = match (&mut into.reader, &mut rest.log.reader) {
            (FormatReader::Csv(into), FormatReader::Csv(from)) => into.take_piece(from),
            (FormatReader::Ndjson(into), FormatReader::Ndjson(from)) => into.take_piece(from),
            (FormatReader::Table(into), FormatReader::Table(from)) => Ok(into.take_piece(from)),
            _ => Ok(false),
        };
        Piece { number, found }
    }

    /// Bytes taken, and bytes in total; of a table, rows.
    pub(crate) fn progress(&self) -> (u64, u64) {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner).log.progress()
    }
}

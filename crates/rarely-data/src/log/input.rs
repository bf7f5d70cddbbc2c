//! Reads a text file block by block, with constant memory.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use memchr::memrchr2;

use super::FileError;
use crate::DataError;

/// Bytes asked of the operating system at a time: a few hundred rows, and well within the second-level cache.
const BLOCK: usize = 1 << 18;
/// The longest row that is held in memory. A longer one means a quotation mark that is not closed, or a file that is not a table.
const LONGEST_ROW: usize = 1 << 24;

/// A file being read, with the bytes that are buffered and not yet taken.
pub(super) struct Input {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Behind the last line end that was met; not behind `start` if it has been taken.
    last_line_end: usize,
    /// Bytes taken by the reader.
    taken: u64,
    /// Bytes in the file when it was opened.
    length: u64,
    at_end: bool,
}

impl Input {
    /// Opens a file and passes over its byte order mark, if it has one.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let cannot = |source| DataError::Io { file: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let buffer = vec![0; BLOCK];
        let path = path.to_owned();
        let (start, end, last_line_end, taken, at_end) = (0, 0, 0, 0, false);
        let mut input = Self { file, path, buffer, start, end, last_line_end, taken, length, at_end };
        while input.end < 3 && input.more(1)? {}
        if input.rest().starts_with("\u{feff}".as_bytes()) {
            input.take(3);
        }
        Ok(input)
    }

    /// The buffered bytes.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The bytes taken last.
    pub(super) fn last(&self, bytes: usize) -> &[u8] {
        &self.buffer[self.start - bytes..self.start]
    }

    /// Whether there is a line end among the buffered bytes.
    pub(super) fn has_line(&self) -> bool {
        self.start < self.last_line_end
    }

    /// Takes buffered bytes.
    pub(super) fn take(&mut self, bytes: usize) {
        self.start += bytes;
        self.taken += bytes as u64;
    }

    /// Buffers more bytes; false at the end of the file.
    ///
    /// `line` is where the row starts that is being read, for the message if it is too long.
    pub(super) fn more(&mut self, line: u64) -> Result<bool, DataError> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.last_line_end = self.last_line_end.saturating_sub(self.start);
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.end >= LONGEST_ROW {
                return Err(FileError::LongRow { file: self.path.clone(), line, limit: LONGEST_ROW >> 20 }.into());
            }
            self.buffer.resize(self.end * 2, 0);
        }
        let read = loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Ok(read) => break read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(DataError::Io { file: self.path.clone(), source }),
            }
        };
        if let Some(at) = memrchr2(b'\n', b'\r', &self.buffer[self.end..self.end + read]) {
            self.last_line_end = self.end + at + 1;
        }
        self.end += read;
        self.at_end = read == 0;
        Ok(read > 0)
    }

    /// Bytes taken and bytes in total.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.taken, self.length.max(self.taken))
    }
}

//! Reads a text file block by block, with constant memory.

use std::fs::File;
use std::path::{Path, PathBuf};

use memchr::memrchr2;
use rarely_policy::TextEncoding;

use super::FileError;
use super::decoding::{self, Decoding, DecodingError, encoding_of};
use crate::DataError;

/// Bytes asked of the operating system at a time: a few hundred rows, and well within the second-level cache.
const BLOCK: usize = 1 << 18;
/// The longest row that is held in memory. A longer one means a quotation mark that is not closed, or a file that is not a table.
const LONGEST_ROW: usize = 1 << 24;

/// Bytes at the beginning of a file that tell how it is written.
const BEGINNING: usize = 1 << 16;

/// A file being read, or a piece of one, with the bytes that are buffered and not yet taken.
pub(super) struct Input {
    /// None of a piece: all of it is buffered.
    file: Option<File>,
    /// None of UTF-8.
    decoding: Option<Decoding>,
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
    /// Whether a piece ends within a row that is longer than what is held in memory.
    is_cut_short: bool,
}

impl Input {
    /// Opens a file and passes over its byte order mark, if it has one. Returns its encoding, too: the one that is asked for, or the one that is
    /// found.
    pub(super) fn open(path: &Path, asked: Option<TextEncoding>) -> Result<(Self, TextEncoding), DataError> {
        let cannot = |source| DataError::Io { file: path.to_owned(), source };
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let buffer = vec![0; BLOCK];
        let mut input = Self { file: Some(file), buffer, length, at_end: false, ..Self::piece_of(path) };
        let beginning = input.beginning()?;
        let encoding = asked.unwrap_or_else(|| encoding_of(beginning));
        if let Some(decoding) = Decoding::new(encoding, input.rest()) {
            (input.decoding, input.end, input.last_line_end, input.at_end) = (Some(decoding), 0, 0, false);
        }
        input.beginning()?;
        if input.rest().starts_with("\u{feff}".as_bytes()) {
            input.take(3);
        }
        Ok((input, encoding))
    }

    /// The beginning of the file, of which nothing has been taken.
    pub(super) fn beginning(&mut self) -> Result<&[u8], DataError> {
        while self.rest().len() < BEGINNING && self.more(1)? {}
        Ok(self.buffered_beginning())
    }

    /// The bytes that are buffered, as far as they belong to the beginning of a file.
    pub(super) fn buffered_beginning(&self) -> &[u8] {
        &self.rest()[..self.rest().len().min(BEGINNING)]
    }

    /// Whether all of the file is buffered.
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// A piece of a file, without bytes so far.
    pub(super) fn piece_of(path: &Path) -> Self {
        Self {
            file: None,
            decoding: None,
            path: path.to_owned(),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            last_line_end: 0,
            taken: 0,
            length: 0,
            at_end: true,
            is_cut_short: false,
        }
    }

    /// An empty piece of the same file.
    pub(super) fn piece(&self) -> Self {
        Self::piece_of(&self.path)
    }

    /// Moves whole rows, about a block of them, into a piece; false at the end of the file. `last_row_end` says where the last whole row of
    /// a text ends.
    pub(super) fn move_rows(
        &mut self,
        piece: &mut Self,
        last_row_end: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<bool, DataError> {
        piece.is_cut_short = false;
        let whole = loop {
            if (self.is_full() || self.at_end)
                && let Some(end) = last_row_end(self.rest())
            {
                break end;
            }
            match self.more(0) {
                Ok(true) => {}
                // The last line of the file need not have an end.
                Ok(false) => break self.rest().len(),
                // Only who reads the piece knows the line.
                Err(DataError::File(FileError::LongRow { .. })) => {
                    piece.is_cut_short = true;
                    break self.rest().len();
                }
                Err(error) => return Err(error),
            }
        };
        let (end, tail) = (self.start + whole, self.end - self.start - whole);
        piece.buffer.resize(self.buffer.len(), 0);
        piece.buffer[..tail].copy_from_slice(&self.buffer[end..self.end]);
        std::mem::swap(&mut self.buffer, &mut piece.buffer);
        (piece.start, piece.end, piece.last_line_end) = (self.start, end, end);
        (self.start, self.end, self.last_line_end) = (0, tail, 0);
        self.taken += whole as u64;
        Ok(whole > 0)
    }

    fn is_full(&self) -> bool {
        // A decoder writes whole characters only.
        let least = if self.decoding.is_some() { 16 } else { 1 };
        self.buffer.len() - self.end < least
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
        if self.is_cut_short {
            return Err(self.long_row(line));
        }
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.last_line_end = self.last_line_end.saturating_sub(self.start);
        self.start = 0;
        if self.is_full() {
            if self.buffer.len() >= LONGEST_ROW {
                return Err(self.long_row(line));
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let Some(file) = &mut self.file else { return Ok(false) };
        let free = &mut self.buffer[self.end..];
        let read = match &mut self.decoding {
            None => decoding::read(file, free).map_err(DecodingError::Io),
            Some(decoding) => decoding.read(file, free),
        };
        let read = read.map_err(|error| match error {
            DecodingError::Io(source) => DataError::Io { file: self.path.clone(), source },
            DecodingError::Malformed => FileError::NotEncoded { file: self.path.clone(), line }.into(),
        })?;
        if let Some(at) = memrchr2(b'\n', b'\r', &self.buffer[self.end..self.end + read]) {
            self.last_line_end = self.end + at + 1;
        }
        self.end += read;
        self.at_end = read == 0;
        Ok(read > 0)
    }

    fn long_row(&self, line: u64) -> DataError {
        FileError::LongRow { file: self.path.clone(), line, limit: LONGEST_ROW >> 20 }.into()
    }

    /// Bytes taken and bytes in total.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.taken, self.length.max(self.taken))
    }
}

//! Fields between separators, one row a line, names in the first.
//!
//! Nearly every row of nearly every file is one line without a quotation mark: its end is found sixteen or thirty-two bytes at a
//! time, its separators eight at a time, and its fields stay where they were read. Rows with quotation marks are taken apart byte
//! by byte into a buffer of their own. A byte order mark, empty lines, any kind of line end and blanks around values are accepted.

mod cuts;
mod quoted;

use std::path::{Path, PathBuf};
use std::str;

use memchr::memchr3;
use rarely_policy::Value;

use self::cuts::Cuts;
use self::quoted::{Unquoted, line_end, unquote};
use super::input::Input;
use super::{FileError, LogError, Problem, Rejection, Values, find_columns, trimmed};
use crate::{DataError, Place, number};

/// A file being read.
pub(super) struct Reader {
    file: PathBuf,
    input: Input,
    separator: u8,
    names: Vec<String>,
    /// The column of each wanted name, from 0.
    columns: Vec<usize>,
    /// The line the next row starts on.
    next_line: u64,
    row: Row,
}

/// The row that was found last.
#[derive(Default)]
struct Row {
    /// The line it starts on.
    line: u64,
    /// Where it stands in the input, counted back from what was taken, unless it is in `rebuilt`.
    from: usize,
    to: usize,
    is_rebuilt: bool,
    /// The fields with a byte between them.
    rebuilt: Vec<u8>,
    /// Whether it is known to be nothing but ASCII.
    is_ascii: bool,
    cuts: Cuts,
}

/// The fields of a row.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// The row, and what happens to stand behind it.
    bytes: &'a [u8],
    reader: &'a Reader,
}

impl Reader {
    /// Opens a file and finds the columns.
    pub(super) fn open(path: &Path, separator: u8, wanted: &[String]) -> Result<Self, DataError> {
        let mut reader = Self {
            file: path.to_owned(),
            input: Input::open(path)?,
            separator,
            names: Vec::new(),
            columns: Vec::new(),
            next_line: 1,
            row: Row::default(),
        };
        if !reader.find()? {
            return Err(FileError::NoHeader { file: reader.file }.into());
        }
        for field in 0..reader.row.cuts.fields() {
            let name = reader.field(field);
            let Ok(name) = str::from_utf8(name) else {
                let (line, column, found) = (reader.row.line, field + 1, number::shown(name));
                return Err(FileError::HeaderNotUtf8 { file: reader.file, line, column, found }.into());
            };
            let name = name.trim().to_owned();
            reader.names.push(name);
        }
        reader.columns = find_columns(path, wanted, &reader.names)?;
        Ok(reader)
    }

    /// All columns, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The next row that is not blank, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<Fields<'_>>, LogError> {
        if !self.find()? {
            return Ok(None);
        }
        let (found, expected) = (self.row.cuts.fields(), self.names.len());
        if found != expected {
            let problem = if found < expected {
                Problem::TooShort { found, expected }
            } else {
                Problem::TooLong { found, expected }
            };
            return Err(self.rejection(found.min(expected), problem));
        }
        if !self.row.is_ascii && str::from_utf8(self.bytes()).is_err() {
            self.without_unwanted_bytes()?;
        }
        let row = &self.row;
        let bytes = if row.is_rebuilt { &row.rebuilt } else { self.input.behind(row.from) };
        Ok(Some(Fields { bytes, reader: self }))
    }

    /// Bytes read, and bytes in all.
    pub(super) fn progress(&self) -> (u64, u64) {
        self.input.progress()
    }

    /// Finds the next row that is not blank and where its fields end; false at the end of the file.
    fn find(&mut self) -> Result<bool, DataError> {
        loop {
            let rest = self.input.rest();
            self.row.line = self.next_line;
            let end = match memchr3(b'\n', b'\r', b'"', rest) {
                Some(at) if rest[at] == b'"' => {
                    self.find_quoted()?;
                    if !self.is_blank() {
                        return Ok(true);
                    }
                    continue;
                }
                // Whether this is half a line end is known only when the next byte is.
                Some(at) if rest[at] == b'\r' && at + 1 == rest.len() && self.input.more(self.next_line)? => continue,
                Some(at) => at,
                None if self.input.more(self.next_line)? => continue,
                None if self.input.rest().is_empty() => return Ok(false),
                None => self.input.rest().len(),
            };
            let rest = self.input.rest();
            let taken = end + line_end(&rest[end..]);
            self.row.is_rebuilt = false;
            (self.row.from, self.row.to) = (taken, taken - end);
            self.row.is_ascii = self.row.cuts.cut(&rest[..end], self.separator);
            self.input.take(taken);
            self.next_line += 1;
            if !self.is_blank() {
                return Ok(true);
            }
        }
    }

    /// Takes a row apart that has quotation marks.
    fn find_quoted(&mut self) -> Result<(), DataError> {
        loop {
            let row = &mut self.row;
            (row.is_rebuilt, row.is_ascii) = (true, false);
            match unquote(self.input.rest(), self.separator, &mut row.rebuilt, &mut row.cuts) {
                Unquoted::Row { taken, lines } => {
                    self.input.take(taken);
                    self.next_line += lines;
                    return Ok(());
                }
                Unquoted::Unfinished { .. } if self.input.more(self.next_line)? => {}
                Unquoted::Unfinished { in_quotes: true } => {
                    let (line, column) = (row.line, row.cuts.fields());
                    return Err(FileError::UnclosedQuote { file: self.file.clone(), line, column }.into());
                }
                // The last line of the file, without a line end.
                Unquoted::Unfinished { in_quotes: false } => {
                    self.input.take(self.input.rest().len());
                    return Ok(());
                }
            }
        }
    }

    fn is_blank(&self) -> bool {
        self.row.cuts.fields() == 1 && self.bytes().trim_ascii().is_empty()
    }

    fn bytes(&self) -> &[u8] {
        let row = &self.row;
        if row.is_rebuilt { &row.rebuilt } else { self.input.before(row.from, row.to) }
    }

    fn field(&self, column: usize) -> &[u8] {
        let (from, to) = self.row.cuts.bounds(column);
        &self.bytes()[from..to]
    }

    /// Text in another encoding is nobody's business in a column that is not wanted; in one that is, the row cannot be used.
    fn without_unwanted_bytes(&mut self) -> Result<(), LogError> {
        let (mut rebuilt, mut cuts) = (Vec::new(), Cuts::default());
        cuts.clear();
        for column in 0..self.names.len() {
            let field = self.field(column);
            if self.columns.contains(&column) && str::from_utf8(field).is_err() {
                return Err(self.rejection(column, Problem::NotUtf8 { found: number::shown(field) }));
            }
            rebuilt.extend_from_slice(String::from_utf8_lossy(field).as_bytes());
            cuts.end_field(rebuilt.len());
            rebuilt.push(self.separator);
        }
        self.row = Row { is_rebuilt: true, rebuilt, cuts, ..self.row };
        Ok(())
    }

    fn rejection(&self, column: usize, problem: Problem) -> LogError {
        LogError::Row(Box::new(Rejection { place: self.place(column), problem }))
    }

    fn place(&self, column: usize) -> Place {
        let name = self.names.get(column).map_or("no name", String::as_str).to_owned();
        Place::Cell { file: self.file.clone(), line: self.row.line, column: column + 1, name }
    }
}

impl Fields<'_> {
    /// The line the row starts on.
    pub(super) fn line(&self) -> u64 {
        self.reader.row.line
    }

    #[inline]
    fn bounds(&self, wanted: usize) -> (usize, usize) {
        self.reader.row.cuts.bounds(self.reader.columns[wanted])
    }
}

impl Values for Fields<'_> {
    #[inline]
    fn value(&self, wanted: usize) -> Value<'_> {
        let (from, to) = self.bounds(wanted);
        // The row was checked: a part of it between separators is text.
        trimmed(str::from_utf8(&self.bytes[from..to]).unwrap_or_default())
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        let (from, to) = self.bounds(wanted);
        number::finite_within(self.bytes, from, to)
    }

    fn place(&self, wanted: usize) -> Place {
        self.reader.place(self.reader.columns[wanted])
    }
}

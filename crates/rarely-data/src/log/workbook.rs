//! A sheet of a workbook, read into memory: values as they are stored, formulas as their last results, dates as text.

use std::path::{Path, PathBuf};

use calamine::{Data, ExcelDateTime, Range, Reader as _, Xlsx, XlsxError, open_workbook};
use rarely_policy::FieldValue;

use super::{FileError, MemoryTable};
use crate::{DataError, Location};

/// A sheet whose first row that is not empty has the names of the columns. Empty rows are left out.
pub(super) struct SheetTable {
    file: PathBuf,
    sheet: String,
    label: String,
    names: Vec<String>,
    /// The column of the sheet that the first name is in, from 0.
    first_column: usize,
    rows: Vec<SheetRow>,
    /// Whether the workbook has other sheets, so that this one is to be named.
    has_others: bool,
}

struct SheetRow {
    /// From 1.
    number: u64,
    cells: Vec<CellValue>,
}

enum CellValue {
    Missing,
    Number(f64),
    Text(String),
}

impl SheetTable {
    /// Reads a sheet: the first, if none is named.
    pub(super) fn open(path: &Path, wanted: Option<&str>) -> Result<Self, DataError> {
        let cannot = |error: XlsxError| match error {
            XlsxError::Io(source) => DataError::Io { file: path.to_owned(), source },
            error => FileError::Workbook { file: path.to_owned(), problem: error.to_string() }.into(),
        };
        let mut workbook: Xlsx<_> = open_workbook(path).map_err(cannot)?;
        let present = workbook.sheet_names();
        let sheet = match wanted {
            Some(name) => present.iter().find(|sheet| *sheet == name).cloned(),
            None => present.first().cloned(),
        };
        let Some(sheet) = sheet else {
            let name = wanted.unwrap_or_default().to_owned();
            return Err(FileError::NoSheet { file: path.to_owned(), name, present }.into());
        };
        let range = workbook.worksheet_range(&sheet).map_err(cannot)?;
        Self::of(path, sheet, &range, present.len() > 1)
    }

    fn of(path: &Path, sheet: String, range: &Range<Data>, has_others: bool) -> Result<Self, DataError> {
        let (first_row, first_column) = range.start().unwrap_or_default();
        let is_blank = |cell: &Data| matches!(value(cell), CellValue::Missing);
        let numbered = range.rows().enumerate().map(|(at, cells)| (u64::from(first_row) + at as u64 + 1, cells));
        let mut filled = numbered.filter(|(_, cells)| !cells.iter().all(is_blank));
        let Some((_, header)) = filled.next() else {
            return Err(FileError::NoHeader { file: path.to_owned() }.into());
        };
        let names: Vec<String> = header.iter().map(name).collect();
        let rows = filled.map(|(number, cells)| SheetRow { number, cells: cells.iter().map(value).collect() });
        Ok(Self {
            label: format!("{}, sheet {sheet:?}", path.display()),
            rows: rows.collect(),
            file: path.to_owned(),
            sheet,
            names,
            first_column: first_column as usize,
            has_others,
        })
    }
}

impl MemoryTable for SheetTable {
    fn label(&self) -> &str {
        &self.label
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn check(&self, _column: usize) -> Result<(), String> {
        Ok(())
    }

    fn value(&self, row: u64, column: usize) -> FieldValue<'_> {
        let row = usize::try_from(row).ok().and_then(|row| self.rows.get(row));
        match row.and_then(|row| row.cells.get(column)) {
            Some(CellValue::Number(number)) => FieldValue::Number(*number),
            Some(CellValue::Text(text)) => FieldValue::Text(text),
            Some(CellValue::Missing) | None => FieldValue::Missing,
        }
    }

    fn line(&self, row: u64) -> Option<u64> {
        usize::try_from(row).ok().and_then(|row| self.rows.get(row)).map(|row| row.number)
    }

    fn location(&self, row: u64, column: usize) -> Location {
        Location::SheetCell {
            file: self.file.clone(),
            sheet: self.sheet.as_str().into(),
            row: self.line(row).unwrap_or_default(),
            column: self.first_column + column + 1,
            name: self.names[column].as_str().into(),
        }
    }

    fn read_as(&self) -> Option<String> {
        self.has_others.then(|| format!("sheet {:?}", self.sheet))
    }
}

fn name(cell: &Data) -> String {
    match value(cell) {
        CellValue::Missing => String::new(),
        CellValue::Number(number) => number.to_string(),
        CellValue::Text(text) => text.trim().to_owned(),
    }
}

fn value(cell: &Data) -> CellValue {
    match cell {
        Data::Empty => CellValue::Missing,
        Data::String(text) if text.trim().is_empty() => CellValue::Missing,
        #[allow(clippy::cast_precision_loss, reason = "a sheet stores numbers as doubles")]
        Data::Int(number) => CellValue::Number(*number as f64),
        Data::Float(number) => CellValue::Number(*number),
        Data::Bool(truth) => CellValue::Text(truth.to_string()),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => CellValue::Text(text.clone()),
        Data::DateTime(time) => date(time),
        // Its text is no number and no level, so that whoever needs the cell gets an error with its address.
        Data::Error(error) => CellValue::Text(error.to_string()),
    }
}

/// A date, with the time of day unless it is midnight; a duration or a time without a date as the days that a sheet stores.
fn date(time: &ExcelDateTime) -> CellValue {
    if time.is_duration() || time.as_f64() < 1.0 {
        return CellValue::Number(time.as_f64());
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let day = format!("{year:04}-{month:02}-{day:02}");
    CellValue::Text(match (hour, minute, second, milli) {
        (0, 0, 0, 0) => day,
        (_, _, _, 0) => format!("{day}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{day}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    })
}

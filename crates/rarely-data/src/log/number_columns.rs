//! The format of the numbers of each wanted column, found in the first rows and held against every row.

use rarely_policy::DecimalMark;

use super::number_format::{ColumnEvidence, ColumnNumbers, NumberFormat, SpeltNumber, TwoReadings, common_mark};
use super::{FileError, RowProblem, WantedColumn, WantedKind};
use crate::{DataError, Location, number};

/// The wanted columns whose numbers cannot be read without care.
#[derive(Clone, Default)]
pub(super) struct NumberColumns {
    checked: Vec<CheckedColumn>,
    /// Whether a wanted value is the number that it spells, not the text.
    are_numbers: Vec<bool>,
    /// Numbers with two readings that other columns decide: the column, and `162.320 is 162320`.
    told: Vec<(usize, String)>,
}

/// A column whose numbers are checked.
#[derive(Clone)]
pub(super) struct CheckedColumn {
    /// Its index among the wanted columns.
    pub(super) wanted: usize,
    /// None if nothing tells the decimal mark of plain numbers.
    format: Option<NumberFormat>,
    /// Whether its first numbers show the format: whole numbers are the same in most.
    is_shown: bool,
}

impl NumberColumns {
    /// Judges by what the first rows tell of every column. `location` gives the location of a value by its column and its line.
    pub(super) fn find(
        mut evidence: Vec<ColumnEvidence>,
        (wanted, columns): (&[WantedColumn], &[usize]),
        asked: Option<DecimalMark>,
        location: impl Fn(usize, u64) -> Location,
    ) -> Result<Self, DataError> {
        let common = common_mark(&evidence);
        let mut found = Self { checked: Vec::new(), are_numbers: vec![false; wanted.len()], told: Vec::new() };
        for (at, (wanted, &column)) in wanted.iter().zip(columns).enumerate() {
            let evidence = std::mem::take(&mut evidence[column]);
            let is_code = match wanted.kind {
                WantedKind::Word => continue,
                WantedKind::Any if !evidence.is_numeric() => continue,
                WantedKind::Code => true,
                WantedKind::Number | WantedKind::Any => false,
            };
            if let (None, Some(common), false) = (asked, common, is_code)
                && let Some(readings) = evidence.left_open()
            {
                found.told.push((at, readings.read_with(common)));
            }
            let is_shown = evidence.shows_format();
            let format = match evidence.resolve(asked, common) {
                ColumnNumbers::Plain => continue,
                ColumnNumbers::Doubtful | ColumnNumbers::TwoReadings(..) if is_code => continue,
                ColumnNumbers::Doubtful => None,
                ColumnNumbers::Formatted(format) => Some(format),
                ColumnNumbers::TwoReadings(readings, line) => {
                    let location = Box::new(location(column, line));
                    return Err(FileError::TwoReadings { location, readings }.into());
                }
            };
            found.are_numbers[at] = format.is_some() && !is_code;
            found.checked.push(CheckedColumn { wanted: at, format, is_shown });
        }
        Ok(found)
    }

    /// Whether there is none, as in nearly every file.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.checked.is_empty()
    }

    /// Whether a value is the number that it spells.
    #[inline]
    pub(super) fn is_number(&self, wanted: usize) -> bool {
        self.are_numbers[wanted]
    }

    /// The columns whose numbers are checked.
    pub(super) fn checked(&self) -> &[CheckedColumn] {
        &self.checked
    }

    /// The formats, each with its columns, and numbers with two readings: `decimal comma, in € (price)`. Without columns, if all have the same decimal mark and nothing else.
    pub(super) fn stated(&self, wanted: &[WantedColumn]) -> Vec<String> {
        let mut formats: Vec<(String, Vec<&str>)> = Vec::new();
        for CheckedColumn { wanted: at, format, .. } in self.checked.iter().filter(|column| column.is_shown) {
            let Some(format) = format.as_ref().map(ToString::to_string) else { continue };
            let name = wanted[*at].name.as_str();
            match formats.iter_mut().find(|(known, _)| *known == format) {
                Some((_, names)) => names.push(name),
                None => formats.push((format, vec![name])),
            }
        }
        let mut stated = match formats.as_slice() {
            [(only, _)] if !only.contains(',') => vec![only.clone()],
            _ => formats.into_iter().map(|(format, names)| format!("{format} ({})", names.join(", "))).collect(),
        };
        stated.extend(self.told.iter().map(|(at, reading)| format!("{reading} ({})", wanted[*at].name)));
        stated
    }
}

impl CheckedColumn {
    /// The number that a text of the column spells, if its format is not that of programs.
    pub(super) fn read(&self, text: &str) -> Result<Option<f64>, RowProblem> {
        let Some(format) = &self.format else {
            let text = text.trim();
            // Three digits behind a mark.
            let mark = text.len().checked_sub(4).and_then(|at| text.as_bytes().get(at));
            return if matches!(mark, Some(b'.' | b',')) { doubt(text) } else { Ok(None) };
        };
        match format.read(text) {
            SpeltNumber::Number(number) => Ok(Some(number)),
            SpeltNumber::Word => Ok(None),
            SpeltNumber::TwoReadings => doubt(text),
            SpeltNumber::OtherFormat => {
                let (found, format) = (number::shown(text.trim().as_bytes()), format.to_string());
                Err(RowProblem::OtherNumberFormat { found, format })
            }
        }
    }
}

/// Refuses a number with two readings.
#[cold]
fn doubt(text: &str) -> Result<Option<f64>, RowProblem> {
    TwoReadings::of(text).map_or(Ok(None), |readings| Err(RowProblem::TwoReadings(readings)))
}

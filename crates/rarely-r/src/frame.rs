//! A data frame as a table of `rarely-data`: columns of numbers and texts, copied out of R so that other threads can read them.

use extendr_api::prelude::*;
use rarely_data::MemoryTable;
use rarely_output::Ticks;
use rarely_policy::FieldValue;

/// The columns of a data frame.
pub(crate) struct DataFrame {
    names: Vec<String>,
    /// The values of each column, or what it holds instead of numbers and texts.
    columns: Vec<Result<Column, String>>,
    rows: u64,
}

enum Column {
    /// `NaN` is missing.
    Numbers(Vec<f64>),
    /// For each row the index of its text; `None` is missing.
    Texts { of_row: Vec<Option<usize>>, texts: Vec<String> },
}

impl DataFrame {
    /// The wanted columns. `columns` has a value for each name, `NULL` for those that are not wanted.
    pub(crate) fn new(names: Vec<String>, columns: &List, rows: u64) -> Self {
        let columns = columns.values().map(|values| column(&values, rows)).collect();
        let names = names.into_iter().map(|name| name.trim().to_owned()).collect();
        Self { names, columns, rows }
    }
}

impl MemoryTable for DataFrame {
    fn label(&self) -> &'static str {
        "the data frame"
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn check(&self, column: usize) -> Result<(), String> {
        self.columns[column].as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn value(&self, row: u64, column: usize) -> FieldValue<'_> {
        let row = usize::try_from(row).unwrap_or(usize::MAX);
        match &self.columns[column] {
            Ok(Column::Numbers(numbers)) if !numbers[row].is_nan() => FieldValue::Number(numbers[row]),
            Ok(Column::Texts { of_row, texts }) => {
                of_row[row].map_or(FieldValue::Missing, |text| FieldValue::Text(&texts[text]))
            }
            _ => FieldValue::Missing,
        }
    }

    /// R counts rows from 1.
    fn line(&self, row: u64) -> Option<u64> {
        Some(row + 1)
    }
}

fn column(values: &Robj, rows: u64) -> Result<Column, String> {
    if values.is_null() {
        return Err("something that was not read".to_owned());
    }
    if values.len() as u64 != rows || values.get_attrib("dim").is_some() {
        return Err("a matrix or a data frame".to_owned());
    }
    if values.inherits("factor") {
        return factor(values).ok_or_else(|| "a damaged factor".to_owned());
    }
    if values.inherits("Date") {
        return times(values, Ticks::Days, f64::floor);
    }
    if values.inherits("POSIXct") {
        return times(values, Ticks::Seconds { digits: 6, universal: true }, |seconds| (seconds * 1e6).round());
    }
    let class = values.class().and_then(|mut class| class.next()).filter(|class| *class != "AsIs");
    if let Some(class) = class {
        return Err(format!("values of class {class}"));
    }
    match values.rtype() {
        Rtype::Doubles | Rtype::Integers => {
            crate::arguments::reals(values).map(Column::Numbers).ok_or_else(|| "damaged numbers".to_owned())
        }
        Rtype::Logicals => Ok(logicals(values)),
        Rtype::Strings => Ok(strings(values)),
        other => Err(format!("values of type {other:?}")),
    }
}

fn factor(values: &Robj) -> Option<Column> {
    let texts = values.get_attrib("levels")?.as_string_vector()?;
    let codes = values.as_integer_slice()?;
    // Codes count from 1; `NA` is the smallest integer.
    let index = |code: &i32| usize::try_from(code.checked_sub(1)?).ok().filter(|index| *index < texts.len());
    Some(Column::Texts { of_row: codes.iter().map(index).collect(), texts })
}

fn logicals(values: &Robj) -> Column {
    let flags = values.as_logical_slice().unwrap_or_default();
    let index = |flag: &Rbool| if flag.is_na() { None } else { Some(usize::from(flag.is_true())) };
    let texts = ["false", "true"].map(str::to_owned).to_vec();
    Column::Texts { of_row: flags.iter().map(index).collect(), texts }
}

fn strings(values: &Robj) -> Column {
    let mut texts = Vec::new();
    let mut known = std::collections::HashMap::new();
    let strings = Strings::try_from(values).unwrap_or_default();
    let mut index = |text: &Rstr| {
        if text.is_na() {
            return None;
        }
        let text: &str = text.as_ref();
        Some(*known.entry(text.to_owned()).or_insert_with(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        }))
    };
    let of_row = strings.iter().map(&mut index).collect();
    Column::Texts { of_row, texts }
}

/// Times as ISO 8601 has them. R counts days or seconds since 1970, with fractions.
fn times(values: &Robj, ticks: Ticks, count: fn(f64) -> f64) -> Result<Column, String> {
    const LIMIT: f64 = 9e18;
    let values = crate::arguments::reals(values).ok_or_else(|| "damaged times".to_owned())?;
    let mut texts = Vec::with_capacity(values.len());
    let mut write = |value: &f64| {
        let count = count(*value);
        if count.is_nan() || count.abs() > LIMIT {
            return None;
        }
        let mut text = String::new();
        #[allow(clippy::cast_possible_truncation, reason = "in range, as just checked")]
        ticks.write(&mut text, count as i64);
        texts.push(text);
        Some(texts.len() - 1)
    };
    let of_row = values.iter().map(&mut write).collect();
    Ok(Column::Texts { of_row, texts })
}

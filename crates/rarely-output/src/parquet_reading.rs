//! Reads back what [`ParquetRows`](crate::ParquetRows) wrote.

use std::io;

use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::Field;

/// A value of a row that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadCell {
    /// Nothing.
    Missing,
    /// Words.
    Text(String),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
}

impl ReadCell {
    /// The words, if there are any.
    pub fn text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The whole number, if there is one.
    pub fn whole(&self) -> Option<u64> {
        if let Self::Whole(number) = self { Some(*number) } else { None }
    }
}

/// Visits the rows of a Parquet file, a group of them at a time. Its columns must be these, in this order.
///
/// # Errors
/// If it cannot be read, has other columns, or a value is of another kind; and the first error of `each`.
pub fn read_parquet_rows<R: ChunkReader + 'static>(
    source: R,
    columns: &[&str],
    mut each: impl FnMut(Vec<ReadCell>) -> io::Result<()>,
) -> io::Result<()> {
    let reader = SerializedFileReader::new(source).map_err(wrong)?;
    for row in reader.get_row_iter(None).map_err(wrong)? {
        let row = row.map_err(wrong)?;
        let names = row.get_column_iter().map(|(name, _)| name.as_str());
        if !names.eq(columns.iter().copied()) {
            let problem = format!("its columns are not {}", columns.join(", "));
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        each(row.get_column_iter().map(|(_, field)| cell(field)).collect::<io::Result<_>>()?)?;
    }
    Ok(())
}

fn cell(field: &Field) -> io::Result<ReadCell> {
    Ok(match field {
        Field::Null => ReadCell::Missing,
        Field::Str(text) => ReadCell::Text(text.clone()),
        Field::Double(number) => ReadCell::Number(*number),
        Field::Long(number) => ReadCell::Whole(u64::try_from(*number).map_err(|_| invalid("a number is negative"))?),
        _ => return Err(invalid("a value is neither words nor a number")),
    })
}

fn wrong(error: ParquetError) -> io::Error {
    invalid(error)
}

fn invalid(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParquetRows, RowCell, RowColumn};

    #[test]
    fn rows_are_read_as_they_were_written() {
        let columns = vec![("number".to_owned(), RowColumn::Whole), ("body".to_owned(), RowColumn::Text)];
        let mut rows = ParquetRows::new(Vec::new(), columns).expect("a file");
        rows.push(&[RowCell::Whole(7), RowCell::Text("{\"a\": \"ö\"}")]).expect("a row");
        rows.push(&[RowCell::Whole(8), RowCell::Missing]).expect("a row");
        let file = bytes::Bytes::from(rows.finish().expect("complete"));
        let mut read = Vec::new();
        read_parquet_rows(file.clone(), &["number", "body"], |row| {
            read.push(row);
            Ok(())
        })
        .expect("read");
        assert_eq!(read[0], [ReadCell::Whole(7), ReadCell::Text("{\"a\": \"ö\"}".to_owned())]);
        assert_eq!(read[1], [ReadCell::Whole(8), ReadCell::Missing]);
        let other = read_parquet_rows(file, &["number"], |_| Ok(())).expect_err("other columns");
        assert!(other.to_string().contains("its columns are not number"), "{other}");
    }
}

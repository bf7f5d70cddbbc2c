//! Values of Rust as values of R: lists, data frames, and whatever JSON has.

use extendr_api::prelude::*;
use rarely_output::{ColumnTable, TableColumn};
use serde::Serialize;

use crate::json::Json;
use crate::problem::Problem;

/// A list with names.
pub(crate) fn named_list<N: AsRef<str>>(
    names: impl IntoIterator<Item = N>,
    values: impl IntoIterator<Item = Robj>,
) -> Robj {
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    let mut list = Robj::from(List::from_values(values.into_iter().collect::<Vec<_>>()));
    // Setting names fails only if there are more names than values.
    let _ = list.set_names(names);
    list
}

/// A value with its class.
pub(crate) fn with_class(mut value: Robj, class: &[&str]) -> Robj {
    // Setting a class fails only for values that cannot have attributes.
    let _ = value.set_class(class);
    value
}

/// A number or, if there is none, `NULL`.
pub(crate) fn optional<T: Into<Robj>>(value: Option<T>) -> Robj {
    value.map_or_else(|| Robj::from(()), Into::into)
}

/// Counts as R has them: exact up to 2⁵³.
pub(crate) fn count(value: u64) -> f64 {
    value as f64
}

/// Numbers; `NA` where one is missing.
pub(crate) fn numbers(values: impl IntoIterator<Item = Option<f64>>) -> Robj {
    let values: Doubles = values.into_iter().map(|value| value.map_or_else(Rfloat::na, Rfloat::from)).collect();
    values.into()
}

/// A matrix whose rows are given one after the other.
pub(crate) fn matrix<T: Copy>(values: &[T], columns: usize) -> Robj
where
    Vec<T>: Into<Robj>,
{
    let rows = values.len().checked_div(columns).unwrap_or(0);
    let by_column: Vec<T> =
        (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column])).collect();
    let mut matrix: Robj = by_column.into();
    let size = [rows, columns].map(|length| i32::try_from(length).unwrap_or(i32::MAX));
    // Setting the size fails only if the product is another than the number of values.
    let _ = matrix.set_attrib("dim", size.to_vec());
    matrix
}

/// Named columns of one length as a data frame.
pub(crate) fn data_frame<'a>(columns: impl IntoIterator<Item = (&'a str, Robj)>) -> Robj {
    let (names, values): (Vec<&str>, Vec<Robj>) = columns.into_iter().unzip();
    let rows = i32::try_from(values.first().map_or(0, Robj::len)).unwrap_or(i32::MAX);
    let mut frame = named_list(names, values);
    // The compact form of the row names 1, 2, …
    let _ = frame.set_attrib("row.names", vec![Rint::na(), Rint::from(-rows)].into_iter().collect::<Integers>());
    with_class(frame, &["data.frame"])
}

/// A table as a data frame.
pub(crate) fn table(table: &ColumnTable) -> Robj {
    data_frame(table.columns().iter().map(|(name, column)| {
        let values: Robj = match column {
            TableColumn::Text(values) => values.clone().into(),
            TableColumn::Count(values) => values.iter().map(|&value| count(value)).collect::<Vec<f64>>().into(),
            TableColumn::Number(values) => numbers(values.iter().copied()),
        };
        (name.as_str(), values)
    }))
}

/// Anything that can be serialised, as lists, texts and numbers.
pub(crate) fn plain(value: &impl Serialize) -> Result<Robj, Problem> {
    Ok(of_json(&Json::of(value)?))
}

/// A value of JSON: an object as a list with names, an array of texts, numbers or flags as a vector, any other array as a list.
fn of_json(value: &Json) -> Robj {
    match value {
        Json::Null => Robj::from(()),
        Json::Flag(flag) => (*flag).into(),
        Json::Number(number) => (*number).into(),
        Json::Text(text) => text.as_str().into(),
        Json::Array(items) => of_array(items),
        Json::Object(fields) => {
            named_list(fields.iter().map(|(name, _)| name), fields.iter().map(|(_, value)| of_json(value)))
        }
    }
}

fn of_array(items: &[Json]) -> Robj {
    let (mut texts, mut flags, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        match item {
            Json::Text(text) => texts.push(text.as_str()),
            Json::Flag(flag) => flags.push(*flag),
            Json::Number(number) => found.push(Some(*number)),
            Json::Null => found.push(None),
            Json::Array(_) | Json::Object(_) => {}
        }
    }
    match items.len() {
        0 => List::new(0).into(),
        all if all == texts.len() => texts.into(),
        all if all == flags.len() => flags.into(),
        all if all == found.len() && found.iter().any(Option::is_some) => numbers(found),
        _ => List::from_values(items.iter().map(of_json)).into(),
    }
}

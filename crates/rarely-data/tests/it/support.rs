//! Files for a test, and a least-squares fit that is not the core's.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use rarely_data::{Cases, Columns, Counterfactuals, DataError, LoggedCase};
use rarely_error::Explain;
use rarely_policy::PolicyDocument;
use tempfile::TempDir;

/// A folder with a file in it.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    (folder, path)
}

/// What an error says and its remedy, with the temporary folder's name left out.
pub(crate) fn message<T>(result: Result<T, DataError>, folder: &TempDir) -> String {
    let Err(error) = result else { panic!("an error was expected") };
    explained(&error).replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
}

/// What an error says, and what to do about it.
pub(crate) fn explained(error: &impl Explain) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}\nhelp: {remedy}"))
}

/// Coefficients and the largest absolute residual of the least-squares fit of `target` by an intercept and the contexts, by
/// modified Gram–Schmidt.
pub(crate) fn fit(people: &Counterfactuals, target: &[f64]) -> (Vec<f64>, f64) {
    let people = people.clone().with_intercept();
    let (count, dimension) = (people.people(), people.dimension());
    let mut columns: Vec<Vec<f64>> = (0..dimension)
        .map(|column| (0..count).map(|person| people.context(person)[column]).collect())
        .chain([target.to_vec()])
        .collect();
    let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    let mut triangle = vec![vec![0.0; dimension + 1]; dimension];
    for column in 0..dimension {
        let (done, rest) = columns.split_at_mut(column + 1);
        let axis = &done[column];
        let length_squared = dot(axis, axis);
        assert!(length_squared > 1e-9, "column {column} depends on those before it");
        triangle[column][column] = 1.0;
        for (offset, other) in rest.iter_mut().enumerate() {
            let share = dot(axis, other) / length_squared;
            triangle[column][column + 1 + offset] = share;
            other.iter_mut().zip(axis).for_each(|(value, along)| *value -= share * along);
        }
    }
    let mut coefficients = vec![0.0; dimension];
    for row in (0..dimension).rev() {
        let known = (row + 1..dimension).map(|column| triangle[row][column] * coefficients[column]).sum::<f64>();
        coefficients[row] = triangle[row][dimension] - known;
    }
    let largest = columns[dimension].iter().fold(0.0_f64, |largest, residual| largest.max(residual.abs()));
    (coefficients, largest)
}

/// One arm's means.
pub(crate) fn means(people: &Counterfactuals, arm: usize) -> Vec<f64> {
    (0..people.people()).map(|person| people.means_of(person)[arm]).collect()
}

/// Average regret of giving everybody an arm.
pub(crate) fn regret_of_arm(people: &Counterfactuals, arm: usize) -> f64 {
    average(people, |means| means[0].max(means[1]) - means[arm])
}

/// Average over people of a function of their means.
pub(crate) fn average(people: &Counterfactuals, of: impl Fn(&[f64]) -> f64) -> f64 {
    let sum: f64 = (0..people.people()).map(|person| of(people.means_of(person))).sum();
    sum / people.people() as f64
}

/// A document with two numbers, levels and three options.
pub(crate) const POLICY: &str = r#"
    policy = "pressure"
    options = ["watch", "treat", "refer"]
    outcome = { column = "wellbeing", range = [0, 1] }
    option_column = "given"
    [[features]]
    column = "systolic"
    unit = "mmHg"
    range = [80, 220]
    [[features]]
    column = "diabetic"
    levels = ["no", "yes"]
    [[features]]
    column = "age, in years"
    range = [0, 120]
    [rule]
    threshold = { feature = "systolic", cuts = [140], options = ["watch", "treat"] }
"#;

/// The document of [`POLICY`].
pub(crate) fn document() -> PolicyDocument {
    PolicyDocument::parse(POLICY, "pressure.toml").expect("a document")
}

/// Its columns, with or without a propensity and a time.
pub(crate) fn columns(propensity: bool, time: bool) -> Columns {
    Columns {
        option: "given".to_owned(),
        propensity: propensity.then(|| "chance".to_owned()),
        time: time.then(|| "seen".to_owned()),
        ..Columns::default()
    }
}

/// All cases of files, and the messages of the rejected rows.
pub(crate) fn cases(
    columns: &Columns,
    paths: &[PathBuf],
    limit: u64,
) -> Result<(Vec<LoggedCase>, Vec<String>), DataError> {
    cases_of(&document(), columns, paths, limit)
}

/// The same of another document. What is read one by one must be the same as what several threads read.
pub(crate) fn cases_of(
    document: &PolicyDocument,
    columns: &Columns,
    paths: &[PathBuf],
    limit: u64,
) -> Result<(Vec<LoggedCase>, Vec<String>), DataError> {
    let open = || Cases::open(document, columns, paths, limit);
    let one_by_one = open().and_then(|mut cases| {
        let (mut all, mut case) = (Vec::new(), LoggedCase::new(document));
        while cases.next(&mut case)? {
            all.push(case.clone());
        }
        Ok(finished(&cases, all))
    });
    let said = |result: &Result<_, DataError>| result.as_ref().map_err(explained).cloned();
    // A pipe is gone after the first reading.
    if paths.iter().all(|path| path.is_file()) {
        for workers in 1..4 {
            let shared = open().and_then(|mut cases| {
                let mut found: Vec<Vec<LoggedCase>> = vec![Vec::new(); workers];
                cases.share::<_, DataError>(&mut found, |mine, case| mine.push(case.clone()), |_| Ok(()))?;
                let mut all = found.concat();
                all.sort_by_key(|case| case.position);
                Ok(finished(&cases, all))
            });
            assert!(said(&shared) == said(&one_by_one), "by {workers}");
        }
        let ahead = open().and_then(|mut cases| {
            let mut all = Vec::new();
            cases.read_ahead::<DataError>(|case| all.push(case.clone()), |_| Ok(()))?;
            Ok(finished(&cases, all))
        });
        assert!(said(&ahead) == said(&one_by_one), "read ahead");
    }
    one_by_one
}

fn finished(cases: &Cases, all: Vec<LoggedCase>) -> (Vec<LoggedCase>, Vec<String>) {
    let (read, in_all) = cases.progress();
    assert_eq!(read, in_all, "all bytes are read at the end");
    assert_eq!(cases.rejected().len() as u64, cases.rejected_count());
    (all, cases.rejected().iter().map(ToString::to_string).collect())
}

/// A column of a Parquet file.
pub(crate) enum Column {
    Numbers(Vec<Option<f64>>),
    Words(Vec<Option<Vec<u8>>>),
    Wholes(Vec<Option<i64>>),
    Booleans(Vec<bool>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Words(values) => values.len(),
            Self::Wholes(values) => values.len(),
            Self::Booleans(values) => values.len(),
        }
    }
}

/// A Parquet file with a schema in Parquet's own words, so many rows in a group.
pub(crate) fn parquet(schema: &str, columns: &[Column], rows_in_group: usize, compression: Compression) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = WriterProperties::builder().set_compression(compression).set_data_page_row_count_limit(64).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("a writer");
    let rows = columns.first().map_or(0, Column::len);
    for from in (0..rows).step_by(rows_in_group) {
        let to = (from + rows_in_group).min(rows);
        let mut group = writer.next_row_group().expect("a group");
        for column in columns {
            let mut writer = group.next_column().expect("a column").expect("another column");
            match column {
                Column::Numbers(values) => write::<DoubleType>(&mut writer, &values[from..to]),
                Column::Words(values) => {
                    let values: Vec<Option<ByteArray>> =
                        values[from..to].iter().map(|value| value.clone().map(ByteArray::from)).collect();
                    write::<ByteArrayType>(&mut writer, &values);
                }
                Column::Wholes(values) => write_wholes(&mut writer, &values[from..to]),
                Column::Booleans(values) => {
                    write::<BoolType>(
                        &mut writer,
                        &values[from..to].iter().map(|value| Some(*value)).collect::<Vec<_>>(),
                    );
                }
            }
            writer.close().expect("closed");
        }
        group.close().expect("closed");
    }
    writer.into_inner().expect("a file")
}

fn write_wholes(writer: &mut SerializedColumnWriter<'_>, values: &[Option<i64>]) {
    match writer.untyped() {
        ColumnWriter::Int32ColumnWriter(_) => {
            let values: Vec<Option<i32>> =
                values.iter().map(|value| value.map(|value| i32::try_from(value).expect("a short number"))).collect();
            write::<Int32Type>(writer, &values);
        }
        _ => write::<Int64Type>(writer, values),
    }
}

fn write<T: DataType>(writer: &mut SerializedColumnWriter<'_>, values: &[Option<T::T>])
where
    T::T: Clone,
{
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = values.iter().flatten().cloned().collect();
    writer.typed::<T>().write_batch(&present, Some(&levels), None).expect("written");
}

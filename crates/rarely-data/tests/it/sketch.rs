//! What the columns of a file hold.

use std::path::Path;

use parquet::basic::Compression;
use rarely_data::{ColumnSpread, DataError, read_spreads, sketch_watched};
use rarely_policy::{ColumnSketch, ColumnValues, DataFormat};

use crate::support::{Column, file, message, parquet};

fn numbers(name: &str, low: f64, high: f64) -> ColumnSketch {
    ColumnSketch::new(name, ColumnValues::Numbers { low, high })
}

fn words(name: &str, words: &[&str]) -> ColumnSketch {
    ColumnSketch::new(name, ColumnValues::Words(words.iter().map(|&word| word.to_owned()).collect()))
}

/// The columns by name and kind alone.
fn sketch(path: &Path) -> Result<Vec<ColumnSketch>, DataError> {
    let found = rarely_data::sketch(path, &DataFormat::default())?;
    Ok(found.columns.into_iter().map(|column| ColumnSketch::new(&column.name, column.kind)).collect())
}

#[test]
fn columns_of_numbers_and_words() {
    let (_folder, path) = file("log.csv", "age,sex,code,empty,half\n41,f,007,,\n 3.5 ,m,12,, 1\n,f,x,,NaN\n");
    assert_eq!(
        sketch(&path).expect("a sketch"),
        [
            numbers("age", 3.5, 41.0),
            words("sex", &["f", "m"]),
            words("code", &["007", "12", "x"]),
            words("empty", &[]),
            numbers("half", 1.0, 1.0)
        ]
    );
    let (_folder, path) = file("log.ndjson", "{\"a\": 1, \"b\": true}\n{\"b\": false, \"a\": -2, \"c\": \"x\"}\n");
    let expected = [numbers("a", -2.0, 1.0), words("b", &["true", "false"]), words("c", &["x"])];
    assert_eq!(sketch(&path).expect("a sketch"), expected);
    let schema = "message log { optional double a; required int32 price (DECIMAL(9, 2)); required boolean b; }";
    let columns = [
        Column::Numbers(vec![Some(2.0), Some(f64::NAN), None]),
        Column::Wholes(vec![Some(1); 3]),
        Column::Booleans(vec![true; 3]),
    ];
    let (_folder, path) = file("log.parquet", parquet(schema, &columns, 2, Compression::SNAPPY));
    assert_eq!(sketch(&path).expect("a sketch"), [numbers("a", 2.0, 2.0), words("b", &["true"])]);
}

#[test]
fn too_many_words_are_cut_off() {
    let rows: String = (0..500).map(|row| format!("name {row},{row}\n")).collect();
    let (_folder, path) = file("log.csv", format!("name,row\n{rows}"));
    let found = sketch(&path).expect("a sketch");
    assert!(matches!(&found[0].kind, ColumnValues::Words(words) if words.len() == 51));
    assert_eq!(found[1], numbers("row", 0.0, 499.0));
    let text = rarely_policy::draft("named", &found, "none", "row", None);
    assert!(text.contains("the column \"name\" is left out: it has too many different words"), "{text}");
}

#[test]
fn files_that_cannot_be_sketched() {
    let (folder, path) = file("log.csv", "a,b\n");
    assert_eq!(message(sketch(&path), &folder), "log.csv: there is no row\nhelp: add one row for every case");
    let (folder, path) = file("log.csv", "a,b\n1,2\n1\n");
    assert_eq!(
        message(sketch(&path), &folder),
        "log.csv, line 3, column 2 (b): this column is missing: the row has 1 of 2 columns\nhelp: give every row one field for each name in the header"
    );
}

#[test]
fn values_are_counted_in_bins_and_by_word() {
    let text = "age,sex,flag,empty\n40,f,0,\n64,m,0.0,\nNA, f ,1,NA\n41,,x,\n";
    let (_folder, path) = file("log.csv", text);
    let found = rarely_data::sketch(&path, &DataFormat::default()).expect("a sketch");
    let spreads = read_spreads(&found.columns, &path, &DataFormat::default(), |_| Ok::<(), DataError>(()));
    let spreads = spreads.expect("spreads");
    let ColumnSpread::Bins(ages) = &spreads[0] else { panic!("{spreads:?}") };
    // From 40 to 64 in 24 bins: 40 in the first, 41 in the second, the highest in the last.
    assert_eq!((ages[0], ages[1], ages[23], ages.iter().sum::<u64>()), (1, 1, 1, 3));
    let counted = |spread: &ColumnSpread| match spread {
        ColumnSpread::Words { listed, others } => (listed.clone(), *others),
        ColumnSpread::Bins(_) => panic!("{spread:?}"),
    };
    assert_eq!(counted(&spreads[1]), (vec![("f".to_owned(), 2), ("m".to_owned(), 1)], 0));
    // `0` and `0.0` are one word.
    let flags = vec![("0".to_owned(), 2), ("1".to_owned(), 1), ("x".to_owned(), 1)];
    assert_eq!(counted(&spreads[2]), (flags, 0));
    assert_eq!(counted(&spreads[3]), (Vec::new(), 0));
}

#[test]
fn what_a_sketch_does_not_list_is_counted_together() {
    let rows: Vec<String> = (0..200).map(|at| format!("word-{at}\n")).collect();
    let (_folder, path) = file("log.csv", format!("word\n{}", rows.concat()));
    let found = rarely_data::sketch(&path, &DataFormat::default()).expect("a sketch");
    let spreads = read_spreads(&found.columns, &path, &DataFormat::default(), |_| Ok::<(), DataError>(()));
    let spreads = spreads.expect("spreads");
    let ColumnSpread::Words { listed, others } = &spreads[0] else { panic!("{spreads:?}") };
    assert_eq!(listed.iter().map(|(_, count)| count).sum::<u64>() + others, 200);
    assert!(*others > 0, "{listed:?}");
}

#[test]
fn a_sketch_tells_how_far_it_is_and_stops_when_it_is_told_to() {
    #[derive(Debug)]
    enum Stop {
        Told,
        Failed,
    }
    impl From<DataError> for Stop {
        fn from(_: DataError) -> Self {
            Self::Failed
        }
    }
    let rows = "1,2\n".repeat(50_000);
    let (_folder, path) = file("log.csv", format!("a,b\n{rows}"));
    let mut seen = Vec::new();
    let watch = |at| {
        seen.push(at);
        if seen.len() > 5 { Err(Stop::Told) } else { Ok(()) }
    };
    let stopped = sketch_watched(&path, &DataFormat::default(), watch);
    assert!(matches!(stopped, Err(Stop::Told)), "{stopped:?}");
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 == pair[1].1), "{seen:?}");
    assert!(seen.last().is_some_and(|(done, total)| done < total), "{seen:?}");
}

//! Tables as CSV and Parquet.

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use rarely_output::ColumnTable;

fn people() -> ColumnTable {
    ColumnTable::default()
        .texts("name", ["Ada", "Bo, junior", "\"C\"", "D\nE"])
        .counts("visits", [1, 2, 3, u64::from(u32::MAX)])
        .numbers("share", [0.1, f64::NAN, -1e-9, f64::INFINITY])
        .optional("gain", [None, Some(2.5), Some(f64::NAN), Some(-0.0)])
}

#[test]
fn csv_quotes_what_it_must_and_leaves_missing_numbers_empty() {
    let expected = "name,visits,share,gain\n\
                    Ada,1,0.1,\n\
                    \"Bo, junior\",2,,2.5\n\
                    \"\"\"C\"\"\",3,-0.000000001,\n\
                    \"D\nE\",4294967295,,-0\n";
    assert_eq!(people().to_csv(), expected);
}

#[test]
fn no_text_of_a_csv_begins_like_a_formula() {
    let texts = ["=1+1", "+49 30", "-", "@name", "\tx", "\r=x", "-3.5", "+7", "a=b", "−1"];
    let table = ColumnTable::default().texts("=head", texts).numbers("number", [-1.0; 10]);
    let expected =
        "'=head,number\n'=1+1,-1\n'+49 30,-1\n'-,-1\n'@name,-1\n'\tx,-1\n\"'\r=x\",-1\n-3.5,-1\n+7,-1\na=b,-1\n−1,-1\n";
    assert_eq!(table.to_csv(), expected);
}

#[test]
fn parquet_has_the_same_cells() {
    let bytes = people().labelled("set", "one").to_parquet().expect("a file");
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("Parquet");
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 4);
    for (row, name) in rows.iter().zip(["Ada", "Bo, junior", "\"C\"", "D\nE"]) {
        assert_eq!(row.get_string(0).expect("a text"), "one");
        assert_eq!(row.get_string(1).expect("a text"), name);
    }
    assert_eq!(rows[2].get_double(3).expect("a number"), -1e-9);
    assert!(rows[1].get_double(3).is_err() && rows[0].get_double(4).is_err(), "missing numbers are null");
    assert_eq!(rows[1].get_double(4).expect("a number"), 2.5);
}

#[test]
#[should_panic(expected = "b has as many rows as the others")]
fn columns_have_one_length() {
    let _ = ColumnTable::default().counts("a", [1, 2]).counts("b", [1]);
}

//! Parquet files that were cut short or have a byte changed: an error or other values, never a panic.

use std::path::Path;

use parquet::basic::{Compression, ZstdLevel};
use rarely_data::{DataError, LogError, LogReader};
use rarely_policy::FieldValue;

use crate::support::{Column, explained, file, parquet};

fn log(compression: Compression) -> Vec<u8> {
    let schema = "message log {
        optional double number; required int64 whole; optional binary word (STRING); required boolean flag; required binary id (STRING);
    }";
    let rows = 0..80_i64;
    let columns = [
        Column::Numbers(rows.clone().map(|row| (row % 7 != 0).then_some(row as f64 / 3.0)).collect()),
        Column::Wholes(rows.clone().map(Some).collect()),
        Column::Words(
            rows.clone().map(|row| (row % 5 != 0).then(|| format!("word {}", row % 3).into_bytes())).collect(),
        ),
        Column::Booleans(rows.clone().map(|row| row % 2 == 0).collect()),
        Column::Words(rows.map(|row| Some(format!("{}", row * 7919 % 151).into_bytes())).collect()),
    ];
    parquet(schema, &columns, 50, compression)
}

/// Rows that can be read and a digest of them.
fn read(path: &Path) -> Result<(u64, u64), DataError> {
    let wanted = ["number", "whole", "word", "flag", "id"].map(str::to_owned);
    let mut log = LogReader::open(path, &wanted)?;
    let (mut rows, mut digest) = (0, 0_u64);
    loop {
        match log.next() {
            Ok(None) => return Ok((rows, digest)),
            Ok(Some(record)) => {
                rows += 1;
                for wanted in 0..wanted.len() {
                    let part = match record.value(wanted) {
                        FieldValue::Missing => 1,
                        FieldValue::Number(number) => number.to_bits(),
                        FieldValue::Text(text) => {
                            text.bytes().fold(2, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte))
                        }
                    };
                    digest = digest.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(part);
                }
            }
            Err(LogError::Row(_)) => {}
            Err(LogError::File(error)) => return Err(error),
        }
    }
}

#[test]
fn a_file_cut_short_is_an_error_wherever_it_is_cut() {
    for compression in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
        let whole = log(compression);
        let (_folder, path) = file("log.parquet", &whole);
        assert_eq!(read(&path).expect("a log").0, 80);
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).expect("written");
            let message = explained(&read(&path).expect_err("cut short"));
            assert!(message.contains("log.parquet: not a readable Parquet file ("), "{message}");
            assert!(
                message.ends_with("the file is damaged or incomplete: write it again, or get it again"),
                "{message}"
            );
        }
    }
}

/// The end of a file is found by its last bytes: a footer that is whole, over data that are not.
#[test]
fn a_file_with_a_hole_is_an_error_or_reads_on() {
    let whole = log(Compression::SNAPPY);
    let (_folder, path) = file("log.parquet", &whole);
    let footer = whole.len()
        - 8
        - u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().expect("four bytes")) as usize;
    for from in (4..footer - 16).step_by(5) {
        let holed = [&whole[..from], &whole[from + 16..]].concat();
        std::fs::write(&path, holed).expect("written");
        if let Err(error) = read(&path) {
            assert!(error.to_string().contains("log.parquet"), "{error}");
        }
    }
}

/// The unpacker's own panics are caught; what it prints of them goes to the test's output.
#[test]
fn a_changed_byte_is_an_error_or_another_value() {
    let formats =
        [(Compression::UNCOMPRESSED, 1), (Compression::SNAPPY, 3), (Compression::ZSTD(ZstdLevel::default()), 3)];
    for (compression, step) in formats {
        let whole = log(compression);
        let (_folder, path) = file("log.parquet", &whole);
        for (turn, at) in (0..whole.len()).step_by(step).enumerate() {
            let mut changed = whole.clone();
            changed[at] ^= [0xff, 0x01, 0x80][turn % 3];
            std::fs::write(&path, changed).expect("written");
            match read(&path) {
                Ok((rows, _)) => assert!(rows <= 1_000_000),
                Err(error) => assert!(error.to_string().contains("log.parquet"), "{error}"),
            }
        }
    }
}

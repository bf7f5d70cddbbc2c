//! Tables in memory: the same cases, the same people and the same problems as from a file.

use std::sync::Arc;

use rarely_data::{Cases, DataError, LoggedCase, MemoryTable, people_of_table, read_people};
use rarely_output::Ticks;
use rarely_policy::FieldValue;

use crate::support::{cases, columns, document, explained, file};

/// A table of words and numbers; a column without values holds something else.
struct Small {
    names: Vec<String>,
    columns: Vec<Vec<Cell>>,
}

#[derive(Clone)]
enum Cell {
    Missing,
    Number(f64),
    Words(String),
}

impl MemoryTable for Small {
    fn label(&self) -> &'static str {
        "the frame"
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> u64 {
        self.columns.iter().map(Vec::len).max().unwrap_or(0) as u64
    }

    fn check(&self, column: usize) -> Result<(), String> {
        if self.columns[column].is_empty() && self.rows() > 0 { Err("lists".to_owned()) } else { Ok(()) }
    }

    fn value(&self, row: u64, column: usize) -> FieldValue<'_> {
        match &self.columns[column][usize::try_from(row).expect("few rows")] {
            Cell::Missing => FieldValue::Missing,
            Cell::Number(number) => FieldValue::Number(*number),
            Cell::Words(words) => FieldValue::Text(words),
        }
    }
}

/// The same table with rows that count from 1.
struct Numbered(Arc<dyn MemoryTable>);

impl MemoryTable for Numbered {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn names(&self) -> &[String] {
        self.0.names()
    }

    fn rows(&self) -> u64 {
        self.0.rows()
    }

    fn check(&self, column: usize) -> Result<(), String> {
        self.0.check(column)
    }

    fn value(&self, row: u64, column: usize) -> FieldValue<'_> {
        self.0.value(row, column)
    }

    fn line(&self, row: u64) -> Option<u64> {
        Some(row + 1)
    }
}

/// A CSV file as a table; numbers are numbers if `typed` says so, and words as they are written if not.
fn table(csv: &str, typed: bool) -> Arc<dyn MemoryTable> {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names: Vec<String> = lines.next().expect("a header");
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, field) in columns.iter_mut().zip(line) {
            column.push(match field.parse() {
                Ok(number) if typed => Cell::Number(number),
                _ if field.is_empty() => Cell::Missing,
                _ => Cell::Words(field),
            });
        }
    }
    let names = names.into_iter().map(|name| name.replace("age", "age, in years")).collect();
    Arc::new(Small { names, columns })
}

fn read(table: Arc<dyn MemoryTable>, limit: u64) -> Result<(Vec<LoggedCase>, Vec<String>), DataError> {
    let document = document();
    let mut cases = Cases::of_table(&document, &columns(true, true), table, limit)?;
    let (mut case, mut all) = (LoggedCase::new(&document), Vec::new());
    while cases.next(&mut case)? {
        all.push(case.clone());
    }
    assert_eq!(cases.progress().0, cases.progress().1, "all rows are read at the end");
    assert_eq!(cases.rejected().len() as u64, cases.rejected_count());
    Ok((all, cases.rejected().iter().map(ToString::to_string).collect()))
}

const LOG: &str = "systolic,id,diabetic,age,given,wellbeing,chance,seen
150,1,yes,60,treat,0.75,0.5,2026-01-01
80,2, no ,12e1,watch,1,1,2026-01-01
15,3,yes,60,treat,0.5,1,2026-01-02
150,4,perhaps,60,treat,0.5,1,2026-01-02
150,5,yes,,treat,0.5,1,2026-01-02
150,6,yes,60,treet,0.5,1,2026-01-02
150,7,yes,60,treat,good,1,2026-01-02
150,8,yes,60,treat,0.5,1,soon
220,9,yes,0,refer,0,1e-3,2026-01-02T00:00:00Z";

#[test]
fn a_table_gives_what_a_file_gives() {
    let (_folder, path) = file("log.csv", LOG.replace("age", "\"age, in years\""));
    let (from_file, problems) = cases(&columns(true, true), std::slice::from_ref(&path), 10).expect("cases");
    for typed in [true, false] {
        let (from_table, rejected) = read(table(LOG, typed), 10).expect("cases");
        assert_eq!(from_table, from_file);
        let problem =
            |message: &String| message.split_once("): ").or(message.split_once("`: ")).expect("a place").1.to_owned();
        assert_eq!(rejected.iter().map(problem).collect::<Vec<_>>(), problems.iter().map(problem).collect::<Vec<_>>());
        let rows = LOG.lines().count();
        let everybody = people_of_table(&document(), table(LOG, typed), 10, rows).expect("people");
        let of_file = read_people(&document(), std::slice::from_ref(&path), 10, rows).expect("people");
        assert_eq!((everybody.contexts, everybody.rows), (of_file.contexts, of_file.rows));
    }
}

#[test]
fn a_problem_has_a_row_and_a_column() {
    let check = |log: &str, limit, expected: &str| {
        let found = read(table(log, true), limit).expect_err("an error");
        assert_eq!(explained(&found), expected);
    };
    check(
        LOG,
        0,
        "the frame, row 2 (from 0), column `systolic`: systolic is 15, below its range 80–220 mmHg\nhelp: correct the value, or widen the range in the policy document",
    );
    check(
        &LOG.replace("diabetic", "diabetes"),
        0,
        "the frame: no column \"diabetic\"; the columns are systolic, id, diabetes, age, in years, given, wellbeing, chance, seen\nhelp: did you mean \"diabetes\"? Correct the name, or rename the column",
    );
    check(
        &LOG.replace("id,", "given,"),
        0,
        "the frame: columns 2 and 5 are both named \"given\"\nhelp: rename or remove one of the columns",
    );
    check(&LOG[..LOG.find('\n').expect("a header")], 0, "the frame: there is no row\nhelp: add one row for every case");
    let backwards = LOG.replace("refer,0,1e-3,2026-01-02", "refer,0,1e-3,2025-01-02");
    let found = read(table(&backwards, true), 10).expect_err("an error").to_string();
    assert!(
        found.starts_with("the frame, row 8 (from 0), column `seen`: found 2025-01-02T00:00:00Z, which is before 2026-01-01 (the frame, row 1"),
        "{found}"
    );
}

#[test]
fn rows_may_count_from_one() {
    let found = |log: &str, limit| read(Arc::new(Numbered(table(log, true))), limit).expect_err("an error").to_string();
    let bad = found(LOG, 0);
    assert!(bad.starts_with("the frame, row 3, column `systolic`: systolic is 15"), "{bad}");
    let backwards = found(&LOG.replace("refer,0,1e-3,2026-01-02", "refer,0,1e-3,2025-01-02"), 10);
    assert!(
        backwards.starts_with(
            "the frame, row 9, column `seen`: found 2025-01-02T00:00:00Z, which is before 2026-01-01 (the frame, row 2"
        ),
        "{backwards}"
    );
}

#[test]
fn a_column_of_something_else_is_an_error_only_if_it_is_wanted() {
    let lists = |name: &str| {
        let names: Vec<String> =
            ["systolic", "id", "diabetic", "age, in years", "given", "wellbeing", "chance", "seen"]
                .map(str::to_owned)
                .to_vec();
        let cells = [
            Cell::Number(150.0),
            Cell::Number(1.0),
            Cell::Words("yes".to_owned()),
            Cell::Number(60.0),
            Cell::Words("treat".to_owned()),
            Cell::Number(1.0),
            Cell::Number(1.0),
            Cell::Number(7.0),
        ];
        let columns = names.iter().zip(cells).map(|(other, cell)| if other == name { Vec::new() } else { vec![cell] });
        let columns = columns.collect();
        read(Arc::new(Small { names, columns }), 0)
    };
    assert_eq!(lists("id").expect("a case").0.len(), 1);
    assert_eq!(
        explained(&lists("given").expect_err("an error")),
        "the frame, column `given`: it holds lists, which is neither numbers nor text\nhelp: make it a column of numbers, booleans or strings"
    );
}

#[test]
fn times_are_words_that_sort() {
    let written = |ticks: Ticks, count| {
        let mut text = String::new();
        ticks.write(&mut text, count);
        text
    };
    assert_eq!(written(Ticks::Days, 20_773), "2026-11-16");
    assert_eq!(written(Ticks::Seconds { digits: 3, universal: true }, -1), "1969-12-31T23:59:59.999Z");
    assert_eq!(written(Ticks::Seconds { digits: 9, universal: false }, 1), "1970-01-01T00:00:00.000000001");
}

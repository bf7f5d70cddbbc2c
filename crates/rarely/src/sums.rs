//! `rarely sums`: statements by which the engine that has a log computes its sums, and their results.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rarely_data::{LogError, LogReader};
use rarely_error::Topic;
use rarely_policy::{FieldValue, PolicyDocument};
use rarely_review::{Dialect, EvidenceBase, LogTable, RESULT_COLUMNS, SummedLog, SumsError, SumsRow};
use serde_json::Value;

use crate::failure::{Failure, OrFail as _, parse};
use crate::log::PopulationOptions;
use crate::output::{print, say};

/// What to do with the sums of a log.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the SQL statement that computes what a review needs of a log, for the engine that has it
    Sql(SqlArguments),
}

#[derive(Debug, Args)]
struct SqlArguments {
    /// The policy document, with the key of a row and its time
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// The engine's SQL: duckdb, postgres, spark, bigquery, snowflake or clickhouse
    #[arg(long, value_parser = parse::<Dialect>)]
    dialect: Dialect,
    /// Result of the first statement: print the second one, which makes the errors of gains robust
    #[arg(long, value_name = "RESULT")]
    after: Option<PathBuf>,
    /// Column with the option that was given [default: the document's option_column]
    #[arg(long, value_name = "COLUMN")]
    option_column: Option<String>,
    /// Number of bad rows to tolerate in the first result
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    reject_limit: u64,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    population: PopulationOptions,
}

/// A log in an engine.
#[derive(Debug, Args)]
#[command(next_help_heading = "A log in a database")]
pub(crate) struct TableOptions {
    /// The table with the log, as the engine names it, or a query in parentheses
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// Condition on its rows in the engine's SQL, such as "decided_at < '2026-10-01'" for a period whose outcomes are known
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) filter: Option<String>,
    /// Column by which the latest of several rows with one key is chosen, such as the time of the last update
    #[arg(long, value_name = "COLUMN")]
    pub(crate) latest_by: Option<String>,
}

impl TableOptions {
    /// The log in an engine.
    pub(crate) fn log(&self, dialect: Dialect) -> Result<LogTable<'_>, Failure> {
        let missing = || Failure::new("no table is named").help("name the table with the log: --table TABLE");
        let table = self.table.as_deref().ok_or_else(missing)?;
        Ok(LogTable { dialect, table, filter: self.filter.as_deref(), latest_by: self.latest_by.as_deref() })
    }

    /// Whether anything is said of a table.
    pub(crate) fn is_given(&self) -> bool {
        self.table.is_some() || self.filter.is_some() || self.latest_by.is_some()
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Command::Sql(arguments) = &arguments.command;
    let mut document = PolicyDocument::read(&arguments.policy)?;
    if let Some(column) = &arguments.option_column {
        document = document.with_option_column(column.clone());
    }
    let log = arguments.table.log(arguments.dialect)?;
    let Some(first) = &arguments.after else {
        return print(&log.first_scan(&document)?);
    };
    let mut tally = read(first, &document, arguments.reject_limit)?.tally;
    tally.look(&document)?;
    let base = EvidenceBase::of(&document, &tally, arguments.population.read(&document)?)?;
    let divided = || Failure::new("there is nothing to read again: the rows of this log are not divided");
    print(&log.second_scan(&base)?.ok_or_else(divided)?)
}

/// The statistics in the result of a first statement.
pub(crate) fn read(path: &Path, document: &PolicyDocument, reject_limit: u64) -> Result<SummedLog, Failure> {
    let log = SummedLog::read(document, rows(path)?).map_err(|error| at(path, error))?;
    check_rejected(&log, reject_limit)?;
    Ok(log)
}

/// Says which rows were not used, and refuses if there are too many.
pub(crate) fn check_rejected(log: &SummedLog, limit: u64) -> Result<(), Failure> {
    log.check_rejected(limit)?;
    let rejected = log.tally.rejected();
    if rejected > 0 {
        say(&format!(
            "{} not used:",
            if rejected == 1 { "1 row was".to_owned() } else { format!("{rejected} rows were") }
        ));
        for rows in &log.rejected {
            say(&format!("  {rows}"));
        }
    }
    if log.waiting > 0 {
        let rows = if log.waiting == 1 { "1 row".to_owned() } else { format!("{} rows", log.waiting) };
        say(&format!("{rows} without an outcome yet: left out, and not counted as bad"));
    }
    Ok(())
}

/// An error of a result in a file.
pub(crate) fn at(path: &Path, error: SumsError) -> Failure {
    Failure::from(error).at(path.display())
}

/// The rows of a result: CSV, TSV, Parquet, NDJSON or JSON.
pub(crate) fn rows(path: &Path) -> Result<Vec<SumsRow>, Failure> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return json_rows(path);
    }
    let mut reader = LogReader::open(path, &RESULT_COLUMNS.map(str::to_owned))?;
    let mut rows = Vec::new();
    loop {
        let row = reader.next().map_err(|error| match error {
            LogError::Row(rejection) => Failure::new(rejection.to_string()).help(RUN_AGAIN),
            LogError::File(error) => Failure::from(error),
        })?;
        let Some(row) = row else { return Ok(rows) };
        let text = |at: usize| match row.value(at) {
            FieldValue::Missing => String::new(),
            FieldValue::Number(number) => number.to_string(),
            FieldValue::Text(text) => text.to_owned(),
        };
        let place = |at: usize| {
            let text = text(at);
            let number = text.parse().ok();
            number.ok_or_else(|| not_whole(path, rows.len(), RESULT_COLUMNS[at], &text))
        };
        let (option, part, position) = (place(1)?, place(2)?, place(3)?);
        rows.push(SumsRow { kind: text(0), option, part, position, numbers: text(4) });
    }
}

const RUN_AGAIN: &str = "run the statement again and give its whole result, unchanged";

fn not_whole(path: &Path, row: usize, column: &str, found: &str) -> Failure {
    let what =
        format!("{}: row {} has {found:?} in {column:?}, where a whole number is expected", path.display(), row + 1);
    Failure::new(what).help(RUN_AGAIN).see(Topic::WarehouseTraps)
}

/// The rows of a JSON file: an array of objects, or objects one after the other.
fn json_rows(path: &Path) -> Result<Vec<SumsRow>, Failure> {
    let text = fs::read_to_string(path).or_fail_with(|| format!("{}: cannot be read", path.display()))?;
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
    let values =
        values.map_err(|error| Failure::new(format!("{}: is not JSON ({error})", path.display())).help(RUN_AGAIN))?;
    let objects = values.into_iter().flat_map(|value| match value {
        Value::Array(objects) => objects,
        value => vec![value],
    });
    let row = |(at, object): (usize, Value)| {
        let text = |name: &str| match &object[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let place = |name: &str| text(name).parse().map_err(|_| not_whole(path, at, name, &text(name)));
        Ok(SumsRow {
            kind: text("kind"),
            option: place("option")?,
            part: place("part")?,
            position: place("position")?,
            numbers: text("numbers"),
        })
    };
    objects.enumerate().map(row).collect()
}

//! The few things in which SQL engines differ.

use std::fmt;
use std::str::FromStr;

use super::error::SumsError;

/// An engine whose SQL is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
    /// PostgreSQL, from version 12 on.
    Postgres,
    /// Apache Spark, from version 3.3 on.
    Spark,
    /// Google BigQuery.
    BigQuery,
    /// Snowflake.
    Snowflake,
    /// ClickHouse.
    ClickHouse,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::DuckDb, Self::Postgres, Self::Spark, Self::BigQuery, Self::Snowflake, Self::ClickHouse];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::DuckDb => "duckdb",
            Self::Postgres => "postgres",
            Self::Spark => "spark",
            Self::BigQuery => "bigquery",
            Self::Snowflake => "snowflake",
            Self::ClickHouse => "clickhouse",
        }
    }

    /// The name of a column.
    pub(super) fn column(self, name: &str) -> String {
        match self {
            // Tables that were created without quotes have names in capitals there.
            Self::Snowflake if is_plain(name) => name.to_owned(),
            Self::DuckDb | Self::Postgres | Self::Snowflake => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::Spark => format!("`{}`", name.replace('`', "``")),
            Self::BigQuery | Self::ClickHouse => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
        }
    }

    /// The name of a column of the result, which keeps its small letters.
    pub(super) fn result_column(self, name: &str) -> String {
        if self == Self::Snowflake { format!("\"{name}\"") } else { name.to_owned() }
    }

    /// A text.
    pub(super) fn text(self, text: &str) -> String {
        let text = match self {
            Self::DuckDb | Self::Postgres => text.replace('\'', "''"),
            Self::Snowflake => text.replace('\\', "\\\\").replace('\'', "''").replace('\n', "\\n"),
            Self::Spark | Self::BigQuery | Self::ClickHouse => {
                text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")
            }
        };
        format!("'{text}'")
    }

    /// A number in double precision, with all its bits: engines read `0.1` as a decimal.
    pub(super) fn double(self, value: f64) -> String {
        match self {
            Self::DuckDb => format!("'{value:?}'::DOUBLE"),
            Self::Postgres => format!("'{value:?}'::float8"),
            Self::Snowflake => format!("'{value:?}'::FLOAT"),
            // Two minus signs would start a comment.
            Self::Spark if value.is_sign_negative() => format!("({value:?}D)"),
            Self::Spark => format!("{value:?}D"),
            Self::BigQuery | Self::ClickHouse if value.is_sign_negative() => format!("({value:?})"),
            Self::BigQuery | Self::ClickHouse => format!("{value:?}"),
        }
    }

    /// A value in double precision; `NULL`, or the engine's own error, if it is not a number.
    pub(super) fn number(self, value: &str) -> String {
        match self {
            Self::DuckDb | Self::Spark => format!("TRY_CAST({value} AS DOUBLE)"),
            Self::Postgres => format!("CAST({value} AS float8)"),
            Self::BigQuery => format!("SAFE_CAST({value} AS FLOAT64)"),
            Self::Snowflake => format!("CAST({value} AS FLOAT)"),
            Self::ClickHouse => format!("CAST({value} AS Nullable(Float64))"),
        }
    }

    /// Whether a text that is not a number becomes `NULL`.
    pub(super) fn reads_any_text(self) -> bool {
        matches!(self, Self::DuckDb | Self::Spark | Self::BigQuery)
    }

    /// A whole number in double precision.
    pub(super) fn as_double(self, value: &str) -> String {
        match self {
            Self::DuckDb | Self::Spark => format!("CAST({value} AS DOUBLE)"),
            Self::Postgres => format!("CAST({value} AS float8)"),
            Self::BigQuery => format!("CAST({value} AS FLOAT64)"),
            Self::Snowflake => format!("CAST({value} AS FLOAT)"),
            Self::ClickHouse => format!("toFloat64({value})"),
        }
    }

    /// The text of a value. That of a double reads back as the same number.
    pub(super) fn text_of(self, value: &str) -> String {
        match self {
            Self::DuckDb => format!("CAST({value} AS VARCHAR)"),
            Self::Postgres => format!("CAST({value} AS text)"),
            Self::Spark | Self::BigQuery => format!("CAST({value} AS STRING)"),
            Self::Snowflake => format!("TO_VARCHAR({value})"),
            Self::ClickHouse => format!("toString({value})"),
        }
    }

    /// The text of a double, which reads back as the same number.
    pub(super) fn text_of_double(self, value: &str) -> String {
        match self {
            Self::BigQuery => format!("FORMAT('%.17g', {value})"),
            Self::Snowflake => format!("TO_VARCHAR({value}, 'TME')"),
            _ => self.text_of(value),
        }
    }

    /// `⌊value⌋` as a whole number of 64 bits.
    pub(super) fn floor(self, value: &str) -> String {
        match self {
            Self::DuckDb | Self::Postgres | Self::Spark => format!("CAST(floor({value}) AS BIGINT)"),
            Self::BigQuery => format!("CAST(floor({value}) AS INT64)"),
            Self::Snowflake => format!("CAST(floor({value}) AS NUMBER(38, 0))"),
            Self::ClickHouse => format!("toInt64(floor({value}))"),
        }
    }

    /// A whole number in double precision, of at most nine digits, in the type whose products add exactly.
    pub(super) fn whole(self, value: &str) -> String {
        match self {
            // DuckDB checks every product of BIGINT for overflow, but none of short decimals.
            Self::DuckDb => format!("CAST({value} AS DECIMAL(9, 0))"),
            Self::Postgres | Self::Spark => format!("CAST({value} AS BIGINT)"),
            Self::BigQuery => format!("CAST({value} AS INT64)"),
            Self::Snowflake => format!("CAST({value} AS NUMBER(38, 0))"),
            Self::ClickHouse => format!("toInt64({value})"),
        }
    }

    /// The number of rows for which a condition holds.
    pub(super) fn count_where(self, condition: &str) -> String {
        match self {
            Self::DuckDb | Self::Spark | Self::Snowflake => format!("count_if({condition})"),
            Self::Postgres => format!("count(*) FILTER (WHERE {condition})"),
            Self::BigQuery => format!("countif({condition})"),
            Self::ClickHouse => format!("countIf({condition})"),
        }
    }

    /// The 32 hexadecimal digits of MD5, in small letters.
    pub(super) fn md5(self, text: &str) -> String {
        match self {
            Self::DuckDb | Self::Spark | Self::Snowflake => format!("md5({text})"),
            // Compared byte by byte, whatever the language of the database.
            Self::Postgres => format!("md5({text}) COLLATE \"C\""),
            Self::BigQuery => format!("to_hex(md5({text}))"),
            Self::ClickHouse => format!("lower(hex(MD5({text})))"),
        }
    }

    /// Whether a regular expression without backslashes matches a text.
    pub(super) fn matches(self, value: &str, pattern: &str) -> String {
        let pattern = self.text(pattern);
        match self {
            Self::DuckDb => format!("regexp_matches({value}, {pattern})"),
            Self::Postgres => format!("{value} ~ {pattern}"),
            Self::Spark => format!("{value} RLIKE {pattern}"),
            Self::BigQuery => format!("REGEXP_CONTAINS({value}, {pattern})"),
            Self::Snowflake => format!("REGEXP_LIKE({value}, {pattern})"),
            Self::ClickHouse => format!("match(ifNull({value}, ''), {pattern})"),
        }
    }

    /// The whole seconds of a date or a time since the beginning of 1970, rounded down.
    pub(super) fn seconds(self, time: &str) -> String {
        match self {
            Self::DuckDb => format!("CAST(floor(epoch({time})) AS BIGINT)"),
            Self::Postgres => format!("CAST(floor(extract(epoch FROM {time})) AS BIGINT)"),
            Self::Spark => format!("unix_seconds(CAST({time} AS TIMESTAMP))"),
            Self::BigQuery => format!("UNIX_SECONDS(TIMESTAMP({time}))"),
            Self::Snowflake => format!("DATE_PART(EPOCH_SECOND, {time})"),
            Self::ClickHouse => {
                format!("toInt64(floor(toUnixTimestamp64Milli(toDateTime64({time}, 3, 'UTC')) / 1000))")
            }
        }
    }

    /// The text of a sum of whole numbers below 2⁵⁴. Where 64 bits are too few, it is the two sums `high:low` of the parts above and below 2²⁶.
    pub(super) fn wide_sum(self, value: &str) -> String {
        match self {
            Self::DuckDb | Self::Postgres | Self::Snowflake => self.text_of(&format!("sum({value})")),
            Self::ClickHouse => format!("toString(sum(toInt128({value})))"),
            Self::Spark | Self::BigQuery => {
                let high =
                    if self == Self::Spark { format!("shiftright({value}, 26)") } else { format!("(({value}) >> 26)") };
                format!("concat(CAST(sum({high}) AS STRING), ':', CAST(sum(({value}) & 67108863) AS STRING))")
            }
        }
    }

    /// Texts, separated by commas. One that is `NULL` leaves a text that is too short to be read.
    pub(super) fn joined(self, texts: &[String]) -> String {
        // A function has at most 100 arguments in PostgreSQL.
        let between = texts.join(",\n      ");
        match self {
            Self::DuckDb | Self::Spark => format!("concat_ws(',',\n      {between})"),
            Self::Postgres => format!("array_to_string(ARRAY[\n      {between}], ',')"),
            Self::BigQuery => format!("ARRAY_TO_STRING([\n      {between}], ',')"),
            Self::Snowflake => format!("ARRAY_TO_STRING(ARRAY_CONSTRUCT(\n      {between}), ',')"),
            Self::ClickHouse => {
                let texts: Vec<String> = texts.iter().map(|text| format!("ifNull({text}, 'NULL')")).collect();
                format!("arrayStringConcat([\n      {}], ',')", texts.join(",\n      "))
            }
        }
    }

    /// What stands between the name of a part of the statement and its text: it is computed where it is used, or stored.
    pub(super) fn named_as(self, is_stored: bool) -> &'static str {
        match (self.stores_parts(), is_stored) {
            (false, _) => "AS",
            (true, false) => "AS NOT MATERIALIZED",
            (true, true) => "AS MATERIALIZED",
        }
    }

    /// Whether a part that is used twice can be computed once.
    pub(super) fn stores_parts(self) -> bool {
        matches!(self, Self::DuckDb | Self::Postgres)
    }

    /// The end of a part whose columns are used often: PostgreSQL would compute them at every use.
    pub(super) fn fence(self) -> &'static str {
        if self == Self::Postgres { "\n  OFFSET 0" } else { "" }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = SumsError;

    fn from_str(name: &str) -> Result<Self, SumsError> {
        let unknown = || SumsError::UnknownDialect { found: name.to_owned() };
        Self::ALL.into_iter().find(|dialect| dialect.name().eq_ignore_ascii_case(name)).ok_or_else(unknown)
    }
}

/// Letters, digits and underscores, not a digit first.
fn is_plain(name: &str) -> bool {
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.chars().all(word) && !name.starts_with(|first: char| first.is_ascii_digit())
}

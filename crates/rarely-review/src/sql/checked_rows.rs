//! The first parts of every statement: the columns of the log, each read once, the check of every value, and the context.
//!
//! | part | its columns |
//! |---|---|
//! | `rarely_log` | what the log says, as numbers and words: `given_1`, … by feature |
//! | `checked` | the same where it is allowed, `NULL` elsewhere: `x_1` of a number, `level_2` of a word, counted from 0 |
//! | `coded` | `fault`, 0 for a row that is used; the context `u_1`, …, from 0 to 1; the reward; the hash of the key |

use rarely_policy::{FeatureKind, PolicyDocument, canonical_code};

use super::LogTable;

/// Why a row is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its outcome is not known yet.
    Waiting,
    /// A feature is missing, or not a number.
    Missing(usize),
    /// A feature is out of its range, or of an unknown level.
    NotAllowed(usize),
    /// The outcome is out of its range, or not a number.
    Outcome,
    /// The option is missing or unknown.
    Option,
    /// The key is missing.
    Key,
    /// The time is missing.
    Time,
}

/// Every fault; its number in the statement is its place, counted from 1.
pub(super) fn faults(document: &PolicyDocument) -> Vec<Fault> {
    let features = (0..document.features().len()).flat_map(|at| [Fault::Missing(at), Fault::NotAllowed(at)]);
    let mut faults = vec![Fault::Waiting];
    faults.extend(features);
    faults.extend([Fault::Outcome, Fault::Option, Fault::Key, Fault::Time]);
    faults
}

/// A part of a statement: its name, its comment and its text.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) comment: &'static str,
    pub(super) select: String,
    /// Whether it is computed once, where engines can: it is small, and used more than once.
    pub(super) is_stored: bool,
}

impl Part {
    pub(super) fn new(name: &'static str, comment: &'static str, select: String) -> Self {
        Self { name, comment, select, is_stored: false }
    }

    /// Computed once.
    pub(super) fn stored(self) -> Self {
        Self { is_stored: true, ..self }
    }
}

/// Writes the parts that both statements begin with.
pub(super) struct CheckedRows<'a> {
    pub(super) document: &'a PolicyDocument,
    pub(super) log: &'a LogTable<'a>,
}

impl CheckedRows<'_> {
    /// `rarely_log`, `checked` and `coded`.
    pub(super) fn parts(&self) -> Vec<Part> {
        vec![
            Part::new(
                "rarely_log",
                "What the log says. A value that is not a number where one is expected becomes NULL, and is counted.",
                self.log(),
            ),
            Part::new(
                "checked",
                "The same where it is allowed, NULL elsewhere. Levels and options are counted from 0.",
                self.checked(),
            ),
            Part::new(
                "coded",
                "Features from 0 to 1, the reward, and the hash by which rows are divided and sampled. Rows with a fault are counted.",
                self.coded(),
            ),
        ]
    }

    fn log(&self) -> String {
        let (sql, columns) = (self.log.dialect, self.document.log_columns());
        let column = |name: &str| format!("source.{}", sql.column(name));
        let words = |name: &str| format!("trim({})", sql.text_of(&column(name)));
        let mut lines = Vec::new();
        for (at, feature) in self.document.features().iter().enumerate() {
            let value = match feature.kind {
                FeatureKind::Numeric { .. } => sql.number(&column(&feature.column)),
                FeatureKind::Levels(_) => words(&feature.column),
            };
            lines.push(format!("{value} AS given_{}", at + 1));
        }
        let outcome = column(&self.document.outcome().column);
        lines.push(format!("{} AS given_outcome", sql.number(&outcome)));
        lines.push(format!("CASE WHEN {outcome} IS NULL THEN 1 ELSE 0 END AS waits"));
        lines.push(format!("{} AS given_option", words(self.document.option_column())));
        lines.push(format!("{} AS row_key", words(columns.key.as_deref().unwrap_or_default())));
        lines.push(match &columns.time {
            Some(time) => format!("{} AS row_second", sql.seconds(&column(time))),
            None => "0 AS row_second".to_owned(),
        });
        format!("{}\n  FROM {}", select(&lines), self.log.source(columns.key.as_deref().unwrap_or_default()))
    }

    fn checked(&self) -> String {
        let sql = self.log.dialect;
        let between = |value: &str, (low, high): (f64, f64)| {
            let (low, high) = (sql.double(low), sql.double(high));
            format!("CASE WHEN {value} >= {low} AND {value} <= {high} THEN {value} END")
        };
        let mut lines = Vec::new();
        for (at, feature) in self.document.features().iter().enumerate() {
            let given = format!("given_{}", at + 1);
            lines.push(given.clone());
            lines.push(match &feature.kind {
                FeatureKind::Numeric { low, high, .. } => format!("{} AS x_{}", between(&given, (*low, *high)), at + 1),
                FeatureKind::Levels(levels) => format!("{} AS level_{}", self.index(&given, levels, &[]), at + 1),
            });
        }
        let range = self.document.outcome().range.unwrap_or_default();
        lines.push(format!("{} AS outcome", between("given_outcome", range)));
        let (codes, labels) = (self.document.option_codes(), self.document.options());
        lines.push(format!("{} AS arm", self.index("given_option", codes, labels)));
        lines.extend(["waits", "row_key", "row_second"].map(str::to_owned));
        format!("{}\n  FROM rarely_log", select(&lines))
    }

    fn coded(&self) -> String {
        let sql = self.log.dialect;
        let mut lines = vec![format!("{} AS fault", self.fault())];
        for (at, feature) in self.document.features().iter().enumerate() {
            let at = at + 1;
            if let Some((low, high)) = feature.range() {
                let (low, width) = (sql.double(low), sql.double(high - low));
                lines.push(format!("x_{at}"));
                lines.push(format!("(x_{at} - {low}) / {width} AS u_{at}"));
            } else {
                lines.push(format!("level_{at}"));
            }
        }
        lines.extend(["outcome".to_owned(), format!("{} AS reward", self.reward()), "arm".to_owned()]);
        lines.push("row_second".to_owned());
        lines.push(format!("{} AS row_hash", sql.md5("row_key")));
        format!("{}\n  FROM checked{}", select(&lines), sql.fence())
    }

    /// 0 for a row that is used; otherwise the number of its first fault.
    fn fault(&self) -> String {
        let value = |at: usize| {
            let name = if self.document.features()[at].range().is_some() { "x" } else { "level" };
            format!("{name}_{}", at + 1)
        };
        let mut needed: Vec<String> = (0..self.document.features().len()).map(value).collect();
        needed.extend(["outcome", "arm", "row_second"].map(str::to_owned));
        let good: Vec<String> = needed.iter().map(|name| format!("{name} IS NOT NULL")).collect();
        let mut cases = vec![format!("WHEN {} AND row_key <> '' THEN 0", good.join(" AND "))];
        for (number, fault) in faults(self.document).into_iter().enumerate() {
            let when = match fault {
                Fault::Waiting => "waits = 1".to_owned(),
                Fault::Missing(at) => format!("given_{} IS NULL", at + 1),
                Fault::NotAllowed(at) => format!("{} IS NULL", value(at)),
                Fault::Outcome => "outcome IS NULL".to_owned(),
                Fault::Option => "arm IS NULL".to_owned(),
                Fault::Key => "row_key IS NULL OR row_key = ''".to_owned(),
                Fault::Time => "row_second IS NULL".to_owned(),
            };
            cases.push(format!("WHEN {when} THEN {}", number + 1));
        }
        format!("CASE {}\n      END", cases.join("\n      "))
    }

    /// The outcome's sign times the outcome, less what the option costs.
    fn reward(&self) -> String {
        let sql = self.log.dialect;
        let outcome = if self.document.outcome_sign() < 0.0 { "-outcome" } else { "outcome" };
        if !self.document.limits().has_costs() {
            return outcome.to_owned();
        }
        let costs = self.document.limits().costs().iter().map(|&cost| format!("{outcome} - {}", sql.double(cost)));
        by_arm(costs)
    }

    /// The place of a name in a list; `NULL` if it is not in it. A label stands for its name, and a code may be written in any way that the
    /// reader of files accepts, so that a row counts alike in both.
    fn index(&self, value: &str, names: &[String], labels: &[String]) -> String {
        let sql = self.log.dialect;
        let cases = |names: &[String]| -> String {
            let case = |(at, name): (usize, &String)| format!(" WHEN {} THEN {at}", sql.text(name));
            names.iter().enumerate().map(case).collect()
        };
        let exact =
            format!("CASE {value}{}{} END", cases(names), if labels == names { String::new() } else { cases(labels) });
        let coded = names.iter().enumerate().filter_map(|(at, name)| {
            let code = canonical_code(name)?;
            Some(format!("\n      WHEN {} THEN {at}", self.is_code(value, code)))
        });
        let coded: String = coded.collect();
        if coded.is_empty() { exact } else { format!("coalesce({exact}, CASE{coded} END)") }
    }

    /// Whether a text is a code, however it is written.
    fn is_code(&self, value: &str, code: &str) -> String {
        let sql = self.log.dialect;
        let pattern = match code.split_once('.') {
            Some((whole, places)) => format!("^{whole}[.]{places}0*$"),
            None => format!("^{code}([.]0*)?$"),
        };
        let number = sql.matches(value, &pattern);
        let truth = match code {
            "0" => "false",
            "1" => "true",
            _ => return number,
        };
        format!("{number} OR lower({value}) = {}", sql.text(truth))
    }
}

/// An expression for each arm; one, if it is the same for all.
pub(super) fn by_arm(expressions: impl Iterator<Item = String>) -> String {
    let expressions: Vec<String> = expressions.collect();
    if expressions.windows(2).all(|pair| pair[0] == pair[1]) {
        return expressions.into_iter().next().unwrap_or_default();
    }
    let case = |(arm, expression): (usize, &String)| format!("\n      WHEN {arm} THEN {expression}");
    format!("CASE arm{} END", expressions.iter().enumerate().map(case).collect::<String>())
}

/// A list of columns.
pub(super) fn select(columns: &[String]) -> String {
    format!("SELECT\n    {}", columns.join(",\n    "))
}

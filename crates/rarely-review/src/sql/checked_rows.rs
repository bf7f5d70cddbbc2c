//! The first parts of every statement: the columns of the log, each read once, the check of every value, and the context.
//!
//! | part | its columns |
//! |---|---|
//! | `rarely_log` | what the log says, as numbers and words: `given_1`, … by feature |
//! | `checked` | the same where it is allowed, `NULL` elsewhere: `x_1` of a number, `level_2` of a word, counted from 0; `gap_1` is 1 where a value is missing that may be |
//! | `coded` | `fault`, 0 for a row that is used; the context `u_1`, …, from 0 to 1; the reward; the hash of the key |
//! | `derived` | `coded` with what is derived from several of its columns, if the document has such features |

use rarely_policy::{
    FeatureFactor, FeatureKind, FeatureSource, MISSING_WORDS, Missing, PolicyDocument, RowMissing, canonical_code,
};

use super::LogTable;
use crate::fixed_point::{ONE, whole};

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
    /// The document drops it, because it lacks a value.
    Dropped,
    /// The document drops it, because it lacks a key.
    DroppedForKey,
}

/// What a row may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// A feature, by its index.
    Feature(usize),
    Outcome,
    Option,
}

impl Gap {
    /// The column that is 1 in rows that have the gap.
    pub(super) fn name(self) -> String {
        match self {
            Self::Feature(at) => format!("gap_{}", at + 1),
            Self::Outcome => "outcome_gap".to_owned(),
            Self::Option => "option_gap".to_owned(),
        }
    }

    /// The column of the log.
    pub(super) fn column(self, document: &PolicyDocument) -> &str {
        match self {
            Self::Feature(at) => &document.features()[at].column,
            Self::Outcome => &document.outcome().column,
            Self::Option => document.option_column(),
        }
    }

    /// Whether a row that has it is dropped.
    fn drops(self, document: &PolicyDocument) -> bool {
        match self {
            Self::Feature(at) => document.features()[at].missing() == Missing::Drop,
            Self::Outcome | Self::Option => true,
        }
    }
}

/// Every gap that the document allows.
pub(super) fn gaps(document: &PolicyDocument) -> Vec<Gap> {
    let features = document.feature_columns().iter().enumerate();
    let mut gaps: Vec<Gap> =
        features.filter(|(_, feature)| feature.missing() != Missing::Refuse).map(|(at, _)| Gap::Feature(at)).collect();
    if drops_rows(document) {
        gaps.extend([Gap::Outcome, Gap::Option]);
    }
    gaps
}

/// Whether rows without an option, an outcome or a key are dropped.
fn drops_rows(document: &PolicyDocument) -> bool {
    document.evidence().missing == RowMissing::Drop
}

/// Every fault; its number in the statement is its place, counted from 1.
pub(super) fn faults(document: &PolicyDocument) -> Vec<Fault> {
    let features = (0..document.feature_columns().len()).flat_map(|at| [Fault::Missing(at), Fault::NotAllowed(at)]);
    let mut faults = vec![Fault::Waiting];
    faults.extend(features);
    faults.extend([Fault::Outcome, Fault::Option, Fault::Key, Fault::Time, Fault::Dropped, Fault::DroppedForKey]);
    faults
}

/// The number of a fault in the statement.
pub(super) fn fault_number(document: &PolicyDocument, fault: Fault) -> usize {
    faults(document).iter().position(|known| *known == fault).map_or(0, |place| place + 1)
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
    /// `rarely_log`, `checked` and `coded`; `derived`, if it is needed.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = vec![
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
        ];
        if self.derives() {
            parts.push(Part::new(
                "derived",
                "What is derived from features, as whole numbers over 2^26.",
                self.derived(),
            ));
        }
        parts
    }

    /// The last of the parts.
    pub(super) fn rows(&self) -> &'static str {
        if self.derives() { "derived" } else { "coded" }
    }

    /// Whether a feature is derived from numbers.
    fn derives(&self) -> bool {
        self.document
            .features()
            .iter()
            .any(|feature| !matches!(feature.source, FeatureSource::Column(_) | FeatureSource::IsMissing(_)))
    }

    fn log(&self) -> String {
        let (sql, columns) = (self.log.dialect, self.document.log_columns());
        let column = |name: &str| format!("source.{}", sql.column(name));
        let words = |name: &str| format!("trim({})", sql.text_of(&column(name)));
        let mut lines = Vec::new();
        for (at, feature) in self.document.feature_columns().iter().enumerate() {
            let value = column(&feature.column);
            let may_be_missing = feature.missing() != Missing::Refuse;
            let given = match feature.kind {
                FeatureKind::Numeric { .. } if may_be_missing => sql.number(&self.unless_missing(&value)),
                FeatureKind::Numeric { .. } => sql.number(&value),
                FeatureKind::Levels(_) => words(&feature.column),
            };
            lines.push(format!("{given} AS given_{}", at + 1));
            if may_be_missing {
                lines.push(format!("{value} AS raw_{}", at + 1));
            }
        }
        let outcome = column(&self.document.outcome().column);
        if drops_rows(self.document) {
            lines.push(format!("{} AS given_outcome", sql.number(&self.unless_missing(&outcome))));
            lines.push(format!("{outcome} AS raw_outcome"));
        } else {
            lines.push(format!("{} AS given_outcome", sql.number(&outcome)));
        }
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
        for (at, feature) in self.document.feature_columns().iter().enumerate() {
            let (given, raw) = (format!("given_{}", at + 1), format!("raw_{}", at + 1));
            lines.push(given.clone());
            let (value, name) = match &feature.kind {
                FeatureKind::Numeric { low, high, .. } => (between(&given, (*low, *high)), "x"),
                FeatureKind::Levels(levels) => (self.index(&given, levels, &[]), "level"),
            };
            if feature.missing() != Missing::Refuse {
                lines.push(format!("{} AS {}", self.gap(&value, &raw), Gap::Feature(at).name()));
            }
            let value = match (feature.missing(), feature.levels()) {
                // The last level is that of missing values.
                (Missing::Level, Some(levels)) => {
                    let missing = self.is_missing(&raw);
                    format!("coalesce({value}, CASE WHEN {missing} THEN {} END)", levels.len() - 1)
                }
                _ => value,
            };
            lines.push(format!("{value} AS {name}_{}", at + 1));
        }
        let range = self.document.outcome().range.unwrap_or_default();
        let outcome = between("given_outcome", range);
        let (codes, labels) = (self.document.option_codes(), self.document.options());
        let arm = self.index("given_option", codes, labels);
        if drops_rows(self.document) {
            lines.push(format!("{} AS {}", self.gap(&outcome, "raw_outcome"), Gap::Outcome.name()));
            lines.push(format!("{} AS {}", self.gap(&arm, "given_option"), Gap::Option.name()));
        }
        lines.extend([format!("{outcome} AS outcome"), format!("{arm} AS arm")]);
        lines.extend(["waits", "row_key", "row_second"].map(str::to_owned));
        format!("{}\n  FROM rarely_log", select(&lines))
    }

    fn coded(&self) -> String {
        let sql = self.log.dialect;
        let mut lines = vec![format!("{} AS fault", self.fault())];
        lines.extend(gaps(self.document).into_iter().map(Gap::name));
        for (at, feature) in self.document.features().iter().enumerate() {
            let name = at + 1;
            match feature.source {
                FeatureSource::Column(_) => {}
                FeatureSource::IsMissing(of) => {
                    lines.push(format!("{} AS level_{name}", Gap::Feature(of).name()));
                    continue;
                }
                _ => continue,
            }
            let Some((low, high)) = feature.range() else {
                lines.push(format!("level_{name}"));
                continue;
            };
            let (low, width) = (sql.double(low), sql.double(high - low));
            lines.push(format!("x_{name}"));
            let scaled = format!("(x_{name} - {low}) / {width}");
            // A number that is missing counts as the middle of its range.
            lines.push(if feature.missing() == Missing::Indicator {
                let gap = Gap::Feature(at).name();
                format!("CASE WHEN {gap} = 1 THEN {} ELSE {scaled} END AS u_{name}", sql.double(0.5))
            } else {
                format!("{scaled} AS u_{name}")
            });
        }
        lines.extend(["outcome".to_owned(), format!("{} AS reward", self.reward()), "arm".to_owned()]);
        lines.push("row_second".to_owned());
        lines.push(format!("{} AS row_hash", sql.md5("row_key")));
        format!("{}\n  FROM checked{}", select(&lines), sql.fence())
    }

    /// What is derived from several columns: the arithmetic of [`rarely_policy::Encoder::derive`], every step exact below 2⁵³.
    fn derived(&self) -> String {
        let sql = self.log.dialect;
        let one = sql.double(ONE as f64);
        let step = sql.double(1.0 / ONE as f64);
        let number = |at: usize| format!("floor(u_{} * {one} + {})", at + 1, sql.double(0.5));
        let factor = |FeatureFactor { feature, level }: FeatureFactor| match level {
            Some(level) => format!("CASE WHEN level_{} = {level} THEN {one} ELSE {} END", feature + 1, sql.double(0.0)),
            None => number(feature),
        };
        let product = |one: &str, other: &str| {
            let half = sql.double((ONE / 2) as f64);
            format!("floor((({one}) * ({other}) + {half}) * {step}) * {step}")
        };
        let mut lines = vec!["coded.*".to_owned()];
        for (at, feature) in self.document.features().iter().enumerate() {
            let value = match feature.source {
                FeatureSource::Column(_) | FeatureSource::IsMissing(_) => continue,
                FeatureSource::Above(of, cut) => {
                    let (low, high) = self.document.features()[of].range().unwrap_or_default();
                    let cut = whole((cut - low) / (high - low));
                    let (width, number) = (ONE - cut, number(of));
                    let (cut, half, width) =
                        (sql.double(cut as f64), sql.double((width / 2) as f64), sql.double(width as f64));
                    // The quotient is at least 2⁻²⁶ from any other whole number, and its rounding is smaller.
                    format!(
                        "CASE WHEN {number} > {cut} THEN floor((({number} - {cut}) * {one} + {half}) / {width}) * {step} ELSE {} END",
                        sql.double(0.0)
                    )
                }
                FeatureSource::Square(of) => product(&number(of), &number(of)),
                FeatureSource::Product(one, other) => product(&factor(one), &factor(other)),
            };
            lines.push(format!("{value} AS u_{}", at + 1));
        }
        format!("{}\n  FROM coded{}", select(&lines), sql.fence())
    }

    /// 0 for a row that is used; otherwise the number of its first fault. Wrong values come before missing ones.
    fn fault(&self) -> String {
        let document = self.document;
        let value = |at: usize| {
            let name = if document.features()[at].range().is_some() { "x" } else { "level" };
            format!("{name}_{}", at + 1)
        };
        // Whether nothing is wrong with a value: it is there, or the document says what happens where it is not.
        let allowed = gaps(document);
        let absent = |gap: Gap, value: &str| {
            let wrong = if allowed.contains(&gap) { format!(" AND {} = 0", gap.name()) } else { String::new() };
            format!("{value} IS NULL{wrong}")
        };
        let features = || 0..document.feature_columns().len();
        let mut needed: Vec<String> = features().map(|at| format!("{} IS NOT NULL", value(at))).collect();
        for (at, good) in needed.iter_mut().enumerate() {
            if document.features()[at].missing() == Missing::Indicator {
                *good = format!("({good} OR {} = 1)", Gap::Feature(at).name());
            }
        }
        needed.extend(["outcome", "arm", "row_second"].map(|name| format!("{name} IS NOT NULL")));
        let no_key = "row_key IS NULL OR row_key = ''".to_owned();
        let dropped: Vec<String> =
            allowed.iter().filter(|gap| gap.drops(document)).map(|gap| format!("{} = 1", gap.name())).collect();
        let mut cases = vec![format!("WHEN {} AND row_key <> '' THEN 0", needed.join(" AND "))];
        let mut case = |fault: Fault, when: String| {
            cases.push(format!("WHEN {when} THEN {}", fault_number(document, fault)));
        };
        if !drops_rows(document) {
            case(Fault::Waiting, "waits = 1".to_owned());
        }
        for at in features() {
            case(Fault::Missing(at), absent(Gap::Feature(at), &format!("given_{}", at + 1)));
            case(Fault::NotAllowed(at), absent(Gap::Feature(at), &value(at)));
        }
        case(Fault::Outcome, absent(Gap::Outcome, "outcome"));
        case(Fault::Option, absent(Gap::Option, "arm"));
        if !dropped.is_empty() {
            case(Fault::Dropped, dropped.join(" OR "));
        }
        case(if drops_rows(document) { Fault::DroppedForKey } else { Fault::Key }, no_key);
        case(Fault::Time, "row_second IS NULL".to_owned());
        format!("CASE {}\n      END", cases.join("\n      "))
    }

    /// Whether a value is missing: nothing, a blank, or a word that stands for it.
    fn is_missing(&self, raw: &str) -> String {
        let sql = self.log.dialect;
        let words: Vec<String> = std::iter::once("").chain(MISSING_WORDS).map(|word| sql.text(word)).collect();
        format!("{raw} IS NULL OR lower(trim({})) IN ({})", sql.text_of(raw), words.join(", "))
    }

    /// 1 where a value that could not be read is missing.
    fn gap(&self, value: &str, raw: &str) -> String {
        format!("CASE WHEN {value} IS NOT NULL THEN 0 WHEN {} THEN 1 ELSE 0 END", self.is_missing(raw))
    }

    /// A value, and `NULL` in place of words that stand for a missing one, where the engine would stop at them.
    fn unless_missing(&self, value: &str) -> String {
        if self.log.dialect.reads_any_text() {
            return value.to_owned();
        }
        format!("CASE WHEN {} THEN NULL ELSE {value} END", self.is_missing(value))
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

//! How a statement is put together: parts by name, then branches that all have the same columns.

use std::fmt::Write as _;

use rarely_policy::PolicyDocument;

use super::checked_rows::Part;
use super::{LogTable, RESULT_COLUMNS, SUMS_FORMAT};

/// One of the queries whose rows are the result.
pub(super) struct Branch {
    pub(super) comment: &'static str,
    pub(super) kind: String,
    pub(super) option: String,
    pub(super) part: String,
    pub(super) position: String,
    pub(super) numbers: String,
    pub(super) from: String,
}

/// A statement, with comments. Its first row says what it belongs to.
pub(super) fn statement(
    log: &LogTable<'_>,
    document: &PolicyDocument,
    digest: &str,
    parts: &[Part],
    branches: &[Branch],
) -> String {
    let sql = log.dialect;
    let policy: String =
        document.policy().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let mut text = format!(
        "-- What a review of the policy {policy} needs of its log, as sums of whole numbers. The result goes to `rarely review`.\n\
         -- It reads the log, changes nothing, and has the columns {}.\n",
        RESULT_COLUMNS.join(", ")
    );
    for (at, part) in parts.iter().enumerate() {
        let before = if at == 0 { "WITH " } else { "" };
        let after = if at + 1 == parts.len() { "" } else { "," };
        let Part { name, comment, select, is_stored } = part;
        // Writing into a string cannot fail.
        let _ = write!(text, "-- {comment}\n{before}{name} {} (\n  {select}\n){after}\n", sql.named_as(*is_stored));
    }
    let [kind, option, part, position, numbers] = RESULT_COLUMNS.map(|name| sql.result_column(name));
    let head = sql.text(&format!("{SUMS_FORMAT},{digest}"));
    let _ = write!(
        text,
        "-- What the result belongs to.\n\
         SELECT 'document' AS {kind}, 0 AS {option}, 0 AS {part}, 0 AS {position}, {head} AS {numbers}\n"
    );
    for branch in branches {
        let _ = write!(
            text,
            "UNION ALL\n-- {}\nSELECT\n  {} AS {kind},\n  {} AS {option},\n  {} AS {part},\n  {} AS {position},\n  {} AS {numbers}\n\
             FROM {}\n",
            branch.comment, branch.kind, branch.option, branch.part, branch.position, branch.numbers, branch.from
        );
    }
    text
}

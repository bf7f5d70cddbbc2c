//! `rarely replay`.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use rarely_data::{Columns, LoggedCase};
use rarely_error::Explain as _;
use rarely_output::TextTable;
use rarely_policy::{PolicyDocument, difference};
use rarely_review::findings::{cause_clause, gain_unit, numbers};
use rarely_review::{NotWeightable, OffPolicyValue, Replay, ReplayResult};
use serde_json::json;

use crate::failure::{Failure, worded};
use crate::log::{LogOptions, WalkedLog};
use crate::options::count;
use crate::output::{OutputFormat, print, print_json, say, width};

/// What to replay.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The policy document, with the rule in force at the start of the log
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    #[command(flatten)]
    log: LogOptions,
    /// Column with the probability of the option that was given
    #[arg(long, value_name = "COLUMN")]
    propensity_column: Option<String>,
    /// Column with the time: rows are sorted by it, in memory (about 200 bytes each, and 8 for each context variable) [default: the order
    /// of the file]
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// Rows between two reviews
    #[arg(long, default_value_t = 100, value_name = "ROWS", value_parser = count(1, 1_000_000_000))]
    every: u64,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let document = arguments.log.document(&arguments.policy)?;
    let mut columns = LogOptions::columns(&document);
    if arguments.propensity_column.is_some() {
        columns.propensity.clone_from(&arguments.propensity_column);
    }
    if arguments.time_column.is_some() {
        columns.time.clone_from(&arguments.time_column);
    }
    columns.any_order = true;
    let mut replay = Replay::new(&document, arguments.every)?;
    let mut last = None;
    let mut step = |case: &LoggedCase| {
        last.clone_from(&case.time);
        replay.step(&case.context, case.arm, case.reward, case.propensity, case.time.as_deref())?;
        Ok(())
    };
    let walked = match &columns.time {
        None => arguments.log.walk(&document, &columns, step)?,
        Some(time) => {
            let (cases, walked) = sorted(&arguments.log, &document, &columns, time)?;
            cases.iter().try_for_each(&mut step)?;
            walked
        }
    };
    let walk = replay.finish(last.as_deref())?;
    match arguments.format {
        OutputFormat::Table => print(&text(&document, &walk, arguments)),
        OutputFormat::Json => print_json(&object(&document, &walk, &walked)),
    }
}

/// All cases in the order of their times, those of one time in the order of the file; and what else the log told.
fn sorted(
    log: &LogOptions,
    document: &PolicyDocument,
    columns: &Columns,
    time: &str,
) -> Result<(Vec<LoggedCase>, WalkedLog), Failure> {
    let mut cases = Vec::new();
    let walked = log.walk(document, columns, |case| {
        cases.push(case.clone());
        Ok(())
    })?;
    let order = |one: &LoggedCase, other: &LoggedCase| match (&one.log_time, &other.log_time) {
        (Some(one), Some(other)) => one.order(other),
        _ => Ordering::Equal,
    };
    if !cases.is_sorted_by(|one, other| order(one, other) != Ordering::Greater) {
        say(&format!("the rows are not in the order of {time}: they are sorted by it"));
        cases.sort_by(order);
    }
    Ok((cases, walked))
}

fn text(document: &PolicyDocument, walk: &ReplayResult, arguments: &Arguments) -> String {
    let mut text = format!("{}: {} rows, reviewed after every {}\n\n", document.policy(), walk.rows, arguments.every);
    for line in document.rule().words(document) {
        let _ = writeln!(text, "  {line}");
    }
    if walk.changes.is_empty() {
        text += "\nThe rule would not have changed.\n";
    }
    for change in &walk.changes {
        let column = arguments.time_column.as_deref().unwrap_or_default();
        let time = change.time.as_ref().map_or_else(String::new, |time| format!(" ({column} {time})"));
        let _ = writeln!(text, "\nAfter row {}{time}: {}", change.row, cause_clause(document, &change.cause));
        for line in difference((document, &change.from), (document, &change.to)) {
            let _ = writeln!(text, "  {line}");
        }
        let gain = &change.certificate.gain;
        let (gain, changed) = (numbers::interval(gain.interval), numbers::percent(gain.changed_share));
        let unit = gain_unit(document);
        let _ = writeln!(text, "  gain {gain} {unit} per case; {changed} of the last people get another option");
    }
    let _ = writeln!(text, "\nMean {} per case", document.outcome().column);
    let mut values = TextTable::new(&["  ", "value", "how"], &[2]);
    values.row(["  as logged", &numbers::interval(walk.logged), "mean of the log, 95 %"]);
    let mut refusals = Vec::new();
    for (name, value) in [("the rule held", &walk.held), ("the rule as it would have changed", &walk.replayed)] {
        let OffPolicyValue { direct, weighted } = value;
        let sure = format!("direct: the model, {} %", 100.0 * (1.0 - document.evidence().error_probability));
        values.row([format!("  {name}").as_str(), &numbers::interval(*direct), &sure]);
        match weighted {
            Ok(found) => {
                for (how, interval) in [
                    ("inverse propensity, 95 %", found.inverse_propensity),
                    ("self-normalised, 95 %", found.self_normalised),
                    ("doubly robust, 95 %", found.doubly_robust),
                ] {
                    values.row(["", &numbers::interval(interval), how]);
                }
            }
            Err(reason) => {
                let refusal = format!("values by propensities are refused: {}", with_help(reason));
                if !refusals.contains(&refusal) {
                    refusals.push(refusal);
                }
            }
        }
    }
    text += &values.text(width());
    for refusal in refusals {
        let _ = writeln!(text, "  {refusal}");
    }
    text
}

/// Why outcomes are not weighted, and what to do about it.
fn with_help(reason: &NotWeightable) -> String {
    let help = reason.remedy().map_or_else(String::new, |remedy| format!("; {}", worded(&remedy)));
    format!("{reason}{help}")
}

fn object(document: &PolicyDocument, walk: &ReplayResult, walked: &WalkedLog) -> serde_json::Value {
    let mut object = walk.object(document, with_help);
    object["rows_rejected"] = json!(walked.rejected);
    object["rows_dropped"] = json!(walked.missing.dropped_rows());
    object
}

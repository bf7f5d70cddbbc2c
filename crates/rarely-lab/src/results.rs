//! Results as tables.

mod runs;

use crate::contestant_result::{ContestantResult, Summary, TracePoint};
use crate::metrics::Interval95;
use crate::play::{CertificateRecord, ChangeRecord};
use crate::reproduction::EvidenceRow;
use rarely_output::ColumnTable;

pub use runs::{LabelledResults, comparisons, run_traces, runs};

/// A row for each contestant. Times are left out: the same seed gives the same bytes.
pub fn summary(results: &[ContestantResult]) -> ColumnTable {
    let rows: Vec<Summary> = results.iter().map(ContestantResult::summary).collect();
    let number = |value: fn(&Summary) -> f64| rows.iter().map(value).collect::<Vec<_>>();
    let improving = |value: fn(Interval95) -> f64| rows.iter().map(move |row| row.improving_percent.map(value));
    let off_rule = |value: fn(Interval95) -> f64| rows.iter().map(move |row| row.off_rule_percent.map(value));
    ColumnTable::default()
        .texts("algorithm", rows.iter().map(|row| row.name.clone()))
        .numbers("regret_per_step_tenth", number(|row| row.regret_per_step_tenth.mean))
        .numbers("regret_per_step_tenth_se", number(|row| row.regret_per_step_tenth.standard_error))
        .numbers("regret_per_step", number(|row| row.regret_per_step.mean))
        .numbers("regret_per_step_se", number(|row| row.regret_per_step.standard_error))
        .numbers("changes", number(|row| row.changes.mean))
        .numbers("changes_se", number(|row| row.changes.standard_error))
        .texts("every_round", rows.iter().map(|row| if row.every_round { "yes" } else { "no" }))
        .numbers("altering_changes", number(|row| row.altering_changes.mean))
        .numbers("renewals", number(|row| row.renewals.mean))
        .numbers("renewals_se", number(|row| row.renewals.standard_error))
        .optional("off_rule_percent", off_rule(|share| share.mean))
        .optional("off_rule_percent_low", off_rule(|share| share.low))
        .optional("off_rule_percent_high", off_rule(|share| share.high))
        .counts("stuck_runs", rows.iter().map(|row| row.stuck_runs as u64))
        .numbers("below_baseline_percent", number(|row| row.below_baseline_percent.mean))
        .numbers("below_baseline_percent_low", number(|row| row.below_baseline_percent.low))
        .numbers("below_baseline_percent_high", number(|row| row.below_baseline_percent.high))
        .numbers("below_nine_tenths_percent", number(|row| row.below_nine_tenths_percent.mean))
        .numbers("below_nine_tenths_percent_low", number(|row| row.below_nine_tenths_percent.low))
        .numbers("below_nine_tenths_percent_high", number(|row| row.below_nine_tenths_percent.high))
        .optional("improving_percent", improving(|share| share.mean))
        .optional("improving_percent_low", improving(|share| share.low))
        .optional("improving_percent_high", improving(|share| share.high))
        .optional("coverage", rows.iter().map(|row| row.coverage))
        .numbers("regret_per_step_p10", number(|row| row.regret_quantiles.low))
        .numbers("regret_per_step_median", number(|row| row.regret_quantiles.median))
        .numbers("regret_per_step_p90", number(|row| row.regret_quantiles.high))
        .numbers("changes_p10", number(|row| row.change_quantiles.low))
        .numbers("changes_median", number(|row| row.change_quantiles.median))
        .numbers("changes_p90", number(|row| row.change_quantiles.high))
}

/// Regret and changes by round, thinned: mean and standard error, and the quantiles from run to run.
pub fn traces(results: &[ContestantResult]) -> ColumnTable {
    let rows: Vec<(&str, TracePoint)> =
        results.iter().flat_map(|result| result.trace().into_iter().map(|point| (result.name(), point))).collect();
    let number = |value: fn(&TracePoint) -> f64| rows.iter().map(move |(_, point)| value(point));
    ColumnTable::default()
        .texts("algorithm", rows.iter().map(|(name, _)| *name))
        .counts("round", rows.iter().map(|(_, point)| point.round))
        .numbers("regret_per_step", number(|point| point.regret_per_step.mean))
        .numbers("regret_per_step_se", number(|point| point.regret_per_step.standard_error))
        .numbers("changes", number(|point| point.changes.mean))
        .numbers("changes_se", number(|point| point.changes.standard_error))
        .numbers("regret_per_step_p10", number(|point| point.regret_quantiles.low))
        .numbers("regret_per_step_median", number(|point| point.regret_quantiles.median))
        .numbers("regret_per_step_p90", number(|point| point.regret_quantiles.high))
        .numbers("changes_p10", number(|point| point.change_quantiles.low))
        .numbers("changes_median", number(|point| point.change_quantiles.median))
        .numbers("changes_p90", number(|point| point.change_quantiles.high))
}

/// Coverage and width of every set and interval.
pub fn evidence(rows: &[EvidenceRow]) -> ColumnTable {
    let number = |value: fn(&EvidenceRow) -> f64| rows.iter().map(value);
    ColumnTable::default()
        .texts("truth", rows.iter().map(|row| if row.world.bent { "bent" } else { "linear" }))
        .texts("design", rows.iter().map(|row| row.world.design.words()))
        .texts("method", rows.iter().map(|row| row.method.words()))
        .texts("promises", rows.iter().map(|row| if row.method.promises(row.world) { "yes" } else { "no" }))
        .numbers("missed_percent", number(|row| row.missed.mean))
        .numbers("missed_percent_low", number(|row| row.missed.low))
        .numbers("missed_percent_high", number(|row| row.missed.high))
        .optional("set_missed_percent", rows.iter().map(|row| row.set_missed.map(|share| share.mean)))
        .optional("half_width", rows.iter().map(|row| row.half_widths.last().map(|&(_, width)| width)))
        .numbers("certified_percent", number(|row| row.certified.mean))
        .optional("cases_until_certified", rows.iter().map(|row| row.cases.map(|cases| cases as f64)))
}

/// Every change with its certificate and its true gain.
pub fn changes(results: &[ContestantResult]) -> ColumnTable {
    let rows: Vec<(&str, usize, usize, &ChangeRecord)> = results
        .iter()
        .flat_map(|result| {
            let runs = result.runs.iter().enumerate();
            runs.flat_map(move |(run, played)| {
                played.changes.iter().enumerate().map(move |(at, change)| (result.name(), run, at + 1, change))
            })
        })
        .collect();
    let certified = |value: fn(&CertificateRecord) -> Option<f64>| {
        rows.iter().map(move |(.., change)| change.certificate.as_ref().and_then(value))
    };
    let theorem = |change: &ChangeRecord| {
        change.theorem_three().map_or("", |theorem| if theorem.certifies() { "yes" } else { "no" })
    };
    ColumnTable::default()
        .texts("algorithm", rows.iter().map(|row| row.0))
        .counts("run", rows.iter().map(|row| row.1 as u64))
        .counts("change", rows.iter().map(|row| row.2 as u64))
        .counts("round", rows.iter().map(|(.., change)| change.round))
        .texts("cause", rows.iter().map(|(.., change)| change.cause.clone()))
        .numbers("true_gain", rows.iter().map(|(.., change)| change.gain))
        .numbers("true_changed_share", rows.iter().map(|(.., change)| change.changed_share))
        .optional("certified_gain", certified(|certificate| certificate.gain))
        .optional("certified_gain_lower", certified(|certificate| certificate.gain_lower))
        .optional("certified_gain_upper", certified(|certificate| certificate.gain_upper))
        .optional("certified_true_gain", certified(|certificate| certificate.true_gain))
        .optional("changed_share", certified(|certificate| Some(certificate.changed_share)))
        .optional("excluded_before", certified(|certificate| Some(certificate.excluded_before)))
        .optional("excluded_after", certified(|certificate| Some(certificate.excluded_after)))
        .optional("moved_degrees", certified(|certificate| certificate.moved_degrees))
        .texts("theorem_three", rows.iter().map(|(.., change)| theorem(change)))
        .texts("digest", rows.iter().map(|(.., change)| change.certificate.as_ref().map_or("", |c| c.digest.as_str())))
        .texts("parameters", rows.iter().map(|(.., change)| format!("{:?}", change.parameters)))
}

//! Every run by itself, and contestants against each other.

use rarely_output::{ColumnTable, TableColumn};

use crate::comparison::Comparison;
use crate::contestant_result::ContestantResult;
use crate::play::{Assumed, Run};

/// Results with the words that tell them from others in the same table: columns by name, such as the values of a sweep.
pub struct LabelledResults<'a> {
    /// Names and values.
    pub labels: Vec<(String, f64)>,
    /// The seed.
    pub seed: u64,
    /// The results.
    pub results: &'a [ContestantResult],
}

impl<'a> LabelledResults<'a> {
    /// Results that need no label.
    pub fn plain(seed: u64, results: &'a [ContestantResult]) -> Self {
        Self { labels: Vec::new(), seed, results }
    }
}

/// One run of one contestant.
struct RunRow<'a> {
    part: usize,
    number: usize,
    result: &'a ContestantResult,
    run: &'a Run,
}

/// A row for each run of each contestant: the seed and the number of the run, which make its world; what the algorithm was told; what came
/// of it; and the cumulative regret at every checkpoint, `regret_at_<round>`. Times are left out: the same seed gives the same bytes.
pub fn runs(parts: &[LabelledResults<'_>]) -> ColumnTable {
    let rows = rows(parts);
    let mut checkpoints: Vec<u64> =
        parts.iter().flat_map(|part| part.results).flat_map(|result| result.checkpoints().to_vec()).collect();
    checkpoints.sort_unstable();
    checkpoints.dedup();
    let mut table = labelled(parts, &rows)
        .counts("seed", rows.iter().map(|row| parts[row.part].seed))
        .counts("rounds", rows.iter().map(|row| row.result.rounds()));
    table = outcomes(told(table, &rows), &rows);
    for round in checkpoints {
        let regret = rows.iter().map(|row| {
            let at = row.result.checkpoints().binary_search(&round).ok()?;
            row.run.regret.get(at).copied()
        });
        table = table.optional(format!("regret_at_{round}"), regret);
    }
    table
}

/// Regret and changes by round, for each run of each contestant.
pub fn run_traces(parts: &[LabelledResults<'_>]) -> ColumnTable {
    let rows: Vec<RunRow<'_>> = rows(parts);
    let points: Vec<(&RunRow<'_>, usize, u64)> = rows
        .iter()
        .flat_map(|row| row.result.checkpoints().iter().enumerate().map(move |(at, &round)| (row, at, round)))
        .collect();
    let changes = |row: &RunRow<'_>, round: u64| row.run.changes.partition_point(|change| change.round <= round) as u64;
    let mut table = ColumnTable::default();
    for (at, (name, _)) in parts.first().map_or(&[][..], |part| &part.labels).iter().enumerate() {
        table = table.numbers(name.as_str(), points.iter().map(|(row, ..)| parts[row.part].labels[at].1));
    }
    table
        .texts("algorithm", points.iter().map(|(row, ..)| row.result.name()))
        .counts("run", points.iter().map(|(row, ..)| row.number as u64))
        .counts("round", points.iter().map(|&(_, _, round)| round))
        .numbers("regret", points.iter().map(|(row, at, _)| row.run.regret[*at]))
        .numbers("regret_per_step", points.iter().map(|(row, at, round)| row.run.regret[*at] / *round as f64))
        .counts("changes", points.iter().map(|(row, _, round)| changes(row, *round)))
}

/// A row for each pair of contestants: the paired difference of regret per step, how often each is better, and two tests.
pub fn comparisons(parts: &[LabelledResults<'_>]) -> ColumnTable {
    let rows: Vec<(usize, Comparison)> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, labelled)| Comparison::all(labelled.results).into_iter().map(move |pair| (part, pair)))
        .collect();
    let number = |value: fn(&Comparison) -> f64| rows.iter().map(move |(_, row)| value(row));
    let mut table = ColumnTable::default();
    for (at, (name, _)) in parts.first().map_or(&[][..], |part| &part.labels).iter().enumerate() {
        table = table.numbers(name.as_str(), rows.iter().map(|(part, _)| parts[*part].labels[at].1));
    }
    table
        .texts("algorithm", rows.iter().map(|(_, row)| row.one.clone()))
        .texts("other", rows.iter().map(|(_, row)| row.other.clone()))
        .counts("worlds", rows.iter().map(|(_, row)| row.worlds as u64))
        .counts("better", rows.iter().map(|(_, row)| row.better as u64))
        .counts("worse", rows.iter().map(|(_, row)| row.worse as u64))
        .numbers("regret_per_step_difference", number(|row| row.difference.mean))
        .numbers("regret_per_step_difference_low", number(|row| row.difference.low))
        .numbers("regret_per_step_difference_high", number(|row| row.difference.high))
        .numbers("sign_test_p", number(|row| row.sign_test))
        .numbers("signed_rank_test_p", number(|row| row.signed_rank_test))
}

fn rows<'a>(parts: &'a [LabelledResults<'a>]) -> Vec<RunRow<'a>> {
    let results = parts.iter().enumerate().flat_map(|(part, own)| own.results.iter().map(move |result| (part, result)));
    let runs = results.flat_map(|(part, result)| {
        let numbered = result.runs.iter().enumerate();
        numbered.map(move |(number, run)| RunRow { part, number, result, run })
    });
    runs.collect()
}

fn labelled(parts: &[LabelledResults<'_>], rows: &[RunRow<'_>]) -> ColumnTable {
    let mut table = ColumnTable::default();
    for (at, (name, _)) in parts.first().map_or(&[][..], |part| &part.labels).iter().enumerate() {
        table = table.numbers(name.as_str(), rows.iter().map(|row| parts[row.part].labels[at].1));
    }
    table
        .texts("algorithm", rows.iter().map(|row| row.result.name()))
        .counts("run", rows.iter().map(|row| row.number as u64))
}

/// What the algorithm assumed in this run; empty for one that does not learn.
fn told(table: ColumnTable, rows: &[RunRow<'_>]) -> ColumnTable {
    let number =
        |value: fn(&Assumed) -> Option<f64>| rows.iter().map(move |row| row.run.assumed.as_ref().and_then(value));
    table
        .optional("declared_noise", number(|assumed| Some(assumed.noise)))
        .optional("norm_bound", number(|assumed| assumed.norm_bound))
        .optional("penalty", number(|assumed| Some(assumed.penalty)))
        .optional("error_probability", number(|assumed| Some(assumed.error_probability)))
}

fn outcomes(table: ColumnTable, rows: &[RunRow<'_>]) -> ColumnTable {
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let rounds = |row: &RunRow<'_>| row.result.rounds() as f64;
    let altering = |row: &RunRow<'_>| row.run.changes.iter().filter(|change| change.alters()).count() as u64;
    let improving = |row: &RunRow<'_>| row.run.changes.iter().filter(|c| c.alters() && c.gain > 0.0).count() as u64;
    let changes = |row: &RunRow<'_>| {
        if row.result.every_round() { row.result.rounds() } else { row.run.changes.len() as u64 }
    };
    let off_rule =
        |row: &RunRow<'_>| row.result.holds_a_rule().then(|| 100.0 * row.run.rounds_off_rule as f64 / rounds(row));
    let total = |row: &RunRow<'_>| row.run.regret.last().copied().unwrap_or(0.0);
    let covered = rows.iter().map(|row| row.run.rounds_outside.map_or("", |outside| yes(outside == 0)).to_owned());
    table
        .numbers("regret", rows.iter().map(total))
        .numbers("regret_per_step", rows.iter().map(|row| total(row) / rounds(row)))
        .counts("changes", rows.iter().map(changes))
        .counts("altering_changes", rows.iter().map(altering))
        .counts("improving_changes", rows.iter().map(improving))
        .counts("renewals", rows.iter().map(|row| row.run.renewals))
        .optional("off_rule_percent", rows.iter().map(off_rule))
        .counts("rounds_below_baseline", rows.iter().map(|row| row.run.rounds_below_baseline))
        .counts("rounds_below_nine_tenths", rows.iter().map(|row| row.run.rounds_below_nine_tenths))
        .optional("rounds_outside", rows.iter().map(|row| row.run.rounds_outside.map(|rounds| rounds as f64)))
        .with("set_held", TableColumn::Text(covered.collect()))
        .texts("stuck", rows.iter().map(|row| yes(row.run.stuck)))
        .counts("outcomes_waiting", rows.iter().map(|row| row.run.outcomes_waiting))
}

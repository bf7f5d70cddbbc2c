//! What is claimed of our default, judged on the grid.

use crate::contestant_result::ContestantResult;
use crate::metrics::{Estimate, Interval95};
use crate::reproduction::{Claim, Condition, MeasuredValue, Reading, Unjudged, claim};

use super::{CERTIFIED, FIXED, GridCell, GridCellResult, LINUCB, QUICK, THOMPSON};

const GRID: &str = "ours, k × d × σ × start";
const CHILDREN: &str = "ours, IHDP";

/// Every claim, with its verdict.
pub fn grid_claims(cells: &[GridCellResult]) -> Vec<Claim> {
    let grid = || cells.iter().filter(|cell| !cell.cell.is_children());
    let children = || cells.iter().filter(|cell| cell.cell.is_children());
    let wide = || grid().filter(|cell| cell.cell.dimension >= 5);
    let narrow = || grid().filter(|cell| cell.cell.dimension <= 20);
    let steady = || grid().filter(|cell| cell.cell.noise <= 0.1);
    let calm = || grid().filter(|cell| cell.cell.noise <= 1.0);
    let all = vec![
        ours(
            ("default-certified", GRID),
            "Certified: regret is at most LinUCB's in every cell, within two standard errors.",
            grid().filter_map(|cell| not_above(cell, CERTIFIED, LINUCB)),
        ),
        ours(
            ("default-certified-wide", GRID),
            "Certified: regret is at most 0.6 of LinUCB's for d ≥ 5.",
            wide().filter_map(|cell| ratio(cell, CERTIFIED, LINUCB, 0.6)),
        ),
        ours(
            ("default-certified-changes", GRID),
            "Certified: at most 3 changes.",
            grid().filter_map(|cell| changes(cell, CERTIFIED, 3.0)),
        ),
        ours(
            ("default-certified-improving", GRID),
            "Certified: every change improves.",
            grid().filter_map(|cell| harmful(cell, CERTIFIED)),
        ),
        ours(
            ("default-certified-off-rule", GRID),
            "Certified: at most 3 % of cases are given another option than the rule's at σ = 0.1.",
            steady().filter_map(|cell| off_rule(cell, CERTIFIED)),
        ),
        ours(
            ("default-quick", GRID),
            "Quick: regret is at most 1.3 times Thompson sampling's.",
            grid().filter_map(|cell| ratio(cell, QUICK, THOMPSON, 1.3)),
        ),
        ours(
            ("default-quick-changes", GRID),
            "Quick: at most 5 changes for d ≤ 20.",
            narrow().filter_map(|cell| changes(cell, QUICK, 5.0)),
        ),
        ours(
            ("default-quick-improving", GRID),
            "Quick: at least 99 % of the changes improve at σ ≤ 1.",
            improving(&calm().collect::<Vec<_>>(), QUICK).into_iter(),
        ),
        ours(
            ("default-ihdp-quick", CHILDREN),
            "Quick: regret is at most 1.3 times Thompson sampling's on IHDP.",
            children().filter_map(|cell| ratio(cell, QUICK, THOMPSON, 1.3)),
        ),
        ours(
            ("default-ihdp-certified", CHILDREN),
            "Certified: regret is at most LinUCB's on IHDP.",
            children().filter_map(|cell| ratio(cell, CERTIFIED, LINUCB, 1.0)),
        ),
        ours(
            ("default-ihdp-safe", CHILDREN),
            "Certified: no change from \u{201c}treat everyone\u{201d} harms, and regret is not above its own.",
            children().flat_map(|cell| [harmful(cell, CERTIFIED), not_above(cell, CERTIFIED, FIXED)]).flatten(),
        ),
    ];
    all.into_iter().filter(|claim| !claim.measured.is_empty()).collect()
}

fn ours(id: (&'static str, &'static str), text: &'static str, found: impl Iterator<Item = Unjudged>) -> Claim {
    Claim { ours: true, ..claim(id, text, "–", found.collect()) }
}

fn found(cell: &GridCell, what: &str, found: MeasuredValue, condition: Condition) -> Unjudged {
    Unjudged { profile: Reading::Rigorous, what: format!("{}: {what}", cell.words()), found, condition }
}

fn named<'a>(cell: &'a GridCellResult, name: &str) -> Option<&'a ContestantResult> {
    cell.results.iter().find(|result| result.name() == name)
}

fn mean(interval: Interval95, result: &ContestantResult) -> MeasuredValue {
    MeasuredValue::Mean { interval, runs: result.runs.len() as u64 }
}

/// One contestant's regret over another's.
fn ratio(cell: &GridCellResult, one: &str, other: &str, limit: f64) -> Option<Unjudged> {
    let (own, theirs) = (named(cell, one)?, named(cell, other)?);
    let value = mean(Interval95::of_ratio(&own.regrets(), &theirs.regrets()), own);
    let what = format!("regret of {one} over {other}'s");
    Some(found(&cell.cell, &what, value, Condition::AtMost(limit)))
}

/// By how many standard errors one contestant's regret is above another's, in the same worlds.
fn not_above(cell: &GridCellResult, one: &str, other: &str) -> Option<Unjudged> {
    let (own, theirs) = (named(cell, one)?, named(cell, other)?);
    let Estimate { mean, standard_error } = Estimate::of_differences(&own.regrets(), &theirs.regrets());
    let errors =
        if standard_error > 0.0 { mean / standard_error } else { mean.signum() * f64::from(u8::from(mean != 0.0)) };
    let what = format!("regret of {one} above {other}'s, in standard errors");
    // It has the errors in it already; a single run has none.
    let value = self::mean(Interval95 { mean: errors, low: errors, high: errors }, own);
    Some(found(&cell.cell, &what, value, Condition::AtMost(2.0)))
}

fn changes(cell: &GridCellResult, name: &str, limit: f64) -> Option<Unjudged> {
    let result = named(cell, name)?;
    let counts = result.change_counts();
    let value = mean(Estimate::of(&counts).interval(counts.len()), result);
    Some(found(&cell.cell, &format!("changes of {name}"), value, Condition::AtMost(limit)))
}

fn harmful(cell: &GridCellResult, name: &str) -> Option<Unjudged> {
    let result = named(cell, name)?;
    let (cases, among) = (result.altering().filter(|change| change.harms()).count(), result.altering().count());
    let value = MeasuredValue::Count { cases: cases as u64, among: among as u64, runs: result.runs.len() as u64 };
    Some(found(&cell.cell, &format!("% of the changes of {name} that harm"), value, Condition::Never))
}

fn off_rule(cell: &GridCellResult, name: &str) -> Option<Unjudged> {
    let result = named(cell, name)?;
    let value = mean(Interval95::percentages(&result.off_rule_percents()), result);
    Some(found(&cell.cell, &format!("% of cases of {name} off the rule"), value, Condition::AtMost(3.0)))
}

/// The share of improving changes, over all cells: a cell has too few changes to tell 99 % from 98 %.
fn improving(cells: &[&GridCellResult], name: &str) -> Option<Unjudged> {
    let clusters: Vec<(usize, usize)> =
        cells.iter().filter_map(|cell| named(cell, name)).flat_map(ContestantResult::improving).collect();
    Some(Unjudged {
        profile: Reading::Rigorous,
        what: format!("% of the changes of {name} that improve, all cells together"),
        found: MeasuredValue::Mean { interval: Interval95::share(&clusters)?, runs: clusters.len() as u64 },
        condition: Condition::AtLeast(99.0),
    })
}

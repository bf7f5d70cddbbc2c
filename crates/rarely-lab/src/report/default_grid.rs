//! The claim of our default on the whole grid as text, as a table, and as a page.

use rarely_output::{ColumnTable, OutputError, TextTable};
use rarely_plot::{Page, PageCell};
use serde_json::{Value, json};

use super::files::ResultFiles;
use super::results::words::plus_minus;
use super::style::tone_of;
use crate::default_grid::{GridRow, GridStart};
use crate::reproduction::Claim;

const HEADER: [&str; 11] =
    ["k", "d", "σ", "from", "algorithm", "regret", "changes", "most", "improving, %", "renewals", "off the rule, %"];

/// Writes the page, the table and the JSON document.
///
/// # Errors
/// [`OutputError`] of the first file that cannot be written.
pub fn write(files: &ResultFiles<'_>, title: &str, rows: &[GridRow], claims: &[Claim]) -> Result<(), OutputError> {
    files.table("grid", &frame(rows))?;
    files.json("grid", &document(title, rows, claims))?;
    files.other("report.html", page(title, rows, claims, &files.made_by().command))
}

/// Rows and claims, for programs.
pub fn document(title: &str, rows: &[GridRow], claims: &[Claim]) -> Value {
    json!({ "title": title, "rows": rows, "claims": claims })
}

/// A row for each cell and contestant.
pub fn frame(rows: &[GridRow]) -> ColumnTable {
    let counts = |value: fn(&GridRow) -> usize| rows.iter().map(move |row| value(row) as u64);
    let numbers = |value: fn(&GridRow) -> f64| rows.iter().map(value);
    ColumnTable::default()
        .counts("arms", counts(|row| row.cell.arms))
        .counts("dimension", counts(|row| row.cell.dimension))
        .numbers("noise", numbers(|row| row.cell.noise))
        .texts("start", rows.iter().map(|row| row.cell.start.words()))
        .texts("algorithm", rows.iter().map(|row| row.algorithm.clone()))
        .counts("runs", counts(|row| row.runs))
        .numbers("regret", numbers(|row| row.regret.mean))
        .numbers("regret_se", numbers(|row| row.regret.standard_error))
        .optional("changes", rows.iter().map(|row| row.changes.map(|changes| changes.mean)))
        .counts("most_changes", counts(|row| row.most_changes))
        .counts("altering_changes", counts(|row| row.altering_changes))
        .counts("harmful_changes", counts(|row| row.harmful_changes))
        .optional("improving_percent", rows.iter().map(|row| row.improving_percent.map(|share| share.mean)))
        .numbers("renewals", numbers(|row| row.renewals.mean))
        .numbers("off_rule_percent", numbers(|row| row.off_rule_percent.mean))
}

/// The table, and a line for each claim; lines are no longer than `width`, if there is one.
pub fn text(title: &str, rows: &[GridRow], claims: &[Claim], width: Option<u16>) -> String {
    let mut table = TextTable::new(&HEADER, &[3, 4]);
    for row in rows {
        table.row(cells(row));
    }
    let mut verdicts = TextTable::new(&["verdict", "claim", "worst"], &[0, 1, 2]);
    for claim in claims {
        verdicts.row([claim.judgement.words(), claim.text.to_owned(), worst(claim)]);
    }
    format!("{title}\n\n{}\n{}", table.text(width), verdicts.text(width))
}

/// The page.
pub fn page(title: &str, rows: &[GridRow], claims: &[Claim], command: &str) -> String {
    let mut page = Page::new(title);
    page.paragraph(
        "Cumulative expected regret with its standard error; changes of the rule, the share of them that improve, renewals of the \
         randomisation, and the share of cases given another option than the rule's. No bound on the regret of this rule is known.",
    );
    page.heading("Claims").table(&["verdict", "claim", "worst"], claims.iter().map(claim_cells));
    for start in [GridStart::RandomRule, GridStart::BestConstant, GridStart::TreatEveryone] {
        let own: Vec<&GridRow> = rows.iter().filter(|row| row.cell.start == start).collect();
        if !own.is_empty() {
            page.heading(&format!("From {}", start.words()));
            page.table(&HEADER, own.into_iter().map(|row| cells(row).map(PageCell::Number).to_vec()));
        }
    }
    page.heading("Run it again").command(command);
    page.html()
}

fn cells(row: &GridRow) -> [String; 11] {
    let digits = usize::from(row.regret.mean < 100.0);
    let held = row.changes.is_some();
    let if_held = |text: String| if held { text } else { "–".to_owned() };
    [
        row.cell.arms.to_string(),
        row.cell.dimension.to_string(),
        row.cell.noise.to_string(),
        row.cell.start.words().to_owned(),
        row.algorithm.clone(),
        plus_minus(row.regret, digits, row.runs),
        row.changes.map_or_else(|| "every round".to_owned(), |changes| format!("{:.1}", changes.mean)),
        if_held(row.most_changes.to_string()),
        row.improving_percent.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", share.mean)),
        if_held(format!("{:.0}", row.renewals.mean)),
        if_held(format!("{:.1}", row.off_rule_percent.mean)),
    ]
}

fn claim_cells(claim: &Claim) -> Vec<PageCell> {
    vec![
        PageCell::Badge(tone_of(claim.verdict()), claim.judgement.words()),
        PageCell::Text(claim.text.to_owned()),
        PageCell::Text(worst(claim)),
    ]
}

/// How many cells miss the condition, and what was measured farthest from it.
fn worst(claim: &Claim) -> String {
    let missed = claim.measured.iter().filter(|found| !found.holds).count();
    let ascending = claim.measured.first().is_some_and(|found| found.holds_if.starts_with("at least"));
    let order = |value: f64| if ascending { -value } else { value };
    let farthest = claim.measured.iter().max_by(|one, other| order(one.value).total_cmp(&order(other.value)));
    farthest.map_or_else(String::new, |found| {
        let of = claim.measured.len();
        format!("{missed} of {of} miss it; farthest {:.2} (required {}) at {}", found.value, found.holds_if, found.what)
    })
}

//! A review of many groups: one table first, then what was found in each.

use std::fmt::Write as _;

use rarely_output::{OutputDirectory, OutputError, TextTable};
use rarely_plot::{Page, PageCell};
use rarely_review::findings::{GroupFinding, GroupsFinding};
use rarely_review::{EvidenceBase, GroupsJson, ReviewedGroup};

use crate::page::{ReviewSources, page, together, tone};
use crate::pictures;

/// The table of all groups, and why each that changes does. Lines of the table are no longer than `width`, if there is one.
pub fn groups_text(found: &GroupsFinding, width: Option<u16>) -> String {
    let mut text = format!("{}: {}\n\nVerdict: {}\n", found.policy, found.summary, found.verdict);
    for sentence in [&found.sentence, &found.sharing_sentence] {
        let _ = writeln!(text, "  {sentence}");
    }
    text.push('\n');
    let mut header = GroupsFinding::COLUMNS;
    header[0] = "  group";
    let mut table = TextTable::new(&header, &[2, 3]);
    for group in &found.groups {
        let mut cells = group.cells.clone();
        cells[0].insert_str(0, "  ");
        table.row(cells);
    }
    text += &table.text(width);
    for sentence in &found.pooling_sentences {
        let _ = writeln!(text, "  {sentence}");
    }
    text.push_str("\nGroup by group\n");
    for group in &found.groups {
        let _ = writeln!(text, "  {}", sentence(group));
        for reason in group.findings.verdict.reason_sentences() {
            let _ = writeln!(text, "    {reason}");
        }
    }
    text
}

fn sentence(group: &GroupFinding) -> String {
    format!("{}: {}", group.group, group.findings.verdict.sentence)
}

/// A number that may stand above its interval, neither of them broken, so that the rules have room.
fn above_its_interval(text: &str) -> String {
    together(text).replacen("\u{a0}(", " (", 1)
}

/// The page with the table of all groups. `files` are the pages of the groups, in their order, if there are any.
pub fn groups_page(found: &GroupsFinding, files: &[String], sources: &ReviewSources) -> String {
    let mut page = Page::new(format!("Review of the policy {} by {}", found.policy, found.column));
    page.heading("The answer").paragraph(&format!("{}.", found.summary)).paragraph(&found.sentence);
    let rows = found.groups.iter().enumerate().map(|(at, group)| {
        let [name, cases, verdict, rule, gain, pooled, changed] = group.cells.clone();
        let name = match files.get(at) {
            Some(file) => PageCell::Link(name, file.clone()),
            None => PageCell::Text(name),
        };
        vec![
            name,
            PageCell::Number(cases),
            PageCell::Badge(tone(group.findings.verdict.verdict), verdict),
            PageCell::Text(rule),
            PageCell::Number(above_its_interval(&gain)),
            PageCell::Number(above_its_interval(&pooled)),
            PageCell::Number(changed),
        ]
    });
    page.table(&GroupsFinding::COLUMNS, rows.collect::<Vec<_>>());
    page.paragraph(&found.sharing_sentence);
    if !found.pooling_sentences.is_empty() {
        page.subheading("What the groups have in common").list(found.pooling_sentences.clone());
    }
    page.heading("Group by group");
    for group in &found.groups {
        page.subheading(&group.group).paragraph(&group.findings.verdict.sentence);
        let reasons = group.findings.verdict.reason_sentences();
        if !reasons.is_empty() {
            page.list(reasons);
        }
    }
    let lines = sources.data.iter().map(|file| format!("Log: {file}"));
    let lines = lines.chain([format!("Program: rarely {}", env!("CARGO_PKG_VERSION"))]);
    page.heading("How this page was made").command(&sources.command).list(lines);
    page.html()
}

/// Writes everything: the page with the table (`review.html`), a page for each group, and the answer for programs (`review.json`). `base` gives
/// what the pictures of a group are drawn from.
///
/// # Errors
/// Of the first group whose evidence is missing, or of the first file that cannot be written.
pub fn write_groups<'a, E: From<OutputError>>(
    directory: &OutputDirectory,
    found: &GroupsFinding,
    groups: &'a [ReviewedGroup],
    base: impl Fn(&'a ReviewedGroup) -> Result<Option<EvidenceBase<'a>>, E>,
    sources: &ReviewSources,
) -> Result<(), E> {
    let mut files = Vec::with_capacity(found.groups.len());
    for (number, group) in (1..).zip(&found.groups) {
        let file = format!("group-{number}.html");
        if let Some(reviewed) = groups.iter().find(|reviewed| reviewed.name == group.group) {
            let pictures = base(reviewed)?.map_or_else(Vec::new, |base| pictures(&base, &reviewed.review));
            let mut findings = group.findings.clone();
            findings.policy = format!("{}, {} {}", findings.policy, found.column, group.group);
            directory.write(&file, page(&findings, &pictures, sources))?;
        }
        files.push(file);
    }
    directory.write_json("review.json", &GroupsJson::new(found))?;
    directory.write("review.html", groups_page(found, &files, sources))?;
    Ok(())
}

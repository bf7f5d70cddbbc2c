//! The second page: what each column is.

use maud::{Markup, html};
use rarely_policy::{ColumnSketch, ColumnValues, DecimalMark, TextEncoding};
use rarely_review::findings::numbers::{count, percent};

use super::bars::sketch;
use super::layout::{StepPage, field, number_field, select};
use crate::answers::{Answers, ColumnAnswer, ColumnRole};
use crate::command_line::CommandLine;
use crate::document::{DOCUMENT_NAME, DraftColumns, left_out};
use crate::problem::Problem;
use crate::session::{DeskLog, Session, Sketched};

/// The page; `None` if there is no file yet.
pub(crate) fn columns(session: &Session, problem: Option<&Problem>) -> Option<Markup> {
    let (log, sketched, answers) = (session.log.as_ref()?, session.sketched.as_ref()?, session.answers.as_ref()?);
    let draft = session.draft.as_ref().map_or("", |draft| draft.text.as_str());
    let page = StepPage::new("/columns", "What is in each column?", problem)
        .with_commands(init_command(log, sketched, answers).map(|command| {
            ("A draft with these guesses, as a document to edit. What you change on this page is in the document that the last page saves.", command)
        }));
    let rows = sketched.columns.first().map_or(0, |column| column.present + column.missing);
    let content = html! {
        p { (log.name) " has " (count(rows)) " rows and " (sketched.columns.len()) " columns"
            @if let Some(way) = &sketched.read_as { ", and is read as: " (way) }
            ". The roles are guesses. Correct those that are wrong; " a href="/" { "another file" } "." }
        form #columns method="post" action="/columns" {
            (policy(answers))
            h2 { "The columns" }
            @for (at, column) in sketched.columns.iter().enumerate() {
                (column_card(at, column, sketched, &answers.columns[at], left_out(draft, &column.name)))
            }
            h2 { "Rows that do not fit" }
            div.grid {
                (number_field("reject_limit", "Bad rows to leave out (they are listed and counted)", &answers.reject_limit))
                label.check { input type="checkbox" name="drop_rows" checked[answers.drop_rows];
                    span { "Leave out rows without an option or an outcome" } }
            }
            p.actions { button type="submit" { "Check every row, and go on to the rule" } }
        }
    };
    Some(page.markup(session, &content))
}

/// The policy as a whole: its name, its options, its outcome.
fn policy(answers: &Answers) -> Markup {
    html! {
        h2 { "The policy" }
        div.grid {
            (field("policy", "Name of the policy", &answers.policy))
            (number_field("outcome_low", "Lowest possible outcome", &answers.outcome_low))
            (number_field("outcome_high", "Highest possible outcome", &answers.outcome_high))
            (select("better", "Better outcomes are", &answers.better, [("higher", "higher"), ("lower", "lower")]))
        }
        label.wide-field { span { "Options, one on each line, in order" }
            textarea name="options" rows="3" { (answers.options) } }
    }
}

fn column_card(
    at: usize,
    column: &ColumnSketch,
    sketched: &Sketched,
    answer: &ColumnAnswer,
    left_out: Option<&str>,
) -> Markup {
    let rows = (column.present + column.missing).max(1);
    let roles = ColumnRole::ALL.into_iter().filter(|role| {
        // Only a draft finds a column for each option.
        *role != ColumnRole::OptionPropensity || answer.role == *role
    });
    let id = format!("column-{at}");
    html! {
        fieldset.column aria-labelledby=(id) {
            div.about {
                h3 id=(id) { (column.name) }
                p.facts {
                    @if column.missing == 0 { "no value is missing" } @else {
                        strong { (count(column.missing)) " missing" } " (" (percent(column.missing as f64 / rows as f64)) ")"
                    }
                    ", " (distinct(column))
                }
                @if let Some(why) = left_out.filter(|_| answer.role == ColumnRole::Ignored) { p.facts { "Ignored: " (why) "." } }
            }
            div.sketch { (sketch(column, &sketched.spreads[at])) }
            div.role {
                (select(&format!("role.{at}"), "Role", answer.role.name(), roles.map(|role| (role.name(), role.label()))))
                (feature_details(at, column, answer))
            }
        }
    }
}

fn distinct(column: &ColumnSketch) -> String {
    match (column.distinct, &column.kind) {
        (1, _) => "one value".to_owned(),
        (number, ColumnValues::Numbers { .. }) => format!("{} different numbers", count(number)),
        (number, ColumnValues::Words(_)) => format!("{} different values", count(number)),
    }
}

/// What a feature needs; the style sheet hides it for other roles.
fn feature_details(at: usize, column: &ColumnSketch, answer: &ColumnAnswer) -> Markup {
    let is_number = matches!(column.kind, ColumnValues::Numbers { .. });
    let kind = if answer.has_levels { "levels" } else { "number" };
    let missing: &[(&str, &str)] = if column.missing == 0 {
        &[("refuse", "an error"), ("drop", "the row is left out")]
    } else {
        &[
            ("refuse", "an error"),
            ("drop", "the row is left out"),
            ("level", "one more level"),
            ("indicator", "the middle of the range, and marked"),
        ]
    };
    html! {
        details.feature {
            summary { "Details of " (column.name) }
            div.grid {
                @if is_number { (select(&format!("kind.{at}"), "Its values are", kind, [("number", "numbers"), ("levels", "levels (codes)")])) }
                @if is_number { div.of-numbers {
                    (number_field(&format!("low.{at}"), "Lowest possible", &answer.low))
                    (number_field(&format!("high.{at}"), "Highest possible", &answer.high))
                    (field(&format!("unit.{at}"), "Unit", &answer.unit))
                } }
                label.of-levels { span { "Levels, one on each line; the first is the reference" }
                    textarea name=(format!("levels.{at}")) rows="3" { (answer.levels) } }
                (select(&format!("missing.{at}"), "Without a value", &answer.missing, missing.iter().copied()))
            }
        }
    }
}

/// The command that drafts the document.
fn init_command(log: &DeskLog, sketched: &Sketched, answers: &Answers) -> Option<String> {
    let of = DraftColumns::of(&sketched.columns, answers).ok()?;
    let format = &log.format;
    let separator = format.separator.map(|separator| match separator.byte() {
        b'\t' => "tab".to_owned(),
        byte => char::from(byte).to_string(),
    });
    let decimal = format.decimal.map(|decimal| if decimal == DecimalMark::Comma { "," } else { "." });
    let command = CommandLine::new("policy init")
        .option("--from", &log.name)
        .maybe("--name", Some(answers.policy.as_str()).filter(|name| *name != log.stem()))
        .option("--option-column", &of.option)
        .option("--outcome-column", &of.outcome)
        .maybe("--time-column", of.time.as_deref())
        .maybe("--separator", separator.as_deref())
        .maybe("--decimal", decimal)
        .maybe("--encoding", format.encoding.map(TextEncoding::name))
        .maybe("--sheet", format.sheet.as_deref());
    Some(command.option("--out", DOCUMENT_NAME).text())
}

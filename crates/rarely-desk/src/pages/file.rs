//! The first page: which file. And the page that is shown while something runs.

use maud::{Markup, html};
use rarely_policy::{DataFormat, DecimalMark, FieldSeparator};

use super::layout::{StepPage, field, select};
use crate::fields::Fields;
use crate::problem::Problem;
use crate::session::Session;
use crate::task::Progress;

pub(crate) fn file(session: &Session, problem: Option<&Problem>) -> Markup {
    let page = StepPage::new("/", "Which file has the past cases?", problem);
    let content = html! {
        p { "One row for each past case: what was known of it, which option it got, and how it went. CSV, TSV, Excel (xlsx), Parquet or NDJSON. "
            "The file stays on this machine." }
        form.drop #upload method="post" action="/upload" enctype="multipart/form-data" {
            label for="file" { strong { "Drop the file here" } ", or choose it:" }
            input #file type="file" name="file" required accept=".csv,.tsv,.tab,.txt,.xlsx,.xlsm,.parquet,.pq,.ndjson,.jsonl";
            button type="submit" { "Read this file" }
            div #upload-progress hidden {
                progress max="100" value="0" aria-label="Upload" {}
                p role="status" {}
            }
        }
        form.path method="post" action="/path" {
            (field("path", "Or type where it is on this machine; a large file is then not copied", ""))
            button type="submit" { "Read the file there" }
        }
        @if let Some(log) = &session.log { (format_form(&log.name, &log.format, problem.is_some())) }
    };
    page.markup(session, &content)
}

/// How the file is written, where what is found in it is wrong.
fn format_form(name: &str, format: &DataFormat, is_open: bool) -> Markup {
    let separator = format.separator.map_or("", |separator| match separator {
        FieldSeparator::TAB => "tab",
        FieldSeparator::SEMICOLON => ";",
        FieldSeparator::BAR => "|",
        _ => ",",
    });
    let decimal = format.decimal.map_or("", |decimal| if decimal == DecimalMark::Comma { "," } else { "." });
    let encoding = format.encoding.map_or("", |encoding| encoding.name());
    html! {
        details.format open[is_open] {
            summary { "How the file is written (" (name) ")" }
            form.grid method="post" action="/format" {
                (select("separator", "Between fields", separator,
                    [("", "found in the file"), (",", "comma"), (";", "semicolon"), ("tab", "tab"), ("|", "vertical bar")]))
                (select("decimal", "Decimal mark", decimal,
                    [("", "found in the file"), (".", "point: 1,234.56"), (",", "comma: 1.234,56")]))
                (select("encoding", "Encoding", encoding, [("", "found in the file"), ("utf-8", "UTF-8"),
                    ("windows-1252", "Windows-1252 or Latin-1"), ("utf-16le", "UTF-16, low byte first"), ("utf-16be", "UTF-16, high byte first")]))
                (field("sheet", "Sheet of a workbook; the first if this is empty", format.sheet.as_deref().unwrap_or_default()))
                button type="submit" { "Read it again like this" }
            }
        }
    }
}

/// What the form says about how a file is written.
pub(crate) fn format_of(fields: &Fields) -> Result<DataFormat, Problem> {
    let again = |what: String| Problem::new(what, "choose another");
    Ok(DataFormat {
        separator: fields
            .get("separator")
            .filter(|text| !text.is_empty())
            .map(str::parse)
            .transpose()
            .map_err(again)?,
        decimal: fields.filled("decimal").map(str::parse).transpose().map_err(again)?,
        encoding: fields.filled("encoding").map(str::parse).transpose().map_err(again)?,
        sheet: fields.filled("sheet").map(str::to_owned),
    })
}

/// While a task runs.
pub(crate) fn work(session: &Session, progress: &Progress) -> Markup {
    let page = StepPage { refreshes: true, ..StepPage::new("", "One moment", None) };
    let (done, total) = progress.counts();
    let content = html! {
        section #work aria-label="Progress" {
            p role="status" #phase { (progress.phase()) " …" }
            progress #progress aria-labelledby="phase" max=[(total > 0).then_some(total)] value=[(total > 0).then_some(done)] {}
            form method="post" action="/cancel" { button.plain type="submit" { "Cancel" } }
        }
    };
    page.markup(session, &content)
}

//! A review in a notebook: the verdict, the rules side by side, and the first picture. No identifier and no style reaches beyond it.

use maud::{Markup, PreEscaped, html};
use rarely_report::Picture;
use rarely_review::{Findings, Verdict};

const FRAME: &str = "font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:1.45;max-width:52em;background:#fff;color:#222;\
                     padding:.8em 1em;border:1px solid #ddd;border-radius:6px";
const CELL: &str = "text-align:left;vertical-align:top;padding:.2em 2em .2em 0;border:0;background:#fff;color:#222";
const PARAGRAPH: &str = "margin:.5em 0";

/// The piece of a page.
pub(super) fn html(findings: &Findings, picture: Option<&Picture>) -> String {
    let verdict = &findings.verdict;
    let colour = match verdict.verdict {
        Verdict::Keep => "#1b7837",
        Verdict::Change => "#b2182b",
        Verdict::CannotTell => "#8a5a00",
    };
    let badge = format!("background:{colour};color:#fff;border-radius:4px;padding:.1em .5em;margin:0 .4em");
    let piece = html! {
        div style=(FRAME) {
            div {
                strong { (findings.policy) } " " span style=(badge) { (verdict.verdict) } " "
                span style="color:#555" { (findings.cases.summary) }
            }
            div style=(PARAGRAPH) { (verdict.sentence) }
            (list(verdict.reasons.iter().map(|reason| &reason.sentence)))
            (rules(findings))
            @if let Some(proposal) = &findings.proposal {
                div style=(PARAGRAPH) { (proposal.sentence) }
                @if !proposal.against.points.is_empty() {
                    div { "What speaks against it:" }
                    (list(proposal.against.points.iter().map(|point| &point.sentence)))
                }
            }
            @if let Some(picture) = picture {
                div style="overflow-x:auto;margin-top:.6em" { (PreEscaped(picture.figure.svg())) }
                div style="color:#555;font-size:12px" { (picture.caption) }
            }
        }
    };
    piece.into_string()
}

/// The rule in force, and beside it the proposed one.
fn rules(findings: &Findings) -> Markup {
    let mut columns = vec![("The rule in force", &findings.rule.lines)];
    columns.extend(findings.proposal.as_ref().map(|proposal| ("Proposed", &proposal.rule.lines)));
    html! {
        table style="border-collapse:collapse;margin:.5em 0;border:0" {
            tr { @for (heading, _) in &columns { th style=(CELL) { (heading) } } }
            tr {
                @for (_, lines) in &columns {
                    td style=(CELL) { @for (at, line) in lines.iter().enumerate() { @if at > 0 { br; } (line) } }
                }
            }
        }
    }
}

fn list<'a>(lines: impl Iterator<Item = &'a String>) -> Markup {
    let mut lines = lines.peekable();
    html! {
        @if lines.peek().is_some() {
            ul style="margin:.3em 0;padding-left:1.4em" { @for line in lines { li { (line) } } }
        }
    }
}

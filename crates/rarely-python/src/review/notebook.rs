//! A review in a notebook: the verdict, the rules side by side, and the first picture. No identifier and no style reaches beyond it.

use std::fmt::Write as _;

use rarely_report::Picture;
use rarely_review::{Findings, Verdict};

/// The piece of a page.
pub(super) fn html(findings: &Findings, picture: Option<&Picture>) -> String {
    let verdict = &findings.verdict;
    let mut html = String::from(
        "<div style=\"font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:1.45;max-width:52em;background:#fff;\
         color:#222;padding:.8em 1em;border:1px solid #ddd;border-radius:6px\">",
    );
    let colour = match verdict.verdict {
        Verdict::Keep => "#1b7837",
        Verdict::Change => "#b2182b",
        Verdict::CannotTell => "#8a5a00",
    };
    let _ = write!(
        html,
        "<div><strong>{}</strong> <span style=\"background:{colour};color:#fff;border-radius:4px;padding:.1em .5em;margin:0 \
         .4em\">{}</span> <span style=\"color:#555\">{}</span></div>",
        escaped(&findings.policy),
        verdict.verdict,
        escaped(&findings.cases.summary),
    );
    let _ = write!(html, "<div style=\"margin:.5em 0\">{}</div>", escaped(&verdict.sentence));
    list(&mut html, verdict.reasons.iter().map(|reason| &reason.sentence));
    rules(&mut html, findings);
    if let Some(proposal) = &findings.proposal {
        let _ = write!(html, "<div style=\"margin:.5em 0\">{}</div>", escaped(&proposal.sentence));
        if !proposal.against.points.is_empty() {
            html += "<div>What speaks against it:</div>";
            list(&mut html, proposal.against.points.iter().map(|point| &point.sentence));
        }
    }
    if let Some(picture) = picture {
        let _ = write!(
            html,
            "<div style=\"overflow-x:auto;margin-top:.6em\">{}</div><div style=\"color:#555;font-size:12px\">{}</div>",
            picture.figure.svg(),
            escaped(&picture.caption)
        );
    }
    html + "</div>"
}

/// The rule in force, and beside it the proposed one.
fn rules(html: &mut String, findings: &Findings) {
    let mut columns = vec![("The rule in force", &findings.rule.lines)];
    columns.extend(findings.proposal.as_ref().map(|proposal| ("Proposed", &proposal.rule.lines)));
    let cell =
        "style=\"text-align:left;vertical-align:top;padding:.2em 2em .2em 0;border:0;background:#fff;color:#222\"";
    *html += "<table style=\"border-collapse:collapse;margin:.5em 0;border:0\"><tr>";
    for (heading, _) in &columns {
        let _ = write!(html, "<th {cell}>{heading}</th>");
    }
    *html += "</tr><tr>";
    for (_, lines) in &columns {
        let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
        let _ = write!(html, "<td {cell}>{}</td>", lines.join("<br/>"));
    }
    *html += "</tr></table>";
}

fn list<'a>(html: &mut String, lines: impl Iterator<Item = &'a String>) {
    let items: Vec<String> = lines.map(|line| format!("<li>{}</li>", escaped(line))).collect();
    if !items.is_empty() {
        let _ = write!(html, "<ul style=\"margin:.3em 0;padding-left:1.4em\">{}</ul>", items.concat());
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

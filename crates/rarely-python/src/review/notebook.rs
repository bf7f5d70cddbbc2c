//! A review in a notebook: the verdict, the rules side by side, and the first picture. No identifier and no style reaches beyond it.

use std::fmt::Write as _;

use rarely_policy::PolicyDocument;
use rarely_report::Picture;
use rarely_review::{Review, Verdict, words};

/// The piece of a page.
pub(super) fn html(document: &PolicyDocument, found: &Review, picture: Option<&Picture>) -> String {
    let mut html = String::from(
        "<div style=\"font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:1.45;max-width:52em;background:#fff;\
         color:#222;padding:.8em 1em;border:1px solid #ddd;border-radius:6px\">",
    );
    let colour = match found.verdict {
        Verdict::Keep => "#1b7837",
        Verdict::Change => "#b2182b",
        Verdict::CannotTell => "#8a5a00",
    };
    let _ = write!(
        html,
        "<div><strong>{}</strong> <span style=\"background:{colour};color:#fff;border-radius:4px;padding:.1em .5em;margin:0 \
         .4em\">{}</span> <span style=\"color:#555\">{} rows{}</span></div>",
        escaped(document.policy()),
        found.verdict.name(),
        found.rows(),
        if found.rejected > 0 { format!(", {} rejected", found.rejected) } else { String::new() },
    );
    let why = found.proposal.as_ref().map(|proposal| format!("because {}", proposal.cause));
    list(&mut html, why.into_iter().chain(found.reasons.iter().cloned()));
    rules(&mut html, document, found);
    if let Some(proposal) = &found.proposal {
        let (gain, against) = (&proposal.certificate.gain, words::against(document, proposal));
        let _ = write!(
            html,
            "<div style=\"margin:.5em 0\">{} of people get another option; a case is expected to gain {} {}.</div>",
            words::percent(gain.changed_share),
            words::range(gain.interval),
            escaped(&words::gain_unit(document)),
        );
        if !against.is_empty() {
            html += "<div>What speaks against it:</div>";
            list(&mut html, against.into_iter());
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
fn rules(html: &mut String, document: &PolicyDocument, found: &Review) {
    let mut columns = vec![("The rule in force", document.rule().words(document))];
    columns.extend(found.proposal.as_ref().map(|proposal| ("Proposed", proposal.rule.words(document))));
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

fn list(html: &mut String, lines: impl Iterator<Item = String>) {
    let items: Vec<String> = lines.map(|line| format!("<li>{}</li>", escaped(&line))).collect();
    if !items.is_empty() {
        let _ = write!(html, "<ul style=\"margin:.3em 0;padding-left:1.4em\">{}</ul>", items.concat());
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

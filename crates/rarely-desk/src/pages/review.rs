//! The fourth page: the review, the assumptions to change, and what to save.

use std::path::Path;

use maud::{Markup, PreEscaped, html};
use rarely_review::Findings;

use super::layout::{StepPage, field, number_field, select};
use crate::answers::Answers;
use crate::command_line::CommandLine;
use crate::document::DOCUMENT_NAME;
use crate::problem::Problem;
use crate::reviewing::{FinishedReview, review_command};
use crate::saving::STATE_NAME;
use crate::session::Session;
use crate::sketching::reject_limit;

/// The page; `None` if there is no review yet.
pub(crate) fn review(session: &Session, problem: Option<&Problem>, saves_in: &Path) -> Option<Markup> {
    let (log, review) = (session.log.as_ref()?, session.review.as_ref()?);
    let answers = session.answers.as_ref()?;
    let limit = reject_limit(answers).unwrap_or(0);
    let title = format!("Review of the policy {}", review.document.policy());
    let page = StepPage::new("/review", &title, problem).with_commands([
        (
            "This review, and its report in the folder review; run it where the file and the saved document are:",
            review.command.clone(),
        ),
        ("Its findings for programs:", review_command(log, limit).option("--format", "json").text()),
        (
            "And its statistics, to which next month’s log can be added:",
            review_command(log, limit).option("--save-state", STATE_NAME).text(),
        ),
    ]);
    let content = html! {
        p { a href="#assumptions" { "Change an assumption" } ", " a href="#save" { "save the review" } ", or see the "
            a href="#commands" { "commands that do the same" } "." }
        @if let Some(earlier) = &session.earlier { (what_followed(earlier, review)) }
        (rejected(review))
        div.review { (PreEscaped(&review.content)) }
        (assumptions(review, answers))
        (saving(session, saves_in))
    };
    Some(page.markup(session, &content))
}

/// What the last change of the document did to the answer.
fn what_followed(earlier: &FinishedReview, now: &FinishedReview) -> Markup {
    let changed = earlier.document.difference(&now.document);
    let value = |findings: &Findings, name: &str| {
        findings.lead.facts.iter().find(|fact| fact.name == name).map_or("–", |fact| &fact.value).to_owned()
    };
    let mut names: Vec<&str> = Vec::new();
    for fact in [earlier, now].iter().flat_map(|review| &review.findings.lead.facts) {
        if !names.contains(&fact.name) {
            names.push(fact.name);
        }
    }
    html! {
        section.followed aria-label="What follows from your change" {
            h2 { "What follows from your change" }
            @if changed.is_empty() { p { "The document is the same as before." } } @else {
                ul { @for line in &changed { li { (line) } } }
            }
            div.wide tabindex="0" role="group" aria-label="Before and now" { table {
                thead { tr { td {} th scope="col" { "before" } th scope="col" { "now" } } }
                tbody {
                    tr { th scope="row" { "Answer" } td { (earlier.findings.lead.headline) } td { (now.findings.lead.headline) } }
                    @for name in names {
                        tr { th scope="row" { (name) } td { (value(&earlier.findings, name)) } td { (value(&now.findings, name)) } }
                    }
                }
            } }
        }
    }
}

fn rejected(review: &FinishedReview) -> Markup {
    html! {
        @if !review.rejected.is_empty() {
            details { summary { "Rows that were left out because they are bad" }
                ul { @for row in &review.rejected { li { (row) } } } }
        }
    }
}

fn assumptions(review: &FinishedReview, answers: &Answers) -> Markup {
    let assumed = &answers.assumptions;
    html! {
        section #assumptions aria-label="Change an assumption" {
            h2 { "Change an assumption" }
            p { "What would the review say otherwise? Features and their ranges are on the page of the " a href="/columns" { "columns" } "." }
            form method="post" action="/assumptions" {
                div.grid {
                    (select("standard", "The evidence is looked at", &assumed.standard,
                        [("anytime", "as often as one likes"), ("once", "once: the log is finished"), ("looks", "a planned number of times")]))
                    (number_field("looks", "Planned looks, in all", &assumed.looks))
                    (select("design", "The options that were given", &assumed.design,
                        [("fixed", "did not depend on earlier outcomes"), ("adaptive", "may have depended on earlier outcomes")]))
                    (number_field("error_probability", "Probability that the evidence misleads, at most", &assumed.error_probability))
                    (number_field("noise", "Noise: how far outcomes scatter (empty: half their range)", &assumed.noise))
                    (number_field("worth", "Smallest gain per case that is worth a change (empty: 1 % of the range)", &assumed.worth))
                    (number_field("minimum_gain", "Gain per case that a change must be shown to bring", &assumed.minimum_gain))
                    (number_field("outcome_low", "Lowest possible outcome", &answers.outcome_low))
                    (number_field("outcome_high", "Highest possible outcome", &answers.outcome_high))
                    @for (at, option) in review.document.option_codes().iter().enumerate() {
                        (number_field(&format!("cost.{at}"), &format!("Cost of {option} per case, in units of the outcome"),
                            assumed.costs.get(at).map_or("", String::as_str)))
                    }
                    (number_field("reject_limit", "Bad rows to leave out", &answers.reject_limit))
                }
                p.actions { button type="submit" { "Review again" } }
            }
        }
    }
}

fn saving(session: &Session, saves_in: &Path) -> Markup {
    html! {
        section #save aria-label="Save" {
            h2 { "Save" }
            @if !session.saved.is_empty() {
                div.done role="status" { p { "Saved:" } ul { @for file in &session.saved { li { (file.display()) } } } }
            }
            form.path method="post" action="/save" {
                (field("folder", &format!("Folder for {DOCUMENT_NAME}, the report and the statistics, below {}", saves_in.display()), "rarely-review"))
                button type="submit" { "Save in this folder" }
            }
            p { "Or take them one by one:" }
            ul.files {
                li { a href="/files/policy.toml" download { "policy.toml" } ", the document" }
                li { a href="/files/review.html" download { "review.html" } ", this review as a page" }
                li { a href="/files/state.json" download { "state.json" } ", the statistics, to which later cases can be added" }
                li { a href="/files/review.json" download { "review.json" } ", the findings for programs" }
            }
            p.hint { "Check the document with " code { (CommandLine::new("policy check").word(DOCUMENT_NAME).text()) } "." }
        }
    }
}

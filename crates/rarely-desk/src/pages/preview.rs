//! Who gets what, drawn.

use maud::{Markup, html};
use rarely_review::findings::numbers::{count, percent};

use super::bars::{COLOURS, bar, histogram};
use crate::preview::{Preview, PreviewBins};
use crate::problem::Problem;

/// The rule in words and the share of each option; or what is wrong with the rule.
pub(crate) fn preview(found: &Result<Preview, Problem>) -> Markup {
    match found {
        Err(problem) => problem.markup(),
        Ok(found) => html! {
            h2 { "Who gets what" }
            ul.rule { @for line in &found.words { li { (line) } } }
            table {
                thead { tr { th scope="col" { "option" } th.number scope="col" { "people" } td {} } }
                tbody { @for (at, (option, number)) in found.shares.iter().enumerate() {
                    tr {
                        th scope="row" { span.key { (swatch(at)) } (option) }
                        td.number { (percent(*number as f64 / found.people.max(1) as f64)) }
                        td.bar { (bar(*number, found.people, at)) }
                    }
                } }
            }
            @if let Some(along) = &found.along { (bins(along)) }
            p.hint {
                @if found.people < found.rows { "Of a sample of " (count(found.people)) " of the " (count(found.rows)) " cases of the log." }
                @else { "Of the " (count(found.rows)) " cases of the log." }
            }
        },
    }
}

fn swatch(at: usize) -> Markup {
    html! { svg.swatch viewBox="0 0 10 10" aria-hidden="true" { rect class=(format!("o{}", at % COLOURS)) width="10" height="10" {} } }
}

fn bins(along: &PreviewBins) -> Markup {
    let label = format!("People by {} and the option that they get", along.feature);
    html! {
        figure.along {
            (histogram(&label, &along.counts))
            p.ends { span { (along.low) } span { (along.feature) } span { (along.high) } }
        }
    }
}

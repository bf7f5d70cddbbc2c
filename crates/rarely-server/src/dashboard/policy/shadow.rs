//! The candidate that decides beside the rule in force.

use maud::{Markup, html};
use rarely_live::ShadowRecord;
use rarely_policy::difference;

use super::super::format::{count, plural, share, time};
use super::super::layout::{TableCell, list, rule, table};
use super::PolicyPage;

impl PolicyPage<'_> {
    pub(super) fn shadow(&self) -> Markup {
        html! { @if let Some(shadow) = self.live.shadow() { (self.candidate(shadow)) } }
    }

    fn candidate(&self, shadow: &ShadowRecord) -> Markup {
        let (document, decided) = (self.live.document(), shadow.decisions());
        let differs = difference((document, document.rule()), (document, &shadow.rule));
        html! {
            h2 #shadow { "A candidate beside the rule" }
            p {
                "Since " (time(shadow.time_ms)) " another rule decides beside the one in force, for every decision. Nothing acts on it. Started by "
                strong { (shadow.by) } ": " (shadow.reason)
            }
            div.sides {
                div { h3 { "In force" } (rule(&document.rule().words(document))) }
                div { h3 { "The candidate" } (rule(&shadow.rule.words(document))) }
            }
            @if !differs.is_empty() { (list(&differs)) }
            @if decided == 0 {
                p { "There was no decision since." }
            } @else {
                p {
                    strong { (count(shadow.different())) " of " (plural(decided, "decision")) " (" (share(shadow.different(), decided)) ")" }
                    " would have been made otherwise."
                }
                (given(shadow))
            }
        }
    }
}

/// What was given and what the candidate would have given, the differences first.
fn given(shadow: &ShadowRecord) -> Markup {
    let decided = shadow.decisions();
    let mut pairs: Vec<(&str, &str, u64)> = shadow.pairs().collect();
    pairs.sort_by_key(|(given, candidate, _)| given == candidate);
    let rows = pairs.into_iter().map(|(given, candidate, times)| {
        vec![
            TableCell::head(given),
            TableCell::left(candidate),
            TableCell::number(format!("{} ({})", count(times), share(times, decided))),
        ]
    });
    let caption = "What was given, and what the candidate would have given";
    table(caption, &["given", "the candidate", "#decisions"], rows)
}

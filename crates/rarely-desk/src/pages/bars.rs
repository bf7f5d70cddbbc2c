//! Small pictures: a histogram, a bar, bins in several colours.

use maud::{Markup, html};
use rarely_data::ColumnSpread;
use rarely_policy::ColumnSketch;
use rarely_policy::number::short;
use rarely_review::findings::numbers::count;

/// Words that a sketch of a column lists.
const LISTED_WORDS: usize = 5;
/// Colours of options; further ones begin again.
pub(super) const COLOURS: usize = 8;
/// The height of a picture in its own units.
const HEIGHT: f64 = 40.0;

/// The values of a column.
pub(super) fn sketch(column: &ColumnSketch, spread: &ColumnSpread) -> Markup {
    match spread {
        ColumnSpread::Bins(counts) => {
            let rarely_policy::ColumnValues::Numbers { low, high } = column.kind else { return html! {} };
            let label = format!("Histogram of {} from {} to {}", column.name, short(low), short(high));
            let bins: Vec<Vec<u64>> = counts.iter().map(|count| vec![*count]).collect();
            html! { (histogram(&label, &bins)) p.ends { span { (short(low)) } span { (short(high)) } } }
        }
        ColumnSpread::Words { .. } if column.is_time => {
            html! { p.words { "dates, such as " (column.written.first().map_or("", String::as_str)) } }
        }
        ColumnSpread::Words { listed, others } => words(listed, *others),
    }
}

fn words(listed: &[(String, u64)], others: u64) -> Markup {
    let mut sorted: Vec<&(String, u64)> = listed.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = sorted.first().map_or(1, |(_, count)| (*count).max(1));
    let more = sorted.len().saturating_sub(LISTED_WORDS);
    html! {
        ul.levels { @for (word, number) in sorted.into_iter().take(LISTED_WORDS) {
            li { span.word { (word) } (bar(*number, most, 0)) span.count { (count(*number)) } }
        } }
        @if more > 0 || others > 0 { p.words { "and " (if others > 0 { "many more" } else { "more" }) } }
    }
}

/// Counts in bins, each divided into parts of different colours.
pub(super) fn histogram(label: &str, bins: &[Vec<u64>]) -> Markup {
    let most = bins.iter().map(|parts| parts.iter().sum::<u64>()).max().unwrap_or(1).max(1) as f64;
    let width = 100.0 / bins.len().max(1) as f64;
    html! {
        svg.histogram viewBox=(format!("0 0 100 {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (at, parts) in bins.iter().enumerate() {
                @for (part, (from, count)) in below(parts).enumerate() {
                    @if count > 0 {
                        rect class=(format!("o{}", part % COLOURS)) x=(format!("{:.2}", at as f64 * width + width * 0.06))
                            width=(format!("{:.2}", width * 0.88))
                            y=(format!("{:.2}", HEIGHT - HEIGHT * (from + count) as f64 / most))
                            height=(format!("{:.2}", HEIGHT * count as f64 / most)) {}
                    }
                }
            }
        }
    }
}

/// The parts of a bin, each with what is below it.
fn below(parts: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    parts.iter().scan(0, |sum, &part| {
        let from = *sum;
        *sum += part;
        Some((from, part))
    })
}

/// A bar as long as a share of the longest.
pub(super) fn bar(number: u64, most: u64, colour: usize) -> Markup {
    let width = format!("{:.2}", 100.0 * number as f64 / most.max(1) as f64);
    html! {
        svg.share viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
            rect class=(format!("o{}", colour % COLOURS)) width=(width) height="10" {}
        }
    }
}

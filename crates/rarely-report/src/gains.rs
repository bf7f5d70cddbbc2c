//! What a proposal gains: over everyone, and by band.

use rarely_core::Interval;
use rarely_policy::{Better, PolicyDocument};
use rarely_review::{BandImpact, ProposedChange};

use crate::{PROPOSED, Picture};
use rarely_plot::Style;
use rarely_plot::value_text;
use rarely_plot::{Axis, Bar, Figure, Legend, Mark, Panel};

/// Bars that can be read on one page.
const MOST_BANDS: usize = 40;
/// A whisker goes on beyond this many times the largest estimate.
const FARTHEST: f64 = 4.0;

/// The gain of everyone and of every band in which somebody changes.
pub(super) fn picture(document: &PolicyDocument, proposal: &ProposedChange) -> Picture {
    let mut bands: Vec<(usize, &BandImpact)> =
        proposal.impact.bands.iter().filter(|band| band.changed > 0).enumerate().collect();
    let left_out = bands.len().saturating_sub(MOST_BANDS);
    bands.sort_by_key(|(at, band)| (std::cmp::Reverse(band.changed), *at));
    bands.truncate(MOST_BANDS);
    bands.sort_by_key(|(at, _)| *at);
    let everyone = ("everyone".to_owned(), proposal.certificate.gain.interval, PROPOSED);
    let rows: Vec<(String, Interval, Style)> = [everyone]
        .into_iter()
        .chain(bands.iter().map(|(_, band)| (band.band.words(document), band.gain, PROPOSED.faint(0.5))))
        .collect();
    let bars = rows.iter().map(|(name, gain, style)| {
        Bar::new(name, *style, gain.estimate).between(gain.lower, gain.upper).labelled(signed(gain.estimate))
    });
    let bars = bars.collect();
    let column = &document.outcome().column;
    let (label, better) = match document.outcome().better {
        Better::Higher => (format!("mean gain per case, in {column}"), "more"),
        Better::Lower => (format!("mean gain per case: {column} avoided"), "less"),
    };
    let mut x = Axis::linear(label);
    x.range = clipped(&rows);
    let panel = Panel {
        x,
        y: Axis::names("", rows.iter().map(|(name, ..)| name.clone()).collect()),
        marks: vec![Mark::Bars { bars }],
        ..Panel::default()
    };
    let title = "What the change gains, and for whom".to_owned();
    let rest = if left_out == 0 {
        "Bands without changes are left out.".to_owned()
    } else {
        format!("Bands without changes are left out, and the {left_out} with the fewest changes.")
    };
    let goes_on = if panel.x.range.is_some() { " A whisker at the edge continues beyond it." } else { "" };
    Picture {
        name: "gain",
        caption: format!(
            "Bar: how much {better} {column} per case is expected under the proposed rule, over all people of the band, changed or not. Whisker: \
             what the data allow; where it crosses 0 the change may also be harm.{goes_on} {rest}"
        ),
        figure: Figure { title: title.clone(), columns: 1, panels: vec![panel], legend: Legend::None, note: None },
        title,
    }
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", value_text(value)) } else { value_text(value) }
}

/// The ends of the axis, where a whisker would make all bars invisible.
fn clipped(rows: &[(String, Interval, Style)]) -> Option<(f64, f64)> {
    let most = rows.iter().map(|(_, gain, _)| gain.estimate.abs()).fold(0.0, f64::max);
    // Everyone's whisker is always whole.
    let whole = rows.first().map_or((0.0, 0.0), |(_, gain, _)| (gain.lower, gain.upper));
    let (low, high) = (whole.0.min(-FARTHEST * most), whole.1.max(FARTHEST * most));
    let ends =
        rows.iter().fold((0.0_f64, 0.0_f64), |(low, high), (_, gain, _)| (low.min(gain.lower), high.max(gain.upper)));
    // A negative bar's value stands to its left.
    let left = if rows.iter().any(|(_, gain, _)| gain.estimate < 0.0) { 0.15 } else { 0.02 };
    let shown = (ends.0.max(low), ends.1.min(high));
    (most > 0.0 && (ends.0 < low || ends.1 > high)).then_some((shown.0 - left * (shown.1 - shown.0), shown.1))
}

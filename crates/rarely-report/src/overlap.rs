//! How probable each option was, for the cases that got it and for the others.

use rarely_plot::{Axis, Colour, Figure, Legend, Mark, Panel, Style, style_of_arm};
use rarely_policy::PolicyDocument;
use rarely_review::findings::numbers::{count, setting};
use rarely_review::{Check, PROPENSITY_BINS, PropensityCheck, Review};

use crate::stacked_bins::StackedBins;
use crate::{IN_FORCE, Picture};

/// More options than this do not fit on one page.
const MOST_OPTIONS: usize = 12;

/// The distribution of every option's propensities; `None` if the log has none.
pub(super) fn picture(document: &PolicyDocument, review: &Review) -> Option<Picture> {
    let counted = review.checks.iter().filter_map(|check| match check {
        Check::Propensity(found) if !found.bins.is_empty() => Some(found),
        _ => None,
    });
    let counted: Vec<&PropensityCheck> = counted.collect();
    if counted.is_empty() {
        return None;
    }
    let left_out = counted.len().saturating_sub(MOST_OPTIONS);
    let minimum = document.log_columns().minimum_propensity;
    let option = |found: &PropensityCheck| document.options().iter().position(|option| *option == found.option);
    let shown = counted.iter().take(MOST_OPTIONS);
    let panels: Vec<Panel> = shown.map(|found| panel(option(found).unwrap_or(0), found, minimum)).collect();
    let title = "How probable each option was".to_owned();
    let line = if minimum.is_some() { " Dashed: the declared minimum." } else { "" };
    let rest = if left_out == 0 { String::new() } else { format!(" The last {left_out} options are left out.") };
    Some(Picture {
        name: "overlap",
        caption: format!(
            "Cases by the logged propensity of the option: those that got it in colour, the others in grey where their propensity is known. \
             Options can be compared where both colours are found, away from 0 and 1; a bar near 0 stands for cases with large weights.{line}{rest}"
        ),
        figure: Figure { title: title.clone(), columns: 1, panels, legend: Legend::Below, note: None },
        title,
    })
}

fn panel(option: usize, found: &PropensityCheck, minimum: Option<f64>) -> Panel {
    let of = |counts: &[u64], bin: usize| counts.get(bin).copied().unwrap_or(0) as f64;
    let heights = (0..PROPENSITY_BINS).map(|bin| vec![of(&found.bins.given, bin), of(&found.bins.others, bin)]);
    let bins = StackedBins::within((0.0, 1.0), heights.collect());
    let series = [
        (format!("got {}", found.option), style_of_arm(option).faint(0.65)),
        ("got another option".to_owned(), Style::solid(Colour::GREY).faint(0.4)),
    ];
    let areas = series.into_iter().enumerate().flat_map(|(at, (name, style))| {
        let area = move |outline| Mark::Area { name: name.clone(), style, outline };
        bins.outlines(at).into_iter().map(area).collect::<Vec<Mark>>()
    });
    let line = minimum.map(|at| Mark::vertical(format!("minimum {}", setting(at)), IN_FORCE, at));
    let total = |counts: &[u64]| count(counts.iter().sum());
    let others = if found.bins.others.is_empty() {
        String::new()
    } else {
        format!(", {} got another option", total(&found.bins.others))
    };
    Panel {
        title: format!("{}: {} cases got it{others}", found.option, total(&found.bins.given)),
        x: Axis::linear(format!("propensity of {}", found.option)).between(0.0, 1.0),
        y: Axis::linear("cases").between(0.0, 1.08 * bins.highest().max(1.0)),
        marks: areas.chain(line).collect(),
        ..Panel::default()
    }
}

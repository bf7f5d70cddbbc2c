//! What each option is estimated to do for the average person.

use rarely_core::Interval;
use rarely_policy::FeatureKind;
use rarely_review::EvidenceBase;

use crate::Picture;
use crate::owner::{of_outcome, outcome, outcome_range, with_unit, within_range};
use rarely_plot::style_of_arm;
use rarely_plot::value_text;
use rarely_plot::{Axis, Figure, Legend, Mark, Panel, Point};

/// Every option's estimate and interval at the mean of the people's features.
pub(super) fn picture(base: &EvidenceBase<'_>) -> Picture {
    let (document, region) = (base.document, base.region());
    let mean = mean(base);
    let options = document.options();
    let shown = |interval: Interval| within_range(document, of_outcome(document, interval));
    let intervals: Vec<Interval> = (0..options.len()).map(|option| shown(region.arm_interval(&mean, option))).collect();
    let observed: Vec<Option<Interval>> =
        (0..options.len()).map(|option| base.observed_overall(option).mean.map(shown)).collect();
    // An option that was hardly ever given may have no bound.
    let drawn = intervals.iter().chain(observed.iter().flatten());
    let ends = drawn.flat_map(|interval| [interval.lower, interval.estimate, interval.upper]);
    let (low, high) = ends
        .filter(|end| end.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    let room = 0.08 * (high - low).max(1e-9);
    let (least, most) = outcome_range(document).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let axis = ((low - room).max(least), (high + room).min(most));
    let inside = |end: f64| end.clamp(axis.0, axis.1);
    let point = |interval: &Interval, at: f64| {
        Point::new(inside(interval.estimate), at).x_between(inside(interval.lower), inside(interval.upper))
    };
    let mut marks = Vec::new();
    for (option, (interval, observed)) in intervals.iter().zip(&observed).enumerate() {
        let (style, row) = (style_of_arm(option), option as f64);
        let estimate = point(interval, row - 0.12).labelled(value_text(interval.estimate));
        marks.push(Mark::Points { name: String::new(), style, points: vec![estimate] });
        let observed: Vec<Point> = observed.iter().map(|mean| point(mean, row + 0.2).outlined()).collect();
        marks.push(Mark::Points { name: String::new(), style: style.wide(1.0), points: observed });
    }
    let panel = Panel {
        x: Axis::linear(outcome(document)).between(axis.0, axis.1),
        y: Axis::names("", options.to_vec()),
        marks,
        ..Panel::default()
    };
    let title = "Each option, for the average person".to_owned();
    Picture {
        name: "estimates",
        caption: format!(
            "Point: the estimated mean {} of each option for a person who is average in everything ({}). Whisker: what the data allow; \
             it holds for all options together with probability {}. Outline: the plain mean of the cases that got the option, with its 95 % \
             interval; it differs where other people got the option.",
            document.outcome().column,
            words(base, &mean),
            1.0 - document.evidence().error_probability
        ),
        figure: Figure { title: title.clone(), columns: 1, panels: vec![panel], legend: Legend::None, note: None },
        title,
    }
}

fn mean(base: &EvidenceBase<'_>) -> Vec<f64> {
    let d = base.document.shape().dimension();
    let mut mean = vec![0.0; d];
    for person in base.people.chunks_exact(d) {
        mean.iter_mut().zip(person).for_each(|(sum, value)| *sum += value);
    }
    let count = (base.people.len() / d) as f64;
    for sum in &mut mean {
        *sum /= count;
    }
    mean
}

/// `systolic 150 mmHg, diabetic = yes 23 %`.
fn words(base: &EvidenceBase<'_>, mean: &[f64]) -> String {
    let document = base.document;
    let parts = document.features().iter().enumerate().flat_map(|(index, feature)| {
        let at = document.offset(index);
        match &feature.kind {
            FeatureKind::Numeric { .. } if !feature.source.is_column() => Vec::new(),
            FeatureKind::Numeric { low, high, unit } => {
                vec![format!("{} {}", feature.column, with_unit(low + mean[at] * (high - low), unit.as_deref()))]
            }
            FeatureKind::Levels(levels) => {
                let shares = levels[1..].iter().zip(&mean[at..]);
                shares.map(|(level, share)| format!("{} = {level} {:.0} %", feature.column, 100.0 * share)).collect()
            }
        }
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "there are no features".to_owned() } else { parts.join(", ") }
}

//! What each option is estimated to do for the average person.

use rarely_core::Interval;
use rarely_policy::FeatureKind;
use rarely_review::EvidenceBase;

use crate::Picture;
use crate::owner::{of_outcome, outcome, with_unit};
use rarely_plot::style_of_arm;
use rarely_plot::value_text;
use rarely_plot::{Axis, Figure, Legend, Mark, Panel, Point};

/// Every option's estimate and interval at the mean of the people's features.
pub(super) fn picture(base: &EvidenceBase<'_>) -> Picture {
    let (document, region) = (base.document, base.region());
    let mean = mean(base);
    let options = document.options();
    let intervals: Vec<Interval> =
        (0..options.len()).map(|option| of_outcome(document, region.arm_interval(&mean, option))).collect();
    // An option that was hardly ever given may have no bound.
    let ends = intervals.iter().flat_map(|interval| [interval.lower, interval.estimate, interval.upper]);
    let (low, high) = ends
        .filter(|end| end.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    let room = 0.08 * (high - low).max(1e-9);
    let shown = |end: f64| end.clamp(low - 2.0 * room, high + 2.0 * room);
    let mark = |(option, interval): (usize, &Interval)| {
        let label = value_text(interval.estimate);
        let point =
            Point::new(interval.estimate, option as f64).x_between(shown(interval.lower), shown(interval.upper));
        Mark::Points { name: String::new(), style: style_of_arm(option), points: vec![point.labelled(label)] }
    };
    let marks: Vec<Mark> = intervals.iter().enumerate().map(mark).collect();
    let panel = Panel {
        x: Axis::linear(outcome(document)).between(low - room, high + room),
        y: Axis::names("", options.to_vec()),
        marks,
        ..Panel::default()
    };
    let title = "Each option, for the average person".to_owned();
    Picture {
        name: "estimates",
        caption: format!(
            "Point: the estimated mean {} of each option for a person who is average in everything ({}). Whisker: what the data allow; \
             it holds for all options together with probability {}.",
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

//! Rules without a score: for how many people each option is given, leads, and is plausible.

use rarely_review::EvidenceBase;

use crate::Picture;
use crate::owner::given;
use crate::stretch::best;
use rarely_plot::{Axis, Bar, Figure, Legend, Mark, Panel};
use rarely_plot::{Colour, Style};

/// Three bars for each option.
pub(super) fn picture(base: &EvidenceBase<'_>) -> Picture {
    let (document, region) = (base.document, base.region());
    let options = document.options();
    let mut counts = vec![[0_usize; 3]; options.len()];
    let people = base.contexts();
    for (person, option) in people.iter().zip(given(base, document.rule())) {
        counts[option.index()][0] += 1;
        counts[best(base.statistics.arms().iter().map(|ridge| ridge.predict(person.values())))][1] += 1;
        for plausible in region.plausible_arms(person).unwrap_or_default() {
            counts[plausible.index()][2] += 1;
        }
    }
    let series = [
        ("given by the rule in force", Style::solid(Colour::BLACK).faint(0.75)),
        ("best by the estimate", Style::solid(Colour::WINE)),
        ("plausible", Style::solid(Colour::SHADE)),
    ];
    let marks = series.iter().enumerate().map(|(at, (name, style))| {
        let bars = counts.iter().map(|counts| {
            let share = 100.0 * counts[at] as f64 / people.len() as f64;
            Bar::new(*name, *style, share).labelled(percent(share))
        });
        Mark::Bars { bars: bars.collect() }
    });
    let panel = Panel {
        x: Axis::names("", options.to_vec()),
        y: Axis::linear("% of people"),
        marks: marks.collect(),
        ..Panel::default()
    };
    let title = "For how many people each option is given, best, and plausible".to_owned();
    Picture {
        name: "option-shares",
        caption: "Plausible: the data have not shown that another option is better for this person. One person may have several plausible \
                  options, so these bars can add up to more than 100 %."
            .to_owned(),
        figure: Figure { title: title.clone(), columns: 1, panels: vec![panel], legend: Legend::Below, note: None },
        title,
    }
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < 9.95 { format!("{share:.1}") } else { format!("{share:.0}") }
}

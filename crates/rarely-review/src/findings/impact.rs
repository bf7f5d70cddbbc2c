//! Who gets another option, band by band.

use rarely_core::Interval;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{count, interval, percent};
use super::units::gain_unit;
use crate::impact::{BandImpact, Impact};

/// Who gets another option.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactFinding {
    /// All people.
    pub people: u64,
    /// Those who get another option.
    pub changed: u64,
    /// How many that are.
    pub sentence: String,
    /// How the columns of the bands are to be read.
    pub meaning: String,
    /// The bands in which people change option.
    pub bands: Vec<BandFinding>,
    /// The other bands.
    pub unchanged_bands: usize,
    /// The same in a sentence, if there are any.
    pub unchanged_sentence: Option<String>,
}

/// The people of one band.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BandFinding {
    /// `systolic 140–160 mmHg`.
    pub band: String,
    /// People in it.
    pub people: u64,
    /// Those who get another option.
    pub changed: u64,
    /// The same as a share of the people.
    pub changed_share: String,
    /// How many pass from one option to another: `watch → treat (12)`.
    pub moves: Vec<String>,
    /// The gain per case over all people of the band.
    pub gain: Interval,
    /// The same as text.
    pub gain_text: String,
    /// Those of the changed whose new option was hardly ever tried on people like them, as a share.
    pub untried_share: String,
}

impl ImpactFinding {
    pub(super) fn new(document: &PolicyDocument, impact: &Impact) -> Self {
        let bands = impact.bands.iter().filter(|band| band.changed > 0);
        let unchanged_bands = impact.bands.iter().filter(|band| band.changed == 0).count();
        let (people, changed) = (impact.people as u64, impact.changed as u64);
        Self {
            people,
            changed,
            sentence: format!("{} of {} people get another option.", count(changed), count(people)),
            meaning: format!(
                "{} Untried: the new option was hardly ever given to people like them, so that its effect is extrapolated.",
                gain_meaning(document)
            ),
            bands: bands.map(|band| BandFinding::new(document, band)).collect(),
            unchanged_bands,
            unchanged_sentence: match unchanged_bands {
                0 => None,
                1 => Some("In one other band, no option changes.".to_owned()),
                _ => Some(format!("In {unchanged_bands} other bands, no option changes.")),
            },
        }
    }
}

impl BandFinding {
    fn new(document: &PolicyDocument, band: &BandImpact) -> Self {
        let name = |option: usize| &document.options()[option];
        let moves = band.moves.iter();
        Self {
            band: band.band.words(document),
            people: band.people as u64,
            changed: band.changed as u64,
            changed_share: share(band.changed, band.people),
            moves: moves
                .map(|&(from, to, people)| format!("{} → {} ({})", name(from), name(to), count(people as u64)))
                .collect(),
            gain: band.gain,
            gain_text: interval(band.gain),
            untried_share: share(band.untried, band.changed),
        }
    }
}

/// How the gain of a band is to be read.
pub fn gain_meaning(document: &PolicyDocument) -> String {
    let unit = gain_unit(document);
    format!("The gain of a band is the average over all its people, changed or not, in {unit}, with its interval.")
}

/// Which people the bands of a logged proposal count.
pub fn recent_people(people: u64) -> String {
    format!("Of the last {} people with an outcome, by every feature.", count(people))
}

fn share(part: usize, whole: usize) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

//! What speaks against a change.

use rarely_core::Interval;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{interval, percent};
use crate::proposed_change::ProposedChange;

/// What speaks against a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstFinding {
    /// Each point, the gravest first.
    pub points: Vec<CounterPoint>,
    /// What was looked for, where nothing was found.
    pub nothing_sentence: Option<&'static str>,
}

/// One point against a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterPoint {
    /// Its numbers.
    pub evidence: CounterEvidence,
    /// What they mean.
    pub sentence: String,
}

/// Evidence against a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterEvidence {
    /// People get an option that was hardly ever tried on people like them.
    Extrapolation {
        /// Their share of the people who change.
        changed_share: f64,
        /// The share of the estimated gain that rests on them.
        gain_share: f64,
    },
    /// Bands of a feature whose interval includes harm.
    BandHarm {
        /// The feature.
        feature: String,
        /// The bands, each with its gain per case.
        bands: Vec<(String, Interval)>,
    },
    /// The interval of the whole gain includes harm.
    OverallHarm {
        /// The gain per case.
        gain: Interval,
    },
}

impl AgainstFinding {
    /// What is said where nothing was found.
    pub const NOTHING: &'static str = "Nothing was found: in no band does the interval of the gain include harm, and no gain \
                                       rests on options that were hardly ever tried.";

    pub(super) fn new(document: &PolicyDocument, proposal: &ProposedChange) -> Self {
        let points: Vec<CounterPoint> = extrapolation(proposal)
            .into_iter()
            .chain((0..document.features().len()).filter_map(|feature| band_harm(document, proposal, feature)))
            .chain(overall_harm(proposal))
            .map(|evidence| CounterPoint { sentence: sentence(&evidence), evidence })
            .collect();
        Self { nothing_sentence: points.is_empty().then_some(Self::NOTHING), points }
    }

    /// The points' sentences.
    pub fn sentences(&self) -> Vec<String> {
        self.points.iter().map(|point| point.sentence.clone()).collect()
    }
}

fn extrapolation(proposal: &ProposedChange) -> Option<CounterEvidence> {
    let impact = &proposal.impact;
    let gain = proposal.certificate.gain.interval.estimate;
    (impact.untried > 0).then(|| CounterEvidence::Extrapolation {
        changed_share: impact.untried as f64 / impact.changed as f64,
        gain_share: if gain > 0.0 { (impact.untried_gain.estimate / gain).clamp(0.0, 1.0) } else { 0.0 },
    })
}

fn band_harm(document: &PolicyDocument, proposal: &ProposedChange, feature: usize) -> Option<CounterEvidence> {
    let bands = proposal.impact.bands.iter();
    let harmed = bands.filter(|band| band.band.feature == feature && band.changed > 0 && band.gain.lower < 0.0);
    let bands: Vec<(String, Interval)> = harmed.map(|band| (band.band.members(document), band.gain)).collect();
    let feature = document.features()[feature].column.clone();
    (!bands.is_empty()).then_some(CounterEvidence::BandHarm { feature, bands })
}

fn overall_harm(proposal: &ProposedChange) -> Option<CounterEvidence> {
    let gain = proposal.certificate.gain.interval;
    (gain.lower < 0.0).then_some(CounterEvidence::OverallHarm { gain })
}

fn sentence(evidence: &CounterEvidence) -> String {
    match evidence {
        CounterEvidence::Extrapolation { changed_share, gain_share } => format!(
            "Extrapolation: {} of the people who change get an option that was hardly ever tried on people like them. {} of the \
             gain rests on this.",
            percent(*changed_share),
            percent(*gain_share)
        ),
        CounterEvidence::BandHarm { feature, bands } => {
            let bands: Vec<String> =
                bands.iter().map(|(members, gain)| format!("{members}, gain {}", interval(*gain))).collect();
            format!("By {feature}, the change may do harm at {}.", bands.join("; at "))
        }
        CounterEvidence::OverallHarm { gain } => {
            format!("Over all people together, the change may do harm: the gain per case is {}.", interval(*gain))
        }
    }
}

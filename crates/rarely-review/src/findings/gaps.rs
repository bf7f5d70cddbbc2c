//! What the data cannot say, and what would settle it.

use rarely_core::Exploration;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{count, percent};
use crate::exploration_forecast::ExplorationForecast;
use crate::review::Gaps;
use crate::support::ThinSupport;

/// What the data cannot say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GapsFinding {
    /// Options that may be best for many but are hardly ever given.
    pub stuck: Vec<StuckFinding>,
    /// Where options were never or hardly ever tried.
    pub thin: Vec<ThinSupport>,
    /// The same in a sentence for each option.
    pub thin_sentences: Vec<String>,
    /// What such places mean, if there are any.
    pub thin_meaning: Option<&'static str>,
    /// What would settle an open question.
    pub forecast: Option<ForecastFinding>,
    /// What is said where there is no gap.
    pub nothing_sentence: Option<&'static str>,
}

/// An option that may be best for many but is hardly ever given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StuckFinding {
    /// The option.
    pub option: String,
    /// Share of the people for whom it may be best.
    pub plausible_share: f64,
    /// Share of the cases in which it was given.
    pub played_share: f64,
    /// What that means.
    pub sentence: String,
}

/// What would settle an open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForecastFinding {
    /// The simulation's numbers.
    pub forecast: ExplorationForecast,
    /// What to do, and how many cases it would take.
    pub sentence: String,
}

impl GapsFinding {
    pub(super) fn new(document: &PolicyDocument, gaps: &Gaps) -> Self {
        let none = gaps.stuck.is_empty() && gaps.thin.is_empty() && gaps.forecast.is_none();
        Self {
            stuck: gaps
                .stuck
                .iter()
                .map(|stuck| {
                    let option = document.options()[stuck.arm.index()].clone();
                    let (plausible_share, played_share) = (stuck.plausible_share, stuck.played_share);
                    let sentence = format!(
                        "{option} may be best for {} of people, but was given in {} of the cases. Unless it is tried, the data \
                         will never tell.",
                        percent(plausible_share),
                        percent(played_share)
                    );
                    StuckFinding { option, plausible_share, played_share, sentence }
                })
                .collect(),
            thin: gaps.thin.clone(),
            thin_sentences: document.options().iter().filter_map(|option| thin_sentence(option, &gaps.thin)).collect(),
            thin_meaning: (!gaps.thin.is_empty()).then_some(THIN_MEANING),
            forecast: gaps.forecast.as_ref().map(|forecast| ForecastFinding {
                sentence: forecast_sentence(document.change().explore, forecast),
                forecast: forecast.clone(),
            }),
            nothing_sentence: none
                .then_some("Every option was tried on people of every band, and the data tell the options apart."),
        }
    }
}

/// What it means where an option was never or hardly ever tried.
pub const THIN_MEANING: &str = "Where an option was never or hardly ever tried, its effect is extrapolated along a straight line from \
                                different people.";

/// A title for some places where an option was never or hardly ever tried.
pub fn thin_title(places: usize) -> String {
    let noun = if places == 1 { "place" } else { "places" };
    format!("{} {noun} where an option was never or hardly ever tried", count(places as u64))
}

fn thin_sentence(option: &str, thin: &[ThinSupport]) -> Option<String> {
    let places: Vec<String> = thin
        .iter()
        .filter(|thin| thin.option == option)
        .map(|thin| match thin.tried {
            0 => thin.band.clone(),
            1 => format!("{} (once)", thin.band),
            tried => format!("{} ({} times)", thin.band, count(tried)),
        })
        .collect();
    (!places.is_empty()).then(|| format!("{option} was never or hardly ever tried at {}.", places.join(", ")))
}

fn forecast_sentence(own: Exploration, forecast: &ExplorationForecast) -> String {
    let explore = &forecast.explore;
    let action = if own.to_string() == *explore {
        format!(
            "The policy already chooses at random among the plausible options for some people (explore = \"{explore}\")."
        )
    } else {
        format!(
            "Let the policy choose at random among the plausible options for some people: set explore = \"{explore}\" under \
             [change] in the policy document."
        )
    };
    let cases = match (forecast.cases, forecast.cases_nine_tenths) {
        (Some(half), Some(most)) => format!(
            "In simulations this settled the question after {} further cases in half of the runs, and after {} in nine of ten.",
            count(half),
            count(most)
        ),
        (Some(half), None) => {
            format!("In simulations this settled the question after {} further cases in half of the runs.", count(half))
        }
        _ => format!(
            "In {} of {} simulations the question was still open after {} further cases: it takes more, or the options \
             hardly differ.",
            forecast.simulated - forecast.settled,
            forecast.simulated,
            count(forecast.most_cases)
        ),
    };
    format!("{action} {cases}")
}

//! What takes the certainty from a certificate, in words.

use rarely_policy::PolicyDocument;

use super::numbers::{interval_with_unit, measured, percent, setting};
use super::units::gain_unit;
use crate::demotion::Demotion;

/// What takes the certainty from a certificate.
pub fn demotion_sentence(document: &PolicyDocument, demotion: &Demotion) -> String {
    let unit = gain_unit(document);
    match demotion {
        Demotion::Noise { option, found, declared } => format!(
            "The outcomes of {} scatter by {}, more than the declared noise of {}: declare noise = {} or more.",
            document.options()[*option],
            measured(*found),
            setting(*declared),
            setting(rarely_policy::number::round(1.05 * found, 2))
        ),
        Demotion::NormBound { found, declared } => format!(
            "The estimated coefficients have a length of {}, more than the declared norm bound of {}: remove norm_bound, or declare a \
             larger one.",
            measured(*found),
            setting(*declared)
        ),
        Demotion::Extrapolation { gain_share } => format!(
            "It is certain only if the straight lines go on: {} of the gain rests on options that were hardly ever tried on people like \
             those who would get them.",
            percent(*gain_share)
        ),
        Demotion::Curvature { gain } => format!(
            "The lines bend, and with bent lines the gain is {} per case.",
            interval_with_unit(*gain, &unit)
        ),
        Demotion::Trend(within) if within.gain.lower == f64::NEG_INFINITY => {
            "The options changed with time, so that an effect cannot be told from a trend: compare people of the same time, or declare \
             order = \"any\" under [evidence] if the rows are not in the order of time."
                .to_owned()
        }
        Demotion::Disagreement { linear, model_free } => format!(
            "Straight lines and propensities contradict each other: by straight lines the gain is {} per case, by propensities {}. The \
             lines do not fit, or the propensities are not true.",
            interval_with_unit(*linear, &unit),
            interval_with_unit(*model_free, &unit)
        ),
        Demotion::Trend(within) => format!(
            "Outcomes may have changed with time. Within {} stretches of time the gain is {} per case.",
            within.stretches,
            interval_with_unit(within.gain, &unit)
        ),
    }
}

//! Whether logged propensities can be true, in words.

use super::numbers::{count, measured, nearest_count, percent};
use crate::propensities::{PropensityCheck, PropensityWarning};

pub(super) fn propensity_sentence(found: &PropensityCheck) -> String {
    let below = found.below_minimum.map_or_else(String::new, |share| {
        format!(" Its propensity is below the declared minimum in {} of all cases.", percent(share))
    });
    format!(
        "{}: the mean of 1/propensity over all cases is {} ± {}, and should be about {}. Its {} cases count as {}; the largest weight is {}.{below}",
        found.option,
        measured(found.mean_weight),
        measured(found.standard_error),
        measured(found.expected_weight),
        count(found.rows),
        nearest_count(found.effective_rows),
        measured(found.largest_weight)
    )
}

pub(super) fn propensity_warning(found: &PropensityCheck) -> Option<String> {
    let sentences: Vec<String> = found.warnings.iter().map(|warning| warning_sentence(found, *warning)).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn warning_sentence(found: &PropensityCheck, warning: PropensityWarning) -> String {
    let option = &found.option;
    match warning {
        PropensityWarning::DoesNotFit => format!(
            "The propensities of {option} do not fit the options that were given: the mean of 1/propensity is {} instead of {}. The \
             propensity column may hold the probability of one fixed option instead of that of the option given. Gains by propensities are not \
             computed.",
            measured(found.mean_weight),
            measured(found.expected_weight)
        ),
        PropensityWarning::FewEffectiveRows => format!(
            "Weighted by 1/propensity, the cases of {option} count as {}, fewer than 30: gains of changes to or from {option} are not \
             computed by propensities.",
            nearest_count(found.effective_rows)
        ),
    }
}

pub(super) fn propensity_cells(found: &PropensityCheck) -> Vec<String> {
    vec![
        found.option.clone(),
        count(found.rows),
        format!("{} ± {}", measured(found.mean_weight), measured(found.standard_error)),
        nearest_count(found.effective_rows),
        measured(found.largest_weight),
        found.below_minimum.map_or_else(|| "–".to_owned(), percent),
    ]
}

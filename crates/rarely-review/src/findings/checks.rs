//! Whether straight lines describe the outcomes well enough.

use rarely_core::Interval;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{count, interval, measured, p_value, percent, setting, with_unit};
use super::propensities::{propensity_cells, propensity_sentence, propensity_warning};
use super::units::running_unit;
use crate::checks::{Check, CurvatureCheck, CurvatureWarning, JumpCheck, JumpWarning, NoiseCheck};
use crate::jump::NoJump;
use crate::next_to_cut::FromRows;

/// A density that jumps with less than this probability by chance needs a warning.
const SORTED: f64 = 0.05;

/// A check of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckFinding {
    /// Its numbers.
    pub check: Check,
    /// What was found.
    pub sentence: String,
    /// The same as cells of a table.
    pub cells: Vec<String>,
    /// What to be careful about.
    pub warning: Option<String>,
    /// What was found in a word, where it is neither fine nor a reason for care.
    pub note: Option<&'static str>,
}

impl CheckFinding {
    /// Columns of [`CheckFinding::cells`] for a curvature check.
    pub const CURVATURE: [&'static str; 5] = ["option", "cases", "largest bend", "along", "by chance"];
    /// Columns of [`CheckFinding::cells`] for a propensity check.
    pub const PROPENSITY: [&'static str; 6] =
        ["option", "cases", "mean weight", "count as", "largest weight", "below the minimum"];
    /// Columns of [`CheckFinding::cells`] for a noise check.
    pub const NOISE: [&'static str; 3] = ["option", "found", "assumed"];
    /// Columns of [`CheckFinding::cells`] for a jump check.
    pub const JUMP: [&'static str; 6] =
        ["at the cut", "difference", "people next to it", "cases below + above", "within", "straight lines"];

    pub(super) fn new(document: &PolicyDocument, check: &Check) -> Self {
        let words = Words { column: &document.outcome().column, unit: running_unit(document) };
        let (warning, sentence, cells) = match check {
            Check::Propensity(found) => {
                (propensity_warning(found), propensity_sentence(found), propensity_cells(found))
            }
            Check::Curvature(found) => (curvature_warning(found), words.curvature(found), curvature_cells(found)),
            Check::Noise(found) => (words.noise_warning(found), words.noise(found), noise_cells(found)),
            Check::Jump(found) => (words.jump_warning(found), words.jump(found), words.jump_cells(found)),
        };
        Self { check: check.clone(), sentence, cells, note: note(check).filter(|_| warning.is_none()), warning }
    }
}

struct Words<'a> {
    /// The outcome.
    column: &'a str,
    /// The unit of the running variable.
    unit: &'a str,
}

impl Words<'_> {
    fn curvature(&self, found: &CurvatureCheck) -> String {
        let option = &found.option;
        match (found.p_value, found.largest_bend, &found.feature) {
            (Some(p), Some(bend), Some(feature)) => format!(
                "{option}: the line bends by {} {} between the middle and the ends of {feature} ({}).",
                measured(bend),
                self.column,
                p_value(p)
            ),
            (Some(_), ..) => format!("{option}: no feature can bend."),
            _ => format!("{option}: not tested."),
        }
    }

    fn noise(&self, found: &NoiseCheck) -> String {
        format!(
            "{}: outcomes scatter by {} {} around the line. The declared noise is {}.",
            found.option,
            measured(found.found),
            self.column,
            setting(found.declared)
        )
    }

    fn noise_warning(&self, found: &NoiseCheck) -> Option<String> {
        found.suggested.map(|suggested| {
            format!(
                "The outcomes of {} scatter by {} {} around their line, more than the declared noise of {}. Every interval is too \
                 short: declare noise = {} or more.",
                found.option,
                measured(found.found),
                self.column,
                setting(found.declared),
                setting(suggested)
            )
        })
    }

    fn jump(&self, found: &JumpCheck) -> String {
        let [lower, upper] = &found.options;
        let local = match (self.local(found), found.bandwidth) {
            (Some(local), Some(width)) => {
                format!("{local} from people within {} of the cut", with_unit(&measured(width), self.unit))
            }
            _ => "no estimate from people next to the cut".to_owned(),
        };
        let cut = with_unit(&setting(found.cut), self.unit);
        let estimate =
            format!("{upper} minus {lower} at {cut}: {local}, {} from the straight lines.", measured(found.model));
        let rest = match (&found.from_rows, found.local, found.bandwidth) {
            (Some(rows), Some(local), Some(width)) => Some(self.shown_by_rows(rows, local, width)),
            (None, Some(_), _) => Some(
                "This rests on sums in bins: the width is rough, and a bent outcome biases the estimate.".to_owned(),
            ),
            _ => None,
        };
        [Some(estimate), rest].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The difference by the people next to a cut: with its robust interval, or with its standard error if there are no rows.
    fn local(&self, found: &JumpCheck) -> Option<String> {
        let (local, error) = (measured(found.local?), measured(found.standard_error?));
        Some(match &found.from_rows {
            Some(FromRows { interval: [low, high], .. }) => {
                format!("{local} {} (95 % interval {} to {})", self.column, measured(*low), measured(*high))
            }
            None => format!("{local} ± {error} {}", self.column),
        })
    }

    /// How bent the outcome may be before the sign is in doubt, and whether the rule was followed.
    fn shown_by_rows(&self, rows: &FromRows, local: f64, width: f64) -> String {
        let share = percent(rows.not_followed);
        if !rows.is_sharp() {
            return format!(
                "The rule was not followed by {share} of the people next to the cut: the estimate compares those who got \
                 its option, and is the effect of the option only if the others got another one by chance."
            );
        }
        let side = if local < 0.0 { "below" } else { "above" };
        let bend = rows.largest_curvature.map(|curvature| {
            let per = if self.unit.is_empty() { "unit" } else { self.unit };
            format!(
                "With 95 % confidence the difference stays {side} zero up to a curvature of {} {} per {per} squared, a bend of {} within {}.",
                measured(curvature),
                self.column,
                measured(0.5 * curvature * width * width),
                with_unit(&measured(width), self.unit)
            )
        });
        let bend = bend.unwrap_or_else(|| {
            "The difference cannot be told from zero, even if the outcome is a straight line on either side.".to_owned()
        });
        let followed = (rows.not_followed > 0.0)
            .then(|| format!("The rule was not followed by {share} of the people next to the cut; they are left out."));
        [Some(bend), followed].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn jump_warning(&self, found: &JumpCheck) -> Option<String> {
        let warnings: Vec<String> = [self.disagreement(found), self.sorted(found)].into_iter().flatten().collect();
        (!warnings.is_empty()).then(|| warnings.join(" "))
    }

    fn sorted(&self, found: &JumpCheck) -> Option<String> {
        let p = found.from_rows?.density_p_value.filter(|p| *p < SORTED)?;
        let cut = with_unit(&setting(found.cut), self.unit);
        Some(format!(
            "People seem to have been sorted around the cut at {cut}: their number jumps there ({}), so that those on either side may \
             differ in more than the option.",
            p_value(p)
        ))
    }

    fn disagreement(&self, found: &JumpCheck) -> Option<String> {
        let [lower, upper] = &found.options;
        let cut = with_unit(&setting(found.cut), self.unit);
        let doubt = match &found.from_rows {
            Some(FromRows { interval: [low, high], .. }) => {
                format!("95 % interval {} to {}", measured(*low), measured(*high))
            }
            None => format!("standard error {}", measured(found.standard_error.unwrap_or(f64::NAN))),
        };
        Some(match found.warning.as_ref()? {
            JumpWarning::Disagrees => format!(
                "At {cut}, people next to the cut show that {upper} gives {} {} more than {lower} ({doubt}), but the straight \
                 lines say {}. The lines do not fit near the cut.",
                measured(found.local.unwrap_or(f64::NAN)),
                self.column,
                measured(found.model)
            ),
            JumpWarning::NoEstimate(reason) => {
                format!("{lower} and {upper} cannot be compared by people next to {cut} alone: {}.", why_not(reason))
            }
        })
    }

    fn jump_cells(&self, found: &JumpCheck) -> Vec<String> {
        let [lower, upper] = &found.options;
        let near = match (found.local, found.standard_error, &found.from_rows) {
            (Some(estimate), _, Some(FromRows { interval: [lower, upper], .. })) => {
                interval(Interval { estimate, lower: *lower, upper: *upper })
            }
            (Some(local), Some(error), None) => format!("{} ± {}", measured(local), measured(error)),
            _ => "too few cases".to_owned(),
        };
        let cases = found.rows.map_or_else(dash, |(below, above)| format!("{} + {}", count(below), count(above)));
        let [low, high] = found.model_interval;
        vec![
            with_unit(&setting(found.cut), self.unit),
            format!("{upper} minus {lower}"),
            near,
            cases,
            found.bandwidth.map_or_else(dash, |width| with_unit(&measured(width), self.unit)),
            interval(Interval { estimate: found.model, lower: low, upper: high }),
        ]
    }
}

/// A bend that is not by chance, but changes no decision.
fn note(check: &Check) -> Option<&'static str> {
    match check {
        Check::Curvature(found) if found.p_value.is_some_and(|p| p < 0.05) => Some("bends, decisions stay"),
        _ => None,
    }
}

fn curvature_warning(found: &CurvatureCheck) -> Option<String> {
    let option = &found.option;
    Some(match found.warning.as_ref()? {
        CurvatureWarning::ChangesDecisions(share) => format!(
            "The outcome of {option} bends. With bent lines another option would be best for {} of people than with straight ones: \
             {}, or narrow the range.",
            percent(*share),
            found.feature.as_ref().map_or_else(
                || "add a feature that bends".to_owned(),
                |feature| format!(
                    "let it bend by two more lines in the policy document, [[features]] and square = {feature:?}"
                )
            )
        ),
        CurvatureWarning::NotTested(reason) => format!("{option}: {reason}."),
    })
}

fn curvature_cells(found: &CurvatureCheck) -> Vec<String> {
    let chance = |p: f64| if p < 0.001 { "below 0.1 %".to_owned() } else { percent(p) };
    vec![
        found.option.clone(),
        count(found.rows),
        found.largest_bend.map_or_else(dash, measured),
        found.feature.clone().unwrap_or_else(dash),
        found.p_value.map_or_else(dash, chance),
    ]
}

fn noise_cells(found: &NoiseCheck) -> Vec<String> {
    vec![found.option.clone(), measured(found.found), setting(found.declared)]
}

fn why_not(reason: &NoJump) -> String {
    match reason {
        NoJump::TooFewRows { rows, side, .. } => format!("only {rows} are {side} it"),
        NoJump::OneValue { side, .. } => format!("those {side} it all have the same value"),
        NoJump::FewValues { side, values, .. } => format!("those {side} it have only {values} different values"),
        NoJump::NotABandwidth { .. } => reason.to_string(),
    }
}

fn dash() -> String {
    "–".to_owned()
}

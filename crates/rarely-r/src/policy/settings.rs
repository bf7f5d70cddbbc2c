//! The settings of a policy, by name, as `rarely_policy()` has them.

use rarely_core::{
    Algorithm, Arm, Certificates, Contexts, Deviations, Forgetting, Growth, MinimumGain, Noise, Settings,
    SettingsError, Share, Tuning,
};

use crate::arguments::Arguments;
use crate::problem::{self, Problem};

/// Settings that are wrong by themselves or together, or an argument of the wrong kind.
enum Wrong {
    Setting(SettingsError),
    Argument(Problem),
}

impl From<SettingsError> for Wrong {
    fn from(error: SettingsError) -> Self {
        Self::Setting(error)
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        Self::Argument(problem)
    }
}

/// The settings, and the seed of the policy's own random numbers.
pub(super) fn of(arguments: &Arguments) -> Result<(Settings, u64), Problem> {
    let read = settings(arguments).and_then(|settings| Ok((settings, arguments.whole("seed")?.unwrap_or(0))));
    read.map_err(|wrong| match wrong {
        Wrong::Setting(error) => Problem::explain(problem::SETTINGS, &error),
        Wrong::Argument(problem) => problem,
    })
}

fn settings(given: &Arguments) -> Result<Settings, Wrong> {
    let size = |name: &str| -> Result<usize, Problem> {
        given.size(name)?.ok_or_else(|| Problem::new(problem::ARGUMENT, format!("`{name}` is missing")))
    };
    let dimension = size("dimension")?;
    let algorithm: Algorithm = given.text("algorithm")?.map_or(Ok(Algorithm::Rarely), |name| name.parse())?;
    let tuning = tuning(given)?;
    let mut settings = Settings::new(size("arms")?, dimension)?
        .algorithm(algorithm)
        .tune(|all| {
            let solver = all.solver;
            *all = Tuning { solver, ..tuning };
        })
        .certificates(if given.flag("certificates")? { Certificates::Full } else { Certificates::Brief });
    if let Some(value) = given.number("error_probability")? {
        settings = settings.error_probability(value)?;
    }
    if let Some(value) = given.number("penalty")? {
        settings = settings.penalty(value)?;
    }
    settings = if given.is_text("noise") {
        settings.unknown_noise(given.required_text("noise")?.parse()?)
    } else {
        settings.noise(given.number("noise")?.unwrap_or(1.0))?
    };
    if let Some(bound) = given.number("norm_bound")? {
        settings = settings.norm_bound(bound)?;
    }
    if let Some(sets) = given.text("sets")? {
        settings = settings.sets(sets.parse()?);
    }
    if let Some(explore) = given.text("explore")? {
        settings = settings.exploration(explore.parse()?);
    }
    with_arrays(settings, given, (algorithm, dimension))
}

/// The settings that are vectors or matrices, row by row.
fn with_arrays(
    mut settings: Settings,
    given: &Arguments,
    (algorithm, dimension): (Algorithm, usize),
) -> Result<Settings, Wrong> {
    match given.numbers("prior_mean")?.as_deref() {
        Some(&[value]) => settings = settings.constant_prior_mean(value)?,
        Some(values) => settings = settings.prior_mean(values.to_vec())?,
        None => {}
    }
    if let Some(values) = given.numbers("deployed")? {
        settings = settings.deployed(values)?;
    }
    if let Some(values) = given.numbers("population")? {
        let people = Contexts::new(&values, dimension);
        settings = settings.population(people.map_err(SettingsError::from)?)?;
    }
    // Only `clucb` uses the mean, and it needs one.
    let mean = given.numbers("baseline_mean")?;
    let mean = mean.or_else(|| (!algorithm.sums_contexts()).then(|| vec![0.0; dimension]));
    if let (Some(arm), Some(mean)) = (given.size("baseline")?, mean) {
        settings = settings.baseline(Arm::new(arm), &mean)?;
    }
    Ok(settings)
}

fn tuning(given: &Arguments) -> Result<Tuning, Wrong> {
    let mut tuning = Tuning::default();
    let share = |name: &'static str| -> Result<Option<Share>, Wrong> {
        let words = if name == "excluded_share" { "excluded share" } else { name };
        Ok(given.number(name)?.map(|value| Share::named(words, value)).transpose()?)
    };
    let forgetting = match (given.number("discount")?, given.whole("window")?) {
        (Some(_), Some(_)) => {
            let remedy = "give one of them";
            return Err(SettingsError::Incompatible { setting: "a discount", algorithm: "a window", remedy }.into());
        }
        (Some(factor), None) => Some(Forgetting::discount(factor)?),
        (None, Some(outcomes)) => Some(Forgetting::window(outcomes)?),
        (None, None) => None,
    };
    tuning.forgetting = forgetting;
    tuning.tolerance = share("tolerance")?.unwrap_or(tuning.tolerance);
    tuning.excluded_share = share("excluded_share")?.unwrap_or(tuning.excluded_share);
    tuning.safety = share("safety")?.unwrap_or(tuning.safety);
    tuning.epsilon = share("epsilon")?.unwrap_or(tuning.epsilon);
    tuning.bandwidth = share("bandwidth")?.unwrap_or(tuning.bandwidth);
    if let Some(value) = given.number("growth")? {
        tuning.growth = Growth::new(value)?;
    }
    if let Some(value) = given.number("gap_scale")? {
        tuning.gap_scale = Growth::new(value)?;
    }
    if let Some(value) = given.number("minimum_gain")? {
        tuning.minimum_gain = MinimumGain::new(value)?;
    }
    if let Some(value) = given.number("alpha")? {
        tuning.alpha = Deviations::new(value)?;
    }
    tuning.deviations = given.number("deviations")?.map(Deviations::new).transpose()?;
    tuning.posterior_scale = given.number("posterior_scale")?.map(Noise::new).transpose()?;
    Ok(tuning)
}

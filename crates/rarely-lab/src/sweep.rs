//! An experiment over a range of one or two settings.

use std::fmt;
use std::str::FromStr;

use rarely_core::{Exploration, SettingsError, Share};
use rarely_error::{Action, Explain, Remedy};
use serde::{Serialize, Serializer};

use crate::contestant::Contestant;
use crate::contestant_result::{ContestantResult, Summary};
use crate::experiment::{Experiment, ExperimentError, RunContext};
use crate::run_journal::RunJournal;
use crate::world_source::WorldSource;
use rarely_output::ColumnTable;

/// A setting that can be varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// `Δ` of the rs algorithms.
    Tolerance,
    /// `λ`.
    Penalty,
    /// `ε`.
    Equipoise,
    /// Outcomes of each arm before the policy decides.
    Pilot,
    /// `k`.
    Arms,
    /// `d`.
    Dimension,
    /// The declared `σ` as a multiple of the true one.
    DeclaredNoise,
    /// Strength of a curved truth: 0 is linear.
    Curvature,
    /// `C` of rs-linucb.
    Growth,
    /// `τ` of the population algorithms.
    ExcludedShare,
    /// `θ₀`.
    PriorMean,
    /// `δ`.
    ErrorProbability,
}

const SETTINGS: [(Setting, &str); 12] = [
    (Setting::Tolerance, "tolerance"),
    (Setting::Penalty, "penalty"),
    (Setting::Equipoise, "equipoise"),
    (Setting::Pilot, "pilot"),
    (Setting::Arms, "arms"),
    (Setting::Dimension, "dim"),
    (Setting::DeclaredNoise, "declared-noise"),
    (Setting::Curvature, "curvature"),
    (Setting::Growth, "growth"),
    (Setting::ExcludedShare, "excluded-share"),
    (Setting::PriorMean, "prior-mean"),
    (Setting::ErrorProbability, "error-probability"),
];

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(SETTINGS.iter().find(|(setting, _)| setting == self).map_or("", |(_, name)| name))
    }
}

/// A setting and the values it takes, written `penalty=0.001,0.01,0.1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepAxis {
    /// The setting.
    pub setting: Setting,
    /// Its values.
    pub values: Vec<f64>,
}

/// Why a sweep could not be done.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A text that is not `setting=value,…`.
    #[error("`{text}` is not a setting with values")]
    Form {
        /// What was written.
        text: String,
    },
    /// An unknown setting.
    #[error("there is no setting `{name}` to vary")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A value that is not allowed.
    #[error("{setting} is `{value}`, but it must be {expected}")]
    Value {
        /// The setting.
        setting: Setting,
        /// What was written.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A curvature in an environment that is not linear.
    #[error("the curvature cannot be varied in the environment `{environment}`")]
    NotLinear {
        /// The environment.
        environment: String,
    },
    /// A setting that the environment fixes.
    #[error("{setting} cannot be varied: the environment has its own arms and context variables")]
    FixedByEnvironment {
        /// The setting.
        setting: Setting,
    },
    /// The same setting twice.
    #[error("{setting} is varied twice")]
    Twice {
        /// The setting.
        setting: Setting,
    },
    /// A number is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A cell could not be run.
    #[error("at {cell}")]
    Cell {
        /// Its settings.
        cell: String,
        /// Why.
        source: ExperimentError,
    },
}

impl Explain for SweepError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Form { .. } => Remedy::new("write it like penalty=0.001,0.01,0.1"),
            Self::Unknown { .. } => {
                Remedy::new(format!("the settings are {}", SETTINGS.map(|(_, name)| name).join(", ")))
            }
            Self::NotLinear { .. } => Remedy::with("{action}", Action::UseLinearEnvironment),
            Self::FixedByEnvironment { .. } => Remedy::new("vary it in a simulation"),
            Self::Twice { setting } => Remedy::new(format!("give all its values at once, like {setting}=0.1,0.2")),
            Self::Value { .. } => return None,
            Self::Settings(error) => return error.remedy(),
            Self::Cell { source, .. } => return source.remedy(),
        })
    }
}

impl FromStr for SweepAxis {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let (name, list) = text.split_once('=').ok_or_else(|| SweepError::Form { text: text.to_owned() })?;
        let known = SETTINGS.iter().find(|(_, known)| *known == name.trim());
        let &(setting, _) = known.ok_or_else(|| SweepError::Unknown { name: name.trim().to_owned() })?;
        let number = |value: &str| {
            let expected = "a number";
            let parsed: Result<f64, _> = value.trim().parse();
            let parsed = parsed.ok().filter(|value| value.is_finite());
            parsed.ok_or_else(|| SweepError::Value { setting, value: value.trim().to_owned(), expected })
        };
        let values = list.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { setting, values })
    }
}

/// One combination of values, with its results.
pub struct SweepCell {
    /// The values, in the order of the axes.
    pub values: Vec<f64>,
    /// The results, one for each contestant.
    pub results: Vec<ContestantResult>,
}

/// An experiment for every combination of values.
pub struct Sweep {
    cells: Vec<(Vec<f64>, Experiment, Vec<Contestant>)>,
    axes: Vec<SweepAxis>,
}

impl Sweep {
    /// Prepares every cell, and checks that it can be run.
    ///
    /// # Errors
    /// [`SweepError`] of the first cell that cannot.
    pub fn new(experiment: &Experiment, contestants: &[Contestant], axes: &[SweepAxis]) -> Result<Self, SweepError> {
        if let [first, second, ..] = axes
            && first.setting == second.setting
        {
            return Err(SweepError::Twice { setting: first.setting });
        }
        let mut combinations: Vec<Vec<f64>> = vec![Vec::new()];
        for axis in axes {
            let extend =
                |values: Vec<f64>| axis.values.iter().map(move |&value| [values.clone(), vec![value]].concat());
            combinations = combinations.into_iter().flat_map(extend).collect();
        }
        let prepare = |values: Vec<f64>| {
            let (mut experiment, mut contestants) = (experiment.clone(), contestants.to_vec());
            for (axis, &value) in axes.iter().zip(&values) {
                apply(axis.setting, value, &mut experiment, &mut contestants)?;
            }
            experiment.check(&contestants).map_err(|source| at(axes, &values, source))?;
            Ok((values, experiment, contestants))
        };
        let cells = combinations.into_iter().map(prepare).collect::<Result<_, SweepError>>()?;
        Ok(Self { cells, axes: axes.to_vec() })
    }

    /// The number of runs.
    pub fn runs(&self) -> u64 {
        self.experiments().map(|(experiment, contestants)| experiment.runs * contestants.len() as u64).sum()
    }

    /// Every cell's experiment with its contestants.
    pub fn experiments(&self) -> impl Iterator<Item = (&Experiment, &[Contestant])> {
        self.cells.iter().map(|(_, experiment, contestants)| (experiment, contestants.as_slice()))
    }

    /// How many of its runs a journal has.
    ///
    /// # Errors
    /// [`SweepError`] of a cell that cannot be run.
    pub fn finished(&self, journal: &RunJournal) -> Result<usize, SweepError> {
        let cells = self.cells.iter();
        cells
            .map(|(values, experiment, all)| {
                experiment.finished(all, journal).map_err(|source| at(&self.axes, values, source))
            })
            .sum()
    }

    /// Runs every cell.
    ///
    /// # Errors
    /// [`SweepError`] of the first cell that cannot be run.
    pub fn run(&self, context: &RunContext<'_>) -> Result<Vec<SweepCell>, SweepError> {
        let run = |(values, experiment, contestants): &(Vec<f64>, Experiment, Vec<Contestant>)| {
            let results = experiment.run(contestants, context).map_err(|source| at(&self.axes, values, source))?;
            Ok(SweepCell { values: values.clone(), results })
        };
        self.cells.iter().map(run).collect()
    }
}

fn at(axes: &[SweepAxis], values: &[f64], source: ExperimentError) -> SweepError {
    let settings = axes.iter().zip(values).map(|(axis, value)| format!("{}={value}", axis.setting));
    SweepError::Cell { cell: settings.collect::<Vec<_>>().join(", "), source }
}

/// Sets one setting in an experiment and its contestants.
fn apply(
    setting: Setting,
    value: f64,
    experiment: &mut Experiment,
    contestants: &mut [Contestant],
) -> Result<(), SweepError> {
    let whole = || {
        let is_whole = (0.0..=1e6).contains(&value) && value.fract() == 0.0;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        is_whole.then_some(value as u32).ok_or_else(|| SweepError::Value {
            setting,
            value: value.to_string(),
            expected: "a whole number from 0 to 1,000,000",
        })
    };
    let true_noise = match &experiment.source {
        WorldSource::Synthetic { noise, .. } => *noise,
        WorldSource::Tables(_) | WorldSource::Environment(_) => 1.0,
    };
    match (setting, &mut experiment.source) {
        (Setting::Arms, WorldSource::Synthetic { arms, .. }) => *arms = whole()? as usize,
        (Setting::Dimension, WorldSource::Synthetic { dimension, .. }) => *dimension = whole()? as usize,
        (Setting::Curvature, WorldSource::Synthetic { name, .. }) if name != "linear" && name != "quadratic" => {
            return Err(SweepError::NotLinear { environment: name.clone() });
        }
        (Setting::Curvature, WorldSource::Synthetic { name, strength, .. }) => {
            "quadratic".clone_into(name);
            *strength = value;
        }
        (
            Setting::Arms | Setting::Dimension | Setting::Curvature,
            WorldSource::Tables(_) | WorldSource::Environment(_),
        ) => {
            return Err(SweepError::FixedByEnvironment { setting });
        }
        _ => {}
    }
    for contestant in contestants {
        let explore = contestant.explore.unwrap_or(Exploration::of(contestant.algorithm));
        match setting {
            Setting::Tolerance => contestant.tuned.tolerance = Some(value),
            Setting::Penalty => contestant.declared.penalty = Some(value),
            Setting::Equipoise => {
                contestant.explore = Some(Exploration { equipoise: Share::named("equipoise", value)?, ..explore });
            }
            Setting::Pilot => contestant.explore = Some(Exploration { pilot: whole()?, ..explore }),
            Setting::DeclaredNoise => contestant.declared.noise = Some(value * true_noise),
            Setting::Growth => contestant.tuned.growth = Some(value),
            Setting::ExcludedShare => contestant.tuned.excluded_share = Some(value),
            Setting::PriorMean => contestant.declared.prior_mean = Some(value),
            Setting::ErrorProbability => contestant.declared.error_probability = Some(value),
            Setting::Arms | Setting::Dimension | Setting::Curvature => {}
        }
    }
    Ok(())
}

/// A row for each cell and contestant.
pub fn frame(axes: &[SweepAxis], cells: &[SweepCell]) -> ColumnTable {
    let rows: Vec<(&[f64], Summary)> = cells
        .iter()
        .flat_map(|cell| cell.results.iter().map(|result| (cell.values.as_slice(), result.summary())))
        .collect();
    let mut frame = ColumnTable::default();
    for (at, axis) in axes.iter().enumerate() {
        frame = frame.numbers(axis.setting.to_string(), rows.iter().map(|(values, _)| values[at]));
    }
    let number = |value: fn(&Summary) -> f64| rows.iter().map(move |(_, row)| value(row));
    frame
        .texts("algorithm", rows.iter().map(|(_, row)| row.name.clone()))
        .numbers("regret_per_step", number(|row| row.regret_per_step.mean))
        .numbers("regret_per_step_se", number(|row| row.regret_per_step.standard_error))
        .numbers("changes", number(|row| row.changes.mean))
        .numbers("changes_se", number(|row| row.changes.standard_error))
        .numbers("renewals", number(|row| row.renewals.mean))
        .optional("off_rule_percent", rows.iter().map(|(_, row)| row.off_rule_percent.map(|share| share.mean)))
        .numbers("stuck_runs", number(|row| row.stuck_runs as f64))
        .optional("improving_percent", rows.iter().map(|(_, row)| row.improving_percent.map(|share| share.mean)))
        .optional("coverage", rows.iter().map(|(_, row)| row.coverage))
}

//! An experiment over a range of one or two settings.

mod setting;

use std::fmt;
use std::str::FromStr;

use rarely_core::SettingsError;
use rarely_error::{Action, Explain, Remedy};
use serde::Serialize;

use crate::contestant::Contestant;
use crate::contestant_result::{ContestantResult, Summary};
use crate::experiment::{Experiment, ExperimentError, RunContext};
use crate::results::LabelledResults;
use crate::run_journal::RunJournal;
use rarely_output::ColumnTable;

pub use setting::{SETTINGS, Setting};

/// A setting and the values it takes, written `penalty=0.001,0.01,0.1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepAxis {
    /// The setting.
    pub setting: Setting,
    /// Its values.
    pub values: Vec<f64>,
}

impl fmt::Display for SweepAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(ToString::to_string).collect();
        write!(f, "{} ({})", self.setting, values.join(", "))
    }
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
    /// A strength in an environment without one.
    #[error("the environment `{environment}` has no strength to vary")]
    NoStrength {
        /// The environment.
        environment: String,
    },
    /// A setting that none of the algorithms uses.
    #[error("{setting} cannot be varied: none of the algorithms uses it")]
    Unused {
        /// The setting.
        setting: Setting,
    },
    /// A setting that the environment fixes.
    #[error("{setting} cannot be varied: the environment has its own arms, context variables and noise")]
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
            Self::NoStrength { .. } => Remedy::new("name an environment that has one"),
            Self::Unused { .. } => Remedy::new("add an algorithm that does"),
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
            // The world first: what is declared may be a multiple of what is true.
            for of_the_world in [true, false] {
                let own = axes.iter().zip(&values).filter(|(axis, _)| axis.setting.is_of_the_world() == of_the_world);
                for (axis, &value) in own {
                    axis.setting.apply(value, &mut experiment, &mut contestants)?;
                }
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

/// The results of every cell, labelled with its values.
pub fn labelled<'a>(axes: &[SweepAxis], cells: &'a [SweepCell], seed: u64) -> Vec<LabelledResults<'a>> {
    let labels = |cell: &SweepCell| {
        axes.iter().zip(&cell.values).map(|(axis, &value)| (format!("vary_{}", axis.setting), value)).collect()
    };
    cells.iter().map(|cell| LabelledResults { labels: labels(cell), seed, results: &cell.results }).collect()
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
        .numbers("regret_per_step_p10", number(|row| row.regret_quantiles.low))
        .numbers("regret_per_step_median", number(|row| row.regret_quantiles.median))
        .numbers("regret_per_step_p90", number(|row| row.regret_quantiles.high))
        .numbers("changes_p10", number(|row| row.change_quantiles.low))
        .numbers("changes_median", number(|row| row.change_quantiles.median))
        .numbers("changes_p90", number(|row| row.change_quantiles.high))
}

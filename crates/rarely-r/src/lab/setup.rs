//! What is run: a world, algorithms, and what they assume.

use std::path::PathBuf;
use std::sync::Arc;

use rarely_core::{Algorithm, Certificates, Profile, UnknownNoise};
use rarely_error::Explain;
use rarely_lab::{
    Assumptions, Contestant, ContestantResult, CounterfactualTable, Experiment, ExperimentDescription, NoiseSource,
    NormBound, WorldProperties, WorldSource,
};

use super::failed;
use crate::arguments::Arguments;
use crate::problem::{self, Problem};

/// An experiment with its contestants.
pub(super) struct Setup {
    pub(super) experiment: Experiment,
    pub(super) contestants: Vec<Contestant>,
    assumptions: Assumptions,
    noise_source: Option<&'static str>,
    /// The call, as its user wrote it.
    command: String,
}

impl Setup {
    /// It, if every contestant can play.
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Problem> {
        let assumptions = assumptions(arguments)?;
        let source = source(arguments)?;
        let (noise, noise_source) =
            if let (Some(declared), WorldSource::Tables(_)) = (assumptions.declared_noise, &source) {
                (declared, None)
            } else {
                let (noise, from) = source.noise().map_err(|error| failed(&error))?;
                (noise.unwrap_or(1.0), from.map(NoiseSource::words))
            };
        let algorithms = algorithms(arguments, &source)?;
        assumptions.check(&algorithms).map_err(|error| failed(&error))?;
        let contestants = assumptions.contestants(&algorithms, noise);
        let count = |name: &str, most: u64| arguments.within(name, (1, most));
        let (runs, seed) = (count("runs", 1_000_000)?.unwrap_or(50), arguments.whole("seed")?.unwrap_or(1));
        let experiment = Experiment {
            rounds: count("rounds", 1_000_000_000)?,
            certificates: if arguments.flag("certificates")? { Certificates::Full } else { Certificates::Brief },
            properties: WorldProperties {
                late: arguments.whole("late")?.unwrap_or(0),
                missing: arguments.number("missing")?.unwrap_or(0.0),
                drift: arguments.whole("drift")?.unwrap_or(0),
                batch: arguments.whole("batch")?.unwrap_or(0),
            },
            ..Experiment::new(source, runs, seed)
        };
        experiment.check(&contestants).map_err(|error| failed(&error))?;
        Ok(Self { experiment, contestants, assumptions, noise_source, command: arguments.required_text("command")? })
    }

    /// What was run.
    pub(super) fn describe(&self, results: &[ContestantResult]) -> Result<ExperimentDescription, Problem> {
        let described = self.experiment.describe(self.command.clone(), &self.assumptions, results);
        let mut described = described.map_err(|error| failed(&error))?;
        described.declared_noise_source = self.noise_source;
        Ok(described)
    }
}

/// Where contexts and rewards come from.
fn source(arguments: &Arguments) -> Result<WorldSource, Problem> {
    let environment = arguments.text("environment")?;
    let own = ["arms", "dimension", "noise", "strength"];
    if let Some(path) = arguments.text("table")?.map(PathBuf::from) {
        let foreign = own.iter().find(|name| arguments.get(name).is_some());
        let foreign = foreign.copied().or(environment.filter(|name| name != "linear").map(|_| "environment"));
        if let Some(name) = foreign {
            let problem = Problem::new(problem::EXPERIMENT, format!("{name} is given, but the table has its own"));
            return Err(problem.help(format!("leave out {name}")));
        }
        let table = rarely_data::table::read(&path).map_err(|error| Problem::explain(problem::DATA, &error))?;
        let tables = CounterfactualTable::new(vec![table]).map_err(|error| Problem::explain(problem::DATA, &error))?;
        return Ok(WorldSource::Tables(Arc::new(tables)));
    }
    Ok(WorldSource::Synthetic {
        name: environment.unwrap_or_else(|| "linear".to_owned()),
        arms: arguments.size("arms")?.unwrap_or(4),
        dimension: arguments.size("dimension")?.unwrap_or(5),
        noise: arguments.number("noise")?.unwrap_or(0.1),
        strength: arguments.number("strength")?.unwrap_or(1.0),
    })
}

/// The algorithms, each once. Names may be joined by commas, as on the command line.
fn algorithms(arguments: &Arguments, source: &WorldSource) -> Result<Vec<Algorithm>, Problem> {
    let given = arguments.texts("algorithms")?.unwrap_or_else(|| vec!["all".to_owned()]);
    let mut chosen: Vec<Algorithm> = Vec::new();
    for name in given.iter().flat_map(|names| names.split(',')).map(str::trim) {
        let added = match name {
            "all" => source.algorithms(),
            name => vec![read(Some(name.to_owned()))?.ok_or_else(nothing)?],
        };
        chosen.extend(added.iter().filter(|algorithm| !chosen.contains(algorithm)).copied().collect::<Vec<_>>());
    }
    if chosen.is_empty() { Err(nothing()) } else { Ok(chosen) }
}

fn nothing() -> Problem {
    Problem::new(problem::EXPERIMENT, "there is no algorithm to run").help("name one, or \"all\"")
}

/// The value that a text names, if it is given.
fn read<T: std::str::FromStr<Err: Explain>>(text: Option<String>) -> Result<Option<T>, Problem> {
    let value = text.map(|text| text.parse::<T>()).transpose();
    value.map_err(|error| Problem::explain(problem::SETTINGS, &error))
}

fn assumptions(arguments: &Arguments) -> Result<Assumptions, Problem> {
    let profile = match arguments.text("profile")?.as_deref() {
        None | Some("rigorous") => Profile::Rigorous,
        Some("published") => Profile::Published,
        Some(other) => {
            let problem = Problem::new(problem::EXPERIMENT, format!("there is no profile {other:?}"));
            return Err(problem.help("use \"rigorous\" or \"published\""));
        }
    };
    let (declared_noise, unknown_noise) = if arguments.is_text("declared_noise") {
        (None, read::<UnknownNoise>(arguments.text("declared_noise")?)?)
    } else {
        (arguments.number("declared_noise")?, None)
    };
    let norm_bound = if arguments.is_text("norm_bound") {
        match arguments.required_text("norm_bound")?.as_str() {
            "auto" => Some(NormBound::Auto),
            other => {
                let message = format!("`norm_bound` is {other:?}, but must be a number or \"auto\"");
                return Err(Problem::new(problem::EXPERIMENT, message));
            }
        }
    } else {
        arguments.number("norm_bound")?.map(NormBound::Value)
    };
    Ok(Assumptions {
        profile,
        explore: read(arguments.text("explore")?)?,
        penalty: arguments.number("penalty")?,
        declared_noise,
        unknown_noise,
        norm_bound,
        norm_bound_values: None,
        prior_mean: arguments.number("prior_mean")?,
        error_probability: arguments.number("error_probability")?,
        sets: read(arguments.text("sets")?)?,
        delay: read(arguments.text("delay")?)?,
        tolerance: arguments.number("tolerance")?,
    })
}

//! What was run, as typed data: written beside the results and shown above them.
//!
//! Fields are in alphabetical order, which is the order of the keys in the JSON files.

use rarely_core::{Algorithm, Shape, Tuning};
use rarely_output::Provenance;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::assumptions::Assumptions;
use crate::contestant_result::ContestantResult;
use crate::play::Assumed;
use crate::sweep::SweepAxis;

/// Everything that the results of an experiment depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExperimentDescription {
    /// The algorithms.
    pub algorithms: Vec<String>,
    /// The assumptions of the algorithms.
    pub assumptions: Assumptions,
    /// The command or the call that ran it, as its user wrote it.
    pub command: String,
    /// What each algorithm assumed.
    pub contestants: Vec<ContestantDescription>,
    /// Where the declared noise comes from, if it was neither set nor known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_noise_source: Option<&'static str>,
    /// Where contexts and rewards come from.
    pub environment: EnvironmentDescription,
    /// Rounds of a run.
    pub rounds: u64,
    /// Runs.
    pub runs: u64,
    /// Seed.
    pub seed: u64,
    /// The settings that are varied, if it is a sweep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vary: Vec<SweepAxis>,
    /// The version of this program.
    pub version: &'static str,
}

impl ExperimentDescription {
    /// What makes the files of its results.
    pub fn made_by(&self) -> Provenance {
        Provenance { version: self.version.to_owned(), command: self.command.clone(), seed: self.seed }
    }
}

/// Everything that the worlds of an environment depend on: results under the same description may be reused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvironmentDescription {
    /// `k`.
    pub arms: usize,
    /// Rounds of a batch of outcomes, where they come in batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_rounds: Option<u64>,
    /// The digest of the tables' numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// `d`.
    pub dimension: usize,
    /// Rounds in which every arm takes the next one's place, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_rounds: Option<u64>,
    /// Its name.
    pub environment: &'static str,
    /// The policy in force at the start, where every run has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<f64>>,
    /// What titles call it instead of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Rounds by which outcomes are reported late, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_rounds: Option<u64>,
    /// Share of the outcomes that are never reported, where some are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_share: Option<f64>,
    /// Standard deviation of the noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// People in the first table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<usize>,
    /// Strength of the deviation from the linear environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// The labels of the tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<String>>,
    /// The true parameters, where every run has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<Vec<f64>>,
}

impl EnvironmentDescription {
    /// An environment with a name and a shape; everything else is left out.
    pub fn new(environment: &'static str, shape: Shape) -> Self {
        Self {
            arms: shape.arms(),
            batch_rounds: None,
            digest: None,
            dimension: shape.dimension(),
            drift_rounds: None,
            environment,
            initial: None,
            label: None,
            late_rounds: None,
            missing_share: None,
            noise: None,
            people: None,
            strength: None,
            tables: None,
            truth: None,
        }
    }
}

/// What one algorithm assumed in its runs; what it does not use is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContestantDescription {
    /// Its name in the core's table, or "custom".
    pub algorithm: &'static str,
    /// `σ`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_noise: Option<ValueRange>,
    /// `δ`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_probability: Option<ValueRange>,
    /// How it explores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explore: Option<String>,
    /// Its name in tables.
    pub name: String,
    /// `L`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub norm_bound: Option<ValueRange>,
    /// `λ`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<ValueRange>,
    /// `Δ`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

impl ContestantDescription {
    /// Of every contestant, each once: of a sweep, over all its cells.
    pub(crate) fn all<'a>(results: impl IntoIterator<Item = &'a ContestantResult>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for result in results {
            let own = Self::of(result);
            match all.iter_mut().find(|known| known.name == own.name) {
                None => all.push(own),
                Some(known) => {
                    known.declared_noise = joined(known.declared_noise, own.declared_noise);
                    known.error_probability = joined(known.error_probability, own.error_probability);
                    known.norm_bound = joined(known.norm_bound, own.norm_bound);
                    known.penalty = joined(known.penalty, own.penalty);
                }
            }
        }
        all
    }

    fn of(result: &ContestantResult) -> Self {
        let range = |value: fn(&Assumed) -> Option<f64>| {
            let assumed = result.runs.iter().filter_map(|run| run.assumed.as_ref());
            assumed.filter_map(value).map(ValueRange::of).reduce(ValueRange::with)
        };
        let contestant = &result.contestant;
        let uses_tolerance = [Algorithm::RsGreedy, Algorithm::RsConservative].map(Some);
        let tolerance = uses_tolerance.contains(&contestant.algorithm.core());
        let default = || Tuning::default().tolerance.get();
        Self {
            algorithm: contestant.algorithm.name(),
            declared_noise: range(|assumed| Some(assumed.noise)),
            error_probability: range(|assumed| Some(assumed.error_probability)),
            explore: contestant.exploration().map(|exploration| exploration.to_string()),
            name: contestant.name.clone(),
            norm_bound: range(|assumed| assumed.norm_bound),
            penalty: range(|assumed| Some(assumed.penalty)),
            tolerance: tolerance.then(|| contestant.tuned.tolerance.unwrap_or_else(default)),
        }
    }
}

fn joined(one: Option<ValueRange>, other: Option<ValueRange>) -> Option<ValueRange> {
    one.into_iter().chain(other).reduce(ValueRange::with)
}

/// The values that a number had in several runs. It is written as one number if they are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueRange {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl ValueRange {
    pub(crate) fn of(value: f64) -> Self {
        Self { least: value, most: value }
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

impl Serialize for ValueRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.least == self.most {
            return serializer.serialize_f64(self.least);
        }
        let mut range = serializer.serialize_struct("ValueRange", 2)?;
        range.serialize_field("least", &self.least)?;
        range.serialize_field("most", &self.most)?;
        range.end()
    }
}

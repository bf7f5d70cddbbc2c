//! What was run, as typed data: written beside the results and shown above them.
//!
//! Fields are in alphabetical order, which is the order of the keys in the JSON files.

use rarely_core::{Algorithm, Shape};
use serde::{Serialize, Serializer};

use crate::assumptions::Assumptions;
use crate::sweep::SweepAxis;

/// Everything that the results of an experiment depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExperimentDescription {
    /// The algorithms.
    #[serde(serialize_with = "names")]
    pub algorithms: Vec<Algorithm>,
    /// The assumptions of the algorithms.
    pub assumptions: Assumptions,
    /// The command that ran it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'static str>,
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

/// Everything that the worlds of an environment depend on: results under the same description may be reused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvironmentDescription {
    /// `k`.
    pub arms: usize,
    /// The digest of the tables' numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// `d`.
    pub dimension: usize,
    /// Its name.
    pub environment: &'static str,
    /// The policy in force at the start, where every run has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<f64>>,
    /// What titles call it instead of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
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
            digest: None,
            dimension: shape.dimension(),
            environment,
            initial: None,
            label: None,
            noise: None,
            people: None,
            strength: None,
            tables: None,
            truth: None,
        }
    }
}

fn names<S: Serializer>(algorithms: &[Algorithm], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(algorithms.iter().map(|algorithm| algorithm.name()))
}

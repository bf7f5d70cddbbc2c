//! Options that several commands share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use rarely_core::{
    Algorithm, Certificates, Delay, Exploration, MAX_ARMS, MAX_DIMENSION, Profile, Sets, SettingsError, UnknownNoise,
};
use rarely_lab::{NoiseSource, NormBound, Shard, WorldProperties, WorldSource};

use crate::failure::{Failure, OrFail as _, parse};
use crate::output::TableFormat;
use crate::shard::Place;

/// Seed, threads and output.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to run it")]
pub(crate) struct RunOptions {
    /// Seed of every random number
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Directory for tables and figures; a command that was stopped resumes from there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the trace of every run too (run-traces.parquet), not only the means
    #[arg(long, requires = "out")]
    pub(crate) run_traces: bool,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub(crate) format: TableFormat,
    /// Play one part of the runs, such as 3/100, and keep it in --out; `rarely lab merge` makes one result of all parts
    #[arg(long, value_name = "NUMBER/COUNT", value_parser = parse::<Shard>, requires = "out")]
    pub(crate) shard: Option<Shard>,
}

impl RunOptions {
    /// Where it runs.
    pub(crate) fn place(&self) -> Place<'_> {
        Place { threads: self.threads, out: self.out.as_deref(), shard: self.shard }
    }

    /// Certificates are computed in full only if they are written to files.
    pub(crate) fn certificates(&self) -> Certificates {
        if self.out.is_some() { Certificates::Full } else { Certificates::Brief }
    }
}

/// Valid confidence sets, or those of the paper's authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Valid confidence sets, exact updates
    Rigorous,
    /// What the paper's authors ran, for comparison only
    Published,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Rigorous => Self::Rigorous,
            ProfileName::Published => Self::Published,
        }
    }
}

/// `auto` or a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormBoundOption(NormBound);

impl FromStr for NormBoundOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(NormBound::Auto));
        }
        let value = text.parse().map_err(|_| format!("`{text}` is neither auto nor a number"))?;
        Ok(Self(NormBound::Value(value)))
    }
}

/// A number, or that it is unknown.
#[derive(Debug, Clone, Copy)]
enum DeclaredNoise {
    Value(f64),
    Unknown(UnknownNoise),
}

impl FromStr for DeclaredNoise {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        text.parse().map(Self::Value).or_else(|_| text.parse().map(Self::Unknown))
    }
}

/// `all` or names joined by commas.
#[derive(Debug, Clone)]
pub(crate) struct Algorithms(Option<Vec<Algorithm>>);

impl Algorithms {
    /// Those that were named; if all were, every one that learns any outcome.
    pub(crate) fn of_any_outcome(&self) -> Vec<Algorithm> {
        let any = || Algorithm::all().filter(|algorithm| !algorithm.is_logistic()).collect();
        self.0.clone().unwrap_or_else(any)
    }

    /// Those that were named; if all were, every one that can learn a world's outcomes.
    pub(crate) fn of(&self, source: &WorldSource) -> Vec<Algorithm> {
        self.0.clone().unwrap_or_else(|| source.algorithms())
    }
}

impl FromStr for Algorithms {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(None));
        }
        let mut chosen = Vec::new();
        for name in text.split(',') {
            let algorithm: Algorithm = parse(name.trim())?;
            if !chosen.contains(&algorithm) {
                chosen.push(algorithm);
            }
        }
        Ok(Self(Some(chosen)))
    }
}

/// A world of the registry.
#[derive(Debug, Args)]
pub(crate) struct WorldOptions {
    /// Arms k
    #[arg(long, default_value_t = 4, value_parser = count(2, MAX_ARMS as u64))]
    pub(crate) arms: u64,
    /// Context variables d
    #[arg(long, default_value_t = 5, value_parser = count(1, MAX_DIMENSION as u64))]
    pub(crate) dim: u64,
}

impl WorldOptions {
    /// The world with this name.
    pub(crate) fn source(&self, name: &str, noise: f64, strength: f64) -> Result<WorldSource, Failure> {
        let (arms, dimension) = (usize::try_from(self.arms), usize::try_from(self.dim));
        let (arms, dimension) = (arms.or_fail()?, dimension.or_fail()?);
        Ok(WorldSource::Synthetic { name: name.to_owned(), arms, dimension, noise, strength })
    }
}

/// What may happen in any world.
#[derive(Debug, Args)]
#[command(next_help_heading = "What happens in the world")]
pub(crate) struct PropertyOptions {
    /// Every outcome is reported this many rounds late
    #[arg(long, value_name = "ROUNDS", default_value_t = 0, hide_default_value = true, value_parser = count(0, 1_000_000))]
    late: u64,
    /// This share of the outcomes is never reported, whatever they are
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, hide_default_value = true, allow_negative_numbers = true)]
    missing: f64,
    /// Every arm takes the place of the next one within this many rounds, and so on
    #[arg(long, value_name = "ROUNDS", default_value_t = 0, hide_default_value = true, value_parser = count(0, 1_000_000_000))]
    drift: u64,
    /// Outcomes are reported at the end of batches of this many rounds
    #[arg(long, value_name = "ROUNDS", default_value_t = 0, hide_default_value = true, value_parser = count(0, 1_000_000))]
    batch: u64,
}

impl PropertyOptions {
    /// As plain data.
    pub(crate) fn resolve(&self) -> WorldProperties {
        let Self { late, missing, drift, batch } = *self;
        WorldProperties { late, missing, drift, batch }
    }
}

/// The noise that is declared for a source, unless the assumptions declare another, and where the number comes from.
pub(crate) fn true_noise(
    source: &WorldSource,
    assumptions: &rarely_lab::Assumptions,
) -> Result<(f64, Option<&'static str>), Failure> {
    if let (Some(declared), WorldSource::Tables(_)) = (assumptions.declared_noise, source) {
        return Ok((declared, None));
    }
    let (noise, estimated) = source.noise()?;
    Ok((noise.unwrap_or(1.0), estimated.map(NoiseSource::words)))
}

/// A whole number in a range.
pub(crate) fn count(least: u64, most: u64) -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(least..=most)
}

/// The assumptions of the algorithms.
#[derive(Debug, Args)]
#[command(next_help_heading = "Assumptions")]
pub(crate) struct AssumptionOptions {
    /// Valid confidence sets, or those that the paper's authors ran
    #[arg(long, value_enum, default_value_t = ProfileName::Rigorous)]
    profile: ProfileName,
    /// Exploration of algorithms that hold a policy: none, posterior:0.5, equipoise:0.05, pilot:10, pilot:6+equipoise:0.02
    /// [default: each algorithm's own]
    #[arg(long, value_parser = parse::<Exploration>)]
    explore: Option<Exploration>,
    /// Confidence sets: joint, per-arm or sharp [default: sharp for our algorithms, joint for the others]
    #[arg(long, value_parser = parse::<Sets>)]
    sets: Option<Sets>,
    /// Delay of outcomes that come late: any (learned in the order of decisions), or independent of the outcome (learned as they
    /// arrive) [default: any]
    #[arg(long, value_parser = parse::<Delay>)]
    delay: Option<Delay>,
    /// Penalty λ of the regression [default: 0.01; published: 1e-4 × rounds]
    #[arg(long, value_name = "λ", allow_negative_numbers = true)]
    penalty: Option<f64>,
    /// Noise σ declared to the algorithms; unknown (one σ) or unknown-per-arm: estimated by those that hold a rule and have sharp
    /// sets, the others are told [default: the true one; published: 1]
    #[arg(long, value_name = "σ|unknown", allow_negative_numbers = true, value_parser = parse::<DeclaredNoise>)]
    declared_noise: Option<DeclaredNoise>,
    /// Bound L on the norm of the parameters: auto is the true norm [default: auto; published: 1]
    #[arg(long, value_name = "auto|L", allow_negative_numbers = true)]
    norm_bound: Option<NormBoundOption>,
    /// Prior mean θ₀, the same for every coefficient [default: 0; published: 1/λ]
    #[arg(long, value_name = "θ", allow_negative_numbers = true)]
    prior_mean: Option<f64>,
    /// Probability δ that the truth ever leaves the confidence set [default: 1/rounds]
    #[arg(long, value_name = "δ", allow_negative_numbers = true)]
    error_probability: Option<f64>,
    /// Tolerance Δ of the rs algorithms [default: 0.01]
    #[arg(long, value_name = "Δ", allow_negative_numbers = true)]
    tolerance: Option<f64>,
}

impl AssumptionOptions {
    /// As plain data.
    pub(crate) fn resolve(&self) -> rarely_lab::Assumptions {
        let (declared_noise, unknown_noise) = match self.declared_noise {
            None => (None, None),
            Some(DeclaredNoise::Value(noise)) => (Some(noise), None),
            Some(DeclaredNoise::Unknown(unknown)) => (None, Some(unknown)),
        };
        rarely_lab::Assumptions {
            profile: self.profile.into(),
            explore: self.explore,
            sets: self.sets,
            delay: self.delay,
            penalty: self.penalty,
            declared_noise,
            unknown_noise,
            norm_bound: self.norm_bound.map(|bound| bound.0),
            norm_bound_values: None,
            prior_mean: self.prior_mean,
            error_probability: self.error_probability,
            tolerance: self.tolerance,
        }
    }
}

//! What to do about each error.

use rarely_error::{Explain, Remedy, Topic};

use super::{ContextError, DecideError, MergeError, ObserveError, RestoreError, SettingsError};

const SCALE: &str = "scale the context variables to about 1, or raise the penalty";

impl Explain for SettingsError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::OutOfRange { remedy, .. } => remedy.map(Remedy::new),
            Self::Incompatible { remedy, .. } | Self::Missing { remedy, .. } => {
                Some(Remedy::new(*remedy).see(Topic::Algorithms))
            }
            Self::UnknownAlgorithm { known, .. } => {
                Some(Remedy::new(format!("choose one of {known}")).see(Topic::Algorithms))
            }
            Self::UnknownSets { .. } => Some(Remedy::new("choose joint, per-arm or sharp").see(Topic::Algorithms)),
            Self::Noise { .. } => {
                Some(Remedy::new("give a standard deviation, unknown or unknown-per-arm").see(Topic::Assumptions))
            }
            Self::Forgetting { .. } => Some(Remedy::new("write discount:0.99 or window:1000")),
            Self::UnknownDelay { .. } => Some(Remedy::new("choose any or independent")),
            Self::Exploration { .. } => {
                Some(Remedy::new("write none, posterior:0.5, equipoise:0.05, pilot:10 or pilot:6+equipoise:0.02"))
            }
            Self::ArmFeatures { .. } => Some(Remedy::new("give a row for each arm, all of one length")),
            Self::Population(error) => error.remedy(),
            Self::Arms { .. }
            | Self::Dimension { .. }
            | Self::Length { .. }
            | Self::Parameter { .. }
            | Self::UnknownArm { .. } => None,
        }
    }
}

impl Explain for ContextError {
    fn remedy(&self) -> Option<Remedy> {
        None
    }
}

impl Explain for DecideError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Context(error) => error.remedy(),
            Self::Masked { .. } => Some(Remedy::new(
                "leave the mask out, or use an algorithm that holds a rule, linucb, linucb-alpha, thompson, logistic-thompson, \
                 epsilon-greedy, squarecb or random",
            )),
            Self::Mask { .. } | Self::Room { .. } => None,
        }
    }
}

impl Explain for ObserveError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Context(error) => error.remedy(),
            Self::IllConditioned { .. } => Some(Remedy::new(SCALE)),
            Self::Row { source, .. } => source.remedy(),
            Self::NoShare { .. } => Some(Remedy::new("use outcomes that are 0 or 1, or an algorithm for any number")),
            Self::Weights { .. } => Some(Remedy::new(
                "leave the weights out, or use thompson, logistic-thompson, epsilon-greedy, linucb-alpha or squarecb: what the others \
                 guarantee is for outcomes that count once",
            )),
            Self::UnknownArm { .. }
            | Self::Reward { .. }
            | Self::Weight { .. }
            | Self::WeightCount { .. }
            | Self::BatchLength { .. } => None,
        }
    }
}

impl Explain for MergeError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Algorithm { .. } => Some(Remedy::new("merge policies of one algorithm")),
            Self::Settings { .. } | Self::Prior => Some(Remedy::new("build both with the same settings")),
            Self::UnknownNoise => Some(Remedy::new(
                "declare the noise, or let one policy learn all outcomes in the order of their decisions",
            )),
            Self::Forgetting => Some(Remedy::new("let one policy learn all outcomes in the order of their decisions")),
            Self::IllConditioned { .. } => Some(Remedy::new(SCALE)),
            Self::Shape { .. } | Self::Sums { .. } => None,
        }
    }
}

impl Explain for RestoreError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Format { .. } => Some(Remedy::new("restore it with the version that wrote it")),
            Self::Damaged(_) => Some(Remedy::new("restore an earlier copy")),
        }
    }
}

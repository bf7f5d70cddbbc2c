//! The results of the trials, judged: theorems, claims and errata.

use rarely_core::{Algorithm, SettingsError};
use rarely_data::Counterfactuals;
use rarely_error::{Explain, Remedy};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Claim, CounterRow, Erratum, EvidenceStudy, Feasibility, OpenQuestions, PlanarMoment, ReproductionEvidence,
    ReproductionSize, TrialResults, claims, counter_example, errata, feasibility, open_questions, planar_moment,
    theorem_three_gap,
};
use crate::environment::{CounterfactualTable, Environment, TableError};
use crate::experiment::{ExperimentError, RunContext};
use crate::shard::Divisible;

/// What repairs the counter-example to Theorem 1.
const EQUIPOISE: f64 = 0.05;
/// Rounds after which a change in the plane is waited for.
const SETTLED: u64 = 60;

/// Algorithms whose every decision is checked.
const LOOKED_AT: [Algorithm; 6] = [
    Algorithm::BoundaryGreedy,
    Algorithm::BoundaryConservative,
    Algorithm::RsGreedy,
    Algorithm::RsConservative,
    Algorithm::Greedy,
    Algorithm::LinUcb,
];

/// Runs and rounds of the studies beside the trials.
#[derive(Clone, Copy)]
struct StudySize {
    seed: u64,
    feasibility: (u64, u64),
    evidence: (u64, u64),
}

impl StudySize {
    fn of(size: ReproductionSize) -> Self {
        Self {
            seed: size.seed,
            feasibility: (size.at_most.min(20), size.rounds.min(2_000)),
            evidence: (size.runs(2_000, 300), size.rounds.min(4_000)),
        }
    }
}

/// What [`Reproduced::judge`] plays beside the trials, as parts of a [`CommandRuns`](crate::CommandRuns).
///
/// # Errors
/// [`JudgementError`] if a number is out of range.
pub fn studies(size: ReproductionSize) -> Result<Vec<Box<dyn Divisible>>, JudgementError> {
    let StudySize { seed, feasibility: (runs, rounds), evidence: (studied, cases) } = StudySize::of(size);
    let mut all = EvidenceStudy::divisible(seed, studied, cases).map_err(ExperimentError::from)?;
    let feasible = LOOKED_AT.map(|algorithm| feasibility::study(algorithm, seed, runs, rounds));
    all.extend(feasible.into_iter().map(|study| Box::new(study) as Box<dyn Divisible>));
    all.extend(open_questions::divisible(size));
    Ok(all)
}

/// Everything that a report is made of.
pub struct Reproduced {
    /// The results of every trial.
    pub trials: TrialResults,
    /// The children of Figure 4.
    pub children: ChildrenDescription,
    /// The counter-example to Theorem 1.
    pub counter: Vec<CounterRow>,
    /// A change of a threshold between two arms, if one was met.
    pub threshold: Option<PlanarMoment>,
    /// A change among four arms, if one was met.
    pub cone: Option<PlanarMoment>,
    /// Coverage and width of every set and interval.
    pub evidence_study: EvidenceStudy,
    /// What the paper leaves open.
    pub open_questions: OpenQuestions,
    /// Every claim with its verdict.
    pub claims: Vec<Claim>,
    /// Every erratum.
    pub errata: Vec<Erratum>,
}

/// Which children Figure 4 was run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChildrenDescription {
    /// Number of realisations.
    pub realisations: usize,
    /// The label of the first.
    pub first: String,
    /// The label of the last.
    pub last: String,
}

impl ChildrenDescription {
    fn of(children: &[Counterfactuals]) -> Self {
        let label = |table: Option<&Counterfactuals>| table.map_or_else(String::new, |table| table.label.clone());
        Self { realisations: children.len(), first: label(children.first()), last: label(children.last()) }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self.realisations {
            1 => format!("one realisation ({})", self.first),
            more => format!("{more} realisations (from {} to {})", self.first, self.last),
        }
    }
}

/// Why the results could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgementError {
    /// A run of a theorem or a study could not be played.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A number is out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The children make no environment.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl Explain for JudgementError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Experiment(error) => error.remedy(),
            Self::Settings(error) => error.remedy(),
            Self::Table(error) => error.remedy(),
        }
    }
}

impl Reproduced {
    /// Tries out the theorems and judges claims and errata by that and by the trials. The children are those of the trials. Runs of the
    /// [`studies`] are saved and found as those of the trials are.
    ///
    /// # Errors
    /// [`JudgementError`] if the children make no environment.
    pub fn judge(
        trials: TrialResults,
        children: Vec<Counterfactuals>,
        context: &RunContext<'_>,
    ) -> Result<Self, JudgementError> {
        let StudySize { seed, feasibility: (runs, rounds), evidence: (studied, cases) } = StudySize::of(trials.size);
        let counter = counter_example(seed, EQUIPOISE)?;
        let feasible: Result<Vec<Feasibility>, _> =
            LOOKED_AT.into_iter().map(|algorithm| feasibility(algorithm, seed, runs, rounds, context)).collect();
        let feasible = feasible?;
        let threshold = planar_moment(2, seed, SETTLED)?;
        let cone = planar_moment(4, seed, SETTLED)?;
        let described = ChildrenDescription::of(&children);
        let table = CounterfactualTable::new(children)?;
        let evidence = ReproductionEvidence {
            trials: &trials,
            counter: &counter,
            feasible: &feasible,
            gap: theorem_three_gap()?,
            children: Some(&table as &dyn Environment),
        };
        let errata = errata(&evidence)?;
        let claims = claims(&evidence);
        let evidence_study = EvidenceStudy::run(seed, studied, cases, context)?;
        let open_questions = OpenQuestions::of(&trials, context)?;
        Ok(Self {
            trials,
            children: described,
            counter,
            threshold,
            cone,
            evidence_study,
            open_questions,
            claims,
            errata,
        })
    }

    /// Claims and errata, for programs.
    pub fn document(&self) -> Value {
        let size = self.trials.size;
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "seed": size.seed,
            "full": size.full,
            "rounds": size.rounds,
            "ihdp": self.children,
            "claims": self.claims,
            "evidence": self.evidence_study,
            "open_questions": self.open_questions,
            "errata": self.errata,
        })
    }
}

//! The results of the trials, judged: theorems, claims and errata.

use rarely_core::{Algorithm, ConfirmError, SettingsError};
use rarely_data::Counterfactuals;
use rarely_error::{Explain, Remedy};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Claim, CounterRow, Erratum, EvidenceStudy, Feasibility, OpenQuestions, PlanarMoment, ReproductionEvidence,
    TrialResults, claims, counter_example, errata, feasibility, planar_moment, theorem_three_gap,
};
use crate::environment::{CounterfactualTable, Environment, TableError};
use crate::experiment::ExperimentError;

/// What repairs the counter-example to Theorem 1.
const EQUIPOISE: f64 = 0.05;
/// Rounds after which a change in the plane is waited for.
const SETTLED: u64 = 60;

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
    /// The counter-example to Theorem 1, or the bound on the number of changes, could not be played.
    #[error(transparent)]
    CounterExample(#[from] ExperimentError),
    /// The study of sets and intervals could not be run.
    #[error(transparent)]
    EvidenceStudy(#[from] ConfirmError),
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
            Self::CounterExample(error) => error.remedy(),
            Self::EvidenceStudy(error) => error.remedy(),
            Self::Settings(error) => error.remedy(),
            Self::Table(error) => error.remedy(),
        }
    }
}

impl Reproduced {
    /// Tries out the theorems and judges claims and errata by that and by the trials. The children are those of the trials.
    ///
    /// # Errors
    /// [`JudgementError`] if the children make no environment.
    pub fn judge(trials: TrialResults, children: Vec<Counterfactuals>) -> Result<Self, JudgementError> {
        let size = trials.size;
        let counter = counter_example(size.seed, EQUIPOISE)?;
        let looked_at = [
            Algorithm::BoundaryGreedy,
            Algorithm::BoundaryConservative,
            Algorithm::RsGreedy,
            Algorithm::RsConservative,
            Algorithm::Greedy,
            Algorithm::LinUcb,
        ];
        let feasible: Result<Vec<Feasibility>, _> = looked_at
            .into_iter()
            .map(|algorithm| feasibility(algorithm, size.seed, size.at_most.min(20), size.rounds.min(2_000)))
            .collect();
        let feasible = feasible?;
        let threshold = planar_moment(2, size.seed, SETTLED)?;
        let cone = planar_moment(4, size.seed, SETTLED)?;
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
        let evidence_study = EvidenceStudy::run(size.seed, size.runs(2_000, 300), size.rounds.min(4_000))?;
        let open_questions = OpenQuestions::of(&trials)?;
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

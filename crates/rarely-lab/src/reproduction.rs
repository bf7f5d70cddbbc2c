//! Everything in the paper, as a list of trials, and what their results say about its claims and errata.

mod claims;
mod errata;
mod evidence_study;
mod feasibility;
mod open_questions;
mod reproduced;
mod theorems;

use std::sync::Arc;

use rarely_core::{Algorithm, Certificates, Exploration, Profile, Sets, SettingsError, Shape, Share, Solver};
use rarely_data::Counterfactuals;

use crate::contestant::{Contestant, NormBound};
use crate::contestant_result::ContestantResult;
use crate::environment::{CounterfactualTable, Environment, Given};
use crate::experiment::{Experiment, ExperimentError, RunContext, runs_text};
use crate::frontier;
use crate::world_source::WorldSource;

pub use claims::{
    Claim, ClaimJudgement, ClaimVerdict, Condition, MOST_RUNS, MeasuredValue, Measurement, Reading, ReadingVerdict,
    Unjudged, claim, claims,
};
pub use errata::{Erratum, ErratumOrigin, errata};
pub use evidence_study::{ArmDesign, EvidenceRow, EvidenceStudy, EvidenceWorld, GainMethod};
pub use feasibility::{Feasibility, feasibility};
pub use open_questions::{
    BestSchedule, ChangeBound, ChangeGrowth, FrontierDistance, MeasuredSchedule, OpenQuestions, ScheduleComparison,
    TwoArmedTrial,
};
pub use reproduced::{ChildrenDescription, JudgementError, Reproduced, studies};
pub use theorems::{
    CounterRow, PlanarMoment, TheoremThreeGap, counter_example, planar_moment, projection_gap, solver_gap,
    theorem_three_gap,
};

/// Arms of the paper's grid.
pub const GRID_ARMS: [usize; 4] = [2, 4, 6, 8];
/// Context variables of the paper's grid.
pub const GRID_DIMENSIONS: [usize; 4] = [2, 5, 20, 50];
/// Beyond the paper, for what is fast enough.
pub const WIDE: usize = 200;
/// Values of `Δ` and of `λ` in the paper's supplement.
pub const SWEPT: [f64; 4] = [1e-4, 1e-3, 1e-2, 1e-1];
/// The trial in which LinUCB can have linear regret, and its contestants.
pub const LINEAR_REGRET: (&str, [&str; 2]) =
    ("linear-regret", ["linucb with a joint radius", "linucb with a radius for each arm"]);
/// What a round with the worse arm loses there.
pub const LINEAR_REGRET_GAP: f64 = 0.1;
/// Realisations of IHDP in Figure 4.
pub const FIGURE_FOUR_REALISATIONS: u32 = 100;
/// The main setting.
pub const MAIN: (usize, usize) = (4, 5);

/// The paper's algorithms.
pub const PAPER: [Algorithm; 8] = [
    Algorithm::Greedy,
    Algorithm::LinUcb,
    Algorithm::RsLinUcb,
    Algorithm::FeasibleGreedy,
    Algorithm::FeasibleConservative,
    Algorithm::RsGreedy,
    Algorithm::RsConservative,
    Algorithm::Clucb,
];

/// How much of it to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReproductionSize {
    /// The paper's size.
    pub full: bool,
    /// At most this many runs of anything.
    pub at_most: u64,
    /// Rounds of the synthetic tasks.
    pub rounds: u64,
    /// Seed.
    pub seed: u64,
}

impl ReproductionSize {
    /// Runs: as in the paper, or fewer.
    fn runs(&self, full: u64, quick: u64) -> u64 {
        (if self.full { full } else { quick }).min(self.at_most)
    }

    /// How much that is, in words.
    pub fn extent(&self) -> String {
        let how_many = match (self.at_most, self.full) {
            (..50, _) => format!("at most {} of everything (the paper has 50)", runs_text(self.at_most)),
            (_, true) => "the paper's size, 50 runs of every simulation and 500 of IHDP (the paper has 100)".to_owned(),
            (_, false) => {
                "50 runs of the main experiment and, up to d = 2 or 5, of the grid, 100 of IHDP, fewer of the rest of the grid and the frontier".to_owned()
            }
        };
        format!("{} rounds, {how_many}", self.rounds)
    }
}

/// One experiment of the reproduction.
pub struct Trial {
    /// Its name, such as `main/published`.
    pub id: String,
    /// The experiment.
    pub experiment: Experiment,
    /// The contestants.
    pub contestants: Vec<Contestant>,
}

impl Trial {
    /// Runs that it takes.
    pub fn runs(&self) -> u64 {
        self.experiment.runs * self.contestants.len() as u64
    }
}

/// The results of every trial.
pub struct TrialResults {
    /// How much was run.
    pub size: ReproductionSize,
    trials: Vec<(String, Vec<ContestantResult>)>,
}

impl TrialResults {
    /// Of trials that were run, by their ids.
    pub fn new(size: ReproductionSize, trials: Vec<(String, Vec<ContestantResult>)>) -> Self {
        Self { size, trials }
    }

    /// Runs every trial.
    ///
    /// # Errors
    /// [`ExperimentError`] of the first that could not be run.
    pub fn of(size: ReproductionSize, trials: &[Trial], context: &RunContext<'_>) -> Result<Self, ExperimentError> {
        let run = |trial: &Trial| Ok((trial.id.clone(), trial.experiment.run(&trial.contestants, context)?));
        Ok(Self::new(size, trials.iter().map(run).collect::<Result<_, ExperimentError>>()?))
    }

    /// The results of a trial; none if there was no such trial.
    pub fn results(&self, id: &str) -> &[ContestantResult] {
        self.trials.iter().find(|(known, _)| known == id).map_or(&[], |(_, results)| results)
    }

    /// Every trial with its id, in the order in which they were run.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[ContestantResult])> {
        self.trials.iter().map(|(id, results)| (id.as_str(), results.as_slice()))
    }

    /// One contestant of a trial, by name.
    pub fn result(&self, id: &str, name: &str) -> Option<&ContestantResult> {
        self.results(id).iter().find(|result| result.name() == name)
    }
}

/// Everything by which claims and errata are judged.
pub struct ReproductionEvidence<'a> {
    /// The trials.
    pub trials: &'a TrialResults,
    /// The counter-example to Theorem 1.
    pub counter: &'a [CounterRow],
    /// Who plays excluded arms, checked decision by decision.
    pub feasible: &'a [Feasibility],
    /// The gap in Theorem 3.
    pub gap: TheoremThreeGap,
    /// The children, as an environment.
    pub children: Option<&'a dyn Environment>,
}

/// The id of a trial of the grid.
pub fn grid_id(family: &str, arms: usize, dimension: usize) -> String {
    format!("{family}/{arms}x{dimension}")
}

/// The id of a trial of a sweep on IHDP.
pub fn swept_id(setting: &str, profile: Reading, value: f64) -> String {
    format!("{setting}/{}/{value}", profile.name())
}

/// Every trial.
///
/// # Errors
/// [`SettingsError`] if a table has no usable shape.
pub fn trials(size: ReproductionSize, children: &[Counterfactuals]) -> Result<Vec<Trial>, SettingsError> {
    let mut all = main(size);
    all.extend(grids(size));
    all.extend(children_trials(size, children));
    all.push(Trial {
        id: "frontier".to_owned(),
        experiment: synthetic(size, MAIN, size.runs(50, 10)),
        contestants: frontier::candidates(),
    });
    all.extend(variants(size)?);
    all.extend(planar(size)?);
    all.push(linear_regret(size)?);
    all.extend(open_questions::trials(size)?);
    Ok(all)
}

/// The paper's algorithms where there is no baseline to keep to.
fn without_clucb() -> impl Iterator<Item = Algorithm> {
    PAPER.into_iter().filter(|&algorithm| algorithm != Algorithm::Clucb)
}

fn synthetic(size: ReproductionSize, (arms, dimension): (usize, usize), runs: u64) -> Experiment {
    Experiment { rounds: Some(size.rounds), ..Experiment::new(WorldSource::linear(arms, dimension), runs, size.seed) }
}

fn published(algorithms: &[Algorithm]) -> Vec<Contestant> {
    algorithms.iter().map(|&algorithm| Contestant::new(algorithm, Profile::Published)).collect()
}

/// Figure 3 and the schedule of the supplement, under both profiles.
fn main(size: ReproductionSize) -> Vec<Trial> {
    let with_schedule: Vec<Algorithm> = PAPER.into_iter().chain([Algorithm::Scheduled]).collect();
    let all = WorldSource::linear(MAIN.0, MAIN.1).algorithms();
    let rigorous = all.into_iter().map(|algorithm| Contestant::new(algorithm, Profile::Rigorous)).collect();
    let experiment = || synthetic(size, MAIN, size.runs(50, 50));
    vec![
        Trial { id: "main/published".to_owned(), experiment: experiment(), contestants: published(&with_schedule) },
        Trial { id: "main/rigorous".to_owned(), experiment: experiment(), contestants: rigorous },
    ]
}

/// The grid of the supplement under both profiles, and our default against LinUCB.
fn grids(size: ReproductionSize) -> Vec<Trial> {
    let compared: Vec<Algorithm> = without_clucb().collect();
    let house = [Algorithm::Rarely, Algorithm::LinUcb];
    let rigorous = |algorithms: &[Algorithm]| {
        algorithms.iter().map(|&algorithm| Contestant::new(algorithm, Profile::Rigorous)).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for arms in GRID_ARMS {
        for dimension in GRID_DIMENSIONS {
            // Only regret and number of changes are shown, so that a small sample will do.
            // At d = 2 the claim is about small differences, and runs are cheap.
            let quick = match dimension {
                ..=2 => 50,
                3..=49 => 5,
                _ => 2,
            };
            let experiment = Experiment { judged_on: 200, ..synthetic(size, (arms, dimension), size.runs(50, quick)) };
            // Judging rs-linucb takes longer than all else together where d is large.
            let quick: Vec<Algorithm> = without_clucb().filter(|&algorithm| algorithm != Algorithm::RsLinUcb).collect();
            all.push(Trial {
                id: grid_id("grid-rigorous", arms, dimension),
                experiment: experiment.clone(),
                contestants: rigorous(&quick),
            });
            all.push(Trial { id: grid_id("grid", arms, dimension), experiment, contestants: published(&compared) });
        }
        for dimension in GRID_DIMENSIONS.into_iter().chain([WIDE]) {
            let (full, quick) = match dimension {
                ..=5 => (50, 50),
                6..=20 => (50, 25),
                21..WIDE => (50, 12),
                _ => (10, 2),
            };
            let experiment = synthetic(size, (arms, dimension), size.runs(full, quick));
            all.push(Trial { id: grid_id("house", arms, dimension), experiment, contestants: rigorous(&house) });
        }
    }
    all
}

/// Figure 4 and the sweeps of the supplement.
fn children_trials(size: ReproductionSize, children: &[Counterfactuals]) -> Vec<Trial> {
    let tables = |children: Vec<Counterfactuals>| CounterfactualTable::new(children).ok().map(Arc::new);
    let experiment = |tables: &Arc<CounterfactualTable>, runs| {
        Experiment::new(WorldSource::Tables(Arc::clone(tables)), runs, size.seed)
    };
    let first: Vec<Counterfactuals> = children.iter().take(1).cloned().collect();
    let as_run: Vec<Counterfactuals> = first.iter().cloned().map(Counterfactuals::paired_with_next).collect();
    let shifted: Vec<Counterfactuals> = children.iter().cloned().map(Counterfactuals::paired_with_next).collect();
    let with_intercept: Vec<Counterfactuals> = children.iter().cloned().map(Counterfactuals::with_intercept).collect();
    let everyone: Vec<Algorithm> = without_clucb().chain([Algorithm::Random, Algorithm::Fixed]).collect();
    let rigorous = || -> Vec<Contestant> {
        let with_house = everyone.iter().copied().chain([Algorithm::Rarely]);
        with_house.map(|algorithm| Contestant::new(algorithm, Profile::Rigorous).declaring_noise(1.0)).collect()
    };
    let (Some(as_run), Some(first), Some(shifted), Some(paired), Some(with_intercept)) =
        (tables(as_run), tables(first), tables(shifted), tables(children.to_vec()), tables(with_intercept))
    else {
        return Vec::new();
    };
    // One order of each realisation, or five; the authors have 100 orders of one.
    let trial = |id: &str, tables: &Arc<CounterfactualTable>, contestants: Vec<Contestant>| {
        let full = if tables.realisations().len() > 1 { 500 } else { 100 };
        Trial { id: id.to_owned(), experiment: experiment(tables, size.runs(full, 100)), contestants }
    };
    let mut all = vec![
        trial("ihdp/authors", &as_run, published(&everyone)),
        trial("ihdp/repaired", &first, published(&everyone)),
        trial("ihdp/published", &paired, published(&everyone)),
        trial("ihdp/shifted", &shifted, published(&[Algorithm::Greedy])),
        trial("ihdp/rigorous", &paired, rigorous()),
        trial("ihdp/rigorous-intercept", &with_intercept, rigorous()),
    ];
    for value in SWEPT {
        for reading in [Reading::Published, Reading::Repaired, Reading::Rigorous] {
            let profile = if reading == Reading::Rigorous { Profile::Rigorous } else { Profile::Published };
            let swept = |set: &dyn Fn(&mut Contestant)| -> Vec<Contestant> {
                let both = [Algorithm::RsGreedy, Algorithm::RsConservative];
                let contestant = |algorithm| {
                    let mut contestant = Contestant::new(algorithm, profile).declaring_noise(1.0);
                    set(&mut contestant);
                    contestant
                };
                both.map(contestant).to_vec()
            };
            let tables = if reading == Reading::Published { &as_run } else { &paired };
            let tolerance = swept(&|contestant| contestant.tuned.tolerance = Some(value));
            // The authors' number is multiplied by the number of rounds before it is used.
            let children = tables.realisations().next().map_or(1, Counterfactuals::people) as f64;
            let factor = if profile == Profile::Published { children } else { 1.0 };
            let penalty = swept(&|contestant| contestant.declared.penalty = Some(value * factor));
            all.push(trial(&swept_id("tolerance", reading, value), tables, tolerance));
            all.push(trial(&swept_id("penalty", reading, value), tables, penalty));
        }
    }
    all
}

/// What the errata change one at a time.
fn variants(size: ReproductionSize) -> Result<Vec<Trial>, SettingsError> {
    let runs = size.runs(50, 20);
    let mut contestants = Vec::new();
    let mut add = |name: &str, mut contestant: Contestant, set: &dyn Fn(&mut Contestant)| {
        set(&mut contestant);
        contestants.push(contestant.named(name));
    };
    for algorithm in [Algorithm::Greedy, Algorithm::RsGreedy] {
        let name = |what: &str| format!("{algorithm}, {what}");
        let base = || Contestant::new(algorithm, Profile::Published);
        add(&name("as published"), base(), &|_| {});
        add(&name("b starts at 0"), base(), &|contestant| contestant.declared.prior_mean = Some(0.0));
        add(&name("λ = 1e-4"), base(), &|contestant| contestant.declared.penalty = Some(1e-4));
        add(&name("L = the true norm"), base(), &|contestant| {
            contestant.declared.norm_bound = Some(NormBound::Auto);
        });
    }
    for (name, solver) in [("exact", Solver::Exact), ("projected gradient", Solver::PAPER)] {
        for algorithm in [Algorithm::RsGreedy, Algorithm::RsConservative] {
            let base = Contestant::new(algorithm, Profile::Rigorous);
            add(&format!("{algorithm}, valid sets, {name}"), base, &|contestant| {
                contestant.tuned.solver = Some(solver);
            });
        }
    }
    for (what, pilot, equipoise) in [("pilot 6 and equipoise 0.02", 6, 0.02), ("equipoise 0.05", 0, 0.05)] {
        let equipoise = Share::new(equipoise)?;
        for algorithm in [Algorithm::RsGreedy, Algorithm::BoundaryGreedy] {
            let base = Contestant::new(algorithm, Profile::Rigorous);
            add(&format!("{algorithm}, valid sets, {what}"), base, &|contestant| {
                contestant.explore = Some(Exploration { pilot, equipoise, ..Exploration::NONE });
            });
        }
    }
    add("linucb, valid sets", Contestant::new(Algorithm::LinUcb, Profile::Rigorous), &|_| {});
    Ok(vec![Trial { id: "variants".to_owned(), experiment: synthetic(size, MAIN, runs), contestants }])
}

/// Theorem 3: two arms, two context variables, every change with its certificate.
fn planar(size: ReproductionSize) -> Result<Vec<Trial>, SettingsError> {
    let trial = |(id, equipoise): (&str, f64)| {
        let mut contestant = Contestant::new(Algorithm::BoundaryConservative, Profile::Rigorous);
        // The theorem is about the cones of one ellipsoid.
        contestant.declared.sets = Some(Sets::Joint);
        contestant.declared.error_probability = Some(0.01);
        contestant.explore = Some(Exploration { equipoise: Share::new(equipoise)?, ..Exploration::NONE });
        let runs = size.runs(2_000, 1_000);
        let experiment = Experiment {
            rounds: Some(size.rounds.min(300)),
            judged_on: 2_000,
            certificates: Certificates::Full,
            ..Experiment::new(WorldSource::linear(2, 2), runs, size.seed)
        };
        Ok(Trial { id: id.to_owned(), experiment, contestants: vec![contestant] })
    };
    [("theorem-3/greedy", 0.0), ("theorem-3/equipoise", 0.05)].into_iter().map(trial).collect()
}

/// LinUCB where bad luck can hide the better of two arms: with one radius for all arms, and with a radius for each.
fn linear_regret(size: ReproductionSize) -> Result<Trial, SettingsError> {
    let world = Given {
        shape: Shape::new(2, 1)?,
        truth: vec![0.5, 0.5 + LINEAR_REGRET_GAP],
        initial: vec![1.0, 0.0],
        noise: 1.0,
    };
    let contestant = |(name, sets): (&str, Sets)| {
        let mut contestant =
            Contestant::new(Algorithm::LinUcb, Profile::Rigorous).named(name).declaring_noise(world.noise);
        contestant.declared.error_probability = Some(0.5);
        contestant.declared.sets = Some(sets);
        contestant
    };
    let [joint, per_arm] = LINEAR_REGRET.1;
    let contestants = [(joint, Sets::Joint), (per_arm, Sets::PerArm)].map(contestant).to_vec();
    let experiment = Experiment {
        rounds: Some(size.rounds.min(2_000)),
        judged_on: 1,
        ..Experiment::new(WorldSource::of(world), size.runs(4_000, 2_000), size.seed)
    };
    Ok(Trial { id: LINEAR_REGRET.0.to_owned(), experiment, contestants })
}

//! The claim of our default on the whole grid: arms × context variables × noise × start, and the IHDP children.
//!
//! Certified and quick `rarely` beside LinUCB with one radius for all arms, LinUCB with a radius for each, and Thompson sampling, in the
//! same worlds. An algorithm that holds no rule does the same from every start, so that it is run once.

mod claims;
mod start;

use std::sync::Arc;

use rarely_core::{Algorithm, Profile, Sets};
use rarely_data::{Counterfactuals, DataError, ihdp};
use rarely_error::{Explain, Remedy};
use serde::Serialize;

use crate::contestant::Contestant;
use crate::contestant_result::ContestantResult;
use crate::environment::{CounterfactualTable, TableError};
use crate::experiment::{Experiment, ExperimentError, ROUNDS, RunContext};
use crate::metrics::{Estimate, Interval95};
use crate::reproduction::{GRID_ARMS, GRID_DIMENSIONS};
use crate::run_journal::RunJournal;
use crate::world_source::WorldSource;

pub use claims::grid_claims;
use start::ConstantStart;

/// Standard deviations of the noise.
pub const GRID_NOISE: [f64; 4] = [0.1, 0.5, 1.0, 3.0];

const CERTIFIED: &str = "rarely";
const QUICK: &str = "rarely-quick";
const LINUCB: &str = "linucb";
const LINUCB_PER_ARM: &str = "linucb per arm";
const THOMPSON: &str = "thompson";
const FIXED: &str = "fixed";

/// Standard deviation of the IHDP outcomes around their means.
const CHILDREN_NOISE: f64 = 1.0;
/// The arm of the IHDP children that is treatment.
const TREATMENT: usize = 1;

/// The rule in force at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GridStart {
    /// The paper's: parameters drawn uniformly.
    RandomRule,
    /// The best arm for everybody.
    BestConstant,
    /// Treatment for every child.
    TreatEveryone,
}

impl GridStart {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::RandomRule => "a random rule",
            Self::BestConstant => "the best constant",
            Self::TreatEveryone => "treat everyone",
        }
    }
}

/// One place of the grid, or the IHDP children.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GridCell {
    /// `k`.
    pub arms: usize,
    /// `d`.
    pub dimension: usize,
    /// `σ`.
    pub noise: f64,
    /// The rule in force at the start.
    pub start: GridStart,
}

impl GridCell {
    /// `k=4, d=5, σ=0.1, from a random rule`.
    pub fn words(&self) -> String {
        let Self { arms, dimension, noise, start } = self;
        let start = start.words();
        if self.is_children() {
            format!("IHDP, from \u{201c}{start}\u{201d}")
        } else {
            format!("k={arms}, d={dimension}, σ={noise}, from {start}")
        }
    }

    /// Whether it is the IHDP children.
    pub fn is_children(&self) -> bool {
        self.start == GridStart::TreatEveryone
    }
}

/// A cell with its results.
#[derive(Debug, Clone)]
pub struct GridCellResult {
    /// The cell.
    pub cell: GridCell,
    /// Every contestant's.
    pub results: Vec<ContestantResult>,
}

/// One contestant in one cell: a row of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridRow {
    /// The cell.
    #[serde(flatten)]
    pub cell: GridCell,
    /// The contestant.
    pub algorithm: String,
    /// Runs.
    pub runs: usize,
    /// Cumulative expected regret.
    pub regret: Estimate,
    /// Changes of the rule; `None` where there is no rule.
    pub changes: Option<Estimate>,
    /// The most of them in a run.
    pub most_changes: usize,
    /// Changes that alter a decision.
    pub altering_changes: usize,
    /// The percentage of those that improve.
    pub improving_percent: Option<Interval95>,
    /// Those that lower the expected reward.
    pub harmful_changes: usize,
    /// Renewals of the randomisation.
    pub renewals: Estimate,
    /// Percentage of rounds in which another arm was played than the rule's.
    pub off_rule_percent: Estimate,
}

impl GridRow {
    fn new(cell: GridCell, result: &ContestantResult) -> Self {
        let renewals: Vec<f64> = result.runs.iter().map(|run| run.renewals as f64).collect();
        Self {
            cell,
            algorithm: result.name().to_owned(),
            runs: result.runs.len(),
            regret: Estimate::of(&result.total_regrets()),
            changes: (!result.every_round()).then(|| Estimate::of(&result.change_counts())),
            most_changes: result.runs.iter().map(|run| run.changes.len()).max().unwrap_or(0),
            altering_changes: result.altering().count(),
            improving_percent: Interval95::share(&result.improving()),
            harmful_changes: result.altering().filter(|change| change.harms()).count(),
            renewals: Estimate::of(&renewals),
            off_rule_percent: Estimate::of(&result.off_rule_percents()),
        }
    }
}

/// The rows of all cells.
pub fn grid_rows(cells: &[GridCellResult]) -> Vec<GridRow> {
    cells.iter().flat_map(|cell| cell.results.iter().map(|result| GridRow::new(cell.cell, result))).collect()
}

/// Why the grid could not be run.
#[derive(Debug, thiserror::Error)]
pub enum DefaultGridError {
    /// The embedded children cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// They are no environment.
    #[error(transparent)]
    Table(#[from] TableError),
    /// An experiment failed.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
}

impl Explain for DefaultGridError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Data(error) => error.remedy(),
            Self::Table(error) => error.remedy(),
            Self::Experiment(error) => error.remedy(),
        }
    }
}

/// What the cells of a grid are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct GridAxes {
    /// `k`.
    pub arms: Vec<usize>,
    /// `d`.
    pub dimensions: Vec<usize>,
    /// `σ`.
    pub noise: Vec<f64>,
}

/// The whole grid.
impl Default for GridAxes {
    fn default() -> Self {
        Self { arms: GRID_ARMS.to_vec(), dimensions: GRID_DIMENSIONS.to_vec(), noise: GRID_NOISE.to_vec() }
    }
}

/// The grid: every cell as an experiment.
#[derive(Debug)]
pub struct DefaultGrid {
    cells: Vec<(GridCell, Experiment, Vec<Contestant>)>,
}

impl DefaultGrid {
    /// `runs` runs in every cell of the grid, and one for each of the first `children` realisations of IHDP.
    ///
    /// # Errors
    /// [`DefaultGridError`] if a realisation does not exist, or there is no such world.
    pub fn new(
        axes: &GridAxes,
        runs: u64,
        rounds: Option<u64>,
        seed: u64,
        children: u32,
    ) -> Result<Self, DefaultGridError> {
        let mut cells = Vec::new();
        for &dimension in &axes.dimensions {
            for &arms in &axes.arms {
                for &noise in &axes.noise {
                    let synthetic = WorldSource::linear_with_noise(arms, dimension, noise);
                    let constant = ConstantStart::best(synthetic.environment()?);
                    let mut add = |start, source, contestants| {
                        let rounds = Some(rounds.unwrap_or(ROUNDS));
                        let experiment = Experiment { rounds, ..Experiment::new(source, runs, seed) };
                        cells.push((GridCell { arms, dimension, noise, start }, experiment, contestants));
                    };
                    add(GridStart::RandomRule, synthetic, [held(noise), others(noise)].concat());
                    add(GridStart::BestConstant, WorldSource::of(constant), held(noise));
                }
            }
        }
        if children > 0 {
            cells.push(children_cell(children, seed)?);
        }
        Ok(Self { cells })
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
    /// [`DefaultGridError`] of a cell that cannot be run.
    pub fn finished(&self, journal: &RunJournal) -> Result<usize, DefaultGridError> {
        let cells = self.cells.iter();
        Ok(cells.map(|(_, experiment, all)| experiment.finished(all, journal)).sum::<Result<usize, _>>()?)
    }

    /// Runs every cell. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// [`DefaultGridError`] of the first cell that cannot be run, or that was stopped.
    pub fn run(&self, context: &RunContext<'_>) -> Result<Vec<GridCellResult>, DefaultGridError> {
        let mut all: Vec<GridCellResult> = Vec::new();
        for (cell, experiment, contestants) in &self.cells {
            let mut results = experiment.run(contestants, context)?;
            if cell.start == GridStart::BestConstant {
                // The cell before it has the same worlds.
                let same = all.last().into_iter().flat_map(|before| &before.results);
                results.extend(same.filter(|result| !contestants.contains(&result.contestant)).cloned());
            }
            all.push(GridCellResult { cell: *cell, results });
        }
        Ok(all)
    }
}

/// The contestants that hold a rule.
fn held(noise: f64) -> Vec<Contestant> {
    [(CERTIFIED, Algorithm::Rarely), (QUICK, Algorithm::RarelyQuick)]
        .map(|(name, algorithm)| contestant(name, algorithm, noise))
        .to_vec()
}

/// Those that follow their estimates every round.
fn others(noise: f64) -> Vec<Contestant> {
    let mut per_arm = contestant(LINUCB_PER_ARM, Algorithm::LinUcb, noise);
    // Under sharp sets the index has the smaller of the two radii that hold for each arm.
    per_arm.declared.sets = Some(Sets::Sharp);
    vec![contestant(LINUCB, Algorithm::LinUcb, noise), per_arm, contestant(THOMPSON, Algorithm::Thompson, noise)]
}

fn contestant(name: &str, algorithm: Algorithm, noise: f64) -> Contestant {
    Contestant::new(algorithm, Profile::Rigorous).named(name).declaring_noise(noise)
}

fn children_cell(count: u32, seed: u64) -> Result<(GridCell, Experiment, Vec<Contestant>), DefaultGridError> {
    let children = ihdp::realisations(count)?.into_iter().map(Counterfactuals::with_intercept).collect();
    let table = Arc::new(CounterfactualTable::new(children)?);
    let shape = crate::environment::Environment::shape(&*table);
    let source = WorldSource::of(ConstantStart::of_arm(table, TREATMENT));
    let cell = GridCell {
        arms: shape.arms(),
        dimension: shape.dimension(),
        noise: CHILDREN_NOISE,
        start: GridStart::TreatEveryone,
    };
    let fixed = vec![contestant(FIXED, Algorithm::Fixed, CHILDREN_NOISE)];
    let contestants = [held(CHILDREN_NOISE), others(CHILDREN_NOISE), fixed].concat();
    Ok((cell, Experiment::new(source, u64::from(count), seed), contestants))
}

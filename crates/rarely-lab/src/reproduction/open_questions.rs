//! What the paper leaves open: how many changes there can be, how their number grows, which schedule is best, and how far each algorithm is
//! from the frontier of regret and changes.

mod two_arms;

use std::sync::atomic::AtomicBool;

use rarely_core::{Algorithm, Delay, MinimumGain, Parameters, Profile, Rng, Settings, SettingsError, Shape};
use serde::Serialize;
use serde_json::json;

use super::{MAIN, ReproductionSize, Trial, TrialResults};
use crate::contestant::Contestant;
use crate::contestant_result::{ContestantResult, Summary};
use crate::environment::{Environment as _, Given, Linear, policy_stream};
use crate::experiment::{Experiment, ExperimentError, RunContext};
use crate::frontier::FrontierPlace;
use crate::judge::Judge;
use crate::metrics::{Estimate, Interval95};
use crate::play::{PlayError, Run, play};
use crate::shard::Divisible;
use crate::study::Study;
use crate::world_source::WorldSource;

pub use two_arms::{BestSchedule, TwoArmedTrial};

/// Answers, as far as runs give them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpenQuestions {
    /// The bound on the number of changes, for several minimum gains.
    pub bounds: Vec<ChangeBound>,
    /// How the number of changes grows.
    pub growth: Vec<ChangeGrowth>,
    /// The best schedule in the simplest case, beside what algorithms do.
    pub schedules: Vec<ScheduleComparison>,
    /// How far each algorithm is from the frontier, with its best setting.
    pub distances: Vec<FrontierDistance>,
}

/// The bound `⌊(V*_S − V_S,start)/ε⌋` on the number of changes, and what was counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeBound {
    /// `ε`, the minimum gain of a change.
    pub minimum_gain: f64,
    /// Runs.
    pub runs: usize,
    /// The bound, over the runs.
    pub bound: Estimate,
    /// The smallest bound of a run.
    pub least_bound: u64,
    /// Changes made, over the runs.
    pub changes: Estimate,
    /// The most changes of a run.
    pub most_changes: u64,
    /// Runs with more changes than their bound.
    pub broken: usize,
    /// Changes that gained at most ε on the declared list.
    pub too_small: usize,
    /// Regret per step.
    pub regret_per_step: Estimate,
}

/// How the number of changes of an algorithm grows with one number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeGrowth {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What varies: `d`, `k`, `σ` or `T`.
    pub varied: &'static str,
    /// Its values, with the changes at each.
    pub points: Vec<(f64, Estimate)>,
    /// `b` of the fit: changes in proportion to `xᵇ`. The interval is from resampled runs.
    pub exponent: Interval95,
}

/// The best schedule for a gap, and what algorithms that do not know the gap do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScheduleComparison {
    /// The case.
    pub trial: TwoArmedTrial,
    /// The optimum.
    pub best: BestSchedule,
    /// Each algorithm's total regret and changes; the arm in force at the start is the better one in half of the runs.
    pub measured: Vec<MeasuredSchedule>,
}

/// What an algorithm did in the simplest case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredSchedule {
    /// The algorithm.
    pub name: String,
    /// Runs.
    pub runs: usize,
    /// Total regret.
    pub regret: Estimate,
    /// Changes of the rule; `None` if it changes every round.
    pub changes: Option<Estimate>,
}

/// How far an algorithm is from the frontier of all others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrontierDistance {
    /// The algorithm with the setting that is nearest to the frontier.
    pub summary: Summary,
    /// Runs.
    pub runs: usize,
    /// Its regret over the least of those that do not change more often; `None` on the frontier.
    pub regret: Option<Interval95>,
    /// Its changes over the fewest of those without more regret; `None` on the frontier.
    pub changes: Option<Interval95>,
}

/// Our default with both bars for a change.
const OURS: [Algorithm; 2] = [Algorithm::Rarely, Algorithm::RarelyQuick];
/// Minimum gains for which the bound is shown.
const MINIMUM_GAINS: [f64; 3] = [0.02, 0.1, 0.3];
/// People of the declared list.
const LISTED: usize = 1_000;
/// The noise of the main setting.
const NOISE: f64 = 0.1;
/// What is varied around the main setting.
const DIMENSIONS: [usize; 4] = [2, 5, 10, 20];
const ARMS: [usize; 3] = [2, 4, 8];
const NOISES: [f64; 4] = [0.1, 0.3, 1.0, 3.0];
/// Lengths, as parts of all rounds.
const PARTS: [u64; 4] = [8, 4, 2, 1];
/// Gaps of the simplest case, in standard deviations of the noise.
const GAPS: [f64; 4] = [0.1, 0.2, 0.5, 1.0];
/// Resamples of the runs for an interval.
const RESAMPLES: usize = 400;

/// The trials of this chapter.
pub(super) fn trials(size: ReproductionSize) -> Result<Vec<Trial>, SettingsError> {
    let mut all: Vec<Trial> = growth_cells().into_iter().map(|cell| growth_trial(size, cell)).collect();
    for gap in GAPS {
        for better in [0, 1] {
            all.push(two_armed_trial(size, gap, better)?);
        }
    }
    Ok(all)
}

/// `(k, d, σ)` of every cell.
fn growth_cells() -> Vec<(usize, usize, f64)> {
    let (arms, dimension) = MAIN;
    let others = DIMENSIONS.into_iter().filter(|&d| d != dimension).map(|d| (arms, d, NOISE));
    let others = others.chain(ARMS.into_iter().filter(|&k| k != arms).map(|k| (k, dimension, NOISE)));
    let others = others.chain(NOISES.into_iter().filter(|&noise| noise > NOISE).map(|noise| (arms, dimension, noise)));
    std::iter::once((arms, dimension, NOISE)).chain(others).collect()
}

fn growth_id((arms, dimension, noise): (usize, usize, f64)) -> String {
    format!("growth/{arms}x{dimension}/{noise}")
}

fn growth_trial(size: ReproductionSize, cell: (usize, usize, f64)) -> Trial {
    let (arms, dimension, noise) = cell;
    let source = WorldSource::linear_with_noise(arms, dimension, noise);
    let contestants = OURS.map(|algorithm| Contestant::new(algorithm, Profile::Rigorous).declaring_noise(noise));
    let experiment = Experiment {
        rounds: Some(size.rounds.min(4_000)),
        judged_on: 200,
        ..Experiment::new(source, size.runs(100, 12), size.seed)
    };
    Trial { id: growth_id(cell), experiment, contestants: contestants.to_vec() }
}

fn two_armed_id(gap: f64, better: usize) -> String {
    format!("two-arms/{gap}/{better}")
}

fn two_armed(size: ReproductionSize, gap: f64) -> TwoArmedTrial {
    TwoArmedTrial { gap, noise: 1.0, rounds: size.rounds.min(2_000) }
}

fn two_armed_trial(size: ReproductionSize, gap: f64, better: usize) -> Result<Trial, SettingsError> {
    let TwoArmedTrial { noise, rounds, .. } = two_armed(size, gap);
    let mut truth = vec![0.5; 2];
    truth[better] += gap;
    let world = Given { shape: Shape::new(2, 1)?, truth, initial: vec![1.0, 0.0], noise };
    let compared = [Algorithm::Rarely, Algorithm::RarelyQuick, Algorithm::Thompson, Algorithm::LinUcb];
    let contestants = compared.map(|algorithm| Contestant::new(algorithm, Profile::Rigorous).declaring_noise(noise));
    let experiment = Experiment {
        rounds: Some(rounds),
        judged_on: 1,
        ..Experiment::new(WorldSource::of(world), size.runs(500, 100), size.seed)
    };
    Ok(Trial { id: two_armed_id(gap, better), experiment, contestants: contestants.to_vec() })
}

/// The runs for the bound, one part for each minimum gain.
pub(super) fn divisible(size: ReproductionSize) -> impl Iterator<Item = Box<dyn Divisible>> {
    MINIMUM_GAINS.into_iter().map(move |gain| Box::new(bound_study(size, gain)) as Box<dyn Divisible>)
}

impl OpenQuestions {
    /// Answers from the trials, and from runs of its own for the bound.
    ///
    /// # Errors
    /// [`ExperimentError`] if a run of the bound could not be played.
    pub fn of(trials: &TrialResults, context: &RunContext<'_>) -> Result<Self, ExperimentError> {
        let size = trials.size;
        let bounds: Result<_, ExperimentError> =
            MINIMUM_GAINS.into_iter().map(|minimum_gain| change_bound(size, minimum_gain, context)).collect();
        Ok(Self {
            bounds: bounds?,
            growth: growth(trials),
            schedules: GAPS.into_iter().filter_map(|gap| schedule(trials, gap)).collect(),
            distances: distances(trials.results("frontier")),
        })
    }
}

/// Rounds of the runs for the bound.
fn bound_rounds(size: ReproductionSize) -> u64 {
    size.rounds.min(5_000)
}

/// Runs of `rarely` with a declared list of people and a minimum gain: each with its bound.
fn bound_study(
    size: ReproductionSize,
    minimum_gain: f64,
) -> Study<impl Fn(u64) -> Result<(u64, Run), ExperimentError> + Sync> {
    let (rounds, seed) = (bound_rounds(size), size.seed);
    let description = json!({ "study": "bound", "minimum_gain": minimum_gain, "rounds": rounds, "seed": seed });
    Study::new(&description, size.runs(100, 20), move |run| bounded_run(seed, rounds, minimum_gain, run))
}

fn bounded_run(seed: u64, rounds: u64, minimum_gain: f64, run: u64) -> Result<(u64, Run), ExperimentError> {
    let shape = Shape::new(MAIN.0, MAIN.1)?;
    let mut world = Linear { shape, noise: NOISE }.world(seed, run);
    let judge = Judge::new(&*world, shape, LISTED);
    let failed = |source: PlayError| ExperimentError::Play { name: "rarely".to_owned(), run, source };
    let list = judge.contexts().map_err(|error| failed(error.into()))?;
    let start = Parameters::new(shape, world.initial().to_vec())?;
    let missing = judge.regret(&judge.decisions_of(&start).map_err(|error| failed(error.into()))?);
    let settings = Settings::new(MAIN.0, MAIN.1)?.algorithm(Algorithm::Rarely).noise(NOISE)?.population(list)?;
    let settings = settings.deployed(world.initial().to_vec())?.error_probability(1.0 / rounds as f64)?;
    // As in the main setting: without a bound on the norm the rule waits longer.
    let norm = judge.linear_truth().iter().map(|value| value * value).sum::<f64>().sqrt();
    let settings = settings.norm_bound(norm)?;
    let smallest = MinimumGain::new(minimum_gain)?;
    let mut policy = settings.tune(|tuning| tuning.minimum_gain = smallest).build()?;
    let mut rng = policy_stream(seed, run);
    let never = AtomicBool::new(false);
    let played =
        play(policy.as_mut(), &mut *world, (&judge, Delay::Any), &[rounds], &mut rng, &never).map_err(failed)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(((missing / minimum_gain).floor() as u64, played))
}

fn change_bound(
    size: ReproductionSize,
    minimum_gain: f64,
    context: &RunContext<'_>,
) -> Result<ChangeBound, ExperimentError> {
    let rounds = bound_rounds(size);
    let played = bound_study(size, minimum_gain).results(context)?;
    let numbers = |value: &dyn Fn(&(u64, Run)) -> f64| Estimate::of(&played.iter().map(value).collect::<Vec<_>>());
    Ok(ChangeBound {
        minimum_gain,
        runs: played.len(),
        bound: numbers(&|(bound, _)| *bound as f64),
        least_bound: played.iter().map(|(bound, _)| *bound).min().unwrap_or(0),
        changes: numbers(&|(_, run)| run.changes.len() as f64),
        most_changes: played.iter().map(|(_, run)| run.changes.len() as u64).max().unwrap_or(0),
        broken: played.iter().filter(|(bound, run)| run.changes.len() as u64 > *bound).count(),
        too_small: played.iter().flat_map(|(_, run)| &run.changes).filter(|change| change.gain <= minimum_gain).count(),
        regret_per_step: numbers(&|(_, run)| run.regret.last().copied().unwrap_or(0.0) / rounds as f64),
    })
}

fn growth(trials: &TrialResults) -> Vec<ChangeGrowth> {
    let (arms, dimension) = MAIN;
    let mut all = Vec::new();
    for algorithm in OURS {
        let counts = |cell| trials.result(&growth_id(cell), algorithm.name()).map(ContestantResult::change_counts);
        let over = |cells: Vec<(f64, (usize, usize, f64))>| -> Vec<(f64, Vec<f64>)> {
            cells.into_iter().filter_map(|(x, cell)| Some((x, counts(cell)?))).collect()
        };
        let by_length = trials.result(&growth_id((arms, dimension, NOISE)), algorithm.name()).map(|result| {
            PARTS
                .map(|part| result.rounds() / part)
                .map(|rounds| (rounds as f64, result.changes_until(rounds)))
                .to_vec()
        });
        let varied = [
            ("d", over(DIMENSIONS.map(|d| (d as f64, (arms, d, NOISE))).to_vec())),
            ("k", over(ARMS.map(|k| (k as f64, (k, dimension, NOISE))).to_vec())),
            ("σ", over(NOISES.map(|noise| (noise, (arms, dimension, noise))).to_vec())),
            ("T", by_length.unwrap_or_default()),
        ];
        all.extend(varied.into_iter().filter(|(_, cells)| cells.len() > 1).map(|(varied, cells)| ChangeGrowth {
            algorithm,
            varied,
            exponent: exponent(&cells, trials.size.seed),
            points: cells.iter().map(|(x, counts)| (*x, Estimate::of(counts))).collect(),
        }));
    }
    all
}

/// `b` of `mean changes ∝ xᵇ` by least squares on logarithms, with a percentile interval from resampled runs. A run is one world in every
/// cell, so that runs are resampled, not cells.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn exponent(cells: &[(f64, Vec<f64>)], seed: u64) -> Interval95 {
    let runs = cells.iter().map(|(_, counts)| counts.len()).min().unwrap_or(0).max(1);
    // A mean of 0 has no logarithm: it is taken as half a change in all runs.
    let slope_of = |chosen: &[usize]| {
        let points = cells.iter().map(|(x, counts)| {
            let mean = chosen.iter().map(|&run| counts[run]).sum::<f64>() / chosen.len() as f64;
            (x.ln(), mean.max(0.5 / runs as f64).ln())
        });
        slope(&points.collect::<Vec<_>>())
    };
    let all: Vec<usize> = (0..runs).collect();
    let mut rng = Rng::new(seed, 0x0B00);
    let mut resampled: Vec<f64> =
        (0..RESAMPLES).map(|_| slope_of(&all.iter().map(|_| rng.below(runs)).collect::<Vec<_>>())).collect();
    resampled.sort_by(f64::total_cmp);
    let at = |share: f64| resampled[((RESAMPLES - 1) as f64 * share).round() as usize];
    Interval95 { mean: slope_of(&all), low: at(0.025), high: at(0.975) }
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread
}

fn schedule(trials: &TrialResults, gap: f64) -> Option<ScheduleComparison> {
    let trial = two_armed(trials.size, gap);
    let sides = [0, 1].map(|better| trials.results(&two_armed_id(gap, better)));
    let measured: Vec<MeasuredSchedule> = sides[0]
        .iter()
        .zip(sides[1])
        .map(|(one, other)| {
            let both = |values: fn(&ContestantResult) -> Vec<f64>| [values(one), values(other)].concat();
            let regrets = both(ContestantResult::total_regrets);
            MeasuredSchedule {
                name: one.name().to_owned(),
                runs: regrets.len(),
                regret: Estimate::of(&regrets),
                changes: (!one.every_round()).then(|| Estimate::of(&both(ContestantResult::change_counts))),
            }
        })
        .collect();
    (!measured.is_empty()).then(|| ScheduleComparison { trial, best: trial.best_schedule(), measured })
}

/// Each algorithm with the setting in which it is nearest to the frontier, the nearest first.
fn distances(results: &[ContestantResult]) -> Vec<FrontierDistance> {
    let factor = |distance: &FrontierDistance| distance.regret.map_or(1.0, |ratio| ratio.mean);
    let mut all: Vec<FrontierDistance> = Algorithm::all()
        .filter_map(|algorithm| {
            let own = results.iter().filter(|result| result.contestant.algorithm == algorithm);
            own.filter_map(|result| FrontierPlace::of(results, result.name()))
                .map(|place| FrontierDistance {
                    runs: place.runs,
                    regret: place.less_regret.map(|better| better.ratio),
                    changes: place.fewer_changes.map(|better| better.ratio),
                    summary: place.summary,
                })
                .min_by(|one, other| factor(one).total_cmp(&factor(other)))
        })
        .collect();
    all.sort_by(|one, other| factor(one).total_cmp(&factor(other)));
    all
}

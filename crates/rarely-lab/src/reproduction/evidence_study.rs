//! Coverage and width of every set and interval, on the same runs: under a linear and a bent truth, with a fixed and with adaptive
//! designs (mathematics §§12–14).
//!
//! One change of rule is declared before anything is seen: give arm 1 from x = 0.4 on instead of from x = 0.8. Each method says after
//! how many cases what the change gains. The truth says what it does gain.

mod methods;
mod plan;
mod worlds;

pub use methods::GainMethod;
pub use worlds::{ArmDesign, EvidenceWorld};

use rarely_core::{ConfirmError, Interval};
use serde::{Deserialize, Serialize};

use self::plan::Plan;
use crate::experiment::{ExperimentError, RunContext};
use crate::metrics::Interval95;
use crate::shard::Divisible;

/// `δ`.
const ERROR_PROBABILITY: f64 = 0.1;
/// Cases before the first look.
const FIRST: u64 = 50;

/// What a method did in a world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceRow {
    /// The world.
    pub world: EvidenceWorld,
    /// The method.
    pub method: GainMethod,
    /// Percentage of runs in which an interval missed the true gain.
    pub missed: Interval95,
    /// Percentage of runs in which the set of parameters lost the truth, for methods with such a set and a linear truth.
    pub set_missed: Option<Interval95>,
    /// Median half-width by cases, at looks at which most runs have an interval.
    pub half_widths: Vec<(u64, f64)>,
    /// Percentage of runs that certified a gain, rightly or not.
    pub certified: Interval95,
    /// Median number of cases until a gain was certified; `None` if fewer than half of the runs did.
    pub cases: Option<u64>,
}

/// Every method in every world.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceStudy {
    /// Runs of each world.
    pub runs: u64,
    /// Cases of a run.
    pub cases: u64,
    /// The stated error probability.
    pub error_probability: f64,
    /// A row for each world and method.
    pub rows: Vec<EvidenceRow>,
}

impl EvidenceStudy {
    /// Plays all runs, in parallel; the result depends on the seed only.
    ///
    /// # Errors
    /// [`ExperimentError`] if a number is out of range, or a run could not be saved or was stopped.
    pub fn run(seed: u64, runs: u64, cases: u64, context: &RunContext<'_>) -> Result<Self, ExperimentError> {
        let cases = cases.max(2 * FIRST);
        let mut rows = Vec::new();
        for (number, world) in EvidenceWorld::all().enumerate() {
            let plan = Plan::new(world, cases)?;
            let looks = plan.looks.clone();
            let played = plan.study(number, seed, runs).results(context)?;
            rows.extend(GainMethod::ALL.into_iter().enumerate().map(|(at, method)| {
                let watches: Vec<&Watch> = played.iter().map(|run| &run[at]).collect();
                EvidenceRow::of(world, method, &looks, &watches)
            }));
        }
        Ok(Self { runs, cases, error_probability: ERROR_PROBABILITY, rows })
    }

    /// Its runs, one part for each world.
    ///
    /// # Errors
    /// [`ConfirmError`] if a number is out of range.
    pub(super) fn divisible(seed: u64, runs: u64, cases: u64) -> Result<Vec<Box<dyn Divisible>>, ConfirmError> {
        let part = |(number, world)| -> Result<Box<dyn Divisible>, ConfirmError> {
            Ok(Box::new(Plan::new(world, cases.max(2 * FIRST))?.study(number, seed, runs)))
        };
        EvidenceWorld::all().enumerate().map(part).collect()
    }

    /// The row of a method in a world.
    pub fn row(&self, world: EvidenceWorld, method: GainMethod) -> Option<&EvidenceRow> {
        self.rows.iter().find(|row| row.world == world && row.method == method)
    }
}

/// What one method said in one run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Watch {
    missed: bool,
    set_missed: Option<bool>,
    certified_at: Option<u64>,
    /// At each look, if there was an interval.
    half_widths: Vec<Option<f64>>,
}

impl Watch {
    fn look(&mut self, cases: u64, interval: Option<Interval>, truth: f64) {
        let bounded = interval.filter(|interval| interval.upper - interval.lower < f64::INFINITY);
        self.half_widths.push(bounded.map(|interval| 0.5 * (interval.upper - interval.lower)));
        if let Some(interval) = interval {
            self.missed |= !interval.contains(truth);
            if interval.lower > 0.0 && self.certified_at.is_none() {
                self.certified_at = Some(cases);
            }
        }
    }

    fn look_at_set(&mut self, contains: bool) {
        self.set_missed = Some(self.set_missed.unwrap_or(false) || !contains);
    }
}

impl EvidenceRow {
    fn of(world: EvidenceWorld, method: GainMethod, looks: &[u64], watches: &[&Watch]) -> Self {
        let share = |yes: &dyn Fn(&Watch) -> bool| {
            let each: Vec<(usize, usize)> = watches.iter().map(|watch| (usize::from(yes(watch)), 1)).collect();
            Interval95::share(&each).unwrap_or(Interval95 { mean: f64::NAN, low: 0.0, high: 100.0 })
        };
        let half_widths = looks.iter().enumerate().filter_map(|(at, &cases)| {
            let widths: Vec<Option<f64>> = watches.iter().map(|watch| watch.half_widths[at]).collect();
            Some((cases, median(widths)?))
        });
        let cases: Vec<Option<f64>> =
            watches.iter().map(|watch| watch.certified_at.map(|cases| cases as f64)).collect();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let cases = median(cases).map(|cases| cases as u64);
        let has_set = watches.iter().any(|watch| watch.set_missed.is_some());
        Self {
            world,
            method,
            missed: share(&|watch| watch.missed),
            set_missed: has_set.then(|| share(&|watch| watch.set_missed == Some(true))),
            half_widths: half_widths.collect(),
            certified: share(&|watch| watch.certified_at.is_some()),
            cases,
        }
    }
}

/// The median where what is missing is larger than all that is there; `None` if the median is missing.
fn median(mut values: Vec<Option<f64>>) -> Option<f64> {
    values.sort_by(|one, other| one.unwrap_or(f64::INFINITY).total_cmp(&other.unwrap_or(f64::INFINITY)));
    values.get(values.len() / 2).copied().flatten()
}

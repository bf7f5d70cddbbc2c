//! Coverage and width of every set and interval, on the same runs: under a linear and a bent truth, with a fixed and with adaptive
//! designs (mathematics §§12–14).
//!
//! One change of rule is declared before anything is seen: give arm 1 from x = 0.4 on instead of from x = 0.8. Each method says after
//! how many cases what the change gains. The truth says what it does gain.

use rarely_core::{
    Algorithm, Arm, CaseLog, Confidence, ConfirmError, Confirmation, Context, Contexts, ErrorBudget, ErrorProbability,
    Interval, Look, LookPlan, MIN_CASES, Mixture, Noise, NormBound, Parameters, Penalty, PlannedNoise, PlannedSets,
    Policy, Profile, Rng, RuleChoice, ScoreSettings, ScoredCase, Scores, Sets, Settings, Shape, Statistics,
    gain_functional, planned_multiplier,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::environment::{Stream, stream, truncated_normal};
use crate::experiment::{ExperimentError, RunContext};
use crate::metrics::Interval95;
use crate::shard::Divisible;
use crate::study::Study;

/// A method that puts an interval around the gain of a declared change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GainMethod {
    /// The joint set.
    Joint,
    /// A set for each arm.
    PerArm,
    /// Sharp sets.
    Sharp,
    /// Sets that hold at planned looks.
    Planned,
    /// Least squares with HC3 errors at planned looks.
    Confirmed,
    /// The same interval, looked at again and again: a mistake, shown as one.
    Peeked,
    /// Least squares with HC3 errors and the multiplier that holds at any time.
    AnytimeT,
    /// The mean of model-free scores at planned looks.
    ScoreMean,
    /// Model-free scores with an asymptotic confidence sequence.
    Asymptotic,
    /// Model-free scores with an empirical-Bernstein confidence sequence.
    Bernstein,
}

impl GainMethod {
    /// Every method, in the order of the report.
    pub const ALL: [Self; 10] = [
        Self::Joint,
        Self::PerArm,
        Self::Sharp,
        Self::Planned,
        Self::Confirmed,
        Self::Peeked,
        Self::AnytimeT,
        Self::ScoreMean,
        Self::Asymptotic,
        Self::Bernstein,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Joint => "joint set",
            Self::PerArm => "per-arm sets",
            Self::Sharp => "sharp sets",
            Self::Planned => "planned sets",
            Self::Confirmed => "confirmed (HC3)",
            Self::Peeked => "confirmed, but peeked at",
            Self::AnytimeT => "anytime t",
            Self::ScoreMean => "model-free, planned t",
            Self::Asymptotic => "model-free, asymptotic",
            Self::Bernstein => "model-free, Bernstein",
        }
    }

    /// What it needs, beyond independent cases.
    pub fn needs(self) -> &'static str {
        match self {
            Self::Joint | Self::PerArm => "linear means, declared σ and L",
            Self::Sharp => "linear means, declared σ",
            Self::Planned => "linear means, fixed design, normal noise",
            Self::Confirmed | Self::AnytimeT => "linear means, fixed design, many cases",
            Self::Peeked => "nothing makes it valid",
            Self::ScoreMean | Self::Asymptotic => "logged propensities, many cases",
            Self::Bernstein => "logged propensities, declared range",
        }
    }

    /// Whether it rests on linear means.
    pub fn is_linear(self) -> bool {
        !matches!(self, Self::ScoreMean | Self::Asymptotic | Self::Bernstein)
    }

    /// Whether it holds only at looks that were planned.
    pub fn is_planned(self) -> bool {
        matches!(self, Self::Planned | Self::Confirmed | Self::ScoreMean)
    }

    /// Whether it promises to miss in at most δ of the runs of a world.
    pub fn promises(self, world: EvidenceWorld) -> bool {
        let fixed_only = matches!(self, Self::Planned | Self::Confirmed | Self::AnytimeT);
        self != Self::Peeked && !(self.is_linear() && world.bent) && !(fixed_only && world.design.is_adaptive())
    }
}

/// How arms are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmDesign {
    /// By a fair coin: a fixed design.
    Coin,
    /// By Thompson sampling, which looks at outcomes.
    Thompson,
    /// By somebody who knows the truth and wants the estimate to be wrong: arm 1 is hardly tried any more while its estimate is off.
    Misleading,
}

impl ArmDesign {
    /// Every design, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Coin, Self::Thompson, Self::Misleading];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Coin => "fair coin",
            Self::Thompson => "Thompson",
            Self::Misleading => "misleading",
        }
    }

    /// The least propensity of an arm.
    fn floor(self) -> f64 {
        match self {
            Self::Coin => 0.5,
            Self::Thompson => 0.1,
            Self::Misleading => 0.02,
        }
    }

    /// Whether arms depend on earlier outcomes.
    pub fn is_adaptive(self) -> bool {
        self != Self::Coin
    }
}

/// A truth and a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EvidenceWorld {
    /// Whether mean outcomes are bent, not linear.
    pub bent: bool,
    /// How arms are chosen.
    pub design: ArmDesign,
}

impl EvidenceWorld {
    /// Every world, in the order of the report.
    pub fn all() -> impl Iterator<Item = Self> {
        let all = [false, true].into_iter().flat_map(|bent| ArmDesign::ALL.map(|design| Self { bent, design }));
        // Under a bent truth estimates are off without anybody's help.
        all.filter(|world| !(world.bent && world.design == ArmDesign::Misleading))
    }

    /// In words.
    pub fn words(self) -> String {
        format!("{} truth, {}", if self.bent { "bent" } else { "linear" }, self.design.words())
    }

    /// What the declared change truly gains per case.
    pub fn true_gain(self) -> f64 {
        let moved = grid().filter(|&x| declared_change(x)[0] != declared_change(x)[1]);
        let gained: f64 = moved.map(|x| self.difference(x)).sum();
        gained / GRID as f64
    }

    /// What arm 1 is better by at x. Both truths have the same best line: the bend is orthogonal to every line on `[0,1]`.
    fn difference(self, x: f64) -> f64 {
        let bend = if self.bent { BEND * ((2.0 * x - 1.0).powi(2) - 1.0 / 3.0) } else { 0.0 };
        0.1 + 0.25 * (x - 0.5) + bend
    }

    fn mean(self, x: f64, arm: usize) -> f64 {
        0.5 + (arm as f64 - 0.5) * self.difference(x)
    }

    /// The parameters of both truths' best line.
    fn line() -> [f64; 4] {
        let flat = Self { bent: false, design: ArmDesign::Coin };
        let intercepts = [0, 1].map(|arm| flat.mean(0.0, arm));
        [intercepts[0], flat.mean(1.0, 0) - intercepts[0], intercepts[1], flat.mean(1.0, 1) - intercepts[1]]
    }
}

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

/// `δ`.
const ERROR_PROBABILITY: f64 = 0.1;
/// Standard deviation of the normal noise before it is cut off.
const NOISE: f64 = 0.4;
/// Standard deviations at which it is cut off: it is bounded then, and as sub-gaussian as the normal, whose density it has on an
/// interval.
const CUT: f64 = 3.0;
/// How bent the bent truth is: enough that the change harms.
const BEND: f64 = 0.8;
/// Outcomes are in this range: means are between 0.1 and 0.9.
const RANGE: (f64, f64) = (0.1 - CUT * NOISE, 0.9 + CUT * NOISE);
/// How often the misleading design tries arm 1 while its estimate is not off.
const SELDOM: f64 = 0.25;
/// Contexts of the list over which the gain is declared, evenly on `[0,1]`.
const GRID: usize = 1_000;
/// Planned looks at eighths of the cases.
const PLANNED: [u64; 4] = [1, 2, 4, 8];
/// Cases before the first look, and growth between looks.
const FIRST: u64 = 50;
const GROWTH: f64 = 1.1;

fn grid() -> impl Iterator<Item = f64> {
    (0..GRID).map(|at| (at as f64 + 0.5) / GRID as f64)
}

/// The declared change: the arm at x before and after it.
fn declared_change(x: f64) -> [Arm; 2] {
    [0.8, 0.4].map(|cut| Arm::new(usize::from(x >= cut)))
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

/// What is declared before a run: the change, the looks, and what each method assumes.
struct Plan {
    world: EvidenceWorld,
    shape: Shape,
    true_gain: f64,
    truth: Option<Parameters>,
    /// `g`, with `⟨g,θ⟩` the gain over the list.
    functional: Parameters,
    confidence: Confidence,
    budget: ErrorBudget,
    mixture: Mixture,
    /// The multiplier of the planned looks, with many cases.
    planned_multiplier: f64,
    planned: LookPlan,
    looks: Vec<u64>,
    scores: ScoreSettings,
    /// Cases whose outcomes only make predictions for the scores.
    proposing: u64,
    /// The looks of the scores' plan, counted without the proposing part.
    planned_scores: LookPlan,
    cases: u64,
}

impl Plan {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn new(world: EvidenceWorld, cases: u64) -> Result<Self, ConfirmError> {
        let shape = Shape::new(2, 2)?;
        let list: Vec<f64> = grid().flat_map(|x| [1.0, x]).collect();
        let [before, after] = [0, 1].map(|at| grid().map(|x| declared_change(x)[at]).collect::<Vec<Arm>>());
        let functional = gain_functional(shape, Contexts::new(&list, 2)?, &before, &after)?;
        let line = EvidenceWorld::line();
        let error_probability = ErrorProbability::new(ERROR_PROBABILITY)?;
        let confidence = Confidence {
            noise: Noise::new(NOISE)?,
            norm_bound: Some(NormBound::new(line.iter().map(|value| value * value).sum::<f64>().sqrt())?),
            error_probability,
            penalty: Penalty::new(0.01)?,
            sets: Sets::Joint,
            profile: Profile::Rigorous,
        };
        let planned: Vec<u64> = PLANNED.iter().map(|eighths| cases * eighths / 8).collect();
        let mut looks = planned.clone();
        let mut next = FIRST as f64;
        while (next as u64) < cases {
            looks.push(next as u64);
            next *= GROWTH;
        }
        looks.sort_unstable();
        looks.dedup();
        let proposing = cases / 10;
        Ok(Self {
            world,
            shape,
            true_gain: world.true_gain(),
            truth: (!world.bent).then(|| Parameters::new(shape, line.to_vec())).transpose()?,
            functional,
            confidence,
            budget: ErrorBudget::new(error_probability),
            mixture: Mixture::sharpest_at(0.5 * cases as f64, 0.25 * cases as f64, ERROR_PROBABILITY)?,
            planned_multiplier: planned_multiplier(cases as f64, ERROR_PROBABILITY / PLANNED.len() as f64),
            planned_scores: LookPlan::new(planned.iter().map(|&look| look - proposing).collect())?,
            planned: LookPlan::new(planned)?,
            looks,
            scores: ScoreSettings::new(2, world.design.floor(), RANGE.0, RANGE.1)?,
            proposing,
            cases,
        })
    }

    /// The runs of the world with this number. All worlds have the same contexts and noise.
    fn study(
        self,
        number: usize,
        seed: u64,
        runs: u64,
    ) -> Study<impl Fn(u64) -> Result<[Watch; 10], ExperimentError> + Sync> {
        let description = json!({ "study": "evidence", "world": self.world, "cases": self.cases, "seed": seed });
        Study::new(&description, runs, move |run| {
            Ok(self.play(seed, run, &mut Rng::new(seed ^ 0xE71D, 8 * run + number as u64))?)
        })
    }

    fn play(&self, seed: u64, run: u64, own: &mut Rng) -> Result<[Watch; 10], ConfirmError> {
        let mut contexts = stream(seed, run, Stream::Contexts);
        let mut noises = stream(seed, run, Stream::Noise);
        let mut thompson = self.thompson()?;
        let mut seen = Seen::new(self);
        let mut watches: [Watch; 10] = std::array::from_fn(|_| Watch::default());
        let mut looks = self.looks.iter().copied().peekable();
        for case in 1..=self.cases {
            let x = contexts.uniform();
            let values = [1.0, x];
            let context = Context::new(&values)?;
            let (arm, propensities) = self.choose(thompson.as_ref(), &seen, context, own);
            let reward = self.world.mean(x, arm.index()) + NOISE * truncated_normal(&mut noises, CUT);
            if self.world.design == ArmDesign::Thompson {
                let _ = thompson.observe(context, &rarely_core::Decision::recorded(arm), reward)?;
            }
            seen.learn(self, case, context, arm, reward, propensities)?;
            if looks.next_if_eq(&case).is_some() {
                self.look(case, &seen, &mut watches)?;
            }
        }
        Ok(watches)
    }

    fn thompson(&self) -> Result<Box<dyn Policy>, ConfirmError> {
        let settings = Settings::new(2, 2)?.algorithm(Algorithm::Thompson).noise(NOISE)?;
        Ok(settings.penalty(self.confidence.penalty.get())?.build()?)
    }

    /// The arm, and every arm's propensity: a fair coin, or a chooser that gives no arm less than the floor.
    fn choose(&self, thompson: &dyn Policy, seen: &Seen, context: Context<'_>, own: &mut Rng) -> (Arm, [f64; 2]) {
        // The chance of arm 1, before the floor.
        let (arm, chance) = match self.world.design {
            ArmDesign::Coin => return (Arm::new(own.below(2)), [0.5; 2]),
            ArmDesign::Thompson => {
                let drawn = thompson.decide(context, own).expect("the context fits");
                let chance = drawn.propensity.min(1.0);
                (drawn.arm, if drawn.arm.index() == 1 { chance } else { 1.0 - chance })
            }
            ArmDesign::Misleading => {
                let chance = if self.is_off(seen) { 0.0 } else { SELDOM };
                (Arm::new(usize::from(own.uniform() < chance)), chance)
            }
        };
        let floor = self.world.design.floor();
        let kept = 1.0 - 2.0 * floor;
        let arm = if own.uniform() < kept { arm } else { Arm::new(own.below(2)) };
        let second = floor + kept * chance;
        (arm, [1.0 - second, second])
    }

    /// Whether a planned interval would miss now.
    fn is_off(&self, seen: &Seen) -> bool {
        let set = self.confidence.set(&seen.statistics);
        let interval = set.functional_interval(&self.functional);
        let deviation = NOISE * (interval.upper - interval.estimate) / set.radius();
        let enough = seen.statistics.arm(1).count() >= MIN_CASES;
        enough && (interval.estimate - self.true_gain).abs() > self.planned_multiplier * deviation
    }

    fn look(&self, cases: u64, seen: &Seen, watches: &mut [Watch; 10]) -> Result<(), ConfirmError> {
        let confidence = |sets| Confidence { sets, ..self.confidence };
        let joint = confidence(Sets::Joint).set(&seen.statistics);
        let per_arm = confidence(Sets::PerArm).set(&seen.statistics);
        let sharp = confidence(Sets::Sharp).sharp(&seen.statistics);
        // Two arms: the gain is a difference in one direction.
        let direction = self.functional.arm(1);
        let log = CaseLog::new(self.shape, Contexts::new(&seen.contexts, 2)?, &seen.arms, &seen.rewards)?;
        let confirmation = Confirmation::new(log);
        let planned = self.planned.look(cases).ok();
        let sets = planned.and_then(|look| {
            let delta = self.confidence.error_probability;
            PlannedSets::new(confirmation.fit(), PlannedNoise::Normal, delta, look).ok()
        });
        let scored = cases.saturating_sub(self.proposing);
        for (method, watch) in GainMethod::ALL.into_iter().zip(watches.iter_mut()) {
            // What is refused, or not planned, is no interval.
            let interval = match method {
                GainMethod::Joint => Some(joint.functional_interval(&self.functional)),
                GainMethod::PerArm => Some(per_arm.functional_interval(&self.functional)),
                GainMethod::Sharp => Some(sharp.difference_interval(direction, 1, 0)),
                GainMethod::Planned => {
                    sets.and_then(|sets| sets.pair_interval(direction, 0, 1).ok()).map(|found| found.interval)
                }
                GainMethod::Confirmed => planned
                    .and_then(|look| confirmation.planned(&self.functional, self.budget, look).ok())
                    .map(|found| found.interval),
                GainMethod::Peeked => confirmation
                    .planned(&self.functional, self.budget, Look::only(cases))
                    .ok()
                    .map(|found| found.interval),
                GainMethod::AnytimeT => {
                    confirmation.anytime(&self.functional, self.budget, self.mixture).ok().map(|found| found.interval)
                }
                GainMethod::ScoreMean => self
                    .planned_scores
                    .look(scored)
                    .ok()
                    .and_then(|look| seen.scores.planned(look).ok())
                    .map(|found| found.interval),
                GainMethod::Asymptotic => seen.scores.asymptotic().ok().map(|found| found.interval),
                GainMethod::Bernstein => Some(seen.scores.empirical_bernstein().interval),
            };
            watch.look(cases, interval, self.true_gain);
        }
        if let Some(truth) = &self.truth {
            watches[0].look_at_set(joint.contains(truth));
            watches[1].look_at_set(per_arm.contains(truth));
            watches[2].look_at_set(sharp.contains(truth));
            if let Some(sets) = sets {
                let holds = |arm: usize| {
                    let fit = confirmation.fit().arm(arm).ok()?;
                    let off: Vec<f64> = truth.arm(arm).iter().zip(fit.estimate()).map(|(t, e)| t - e).collect();
                    Some(seen.norm_squared(arm, &off) <= sets.arm_radius_squared(arm).ok()?)
                };
                watches[3].look_at_set([0, 1].iter().all(|&arm| holds(arm).unwrap_or(true)));
            }
        }
        Ok(())
    }
}

/// What has been seen in a run.
struct Seen {
    statistics: Statistics,
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    scores: Scores,
    /// Predictions of the proposing part, once it is over.
    proposed: Option<Parameters>,
}

impl Seen {
    fn new(plan: &Plan) -> Self {
        let nothing = Parameters::zeros(plan.shape);
        Self {
            statistics: Statistics::new(plan.confidence.penalty.get(), &nothing).marked(),
            contexts: Vec::new(),
            arms: Vec::new(),
            rewards: Vec::new(),
            scores: Scores::new(plan.scores, plan.budget, plan.cases / 2),
            proposed: None,
        }
    }

    fn learn(
        &mut self,
        plan: &Plan,
        case: u64,
        context: Context<'_>,
        arm: Arm,
        reward: f64,
        propensities: [f64; 2],
    ) -> Result<(), ConfirmError> {
        self.statistics.observe(context, arm, reward)?;
        self.contexts.extend(context.values());
        self.arms.push(arm);
        self.rewards.push(reward);
        if case == plan.proposing {
            self.proposed = Some(self.statistics.estimates());
        } else if let Some(proposed) = &self.proposed {
            let x = context.values()[1];
            let predictions = [0, 1].map(|arm| proposed.arm(arm)[0] + proposed.arm(arm)[1] * x);
            let [before, after] = declared_change(x);
            let scored = ScoredCase {
                arm,
                reward,
                propensities: &propensities,
                predictions: &predictions,
                before: RuleChoice::Arm(before),
                after: RuleChoice::Arm(after),
            };
            self.scores.add(&scored).expect("propensities and outcomes are as declared");
        }
        Ok(())
    }

    /// `‖v‖²_{Σssᵀ}` of an arm.
    fn norm_squared(&self, arm: usize, v: &[f64]) -> f64 {
        let rows = self.contexts.chunks_exact(2).zip(&self.arms).filter(|(_, given)| given.index() == arm);
        rows.map(|(s, _)| (s[0] * v[0] + s[1] * v[1]).powi(2)).sum()
    }
}

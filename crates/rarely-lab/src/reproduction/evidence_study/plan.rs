//! One run of a world: what is declared beforehand, what is seen, and what each method says at a look.

use rarely_core::{
    Algorithm, Arm, CaseLog, Confidence, ConfirmError, Confirmation, Context, Contexts, ErrorBudget, ErrorProbability,
    Look, LookPlan, MIN_CASES, Mixture, Noise, NormBound, Parameters, Penalty, PlannedNoise, PlannedSets, Policy,
    Profile, Rng, RuleChoice, ScoreSettings, ScoredCase, Scores, Sets, Settings, Shape, Statistics, gain_functional,
    planned_multiplier,
};
use serde_json::json;

use super::methods::GainMethod;
use super::worlds::{ArmDesign, EvidenceWorld, declared_change, grid};
use super::{ERROR_PROBABILITY, FIRST, Watch};
use crate::environment::{Stream, stream, truncated_normal};
use crate::experiment::ExperimentError;
use crate::study::Study;

/// Standard deviation of the normal noise before it is cut off.
const NOISE: f64 = 0.4;
/// Standard deviations at which it is cut off: it is bounded then, and as sub-gaussian as the normal, whose density it has on an
/// interval.
const CUT: f64 = 3.0;
/// Outcomes are in this range: means are between 0.1 and 0.9.
const RANGE: (f64, f64) = (0.1 - CUT * NOISE, 0.9 + CUT * NOISE);
/// How often the misleading design tries arm 1 while its estimate is not off.
const SELDOM: f64 = 0.25;
/// Planned looks at eighths of the cases.
const PLANNED: [u64; 4] = [1, 2, 4, 8];
/// Growth of the cases between looks.
const GROWTH: f64 = 1.1;

/// What is declared before a run: the change, the looks, and what each method assumes.
pub(super) struct Plan {
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
    pub(super) looks: Vec<u64>,
    scores: ScoreSettings,
    /// Cases whose outcomes only make predictions for the scores.
    proposing: u64,
    /// The looks of the scores' plan, counted without the proposing part.
    planned_scores: LookPlan,
    cases: u64,
}

impl Plan {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn new(world: EvidenceWorld, cases: u64) -> Result<Self, ConfirmError> {
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
    pub(super) fn study(
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

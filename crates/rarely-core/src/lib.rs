//! Rarely-switching linear bandits: hold a policy until the data make some part of it implausible, then change it, with a
//! certificate of why.
//!
//! The model, with `k` arms and contexts `s ∈ R^d`:
//!
//! ```text
//! y = sᵀθᵃ + η          reward of arm a, η conditionally σ-sub-gaussian
//! π(s) = argmax_a sᵀθ̃ᵃ   the policy in force; ties go to the lowest arm
//! C = {θ : Σ_a ‖θᵃ − θ̂ᵃ‖²_{V_a} ≤ r²}   holds the true θ in all rounds with probability 1−δ
//! ```
//!
//! # Use
//!
//! ```
//! use rarely_core::{Context, Rng, Settings};
//!
//! let mut policy = Settings::new(2, 2)?.noise(0.1)?.build()?;
//! let mut rng = Rng::new(1, 0);
//! for _ in 0..1000 {
//!     let patient = [1.0, rng.uniform()];
//!     let context = Context::new(&patient)?;
//!     let decision = policy.decide(context, &mut rng)?;
//!     let treated = decision.arm.index() == 1;
//!     let outcome = if treated { patient[1] } else { 0.4 } + 0.1 * rng.normal();
//!     if let Some(evidence) = policy.observe(context, &decision, outcome)?.evidence() {
//!         println!("{evidence}");
//!     }
//! }
//! assert!(policy.changes() >= 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `context`, `arm`, `rule` | a validated context; arms, shapes, parameters; a linear policy |
//! | `ridge`, `statistics` | one arm's regression; all arms' sums |
//! | `confidence` | radius and confidence set: contains, nearest point, intervals |
//! | `plausible`, `population` | excluded and plausible arms at a context; a sample of people |
//! | `cone`, `gradient` | plausible boundaries and the exact conservative update; the paper's projected gradient |
//! | `marks`, `sharp`, `region` | sums remembered at a few rounds; sharp sets; whichever set is in use |
//! | `gain`, `planar` | the certificate of a change; thresholds and Theorem 3 |
//! | `least_squares`, `robust`, `quantile` | least squares of every arm; errors without equal variances; t, F and χ² |
//! | `planned`, `anytime`, `confirm` | planned looks; the multiplier that holds at any time; the gain of one declared change |
//! | `scores`, `sequence`, `majority` | gains without a model, from propensities; confidence sequences; rare outcomes |
//! | `evaluation` | what any policy is worth on a log with propensities: weights, estimators, intervals |
//! | `standard` | what an interval rests on |
//! | `track`, `population_bounds` | tracked distances; bounds that save passes over the population |
//! | `trigger`, `update`, `change` | when to act; what to change to; the effect of an outcome |
//! | `explore`, `randomisation`, `best_arm` | pilot, equipoise, the stuck diagnostic; posterior-weighted equipoise |
//! | `algorithm`, `number`, `settings`, `policy` | the table of algorithms; checked numbers; what a policy is built from; the trait and its five kinds |
//! | `interaction`, `outcome_queue` | one round of a policy in a world; outcomes that come late |
//! | `snapshot`, `error` | state as plain data; errors |
//!
//! Comments cite sections of docs/mathematics.md as "mathematics §n", and sources in REFERENCES.bib as `[key, place]`. NOTATION.md
//! lists the letters.
#![deny(missing_docs)]

mod algorithm;
mod anytime;
mod arm;
mod arm_set;
mod backlog;
mod best_arm;
mod block;
mod change;
mod cone;
mod confidence;
mod confirm;
#[cfg(feature = "conformance")]
pub mod conformance;
mod context;
mod decision;
mod error;
mod evaluation;
mod explore;
mod gain;
mod gradient;
mod interaction;
mod least_squares;
mod logistic;
mod marks;
mod noise_bound;
mod number;
mod outcome_ends;
mod outcome_queue;
mod planar;
mod planned;
mod plausible;
mod policy;
mod population;
mod population_bounds;
mod prediction_errors;
mod quantile;
mod randomisation;
mod region;
mod ridge;
mod rng;
mod robust;
mod rule;
mod scores;
mod sequence;
mod settings;
mod sharp;
mod snapshot;
mod standard;
mod statistics;
mod symmetric;
mod track;
mod trigger;
mod update;

pub use algorithm::{Algorithm, AlgorithmInfo};
pub use anytime::{Mixture, anytime_multiplier, planned_multiplier};
pub use arm::{Arm, Parameters, Shape};
pub use arm_set::ArmChange;
pub use change::{Cause, Change, Evidence};
pub use cone::{Boundary, Conservative};
pub use confidence::{Confidence, ConfidenceSet, Interval, Profile, Sets, UnknownNoise};
pub use confirm::{
    Concluded, Conclusion, Confirmation, MIN_CASES, MIN_CLUSTER_DEGREES, MIN_OF_A_CLASS, conclude, gain_functional,
};
pub use context::{Context, Contexts};
pub use decision::{Decision, Reason};
pub use error::{
    ArmsError, ConfirmError, ContextError, DecideError, EvaluateError, LookError, MAX_ARMS, MAX_CONTEXT_ENTRY,
    MAX_DIMENSION, MAX_INFORMATION_RATIO, MAX_PARAMETER, MAX_REWARD, MergeError, ObserveError, RestoreError,
    ScoreError, SettingsError,
};
pub use evaluation::{
    ArmWeights, CertainValue, Estimator, Folds, LogPropensities, MIN_EFFECTIVE_ROWS, MeanWeight, PolicyProbabilities,
    PropensityLog, RewardModel, ValueInterval, ValueTerms, WeightDiagnostics, WeightProblem, does_not_fit,
    effective_rows, interval_rests_on,
};
pub use explore::{Exploration, Stuck};
pub use gain::{BoundaryMove, Certificate, Gain, GainPart};
pub use gradient::{Solver, cosine, cosine_gradient};
pub use interaction::{Round, StepError, World, meet, step};
pub use least_squares::{ArmFit, ArmSums, CaseLog, LeastSquares};
pub use marks::planned_mark;
pub use number::{Deviations, ErrorProbability, Growth, MinimumGain, Noise, NormBound, Penalty, Share};
pub use outcome_ends::OutcomeEnds;
pub use outcome_queue::{Delay, OutcomeQueue, WaitingOutcomes};
pub use planar::{Above, TheoremThree, Thresholds};
pub use planned::{Look, LookPlan, PlannedNoise, PlannedSets};
pub use policy::{Baseline, Learner, Policy};
pub use population::{Population, RECENT_CONTEXTS};
pub use quantile::f_upper;
pub use randomisation::Renewal;
pub use region::Region;
pub use ridge::{Ridge, Step};
pub use rng::Rng;
pub use robust::{ArmScores, ClusterError, ErrorSums, StreamedErrors};
pub use rule::Rule;
pub use scores::{RuleChoice, ScoreSettings, ScoredCase, Scores, doubly_robust_term};
pub use sequence::{AsymptoticSequence, EmpiricalBernstein, RunningMean};
pub use settings::{Certificates, Settings, Tuning};
pub use sharp::{MarkView, SharpSet};
pub use snapshot::{SNAPSHOT_FORMAT, Snapshot};
pub use standard::{Confirmed, ErrorBudget, Method, Standard, Timing};
pub use statistics::{Digest, Forgetting, MAX_WEIGHT, Statistics};

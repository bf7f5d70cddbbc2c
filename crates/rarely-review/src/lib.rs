//! Reviews a policy on the statistics of a log: keep its rule or change it, to what, on what evidence.
//!
//! ```
//! use rarely_core::{Arm, Rng};
//! use rarely_policy::PolicyDocument;
//! use rarely_review::{EvidenceBase, Findings, Tally, Verdict, review};
//!
//! let text = r#"
//! policy = "screening"
//! options = ["wait", "invite"]
//! outcome = { column = "benefit", range = [0.0, 2.0] }
//! [[features]]
//! column = "age"
//! range = [40, 90]
//! [evidence]
//! noise = 0.1
//! [rule]
//! threshold = { feature = "age", cuts = [80], options = ["wait", "invite"] }
//! "#;
//! let document = PolicyDocument::parse(text, "screening.toml")?;
//! let (mut tally, mut rng) = (Tally::new(&document), Rng::new(1, 0));
//! for row in 0..5000 {
//!     // Waiting gives ½; inviting gives 1 more over the range of age: they are equal in the middle.
//!     let (x, arm) = (rng.uniform(), rng.below(2));
//!     tally.add(row, &[1.0, x], Arm::new(arm), [0.5, x][arm] + 0.1 * rng.normal());
//! }
//! let found = review(&EvidenceBase::of(&document, &tally, None)?, &tally)?;
//! assert_eq!(found.judgement.verdict, Verdict::Change);
//! let findings = Findings::new(&document, &found);
//! assert_eq!(findings.verdict.sentence, "Change the rule, because a change gains at least 0.0426 benefit per case: invite from 65, was 80.");
//! assert!(findings.proposal.expect("a change").certificate.gain.lower > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `moments`, `stretch_sums`, `bands`, `band_outcomes`, `people_sample`, `jump` | what a log is streamed into: sums that add |
//! | `tally`, `tally_row`, `row_set` | all of them together; a saved state; a row, and the identity of all rows |
//! | `time_marks` | sums at a few rounds of a log in time order, where sharp sets start afresh |
//! | `sql` | the same sums, computed by the engine that has the log |
//! | `running_variable`, `most_plausible` | the score along which a rule passes from option to option; the parameters under which it is most plausible |
//! | `propensities`, `second_reading`, `propensity_reading`, `model_free` | checks of logged propensities; robust errors, values of rules and model-free gains from a second reading |
//! | `candidates` | the rules that are tried as a change, within the document's limits, with the fewest digits |
//! | `log_rate` | how fast a log grows |
//! | `evidence_base` | assumptions, statistics, candidates and people |
//! | `normal_equations`, `least_squares`, `planned_radius` | regressions from sums; nearest parameters; sets at planned looks |
//! | `design_effect` | how much less rows of clusters, or with weights, say than independent ones |
//! | `side_regression`, `column_levels`, `fairness` | the candidates in other outcomes that must not get worse, and for people by columns that are no features |
//! | `candidate_gain`, `trend`, `demotion` | what a candidate gains, and on what evidence; what takes the certainty from it |
//! | `impact`, `support` | who gets another option; where options were not tried |
//! | `proposed_change`, `verdict`, `judgement` | keep the rule or change it, and to what |
//! | `next_to_cut` | the jump at a cut from the rows next to it: robust interval, worst case, density |
//! | `curvature`, `checks` | whether straight lines are good enough |
//! | `exploration_forecast` | how many cases would settle an open question, by simulation |
//! | `review` | the judgement with checks and gaps, in numbers |
//! | `group_tallies`, `group_review`, `holm`, `pooling` | many groups at once, which share the error probability; what they have in common |
//! | [`findings`] | what the numbers say, in sentences and as JSON |
//! | `replay`, `off_policy` | a log replayed in time order; off-policy values |
//!
//! Absent on purpose: nothing is read or written here, and no row is kept except the features of a sample and, during one pass
//! over a log, the rows next to the cuts.
#![deny(missing_docs)]

mod band_outcomes;
mod bands;
mod bottom_k;
mod candidate_gain;
mod candidates;
mod checks;
mod column_levels;
mod curvature;
mod demotion;
mod design_effect;
mod error;
mod evidence_base;
mod exploration_forecast;
mod fairness;
pub mod findings;
mod fixed_point;
mod group_review;
mod group_tallies;
mod holm;
mod impact;
mod judgement;
mod jump;
mod least_squares;
mod log_rate;
mod missing_rows;
mod model_free;
mod moments;
mod most_plausible;
mod next_to_cut;
mod normal_equations;
mod off_policy;
mod people_sample;
mod planned_radius;
mod pooling;
mod propensities;
mod propensity_reading;
mod proposed_change;
mod replay;
mod review;
mod row_block;
mod row_set;
mod running_variable;
mod second_reading;
mod side_regression;
mod sql;
mod stretch_sums;
mod support;
mod tally;
mod tally_error;
mod tally_row;
mod time_marks;
mod trend;
mod verdict;

pub use bands::{Band, Bands, Members};
pub use candidate_gain::{JudgedCandidate, JudgedGuardrail};
pub use candidates::{Candidate, CandidateKind};
pub use checks::{Check, CurvatureCheck, CurvatureWarning, JumpCheck, JumpWarning, NoiseCheck};
pub use curvature::{Curvature, NoCurvature, Term};
pub use demotion::Demotion;
pub use design_effect::DesignEffect;
pub use error::{OnlyReviewed, ReviewError};
pub use evidence_base::{EvidenceBase, ObservedBand};
pub use exploration_forecast::ExplorationForecast;
pub use fairness::LevelImpact;
pub use findings::{Findings, GroupsFinding, GroupsJson, ReviewJson};
pub use fixed_point::RewardGrid;
pub use group_review::{GroupEvidence, GroupReading, GroupReview, ReviewedGroup};
pub use group_tallies::{GroupTallies, MOST_GROUPS, UnusedRows};
pub use holm::{HolmStep, holm};
pub use impact::{BandImpact, Impact};
pub use judgement::{Judgement, PairBoundary, Standing, VerdictReason, examine};
pub use jump::{Bandwidth, Cut, Jump, Jumps, JumpsError, JumpsMismatch, Kernel, NoJump, Side};
pub use log_rate::{LogRate, LogTimes};
pub use missing_rows::{DroppedOutcomes, MissingRows};
pub use model_free::ModelFreeGain;
pub use moments::{Moments, MomentsMismatch};
pub use most_plausible::most_plausible;
pub use next_to_cut::{
    Bandwidths, CurvatureBound, CutRows, DensityTest, FromRows, NearCut, NoDensityTest, ROWS_KEPT, RobustJump,
    critical_value, density_test, robust_jump, robust_jump_within,
};
pub use off_policy::{NotWeightable, OffPolicyValue, WeightedValue};
pub use people_sample::{PeopleSample, SAMPLE_SIZE};
pub use pooling::{Pooled, pool};
pub use propensities::{PROPENSITY_BINS, PropensityBins, PropensityCheck, PropensityWarning};
pub use propensity_reading::reward_range;
pub use proposed_change::{CertifiedBy, ProposedChange};
pub use replay::{Replay, ReplayResult, ReplayedChange};
pub use review::{Gaps, Review, RuleValues, complete, review};
pub use running_variable::RunningVariable;
pub use second_reading::SecondReading;
pub use sql::{Dialect, LogTable, RESULT_COLUMNS, RejectedRows, SummedLog, SumsError, SumsRow};
pub use support::ThinSupport;
pub use tally::{TALLY_FORMAT, Tally};
pub use tally_error::TallyError;
pub use tally_row::{RowPlace, TallyRow};
pub use trend::WithinTime;
pub use verdict::Verdict;

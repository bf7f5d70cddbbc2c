//! Holds a policy against what a log says: keep it or change it, to what, on what evidence.
//!
//! ```
//! use rarely_core::{Arm, Rng};
//! use rarely_policy::PolicyDocument;
//! use rarely_review::{Ground, Tally, Verdict, review};
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
//! let found = review(&Ground::of(&document, &tally, None)?, &tally)?;
//! assert_eq!(found.verdict, Verdict::Change);
//! let proposal = found.proposal.expect("a rule to change to");
//! assert_eq!(proposal.rule.words(&document)[1], "invite from 66");
//! assert!(proposal.certificate.gain.interval.lower > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `moments`, `bands`, `sample`, `jump` | what a log is streamed into: sums that add |
//! | `tally` | all of them together; a saved state |
//! | `running`, `stance` | the score along which a rule passes from option to option; the parameters under which it is most plausible |
//! | `ground` | assumptions, statistics and people; the tests of a rule |
//! | `least_squares`, `own_form`, `simplest` | a proposal in the owner's form, with the fewest digits |
//! | `who`, `support` | who changes; where options were not tried |
//! | `curvature`, `checks` | is the straight line good enough? |
//! | `remedy` | what would settle an open question, by simulation |
//! | `review` | the verdict |
//! | `answer`, [`words`] | it as plain data, and in sentences |
//! | `replay`, `worth` | a log walked in time order; off-policy values |
//!
//! Absent on purpose: nothing is read or written here, and no row is kept but the features of a sample.
#![deny(missing_docs)]

mod answer;
mod bands;
mod checks;
mod curvature;
mod error;
mod ground;
mod jump;
mod least_squares;
mod moments;
mod own_form;
mod remedy;
mod replay;
mod review;
mod running;
mod sample;
mod simplest;
mod stance;
mod support;
mod tally;
mod who;
pub mod words;
mod worth;

pub use answer::Answer;
pub use bands::{Band, Bands, Members};
pub use checks::Check;
pub use curvature::{Curvature, NoCurvature, Term};
pub use error::ReviewError;
pub use ground::Ground;
pub use jump::{Bandwidth, Cut, Jump, Jumps, JumpsError, JumpsMismatch, Kernel, NoJump, Side};
pub use moments::{Moments, MomentsMismatch};
pub use remedy::Remedy;
pub use replay::{Replay, Turn, Walk};
pub use review::{Examined, Gaps, PairBoundary, Proposal, Review, Standing, Verdict, complete, examine, review};
pub use running::Running;
pub use sample::{SAMPLE_SIZE, Sample};
pub use simplest::simplest;
pub use stance::stance;
pub use support::Thin;
pub use tally::{TALLY_FORMAT, Tally, TallyError};
pub use who::{BandChange, Who};
pub use worth::Value;

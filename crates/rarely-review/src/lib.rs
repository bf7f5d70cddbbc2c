//! Holds a policy against what a log says: keep it or change it, to what, on what evidence.
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
pub use review::{Gaps, PairBoundary, Proposal, Review, Standing, Verdict, review};
pub use running::Running;
pub use sample::{SAMPLE_SIZE, Sample};
pub use simplest::simplest;
pub use stance::stance;
pub use support::Thin;
pub use tally::{TALLY_FORMAT, Tally, TallyError};
pub use who::{BandChange, Who};
pub use worth::Value;

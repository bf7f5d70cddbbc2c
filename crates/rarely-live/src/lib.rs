//! A live policy as a fold over its events: decisions, outcomes, reviews, proposals, signatures, versions.
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `event`, `record` | what can happen, and what is kept of a person |
//! | `learned`, `waiting`, `reviews`, `history` | what a policy's events add up to: sums, counts, how the rule stood, versions |
//! | `live`, `plan`, `objection` | one policy: takes in events; what may be done, and why not |
//! | `decider` | the rule in force, ready to decide |
//! | `token` | who may do what |
//! | `world`, [`replay`], `mark` | all policies: the fold over the whole log; how events are found in it |
//! | [`audit`] | the log checked from the first event to the last |
//! | [`engine`] | live policies over a store: asks in, answers out, each on disk before it is given |
//!
//! Absent on purpose: nothing here knows HTTP or draws; time comes from a clock that is passed in.
#![deny(missing_docs)]

pub mod audit;
mod decider;
pub mod engine;
pub mod event;
mod history;
mod learned;
mod live;
mod mark;
mod objection;
mod plan;
mod point;
mod record;
pub mod replay;
mod reviews;
mod token;
mod waiting;
mod world;

pub use decider::Decider;
pub use engine::Engine;
pub use event::Event;
pub use history::{Origin, Proposal, Signer, Status, Version};
pub use learned::Learned;
pub use live::{About, Birth, Counts, ENGINE, Live, Stamp, State};
pub use objection::Objection;
pub use record::{Field, Reader, RecordError};
pub use reviews::{Reviews, Timed};
pub use token::{Denied, Grant, Kept, Role, Tokens};
pub use waiting::Waiting;
pub use world::{Frozen, Shared, WORLD_FORMAT, World};

//! Live policies: the state that follows from their events, and the engine that runs them over a store.
//!
//! Everything in memory is a fold over the event log: decisions, outcomes, reviews, proposals, signatures, versions. The same
//! code applies an event when it happens, at a restart and in an audit.
//!
//! # Modules, in reading order
//!
//! | module | content |
//! |---|---|
//! | [`event`], `record` | the events, and the record of one case |
//! | `learned`, `late_outcomes`, `unanswered`, `review_history`, `versions` | the parts of a policy's state |
//! | `live_policy`, `plan`, `objection` | one policy: applies events; which acts are allowed, and why not |
//! | `document_edition`, `amendment` | a policy's document, as registered or amended; what an amendment does |
//! | `decider` | the rule in force, ready to decide |
//! | `person`, `token` | who people are; access tokens and roles |
//! | `signed_statement`, `person_key`, `passkey` | what people sign; their keys; passkeys |
//! | `engine_state`, [`replay`], `lookup_key` | all policies; replaying a log; looking up events |
//! | [`audit`] | checks a log from the first event to the last |
//! | [`engine`] | runs live policies over a store: requests in, responses out, each on disk before it is sent |
//!
//! Absent on purpose: nothing here knows HTTP or draws pictures, and time comes from a clock that is passed in.
//!
//! `examples/embed_engine.rs` shows how a program embeds the engine.
#![deny(missing_docs)]

mod amendment;
pub mod audit;
mod decider;
mod document_edition;
pub mod engine;
mod engine_state;
pub mod event;
mod lagged_replay;
mod late_outcomes;
mod learned;
mod live_policy;
mod lookup_key;
mod objection;
mod passkey;
mod person;
mod person_key;
mod plan;
mod record;
pub mod replay;
mod review_history;
mod review_point;
mod signed_statement;
mod token;
mod unanswered;
mod versions;

pub use amendment::{AmendmentEffect, AmendmentRecord};
pub use decider::Decider;
pub use document_edition::DocumentEdition;
pub use engine::Engine;
pub use engine_state::{ENGINE_STATE_FORMAT, EngineSnapshot, EngineState, SharedPolicy};
pub use event::Event;
pub use late_outcomes::{HeldOutcome, LateOutcomes};
pub use learned::{Learned, LearnedSums};
pub use live_policy::{
    Counts, DecisionRef, ENGINE_ACTOR, EventHeader, HistoryRecord, LivePolicy, PolicyState, RegistrationRecord,
    ShadowRecord,
};
pub use objection::Objection;
pub use passkey::{
    Passkey, PasskeyEnrolment, PasskeyError, PasskeyPublicKey, PasskeySignature, PublicUrlError, RelyingParty,
};
pub use person::{PersonError, clean as clean_person_text, look_alike, person_of};
pub use person_key::{KeySignature, NoteSignature, PasskeyUse, PersonKeyRecord, PersonKeys, PersonPublicKey};
pub use record::{RecordError, RecordField, RecordReader};
pub use review_history::{ReviewHistory, TimedReviewPoint};
pub use signed_statement::{SignedAct, SignedStatement, SigningState};
pub use token::{Role, RoleError, TokenError, TokenGrant, TokenRecord, Tokens};
pub use unanswered::Unanswered;
pub use versions::{ProposalRecord, ProposalStatus, Signer, Version, VersionOrigin};

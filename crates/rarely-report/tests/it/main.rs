//! What a review looks like.

mod pictures;
mod text;

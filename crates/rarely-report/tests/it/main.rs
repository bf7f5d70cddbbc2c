//! What a review looks like.

mod pictures;
mod shown_data;
mod text;

//! Limits of the service, and the checks of names, keys and texts.

use axum::http::StatusCode;
use rarely_error::{Explain, Remedy};
use rarely_live::{ENGINE_ACTOR, look_alike};

use crate::problem::ProblemDetails;

/// Bytes of a request body.
pub(crate) const BODY_BYTES: usize = 4 << 20;
/// Bytes of a policy document.
pub(crate) const DOCUMENT_BYTES: usize = 1 << 20;
/// Lines of a batch.
pub(crate) const BATCH_LINES: usize = 10_000;
/// Characters of a name.
pub(crate) const NAME_CHARACTERS: usize = 128;
/// Bytes of an idempotency key.
pub(crate) const KEY_BYTES: usize = 256;
/// Characters of the meaning or the reason of a signature.
pub(crate) const TEXT_CHARACTERS: usize = 4000;
/// Requests in flight.
pub(crate) const IN_FLIGHT: usize = 1024;
/// Open event streams.
pub(crate) const STREAMS: usize = 256;
/// Concurrent reviews with simulations, for readers.
pub(crate) const SIMULATIONS: usize = 2;
/// Seconds within which the body of a request must arrive.
pub(crate) const BODY_SECONDS: u64 = 30;
/// Seconds within which the head of a request must arrive.
pub(crate) const HEAD_SECONDS: u64 = 10;
/// Seconds after which a connection is closed on which nothing moves.
pub(crate) const IDLE_SECONDS: u64 = 120;
/// Open connections, if the system allows that many files.
pub(crate) const CONNECTIONS: usize = 16_384;
/// Files that are not left to connections: the store and its readers.
pub(crate) const RESERVED_FILES: usize = 256;
/// Kibibytes that the bodies of all requests may occupy; small ones do not count.
pub(crate) const BODIES_KIB: u32 = 64 << 10;
/// A body of at most so many bytes is small.
pub(crate) const SMALL_BODY_BYTES: usize = 64 << 10;
/// Batches processed at the same time; others wait their turn.
pub(crate) const BATCHES: usize = 4;

/// Actors of events that no token caused.
const RESERVED: [&str; 2] = [ENGINE_ACTOR, "console"];

/// Why a name cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has no visible character.
    #[error("the name is empty")]
    Empty,
    /// It has too many characters.
    #[error("the name has {characters} characters, but at most {NAME_CHARACTERS} are allowed")]
    TooLong {
        /// How many it has.
        characters: usize,
    },
    /// It contains a control character or a slash.
    #[error("the name {0:?} contains a control character or a slash")]
    Forbidden(String),
    /// It is `.` or `..`, which a URL resolves.
    #[error("the name {0:?} cannot be part of a URL")]
    Dots(String),
    /// The service itself acts under this name.
    #[error("the name {0:?} is reserved for the service")]
    Reserved(String),
}

impl Explain for NameError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Reserved(_) => Remedy::new("use the name of a person or a program"),
            _ => Remedy::new(format!("use 1 to {NAME_CHARACTERS} letters, digits, spaces and dashes")),
        })
    }
}

/// Checks a name that is part of URLs.
///
/// # Errors
/// [`NameError`] says why it cannot be used.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let characters = name.chars().count();
    if name.trim().is_empty() {
        Err(NameError::Empty)
    } else if characters > NAME_CHARACTERS {
        Err(NameError::TooLong { characters })
    } else if name.chars().any(|character| character.is_control() || character == '/') {
        Err(NameError::Forbidden(name.to_owned()))
    } else if name == "." || name == ".." {
        Err(NameError::Dots(name.to_owned()))
    } else {
        Ok(())
    }
}

/// Checks the name of the owner of a token.
///
/// # Errors
/// [`NameError`] says why it cannot be used.
pub fn check_owner(name: &str) -> Result<(), NameError> {
    if RESERVED.iter().any(|reserved| look_alike(reserved, name)) {
        return Err(NameError::Reserved(name.to_owned()));
    }
    check_name(name)
}

/// Checks the id of a person, if one is given.
///
/// # Errors
/// [`NameError`] says why it cannot be used.
pub fn check_person(id: Option<&str>) -> Result<(), NameError> {
    match id.map(|id| id.chars().count()) {
        Some(characters) if characters > NAME_CHARACTERS => Err(NameError::TooLong { characters }),
        _ => Ok(()),
    }
}

/// Checks an idempotency key.
pub(crate) fn check_key(key: Option<&str>) -> Result<(), ProblemDetails> {
    let Some(key) = key else { return Ok(()) };
    if key.is_empty() || key.len() > KEY_BYTES {
        return Err(ProblemDetails::wrong(
            "key",
            format!("the key has {} bytes", key.len()),
            format!("use 1 to {KEY_BYTES} bytes, or leave the key out"),
        ));
    }
    Ok(())
}

/// Checks a text that the log keeps.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), ProblemDetails> {
    let count = text.chars().count();
    if count > TEXT_CHARACTERS {
        let remedy = format!("use at most {TEXT_CHARACTERS} characters");
        return Err(ProblemDetails::wrong(field, format!("the {field} has {count} characters"), remedy));
    }
    Ok(())
}

/// Checks the size of a policy document that a form has sent.
pub(crate) fn check_document_size(text: &str) -> Result<(), ProblemDetails> {
    if text.len() > DOCUMENT_BYTES {
        let detail = format!("the document has {} bytes, but at most {DOCUMENT_BYTES} are allowed", text.len());
        return Err(ProblemDetails::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    Ok(())
}

//! How much is taken.

use axum::http::StatusCode;
use rarely_live::ENGINE_ACTOR;

use crate::problem::Problem;

/// Bytes of a body.
pub(crate) const BODY_BYTES: usize = 4 << 20;
/// Bytes of a policy document.
pub(crate) const DOCUMENT_BYTES: usize = 1 << 20;
/// Lines of a batch.
pub(crate) const BATCH_LINES: usize = 10_000;
/// Characters of a name.
pub(crate) const NAME_CHARACTERS: usize = 128;
/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 256;
/// Characters of what somebody signs.
pub(crate) const TEXT_CHARACTERS: usize = 4000;
/// Requests that are worked on at a time.
pub(crate) const IN_FLIGHT: usize = 1024;
/// Streams of events that are followed at a time.
pub(crate) const STREAMS: usize = 256;
/// Reviews with their simulations that are worked out at a time for readers.
pub(crate) const SIMULATIONS: usize = 2;
/// Seconds in which a body must have come.
pub(crate) const BODY_SECONDS: u64 = 30;
/// Seconds in which the head of a request must have come.
pub(crate) const HEAD_SECONDS: u64 = 10;

/// Who acts where nobody with a token does.
const RESERVED: [&str; 2] = [ENGINE_ACTOR, "console"];

/// Checks a name that stands in addresses.
///
/// # Errors
/// What is wrong with it, and what to do.
pub fn check_name(name: &str) -> Result<(), String> {
    let problem = if name.trim().is_empty() {
        "is empty"
    } else if name.chars().count() > NAME_CHARACTERS {
        "has more than 128 characters"
    } else if name.chars().any(|character| character.is_control() || character == '/') {
        "has a control character or a slash"
    } else if name == "." || name == ".." {
        "means a folder in addresses"
    } else {
        return Ok(());
    };
    let shown: String = name.chars().take(40).collect();
    Err(format!("the name {shown:?} {problem}; use at most {NAME_CHARACTERS} letters, digits, blanks and dashes"))
}

/// Checks the name of somebody who gets a token.
///
/// # Errors
/// What is wrong with it, and what to do.
pub fn check_person(name: &str) -> Result<(), String> {
    if RESERVED.contains(&name) {
        return Err(format!("the name {name:?} is the service's own; use the name of a person or a program"));
    }
    check_name(name)
}

/// Checks the caller's name for a request.
pub(crate) fn check_key(key: Option<&str>) -> Result<(), Problem> {
    let Some(key) = key else { return Ok(()) };
    if key.is_empty() || key.len() > KEY_BYTES {
        return Err(wrong(
            "key",
            format!("the key has {} bytes", key.len()),
            format!("use 1 to {KEY_BYTES} bytes, or leave it out"),
        ));
    }
    Ok(())
}

/// Checks a text that is kept for good.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), Problem> {
    let count = text.chars().count();
    if count > TEXT_CHARACTERS {
        let remedy = format!("say it in at most {TEXT_CHARACTERS} characters");
        return Err(wrong(field, format!("{field} has {count} characters"), remedy));
    }
    Ok(())
}

/// A field that is wrong.
pub(crate) fn wrong(field: impl Into<String>, detail: impl Into<String>, remedy: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail).field(field).remedy(remedy)
}

/// A field that is wrong, where the remedy stands behind a semicolon, as our messages have it.
pub(crate) fn wrong_in_words(field: impl Into<String>, message: &str) -> Problem {
    match message.split_once("; ") {
        Some((detail, remedy)) => wrong(field, detail, remedy),
        None => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message).field(field),
    }
}

//! Who people are: an id that signatures are counted by, and a name that people read.

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};
use rarely_error::{Explain, Remedy, Topic};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

use crate::person_key::PersonKeys;
use crate::token::Tokens;

/// Looks blank, although Unicode counts it among the symbols.
const BRAILLE_BLANK: char = '\u{2800}';

/// Why a person's name or id cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PersonError {
    /// It has no visible character.
    #[error("the {what} is empty")]
    Empty {
        /// `name` or `person`.
        what: &'static str,
    },
    /// It has a character that nobody sees.
    #[error("the {what} {text:?} has the character U+{:04X}, which cannot be seen", u32::from(*character))]
    Invisible {
        /// `name` or `person`.
        what: &'static str,
        /// The text.
        text: String,
        /// The first such character.
        character: char,
    },
    /// It looks like that of somebody else.
    #[error("the {what} {text:?} looks like that of another person: {name:?}, with the id {person:?}")]
    LooksLike {
        /// `name` or `person`.
        what: &'static str,
        /// The text.
        text: String,
        /// The other person's name.
        name: String,
        /// The other person's id.
        person: String,
    },
}

impl PersonError {
    /// What is wrong: `name` or `person`.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Empty { what } | Self::Invisible { what, .. } | Self::LooksLike { what, .. } => what,
        }
    }
}

impl Explain for PersonError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Empty { .. } => Remedy::new("use the name of a person or a program"),
            Self::Invisible { .. } => Remedy::new("type it again by hand, without copying it"),
            Self::LooksLike { person, .. } => Remedy::new(format!(
                "if it is the same person, give the id {person:?} as the person; otherwise choose a name that nobody can mistake for \
                 the other"
            ))
            .see(Topic::People),
        })
    }
}

/// A name or an id as it is stored: composed (NFC), trimmed, with single spaces. `what` is `name` or `person`.
///
/// # Errors
/// [`PersonError`] if nothing is left, or if it has a character that nobody sees.
pub fn clean(what: &'static str, text: &str) -> Result<String, PersonError> {
    let clean = composed(text);
    if clean.is_empty() {
        return Err(PersonError::Empty { what });
    }
    if let Some(character) = clean.chars().find(|&character| is_invisible(character)) {
        return Err(PersonError::Invisible { what, text: clean, character });
    }
    Ok(clean)
}

/// The id of a person for whom none was given: the name without differences of case and space.
pub fn person_of(name: &str) -> String {
    composed(&case_folded(&composed(name)))
}

/// Whether two texts can be mistaken for each other: by case, or by characters that look alike (Unicode Technical Standard 39).
pub fn look_alike(one: &str, other: &str) -> bool {
    let (one, other) = (shapes(one), shapes(other));
    one.iter().any(|shape| other.contains(shape))
}

/// Checks that nobody else has a name or an id that can be mistaken for these.
pub(crate) fn check_distinct(tokens: &Tokens, keys: &PersonKeys, person: &str, name: &str) -> Result<(), PersonError> {
    let of_tokens = tokens.iter().map(|record| (record.grant.person_id(), record.grant.name.as_str()));
    let of_keys = keys.iter().map(|record| (record.person_id(), record.person.as_str()));
    let others: Vec<(String, &str)> = of_tokens.chain(of_keys).filter(|(known, _)| known != person).collect();
    let by_name = others.iter().find(|(_, known_name)| look_alike(name, known_name)).map(|other| ("name", name, other));
    let by_id = || others.iter().find(|(known, _)| look_alike(person, known)).map(|other| ("person", person, other));
    match by_name.or_else(by_id) {
        None => Ok(()),
        Some((what, text, (person, name))) => {
            let (text, name, person) = (text.to_owned(), (*name).to_owned(), person.clone());
            Err(PersonError::LooksLike { what, text, name, person })
        }
    }
}

fn composed(text: &str) -> String {
    let text: String = text.nfc().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Upper case first, so that ß and ss are the same.
fn case_folded(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// What a text looks like. Case is folded before and after: I looks like l, and is the capital of i.
fn shapes(text: &str) -> [String; 2] {
    let text = composed(text);
    let shape: String = skeleton(&case_folded(&text)).collect();
    let folded: String = skeleton(&text).collect();
    [shape, case_folded(&folded)]
}

fn is_invisible(character: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    let blank = CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character) || character == BRAILLE_BLANK;
    let separator = GeneralCategoryGroup::Separator.contains(category) && character != ' ';
    blank || separator || GeneralCategoryGroup::Other.contains(category)
}

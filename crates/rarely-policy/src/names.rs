//! Names in messages, and suggestions for misspelt ones.

/// The most characters of a wrong field that a message repeats.
const SHOWN_CHARACTERS: usize = 40;
/// The most names that a message lists.
const LISTED: usize = 12;
/// Names that share this many characters at the start are alike.
const LONG_START: usize = 5;

/// Text for a message: quoted, with control characters escaped, and shortened.
pub(crate) fn shown(text: &str) -> String {
    if text.chars().count() <= SHOWN_CHARACTERS {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
    format!("{start:?}…")
}

/// The known name that is most similar, if any is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.trim().to_lowercase();
    let allowed = (name.chars().count() / 3).max(1);
    // "explore" for "exploration".
    let shares_start = |candidate: &str| {
        let common = name.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
        common >= LONG_START
    };
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name, &candidate.trim().to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed || shares_start(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The remedy for an unknown name: the most similar one, and the list.
pub(crate) fn did_you_mean<'a>(name: &str, what: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(meant) => format!("did you mean {}? {what} {}", shown(meant), list(known)),
        None => format!("{what} {}", list(known)),
    }
}

/// Names, joined by commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let text = names.by_ref().take(LISTED).map(shown).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// "1 option", "2 options".
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

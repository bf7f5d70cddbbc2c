//! Which columns are probably the option and the outcome.

use super::{ColumnSketch, ColumnValues};

/// Most options that a column may have to be guessed as the option column.
const MOST_OPTIONS: usize = 20;
const OPTION_NAMES: [&str; 13] = [
    "option",
    "treatment",
    "arm",
    "action",
    "choice",
    "variant",
    "assigned",
    "assignment",
    "decision",
    "given",
    "treat",
    "offer",
    "group",
];
const OUTCOME_NAMES: [&str; 18] = [
    "outcome",
    "reward",
    "result",
    "response",
    "y",
    "target",
    "wellbeing",
    "benefit",
    "success",
    "converted",
    "conversion",
    "revenue",
    "profit",
    "recovered",
    "survival",
    "utility",
    "score",
    "cost",
];
const BAD_NAMES: [&str; 12] = [
    "cost",
    "pain",
    "mortality",
    "death",
    "died",
    "error",
    "loss",
    "readmission",
    "readmitted",
    "complaint",
    "churn",
    "delay",
];

/// The columns that probably hold the option and the outcome: by name, or else the only column with few words and the last column
/// of numbers.
pub fn guess_roles(columns: &[ColumnSketch]) -> (Option<&str>, Option<&str>) {
    let options = || columns.iter().filter(|column| may_be_option(&column.kind));
    let option = by_name(&options(), &OPTION_NAMES).or_else(|| {
        let mut words = options().filter(|column| matches!(column.kind, ColumnValues::Words(_)));
        words.next().filter(|_| words.next().is_none())
    });
    let numbers = || {
        let others = columns.iter().filter(move |column| option.is_none_or(|option| option.name != column.name));
        others.filter(|column| matches!(column.kind, ColumnValues::Numbers { .. }))
    };
    let outcome = by_name(&numbers(), &OUTCOME_NAMES).or_else(|| numbers().next_back());
    (option.map(|column| column.name.as_str()), outcome.map(|column| column.name.as_str()))
}

/// Whether a column's name says that less of it is better.
pub(super) fn sounds_bad(name: &str) -> bool {
    words(name).any(|word| BAD_NAMES.contains(&word.trim_end_matches('s')) || BAD_NAMES.contains(&word.as_str()))
}

fn may_be_option(kind: &ColumnValues) -> bool {
    match kind {
        ColumnValues::Words(words) => (2..=MOST_OPTIONS).contains(&words.len()),
        ColumnValues::Numbers { low, high } => {
            low.fract() == 0.0 && high.fract() == 0.0 && low < high && high - low < MOST_OPTIONS as f64
        }
    }
}

/// The column whose name is the earliest in the list; a name that is only a part of the column's counts less.
fn by_name<'a>(columns: &(impl Iterator<Item = &'a ColumnSketch> + Clone), names: &[&str]) -> Option<&'a ColumnSketch> {
    let whole = |name: &str| columns.clone().find(|column| column.name.trim().to_lowercase() == name);
    let part = |name: &str| columns.clone().find(|column| words(&column.name).any(|word| word == name));
    names.iter().find_map(|name| whole(name)).or_else(|| names.iter().find_map(|name| part(name)))
}

/// The words of a column's name.
fn words(name: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> =
        name.to_lowercase().split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect();
    words.into_iter()
}

//! Which columns are probably the option, the outcome and the propensities.

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
const PROPENSITY_NAMES: [&str; 8] =
    ["propensity", "propensities", "pscore", "p_score", "prob", "probability", "probabilities", "p"];
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
        others.filter(|column| matches!(column.kind, ColumnValues::Numbers { .. }) && !is_propensity(column))
    };
    let outcome = by_name(&numbers(), &OUTCOME_NAMES).or_else(|| numbers().next_back());
    (option.map(|column| column.name.as_str()), outcome.map(|column| column.name.as_str()))
}

/// The columns that probably hold propensities.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PropensityColumns<'a> {
    /// The probability of the option that was given.
    Given(&'a str),
    /// The probability of every option, in their order.
    OfOptions(Vec<&'a str>),
}

/// The columns that probably hold propensities, by name and range: one for every option, or else the first.
pub(super) fn guess_propensities<'a>(
    columns: &'a [ColumnSketch],
    options: &[String],
    taken: [&str; 2],
) -> Option<PropensityColumns<'a>> {
    let free = || columns.iter().filter(|column| !taken.contains(&column.name.as_str()) && is_propensity(column));
    let of_option = |option: &String| {
        let option: Vec<String> = words(option).collect();
        let mut named = free().filter(|column| words(&column.name).collect::<Vec<_>>().ends_with(&option));
        named.next().filter(|_| named.next().is_none()).map(|column| column.name.as_str())
    };
    let of_options: Option<Vec<&str>> = options.iter().map(of_option).collect();
    let distinct = |found: &Vec<&str>| found.iter().enumerate().all(|(at, name)| !found[..at].contains(name));
    if let Some(found) = of_options.filter(distinct) {
        return Some(PropensityColumns::OfOptions(found));
    }
    // That of an option that was given is never 0.
    let positive = || free().filter(|column| matches!(column.kind, ColumnValues::Numbers { low, .. } if low > 0.0));
    let found = by_name(&positive(), &PROPENSITY_NAMES).or_else(|| positive().next())?;
    Some(PropensityColumns::Given(&found.name))
}

/// Whether a column has probabilities and a name that says so.
fn is_propensity(column: &ColumnSketch) -> bool {
    let ColumnValues::Numbers { low, high } = column.kind else { return false };
    let name = column.name.trim().to_lowercase();
    let named = words(&name).any(|word| word != "p" && PROPENSITY_NAMES.contains(&word.as_str()));
    // Whole numbers only are a flag, unless the whole name says otherwise.
    let fractions = low.fract() != 0.0 || high.fract() != 0.0;
    let listed = PROPENSITY_NAMES.contains(&name.as_str());
    (0.0..=1.0).contains(&low)
        && high <= 1.0
        && (named || listed || name.starts_with("p_"))
        && (fractions || low == 1.0)
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

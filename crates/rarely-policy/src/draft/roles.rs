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
const TIME_NAMES: [&str; 9] = ["time", "date", "timestamp", "datetime", "day", "when", "created", "decided", "start"];
const KEY_NAMES: [&str; 10] = ["id", "key", "nr", "no", "number", "index", "uuid", "row", "identifier", "rownames"];
const CLUSTER_NAMES: [&str; 14] = [
    "clinic",
    "hospital",
    "site",
    "school",
    "class",
    "store",
    "branch",
    "department",
    "region",
    "county",
    "village",
    "team",
    "centre",
    "center",
];
const NOTHING: [&str; 12] =
    ["0", "0.0", "no", "none", "false", "control", "placebo", "nothing", "wait", "usual", "standard", "untreated"];
/// Whole numbers beyond this have no `f64` of their own.
const LARGEST_KEY: f64 = 9_007_199_254_740_992.0;
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

/// A column that probably has a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuessedRole<'a> {
    /// The column.
    pub column: &'a str,
    /// Whether its name says so, or no other column could have the role.
    pub is_sure: bool,
    /// Every column that could have the role.
    pub possible: Vec<&'a str>,
}

/// The columns that probably have a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuessedRoles<'a> {
    /// The option that was given.
    pub option: Option<GuessedRole<'a>>,
    /// The outcome.
    pub outcome: Option<GuessedRole<'a>>,
    /// The time of a case.
    pub time: Option<GuessedRole<'a>>,
}

/// Guesses the columns of the option, the outcome and the time: by their names, else by their contents. An option has few values, an outcome
/// is a number, a time is a date in every row; no identifier or propensity is any of them.
pub fn guess_roles(columns: &[ColumnSketch]) -> GuessedRoles<'_> {
    let options = || columns.iter().filter(|column| may_be_option(column));
    let named = by_name(&options(), &OPTION_NAMES);
    let words = || options().filter(|column| matches!(column.kind, ColumnValues::Words(_)));
    let option = named.or_else(|| words().next().filter(|_| words().nth(1).is_none()));
    let is_flag =
        |column: &&ColumnSketch| column.kind == ColumnValues::Numbers { low: 0.0, high: 1.0 } && column.distinct == 2;
    let option = option.or_else(|| words().next()).or_else(|| options().find(is_flag));
    let numbers = || {
        let others = columns.iter().filter(move |column| option.is_none_or(|option| option.name != column.name));
        others.filter(|column| {
            let is_number = matches!(column.kind, ColumnValues::Numbers { .. });
            is_number && !is_propensity(column) && !(column.is_unique() && sounds_like_key(&column.name))
        })
    };
    let named_outcome =
        by_name(&numbers(), &OUTCOME_NAMES).or_else(|| numbers().find(|column| sounds_bad(&column.name)));
    let outcome = named_outcome.or_else(|| numbers().next_back());
    let times = || columns.iter().filter(|column| column.is_time && column.missing == 0 && column.present > 0);
    let time = by_name(&times(), &TIME_NAMES).or_else(|| times().next());
    GuessedRoles {
        option: role(option, named.is_some(), options()),
        outcome: role(outcome, named_outcome.is_some(), numbers()),
        time: role(time, false, times()),
    }
}

fn role<'a>(
    found: Option<&'a ColumnSketch>,
    is_named: bool,
    possible: impl Iterator<Item = &'a ColumnSketch>,
) -> Option<GuessedRole<'a>> {
    let possible: Vec<&str> = possible.map(|column| column.name.as_str()).collect();
    found.map(|column| GuessedRole { column: &column.name, is_sure: is_named || possible.len() == 1, possible })
}

/// The column that tells rows apart: every row has a value of its own, and it is words, a count of the rows, or named so.
pub(super) fn guess_key<'a>(columns: &'a [ColumnSketch], taken: &[&str]) -> Option<&'a str> {
    let free = columns.iter().filter(|column| {
        !taken.contains(&column.name.as_str())
            && column.is_unique()
            && !column.is_time
            && !column.name.trim().is_empty()
    });
    let is_key = |column: &&ColumnSketch| match column.kind {
        // Words with spaces are somebody's text.
        ColumnValues::Words(_) => !column.written.iter().any(|word| word.trim().contains(char::is_whitespace)),
        ColumnValues::Numbers { low, high } => {
            let counts_rows = high - low == (column.present - 1) as f64;
            low.fract() == 0.0
                && high.abs() < LARGEST_KEY
                && low.abs() < LARGEST_KEY
                && (counts_rows || sounds_like_key(&column.name))
        }
    };
    let keys: Vec<&ColumnSketch> = free.filter(is_key).collect();
    let named = keys.iter().find(|column| sounds_like_key(&column.name));
    named.or(keys.first()).map(|column| column.name.as_str())
}

/// Whether a column's name is that of an identifier.
pub(super) fn sounds_like_key(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    words(&name).any(|word| KEY_NAMES.contains(&word.as_str())) || name.starts_with("unnamed")
}

/// Whether cases with the same value of a column may resemble each other.
pub(super) fn sounds_like_cluster(column: &ColumnSketch) -> bool {
    let repeats = column.present > 2 * column.distinct && column.distinct > 2;
    repeats
        && (words(&column.name).any(|word| CLUSTER_NAMES.contains(&word.as_str()))
            || matches!(column.kind, ColumnValues::Words(_)) && column.distinct > MOST_OPTIONS as u64)
}

/// Whether an option means that nothing is done.
pub(super) fn sounds_like_nothing(option: &str) -> bool {
    let option = option.trim().to_lowercase();
    NOTHING.contains(&option.as_str())
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

fn may_be_option(column: &ColumnSketch) -> bool {
    match &column.kind {
        _ if column.is_time || column.is_unique() && column.present > MOST_OPTIONS as u64 => false,
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

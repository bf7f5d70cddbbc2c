//! Drafts a document from the columns of a file. The draft is complete and marks every guess.

mod columns;
mod features;
mod roles;

use std::collections::HashSet;
use std::fmt::Write as _;

use rarely_core::MAX_ARMS;

use crate::document::check::range_problem;
use crate::number::{plainly, read, round};

use self::features::write_features;
use self::roles::{PropensityColumns, guess_key, guess_propensities};
pub use columns::{ColumnSketch, ColumnValues};
pub use roles::{GuessedRole, GuessedRoles, guess_roles};

/// The number of words that a sketch of a column keeps.
const MOST_LISTED_WORDS: usize = 51;
/// Options written as whole numbers are listed if there are at most this many.
const MOST_NUMBERED_OPTIONS: f64 = 20.0;

/// Outcomes beyond this would need a larger norm bound than the core accepts.
const LARGEST_OUTCOME: f64 = 1e9;
/// Outcomes that differ by less than this have less noise than the core accepts.
const LEAST_OUTCOME: f64 = 1e-9;

/// The text of a commented draft, which [`crate::PolicyDocument::parse`] accepts. "CHECK:" marks every guess.
///
/// ```
/// use rarely_policy::{ColumnValues, ColumnSketch, PolicyDocument, draft};
/// let columns = [
///     ColumnSketch::new("age", ColumnValues::Numbers { low: 41.0, high: 88.0 }),
///     ColumnSketch::new("given", ColumnValues::Words(vec!["wait".into(), "invite".into()])),
///     ColumnSketch::new("benefit", ColumnValues::Numbers { low: 0.0, high: 0.97 }),
/// ];
/// let document = PolicyDocument::parse(&draft("screening", &columns, "given", "benefit", None), "draft.toml")?;
/// assert_eq!(document.options(), ["wait", "invite"]);
/// assert_eq!(document.features()[0].range(), Some((40.0, 90.0)));
/// # Ok::<(), rarely_policy::DocumentError>(())
/// ```
pub fn draft(
    policy_name: &str,
    columns: &[ColumnSketch],
    option_column: &str,
    outcome_column: &str,
    time_column: Option<&str>,
) -> String {
    let find = |name: &str| columns.iter().find(|column| column.name == name);
    let mut text = String::from(
        "# A draft from the columns of a file. Lines marked CHECK: are guesses; read each of them before you use the document.\n\n",
    );
    let name = if policy_name.trim().is_empty() { "policy" } else { policy_name };
    line(&mut text, "The name of the policy.", &format!("policy = {}", quoted(name)));
    let (options, guess) = options(find(option_column));
    let listed = options.iter().map(|option| quoted(option)).collect::<Vec<_>>().join(", ");
    let comment = format!("The options, in order. CHECK: {guess}");
    line(&mut text, &comment, &format!("options = [{listed}]"));
    let comment = "The column of a log that names the option a case got.";
    line(&mut text, comment, &format!("option_column = {}", quoted(option_column)));
    write_outcome(&mut text, outcome_column, find(outcome_column));
    line(&mut text, "Every option has a constant in addition to its coefficients.", "intercept = true");
    let propensities = guess_propensities(columns, &options, [option_column, outcome_column]);
    let mut taken = vec![option_column, outcome_column];
    taken.extend(time_column);
    match &propensities {
        None => {}
        Some(PropensityColumns::Given(column)) => taken.push(column),
        Some(PropensityColumns::OfOptions(columns)) => taken.extend(columns),
    }
    let key = guess_key(columns, &taken);
    taken.extend(key);
    let first_number = write_features(&mut text, columns, &taken);
    write_assumptions(&mut text);
    if [option_column, outcome_column].iter().any(|name| find(name).is_some_and(|column| column.missing > 0)) {
        let comment = "Rows without an option or an outcome are left out, and counted. CHECK: or \"refuse\" them.";
        line(&mut text, comment, "missing = \"drop\"");
    }
    if let Some(key) = key {
        let comment = "The column that tells rows apart. CHECK: every row of the file has a value of its own.";
        line(&mut text, comment, &format!("key = {}", quoted(key)));
    }
    if let Some(time) = time_column {
        let comment = "The column with the date or the time of a case. CHECK: is it when the option was chosen?";
        line(&mut text, comment, &format!("time = {}", quoted(time)));
    } else {
        let comment = "The order of rows: \"time\", the earliest first, or \"any\". CHECK: the file has no dates.";
        line(&mut text, comment, "order = \"any\"");
    }
    if let Some(found) = &propensities {
        write_propensities(&mut text, found, &options);
    }
    write_change(&mut text);
    write_rule(&mut text, first_number.as_deref(), &options[0]);
    text
}

fn write_rule(text: &mut String, first_number: Option<&str>, option: &str) {
    text.push_str("# The rule in force.\n[rule]\n");
    text.push_str("# CHECK: for now everyone gets the first option. Write the rule you have, in one of three forms:\n");
    text.push_str("# threshold = { feature = \"age\", cuts = [60], options = [\"lower\", \"upper\"] }, a value equal to a cut gets the upper option;\n");
    text.push_str("# score = { coefficients = { age = 1, smoker = { yes = 15 } }, cuts = [70], options = [\"lower\", \"upper\"] };\n");
    text.push_str(
        "# linear = { one = { intercept = 0.3, age = 0.01 }, other = { age = 0.02 } }, the highest score wins.\n",
    );
    let form = match first_number {
        Some(feature) => format!("threshold = {{ feature = {}", quoted(feature)),
        None => "score = { coefficients = {}".to_owned(),
    };
    let _ = writeln!(text, "{form}, cuts = [], options = [{}] }}", quoted(option));
}

fn line(text: &mut String, comment: &str, key: &str) {
    let _ = writeln!(text, "# {comment}\n{key}");
}

/// The options, and how they were found.
fn options(column: Option<&ColumnSketch>) -> (Vec<String>, &'static str) {
    let mut options = column.map(possible_options).unwrap_or_default();
    // What everyone gets unless something is done comes first.
    options.sort_by_key(|option| !roles::sounds_like_nothing(option));
    let guess = match options.len() {
        0 | 1 => "the file does not say; name all of them, and correct the rule below.",
        MOST_LISTED_WORDS.. => "the file has more than fifty, these are the first: is this the right column?",
        _ => "these are the options in the file; add those that were never tried, and put them in order.",
    };
    options.truncate(MAX_ARMS);
    for name in ["first option", "second option"] {
        if options.len() < 2 && !options.iter().any(|option| option == name) {
            options.push(name.to_owned());
        }
    }
    (options, guess)
}

/// The options in a column, as they are written in it; numbers in ascending order.
fn possible_options(column: &ColumnSketch) -> Vec<String> {
    match &column.kind {
        ColumnValues::Words(words) => distinct(words),
        ColumnValues::Numbers { .. } if (1..MOST_LISTED_WORDS).contains(&column.written.len()) => column.codes(),
        ColumnValues::Numbers { low, high }
            if low.fract() == 0.0 && high.fract() == 0.0 && high - low < MOST_NUMBERED_OPTIONS =>
        {
            let mut numbers = Vec::new();
            let mut number = *low;
            while number <= *high {
                numbers.push(plainly(number));
                number += 1.0;
            }
            numbers
        }
        ColumnValues::Numbers { .. } => Vec::new(),
    }
}

fn write_outcome(text: &mut String, name: &str, column: Option<&ColumnSketch>) {
    let usable = |(low, high): &(f64, f64)| low.abs().max(high.abs()) <= LARGEST_OUTCOME && high - low >= LEAST_OUTCOME;
    let found = match column.map(|column| &column.kind) {
        // Outcomes that are all equal still need a range around them.
        Some(ColumnValues::Numbers { low, high }) if low == high => Some((low.min(0.0), high.max(1.0))),
        Some(ColumnValues::Numbers { low, high }) => pretty_range(*low, *high),
        _ => Some((0.0, 1.0)),
    };
    let known = matches!(column.map(|column| &column.kind), Some(ColumnValues::Numbers { low, high }) if low < high);
    let (range, guess) = match found.filter(usable) {
        Some(range) if known => {
            (Some(range), "the range is that of the file, rounded outward; give the possible range.")
        }
        Some(range) => {
            (Some(range), "the range of the file cannot be used; give the lowest and the highest possible value.")
        }
        None => (None, "the range of the file is too large or too narrow: use another unit, and give a range."),
    };
    let better = if roles::sounds_bad(name) { "lower" } else { "higher" };
    let comment = format!(
        "The outcome: its column, the range of its values, and whether higher or lower is better. CHECK: {guess}"
    );
    let range =
        range.map_or_else(String::new, |(low, high)| format!("range = [{}, {}], ", plainly(low), plainly(high)));
    line(text, &comment, &format!("outcome = {{ column = {}, {range}better = \"{better}\" }}", quoted(name)));
}

fn write_assumptions(text: &mut String) {
    text.push_str(
        "\n# The assumptions that turn data into evidence; a signature of the document covers them too.\n[evidence]\n",
    );
    let comment = "How far outcomes scatter around their mean: a number, or \"bounded\", half the outcome's range, which always holds.";
    line(text, comment, "noise = \"bounded\"");
    let comment = "A bound on the length of all true coefficients together: a number, or \"auto\", derived from the outcome's range.";
    line(text, comment, "norm_bound = \"auto\"");
    line(text, "The penalty of the regression; 0.01 is usual.", "penalty = 0.01");
    line(text, "The probability that the evidence is ever misleading.", "error_probability = 0.001");
}

fn write_propensities(text: &mut String, found: &PropensityColumns<'_>, options: &[String]) {
    let (what, key) = match found {
        PropensityColumns::Given(column) => (
            "The column with the probability of the option that a case got.",
            format!("propensity = {}", quoted(column)),
        ),
        PropensityColumns::OfOptions(columns) => {
            let listed =
                options.iter().zip(columns).map(|(option, column)| format!("{} = {}", quoted(option), quoted(column)));
            let listed = listed.collect::<Vec<_>>().join(", ");
            ("The columns with the probability of every option.", format!("propensities = {{ {listed} }}"))
        }
    };
    line(
        text,
        &format!("{what} CHECK: is that what it holds? If it is known of a case beforehand, it is a feature."),
        &key,
    );
    text.push_str("# Gains by propensities also need the probability that every option had at least, such as minimum_propensity = 0.05.\n");
}

fn write_change(text: &mut String) {
    text.push_str("\n# When the rule may change.\n[change]\n");
    let comment = "When the rule changes, and to what: this algorithm moves a boundary that the data rule out, by the smallest angle.";
    line(text, comment, "algorithm = \"boundary-conservative\"");
    line(
        text,
        "The gain per case that a change must bring: for certain with the algorithm \"certified\", by estimate with the others.",
        "minimum_gain = 0",
    );
    let comment = "Options drawn at random, to learn: \"none\", \"posterior:0.5\", \"equipoise:0.05\" or \"pilot:6+equipoise:0.02\".";
    line(text, comment, "explore = \"none\"");
    text.push('\n');
}

/// A range around two numbers with round ends; `None` if they make no range.
fn pretty_range(low: f64, high: f64) -> Option<(f64, f64)> {
    if !(low < high && high - low < f64::INFINITY) {
        return None;
    }
    let part = (high - low) / 15.0;
    // The exponent as it is written, since logarithms differ between machines.
    let power: f64 =
        format!("{part:e}").split_once('e').and_then(|(_, exponent)| format!("1e{exponent}").parse().ok())?;
    let ratio = part / power;
    let step = power * [1.0, 2.0, 5.0].into_iter().find(|step| ratio <= *step).unwrap_or(10.0);
    let ends = (round((low / step).floor() * step, 12), round((high / step).ceil() * step, 12));
    // Rounding must not shrink the range.
    let (low, high) = (ends.0.min(low), ends.1.max(high));
    range_problem(low, high).is_none().then_some((low, high))
}

/// Words without spaces around them, each once, in order.
fn distinct(words: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let trimmed = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
    trimmed.filter(|word| seen.insert(*word)).map(str::to_owned).collect()
}

/// A TOML string on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            character if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

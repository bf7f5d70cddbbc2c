//! The features of a draft: which columns, as numbers or as levels, and what is left out.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::number::{plainly, read};
use crate::rule::INTERCEPT;

use super::{ColumnSketch, ColumnValues, distinct, line, pretty_range, quoted, roles};

/// A column with more words than this is an identifier or free text, not a feature.
const MOST_LEVELS: usize = 50;
/// Context variables that a draft has at most.
const MOST_COORDINATES: usize = 30;
/// The longest unit.
const LONGEST_UNIT: usize = 15;

/// What a column is as a feature.
enum DraftFeature {
    Number { low: f64, high: f64 },
    Levels(Vec<String>),
    LeftOut(&'static str),
}

/// Writes the features, and returns the first that is a number.
pub(super) fn write_features(text: &mut String, columns: &[ColumnSketch], taken: &[&str]) -> Option<String> {
    text.push_str("\n# What is known of a case when the option is chosen: numbers have a range (and a unit, which is printed after them),\n");
    text.push_str(
        "# words have levels, of which the first is the reference. CHECK: remove what is known only afterwards.\n",
    );
    let mut seen: HashSet<&str> = taken.iter().copied().chain([INTERCEPT]).collect();
    // The level of a missing value, and its indicator, are features too.
    let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let (mut first_number, mut coordinates) = (None, 0);
    for column in columns.iter().filter(|column| !taken.contains(&column.name.as_str())) {
        let name = column.name.as_str();
        let feature = if name.trim().is_empty() || !seen.insert(name) {
            DraftFeature::LeftOut("its name is missing, already used, or reserved")
        } else if column.missing > 0 && names.contains(format!("{name} missing").as_str()) {
            DraftFeature::LeftOut("it lacks values, and another column says so")
        } else {
            feature(column)
        };
        let size = usize::from(column.missing > 0)
            + match &feature {
                DraftFeature::Number { .. } => 1,
                DraftFeature::Levels(levels) => levels.len() - 1,
                DraftFeature::LeftOut(_) => 0,
            };
        let feature = if coordinates + size > MOST_COORDINATES {
            DraftFeature::LeftOut("there are many columns before it; a rule with fewer is easier to read and to judge")
        } else {
            coordinates += size;
            feature
        };
        match feature {
            DraftFeature::Number { low, high } => {
                write_number(text, column, (low, high));
                first_number = first_number.or_else(|| Some(name.to_owned()));
            }
            DraftFeature::Levels(levels) => write_levels(text, column, &levels),
            DraftFeature::LeftOut(why) => {
                let _ = writeln!(text, "# CHECK: the column {} is left out: {why}.", quoted(name));
            }
        }
        if roles::sounds_like_cluster(column) {
            let _ = writeln!(
                text,
                "# CHECK: if cases of one {name} resemble each other, write cluster = {} under [evidence] instead.",
                quoted(name)
            );
        }
    }
    first_number
}

/// What a column is, by its contents.
fn feature(column: &ColumnSketch) -> DraftFeature {
    use DraftFeature::LeftOut;
    if column.follows_option {
        return LeftOut("the option alone tells its value");
    }
    if column.is_time {
        return LeftOut("it holds dates");
    }
    match &column.kind {
        ColumnValues::Numbers { low, high } => {
            let codes = column.codes();
            if column.distinct == 2 && codes.len() == 2 && codes.iter().all(|code| is_whole(code)) {
                return DraftFeature::Levels(codes);
            }
            if column.is_nearly_unique() && roles::sounds_like_key(&column.name) {
                return LeftOut("it has nearly as many different values as rows, like an identifier");
            }
            match pretty_range(*low, *high) {
                Some((low, high)) => DraftFeature::Number { low, high },
                None => LeftOut("its numbers are all equal, too large, or too close together"),
            }
        }
        ColumnValues::Words(words) => match distinct(words) {
            levels if levels.is_empty() => LeftOut("it is blank"),
            levels if levels.len() < 2 => LeftOut("it is the same for everyone"),
            _ if column.is_nearly_unique() => {
                LeftOut("it has nearly as many different values as rows, like an identifier")
            }
            levels if levels.len() > MOST_LEVELS => LeftOut("it has too many different words"),
            levels => DraftFeature::Levels(levels),
        },
    }
}

fn is_whole(code: &str) -> bool {
    read(code).is_some_and(|number| number.fract() == 0.0)
}

fn write_number(text: &mut String, column: &ColumnSketch, (low, high): (f64, f64)) {
    let _ = writeln!(text, "[[features]]\ncolumn = {}", quoted(&column.name));
    match unit(&column.name) {
        Some(unit) => line(text, "CHECK: the unit is that in its name.", &format!("unit = {}", quoted(unit))),
        None => text.push_str("# CHECK: what is its unit? Write it here, for example unit = \"kg\".\n"),
    }
    let comment = "CHECK: the range is that of the file, rounded outward; values outside are rejected.";
    line(text, comment, &format!("range = [{}, {}]", plainly(low), plainly(high)));
    let comment = "where there is none, the middle of the range counts, and that it is missing counts too";
    write_missing(text, column, comment, "indicator");
}

fn write_levels(text: &mut String, column: &ColumnSketch, levels: &[String]) {
    let listed = levels.iter().map(|level| quoted(level)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "[[features]]\ncolumn = {}", quoted(&column.name));
    line(text, "CHECK: the first level is the reference.", &format!("levels = [{listed}]"));
    let named_so = levels.iter().any(|level| level == "missing");
    let (comment, key) = if named_so {
        ("rows without one are left out", "drop")
    } else {
        ("where there is none, that is one more level", "level")
    };
    write_missing(text, column, comment, key);
}

fn write_missing(text: &mut String, column: &ColumnSketch, comment: &str, key: &str) {
    if column.missing > 0 {
        let comment =
            format!("CHECK: {} of {} rows have no value: {comment}.", column.missing, column.missing + column.present);
        line(text, &comment, &format!("missing = \"{key}\""));
    }
}

/// The unit in a name like `Weight (kg)`.
fn unit(name: &str) -> Option<&str> {
    let name = name.trim();
    let (open, end) = [('(', ')'), ('[', ']')].into_iter().find(|(_, end)| name.ends_with(*end))?;
    let (before, unit) = name.strip_suffix(end)?.rsplit_once(open)?;
    let unit = unit.trim();
    let fits = !before.trim().is_empty() && !unit.is_empty() && unit.chars().count() <= LONGEST_UNIT;
    (fits && read(unit).is_none() && !unit.contains([',', ';', '/', '='])
        || fits && unit.contains('/') && !unit.contains([',', ';', '=']))
    .then_some(unit)
}

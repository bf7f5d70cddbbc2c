//! The checks of features: columns first, then what is derived from them.

use crate::document::Missing;
use crate::document::check::{MAX_RANGE_END, check_column, check_names, check_range};
use crate::document::locate::{Path, PathStep, keys};
use crate::document::toml::{TomlDocument, TomlFeature};
use crate::feature::{Feature, FeatureFactor, FeatureKind, FeatureSource};
use crate::names::{count, did_you_mean, shown};
use crate::number::plainly;
use crate::rule::{DocumentFault, INTERCEPT};

/// The level of a value that is missing.
const MISSING: &str = "missing";

/// The features: all columns in the order of the document, then for every column whether it is missing and how far it is above its cut
/// points, then squares and interactions.
pub(super) fn check_features(written: &TomlDocument) -> Result<Vec<Feature>, DocumentFault> {
    if written.option_column == written.outcome.column {
        return Err(clash(&written.outcome.column, keys(&["outcome", "column"]), "the option column"));
    }
    let mut features: Vec<Feature> = Vec::new();
    let mut derived: Vec<(Path, Feature)> = Vec::new();
    for (path, feature) in places(written) {
        let Some(column) = column_of(feature, &path)? else { continue };
        check_role(written, &features, column, &place(&path, "column"))?;
        let at = features.len();
        let checked = check_feature(feature, column, &path)?;
        derived.extend(of_column(feature, &checked, at, &path)?.into_iter().map(|feature| (path.clone(), feature)));
        features.push(checked);
    }
    for (path, feature) in places(written).filter(|(_, feature)| feature.column.is_none()) {
        derived.extend(combined(feature, &features, &path)?.into_iter().map(|feature| (path.clone(), feature)));
    }
    for (path, feature) in derived {
        if features.iter().any(|other| other.column == feature.column) {
            let problem = format!("there are two features called {}", shown(&feature.column));
            let remedy = "derive a feature once, and give a column of this name another one";
            return Err(DocumentFault::new(path, problem, remedy));
        }
        if let FeatureSource::Square(of) = feature.source
            && features.iter().any(|other| matches!(other.source, FeatureSource::Above(base, _) if base == of))
        {
            let problem = format!("{} has cut points and a square", shown(&features[of].column));
            return Err(DocumentFault::new(place(&path, "square"), problem, "keep one: either lets the line bend"));
        }
        features.push(feature);
    }
    Ok(features)
}

fn places(written: &TomlDocument) -> impl Iterator<Item = (Path, &TomlFeature)> {
    let path = |at| vec![PathStep::In("features".to_owned()), PathStep::At(at)];
    written.features.iter().enumerate().map(move |(at, feature)| (path(at), feature))
}

fn place(path: &Path, key: &str) -> Path {
    [path.as_slice(), &[PathStep::In(key.to_owned())]].concat()
}

fn clash(column: &str, path: Path, role: &str) -> DocumentFault {
    let remedy = "give every column one role: name another column, or remove one of the two";
    DocumentFault::new(path, format!("the column {} is also {role}", shown(column)), remedy)
}

/// The column of a feature; `None` if it is derived.
fn column_of<'a>(written: &'a TomlFeature, path: &Path) -> Result<Option<&'a str>, DocumentFault> {
    let forms = [
        ("column", written.column.is_some()),
        ("square", written.square.is_some()),
        ("interaction", written.interaction.is_some()),
    ];
    let given: Vec<&str> = forms.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
    match given[..] {
        ["column"] => Ok(written.column.as_deref()),
        [form] => {
            let beside = [
                ("unit", written.unit.is_some()),
                ("range", written.range.is_some()),
                ("levels", written.levels.is_some()),
                ("missing", written.missing.is_some()),
                ("cut_points", written.cut_points.is_some()),
            ];
            match beside.into_iter().find(|(_, given)| *given) {
                Some((key, _)) => {
                    let problem = format!("{form} is derived from features, so it has no {key} of its own");
                    Err(DocumentFault::new(
                        place(path, key),
                        problem,
                        format!("write {key} at the feature it is derived from"),
                    ))
                }
                None => Ok(None),
            }
        }
        [] => {
            let remedy = "add column = \"name\", as the data call it, or square = \"feature\", or interaction = [\"one\", \"other\"]";
            Err(DocumentFault::new(path.clone(), "a feature without a column", remedy))
        }
        [one, other, ..] => {
            let problem = format!("a feature with both {one} and {other}");
            Err(DocumentFault::new(place(path, other), problem, "write each as [[features]] of its own"))
        }
    }
}

fn check_role(written: &TomlDocument, features: &[Feature], column: &str, path: &Path) -> Result<(), DocumentFault> {
    check_column(column, path.clone())?;
    if column == INTERCEPT {
        let remedy = "rename the column here and in the data: \"intercept\" is the name of a rule's constant";
        return Err(DocumentFault::new(path.clone(), "a feature called \"intercept\"", remedy));
    }
    let roles = [(&written.outcome.column, "the outcome"), (&written.option_column, "the option column")];
    if let Some((_, role)) = roles.into_iter().find(|(other, _)| *other == column) {
        return Err(clash(column, path.clone(), role));
    }
    if features.iter().any(|other| other.column == column) {
        return Err(clash(column, path.clone(), "another feature"));
    }
    Ok(())
}

fn check_feature(written: &TomlFeature, column: &str, path: &Path) -> Result<Feature, DocumentFault> {
    let place = |key: &str| place(path, key);
    let missing = written.missing.unwrap_or_default();
    let kind = match (&written.range, &written.levels) {
        (Some(range), None) => {
            let (low, high) = check_range(range, MAX_RANGE_END, &place("range"))?;
            let unit = written.unit.clone().filter(|unit| !unit.trim().is_empty());
            if missing == Missing::Level {
                let problem = format!("{} is a number, so missing cannot be one of its levels", shown(column));
                let remedy = "write missing = \"indicator\": it counts as the middle of the range, and that it is missing counts too";
                return Err(DocumentFault::new(place("missing"), problem, remedy));
            }
            FeatureKind::Numeric { low, high, unit }
        }
        (None, Some(levels)) => FeatureKind::Levels(check_levels(written, levels, column, path)?),
        (Some(_), Some(_)) => {
            let problem = format!("{} has both a range and levels", shown(column));
            let remedy = "keep one: numbers have a range, words have levels";
            return Err(DocumentFault::new(place("levels"), problem, remedy));
        }
        (None, None) => {
            let problem = format!("{} has neither a range nor levels", shown(column));
            let remedy = "give range = [lowest, highest] for numbers, levels = [\"no\", \"yes\"] for words";
            return Err(DocumentFault::new(place("column"), problem, remedy));
        }
    };
    Ok(Feature { column: column.to_owned(), kind, source: FeatureSource::Column(missing) })
}

/// The levels, with one more where a missing value is a level.
fn check_levels(
    written: &TomlFeature,
    levels: &[String],
    column: &str,
    path: &Path,
) -> Result<Vec<String>, DocumentFault> {
    let place = |key: &str| place(path, key);
    let fault = |key: &str, problem: String, remedy: &str| Err(DocumentFault::new(place(key), problem, remedy));
    let missing = written.missing.unwrap_or_default();
    if levels.len() < 2 && !(missing == Missing::Level && levels.len() == 1) {
        let problem = format!("{} has {}", shown(column), count(levels.len(), "level"));
        return fault("levels", problem, "name at least two levels, or remove the feature");
    }
    check_names(levels, "level", &place("levels"))?;
    if written.unit.is_some() {
        return fault("unit", format!("{} has levels, so it cannot have a unit", shown(column)), "remove the unit");
    }
    if written.cut_points.is_some() {
        let problem = format!("{} has levels, so it cannot have cut points", shown(column));
        return fault("cut_points", problem, "remove the cut points: every level has a coefficient of its own");
    }
    let mut levels = levels.to_vec();
    match missing {
        Missing::Refuse | Missing::Drop => {}
        Missing::Indicator => {
            let problem = format!("{} has levels, so a missing value needs no indicator", shown(column));
            return fault("missing", problem, "write missing = \"level\": missing is one more level");
        }
        Missing::Level if levels.iter().any(|level| level == MISSING) => {
            let problem = format!("{} has a level \"{MISSING}\" already", shown(column));
            return fault(
                "missing",
                problem,
                "rename the level, or remove it: a missing value becomes a level of this name",
            );
        }
        Missing::Level => levels.push(MISSING.to_owned()),
    }
    Ok(levels)
}

/// What is derived from a column alone: whether it is missing, and how far it is above each cut point.
fn of_column(written: &TomlFeature, checked: &Feature, at: usize, path: &Path) -> Result<Vec<Feature>, DocumentFault> {
    let mut derived = Vec::new();
    if checked.missing() == Missing::Indicator {
        let kind = FeatureKind::Levels(["no", "yes"].map(str::to_owned).to_vec());
        let column = format!("{} missing", checked.column);
        derived.push(Feature { column, kind, source: FeatureSource::IsMissing(at) });
    }
    let (Some(cuts), FeatureKind::Numeric { low, high, unit }) = (&written.cut_points, &checked.kind) else {
        return Ok(derived);
    };
    let mut previous = *low;
    for (index, &cut) in cuts.iter().enumerate() {
        let place = [place(path, "cut_points"), vec![PathStep::At(index)]].concat();
        // A cut point nearer to an end than this cannot be told from it on a grid of 2²⁶ steps.
        let least = (high - low) * 1e-6;
        if !(cut - previous > least && high - cut > least) {
            let problem =
                format!("the cut point {} is not between {} and {}", plainly(cut), plainly(previous), plainly(*high));
            let remedy = "write cut points in ascending order, each once, within the feature's range";
            return Err(DocumentFault::new(place, problem, remedy));
        }
        previous = cut;
        let kind = FeatureKind::Numeric { low: 0.0, high: high - cut, unit: unit.clone() };
        let column = format!("{} above {}", checked.column, plainly(cut));
        derived.push(Feature { column, kind, source: FeatureSource::Above(at, cut) });
    }
    Ok(derived)
}

/// A square, or the products of an interaction: one for each pair of levels but the first.
fn combined(written: &TomlFeature, columns: &[Feature], path: &Path) -> Result<Vec<Feature>, DocumentFault> {
    let find = |name: &str, path: Path| {
        columns.iter().position(|feature| feature.column == name).ok_or_else(|| {
            let known: Vec<&str> = columns.iter().map(|feature| feature.column.as_str()).collect();
            let remedy = did_you_mean(name, "the columns among the features are", known);
            DocumentFault::new(path, format!("unknown feature {}", shown(name)), remedy)
        })
    };
    if let Some(name) = &written.square {
        let of = find(name, place(path, "square"))?;
        let Some((low, high)) = columns[of].range() else {
            let problem = format!("{} has levels, so it cannot be squared", shown(name));
            return Err(DocumentFault::new(place(path, "square"), problem, "name a feature with a range"));
        };
        let kind = FeatureKind::Numeric { low: 0.0, high: (high - low) * (high - low), unit: None };
        return Ok(vec![Feature { column: format!("{name} squared"), kind, source: FeatureSource::Square(of) }]);
    }
    let names = written.interaction.as_deref().unwrap_or_default();
    let [one, other] = names else {
        let problem = format!("an interaction of {}", count(names.len(), "feature"));
        return Err(DocumentFault::new(
            place(path, "interaction"),
            problem,
            "name two: interaction = [\"age\", \"sex\"]",
        ));
    };
    let at = |index| [place(path, "interaction"), vec![PathStep::At(index)]].concat();
    let (first, second) = (find(one, at(0))?, find(other, at(1))?);
    if first == second {
        let problem = format!("an interaction of {} with itself", shown(one));
        let remedy = format!("write square = {one:?} instead");
        return Err(DocumentFault::new(at(1), problem, remedy));
    }
    let mut products = Vec::new();
    for (one, first_name, first_size) in factors(columns, first) {
        for (other, second_name, second_size) in factors(columns, second) {
            let kind = FeatureKind::Numeric { low: 0.0, high: first_size * second_size, unit: None };
            let column = format!("{first_name} by {second_name}");
            products.push(Feature { column, kind, source: FeatureSource::Product(one, other) });
        }
    }
    Ok(products)
}

/// What a feature is multiplied as: the number, or 1 for each level but the first; with its name and its largest value.
fn factors(columns: &[Feature], feature: usize) -> Vec<(FeatureFactor, String, f64)> {
    let described = &columns[feature];
    match &described.kind {
        FeatureKind::Numeric { low, high, .. } => {
            vec![(FeatureFactor { feature, level: None }, described.column.clone(), high - low)]
        }
        FeatureKind::Levels(levels) => {
            let named = levels.iter().enumerate().skip(1);
            named
                .map(|(at, level)| {
                    (FeatureFactor { feature, level: Some(at) }, format!("{} = {level}", described.column), 1.0)
                })
                .collect()
        }
    }
}

//! Missing values and derived features.

use proptest::prelude::*;
use rarely_policy::{FieldValue, PolicyDocument, ValueError};

use crate::support::{document, explained};

const AGE: &str = "[[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [40, 90]\n";
const SEX: &str = "[[features]]\ncolumn = \"sex\"\nlevels = [\"f\", \"m\"]\n";
const EVERYONE: &str = "score = { coefficients = {}, cuts = [], options = [\"a\"] }";

fn drawn(features: &str) -> PolicyDocument {
    document(&["a", "b"], true, features, EVERYONE)
}

/// What is wrong with a document with these features and this rest.
fn mistake(features: &str, rest: &str) -> String {
    let text = format!(
        "policy = \"p\"\noptions = [\"a\", \"b\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n{features}\n{rest}\n"
    );
    explained(&PolicyDocument::parse(&text, "p.toml").expect_err("a mistake"))
}

fn encoded(document: &PolicyDocument, values: &[FieldValue<'_>]) -> Result<Vec<f64>, ValueError> {
    let encoder = document.encoder();
    let mut context = encoder.blank();
    for (at, value) in values.iter().enumerate() {
        encoder.feature(at, *value, &mut context)?;
    }
    encoder.derive(&mut context);
    Ok(context)
}

#[test]
fn what_is_derived_follows_from_the_columns() {
    let bends = "cut_points = [50, 65]\n";
    let rest = "[[features]]\ncolumn = \"weight\"\nrange = [0, 200]\n[[features]]\nsquare = \"weight\"\n\
                [[features]]\ninteraction = [\"age\", \"sex\"]\n[[features]]\ninteraction = [\"weight\", \"age\"]\n";
    let document = drawn(&format!("{AGE}{bends}{SEX}{rest}"));
    assert_eq!(
        document.coordinates(),
        [
            "intercept",
            "age",
            "sex = m",
            "weight",
            "age above 50",
            "age above 65",
            "weight squared",
            "age by sex = m",
            "weight by age"
        ]
    );
    let context =
        encoded(&document, &[FieldValue::Number(70.0), FieldValue::Text("m"), FieldValue::Number(50.0)]).unwrap();
    // (70 − 50)/(90 − 50), (70 − 65)/(90 − 65), ¼², (70 − 40)/50, ¼·0.6, each to 26 bits.
    for (found, expected) in context.iter().zip([1.0, 0.6, 1.0, 0.25, 0.5, 0.2, 0.0625, 0.6, 0.15]) {
        assert!((found - expected).abs() < 2e-8, "{context:?}");
    }
    assert!(context[4..].iter().all(|u| (u * f64::from(1 << 26)).fract() == 0.0), "{context:?}");
    assert_eq!(
        encoded(&document, &[FieldValue::Number(49.0), FieldValue::Text("f"), FieldValue::Number(0.0)]).unwrap()[4..],
        [0.0; 5]
    );
    let meanings: Vec<String> = (3..8).filter_map(|at| document.meaning(at)).collect();
    assert_eq!(
        meanings,
        [
            "(age − 50) from 50 on, else 0",
            "(age − 65) from 65 on, else 0",
            "weight²",
            "(age − 40) if sex is m, else 0",
            "weight × (age − 40)"
        ]
    );
}

#[test]
fn rules_use_what_is_derived_in_its_own_units() {
    let rule = "score = { coefficients = { age = 1, \"age above 60\" = 2 }, cuts = [70], options = [\"a\", \"b\"] }";
    let document = document(&["a", "b"], true, &format!("{AGE}cut_points = [60]\n"), rule);
    assert_eq!(
        document.rule().words(&document),
        ["score = age + 2 × age above 60", "a below 70", "b from 70", "age above 60 is (age − 60) from 60 on, else 0"]
    );
    let parameters = document.rule().parameters(&document);
    let option = |age: f64| {
        let context = encoded(&document, &[FieldValue::Number(age)]).unwrap();
        crate::support::plays(&document, &parameters, &context)
    };
    // age + 2·(age − 60) reaches 70 at 63⅓.
    assert_eq!([option(59.0), option(63.3), option(63.4), option(90.0)], ["a", "a", "b", "b"].map(str::to_owned));
    let again = rarely_policy::WrittenRule::from_parameters(&document, &parameters, document.rule()).expect("a score");
    assert_eq!(&again, document.rule());
}

#[test]
fn a_missing_value_is_what_the_document_says() {
    let number = |missing: &str| drawn(&format!("{AGE}missing = {missing:?}\n"));
    let indicator = number("indicator");
    assert_eq!(indicator.coordinates(), ["intercept", "age", "age missing = yes"]);
    for nothing in [FieldValue::Missing, FieldValue::Text(" "), FieldValue::Text("NA"), FieldValue::Number(f64::NAN)] {
        assert_eq!(encoded(&indicator, &[nothing]), Ok(vec![1.0, 0.5, 1.0]), "{nothing:?}");
    }
    // The indicator is set back in a context that is used again.
    let (encoder, mut context) = (indicator.encoder(), vec![1.0, 0.5, 1.0]);
    assert_eq!(encoder.feature(0, FieldValue::Number(90.0), &mut context), Ok(true));
    assert_eq!(context, [1.0, 1.0, 0.0]);
    assert_eq!(indicator.decode(&[1.0, 0.5, 1.0]), [("age".to_owned(), "missing".to_owned())]);
    for name in ["refuse", "drop"] {
        let error = encoded(&number(name), &[FieldValue::Missing]).expect_err("missing");
        assert!(matches!(error, ValueError::Missing { .. }), "{error}");
    }
    // Only where the document says what missing means is a word a missing value.
    let error = encoded(&number("refuse"), &[FieldValue::Text("NA")]).expect_err("no number");
    assert_eq!(error.to_string(), "age is \"NA\", but must be a number");
    let level = drawn(&format!("{SEX}missing = \"level\"\n"));
    assert_eq!(level.coordinates(), ["intercept", "sex = m", "sex = missing"]);
    assert_eq!(encoded(&level, &[FieldValue::Missing]), Ok(vec![1.0, 0.0, 1.0]));
    assert_eq!(encoded(&level, &[FieldValue::Text("m")]), Ok(vec![1.0, 1.0, 0.0]));
    assert!(encoded(&level, &[FieldValue::Text("x")]).is_err());
    // A word that is a level is no missing value.
    let regions = drawn("[[features]]\ncolumn = \"region\"\nlevels = [\"EU\", \"NA\"]\nmissing = \"level\"\n");
    assert_eq!(encoded(&regions, &[FieldValue::Text("NA")]), Ok(vec![1.0, 1.0, 0.0]));
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let rule = format!("[rule]\n{EVERYONE}");
    let square = "[[features]]\nsquare = \"age\"\n";
    let found: Vec<String> = [
        (format!("{AGE}missing = \"level\""), rule.clone()),
        (format!("{SEX}missing = \"indicator\""), rule.clone()),
        (format!("{AGE}cut_points = [40]"), rule.clone()),
        (format!("{AGE}cut_points = [60, 50]"), rule.clone()),
        (format!("{SEX}cut_points = [1]"), rule.clone()),
        (format!("{SEX}[[features]]\nsquare = \"sex\""), rule.clone()),
        (format!("{AGE}[[features]]\nsquare = \"aeg\""), rule.clone()),
        (format!("{AGE}cut_points = [60]\n{square}"), rule.clone()),
        (format!("{AGE}[[features]]\ninteraction = [\"age\", \"age\"]"), rule.clone()),
        (format!("{AGE}[[features]]\ninteraction = [\"age\"]"), rule.clone()),
        (format!("{AGE}[[features]]\nsquare = \"age\"\nrange = [0, 1]"), rule.clone()),
        (format!("{AGE}[[features]]\nunit = \"kg\""), rule.clone()),
        (format!("{AGE}{square}"), format!("[change]\nmonotone = {{ age = \"up\" }}\n{rule}")),
        (
            format!("{AGE}{square}"),
            "[rule]\nthreshold = { feature = \"age squared\", cuts = [100], options = [\"a\", \"b\"] }".to_owned(),
        ),
    ]
    .iter()
    .map(|(features, rest)| mistake(features, rest))
    .collect();
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn what_is_derived_from_a_forbidden_feature_is_forbidden() {
    let text = format!(
        "policy = \"p\"\noptions = [\"a\", \"b\"]\noutcome = {{ column = \"y\", range = [0, 1] }}\n{AGE}missing = \"indicator\"\n{SEX}\
         [[features]]\ninteraction = [\"sex\", \"age\"]\n[change]\nforbid = [\"age\"]\n[rule]\n{EVERYONE}\n"
    );
    let document = PolicyDocument::parse(&text, "p.toml").unwrap_or_else(|error| panic!("{error}"));
    let forbidden: Vec<&str> = (document.features().iter().enumerate())
        .filter(|(at, _)| document.limits().is_forbidden(*at))
        .map(|(_, feature)| feature.column.as_str())
        .collect();
    assert_eq!(forbidden, ["age", "age missing", "sex = m by age"]);
}

#[test]
fn sums_depend_on_what_is_missing_and_derived() {
    let plain = drawn(AGE);
    for more in ["missing = \"drop\"\n", "cut_points = [60]\n", "[[features]]\nsquare = \"age\"\n"] {
        let other = drawn(&format!("{AGE}{more}"));
        assert_ne!(plain.fingerprint(), other.fingerprint(), "{more}");
        assert!(plain.differs(&other).is_some() && !plain.difference(&other).is_empty(), "{more}");
    }
    assert_eq!(plain.fingerprint(), drawn(&format!("{AGE}missing = \"refuse\"\n")).fingerprint());
}

proptest! {
    /// The norm bound holds for every bent line that stays in the outcome's range, here 0 to 1.
    #[test]
    fn the_automatic_norm_bound_allows_every_bent_line(
        coefficients in prop::collection::vec(-1.0..1.0_f64, 8),
        which in 0..4_usize,
    ) {
        let (features, width) = [
            (format!("{AGE}[[features]]\nsquare = \"age\"\n"), 1),
            (format!("{AGE}cut_points = [50, 65]\n"), 1),
            (format!("{AGE}{SEX}[[features]]\ninteraction = [\"age\", \"sex\"]\n"), 2),
            (format!("{AGE}missing = \"indicator\"\n"), 1),
        ][which].clone();
        let document = drawn(&features);
        let line: Vec<f64> = coefficients[..document.shape().dimension()].to_vec();
        let mut values = Vec::new();
        for step in 0..=50 {
            for sex in ["f", "m"] {
                let age = FieldValue::Number(40.0 + f64::from(step));
                let context = encoded(&document, &[age, FieldValue::Text(sex)][..width]).unwrap();
                values.push(context.iter().zip(&line).map(|(u, c)| u * c).sum::<f64>());
            }
        }
        if which == 3 {
            values.push(encoded(&document, &[FieldValue::Missing]).unwrap().iter().zip(&line).map(|(u, c)| u * c).sum());
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assume!(high - low > 1e-6);
        // Stretched so that it fills the range; on a grid of ages it may leave it by a little.
        let mut scaled: Vec<f64> = line.iter().map(|c| c / (high - low)).collect();
        scaled[0] -= low / (high - low);
        let length = scaled.iter().map(|c| c * c).sum::<f64>().sqrt();
        let bound = document.norm_bound().unwrap() / 2.0_f64.sqrt();
        prop_assert!(length <= bound * 1.01, "{length} > {bound}: {scaled:?}");
    }
}

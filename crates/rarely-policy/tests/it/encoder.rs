//! Records into contexts and back.

use proptest::prelude::*;
use rarely_core::Arm;
use rarely_policy::{Encoder, FieldValue, PolicyDocument};

use crate::support::{EXAMPLE, decimal, document, example, explained};

#[test]
fn the_example_s_columns() {
    let document = example();
    let encoder = document.encoder();
    assert_eq!(encoder.feature_columns(), ["systolic", "diabetic"]);
    assert_eq!(document.coordinates(), ["intercept", "systolic", "diabetic = yes"]);
    let mut context = encoder.blank();
    assert_eq!(context, [1.0, 0.0, 0.0]);
    for (value, coordinate) in [
        (FieldValue::Number(80.0), 0.0),
        (FieldValue::Text("220"), 1.0),
        (FieldValue::Text(" 150.0\t"), 0.5),
        (FieldValue::Text("1.15e2"), 0.25),
    ] {
        encoder.feature(0, value, &mut context).unwrap();
        assert_eq!(context, [1.0, coordinate, 0.0]);
    }
    encoder.feature(1, FieldValue::Text(" yes "), &mut context).unwrap();
    assert_eq!(context, [1.0, 0.25, 1.0]);
    let shown = [("systolic".to_owned(), "115 mmHg".to_owned()), ("diabetic".to_owned(), "yes".to_owned())];
    assert_eq!(document.decode(&context), shown);
    encoder.feature(1, FieldValue::Text("no"), &mut context).unwrap();
    assert_eq!(context, [1.0, 0.25, 0.0]);
    assert_eq!(document.decode(&context)[1].1, "no");
    assert_eq!(encoder.option(FieldValue::Text("treat")), Ok(Arm::new(1)));
    assert_eq!(encoder.outcome(FieldValue::Text("0.25")), Ok(0.25));
    assert_eq!(Encoder::propensity(FieldValue::Text("0.5")), Ok(0.5));
    assert_eq!(Encoder::propensity(FieldValue::Number(1.0)), Ok(1.0));
}

#[test]
fn lower_outcomes_are_turned_round() {
    let text = EXAMPLE.replace("range = [0.0, 1.0] }", "range = [0.0, 1.0], better = \"lower\" }");
    let document = PolicyDocument::parse(&text, "policy.toml").unwrap();
    assert_eq!(document.outcome_sign(), -1.0);
    assert_eq!(document.encoder().outcome(FieldValue::Number(0.25)), Ok(-0.25));
}

#[test]
fn numbers_may_be_words_and_words_numbers() {
    let names: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    let features = format!("[[features]]\ncolumn = \"x\"\nlevels = {names:?}");
    let document =
        document(&["0", "1"], true, &features, "score = { coefficients = {}, cuts = [], options = [\"0\"] }");
    let encoder = document.encoder();
    assert_eq!(encoder.option(FieldValue::Number(1.0)), Ok(Arm::new(1)));
    assert_eq!(encoder.option(FieldValue::Text("1")), Ok(Arm::new(1)));
    for one in ["1.0", "1.", " TRUE", "true"] {
        assert_eq!(encoder.option(FieldValue::Text(one)), Ok(Arm::new(1)), "{one}");
    }
    for other in ["01", "1e0", "+1", "1,0", "1.5", "yes"] {
        assert!(encoder.option(FieldValue::Text(other)).is_err(), "{other}");
    }
    for (at, name) in names.iter().enumerate() {
        let mut expected = encoder.blank();
        if at > 0 {
            expected[at] = 1.0;
        }
        for value in [FieldValue::Text(name), FieldValue::Number(at as f64)] {
            let mut context = encoder.blank();
            context[1..].fill(9.0);
            encoder.feature(0, value, &mut context).unwrap();
            assert_eq!(context, expected);
        }
    }
}

#[test]
fn an_outcome_without_a_range_has_the_core_s_limit() {
    let text = EXAMPLE.replace(", range = [0.0, 1.0] }", " }");
    let encoder = PolicyDocument::parse(&text, "policy.toml").unwrap().encoder();
    assert_eq!(encoder.outcome(FieldValue::Text("-1e12")), Ok(-1e12));
    let told = explained(&encoder.outcome(FieldValue::Text("2e12")).unwrap_err());
    assert_eq!(
        told,
        "wellbeing is 2×10¹², beyond the limit of 10¹²\n  help: correct the value, or express the column in a larger unit"
    );
}

#[test]
fn nothing_is_allocated_for_good_values() {
    let encoder = example().encoder();
    let mut context = encoder.blank();
    let counted = allocation_counter::measure(|| {
        encoder.feature(0, FieldValue::Text("150.25"), &mut context).unwrap();
        encoder.feature(0, FieldValue::Text("150.1234567890123456"), &mut context).unwrap();
        encoder.feature(1, FieldValue::Text("yes"), &mut context).unwrap();
        encoder.option(FieldValue::Text("treat")).unwrap();
        encoder.outcome(FieldValue::Text("0.5")).unwrap();
        Encoder::propensity(FieldValue::Text("0.5")).unwrap();
    });
    assert_eq!(counted.count_total, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn values_come_back_from_their_coordinates(value in decimal(9)) {
        let document = document(&["a", "b", "c", "d"], true, "[[features]]\ncolumn = \"x\"\nrange = [-12000, 17000]", "score = { coefficients = {}, cuts = [], options = [\"a\"] }");
        let mut context = document.encoder().blank();
        document.encoder().feature(0, FieldValue::Number(value), &mut context).unwrap();
        prop_assert_eq!(document.raw_value(0, context[1]), Some(value));
    }
}

//! Laws: rules survive the way into parameters and back, and decide alike.

use std::fmt::Write as _;

use proptest::prelude::*;
use rarely_core::Parameters;
use rarely_policy::{FieldValue, PolicyDocument, WrittenRule, number};

use crate::support::{decimal, document, lead, person, plays};

const OPTIONS: [&str; 4] = ["a", "b", "c", "d"];
const FEATURES: &str = "[[features]]\ncolumn = \"x\"\nrange = [-20, 180]\n[[features]]\ncolumn = \"y\"\nrange = [0.5, 3]\n\
                        [[features]]\ncolumn = \"z\"\nlevels = [\"p\", \"q\", \"r\"]";

fn world(arms: usize, rule: &str) -> PolicyDocument {
    document(&OPTIONS[..arms], true, FEATURES, rule)
}

/// Two rules decide alike, away from ties.
fn decide_alike(document: &PolicyDocument, one: &Parameters, other: &Parameters, people: &[[f64; 3]]) {
    for draws in people {
        let context = person(document, draws);
        if lead(one, &context) > 1e-6 {
            assert_eq!(plays(document, one, &context), plays(document, other, &context), "{context:?}");
        }
    }
}

fn people() -> impl Strategy<Value = Vec<[f64; 3]>> {
    prop::collection::vec(prop::array::uniform3(0.0..1.0_f64), 50)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn thresholds_return(cuts in prop::collection::btree_set(-20_000_000_000_i64..=180_000_000_000, 0..4), turn in 0..4_usize) {
        let cuts: Vec<f64> = cuts.into_iter().map(|cut| format!("{cut}e-9").parse().unwrap()).collect();
        let options: Vec<&str> = OPTIONS.iter().cycle().skip(turn).take(cuts.len() + 1).copied().collect();
        let document = world(4, &format!("threshold = {{ feature = \"x\", cuts = {cuts:?}, options = {options:?} }}"));
        let back = WrittenRule::from_parameters(&document, &document.rule().parameters(&document), document.rule());
        prop_assert_eq!(back.as_ref(), Some(document.rule()));
    }

    #[test]
    fn scores_return(
        x in decimal(11), y in decimal(11), q in decimal(11), r in decimal(11),
        at in prop::collection::btree_set(1_u32..10_000, 0..4), turn in 0..4_usize, steps in prop::array::uniform3(0.1..10.0_f64),
    ) {
        prop_assume!(x != 0.0);
        // Cuts somewhere within reach.
        let corners = |slope: f64, low: f64, high: f64| ((slope * low).min(slope * high), (slope * low).max(slope * high));
        let (a, b) = (corners(x, -20.0, 180.0), corners(y, 0.5, 3.0));
        let (low, high) = (a.0 + b.0 + q.min(r).min(0.0), a.1 + b.1 + q.max(r).max(0.0));
        let cuts: Vec<f64> = at.iter().map(|at| number::round(low + (high - low) * f64::from(*at) / 1e4, 8)).collect();
        let options: Vec<&str> = OPTIONS.iter().cycle().skip(turn).take(cuts.len() + 1).copied().collect();
        let rule = format!("score = {{ coefficients = {{ x = {x:?}, y = {y:?}, z = {{ q = {q:?}, r = {r:?} }} }}, cuts = {cuts:?}, options = {options:?} }}");
        prop_assume!(cuts.windows(2).all(|pair| pair[0] < pair[1]));
        let document = world(4, &rule);
        let back = WrittenRule::from_parameters(&document, &document.rule().parameters(&document), document.rule());
        prop_assert_eq!(back.as_ref(), Some(document.rule()));
        // Whatever the steps.
        let ladder = document.rule().ladder(&document).unwrap();
        let stepped = ladder.parameters(document.shape(), &steps[..cuts.len()]);
        let back = WrittenRule::from_parameters(&document, &stepped, document.rule());
        prop_assert_eq!(back.as_ref(), Some(document.rule()));
    }

    #[test]
    fn linear_rules_return(numbers in prop::collection::vec(decimal(6), 15)) {
        let line = |of: &[f64]| format!("{{ intercept = {:?}, x = {:?}, y = {:?}, z = {{ q = {:?}, r = {:?} }} }}", of[0], of[1], of[2], of[3], of[4]);
        let rule = format!("linear = {{ a = {}, b = {}, c = {} }}", line(&numbers[..5]), line(&numbers[5..10]), line(&numbers[10..]));
        let document = world(3, &rule);
        let back = WrittenRule::from_parameters(&document, &document.rule().parameters(&document), document.rule());
        prop_assert_eq!(back.as_ref(), Some(document.rule()));
        prop_assert_eq!(back.unwrap().numbers(), numbers);
    }

    #[test]
    fn a_score_of_two_options_decides_as_its_parameters(values in prop::collection::vec(-5.0..5.0_f64, 10), people in people()) {
        let like = "score = { coefficients = { x = -2, z = { q = 3 } }, cuts = [4], options = [\"b\", \"a\"] }";
        let document = world(2, like);
        let parameters = Parameters::new(document.shape(), values).unwrap();
        let rule = WrittenRule::from_parameters(&document, &parameters, document.rule()).expect("two options are always a score");
        decide_alike(&document, &parameters, &rule.parameters(&document), &people);
        if let WrittenRule::Score(score) = &rule {
            prop_assert!(score.cuts.is_empty() || score.coefficients["x"] == rarely_policy::Coefficient::Slope(-2.0));
        }
    }

    #[test]
    fn a_threshold_decides_as_its_parameters(lines in prop::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 4), common in -9.0..9.0_f64, people in people()) {
        let document = world(4, "threshold = { feature = \"y\", cuts = [1], options = [\"b\", \"a\"] }");
        let values = lines.iter().flat_map(|(height, slope)| [*height, *slope, common, common, -common]).collect();
        let parameters = Parameters::new(document.shape(), values).unwrap();
        let rule = WrittenRule::from_parameters(&document, &parameters, document.rule()).expect("one number decides");
        decide_alike(&document, &parameters, &rule.parameters(&document), &people);
    }

    #[test]
    fn a_score_of_two_options_in_play_among_four(values in prop::collection::vec(-1.0..1.0_f64, 20), people in people()) {
        let document = world(4, "score = { coefficients = { x = 1 }, cuts = [4], options = [\"b\", \"a\"] }");
        let mut values = values;
        // Below the others, but not parallel to them.
        values[5] -= 7.0;
        values[15] -= 7.0;
        let parameters = Parameters::new(document.shape(), values).unwrap();
        let rule = WrittenRule::from_parameters(&document, &parameters, document.rule()).expect("two options in play");
        decide_alike(&document, &parameters, &rule.parameters(&document), &people);
    }

    #[test]
    fn whatever_comes_back_decides_alike(values in prop::collection::vec(-2.0..2.0_f64, 15), people in people()) {
        let document = world(3, "score = { coefficients = { x = 1 }, cuts = [4], options = [\"b\", \"a\"] }");
        let parameters = Parameters::new(document.shape(), values).unwrap();
        if let Some(rule) = WrittenRule::from_parameters(&document, &parameters, document.rule()) {
            decide_alike(&document, &parameters, &rule.parameters(&document), &people);
        }
    }

    #[test]
    fn linear_decides_as_its_parameters(values in prop::collection::vec(-5.0..5.0_f64, 12), intercept in any::<bool>(), people in people()) {
        let document = document(&["a", "b", "c"], intercept, FEATURES, "linear = { a = {}, b = {}, c = {} }");
        let values = values[..document.shape().parameters().min(12)].to_vec();
        let values = if intercept { [values, vec![1.0, -1.0, 0.5]].concat() } else { values };
        let parameters = Parameters::new(document.shape(), values).unwrap();
        let rule = WrittenRule::from_parameters(&document, &parameters, document.rule()).unwrap();
        document.check_rule(&rule).unwrap();
        decide_alike(&document, &parameters, &rule.parameters(&document), &people);
    }

    /// In hundredths, exactly: the score of a person is a cut, and the persons a hundredth to either side of it.
    #[test]
    fn a_sum_equal_to_a_cut_gets_the_upper_option(
        features in prop::collection::vec((-9_000..9_000_i64, 10..5_000_i64, -900..=900_i64, 0.0..1.0_f64), 1..7),
        (level, swapped) in (-900..=900_i64, any::<bool>()),
        (gap, steps) in (1..1000_i64, prop::array::uniform2(0.01..100.0_f64)),
    ) {
        prop_assume!(features.iter().any(|(_, _, coefficient, _)| *coefficient != 0));
        let tenths = |number: i64| format!("{number}e-1");
        let mut text = String::new();
        let mut coefficients = String::new();
        let mut score = 0;
        let mut values = Vec::new();
        for (at, (low, width, coefficient, draw)) in features.iter().enumerate() {
            let (low, high) = (*low, low + width);
            writeln!(text, "[[features]]\ncolumn = \"f{at}\"\nrange = [{}, {}]", tenths(low), tenths(high)).unwrap();
            write!(coefficients, "f{at} = {}, ", tenths(*coefficient)).unwrap();
            #[allow(clippy::cast_possible_truncation)]
            let value = low + (*draw * *width as f64) as i64;
            values.push(tenths(value));
            score += coefficient * value;
        }
        text += "[[features]]\ncolumn = \"z\"\nlevels = [\"no\", \"yes\"]\n";
        score += 10 * level;
        let options = if swapped { ["c", "b", "a"] } else { ["a", "b", "c"] };
        // The person is at the first cut, the second, just below and just above the first.
        for (first, expected) in [(score, 1), (score - gap, 2), (score + 1, 0), (score - 1, if gap == 1 { 2 } else { 1 })] {
            let rule = format!(
                "score = {{ coefficients = {{ {coefficients}z = {{ yes = {} }} }}, cuts = [{first}e-2, {}e-2], options = {options:?} }}",
                tenths(level), first + gap,
            );
            let document = document(&OPTIONS, true, &text, &rule);
            let encoder = document.encoder();
            let mut context = encoder.blank();
            for (at, value) in values.iter().enumerate() {
                encoder.feature(at, FieldValue::Text(value), &mut context).unwrap();
            }
            encoder.feature(values.len(), FieldValue::Text("yes"), &mut context).unwrap();
            let ladder = document.rule().ladder(&document).unwrap();
            for steps in [[1.0, 1.0], steps] {
                let parameters = ladder.parameters(document.shape(), &steps);
                prop_assert_eq!(plays(&document, &parameters, &context), options[expected]);
            }
        }
    }

}

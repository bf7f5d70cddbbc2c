//! Drafts from the columns of a file.

use proptest::prelude::*;
use rarely_policy::{ColumnSketch, ColumnValues, PolicyDocument, draft};

/// The columns that are probably the option and the outcome.
fn guess_roles(columns: &[ColumnSketch]) -> (Option<&str>, Option<&str>) {
    let roles = rarely_policy::guess_roles(columns);
    (roles.option.map(|role| role.column), roles.outcome.map(|role| role.column))
}

fn numbers(name: &str, low: f64, high: f64) -> ColumnSketch {
    ColumnSketch::new(name, ColumnValues::Numbers { low, high })
}

fn words(name: &str, words: &[&str]) -> ColumnSketch {
    ColumnSketch::new(name, ColumnValues::Words(words.iter().map(|word| (*word).to_owned()).collect()))
}

#[test]
fn a_draft_is_a_document() {
    let columns = [
        numbers("systolic", 83.0, 214.0),
        words("diabetic", &["no", "yes"]),
        words("clinic", &["north"]),
        numbers("year", 2024.0, 2024.0),
        words("treatment", &["watch", "treat"]),
        numbers("wellbeing", 0.031, 0.97),
    ];
    assert_eq!(guess_roles(&columns), (Some("treatment"), Some("wellbeing")));
    let text = draft("hypertension", &columns, "treatment", "wellbeing", None);
    let document = PolicyDocument::parse(&text, "draft.toml").unwrap();
    assert_eq!(document.features()[0].range(), Some((80.0, 220.0)));
    assert_eq!(document.outcome().range, Some((0.0, 1.0)));
    assert_eq!(document.rule().words(&document), ["everyone gets watch"]);
    insta::assert_snapshot!(text);
}

#[test]
fn roles_are_guessed() {
    let all = [
        numbers("id", 1.0, 1e5),
        numbers("variant_shown", 0.0, 2.0),
        numbers("total_cost", 0.0, 99.0),
        numbers("age", 18.0, 80.0),
    ];
    assert_eq!(guess_roles(&all), (Some("variant_shown"), Some("total_cost")));
    let text = draft("ads", &all, "variant_shown", "total_cost", None);
    let document = PolicyDocument::parse(&text, "draft.toml").unwrap();
    assert_eq!(document.options(), ["0", "1", "2"]);
    assert_eq!(document.outcome_sign(), -1.0);
    assert_eq!(
        guess_roles(&[words("colour", &["red", "blue"]), numbers("a", 0.0, 0.5), numbers("b", 0.0, 0.5)]),
        (Some("colour"), Some("b"))
    );
    assert_eq!(guess_roles(&[]), (None, None));
}

#[test]
fn a_propensity_is_no_feature() {
    let columns = |name: &str, low: f64, high: f64| {
        [
            numbers("age", 41.0, 88.0),
            words("given", &["wait", "invite"]),
            numbers("benefit", 0.0, 0.97),
            numbers(name, low, high),
        ]
    };
    let drafted = |columns: &[ColumnSketch]| {
        let (option, outcome) = guess_roles(columns);
        assert_eq!((option, outcome), (Some("given"), Some("benefit")));
        let text = draft("screening", columns, "given", "benefit", None);
        PolicyDocument::parse(&text, "draft.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    for name in ["propensity", "Propensity", "prob", "action_prob", "pscore", "p_given", "p"] {
        let document = drafted(&columns(name, 0.05, 0.95));
        assert_eq!(document.log_columns().propensity.as_deref(), Some(name));
        assert_eq!(document.features().len(), 1, "{name}");
    }
    // A name alone is not enough, nor is a range alone; and nothing can have been given with probability 0.
    for (name, low, high) in [("propensity", 0.5, 1.5), ("share", 0.1, 0.9), ("prob", 0.0, 0.9), ("p_smoker", 0.0, 1.0)]
    {
        let document = drafted(&columns(name, low, high));
        assert_eq!(document.log_columns().propensity, None, "{name}");
        assert_eq!(document.features().len(), 2, "{name}");
    }
    // One column for every option, whose probabilities may be 0.
    let [age, given, benefit, first] = columns("p_invite", 0.0, 0.9);
    let document = drafted(&[age, given, benefit, first, numbers("p_wait", 0.1, 1.0)]);
    assert_eq!(document.log_columns().propensities, ["p_wait", "p_invite"]);
    assert_eq!(document.features().len(), 1);
}

proptest! {
    #[test]
    fn every_draft_can_be_read(
        policy in any::<String>(),
        columns in prop::collection::vec((any::<String>(), prop_oneof![
            (any::<f64>(), any::<f64>()).prop_map(|(low, high)| ColumnValues::Numbers { low, high }),
            (-1e3..1e3_f64, 0.0..1e3_f64).prop_map(|(low, width)| ColumnValues::Numbers { low, high: low + width }),
            prop::collection::vec(any::<String>(), 0..5).prop_map(ColumnValues::Words),
            (0..300_usize).prop_map(|count| ColumnValues::Words((0..count).map(|word| word.to_string()).collect())),
        ]), 0..8),
    ) {
        let columns: Vec<ColumnSketch> = columns.into_iter().map(|(name, kind)| ColumnSketch::new(&name, kind)).collect();
        let (option, outcome) = guess_roles(&columns);
        let (option, outcome) = (option.unwrap_or("option"), outcome.unwrap_or("outcome"));
        prop_assume!(option != outcome && !option.trim().is_empty() && !outcome.trim().is_empty());
        let text = draft(&policy, &columns, option, outcome, None);
        if let Err(error) = PolicyDocument::parse(&text, "draft.toml") {
            return Err(TestCaseError::fail(format!("{error}\n{text}")));
        }
    }
}

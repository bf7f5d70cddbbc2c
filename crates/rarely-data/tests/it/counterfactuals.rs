//! The table itself.

use rarely_data::Counterfactuals;

use crate::support::explained;

fn three_people() -> Counterfactuals {
    Counterfactuals {
        label: "three people".to_owned(),
        columns: vec!["age".to_owned(), "height".to_owned()],
        contexts: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        arms: 2,
        outcomes: vec![10.0, 11.0, 20.0, 21.0, 30.0, 31.0],
        means: vec![12.0, 13.0, 22.0, 23.0, 32.0, 33.0],
    }
}

#[test]
fn an_intercept_comes_first() {
    let people = three_people().with_intercept();
    people.validate().expect("valid");
    assert_eq!(people.columns, ["intercept", "age", "height"]);
    assert_eq!(people.contexts, [1.0, 1.0, 2.0, 1.0, 3.0, 4.0, 1.0, 5.0, 6.0]);
    assert_eq!((people.outcomes, people.means), (three_people().outcomes, three_people().means));
}

#[test]
fn the_authors_pairing_moves_outcomes_and_means_by_one_person() {
    let people = three_people().paired_with_next();
    people.validate().expect("valid");
    assert_eq!(people.contexts, three_people().contexts);
    assert_eq!(people.outcomes, [20.0, 21.0, 30.0, 31.0, 10.0, 11.0]);
    assert_eq!(people.means, [22.0, 23.0, 32.0, 33.0, 12.0, 13.0]);
    assert_eq!(people.label, "three people, paired with the next person's outcomes");
}

fn check(change: impl FnOnce(&mut Counterfactuals), expected: &str) {
    let mut people = three_people();
    change(&mut people);
    assert_eq!(explained(&people.validate().expect_err("invalid")), expected);
}

#[test]
fn what_does_not_fit_together_is_named() {
    three_people().validate().expect("valid");
    check(|people| people.arms = 1, "three people: 1 arms, but there must be at least 2");
    check(|people| people.arms = 0, "three people: 0 arms, but there must be at least 2");
    check(|people| people.outcomes.clear(), "three people: 0 people, but there must be at least 1");
    check(|people| people.columns.clear(), "three people: 0 context variables, but there must be at least 1");
    check(
        |people| people.contexts.truncate(5),
        "three people: contexts has 5 numbers, but 3 people × 2 make 6\nhelp: fill the table row by row",
    );
    check(
        |people| people.means.push(0.0),
        "three people: means has 7 numbers, but 3 people × 2 make 6\nhelp: fill the table row by row",
    );
    check(
        |people| people.outcomes.push(0.0),
        "three people: outcomes has 7 numbers, but 3 people × 2 make 6\nhelp: fill the table row by row",
    );
    check(
        |people| people.means[3] = f64::NAN,
        "three people: means of person 1 (from 0), entry 1, is NaN, but every number must be finite",
    );
    check(
        |people| people.contexts[4] = f64::INFINITY,
        "three people: contexts of person 2 (from 0), entry 0, is inf, but every number must be finite",
    );
}

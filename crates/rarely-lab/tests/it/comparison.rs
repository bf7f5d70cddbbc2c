//! Contestants against each other, world by world.

use rarely_core::{Algorithm, Profile};
use rarely_lab::{Comparison, Contestant, ContestantResult, Quantiles, Run, sign_test, signed_rank_test};

fn result(name: &str, regrets: &[f64]) -> ContestantResult {
    let runs = regrets.iter().map(|&regret| Run { regret: vec![10.0 * regret], ..Run::default() }).collect();
    ContestantResult::of_runs(Contestant::new(Algorithm::Greedy, Profile::Rigorous).named(name), vec![10], runs)
}

#[test]
fn who_is_better_in_how_many_worlds() {
    let one = result("one", &[0.1, 0.2, 0.3, 0.4, 0.5]);
    let other = result("other", &[0.2, 0.4, 0.3, 0.8, 0.4]);
    let Comparison { worlds, better, worse, difference, sign_test, .. } = Comparison::of(&one, &other);
    assert_eq!((worlds, better, worse), (5, 3, 1));
    // −0.1, −0.2, 0, −0.4, 0.1: mean −0.12, standard error 0.0860, t₄ = 2.776.
    assert!((difference.mean + 0.12).abs() < 1e-12);
    assert!((difference.high - (-0.12 + 2.776 * 0.086_023)).abs() < 1e-3, "{difference:?}");
    // Four differences, one positive: 2·(1 + 4)/16.
    assert!((sign_test - 0.625).abs() < 1e-12, "{sign_test}");
}

#[test]
fn every_pair_once() {
    let results = ["a", "b", "c"].map(|name| result(name, &[0.1, 0.2]));
    let pairs: Vec<(String, String)> =
        Comparison::all(&results).into_iter().map(|pair| (pair.one, pair.other)).collect();
    let expected = [("a", "b"), ("a", "c"), ("b", "c")].map(|(one, other)| (one.to_owned(), other.to_owned()));
    assert_eq!(pairs, expected);
}

/// The numbers of R's `binom.test(3, 50)` and `wilcox.test`.
#[test]
fn tests_known_from_elsewhere() {
    assert!((sign_test(47, 3) / 3.708e-11 - 1.0).abs() < 1e-3, "{}", sign_test(47, 3));
    assert_eq!(sign_test(0, 0), 1.0);
    // All five positive: the smallest two-sided probability, 2/2⁵.
    assert!((signed_rank_test(&[0.1, 0.2, 0.3, 0.4, 0.5]) - 0.0625).abs() < 1e-12);
    // Ranks of positive differences 1 + 3 of 5: the two-sided probability of at most 4 is 2·7/32.
    assert!((signed_rank_test(&[0.1, -0.2, 0.3, -0.4, -0.5]) - 0.4375).abs() < 1e-12);
}

#[test]
fn quantiles_do_not_follow_a_few_bad_runs() {
    let mut values = vec![0.01; 9];
    values.push(5.0);
    let quantiles = Quantiles::of(&values);
    assert_eq!((quantiles.low, quantiles.median), (0.01, 0.01));
    assert!(quantiles.high < 0.6);
}

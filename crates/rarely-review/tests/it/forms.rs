//! Proposals in the owner's form; rules with options that nobody gets; what rests on extrapolation; sums that merge.

use rarely_core::{Algorithm, Arm, Rng};
use rarely_policy::{PolicyDocument, WrittenRule};
use rarely_review::{Answer, Ground, Review, Tally, Verdict, review, words};

/// Two numbers and a word; two or three options.
fn document(options: &str, change: &str, rule: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"forms\"\noptions = {options}\noutcome = {{ column = \"y\", range = [-5.0, 5.0] }}\n\
         [[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [0, 100]\n\
         [[features]]\ncolumn = \"weight\"\nunit = \"kg\"\nrange = [40, 140]\n\
         [[features]]\ncolumn = \"smoker\"\nlevels = [\"no\", \"yes\"]\n\
         [evidence]\nnoise = 0.1\nnorm_bound = 5.0\n[change]\n{change}\n[rule]\n{rule}\n"
    );
    PolicyDocument::parse(&text, "forms.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// A log of people drawn uniformly; `choose` says who gets what.
fn log(
    document: &PolicyDocument,
    rows: u64,
    seed: u64,
    means: &[[f64; 4]],
    choose: impl Fn(&[f64], &mut Rng) -> usize,
) -> Tally {
    let mut rng = Rng::new(seed, 0);
    let mut tally = Tally::new(document);
    for row in 0..rows {
        let person = [1.0, rng.uniform(), rng.uniform(), f64::from(rng.uniform() < 0.3)];
        let arm = choose(&person, &mut rng);
        let mean: f64 = person.iter().zip(means[arm]).map(|(x, y)| x * y).sum();
        tally.add(row, &person, Arm::new(arm), mean + 0.1 * rng.normal());
    }
    tally
}

fn by_lot(options: usize) -> impl Fn(&[f64], &mut Rng) -> usize {
    move |_, rng| rng.below(options)
}

fn reviewed(document: &PolicyDocument, tally: &Tally) -> Review {
    let ground = Ground::of(document, tally, None).expect("it fits");
    review(&ground, tally).expect("it runs")
}

const TWO: &str = "[\"wait\", \"treat\"]";
const THREE: &str = "[\"low\", \"middle\", \"high\"]";

/// Applying the proposal and asking again must give keep.
fn is_settled(document: &PolicyDocument, tally: &Tally, found: &Review) -> bool {
    let proposal = found.proposal.as_ref().expect("a proposal");
    let applied = document.with_rule(proposal.rule.clone()).expect("it fits");
    let ground = Ground::of(&applied, tally, None).expect("it fits");
    review(&ground, tally).expect("it runs").verdict == Verdict::Keep
}

/// Only age matters, and the cut is wrong: a threshold among three features stays a threshold.
#[test]
fn a_threshold_on_one_of_several_features_stays_one() {
    let document = document(TWO, "", "threshold = { feature = \"age\", cuts = [30], options = [\"wait\", \"treat\"] }");
    let tally = log(&document, 20_000, 1, &[[0.6, 0.0, 0.2, 0.1], [0.0, 1.0, 0.2, 0.1]], by_lot(2));
    let found = reviewed(&document, &tally);
    let proposal = found.proposal.as_ref().expect("the cut should be at 60");
    assert!(proposal.note.is_none());
    let WrittenRule::Threshold(threshold) = &proposal.rule else { panic!("{:?}", proposal.rule) };
    assert!((50.0..=62.0).contains(&threshold.cuts[0]), "{threshold:?}");
    assert!(is_settled(&document, &tally, &found));
}

/// Weight matters as much: no cut on age alone is plausible, so a score is proposed, with the reason.
#[test]
fn where_no_threshold_is_plausible_a_score_is_proposed() {
    let document = document(TWO, "", "threshold = { feature = \"age\", cuts = [30], options = [\"wait\", \"treat\"] }");
    let tally = log(&document, 20_000, 2, &[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]], by_lot(2));
    let found = reviewed(&document, &tally);
    let proposal = found.proposal.as_ref().expect("weight matters");
    assert!(proposal.note.as_ref().is_some_and(|note| note.contains("a score of all features")), "{:?}", proposal.note);
    assert!(
        matches!(&proposal.rule, WrittenRule::Score(score) if score.coefficients.len() == 3),
        "{:?}",
        proposal.rule
    );
    assert!(is_settled(&document, &tally, &found));
}

/// One score for three options: the weights and both cuts are fitted together.
#[test]
fn a_score_for_three_options_stays_one() {
    let rule = "score = { coefficients = { age = 1.0, weight = 0.2 }, cuts = [50, 90], options = [\"low\", \"middle\", \"high\"] }";
    let document = document(THREE, "algorithm = \"boundary-greedy\"", rule);
    // In raw units the index is age + weight; low → middle at 80 + …, steps of different size.
    let means = [[0.5, 0.0, 0.0, 0.0], [0.2, 0.5, 0.5, 0.0], [-1.6, 2.0, 2.0, 0.0]];
    let tally = log(&document, 30_000, 3, &means, by_lot(3));
    let found = reviewed(&document, &tally);
    let proposal = found.proposal.as_ref().expect("weight counts five times as much");
    let WrittenRule::Score(score) = &proposal.rule else { panic!("{:?}", proposal.rule) };
    assert!(proposal.note.is_none());
    assert_eq!(score.options, ["low", "middle", "high"]);
    assert_eq!(score.coefficients.keys().collect::<Vec<_>>(), ["age", "weight"]);
    assert!(is_settled(&document, &tally, &found));
}

/// A rule that never gives an option says only that it is never best.
#[test]
fn an_option_that_is_never_given_is_judged_by_whether_it_should_be() {
    let rule = "threshold = { feature = \"age\", cuts = [50], options = [\"low\", \"middle\"] }";
    let document = document(THREE, "", rule);
    let bad = [[0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.5, 0.3, 0.0]];
    assert_eq!(reviewed(&document, &log(&document, 20_000, 4, &bad, by_lot(3))).verdict, Verdict::Keep);
    let good = [[0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.9, 0.5, 0.3, 0.0]];
    let tally = log(&document, 20_000, 4, &good, by_lot(3));
    let found = reviewed(&document, &tally);
    assert_eq!(found.verdict, Verdict::Change);
    let certificate = &found.proposal.as_ref().unwrap().certificate;
    assert!(certificate.gain.interval.lower > 0.3, "{certificate:?}");
}

/// "Everyone waits" has no cut; it is kept where it is right, and replaced where it is not.
#[test]
fn a_rule_without_cuts_is_reviewed_too() {
    let document = document(TWO, "", "threshold = { feature = \"age\", cuts = [], options = [\"wait\"] }");
    let right = log(&document, 10_000, 5, &[[0.5, 0.0, 0.0, 0.0], [0.1, 0.2, 0.0, 0.0]], by_lot(2));
    assert_eq!(reviewed(&document, &right).verdict, Verdict::Keep);
    let wrong = log(&document, 10_000, 5, &[[0.5, 0.0, 0.0, 0.0], [0.1, 0.8, 0.0, 0.0]], by_lot(2));
    assert_eq!(reviewed(&document, &wrong).verdict, Verdict::Change);
}

/// Treatment was only ever given from 60 on: below it everything is extrapolation, and said to be.
#[test]
fn gains_that_rest_on_extrapolation_are_marked() {
    let rule = "threshold = { feature = \"age\", cuts = [60], options = [\"wait\", \"treat\"] }";
    let document = document(TWO, "", rule);
    let means = [[0.5, 0.0, 0.0, 0.0], [0.1, 1.2, 0.0, 0.0]];
    let tally = log(&document, 50_000, 6, &means, |person, _| usize::from(person[1] >= 0.6));
    let found = reviewed(&document, &tally);
    let proposal = found.proposal.as_ref().expect("the cut should be at 33");
    assert_eq!(proposal.who.untried, proposal.who.changed);
    let against = words::against(&document, proposal);
    assert!(against[0].contains("100.0 % of those who change"), "{against:?}");
    let thin: Vec<&str> = found.gaps.thin.iter().map(|thin| thin.band.as_str()).collect();
    assert!(thin.contains(&"age 0–20 years") && thin.contains(&"age 80–100 years"), "{thin:?}");
}

/// Every algorithm that holds a rule can be asked, keeps a right rule, and changes a very wrong one to something that it then keeps.
#[test]
fn every_switching_algorithm_can_be_asked() {
    let means = [[0.6, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.is_switching()) {
        let change = format!("algorithm = \"{algorithm}\"");
        let wrong =
            document(TWO, &change, "threshold = { feature = \"age\", cuts = [10], options = [\"wait\", \"treat\"] }");
        let tally = log(&wrong, 20_000, 7, &means, by_lot(2));
        let found = reviewed(&wrong, &tally);
        assert_eq!(found.verdict, Verdict::Change, "{algorithm}");
        let gain = found.proposal.as_ref().unwrap().certificate.gain.interval;
        assert!(gain.lower > 0.0, "{algorithm}: {gain:?}");
        let patient = matches!(algorithm, Algorithm::Greedy | Algorithm::Scheduled);
        assert!(patient || is_settled(&wrong, &tally, &found), "{algorithm}");
    }
}

/// Two states give what one pass gives, also when they are saved in between.
#[test]
fn states_merge() {
    let document = document(
        THREE,
        "",
        "threshold = { feature = \"age\", cuts = [40, 60], options = [\"low\", \"middle\", \"high\"] }",
    );
    let means = [[0.5, 0.0, 0.0, 0.1], [0.2, 0.5, 0.5, 0.0], [-0.6, 1.0, 1.0, 0.0]];
    let (first, second) = (log(&document, 7000, 8, &means, by_lot(3)), log(&document, 9000, 9, &means, by_lot(3)));
    let mut one_pass = Tally::new(&document);
    for (rows, seed) in [(7000, 8), (9000, 9)] {
        let mut rng = Rng::new(seed, 0);
        for row in 0..rows {
            let person = [1.0, rng.uniform(), rng.uniform(), f64::from(rng.uniform() < 0.3)];
            let arm = rng.below(3);
            let mean: f64 = person.iter().zip(means[arm]).map(|(x, y)| x * y).sum();
            one_pass.add(row, &person, Arm::new(arm), mean + 0.1 * rng.normal());
        }
    }
    let saved =
        |tally: &Tally| -> Tally { Tally::from_text(&tally.to_text().unwrap()).unwrap().revive(&document).unwrap() };
    let mut merged = saved(&second);
    merged.merge(&saved(&first)).unwrap();
    assert_eq!(merged.sample(), one_pass.sample());
    assert!(matches!(merged.merge(&first), Err(rarely_review::TallyError::Twice { rows: 7000 })));
    assert!(one_pass.check_sources().is_ok());
    let answer = |tally: &Tally| serde_json::to_value(Answer::new(&document, &reviewed(&document, tally))).unwrap();
    assert_same(&answer(&merged), &answer(&one_pass), "");
}

fn assert_same(one: &serde_json::Value, other: &serde_json::Value, at: &str) {
    use serde_json::Value;
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{at}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(i, (a, b))| assert_same(a, b, &format!("{at}[{i}]")));
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().for_each(|(key, a)| assert_same(a, &b[key], &format!("{at}.{key}")));
        }
        _ => assert_eq!(one, other, "{at}"),
    }
}

//! Outcomes by option and band: corrected, merged, and missing from states that were saved before they were kept.

use rarely_core::Rng;
use rarely_review::{Bands, EvidenceBase, ObservedBand, Tally};

use crate::logs::{Row, age_and_smoker, drawn, live_sums, threshold};

/// What a review sees of every option and band.
fn observed(tally: &Tally, document: &rarely_policy::PolicyDocument) -> Vec<ObservedBand> {
    let base = EvidenceBase::of(document, tally, None).expect("it fits");
    let bands = Bands::of(document).all().len();
    let options = 0..document.options().len();
    options.flat_map(|option| (0..bands).map(move |band| (option, band))).map(|(o, b)| base.observed(o, b)).collect()
}

fn rows(seed: u64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 0);
    (0..500).map(|_| drawn(&mut rng)).collect()
}

#[test]
fn a_corrected_outcome_is_as_if_it_had_always_been() {
    let document = age_and_smoker("", &threshold(60.0));
    let mut rows = rows(1);
    let mut tally = live_sums(&document, &rows);
    let (person, arm, reward) = rows[17];
    tally.correct(&person, arm, reward, 0.75, tally.marks());
    rows[17].2 = 0.75;
    assert_eq!(observed(&tally, &document), observed(&live_sums(&document, &rows), &document));
}

#[test]
fn a_state_without_outcomes_has_counts_and_makes_a_sum_have_none() {
    let document = age_and_smoker("", &threshold(60.0));
    let (first, second) = (live_sums(&document, &rows(1)), live_sums(&document, &rows(2)));
    let mut state = serde_json::to_value(&first).expect("a state is JSON");
    state.as_object_mut().expect("an object").remove("outcomes").expect("they are kept");
    let old: Tally = serde_json::from_value(state).expect("an earlier state");
    let old = old.revive(&document).expect("of this document");
    let counts = |found: &[ObservedBand]| found.iter().map(|band| band.rows).collect::<Vec<_>>();
    let (found, whole) = (observed(&old, &document), observed(&first, &document));
    assert_eq!(counts(&found), counts(&whole));
    assert!(found.iter().all(|band| band.mean.is_none()) && whole.iter().any(|band| band.mean.is_some()));
    for (one, other) in [(&old, &second), (&second, &old)] {
        let mut sum = one.clone();
        sum.merge(other).expect("of one document");
        assert!(observed(&sum, &document).iter().all(|band| band.mean.is_none()));
    }
    let mut sum = Tally::undivided(&document);
    sum.merge(&second).expect("of one document");
    assert_eq!(observed(&sum, &document), observed(&second, &document), "nothing is added to nothing");
}

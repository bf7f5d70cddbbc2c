//! The judgement of a rule, for every algorithm, and as plain data.

use rarely_core::{Algorithm, Rng};
use rarely_review::{Judgement, ProposedChange, Verdict};

use crate::logs::{
    TWO, age_and_smoker, by_lot, drawn, is_settled, judged, log, reviewed, summed, three_features, threshold,
};

/// Every algorithm that holds a rule can be asked, keeps a right rule, and changes a very wrong one to something that it then keeps.
#[test]
fn every_switching_algorithm_can_be_asked() {
    let means = [[0.6, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.is_switching()) {
        let change = format!("algorithm = \"{algorithm}\"");
        let wrong = three_features(
            TWO,
            &change,
            "threshold = { feature = \"age\", cuts = [10], options = [\"wait\", \"treat\"] }",
        );
        let tally = log(&wrong, 20_000, 7, &means, by_lot(2));
        let found = reviewed(&wrong, &tally);
        assert_eq!(found.judgement.verdict, Verdict::Change, "{algorithm}");
        let gain = found.judgement.proposal.as_ref().unwrap().certificate.gain.interval;
        assert!(gain.lower > 0.0, "{algorithm}: {gain:?}");
        let patient = matches!(algorithm, Algorithm::Greedy | Algorithm::Scheduled);
        assert!(patient || is_settled(&wrong, &tally, &found), "{algorithm}");
    }
}

#[test]
fn an_examination_is_the_review_s_judgement() {
    for (cut, rows, verdict) in
        [(60.0, 5000, Verdict::Keep), (30.0, 5000, Verdict::Change), (60.0, 3, Verdict::CannotTell)]
    {
        let document = age_and_smoker("", &threshold(cut));
        let mut rng = Rng::new(6, 0);
        let tally = summed(&document, &(0..rows).map(|_| drawn(&mut rng)).collect::<Vec<_>>());
        let (found, whole) = (judged(&document, &tally), reviewed(&document, &tally));
        assert_eq!(found.verdict, verdict);
        assert_eq!(found, whole.judgement);
    }
}

#[test]
fn a_judgement_as_plain_data_comes_back() {
    for change in ["", "[change]\nalgorithm = \"boundary-greedy\"\ndigits = \"all\""] {
        let document = age_and_smoker(change, &threshold(30.0));
        let mut rng = Rng::new(7, 0);
        let tally = summed(&document, &(0..5000).map(|_| drawn(&mut rng)).collect::<Vec<_>>());
        let found = judged(&document, &tally);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Judgement>(&text).unwrap(), found);
        let proposal = found.proposal.expect("it should be 60");
        let value = serde_json::to_value(&proposal).unwrap();
        assert_eq!(serde_json::from_value::<ProposedChange>(value.clone()).unwrap(), proposal);
        assert_eq!(value["rule"]["threshold"]["feature"], "age");
        assert_eq!(value["impact"]["people"], 5000);
        assert_eq!(value["impact"]["bands"][0]["band"]["members"]["between"]["low"], 0.0);
        assert!(value["certificate"]["gain"]["interval"]["lower"].is_number());
        assert!(serde_json::from_str::<Verdict>("\"perhaps\"").is_err());
    }
}

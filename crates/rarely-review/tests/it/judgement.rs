//! The judgement of a rule, for every algorithm, and as plain data.

use rarely_core::Rng;
use rarely_review::{Judgement, ProposedChange, Verdict};

use crate::logs::{age_and_smoker, drawn, judged, reviewed, summed, threshold};

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

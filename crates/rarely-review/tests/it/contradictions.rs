//! Verdicts that contradicted their own page, each with the log that made them do so.

use rarely_core::{Arm, Rng};
use rarely_policy::PolicyDocument;
use rarely_review::findings::Findings;
use rarely_review::{EvidenceBase, Review, Tally, Verdict, review};

fn document(options: &str, range: &str, more: &str, cuts: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"page\"\noptions = {options}\noutcome = {{ column = \"y\", range = [-2, 2] }}\n\
         [[features]]\ncolumn = \"x\"\nrange = {range}\n{more}\n\
         [rule]\nthreshold = {{ feature = \"x\", cuts = {cuts}, options = {options} }}\n"
    );
    PolicyDocument::parse(&text, "page.toml").unwrap_or_else(|error| panic!("{error}"))
}

const TWO: &str = "[\"a\", \"b\"]";

/// Options by lot; the mean of each at `x` in [0, 1].
fn tally(document: &PolicyDocument, rows: u64, seed: u64, means: &[fn(f64) -> f64]) -> Tally {
    let (mut tally, mut rng) = (Tally::new(document), Rng::new(seed, 0));
    for row in 0..rows {
        let (x, arm) = (rng.uniform(), rng.below(means.len()));
        tally.add(row, &[1.0, x], Arm::new(arm), means[arm](x) + 0.1 * rng.normal());
    }
    tally
}

fn reviewed(document: &PolicyDocument, tally: &Tally) -> Review {
    review(&EvidenceBase::of(document, tally, None).expect("it fits"), tally).expect("it runs")
}

/// "Keep" at z = 9 beside "the boundary is implausible", and nothing that made the two agree.
#[test]
fn a_rule_that_is_kept_although_it_could_be_bettered_says_so() {
    let document =
        document(TWO, "[0, 1]", "[evidence]\nnoise = 0.1\n[change]\nminimum_gain = 0.2\nworth = 0.3", "[0.4]");
    let found = reviewed(&document, &tally(&document, 40_000, 1, &[|_| 0.5, |x| x]));
    let findings = Findings::new(&document, &found);
    assert_eq!(found.judgement.verdict, Verdict::Keep);
    assert!(!found.judgement.standing.boundaries[0].plausible);
    assert!(
        findings.verdict.sentence.starts_with("Keep the rule: it could be bettered, but"),
        "{:?}",
        findings.verdict
    );
    assert!(findings.verdict.keeping_costs_at_most.is_some_and(|most| (0.0..0.3).contains(&most)));
}

/// A change caused by a boundary that nobody is near, for a gain whose interval crosses zero.
#[test]
fn no_change_without_a_gain_whose_lower_end_is_positive() {
    let three = "[\"a\", \"b\", \"c\"]";
    let document = document(three, "[0, 1]", "[evidence]\nnoise = 0.1", "[0.5, 0.999]");
    for seed in 0..20 {
        // c is never best, but crosses b just outside the range: the boundary between b and c is implausible, and moves hardly anybody.
        let found = reviewed(&document, &tally(&document, 4000, seed, &[|_| 0.5, |x| x, |x| 0.8 * x]));
        if let Some(proposal) = &found.judgement.proposal {
            assert!(proposal.certificate.gain.interval.lower > 0.0, "{proposal:?}");
        } else {
            assert_ne!(found.judgement.verdict, Verdict::Change);
        }
    }
}

/// "Nobody is given an option that the data rule out. The rule as a whole is ruled out."
#[test]
fn a_rule_is_not_ruled_out_as_a_whole_where_nobody_gets_a_ruled_out_option() {
    let document = document(TWO, "[0, 1]", "[evidence]\nnoise = 0.1", "[0.45]");
    for rows in [200, 1000, 5000, 20_000] {
        let findings = Findings::new(&document, &reviewed(&document, &tally(&document, rows, 3, &[|_| 0.5, |x| x])));
        let text = format!("{:?}", findings.standing);
        assert!(!text.contains("as a whole"), "{text}");
    }
}

/// "below 0.1 % … fine".
#[test]
fn a_bend_that_is_not_by_chance_is_not_fine() {
    let document = document(TWO, "[0, 1]", "[evidence]\nnoise = 0.1", "[0.5]");
    let bent: [fn(f64) -> f64; 2] = [|x| -1.0 + 0.3 * x * x, |x| 1.0 + 0.3 * x * x];
    let findings = Findings::new(&document, &reviewed(&document, &tally(&document, 20_000, 4, &bent)));
    for check in &findings.checks[..2] {
        assert_eq!((check.warning.as_ref(), check.note), (None, Some("bends, decisions stay")), "{check:?}");
    }
}

/// "-8.3e-10" for a cut at 0, and "the data allow it at least −38" with the cut at 0 inside and "implausible" beside.
#[test]
fn a_cut_at_zero_is_zero_and_allowed_if_and_only_if_it_is_plausible() {
    for options in [TWO, "[\"b\", \"a\"]"] {
        let text = format!(
            "policy = \"page\"\noptions = {TWO}\noutcome = {{ column = \"y\", range = [-2, 2] }}\n\
             [[features]]\ncolumn = \"x\"\nrange = [-100, 100]\n[evidence]\nnoise = 0.1\n\
             [rule]\nthreshold = {{ feature = \"x\", cuts = [0], options = {options} }}\n"
        );
        let document = PolicyDocument::parse(&text, "page.toml").unwrap_or_else(|error| panic!("{error}"));
        for rows in [300, 3000] {
            let found = reviewed(&document, &tally(&document, rows, 5, &[|_| 0.5, |x| 0.1 + 0.8 * x]));
            let boundary = &found.judgement.standing.boundaries[0];
            assert_eq!(boundary.threshold, Some(0.0));
            let interval = boundary.interval.expect("one feature");
            assert_eq!(interval.contains(0.0), boundary.plausible, "{options} {rows}: {interval:?}");
            let sentence = &Findings::new(&document, &found).standing.boundaries[0].sentence;
            assert!(!sentence.contains("0.00000"), "{sentence}");
        }
    }
}

/// The same rows have the same digest, however they were divided and merged.
#[test]
fn the_digest_does_not_depend_on_how_rows_were_merged() {
    let document = document(TWO, "[0, 1]", "[evidence]\nnoise = 0.1", "[0.5]");
    let mut rng = Rng::new(6, 0);
    let rows: Vec<([f64; 2], Arm, f64)> =
        (0..900).map(|_| ([1.0, rng.uniform()], Arm::new(rng.below(2)), rng.normal())).collect();
    let sum = |rows: &[([f64; 2], Arm, f64)]| {
        let mut tally = Tally::new(&document);
        for (row, (context, arm, reward)) in (0..).zip(rows) {
            tally.add(row, context, *arm, *reward);
        }
        tally
    };
    let digest = |tally: &Tally| EvidenceBase::of(&document, tally, None).expect("it fits").digest();
    let whole = digest(&sum(&rows));
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let mut merged = Tally::new(&document);
        for part in order {
            merged.merge(&sum(&rows[part * 300..(part + 1) * 300])).expect("they fit");
        }
        assert_eq!(digest(&merged), whole, "{order:?}");
    }
    assert_ne!(digest(&sum(&rows[1..])), whole);
}

/// Neither the noise nor the outcome's range is declared: gains are confirmed all the same, and boundaries are told from the estimates.
#[test]
fn a_document_without_noise_and_range_is_reviewed() {
    let text = format!(
        "policy = \"page\"\noptions = {TWO}\noutcome = {{ column = \"y\" }}\n[[features]]\ncolumn = \"x\"\nrange = [0, 1]\n\
         [rule]\nthreshold = {{ feature = \"x\", cuts = [0.2], options = {TWO} }}\n"
    );
    let document = PolicyDocument::parse(&text, "page.toml").unwrap_or_else(|error| panic!("{error}"));
    let found = reviewed(&document, &tally(&document, 20_000, 7, &[|_| 0.5, |x| x]));
    assert_eq!(found.judgement.verdict, Verdict::Change);
    let boundary = &found.judgement.standing.boundaries[0];
    assert!(!boundary.plausible && boundary.interval.is_some_and(|interval| interval.contains(0.5)), "{boundary:?}");
}

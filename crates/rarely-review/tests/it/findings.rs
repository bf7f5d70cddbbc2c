//! What a review says: every statement has its numbers, and the sentence says the same.

use rarely_core::{Arm, Interval, Rng, Thresholds};
use rarely_policy::PolicyDocument;
use rarely_review::findings::{AssumptionFinding, CertificateFinding, Findings, cause_clause, numbers};
use rarely_review::{CertifiedBy, EvidenceBase, Review, Tally, Verdict, review};

const CLINIC: &str = "policy = \"clinic\"\noptions = [\"watch\", \"treat\"]\noutcome = { column = \"wellbeing\", range = [-1.0, 2.0] }\n\
     [[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n[evidence]\nnoise = 0.1\nnorm_bound = 2.0\n\
     [rule]\nthreshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }\n";

fn clinic() -> PolicyDocument {
    PolicyDocument::parse(CLINIC, "clinic.toml").expect("a document")
}

/// Watching gives 0.6; treating gives 0.2 + 0.6·x: they are equal at 173.3 mmHg.
fn reviewed(document: &PolicyDocument, rows: u64, given: impl Fn(f64, usize) -> usize) -> Review {
    let (mut tally, mut rng) = (Tally::new(document), Rng::new(3, 0));
    for row in 0..rows {
        let (x, drawn) = (rng.uniform(), rng.below(2));
        let arm = given(x, drawn);
        tally.add(row, &[1.0, x], Arm::new(arm), [0.6, 0.2 + 0.6 * x][arm] + 0.1 * rng.normal());
    }
    review(&EvidenceBase::of(document, &tally, None).expect("it fits"), &tally).expect("it runs")
}

fn by_lot(_: f64, drawn: usize) -> usize {
    drawn
}

#[test]
fn a_change_is_said_with_its_numbers() {
    let document = clinic();
    let found = reviewed(&document, 5000, by_lot);
    let findings = Findings::new(&document, &found);
    let proposal = findings.proposal.as_ref().expect("140 is wrong");
    assert_eq!(findings.verdict.verdict, Verdict::Change);
    assert_eq!(findings.cases.rows, 5000);
    assert!(findings.cases.summary.starts_with("5,000 rows (watch 2,"), "{}", findings.cases.summary);
    let expected = format!("Change the rule, because {}: {}.", proposal.cause_clause, proposal.changes.join("; "));
    assert_eq!(findings.verdict.sentence, expected);
    let gain = numbers::interval_with_unit(proposal.certificate.gain, "wellbeing");
    assert!(proposal.cause_clause.starts_with("a change gains at least 0.0"), "{}", proposal.cause_clause);
    assert!(proposal.sentence.contains(&format!("The gain is {gain} per case; a plain 95 %")), "{}", proposal.sentence);
    assert_eq!(proposal.certificate.lines[0].value, gain);
    let changed: u64 = proposal.impact.bands.iter().map(|band| band.changed).sum();
    assert_eq!(changed, proposal.impact.changed, "one feature: everybody is in one band");
}

#[test]
fn every_sentence_is_whole_and_plain() {
    let document = clinic();
    for (rows, given) in [
        (5000, by_lot as fn(f64, usize) -> usize),
        (12, by_lot),
        (3000, |x, _| usize::from(x >= 60.0 / 140.0)),
        (3000, |_, _| 0),
    ] {
        let found = reviewed(&document, rows, given);
        for sentence in sentences(&Findings::new(&document, &found)) {
            assert!(sentence.ends_with('.'), "{sentence}");
            assert!(!sentence.contains("e-") && !sentence.contains("NaN") && !sentence.contains(" -"), "{sentence}");
            assert!(!sentence.contains("  ") && !sentence.contains(".."), "{sentence}");
        }
    }
}

fn sentences(findings: &Findings) -> Vec<String> {
    let mut all = vec![findings.verdict.sentence.clone(), findings.standing.excluded.sentence.clone()];
    all.extend(findings.verdict.reason_sentences());
    all.extend(findings.standing.boundaries.iter().map(|boundary| boundary.sentence.clone()));
    all.extend(findings.cases.people_sentence.clone());
    all.extend(findings.verdict.keeping_sentence.clone());
    all.push(findings.candidates.sentence.clone());
    all.extend(findings.gaps.stuck.iter().map(|stuck| stuck.sentence.clone()));
    all.extend(findings.gaps.thin_sentences.clone());
    all.extend(findings.gaps.forecast.iter().map(|forecast| forecast.sentence.clone()));
    all.extend(findings.checks.iter().map(|check| check.sentence.clone()));
    all.extend(findings.checks.iter().filter_map(|check| check.warning.clone()));
    all.extend(findings.assumptions.iter().map(AssumptionFinding::explanation));
    if let Some(proposal) = &findings.proposal {
        all.extend([&proposal.sentence, &proposal.impact.sentence].map(Clone::clone));
        all.push(proposal.exact.sentence.to_owned());
        all.extend(proposal.form_sentence.clone());
        all.extend(proposal.against.sentences());
        all.extend(proposal.certificate.lines.iter().map(|line| line.meaning.clone()));
    }
    all
}

#[test]
fn too_few_cases_say_what_would_settle_the_question() {
    let document = clinic();
    let findings = Findings::new(&document, &reviewed(&document, 12, by_lot));
    assert_eq!(findings.verdict.verdict, Verdict::CannotTell);
    let reason = &findings.verdict.reasons[0].sentence;
    assert_eq!(reason, "There is nothing to compare the rule with: the log has too few cases of watch and of treat.");
    let forecast = findings.gaps.forecast.expect("a forecast");
    assert!(forecast.sentence.contains("set explore = \"equipoise:0.05\" under [change]"), "{}", forecast.sentence);
}

#[test]
fn every_shape_of_allowed_cuts_is_a_sentence() {
    let document = clinic();
    let mut found = reviewed(&document, 5000, by_lot);
    for (shape, expected) in [
        (Thresholds::Between { low: 150.0, high: 170.55 }, "The data allow a cut between 150 and 170.6 mmHg."),
        (Thresholds::AtMost { high: 100.0 }, "The data allow a cut at or below 100 mmHg."),
        (Thresholds::AtLeast { low: 200.0 }, "The data allow a cut at or above 200 mmHg."),
        (
            Thresholds::Outside { low: 90.0, high: 210.0 },
            "The data allow a cut at or below 90, or at or above 210 mmHg.",
        ),
        (Thresholds::Everything, "The data allow a cut anywhere."),
        (Thresholds::Nothing, "No cut of this score is plausible."),
    ] {
        found.judgement.standing.boundaries[0].interval = Some(shape);
        let findings = Findings::new(&document, &found);
        let sentence = &findings.standing.boundaries[0].sentence;
        assert!(sentence.starts_with("watch / treat at 140 mmHg: "), "{sentence}");
        assert!(sentence.ends_with(expected), "{sentence}");
    }
}

#[test]
fn certificates_name_what_certifies_them() {
    let document = clinic();
    let found = reviewed(&document, 5000, by_lot);
    let certificate = &found.judgement.proposal.as_ref().expect("140 is wrong").certificate;
    let certified =
        |by: &[CertifiedBy]| CertificateFinding::new(&document, certificate, by.to_vec(), &[]).lines[3].value.clone();
    assert_eq!(certified(&[]), "not for certain");
    assert_eq!(
        certified(&[CertifiedBy::Plausible, CertifiedBy::Gain]),
        "every boundary of the proposed rule is plausible; the gain is above 0"
    );
    for by in [CertifiedBy::Plausible, CertifiedBy::Gain, CertifiedBy::TheoremThree] {
        assert_eq!(serde_json::to_value(by).unwrap(), by.name());
    }
    for verdict in [Verdict::Keep, Verdict::Change, Verdict::CannotTell] {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        assert_eq!(serde_json::from_value::<Verdict>(verdict.name().into()).unwrap(), verdict);
    }
}

#[test]
fn where_lower_outcomes_are_better_a_gain_is_less_of_them() {
    let text = CLINIC.replace("range = [-1.0, 2.0] }", "range = [-1.0, 2.0], better = \"lower\" }");
    let document = PolicyDocument::parse(&text, "clinic.toml").expect("a document");
    let cause = rarely_core::Cause::Gain { lower: 0.000_012_34, minimum: 0.0 };
    let clause = cause_clause(&document, &cause);
    assert_eq!(clause, "a change gains at least 0.0000123 less wellbeing per case");
}

#[test]
fn the_tree_is_plain_data() {
    let document = clinic();
    let findings = Findings::new(&document, &reviewed(&document, 5000, by_lot));
    let value = serde_json::to_value(&findings).expect("it is JSON");
    assert_eq!(value["verdict"]["verdict"], "change");
    assert_eq!(value["standing"]["boundaries"][0]["sentence"], findings.standing.boundaries[0].sentence);
    assert_eq!(value["proposal"]["certificate"]["certified_by"][0], "plausible");
    assert!(value["checks"][0]["check"]["p_value"].is_number() && value["checks"][0]["sentence"].is_string());
}

#[test]
fn numbers_are_rounded_to_what_they_mean() {
    let interval = Interval { estimate: 0.031_23, lower: -0.021_16, upper: 0.04 };
    assert_eq!(numbers::interval(interval), "0.0312 (−0.0212 to 0.04)");
    for (value, expected) in [
        (0.0, "0"),
        (-0.0, "0"),
        (3.12e-6, "0.00000312"),
        (999.96, "1000"),
        (9999.4, "9999"),
        (12_345.6, "12,346"),
        (-1_234_567.0, "−1,234,567"),
        (1e20, "100,000,000,000,000,000,000"),
    ] {
        assert_eq!(numbers::measured(value), expected);
    }
    assert_eq!(numbers::p_value(0.015_31), "p = 0.0153");
    assert_eq!(numbers::p_value(3e-9), "p < 0.0001");
    assert_eq!([0, 999, 1000, 1_234_567].map(numbers::count), ["0", "999", "1,000", "1,234,567"]);
}

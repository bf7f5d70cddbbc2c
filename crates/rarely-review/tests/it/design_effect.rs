//! Rows of clusters and rows with weights: what they say of boundaries, bands, trend and curvature. "Without" is what a review says
//! where the rows are not read again, and independent rows are assumed.

use rarely_core::Rng;
use rarely_policy::PolicyDocument;
use rarely_review::{Check, EvidenceBase, Findings, review};

use crate::propensities::{Row, allowed, base_of, document, tally_of};

/// Clusters of so many rows, each with its own level and, if `apart`, with one option and one x; outcomes by option and x are `mean`.
fn clustered(seed: u64, (clusters, size): (usize, usize), apart: bool, mean: impl Fn(usize, f64) -> f64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 41);
    let mut rows = Vec::new();
    for cluster in 0..clusters {
        let (level, at) = (0.1 * rng.normal(), rng.uniform());
        for row in 0..size {
            let (x, arm) = if apart { (at, cluster % 2) } else { (rng.uniform(), row % 2) };
            let reward = (mean(arm, x) + level + 0.1 * rng.normal()).clamp(-1.0, 2.0);
            rows.push(Row { cluster: Some(cluster as u64), ..Row::new(x, arm, reward) });
        }
    }
    rows
}

/// Independent rows of very different weight.
fn weighted(seed: u64, count: usize, mean: impl Fn(usize, f64) -> f64) -> Vec<Row> {
    let mut rng = Rng::new(seed, 42);
    let row = |_| {
        let (x, arm) = (rng.uniform(), rng.below(2));
        let reward = (mean(arm, x) + 0.1 * rng.normal()).clamp(-1.0, 2.0);
        Row { weight: rng.normal().exp(), ..Row::new(x, arm, reward) }
    };
    (0..count).map(row).collect()
}

/// The base before and after the second reading, each given to `see`.
fn both<T>(
    document: &PolicyDocument,
    rows: &[Row],
    see: impl Fn(&EvidenceBase<'_>, &rarely_review::Tally) -> T,
) -> [T; 2] {
    let tally = tally_of(document, rows);
    let without = EvidenceBase::of(document, &tally, None).expect("it fits");
    [see(&without, &tally), see(&base_of(document, &tally, rows, None), &tally)]
}

/// The probability of so much bend of the first option's line: with rows as independent, and as the review says it.
fn curvature_p_values(document: &PolicyDocument, rows: &[Row]) -> [f64; 2] {
    let tally = tally_of(document, rows);
    let without = tally.totals()[0].curvature().expect("enough rows").p_value;
    let found = review(&base_of(document, &tally, rows, None), &tally).expect("it runs");
    let said = found.checks.iter().find_map(|check| match check {
        Check::Curvature(check) => check.p_value,
        _ => None,
    });
    [without, said.expect("a test of the first option")]
}

fn is_implausible(base: &EvidenceBase<'_>, _: &rarely_review::Tally) -> bool {
    let policy = base.most_plausible(base.document.rule());
    base.region().boundaries(&policy).iter().any(|boundary| !boundary.plausible)
}

/// How many of so many logs satisfy something without and with the second reading.
fn counted(logs: u64, holds: impl Fn(u64) -> [bool; 2]) -> [u64; 2] {
    let mut found = [0, 0];
    for seed in 0..logs {
        let [without, with] = holds(seed);
        found[0] += u64::from(without);
        found[1] += u64::from(with);
    }
    found
}

#[test]
fn straight_lines_are_called_bent_as_rarely_as_declared() {
    let (logs, line) = (400, |_, x: f64| 0.4 + 0.2 * x);
    // Nothing is worth a change, so that nothing has to be forecast.
    let clusters = document("standard = \"once\"\ncluster = \"clinic\"\n[change]\nworth = 3.0");
    let weights = document("standard = \"once\"\nweight = \"w\"\n[change]\nworth = 3.0");
    for (name, document, rows) in [
        ("clusters", &clusters, (|seed| clustered(seed, (80, 12), true, |_, x| 0.4 + 0.2 * x)) as fn(u64) -> Vec<Row>),
        ("weights", &weights, |seed| weighted(seed, 900, |_, x| 0.4 + 0.2 * x)),
    ] {
        let [without, with] = counted(logs, |seed| curvature_p_values(document, &rows(seed)).map(|p| p < 0.05));
        println!(
            "{name}: bent at 5 % in {without} of {logs} logs with rows as independent, {with} with the design effect"
        );
        assert!(without > 2 * allowed(0.05, logs) && with <= allowed(0.05, logs), "{name}: {without}, {with}");
    }
    // A bend is still found.
    let bent = |_, x: f64| line(0, x) + 1.5 * (x - 0.5) * (x - 0.5);
    let [_, found] =
        counted(50, |seed| curvature_p_values(&clusters, &clustered(seed, (80, 12), true, bent)).map(|p| p < 0.05));
    assert!(found > 35, "{found} of 50 bends");
}

#[test]
fn right_boundaries_of_clusters_and_weights_are_seldom_implausible() {
    let logs = 300;
    // Equal in the middle, where the rule has its cut.
    let crossing = |arm: usize, x: f64| 0.5 + if arm == 1 { 0.3 * (x - 0.5) } else { 0.0 };
    for (evidence, noise) in [("standard = \"once\"", ""), ("", "noise = 0.15")] {
        let clusters = document(&format!("{evidence}\n{noise}\ncluster = \"clinic\""));
        let [without, with] =
            counted(logs, |seed| both(&clusters, &clustered(seed, (60, 30), true, crossing), is_implausible));
        println!(
            "{evidence:?}, clusters: implausible in {without} of {logs} with rows as independent, {with} with the effect"
        );
        // At any time sets are wide enough for much of it by themselves.
        assert!(without > 5 * with.max(1) && with <= allowed(0.05, logs), "{evidence}: {without}, {with}");
    }
    let weights = document("standard = \"once\"\nweight = \"w\"");
    let [without, with] = counted(logs, |seed| both(&weights, &weighted(seed, 600, crossing), is_implausible));
    println!("weights: implausible in {without} of {logs} with rows that count alike, {with} with the effect");
    assert!(with <= allowed(0.05, logs), "{with} of {logs}");
}

#[test]
fn the_design_effect_is_that_of_a_mean() {
    let clusters = document("cluster = \"clinic\"");
    // Half of the variance is between clusters: 1 + 11/2.
    let rows = clustered(3, (2000, 12), true, |_, x| 0.4 + 0.2 * x);
    let [without, with] = both(&clusters, &rows, |base, _| base.design_effect());
    let with = with.expect("read again");
    assert_eq!((without, with.clusters), (None, Some(2000)));
    assert!((with.factor - 6.5).abs() < 0.5, "{with:?}");
    // Within clusters both options have the same level; together they have it all.
    let rows = clustered(4, (2000, 12), false, |_, x| 0.4 + 0.2 * x);
    let [_, with] = both(&clusters, &rows, |base, _| base.design_effect());
    assert!(with.is_some_and(|with| (with.factor - 6.5).abs() < 0.5), "{with:?}");
    // n·Σw²/(Σw)² = e for weights e^z.
    let weights = document("weight = \"w\"");
    let [_, with] = both(&weights, &weighted(5, 40_000, |_, x| 0.4 + 0.2 * x), |base, _| base.design_effect());
    let with = with.expect("read again");
    assert!(with.clusters.is_none() && (with.factor - 1_f64.exp()).abs() < 0.4, "{with:?}");
    // Rows that are alike have none.
    let alike = document("");
    let [without, with] = both(&alike, &clustered(6, (50, 12), false, |_, x| x), |base, _| base.design_effect());
    assert!(without == with && with.is_some_and(|effect| effect.factor == 1.0), "{with:?}");
}

/// Bands, and what is said.
#[test]
fn intervals_of_bands_and_counts_of_rows_allow_for_clusters() {
    let document = document("standard = \"once\"\ncluster = \"clinic\"");
    let rows = clustered(7, (120, 12), true, |arm, x| 0.4 + 0.2 * x + 0.3 * arm as f64);
    let tally = tally_of(&document, &rows);
    let base = base_of(&document, &tally, &rows, None);
    let found = review(&base, &tally).expect("it runs");
    let effect = found.design_effect.expect("read again");
    let findings = Findings::new(&document, &found);
    let said = findings.assumptions.iter().find(|found| found.name == "design effect").expect("it is said");
    assert!(said.value.ends_with("120 clusters"), "{said:?}");
    assert!(findings.assumptions.iter().all(|found| found.name != "independent rows"));
    // The same rows, each by itself.
    let alone = self::document("standard = \"once\"");
    let plain =
        review(&base_of(&alone, &tally_of(&alone, &rows), &rows, None), &tally_of(&alone, &rows)).expect("it runs");
    let width = |review: &rarely_review::Review| {
        let impact = &review.judgement.proposal.as_ref().expect("a change").impact;
        let widest = impact.bands.iter().map(|band| band.gain.upper - band.gain.lower).fold(0.0, f64::max);
        assert!(widest.is_finite());
        widest
    };
    let ratio = width(&found) / width(&plain);
    println!("design effect {:.2}, bands are {ratio:.2} times as wide", effect.factor);
    assert!((ratio / effect.factor.sqrt() - 1.0).abs() < 0.35, "{ratio} {effect:?}");
}

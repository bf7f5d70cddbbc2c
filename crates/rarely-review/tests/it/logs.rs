//! Documents and logs that several tests draw.

use rarely_core::{Arm, Rng};
use rarely_policy::PolicyDocument;
use rarely_review::{EvidenceBase, Judgement, Review, Tally, examine, review};

pub(crate) const TWO: &str = "[\"wait\", \"treat\"]";
pub(crate) const THREE: &str = "[\"low\", \"middle\", \"high\"]";

/// Two numbers and a word; two or three options.
pub(crate) fn three_features(options: &str, change: &str, rule: &str) -> PolicyDocument {
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
pub(crate) fn log(
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

pub(crate) fn by_lot(options: usize) -> impl Fn(&[f64], &mut Rng) -> usize {
    move |_, rng| rng.below(options)
}

/// One number and a word; the change as given.
pub(crate) fn age_and_smoker(change: &str, rule: &str) -> PolicyDocument {
    let text = format!(
        "policy = \"live\"\noptions = [\"wait\", \"treat\"]\noutcome = {{ column = \"y\", range = [-5.0, 5.0] }}\n\
         [[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [0, 100]\n\
         [[features]]\ncolumn = \"smoker\"\nlevels = [\"no\", \"yes\"]\n\
         [evidence]\nnoise = 0.1\nnorm_bound = 5.0\n{change}\n[rule]\n{rule}\n"
    );
    PolicyDocument::parse(&text, "live.toml").unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn threshold(cut: f64) -> String {
    format!("threshold = {{ feature = \"age\", cuts = [{cut}], options = [\"wait\", \"treat\"] }}")
}

/// A row: its context, option and reward.
pub(crate) type Row = ([f64; 3], Arm, f64);

/// Waiting gives 0.6; treating gives age/100: they are equal at 60.
pub(crate) fn drawn(rng: &mut Rng) -> Row {
    let person = [1.0, rng.uniform(), f64::from(rng.uniform() < 0.3)];
    let arm = rng.below(2);
    (person, Arm::new(arm), [0.6, person[1]][arm] + 0.1 * rng.normal())
}

pub(crate) fn summed(document: &PolicyDocument, rows: &[Row]) -> Tally {
    let mut tally = Tally::new(document);
    for (row, (person, arm, reward)) in rows.iter().enumerate() {
        tally.add(row as u64, person, *arm, *reward);
    }
    tally
}

/// The same as a live policy sums them.
pub(crate) fn live_sums(document: &PolicyDocument, rows: &[Row]) -> Tally {
    let mut tally = Tally::undivided(document);
    for (row, (person, arm, reward)) in rows.iter().enumerate() {
        tally.add(row as u64, person, *arm, *reward);
    }
    tally
}

pub(crate) fn judged(document: &PolicyDocument, tally: &Tally) -> Judgement {
    examine(&EvidenceBase::of(document, tally, None).expect("it fits"), tally).expect("it runs")
}

pub(crate) fn reviewed(document: &PolicyDocument, tally: &Tally) -> Review {
    review(&EvidenceBase::of(document, tally, None).expect("it fits"), tally).expect("it runs")
}

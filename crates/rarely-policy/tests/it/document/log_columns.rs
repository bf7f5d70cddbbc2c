//! Clusters, weights and propensities: where they stand in a log.

use rarely_policy::{DocumentError, PolicyDocument};

use crate::support::{EXAMPLE, example, explained};

/// The example with more keys under `[evidence]`.
fn with(keys: &str) -> Result<PolicyDocument, DocumentError> {
    PolicyDocument::parse(&EXAMPLE.replacen("[evidence]", &format!("[evidence]\n{keys}"), 1), "policy.toml")
}

fn told(keys: &str, expected: &str) {
    let error = with(keys).expect_err(keys);
    let message = match &error {
        DocumentError::Wrong(mistake) => explained(&**mistake),
        error => explained(error),
    };
    assert!(message.contains(expected), "{keys}: {message}");
    assert!(message.contains("policy.toml, line "), "{message}");
}

#[test]
fn columns_are_read() {
    let document = with("cluster = \"clinic\"\nweight = \"w\"\npropensity = \"p\"\nminimum_propensity = 0.05").unwrap();
    let columns = document.log_columns();
    assert_eq!((columns.cluster.as_deref(), columns.weight.as_deref()), (Some("clinic"), Some("w")));
    assert_eq!((columns.propensity.as_deref(), columns.minimum_propensity), (Some("p"), Some(0.05)));
    assert!(columns.has_propensities() && !columns.rows_are_alike());
    let document = with("propensities = { treat = \"p_treat\", watch = \"p_watch\" }").unwrap();
    assert_eq!(document.log_columns().propensities, ["p_watch", "p_treat"]);
    assert!(example().log_columns().rows_are_alike());
}

#[test]
fn keys_and_times_are_columns_that_sums_depend_on() {
    let (plain, document) = (example(), with("key = \"case\"\ntime = \"day\"").unwrap());
    let columns = document.log_columns();
    assert_eq!((columns.key.as_deref(), columns.time.as_deref()), (Some("case"), Some("day")));
    assert!(columns.rows_are_alike());
    assert_eq!(plain.difference(&document), ["key column case, was none", "time column day, was none"]);
    let swapped = with("key = \"day\"\ntime = \"case\"").unwrap();
    assert_ne!(document.fingerprint(), swapped.fingerprint());
    assert_ne!(document.fingerprint(), plain.fingerprint());
    told("key = \"systolic\"", "also that of a feature");
    told("key = \"case\"\ntime = \"case\"", "also that of evidence.key");
}

#[test]
fn mistakes_are_told_where_they_are() {
    told("propensity = \"p\"\npropensities = { watch = \"a\", treat = \"b\" }", "both propensity and propensities");
    told("propensities = { watch = \"a\", treet = \"b\" }", "unknown option \"treet\"");
    told("propensities = { watch = \"a\" }", "no column for \"treat\"");
    told("propensities = { watch = \"a\", treat = \"a\" }", "also that of evidence.propensities");
    told("cluster = \"systolic\"", "the column \"systolic\" is also that of a feature");
    told("weight = \"wellbeing\"", "also that of the outcome");
    told("propensity = \"option\"", "also that of the option");
    told("weight = \"w\"\ncluster = \"w\"", "also that of evidence.cluster");
    told("cluster = \" \"", "a column without a name");
    told("propensity = \"p\"\nminimum_propensity = 0.6", "the minimum propensity is 0.6");
    told("propensity = \"p\"\nminimum_propensity = 0", "the minimum propensity is 0");
    told("minimum_propensity = 0.1", "but no column with propensities");
}

#[test]
fn differences_name_them_and_sums_depend_on_the_columns() {
    let plain = example();
    let document = with("cluster = \"clinic\"\npropensity = \"p\"").unwrap();
    assert_eq!(plain.difference(&document), ["cluster column clinic, was none", "propensity column p, was none"]);
    assert_ne!(plain.fingerprint(), document.fingerprint());
    assert!(plain.differs(&document).is_some_and(|part| part.contains("cluster")));
    let minimum = with("cluster = \"clinic\"\npropensity = \"p\"\nminimum_propensity = 0.1").unwrap();
    assert_eq!(document.fingerprint(), minimum.fingerprint());
    assert_eq!(document.difference(&minimum), ["minimum propensity 0.1, was none"]);
}

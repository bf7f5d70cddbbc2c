//! Laws: any finite table survives being written and read.

use std::fmt::Write as _;

use proptest::prelude::*;
use rarely_data::{Counterfactuals, table};

use crate::support::file;

fn tables() -> impl Strategy<Value = Counterfactuals> {
    (1_usize..5, 2_usize..5, 1_usize..20, any::<bool>()).prop_flat_map(|(dimension, arms, people, has_means)| {
        let number =
            |limit: f64| prop_oneof![-limit..limit, -1.0..1.0, Just(limit), Just(-0.0), Just(f64::MIN_POSITIVE)];
        let contexts = prop::collection::vec(number(1e9), people * dimension);
        let outcomes = prop::collection::vec(number(1e12), people * arms);
        let means = prop::collection::vec(number(1e12), people * arms);
        (contexts, outcomes, means).prop_map(move |(contexts, outcomes, means)| Counterfactuals {
            label: "people.csv".to_owned(),
            columns: (0..dimension).map(|column| format!("variable \"{column}\", a unit")).collect(),
            contexts,
            arms,
            means: if has_means { means } else { outcomes.clone() },
            outcomes,
        })
    })
}

fn written(people: &Counterfactuals, end: &str) -> String {
    let quoted = people.columns.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let outcomes = (0..people.arms).map(|arm| format!("outcome:{arm}"));
    let means = (0..people.arms).map(|arm| format!("mean:{arm}"));
    let with_means = people.means != people.outcomes;
    let header: Vec<String> = quoted.chain(outcomes).chain(means.filter(|_| with_means)).collect();
    let mut text = header.join(",") + end;
    for person in 0..people.people() {
        let means = people.means_of(person).iter().filter(|_| with_means);
        let fields = people.context(person).iter().chain(people.outcomes_of(person)).chain(means);
        let row: Vec<String> = fields.map(|number| format!("{number:?}")).collect();
        write!(text, "{}{end}", row.join(",")).expect("a string takes everything");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_table_survives_being_written_and_read(people in tables(), windows in any::<bool>()) {
        let (_folder, path) = file("people.csv", written(&people, if windows { "\r\n" } else { "\n" }));
        let read = table::read(&path).expect("a well-formed table");
        read.validate().expect("valid");
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>();
        prop_assert_eq!(bits(&read.contexts), bits(&people.contexts));
        prop_assert_eq!(bits(&read.outcomes), bits(&people.outcomes));
        prop_assert_eq!(bits(&read.means), bits(&people.means));
        prop_assert_eq!(read, people);
    }

    /// Whatever bytes a file holds, reading it ends in a table or in an error with a message.
    #[test]
    fn no_bytes_make_the_readers_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (_folder, path) = file("ihdp_npci_1.csv", &bytes);
        prop_assert!(table::read(&path).map_or_else(|error| !error.to_string().is_empty(), |read| read.validate().is_ok()));
        prop_assert!(rarely_data::ihdp::read(&[path]).is_err());
    }
}

//! `LogEntry` and `LookupKey`.

use std::collections::HashSet;

use rarely_store::{Hash, LogEntry, LookupKey};

#[test]
fn hash_is_of_the_documented_bytes() {
    let entry = LogEntry {
        number: 2,
        time_ms: 3,
        elapsed_ms: None,
        actor: "ann".to_owned(),
        policy: 5,
        kind: "said".to_owned(),
        body: "{}".to_owned(),
        hash: Hash::ZERO,
    };
    let previous = Hash([7; 32]);
    let mut bytes = vec![7_u8; 32];
    for number in [2_u64, 3, 5] {
        bytes.extend(number.to_be_bytes());
    }
    for text in ["ann", "said", "{}"] {
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text.bytes());
    }
    assert_eq!(entry.expected_hash(&previous), Hash::of(&bytes));
}

#[test]
fn keys_of_any_length_are_distinct() {
    let long = [7_u8; 500];
    let hash = Hash::of(&long);
    let keys: HashSet<_> = [&long[..], &long[..499], &long[..64], &long[..65], &hash.0, b""]
        .into_iter()
        .flat_map(|name| [LookupKey::new(0, name), LookupKey::new(1, name)])
        .collect();
    assert_eq!(keys.len(), 12);
    assert!(keys.iter().all(|key| key.as_bytes().len() <= LookupKey::LONGEST + 2));
}

#[test]
fn the_test_vectors_of_the_format_document_are_right() {
    let document = include_str!("../../../../docs/store-format.md");
    let mut previous = Hash::ZERO;
    for (number, policy, kind) in [(1, 0, "said"), (2, 2, "registered")] {
        let (actor, body) = ("ann".to_owned(), "{}".to_owned());
        let entry = LogEntry {
            number,
            time_ms: 1000,
            elapsed_ms: None,
            actor,
            policy,
            kind: kind.to_owned(),
            body,
            hash: Hash::ZERO,
        };
        previous = entry.expected_hash(&previous);
        assert!(document.contains(&format!("| {number} | {policy} | `{kind}` | `{previous}` |")), "{previous}");
    }
    let witnessed = [&2_u64.to_be_bytes()[..], &previous.0].concat();
    assert!(document.contains(&format!("`{}`", Hash::of(&witnessed))));
    let key = LookupKey::new(2, &17_u64.to_be_bytes());
    assert!(document.contains(&format!("`{}`", rarely_store::Hex(key.as_bytes()))));
    let sealed = Hash::of(&[&18_u64.to_be_bytes()[..], key.as_bytes()].concat());
    let seal = sealed.0[..8].iter().fold(0_i64, |seal, byte| seal << 8 | i64::from(*byte));
    assert!(document.contains(&format!("`{seal}`")), "{seal}");
}

//! `LogEntry` and `LookupKey`.

use std::collections::HashSet;

use rarely_store::{Hash, LogEntry, LookupKey};

#[test]
fn hash_is_of_the_documented_bytes() {
    let entry = LogEntry {
        number: 2,
        time_ms: 3,
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

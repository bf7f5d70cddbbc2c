//! The law of the chain: what was written verifies, and anything else does not.

use proptest::prelude::*;
use rarely_store::{ChainFault, Entry, Hash, Head, Log, MemoryLog, Stamped, verify_chain};

use crate::support::chained;

#[test]
fn hash_is_of_the_documented_bytes() {
    let entry = Entry {
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
fn hash_prints_and_parses_as_hexadecimal() {
    let hash = Hash::of(b"abc");
    // FIPS 180-4's own example.
    assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    let json = serde_json::to_string(&hash).unwrap();
    assert_eq!(serde_json::from_str::<Hash>(&json).unwrap(), hash);
    for wrong in ["", "ba78", &"g".repeat(64), &"+1".repeat(32), &"é".repeat(32)] {
        assert!(wrong.parse::<Hash>().is_err(), "{wrong:?}");
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    (".{0,12}", 0_u64..9, "[a-z]{1,8}", ".{0,40}", 0_u64..1000).prop_map(|(actor, policy, kind, body, time_ms)| Entry {
        number: 0,
        time_ms,
        actor,
        policy,
        kind,
        body,
        hash: Hash::ZERO,
    })
}

/// A chain of these entries, with numbers from 1 and times that do not decrease.
fn chain(entries: Vec<Entry>) -> Vec<Stamped> {
    let mut time_ms = 0;
    let numbered = entries.into_iter().zip(1..).map(|(entry, number)| {
        time_ms += entry.time_ms;
        Entry { number, time_ms, ..entry }
    });
    chained(Head::EMPTY, numbered.collect::<Vec<_>>())
}

fn log_of(chain: &[Stamped]) -> MemoryLog {
    let log = MemoryLog::new();
    log.append(chain).unwrap();
    log
}

proptest! {
    #[test]
    fn what_was_chained_verifies(entries in prop::collection::vec(entry(), 0..40)) {
        let chain = chain(entries);
        let expected = chain.last().map_or(Head::EMPTY, |last| Head { number: last.entry.number, hash: last.entry.hash });
        prop_assert_eq!(verify_chain(&log_of(&chain), |_| ()).unwrap(), expected);
    }

    #[test]
    fn any_change_is_named(
        entries in prop::collection::vec(entry(), 1..40),
        at in any::<prop::sample::Index>(),
        field in 0..6,
    ) {
        let mut chain = chain(entries);
        let changed = at.get_mut(&mut chain);
        let number = changed.entry.number;
        match field {
            0 => changed.entry.time_ms += 1,
            1 => changed.entry.policy += 1,
            2 => changed.entry.actor.push('x'),
            3 => changed.entry.kind.push('x'),
            4 => changed.entry.body.push('x'),
            // From one text into the next: only the lengths tell them apart.
            _ => {
                let moved = changed.entry.kind.remove(0);
                changed.entry.actor.push(moved);
            }
        }
        let fault = verify_chain(&log_of(&chain), |_| ()).unwrap_err();
        prop_assert!(matches!(fault, ChainFault::Changed { .. }), "{fault}");
        prop_assert_eq!(fault.number(), number);
    }

    #[test]
    fn a_change_that_is_hashed_anew_is_named_at_the_next_entry(
        entries in prop::collection::vec(entry(), 2..40),
        at in any::<prop::sample::Index>(),
    ) {
        let mut chain = chain(entries);
        let changed = at.index(chain.len() - 1);
        chain[changed].entry.body.push('x');
        let previous = changed.checked_sub(1).map_or(Hash::ZERO, |before| chain[before].entry.hash);
        chain[changed].entry.hash = chain[changed].entry.expected_hash(&previous);
        let fault = verify_chain(&log_of(&chain), |_| ()).unwrap_err();
        prop_assert_eq!(fault.number(), chain[changed].entry.number + 1);
    }
}

#[test]
fn a_time_that_goes_back_is_a_fault_even_if_the_hashes_fit() {
    let at = |number, time_ms| Entry {
        number,
        time_ms,
        actor: String::new(),
        policy: 0,
        kind: "said".to_owned(),
        body: "{}".to_owned(),
        hash: Hash::ZERO,
    };
    let chain = chained(Head::EMPTY, [at(1, 10), at(2, 9)]);
    let fault = verify_chain(&log_of(&chain), |_| ()).unwrap_err();
    assert!(matches!(fault, ChainFault::Earlier { number: 2, time_ms: 9, before_ms: 10 }), "{fault}");
}

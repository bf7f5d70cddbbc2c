//! `verify_chain`: an unmodified log verifies, and a modified one does not.

mod damage;

use proptest::prelude::*;
use rarely_store::{ChainFault, EventLog, Hash, Head, KeyedEntry, LogEntry, MemoryLog, verify_chain};

use crate::support::chained;

fn entry() -> impl Strategy<Value = LogEntry> {
    (".{0,12}", 0_u64..9, "[a-z]{1,8}", ".{0,40}", 0_u64..1000).prop_map(|(actor, policy, kind, body, time_ms)| {
        LogEntry { number: 0, time_ms, elapsed_ms: None, actor, policy, kind, body, hash: Hash::ZERO }
    })
}

/// A chain of these entries, with numbers from 1 and times that do not decrease.
fn chain(entries: Vec<LogEntry>) -> Vec<KeyedEntry> {
    let mut time_ms = 0;
    let numbered = entries.into_iter().zip(1..).map(|(entry, number)| {
        time_ms += entry.time_ms;
        LogEntry { number, time_ms, ..entry }
    });
    chained(Head::EMPTY, numbered.collect::<Vec<_>>())
}

fn log_of(chain: &[KeyedEntry]) -> MemoryLog {
    let log = MemoryLog::new();
    log.append(chain).unwrap();
    log
}

proptest! {
    #[test]
    fn an_unmodified_chain_verifies(entries in prop::collection::vec(entry(), 0..40)) {
        let chain = chain(entries);
        let expected = chain.last().map_or(Head::EMPTY, |last| Head { number: last.entry.number, hash: last.entry.hash });
        prop_assert_eq!(verify_chain(&log_of(&chain), |_| ()).unwrap(), expected);
    }

    #[test]
    fn any_modification_is_found(
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
            // Moves a byte from one text into the next: only the lengths differ.
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
    fn a_modification_with_a_new_hash_is_found_at_the_next_entry(
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
fn a_decreasing_time_is_a_fault_even_if_the_hashes_match() {
    let at = |number, time_ms| LogEntry {
        number,
        time_ms,
        elapsed_ms: None,
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

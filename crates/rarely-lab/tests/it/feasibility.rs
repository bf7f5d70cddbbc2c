//! Who plays arms that its own data rule out.

use rarely_core::Algorithm;
use rarely_lab::RunContext;
use rarely_lab::reproduction::{Feasibility, feasibility};

fn look(algorithm: Algorithm) -> Feasibility {
    let found = feasibility(algorithm, 4, 4, 800, &RunContext::quiet()).expect("it runs");
    assert_eq!((found.runs, found.rounds), (4, 4 * (800 - 20)), "all rounds after the pilot are looked at");
    assert!(found.despite_plausible <= found.excluded_exactly && found.excluded <= found.excluded_exactly, "{found:?}");
    found
}

/// Greedy's arm has the largest estimate and LinUCB's the largest upper end, so that neither has an interval below another's.
#[test]
fn greedy_and_linucb_are_feasible() {
    for algorithm in [Algorithm::Greedy, Algorithm::LinUcb] {
        let found = look(algorithm);
        assert_eq!(found.excluded, 0, "{found:?}");
    }
}

/// The check finds something where there is something to find: rs-conservative acts on one joint angle, not on every pair of arms, and
/// played an excluded arm in 146 of 39,600 rounds with another seed.
#[test]
fn the_check_finds_excluded_arms() {
    let found = feasibility(Algorithm::RsConservative, 4, 20, 2_000, &RunContext::quiet()).expect("it runs");
    assert!(found.excluded_exactly > 0, "{found:?}");
    assert_eq!(found.despite_plausible, 0, "Theorem 2: {found:?}");
}

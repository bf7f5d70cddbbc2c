//! `examples/embed_core.rs` runs to its end.

#[expect(dead_code, reason = "the test calls `run`, not `main`")]
#[path = "../../examples/embed_core.rs"]
mod example;

#[test]
fn the_example_runs() {
    let (rounds, changes) = example::run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rounds, 2_500);
    assert!(changes >= 1, "the rule treats too few patients, and the data say so");
}

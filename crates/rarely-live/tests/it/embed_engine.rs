//! `examples/embed_engine.rs` runs to its end.

#[expect(dead_code, reason = "the test calls `run`, not `main`")]
#[path = "../../examples/embed_engine.rs"]
mod example;

#[test]
fn the_example_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let summary = example::run(&directory.path().join("rarely.db")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((summary.policies, summary.decisions, summary.outcomes), (1, 4000, 4000));
}

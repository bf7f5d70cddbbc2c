//! The Pareto frontier of regret and changes.

use rarely_lab::{Contestant, Experiment, RunContext, WorldSource, frontier};

/// The frontier is what brute force says: no other point has both fewer changes and less regret.
#[test]
fn the_frontier_is_not_beaten() {
    let names: Vec<String> = frontier::candidates().into_iter().map(|contestant| contestant.name).collect();
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "every candidate has a name of its own");

    let experiment =
        Experiment { rounds: Some(300), judged_on: 200, ..Experiment::new(WorldSource::linear(3, 3), 3, 2) };
    let few: Vec<Contestant> = frontier::candidates().into_iter().step_by(3).collect();
    let points = frontier::points(&experiment.run(&few, &RunContext::quiet()).expect("it runs"));
    let place = |point: &frontier::FrontierPoint| (point.summary.changes.mean, point.summary.regret_per_step.mean);
    for point in &points {
        let (changes, regret) = place(point);
        let beaten = points.iter().map(place).any(|(c, r)| c <= changes && r <= regret && (c, r) != (changes, regret));
        assert_eq!(point.on_frontier, !beaten, "{}", point.summary.name);
    }
    assert!(points.iter().any(|point| point.on_frontier) && points.iter().any(|point| !point.on_frontier));
}

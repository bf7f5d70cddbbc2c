//! The Pareto frontier of regret and changes.

use rarely_core::{Algorithm, Profile};
use rarely_lab::frontier::FrontierPlace;
use rarely_lab::report::results::text::frontier_place;
use rarely_lab::{ChangeRecord, Contestant, ContestantResult, Experiment, Run, RunContext, WorldSource, frontier};

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

fn result(name: &str, regrets: &[f64], changes: usize) -> ContestantResult {
    let change = ChangeRecord { round: 1, gain: 0.1, changed_share: 0.5, ..ChangeRecord::default() };
    let run =
        |&regret: &f64| Run { regret: vec![regret * 10.0], changes: vec![change.clone(); changes], ..Run::default() };
    let contestant = Contestant::new(Algorithm::BoundaryGreedy, Profile::Rigorous).named(name);
    ContestantResult::of_runs(contestant, vec![10], regrets.iter().map(run).collect())
}

/// Where the default lies is said in words, by the numbers: on the frontier, beaten in regret, in changes, in both, or within the error.
#[test]
fn the_place_of_one_contestant_is_said() {
    let own = || result("rarely", &[0.10, 0.11, 0.09], 3);
    let say = |others: Vec<ContestantResult>| {
        let all = [vec![own()], others].concat();
        let place = FrontierPlace::of(&all, "rarely").expect("it is there");
        let on_frontier = frontier::points(&all)[0].on_frontier;
        assert_eq!(place.is_on_frontier(), on_frontier);
        frontier_place(&place)
    };
    let alone = say(vec![result("costly", &[0.2, 0.2, 0.2], 1), result("restless", &[0.01, 0.01, 0.01], 9)]);
    assert!(alone.contains("rarely changes 3.0") && alone.contains("It is on the frontier"), "{alone}");
    let beaten = say(vec![result("better", &[0.05, 0.055, 0.045], 3), result("calm", &[0.1, 0.1, 0.09], 1)]);
    assert!(
        beaten.contains("not on the frontier") && beaten.contains("better has a regret per step of 0.0500"),
        "{beaten}"
    );
    assert!(beaten.contains("2.00 × that") && beaten.contains("calm changes 1.0"), "{beaten}");
    assert!(!beaten.contains("do not tell"), "half the regret in every run is told apart: {beaten}");
    let near = say(vec![result("near", &[0.12, 0.08, 0.09], 3)]);
    assert!(near.contains("these runs do not tell them apart"), "{near}");
    assert!(FrontierPlace::of(&[own()], "other").is_none());
}

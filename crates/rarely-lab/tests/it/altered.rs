//! What may happen in any world.

use rarely_core::{Algorithm, Profile, Round};
use rarely_lab::environment::REGISTRY;
use rarely_lab::{Contestant, Environment, Experiment, RunContext, WorldProperties, WorldSource};

fn altered(properties: WorldProperties) -> std::sync::Arc<dyn Environment> {
    properties.of(WorldSource::linear(3, 2).environment().expect("linear")).expect("in range")
}

/// Every arm takes the place of the next one: after `drift` rounds the means are those of the world without drift, one arm on; halfway they are
/// in the middle. The truth follows, and people and noise stay.
#[test]
fn arms_drift_to_the_next_place() {
    let plain = altered(WorldProperties::default());
    let drifting = altered(WorldProperties { drift: 10, ..WorldProperties::default() });
    let (mut one, mut other) = (plain.world(3, 0), drifting.world(3, 0));
    let (mut still, mut moved) = (Round::new(plain.shape()), Round::new(plain.shape()));
    for round in 0..31_usize {
        let truth = other.truth().expect("linear").to_vec();
        one.next(&mut still);
        other.next(&mut moved);
        assert_eq!(still.context, moved.context);
        let (place, weight) = (round / 10, (round % 10) as f64 / 10.0);
        for arm in 0..3 {
            let expected =
                (1.0 - weight) * still.means[(arm + place) % 3] + weight * still.means[(arm + place + 1) % 3];
            assert!((moved.means[arm] - expected).abs() < 1e-12);
            let own = &truth[2 * arm..2 * arm + 2];
            let mean: f64 = own.iter().zip(&moved.context).map(|(theta, s)| theta * s).sum();
            assert!((mean - expected).abs() < 1e-12, "the truth is that of the round");
            let noise = moved.rewards[arm] - moved.means[arm];
            assert!((noise - (still.rewards[0] - still.means[0])).abs() < 1e-12);
        }
    }
    assert!(other.drifts() && !one.drifts());
}

/// The share of missing outcomes is as declared (10,000 draws: 4 standard errors are 0.016), and the others come when they are due.
#[test]
fn outcomes_are_missing_late_and_in_batches() {
    let properties = WorldProperties { late: 3, missing: 0.2, batch: 10, ..WorldProperties::default() };
    let mut delay = altered(properties).world(1, 0).delay().expect("they are late");
    let mut missing = 0;
    for round in 1..=10_000_u64 {
        match delay(round, 0.0, 0.0) {
            None => missing += 1,
            Some(rounds) => {
                let due = round + rounds;
                assert!(due % 10 == 0 && due >= round + 3 && due < round + 13, "{round}: {due}");
            }
        }
    }
    assert!((f64::from(missing) / 10_000.0 - 0.2).abs() < 0.016, "{missing}");
}

/// In every environment, with everything at once: it runs, and the sets still hold where the truth does not move.
#[test]
fn any_world_has_them() {
    let contestants =
        [Algorithm::Rarely, Algorithm::LinUcb].map(|algorithm| Contestant::new(algorithm, Profile::Rigorous));
    for entry in REGISTRY {
        let source =
            WorldSource::Synthetic { name: entry.name.to_owned(), arms: 3, dimension: 2, noise: 0.1, strength: 1.0 };
        let properties = WorldProperties { late: 5, missing: 0.3, drift: 100, batch: 7 };
        let experiment = Experiment { rounds: Some(200), judged_on: 300, properties, ..Experiment::new(source, 2, 1) };
        let results = experiment.run(&contestants, &RunContext::quiet()).expect(entry.name);
        assert!(results[0].runs.iter().all(|run| run.outcomes_waiting > 0), "{}", entry.name);
    }
}

/// Outcomes that are missing at random, or late, leave the confidence sets valid: δ = 1/500 in each of 10 runs.
#[test]
fn sets_hold_without_some_outcomes() {
    let properties = WorldProperties { late: 20, missing: 0.4, batch: 25, ..WorldProperties::default() };
    let experiment = Experiment {
        rounds: Some(500),
        judged_on: 300,
        properties,
        ..Experiment::new(WorldSource::linear(3, 2), 10, 2)
    };
    let contestants =
        [Algorithm::Rarely, Algorithm::LinUcb].map(|algorithm| Contestant::new(algorithm, Profile::Rigorous));
    for result in experiment.run(&contestants, &RunContext::quiet()).expect("it runs") {
        assert_eq!(result.coverage(), Some(1.0), "{}", result.name());
    }
}

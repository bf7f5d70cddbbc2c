//! Theorem 3: two arms, two context variables.

use rarely_core::{Algorithm, Certificates, Exploration, Profile, Sets, Shape, Share};
use rarely_lab::reproduction::theorem_three_gap;
use rarely_lab::{ChangeRecord, Contestant, Experiment, Linear, RunContext, WorldSource};

/// Every `boundary-conservative` change of 1,000 runs whose sets held.
fn changes(equipoise: f64) -> Vec<ChangeRecord> {
    let environment = Linear { shape: Shape::new(2, 2).expect("a shape"), noise: 0.1 };
    let mut contestant = Contestant::new(Algorithm::BoundaryConservative, Profile::Rigorous);
    contestant.declared.error_probability = Some(0.01);
    contestant.declared.sets = Some(Sets::Joint);
    contestant.explore = Some(Exploration { equipoise: Share::new(equipoise).expect("a share"), ..Exploration::NONE });
    let certificates = Certificates::Full;
    let experiment = Experiment {
        rounds: Some(300),
        judged_on: 2_000,
        certificates,
        ..Experiment::new(WorldSource::of(environment), 1_000, 3)
    };
    let outcome = experiment.run(&[contestant], &RunContext::quiet()).expect("it runs").remove(0);
    let coverage = outcome.coverage().expect("a linear truth");
    assert!(coverage > 0.98, "{coverage}");
    let held = outcome.runs.into_iter().filter(|run| run.rounds_outside == Some(0));
    held.flat_map(|run| run.changes).collect()
}

#[test]
fn conservative_changes_are_certified_and_do_not_raise_regret() {
    for equipoise in [0.0, 0.05] {
        let changes = changes(equipoise);
        let (mut certified, mut raised) = (0, 0);
        for change in &changes {
            let certificate = change.certificate.as_ref().expect("a certificate");
            let theorem = certificate.theorem_three.expect("two context variables");
            assert!(theorem.holds_as_published(), "round {}: {theorem:?}", change.round);
            assert!(
                !theorem.certifies() || change.gain >= -1e-12,
                "round {}: {} although {theorem:?}",
                change.round,
                change.gain
            );
            certified += usize::from(theorem.certifies());
            raised += usize::from(change.gain < -1e-12);
        }
        println!(
            "equipoise {equipoise}: {} changes, {certified} certified with our fifth condition, {raised} raised regret",
            changes.len()
        );
        assert!(
            changes.len() > 1_000 && certified as f64 > 0.9 * changes.len() as f64,
            "{certified} of {}",
            changes.len()
        );
        assert!(equipoise > 0.0 || raised == 0, "without exploration none of these runs shows the gap in Theorem 3");
    }
}

/// The paper's four conditions do not suffice.
#[test]
fn theorem_three_as_printed_has_a_gap() {
    let gap = theorem_three_gap().expect("a case");
    assert!((gap.moved_degrees - 35.0).abs() < 1e-4, "{gap:?}");
    assert!(gap.truth_in_set, "{gap:?}");
    assert!(gap.conditions.holds_as_published() && !gap.conditions.certifies(), "{gap:?}");
    assert!(gap.gain() < 0.0 && gap.after < gap.before, "the change lowers the reward: {gap:?}");
    // The edge of the plausible boundaries is where the update ends, and the truth is within the set.
    assert!((gap.new_degrees - gap.plausible_degrees).abs() < 1e-4 && gap.truth_distance < 1.0, "{gap:?}");
    let words = gap.words();
    for number in ["120°", "85°", "35°", "−80°"] {
        assert!(words.contains(number), "{number} is not in: {words}");
    }
}

//! Sweeps.

use rarely_core::{Algorithm, Profile};
use rarely_error::Explain as _;
use rarely_lab::sweep::{Setting, Sweep, SweepAxis};
use rarely_lab::{Contestant, Experiment, RunContext, WorldSource};

#[test]
fn a_sweep_runs_every_combination() {
    let experiment =
        Experiment { rounds: Some(100), judged_on: 100, ..Experiment::new(WorldSource::linear(2, 2), 2, 3) };
    let contestants =
        [Algorithm::Rarely, Algorithm::LinUcb].map(|algorithm| Contestant::new(algorithm, Profile::Rigorous));
    let axes: Vec<SweepAxis> =
        ["penalty=0.01,1", "dim=2,3,4"].map(|text| text.parse().expect("an axis")).into_iter().collect();
    let cells = Sweep::new(&experiment, &contestants, &axes)
        .and_then(|sweep| sweep.run(&RunContext::quiet()))
        .expect("it runs");
    let values: Vec<Vec<f64>> = cells.iter().map(|cell| cell.values.clone()).collect();
    assert_eq!(values, [[0.01, 2.0], [0.01, 3.0], [0.01, 4.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]].map(|v| v.to_vec()));
    // The same cell alone gives the same numbers: nothing leaks from one to the next.
    let alone = Experiment { source: WorldSource::linear(2, 3), ..experiment };
    let mut single = contestants.clone();
    for contestant in &mut single {
        contestant.declared.penalty = Some(1.0);
    }
    let again = alone.run(&single, &RunContext::quiet()).expect("it runs");
    assert_eq!(again[0].runs, cells[4].results[0].runs);
    assert_eq!(rarely_lab::sweep::frame(&axes, &cells).rows(), 12);
}

#[test]
fn settings_that_cannot_be_varied_are_refused() {
    let message = |text: &str| {
        let error = text.parse::<SweepAxis>().expect_err("refused");
        error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}\nhelp: {remedy}"))
    };
    assert_eq!(
        message("penalty"),
        "`penalty` is not a setting with values\nhelp: write it like penalty=0.001,0.01,0.1"
    );
    assert!(
        message("colour=1").contains("there is no setting `colour` to vary\nhelp: the settings are tolerance, penalty")
    );
    assert_eq!(message("penalty=0.1,x"), "penalty is `x`, but it must be a number");
    let axis: SweepAxis = "arms=2.5".parse().expect("an axis");
    assert_eq!(axis.setting, Setting::Arms);
    let experiment = Experiment { rounds: Some(10), ..Experiment::new(WorldSource::linear(2, 2), 1, 1) };
    let error = Sweep::new(&experiment, &[], &[axis]).err().expect("refused");
    assert!(error.to_string().contains("whole number"), "{error}");
}

//! Result tables, sweeps and the frontier.

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use rarely_core::{Algorithm, Certificates, Profile};
use rarely_error::Explain as _;
use rarely_lab::sweep::{Setting, Sweep, SweepAxis};
use rarely_lab::{Contestant, ContestantResult, Experiment, RunContext, WorldSource, frontier, results};
use rarely_output::ColumnTable;

fn outcomes() -> Vec<ContestantResult> {
    let contestants = [Algorithm::Rarely, Algorithm::RsLinUcb, Algorithm::Random]
        .map(|algorithm| Contestant::new(algorithm, Profile::Rigorous));
    let experiment = Experiment {
        rounds: Some(500),
        judged_on: 500,
        certificates: Certificates::Full,
        ..Experiment::new(WorldSource::linear(3, 2), 4, 6)
    };
    experiment.run(&contestants, &RunContext::quiet()).expect("it runs")
}

fn rows(frame: &ColumnTable) -> Vec<parquet::record::Row> {
    let bytes = frame.to_parquet().expect("a file");
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("it can be read");
    reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect()
}

/// The same number by two ways: regret by the loop, in the summary, is the last point of the saved trace.
#[test]
fn the_saved_trace_ends_with_the_summary() {
    let outcomes = outcomes();
    let traces = rows(&results::traces(&outcomes));
    for outcome in &outcomes {
        let own: Vec<_> =
            traces.iter().filter(|row| row.get_string(0).expect("a name").as_str() == outcome.name()).collect();
        let last = own.last().expect("a point");
        let summary = outcome.summary();
        assert_eq!(last.get_long(1).expect("a round"), 500);
        assert_eq!(last.get_double(2).expect("regret"), summary.regret_per_step.mean);
        assert_eq!(last.get_double(4).expect("changes"), summary.changes.mean);
        assert!(own.len() <= 201, "thinned: {}", own.len());
    }
}

/// Each change is saved with its certificate, and what the certificate promises is what happened: the true gain lies in the interval
/// (δ = 1/500, and the population of the certificate is not the judge's sample, so that it may miss by its sampling error).
#[test]
fn changes_are_saved_with_their_certificates() {
    let outcomes = outcomes();
    let changes = rows(&results::changes(&outcomes));
    let made: usize = outcomes.iter().flat_map(|outcome| &outcome.runs).map(|run| run.changes.len()).sum();
    assert_eq!(changes.len(), made);
    let certified: Vec<_> = changes.iter().filter(|row| !row.is_null(8).expect("a column")).collect();
    assert!(!certified.is_empty() && certified.len() < made, "rs-linucb has no certificates");
    for row in certified {
        let (gain, low, high) = (row.get_double(5), row.get_double(8), row.get_double(9));
        let (gain, low, high) = (gain.expect("a gain"), low.expect("a lower end"), high.expect("an upper end"));
        assert!(low - 0.1 <= gain && gain <= high + 0.1, "{low} {gain} {high}");
        assert_eq!(row.get_string(15).expect("a digest").len(), 64);
    }
}

#[test]
fn csv_quotes_what_it_must() {
    let frame = ColumnTable::default()
        .texts("a,b", ["plain", "with \"quotes\", and a comma"])
        .optional("x", [Some(0.1), None])
        .numbers("y", [1e-7, f64::NAN])
        .counts("n", [1, 2]);
    let expected = "\"a,b\",x,y,n\nplain,0.1,0.0000001,1\n\"with \"\"quotes\"\", and a comma\",,,2\n";
    assert_eq!(frame.to_csv(), expected);
    let read = rows(&frame);
    assert_eq!(read.len(), 2);
    assert!(read[1].is_null(1).expect("a column") && read[1].is_null(2).expect("a column"));
}

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

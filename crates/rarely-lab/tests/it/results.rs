//! Result tables.

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;
use rarely_core::{Algorithm, Certificates, Profile};
use rarely_lab::results::LabelledResults;
use rarely_lab::{Contestant, ContestantResult, Experiment, Quantiles, RunContext, WorldSource, results};
use rarely_output::{ColumnTable, TableColumn};

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

/// Each change is saved with its certificate, and what the certificate promises is what happened: on the people that it lists the true
/// gain lies in the interval (δ = 1/500 for each of 4 runs).
#[test]
fn changes_are_saved_with_their_certificates() {
    let outcomes = outcomes();
    let changes = rows(&results::changes(&outcomes));
    let made: usize = outcomes.iter().flat_map(|outcome| &outcome.runs).map(|run| run.changes.len()).sum();
    assert_eq!(changes.len(), made);
    let certified: Vec<_> = changes.iter().filter(|row| !row.is_null(8).expect("a column")).collect();
    assert!(!certified.is_empty() && certified.len() < made, "rs-linucb has no certificates");
    for row in certified {
        let [low, high, gain] = [8, 9, 10].map(|column| row.get_double(column).expect("a number"));
        assert!(low - 1e-9 <= gain && gain <= high + 1e-9, "{low} {gain} {high}");
        assert_eq!(row.get_string(16).expect("a digest").len(), 64);
    }
}

/// What changes and renewals must be read with is in the table: the share of cases that got another option than the rule's, and who
/// ended stuck.
#[test]
fn the_table_says_how_far_the_rule_is_followed() {
    let outcomes = outcomes();
    let [rarely, linucb, random] = &outcomes[..] else { panic!("three contestants") };
    let (own, none) = (rarely.summary(), random.summary());
    assert!(own.renewals.mean > 0.0);
    assert!(own.off_rule_percent.is_some_and(|share| 0.0 < share.mean && share.mean < 50.0));
    assert_eq!((none.off_rule_percent, linucb.summary().off_rule_percent), (None, None));
    assert_eq!((none.renewals.mean, none.stuck_runs), (0.0, 0));
    let csv = results::summary(&outcomes).to_csv();
    for column in ["renewals", "off_rule_percent", "stuck_runs"] {
        assert!(csv.lines().next().is_some_and(|header| header.split(',').any(|name| name == column)), "{column}");
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

/// A row for each run of each contestant; its numbers are those of the summary.
#[test]
fn every_run_is_a_row() {
    let outcomes = outcomes();
    let table = results::runs(&[LabelledResults::plain(6, &outcomes)]);
    assert_eq!(table.rows(), 3 * 4);
    let numbers = |name: &str| -> Vec<Option<f64>> {
        let (_, column) = table.columns().iter().find(|(known, _)| known == name).expect(name);
        match column {
            TableColumn::Number(values) => values.clone(),
            TableColumn::Count(values) => values.iter().map(|&value| Some(value as f64)).collect(),
            TableColumn::Text(_) => panic!("{name} are words"),
        }
    };
    let (per_step, at_end) = (numbers("regret_per_step"), numbers("regret_at_500"));
    for (number, outcome) in outcomes.iter().enumerate() {
        let own: Vec<f64> = per_step[4 * number..4 * number + 4].iter().map(|value| value.expect("a number")).collect();
        assert_eq!(Quantiles::of(&own), outcome.summary().regret_quantiles);
        assert_eq!(own, outcome.regrets());
        for (run, end) in at_end[4 * number..4 * number + 4].iter().enumerate() {
            assert_eq!(end.expect("a number"), outcome.total_regrets()[run]);
        }
    }
    // rarely and rs-linucb learn, and are told δ = 1/500; random is told nothing.
    let told = numbers("error_probability");
    assert!(told[..8].iter().all(|&value| value == Some(1.0 / 500.0)) && told[8..].iter().all(Option::is_none));
    let bounds = numbers("norm_bound");
    assert_ne!(bounds[0], bounds[1], "auto is the true norm of each run");
    assert_eq!(bounds[0], bounds[4], "which is the same for every algorithm");
}

/// The traces of the runs have the mean of the traces.
#[test]
fn traces_of_runs_have_the_mean_of_the_traces() {
    let outcomes = outcomes();
    let (runs, traces) = (results::run_traces(&[LabelledResults::plain(6, &outcomes)]), results::traces(&outcomes));
    let column = |table: &ColumnTable, name: &str| -> Vec<f64> {
        match &table.columns().iter().find(|(known, _)| known == name).expect(name).1 {
            TableColumn::Number(values) => values.iter().map(|value| value.expect("a number")).collect(),
            _ => panic!("{name} are numbers"),
        }
    };
    let (each, means) = (column(&runs, "regret_per_step"), column(&traces, "regret_per_step"));
    let points = means.len() / 3;
    for (at, mean) in means.iter().enumerate() {
        let (contestant, point) = (at / points, at % points);
        let own: f64 = (0..4).map(|run| each[(4 * contestant + run) * points + point]).sum();
        assert!((own / 4.0 - mean).abs() < 1e-12);
    }
}

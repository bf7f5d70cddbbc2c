//! Reading a log: parsed only, as cases, and learned from, from CSV and from Parquet, on one core; and reviewed by all of them.
//!
//! `rarely-bench review [FOLDER] [FORMAT WORK]`: the log is written into the folder, unless it is there already, or else into a
//! temporary one. With a format (csv, parquet) and a piece of work (parse, cases, learn, review, shared), that alone is done, once, for
//! `benchmarks/review`; learn prints what it learned. `state` prints the statistics of a review, so that two builds can be compared.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use rarely_core::{Context, Parameters, Rng, Statistics};
use rarely_data::{Cases, Columns, DataError, LogReader, LoggedCase};
use rarely_policy::{FieldValue, PolicyDocument};
use rarely_review::Tally;

use crate::race::Race;
use crate::verdict;

const ROWS: usize = 1_000_000;
/// With the intercept, d = 20.
const FEATURES: usize = 19;
const OPTIONS: [&str; 4] = ["watch", "advise", "treat", "refer"];
const LAPS: usize = 7;
const SEED: u64 = 20;

pub(crate) fn run() {
    let options: Vec<String> = std::env::args().skip(2).collect();
    let own = std::env::temp_dir().join(format!("rarely-bench-{}", std::process::id()));
    let folder = options.first().map_or_else(|| own.clone(), PathBuf::from);
    fs::create_dir_all(&folder).expect("a folder");
    let (csv, parquet) = (folder.join("log.csv"), folder.join("log.parquet"));
    if !csv.exists() || !parquet.exists() {
        write_logs(&csv, &parquet);
    }
    match &options[..] {
        [_, format, work] => once(&folder.join(format!("log.{format}")), work),
        _ => [&csv, &parquet].into_iter().for_each(|file| table(file)),
    }
    if options.is_empty() {
        fs::remove_dir_all(&own).expect("the folder removed");
    }
}

/// What may be done with a log: for short, in words, and the thing itself.
type Work = (&'static str, &'static str, fn(&Path));

const WORK: [Work; 5] = [
    ("parse", "parsed: every wanted column walked, its numbers read", |file| {
        black_box(parse(file));
    }),
    ("cases", "read as cases: checked and encoded", |file| {
        black_box(read_cases(file, |_| {}));
    }),
    ("learn", "cases, learnt with Statistics::observe", |file| {
        black_box(learn(file));
    }),
    ("review", "cases, tallied as in rarely review", |file| {
        black_box(tally(file));
    }),
    ("shared", "the same by all processors", |file| {
        black_box(tally_by_all(file));
    }),
];

fn table(file: &Path) {
    let mut race = Race::default();
    for (_, name, work) in WORK {
        race.enter(name, ROWS, move || work(file));
    }
    race.run(LAPS);
    let bytes = fs::metadata(file).expect("a file").len() as f64 / ROWS as f64;
    let name = file.file_name().expect("a name").display();
    println!("\n### {name}: {ROWS} rows of {bytes:.0} bytes, d = {}, k = {}\n", FEATURES + 1, OPTIONS.len());
    println!("| | ns per row | million rows per second | MB per second | × parsed |\n|---|---:|---:|---:|---:|");
    let parsed = WORK[0].1;
    for name in race.names() {
        let time = race.median(name);
        println!(
            "| {name} | {time:.0} | {:.2} | {:.0} | {:.2} |",
            1e3 / time,
            bytes / time * 1e3,
            race.ratio(name, parsed)
        );
    }
    let ratio = race.ratio(WORK[3].1, parsed);
    println!("\nTarget: a review within 1.5 × of merely parsing: {ratio:.2}: {}.", verdict(ratio <= 1.5));
    let gain = race.ratio(WORK[3].1, WORK[4].1);
    println!("Target: two processors at least 1.7 × as fast as one: {gain:.2}: {}.", verdict(gain >= 1.7));
    assert_eq!(tally(file).to_text(), tally_by_all(file).to_text(), "the same bits");
}

/// One piece of work, once. Of what was learned, `Σys` of every option is printed, so that others can check that they learn the same.
fn once(file: &Path, what: &str) {
    if what == "learn" {
        let statistics = learn(file);
        let moments: Vec<Vec<f64>> = statistics.arms().iter().map(|arm| arm.moment().collect()).collect();
        println!("{{\"rows\": {}, \"moments\": {moments:?}}}", statistics.rounds());
        return;
    }
    if what == "state" {
        println!("{}", tally(file).to_text().expect("a state"));
        return;
    }
    let (_, _, work) = WORK.iter().find(|(short, _, _)| *short == what).expect("parse, cases, learn or review");
    work(file);
}

fn parse(file: &Path) -> f64 {
    let mut wanted: Vec<String> = names().collect();
    wanted.extend(["outcome".to_owned(), "given".to_owned()]);
    let mut log = LogReader::open(file, &wanted).expect("a log");
    let mut sum = 0.0;
    while let Some(record) = log.next().expect("a row") {
        for wanted in 0..=FEATURES {
            sum += record.number(wanted).expect("a number");
        }
        let FieldValue::Text(option) = record.value(FEATURES + 1) else { panic!("an option") };
        sum += option.len() as f64;
    }
    sum
}

fn cases(file: &Path) -> Cases {
    let columns = Columns { option: "given".to_owned(), ..Columns::default() };
    Cases::open(&document(), &columns, &[file.to_owned()], 0).expect("cases")
}

fn read_cases(file: &Path, mut take: impl FnMut(&LoggedCase)) -> f64 {
    let mut cases = cases(file);
    let mut case = LoggedCase::new(&document());
    let mut sum = 0.0;
    while cases.next(&mut case).expect("a case") {
        sum += case.reward;
        take(&case);
    }
    sum
}

fn learn(file: &Path) -> Statistics {
    let document = document();
    let mut statistics = Statistics::new(document.evidence().penalty, &Parameters::zeros(document.shape()));
    read_cases(file, |case| {
        let context = Context::new(&case.context).expect("a context");
        statistics.observe(context, case.arm, case.reward).expect("an outcome");
    });
    statistics
}

fn tally(file: &Path) -> Tally {
    shared(file, vec![Tally::keeping_rows(&document())])
}

fn tally_by_all(file: &Path) -> Tally {
    shared(file, Tally::shared(&document()))
}

fn shared(file: &Path, mut shares: Vec<Tally>) -> Tally {
    let work = |tally: &mut Tally, case: &LoggedCase| tally.add_row(&case.row());
    cases(file).share::<_, DataError>(&mut shares, work, |_| Ok(())).expect("cases");
    Tally::joined(shares, 0).expect("one log")
}

fn names() -> impl Iterator<Item = String> {
    (1..=FEATURES).map(|feature| format!("x{feature}"))
}

fn document() -> PolicyDocument {
    let mut text = format!("policy = \"bench\"\noptions = {OPTIONS:?}\noption_column = \"given\"\n");
    text += "outcome = { column = \"outcome\", range = [0, 1] }\n";
    for name in names() {
        write!(text, "[[features]]\ncolumn = \"{name}\"\nrange = [0, 100]\n").expect("a string takes everything");
    }
    text += "[rule]\nthreshold = { feature = \"x1\", cuts = [50], options = [\"watch\", \"treat\"] }\n";
    PolicyDocument::parse(&text, "bench.toml").expect("a document")
}

/// Writes the same rows twice: features uniform on [0, 100], outcomes on [0, 1], all with six decimals.
fn write_logs(csv: &Path, parquet: &Path) {
    let mut rng = Rng::new(SEED, 0);
    let mut draw = |below: f64| (rng.uniform() * below * 1e6).floor() / 1e6;
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); FEATURES + 1];
    let mut given = Vec::with_capacity(ROWS);
    let mut text = BufWriter::new(File::create(csv).expect("a file"));
    writeln!(text, "{},given,outcome", names().collect::<Vec<_>>().join(",")).expect("written");
    for row in 0..ROWS {
        for column in &mut columns[..FEATURES] {
            column.push(draw(100.0));
            write!(text, "{:.6},", column[row]).expect("written");
        }
        columns[FEATURES].push(draw(1.0));
        let option = OPTIONS[row * 2_654_435_761 % 4_294_967_296 % OPTIONS.len()];
        given.push(ByteArray::from(option));
        writeln!(text, "{option},{:.6}", columns[FEATURES][row]).expect("written");
    }
    text.flush().expect("written");
    write_parquet(parquet, &columns, &given);
}

fn write_parquet(path: &Path, columns: &[Vec<f64>], given: &[ByteArray]) {
    let mut schema = String::from("message log {");
    for name in names().chain(["outcome".to_owned()]) {
        write!(schema, " required double {name};").expect("a string takes everything");
    }
    schema += " required binary given (STRING); }";
    let schema = Arc::new(parse_message_type(&schema).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer =
        SerializedFileWriter::new(File::create(path).expect("a file"), schema, properties).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for column in columns {
        write_column::<DoubleType>(&mut group, column);
    }
    write_column::<ByteArrayType>(&mut group, given);
    group.close().expect("written");
    writer.close().expect("written");
}

fn write_column<T: parquet::data_type::DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: &[T::T]) {
    let mut column = group.next_column().expect("a column").expect("another column");
    column.typed::<T>().write_batch(values, None, None).expect("written");
    column.close().expect("written");
}

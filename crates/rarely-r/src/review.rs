//! `rarely_review`: a policy document against a data frame or files.
#![allow(unsafe_code, reason = "what #[extendr] expands to")]

mod parts;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use extendr_api::prelude::*;
use rarely_data::{Cases, CasesError, Columns, DataError, LoggedCase, people_of_table, read_people};
use rarely_error::{Explain, Topic};
use rarely_report::{Picture, ReviewSources};
use rarely_review::{EvidenceBase, Review, ReviewError, SAMPLE_SIZE, Tally};

use crate::arguments::Arguments;
use crate::document::Document;
use crate::figure::{self, held};
use crate::frame::DataFrame;
use crate::problem::{self, INTERRUPTED, Problem, answer};
use crate::watch::watched;

/// What a review found, for its pictures and its page.
pub(crate) struct HeldReview {
    document: Document,
    tally: Tally,
    people: Option<Vec<f64>>,
    review: Review,
    rejected: Vec<String>,
    sources: ReviewSources,
}

/// What is reviewed.
struct Request {
    document: Document,
    log: Option<Source>,
    population: Option<Source>,
    states: Vec<String>,
    reject_limit: u64,
    time_column: Option<String>,
    /// The call, so that it can be made again.
    command: String,
}

/// A log or people: files, or a data frame.
#[derive(Clone)]
enum Source {
    Files(Vec<PathBuf>),
    Frame(Arc<DataFrame>),
}

impl Source {
    /// From the paths, or from the names, the columns and the number of rows of a data frame.
    fn of(given: Option<Robj>) -> Result<Option<Self>, Problem> {
        let Some(given) = given else { return Ok(None) };
        if let Some(paths) = given.as_string_vector() {
            return Ok(Some(Self::Files(paths.into_iter().map(PathBuf::from).collect())));
        }
        let not_data = || Problem::new(problem::ARGUMENT, "the data are neither a data frame nor paths of files");
        let arguments = Arguments::new(List::try_from(given).map_err(|_| not_data())?);
        let columns = arguments.get("columns").and_then(|columns| List::try_from(columns).ok()).ok_or_else(not_data)?;
        let names = arguments.texts("names")?.unwrap_or_default();
        let rows = arguments.whole("rows")?.unwrap_or_default();
        Ok(Some(Self::Frame(Arc::new(DataFrame::new(names, &columns, rows)))))
    }

    /// A pipe cannot.
    fn can_be_read_again(&self) -> bool {
        match self {
            Self::Files(paths) => paths.iter().all(|path| path.is_file()),
            Self::Frame(_) => true,
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Files(paths) => paths.iter().map(|path| path.display().to_string()).collect(),
            Self::Frame(_) => vec!["a data frame".to_owned()],
        }
    }

    fn open(&self, document: &Document, columns: &Columns, reject_limit: u64) -> Result<Cases, DataError> {
        match self {
            Self::Files(paths) => Cases::open(&document.checked, columns, paths, reject_limit),
            Self::Frame(frame) => Cases::of_table(&document.checked, columns, frame.clone(), reject_limit),
        }
    }
}

impl Request {
    fn of(arguments: &Arguments) -> Result<Self, Problem> {
        let document = Document::kept(arguments.required_text("text")?, arguments.required_text("source")?)?;
        let document = document.with_option_column(arguments.text("option_column")?);
        if document.checked.groups().is_some() {
            let problem = Problem::new(problem::REVIEW, "the document has rules by group");
            return Err(
                problem.help("review its groups at once, with the program: rarely review --policy FILE --data FILE")
            );
        }
        let request = Self {
            log: Source::of(arguments.get("data"))?,
            population: Source::of(arguments.get("population"))?,
            states: arguments.texts("state")?.unwrap_or_default(),
            reject_limit: arguments.whole("reject_limit")?.unwrap_or(0),
            time_column: arguments.text("time_column")?,
            command: arguments.required_text("command")?,
            document,
        };
        if request.log.is_none() && request.states.is_empty() {
            let problem = Problem::new(problem::REVIEW, "there is nothing to review");
            return Err(problem.help("give a data frame, or the `state` of an earlier review"));
        }
        Ok(request)
    }

    fn columns(&self) -> Columns {
        let columns = Columns::of(&self.document.checked);
        Columns { time: self.time_column.clone().or(columns.time.clone()), ..columns }
    }

    /// Does it. Ends early if `stop` becomes true.
    fn review(self, stop: &AtomicBool) -> Result<HeldReview, Problem> {
        let checked = &self.document.checked;
        let mut tally = Tally::keeping_rows(checked);
        for text in &self.states {
            let saved = Tally::from_text(text).and_then(|saved| saved.revive(checked));
            let merged = saved.and_then(|saved| tally.merge(&saved));
            merged.map_err(|error| reviewing(&error).at("state: "))?;
        }
        let mut sources = ReviewSources { command: self.command.clone(), ..ReviewSources::default() };
        let mut rejected = Vec::new();
        if let Some(log) = &self.log {
            let cases = self.read(log, &mut tally, stop)?;
            rejected = cases.rejected().iter().map(ToString::to_string).collect();
            let way = |name: &String| cases.read_as().iter().find(|(file, _)| file.display().to_string() == *name);
            let named = |name: String| way(&name).map_or(name.clone(), |(_, way)| format!("{name}, read as: {way}"));
            sources.data = log.names().into_iter().map(named).collect();
        }
        tally.look(checked).map_err(|error| reviewing(&error))?;
        if !self.states.is_empty() {
            sources.data.push("saved statistics".to_owned());
        }
        sources.population = self.population.as_ref().map(|people| people.names().join(", "));
        let people = self.population.as_ref().map(|people| self.people(people)).transpose()?;
        let mut base = EvidenceBase::of(checked, &tally, people.clone()).map_err(|error| reviewing(&error))?;
        let again = self.log.as_ref().filter(|log| self.states.is_empty() && log.can_be_read_again());
        if let (Some(log), Some(mut second)) = (again, base.second_reading()) {
            let opened = log.open(&self.document, &Columns::of(checked), self.reject_limit);
            let mut cases = opened.map_err(|error| self.reading(&error))?;
            let walked = cases.read_ahead(|case| second.add_row(&case.row()), |_| going_on(stop));
            walked.map_err(|error| self.ended(error))?;
            base = base.with_second_reading(second);
        }
        let review = rarely_review::review(&base, &tally).map_err(|error| reviewing(&error))?;
        drop(base);
        Ok(HeldReview { document: self.document, tally, people, review, rejected, sources })
    }

    /// Adds a log to the sums. Returns it, read to its end.
    fn read(&self, log: &Source, tally: &mut Tally, stop: &AtomicBool) -> Result<Cases, Problem> {
        let opened = log.open(&self.document, &self.columns(), self.reject_limit);
        let mut cases = opened.map_err(|error| self.reading(&error))?;
        let mut shares = Tally::shared(&self.document.checked);
        let add = |tally: &mut Tally, case: &LoggedCase| tally.add_row(&case.row());
        cases.share(&mut shares, add, |_| going_on(stop)).map_err(|error| self.ended(error))?;
        let read = Tally::joined(shares, cases.rejected_count()).and_then(|mut read| {
            read.add_missing(cases.missing());
            tally.absorb(read)
        });
        read.map_err(|error| reviewing(&error))?;
        Ok(cases)
    }

    fn people(&self, people: &Source) -> Result<Vec<f64>, Problem> {
        let read = match people {
            Source::Files(paths) => read_people(&self.document.checked, paths, 0, SAMPLE_SIZE),
            Source::Frame(frame) => people_of_table(&self.document.checked, frame.clone(), 0, SAMPLE_SIZE),
        };
        let read = read.map_err(|error| Problem::explain(problem::DATA, &error).at("population: "))?;
        Ok(read.contexts)
    }

    /// An error of a log; where it is about one row, with the way to tolerate it.
    fn reading(&self, error: &DataError) -> Problem {
        let problem = Problem::explain(problem::DATA, error);
        if self.reject_limit == 0 && matches!(error, DataError::Cases(CasesError::Rejected(_))) {
            let tolerate = "to leave bad rows out, and have them listed and counted, give `reject_limit`";
            return problem.also(tolerate).see(Topic::BadRows);
        }
        problem
    }

    fn ended(&self, ended: Ended) -> Problem {
        match ended {
            Ended::Wrong(error) => self.reading(&error),
            Ended::Stopped => Problem::new(INTERRUPTED, "stopped by Ctrl-C"),
        }
    }
}

/// Why a log was not read to its end.
enum Ended {
    Wrong(DataError),
    /// By Ctrl-C.
    Stopped,
}

impl From<DataError> for Ended {
    fn from(error: DataError) -> Self {
        Self::Wrong(error)
    }
}

fn going_on(stop: &AtomicBool) -> Result<(), Ended> {
    if stop.load(Ordering::Relaxed) { Err(Ended::Stopped) } else { Ok(()) }
}

fn reviewing<E: Explain>(error: &E) -> Problem {
    Problem::explain(problem::REVIEW, error)
}

impl HeldReview {
    fn base(&self) -> Result<EvidenceBase<'_>, Problem> {
        let base = EvidenceBase::of(&self.document.checked, &self.tally, self.people.clone());
        base.map_err(|error: ReviewError| reviewing(&error))
    }

    fn pictures(&self) -> Result<Vec<Picture>, Problem> {
        Ok(rarely_report::pictures(&self.base()?, &self.review))
    }
}

/// The columns of a data frame that a review reads.
#[extendr]
fn review_columns(text: &str, source: &str, option_column: Robj, time_column: Robj) -> Robj {
    let name = |given: &Robj| given.as_str().map(str::to_owned);
    answer(Document::kept(text.to_owned(), source.to_owned()).map(|document| {
        let document = document.with_option_column(name(&option_column));
        document.log_columns(name(&time_column))
    }))
}

/// Reviews a document. The result has its texts and tables, and a handle for its pictures.
#[extendr]
fn review(arguments: List, listen: Function) -> Robj {
    let request = Request::of(&Arguments::new(arguments));
    let found = request.and_then(|request| watched(&listen, |stop| request.review(stop))?);
    answer(found.and_then(parts::of))
}

/// The pictures of a review, in reading order.
#[extendr]
fn review_figures(handle: Robj) -> Robj {
    answer(held::<HeldReview>(&handle, "the review").and_then(|found| {
        let pictures = found.pictures()?.into_iter();
        let drawn =
            pictures.map(|picture| figure::figure(picture.name, &picture.caption, picture.figure, String::new()));
        Ok(List::from_values(drawn))
    }))
}

/// One self-contained page: what `rarely review --out` writes as `review.html`.
#[extendr]
fn review_page(handle: Robj) -> Robj {
    answer(held::<HeldReview>(&handle, "the review").and_then(|found| {
        let findings = parts::findings(&found);
        Ok(rarely_report::page(&findings, &found.pictures()?, &found.sources))
    }))
}

extendr_module! {
    mod review;
    fn review_columns;
    fn review;
    fn review_figures;
    fn review_page;
}

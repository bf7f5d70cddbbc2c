//! A review of the log by the document, as `rarely review` makes it: the same functions in the same order.

use std::path::Path;

use rarely_data::{Cases, Columns, LoggedCase};
use rarely_output::{OutputDirectory, json_text};
use rarely_policy::PolicyDocument;
use rarely_report::{ReviewSources, pictures, review_page, write};
use rarely_review::{EvidenceBase, Findings, Review, ReviewJson, Tally, review};

use crate::command_line::CommandLine;
use crate::problem::Problem;
use crate::session::DeskLog;
use crate::sketching::with_remedy;
use crate::task::{Progress, TaskEnd};

/// Rejected rows that are listed.
const LISTED: usize = 20;
/// The folder of the report, below that of the temporary files and where it is saved.
pub(crate) const REPORT_FOLDER: &str = "review";

/// What a review found, laid out.
pub(crate) struct FinishedReview {
    pub(crate) document: PolicyDocument,
    /// The document that was reviewed.
    pub(crate) text: String,
    pub(crate) findings: Findings,
    /// The findings as `rarely review --format json` prints them.
    pub(crate) json: String,
    /// The page without its title.
    pub(crate) content: String,
    pub(crate) page: String,
    /// The saved statistics.
    pub(crate) state: String,
    pub(crate) rejected: Vec<String>,
    pub(crate) command: String,
}

/// What is reviewed.
pub(crate) struct ReviewTask {
    pub(crate) log: DeskLog,
    pub(crate) document: PolicyDocument,
    pub(crate) text: String,
    pub(crate) reject_limit: u64,
}

impl ReviewTask {
    /// Reads the log twice and writes the report into the folder of temporary files.
    pub(crate) fn run(self, folder: &Path, progress: &Progress) -> Result<FinishedReview, TaskEnd> {
        let (mut tally, cases) = self.first_reading(progress)?;
        tally.look(&self.document)?;
        let base = self.second_reading(EvidenceBase::of(&self.document, &tally, None)?, progress)?;
        progress.begin("Judging the rule");
        let found = review(&base, &tally)?;
        progress.watch((0, 0))?;
        progress.begin("Drawing the pictures");
        let way = cases.read_as().first().map(|(_, way)| format!(", read as: {way}")).unwrap_or_default();
        let command = review_command(&self.log, self.reject_limit).option("--out", REPORT_FOLDER).text();
        let sources = ReviewSources { command, data: vec![format!("{}{way}", self.log.name)], population: None };
        let report = folder.join(REPORT_FOLDER);
        // Figures of the last review that this one does not have must not be saved with it. The first has nothing to remove.
        drop(std::fs::remove_dir_all(&report));
        let directory = OutputDirectory::create(&report)?;
        write(&directory, &base, &found, &sources)?;
        let laid_out = LaidOut::new(&base, &found, &sources)?;
        let state = tally.to_text()?;
        let rejected = cases.rejected().iter().take(LISTED).map(ToString::to_string).collect();
        let LaidOut { findings, json, content, page } = laid_out;
        drop(base);
        let Self { document, text, .. } = self;
        Ok(FinishedReview { document, text, findings, json, content, page, state, rejected, command: sources.command })
    }

    fn first_reading(&self, progress: &Progress) -> Result<(Tally, Cases), TaskEnd> {
        progress.begin("Reading the log");
        let mut cases = self.open()?;
        let mut shares = Tally::shared(&self.document);
        let add = |tally: &mut Tally, case: &LoggedCase| tally.add_row(&case.row());
        let read = cases.share(&mut shares, add, |at| progress.watch(at));
        read.map_err(|error| with_remedy(error, self.reject_limit))?;
        let mut read = Tally::joined(shares, cases.rejected_count())?;
        read.add_missing(cases.missing());
        let mut tally = Tally::keeping_rows(&self.document);
        tally.absorb(read)?;
        Ok((tally, cases))
    }

    /// Robust errors need the residuals of every row.
    fn second_reading<'a>(&self, base: EvidenceBase<'a>, progress: &Progress) -> Result<EvidenceBase<'a>, TaskEnd> {
        let Some(mut second) = base.second_reading() else { return Ok(base) };
        progress.begin("Reading the log again, for the errors");
        let mut cases = self.open()?;
        cases.read_ahead(|case| second.add_row(&case.row()), |at| progress.watch(at))?;
        Ok(base.with_second_reading(second))
    }

    fn open(&self) -> Result<Cases, TaskEnd> {
        let columns = Columns::of(&self.document);
        Ok(Cases::open(&self.document, &columns, std::slice::from_ref(&self.log.path), self.reject_limit)?)
    }
}

/// The findings as data and as a page.
struct LaidOut {
    findings: Findings,
    json: String,
    content: String,
    page: String,
}

impl LaidOut {
    fn new(base: &EvidenceBase<'_>, found: &Review, sources: &ReviewSources) -> Result<Self, TaskEnd> {
        let findings = Findings::new(base.document, found);
        let json = json_text(&ReviewJson::new(&findings)).map_err(|error| {
            let help = "this is a mistake of the program; please report it";
            TaskEnd::Failed(Problem::system("the findings have no JSON form", &error, help))
        })?;
        let page = review_page(&findings, &pictures(base, found), sources);
        Ok(Self { json, content: page.content(), page: page.html(), findings })
    }
}

/// The command that reviews the saved document.
pub(crate) fn review_command(log: &DeskLog, reject_limit: u64) -> CommandLine {
    let command = CommandLine::new("review").option("--policy", "policy.toml").option("--data", &log.name);
    let limit = (reject_limit > 0).then(|| reject_limit.to_string());
    command.maybe("--reject-limit", limit.as_deref())
}

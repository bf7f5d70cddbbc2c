//! The tasks before a review: what the columns contain, the draft, and whether every row fits the document.

use std::sync::Arc;

use rarely_data::{Cases, CasesError, Columns, DataError, mark_followers_watched, read_spreads, sketch_watched};
use rarely_policy::{ColumnSketch, PolicyDocument, draft, guess_roles};
use rarely_review::Tally;

use crate::answers::{Answers, ColumnRole};
use crate::document::{Draft, DraftColumns, written};
use crate::problem::Problem;
use crate::session::{DeskLog, DeskPeople, Sketched};
use crate::task::{Finish, Progress, TaskEnd, Watched};

/// Reads the columns, counts their values and drafts a document.
pub(crate) fn sketch_log(log: &DeskLog, progress: &Progress) -> Result<Finish, TaskEnd> {
    let watch = |at| progress.watch(at);
    progress.begin("Reading the columns");
    let found = sketch_watched(&log.path, &log.format, watch)?;
    progress.begin("Counting their values");
    let spreads = read_spreads(&found.columns, &log.path, &log.format, watch)?;
    let mut columns = found.columns;
    let guessed = guess_roles(&columns);
    let name = |role: &Option<rarely_policy::GuessedRole<'_>>| role.as_ref().map(|role| role.column.to_owned());
    // Where nothing can be guessed the person chooses; a draft needs two different columns.
    let option = name(&guessed.option).or_else(|| columns.first().map(|column| column.name.clone()));
    let option = option.unwrap_or_default();
    let others = || columns.iter().rev().map(|column| &column.name).find(|name| **name != option);
    let outcome = name(&guessed.outcome).or_else(|| others().cloned()).unwrap_or_default();
    let sure = (guessed.option.is_some(), guessed.outcome.is_some());
    let time = name(&guessed.time).filter(|time| *time != option && *time != outcome);
    let of = DraftColumns { option, outcome, time };
    let draft = drafted(log, &mut columns, of, progress, false)?;
    let mut answers = Answers::of_draft(&columns, &draft.text);
    for (role, is_known) in [(ColumnRole::Option, sure.0), (ColumnRole::Outcome, sure.1)] {
        let guessed: Vec<usize> = answers.with_role(role).filter(|_| !is_known).collect();
        for at in guessed {
            answers.columns[at].role = ColumnRole::Ignored;
        }
    }
    let sketched = Sketched { columns, spreads, read_as: found.read_as };
    Ok(Box::new(move |session| {
        session.sketched = Some(Arc::new(sketched));
        session.draft = Some(draft);
        session.answers = Some(answers);
    }))
}

/// The draft of `rarely policy init`. Which columns follow the option is read again, if it is not known for this one.
fn drafted(
    log: &DeskLog,
    columns: &mut [ColumnSketch],
    of: DraftColumns,
    progress: &Progress,
    is_marked: bool,
) -> Result<Draft, TaskEnd> {
    if !is_marked {
        progress.begin("Comparing columns with the option");
        let file = (log.path.as_path(), &log.format);
        mark_followers_watched(columns, file, &of.option, |at| progress.watch(at))?;
    }
    let text = draft(&log.stem(), columns, &of.option, &of.outcome, of.time.as_deref()) + &log.format.table();
    Ok(Draft { of, text })
}

/// What the columns of the log were taken for before, and what the person says now.
pub(crate) struct ColumnsTask {
    pub(crate) log: DeskLog,
    pub(crate) sketched: Arc<Sketched>,
    pub(crate) draft: Draft,
    pub(crate) answers: Answers,
}

impl ColumnsTask {
    /// Writes the document and reads every row by it, so that a wrong one is found before the rule is asked for.
    pub(crate) fn run(self, progress: &Progress) -> Result<Finish, TaskEnd> {
        let Self { log, sketched, mut draft, mut answers } = self;
        let mut columns = sketched.columns.clone();
        let of = DraftColumns::of(&columns, &answers).map_err(TaskEnd::Failed)?;
        if of != draft.of {
            let is_marked = of.option == draft.of.option;
            let before = std::mem::replace(&mut draft, drafted(&log, &mut columns, of, progress, is_marked)?);
            take_new_guesses(&mut answers, &columns, &before, &draft);
        }
        let (document, _) = match written(&draft, &columns, &answers) {
            Err(problem) if answers.rule != answers.first_rule() => {
                // The rule may name a column that is no longer a feature.
                let unruled = Answers { rule: answers.first_rule(), ..answers.clone() };
                let found = written(&draft, &columns, &unruled).map_err(|_| TaskEnd::Failed(problem))?;
                answers = unruled;
                found
            }
            found => found.map_err(TaskEnd::Failed)?,
        };
        let people = read_people(&log, &document, &answers, progress)?;
        let sketched = Sketched { columns, spreads: sketched.spreads.clone(), read_as: sketched.read_as.clone() };
        Ok(Box::new(move |session| {
            session.sketched = Some(Arc::new(sketched));
            session.draft = Some(draft);
            session.answers = Some(answers);
            session.people = Some(Arc::new(people));
            session.review = None;
        }))
    }
}

/// Another column has other values: the options of a new option column, the range of a new outcome. What the person typed stays.
fn take_new_guesses(answers: &mut Answers, columns: &[ColumnSketch], before: &Draft, now: &Draft) {
    let (old, new) = (Answers::of_draft(columns, &before.text), Answers::of_draft(columns, &now.text));
    if answers.options == old.options {
        answers.options.clone_from(&new.options);
    }
    let outcome = |answers: &Answers| [&answers.outcome_low, &answers.outcome_high, &answers.better].map(String::clone);
    if outcome(answers) == outcome(&old) {
        [answers.outcome_low, answers.outcome_high, answers.better] = outcome(&new);
    }
    if now.of.option != before.of.option {
        answers.rule = answers.first_rule();
        answers.assumptions.costs.clear();
    }
    answers.drop_rows |= new.drop_rows;
}

/// Reads every row. The people are those that a review would sample.
fn read_people(
    log: &DeskLog,
    document: &PolicyDocument,
    answers: &Answers,
    progress: &Progress,
) -> Result<DeskPeople, TaskEnd> {
    progress.begin("Checking every row");
    let limit = reject_limit(answers).map_err(TaskEnd::Failed)?;
    let mut cases = Cases::open(document, &Columns::of(document), std::slice::from_ref(&log.path), limit)?;
    let mut shares = Tally::shared(document);
    let read = cases.share(&mut shares, |tally, case| tally.add_row(&case.row()), |at| progress.watch(at));
    read.map_err(|error| with_remedy(error, limit))?;
    let tally = Tally::joined(shares, cases.rejected_count())?;
    let contexts = tally.sample().contexts();
    Ok(DeskPeople { document: document.clone(), contexts, rows: tally.rows() })
}

/// The number of bad rows that are left out.
pub(crate) fn reject_limit(answers: &Answers) -> Result<u64, Problem> {
    answers.reject_limit.parse().map_err(|_| {
        let what = format!("the number of bad rows to leave out is “{}”", answers.reject_limit);
        Problem::new(what, "write a whole number, such as 0 or 10")
    })
}

/// Says how to tolerate bad rows, if the error is about one.
pub(crate) fn with_remedy(error: Watched, limit: u64) -> TaskEnd {
    let about_a_row = matches!(&error, Watched::Data(DataError::Cases(CasesError::Rejected(_))));
    match TaskEnd::from(error) {
        TaskEnd::Failed(problem) if about_a_row && limit == 0 => TaskEnd::Failed(
            problem.also("correct the column, or let bad rows be left out, and counted, with “Bad rows to leave out”"),
        ),
        end => end,
    }
}

//! `rarely policy init`: a draft from the columns of a file.

use std::io::{BufRead, IsTerminal as _, Write, stderr, stdin};
use std::path::PathBuf;

use clap::Args;
use rarely_data::{FileSketch, mark_followers, sketch};
use rarely_policy::{ColumnSketch, GuessedRole, draft, guess_roles};

use crate::failure::{Failure, OrFail as _};
use crate::log::{FormatOptions, say_read_as};
use crate::output::{print, say};
use crate::state::write_new;

/// What to draft from.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// File whose columns are described: CSV, TSV, xlsx, Parquet or NDJSON
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Name of the policy [default: the file's]
    #[arg(long)]
    name: Option<String>,
    /// Column with the option that was given [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    option_column: Option<String>,
    /// Column with the outcome [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    outcome_column: Option<String>,
    /// Column with the date or the time of a case [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// Write the draft to a new file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatOptions,
}

/// A column that is looked for.
struct Wanted<'a> {
    /// What the owner named.
    given: Option<&'a str>,
    guessed: Option<&'a GuessedRole<'a>>,
    what: &'static str,
    flag: &'static str,
}

impl Init {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let format = self.format.format();
        let FileSketch { mut columns, read_as } = sketch(&self.from, &format)?;
        if let Some(way) = read_as {
            say_read_as(&self.from, &way);
        }
        let (option, outcome, time) = self.roles(&columns)?;
        mark_followers(&mut columns, &self.from, &format, &option)?;
        let stem =
            self.from.file_stem().map_or_else(|| "policy".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let mut text = draft(self.name.as_deref().unwrap_or(&stem), &columns, &option, &outcome, time.as_deref());
        text += &format.table();
        match &self.out {
            Some(path) => {
                write_new(path, text.as_bytes())?;
                say(&format!("the draft is in {}; look at every line marked CHECK", path.display()));
                Ok(())
            }
            None => print(&text),
        }
    }

    /// The columns of the option, the outcome and the time: named, guessed, or asked for where the guess is not sure.
    fn roles(&self, columns: &[ColumnSketch]) -> Result<(String, String, Option<String>), Failure> {
        let guessed = guess_roles(columns);
        let option = Wanted {
            given: self.option_column.as_deref(),
            guessed: guessed.option.as_ref(),
            what: "the option that was given",
            flag: "--option-column",
        };
        let outcome = Wanted {
            given: self.outcome_column.as_deref(),
            guessed: guessed.outcome.as_ref(),
            what: "the outcome",
            flag: "--outcome-column",
        };
        let time = Wanted {
            given: self.time_column.as_deref(),
            guessed: guessed.time.as_ref(),
            what: "the time of a case",
            flag: "--time-column",
        };
        let required = |wanted: &Wanted<'_>| {
            self.column(columns, wanted)?.ok_or_else(|| {
                Failure::new(format!("{}: no column is recognised as {}", self.from.display(), wanted.what))
                    .help(format!("name it with {}; the columns are {}", wanted.flag, names(columns)))
            })
        };
        let (option, outcome) = (required(&option)?, required(&outcome)?);
        if option == outcome {
            let failure = Failure::new(format!("the column {option:?} cannot be both the option and the outcome"));
            return Err(failure.help("name another with --outcome-column"));
        }
        let time = self.column(columns, &time)?.filter(|time| *time != option && *time != outcome);
        Ok((option, outcome, time))
    }

    fn column(&self, columns: &[ColumnSketch], wanted: &Wanted<'_>) -> Result<Option<String>, Failure> {
        if let Some(given) = wanted.given {
            return if columns.iter().any(|column| column.name == given) {
                Ok(Some(given.to_owned()))
            } else {
                let failure = Failure::new(format!("{}: there is no column {given:?}", self.from.display()));
                Err(failure.help(format!("correct {}; the columns are {}", wanted.flag, names(columns))))
            };
        }
        let Some(guessed) = wanted.guessed else { return Ok(None) };
        if guessed.is_sure {
            return Ok(Some(guessed.column.to_owned()));
        }
        if stdin().is_terminal() && stderr().is_terminal() {
            let answer = ask(&mut stdin().lock(), &mut stderr(), wanted.what, guessed);
            return answer.or_fail_with(|| "the answer cannot be read".to_owned()).map(Some);
        }
        say(&format!(
            "{} is assumed to be the column {:?}; {} names another",
            wanted.what, guessed.column, wanted.flag
        ));
        Ok(Some(guessed.column.to_owned()))
    }
}

fn names(columns: &[ColumnSketch]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Asks which column has a role, until the answer is a column, its number, or nothing: then it is the guessed one.
fn ask(
    answers: &mut impl BufRead,
    questions: &mut impl Write,
    what: &str,
    guessed: &GuessedRole<'_>,
) -> std::io::Result<String> {
    writeln!(questions, "Which column is {what}?")?;
    for (at, column) in guessed.possible.iter().enumerate() {
        writeln!(questions, "  {} {column}", at + 1)?;
    }
    loop {
        write!(questions, "Its number or name [{}]: ", guessed.column)?;
        questions.flush()?;
        let mut answer = String::new();
        let is_end = answers.read_line(&mut answer)? == 0;
        let answer = answer.trim();
        if is_end || answer.is_empty() {
            return Ok(guessed.column.to_owned());
        }
        let numbered = answer.parse::<usize>().ok().and_then(|number| guessed.possible.get(number.wrapping_sub(1)));
        if let Some(column) = guessed.possible.iter().find(|column| **column == answer).or(numbered) {
            return Ok((*column).to_owned());
        }
        writeln!(questions, "There is no such column in the list.")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_by_a_number_a_name_or_nothing() {
        let guessed = GuessedRole { column: "b", is_sure: false, possible: vec!["a", "b", "c"] };
        let answered = |text: &str| {
            let mut asked = Vec::new();
            let answer = ask(&mut text.as_bytes(), &mut asked, "the outcome", &guessed).expect("an answer");
            (answer, String::from_utf8(asked).expect("text"))
        };
        assert_eq!(answered("3\n").0, "c");
        assert_eq!(answered("a\n").0, "a");
        assert_eq!(answered("\n").0, "b");
        assert_eq!(answered("").0, "b");
        let (answer, asked) = answered("x\n7\n1\n");
        assert_eq!((answer.as_str(), asked.matches("There is no such column").count()), ("a", 2));
    }
}

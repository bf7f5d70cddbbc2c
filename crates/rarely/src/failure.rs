//! Why a command could not run, as the lines that stderr gets.
//!
//! ```text
//! error: results: cannot be written
//!   caused by: Permission denied (os error 13)
//! help: name another directory with --out
//! see: docs/operate/backup.md#recover
//! ```
//!
//! A library's error says what went wrong, and [`Explain`] what to do about it. [`named`] is the one table from what a remedy names
//! to this program's flags and subcommands. The last line is there where a page of the book explains more.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use rarely_error::{Action, Explain, Remedy, Topic};

/// What went wrong, its causes, what to do about it, and where the book explains it.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    causes: Vec<String>,
    help: Vec<String>,
    topic: Option<Topic>,
}

impl Failure {
    /// A failure that this program found itself.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), causes: Vec::new(), help: Vec::new(), topic: None }
    }

    /// An error with its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        error.source().into_iter().fold(Self::new(error.to_string()), Self::caused_by)
    }

    /// Adds what to do about it.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Names the topic of the book that explains it, unless the error has named one itself.
    pub(crate) fn see(mut self, topic: Topic) -> Self {
        self.topic = self.topic.or(Some(topic));
        self
    }

    /// What went wrong, with its causes, and what to do about it.
    pub(crate) fn into_parts(self) -> (String, Option<String>) {
        let found = std::iter::once(self.what).chain(self.causes).collect::<Vec<_>>().join(": ");
        (found, (!self.help.is_empty()).then(|| self.help.join("; ")))
    }

    /// Puts the place before the message: a file, or an option.
    pub(crate) fn at(mut self, place: impl fmt::Display) -> Self {
        self.what = format!("{place}: {}", self.what);
        self
    }

    /// Adds an error and what it came from. What a message has already said is not repeated.
    pub(crate) fn caused_by(mut self, error: &dyn Error) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            let text = error.to_string();
            if !self.what.contains(&text) && !self.causes.iter().any(|before| before.contains(&text)) {
                self.causes.push(text);
            }
            cause = error.source();
        }
        self
    }
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        let failure = Self::of(&error);
        match error.remedy() {
            Some(remedy) => Self { topic: remedy.topic(), ..failure.help(worded(&remedy)) },
            None => failure,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.what)?;
        self.causes.iter().try_for_each(|cause| write!(formatter, "\n  caused by: {cause}"))?;
        self.help.iter().try_for_each(|help| write!(formatter, "\nhelp: {help}"))?;
        self.topic.map_or(Ok(()), |topic| write!(formatter, "\nsee: {}", topic.page()))
    }
}

/// For errors that know no remedy: the system's and those of other people's libraries.
pub(crate) trait OrFail<T> {
    /// Fails with the error's own message.
    fn or_fail(self) -> Result<T, Failure>;
    /// Fails with this message; the error is its cause.
    fn or_fail_with(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Error> OrFail<T> for Result<T, E> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::of(&error))
    }

    fn or_fail_with(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(what()).caused_by(&error))
    }
}

/// Reads an option's value; what is wrong with it, and what to write instead, go to the reader of the command line.
pub(crate) fn parse<T: FromStr<Err: Explain>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| {
        let help = error.remedy().map_or_else(String::new, |remedy| format!("\nhelp: {}", worded(&remedy)));
        format!("{error}{help}")
    })
}

/// A remedy in this program's words.
pub(crate) fn worded(remedy: &Remedy) -> String {
    remedy.worded(named)
}

/// What this program calls an action.
fn named(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::RaiseRejectLimit => "tolerate more bad rows with --reject-limit ROWS",
        Action::ChooseOutputDirectory => "name another directory with --out",
        Action::CreateStore => "create one with `rarely serve --store FILE`",
        Action::AcceptLoss => "accept the loss with `rarely store recover --store FILE`",
        Action::RestoreBackup => "restore a backup with `rarely store restore`",
        Action::VerifyLog => "run `rarely audit verify --store FILE`",
        Action::ReplaceSigningKey => "replace the lost key with `rarely store rotate-key --lost --store FILE`",
        Action::AcceptRelaxedDurability => "accept that with --durability relaxed",
        Action::NamePropensityColumn => "name their column with --propensity-column",
        Action::GiveSavedStatistics => "give a file that `rarely review --save-state` wrote",
        Action::PrintStatement => "print the statement with `rarely sums sql`",
        Action::ChooseDecimalMark => {
            "choose with --decimal . or --decimal , (or decimal = \",\" under [data] in the policy document)"
        }
        Action::NameEncoding => {
            "name its encoding with --encoding, such as windows-1252 (or encoding = … under [data] in the policy document)"
        }
        Action::NameSheet => "name it with --sheet NAME (or sheet = \"NAME\" under [data] in the policy document)",
        Action::UseEmbeddedRealisations => "leave out --data and unset RARELY_IHDP to use the embedded realisations",
        Action::UseLinearEnvironment => "leave out --environment",
        Action::DeclareNoise => "declare the standard deviation of the noise with --declared-noise",
        Action::RunShard => "run the command with --shard NUMBER/COUNT --out DIR",
        Action::AllowPlainHttp => "pass --insecure",
        Action::ChooseListenAddress => "choose another address with --listen",
        Action::NameReplicaAddress => "name the address of this replica with --advertise, like http://10.0.0.7:8080",
        Action::CreateToken => "create one with `rarely token create`",
        _ => return None,
    })
}

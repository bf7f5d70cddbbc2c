//! A command's runs, divided among several machines.
//!
//! A [`CommandRuns`] is everything that a command plays. A [`Shard`] of it plays some of the runs and writes them to one file
//! ([`ShardHeader`] and a line per run). A [`ShardSet`] is read from the files of all shards, checked, and gives the [`RunJournal`] with
//! which the same command then finds every run finished. Aggregation, tables and figures are those of a command that was never divided.
//!
//! [`RunJournal`]: crate::RunJournal

mod command_runs;
mod file;
mod set;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use rarely_error::{Explain, Remedy, Topic};

pub(crate) use command_runs::written;
pub use command_runs::{CommandRuns, CommandWords, Divisible, shell_word};
pub use file::{ShardError, ShardFile, ShardHeader};
pub use set::{ShardSet, ShardSetError};

/// One of several parts of a command's runs, written `3/100`.
///
/// ```
/// use rarely_lab::Shard;
/// let shard: Shard = "3/100".parse()?;
/// assert_eq!((shard.number(), shard.count()), (3, 100));
/// assert!("0/4".parse::<Shard>().is_err());
/// # Ok::<(), rarely_lab::ShardParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    number: u32,
    count: u32,
}

/// Why a text is not a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardParseError {
    /// It is not two numbers.
    #[error("`{text}` is not a shard: a number and how many there are")]
    Form {
        /// The text.
        text: String,
    },
    /// There is no shard with this number.
    #[error("there is no shard {number} of {count}")]
    Number {
        /// The number.
        number: u32,
        /// How many there are.
        count: u32,
    },
}

impl Explain for ShardParseError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Form { .. } => Remedy::new("write it like 3/100: the third of a hundred").see(Topic::Shards),
            Self::Number { count: 0, .. } => Remedy::new("ask for at least 1 shard, like 1/1"),
            Self::Number { count, .. } => Remedy::new(format!("shards are numbered from 1 to {count}")),
        })
    }
}

impl Shard {
    /// Shard `number` of `count`, counted from 1.
    ///
    /// # Errors
    /// [`ShardParseError::Number`] if there is none.
    pub fn new(number: u32, count: u32) -> Result<Self, ShardParseError> {
        if (1..=count).contains(&number) {
            Ok(Self { number, count })
        } else {
            Err(ShardParseError::Number { number, count })
        }
    }

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many shards there are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The directory, within the output directory of the command, that its file is in.
    pub fn directory(self) -> PathBuf {
        PathBuf::from(format!("shard-{}-of-{}", self.number, self.count))
    }
}

impl FromStr for Shard {
    type Err = ShardParseError;

    fn from_str(text: &str) -> Result<Self, ShardParseError> {
        let numbers =
            text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        let (number, count) = numbers.ok_or_else(|| ShardParseError::Form { text: text.to_owned() })?;
        Self::new(number, count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.count)
    }
}

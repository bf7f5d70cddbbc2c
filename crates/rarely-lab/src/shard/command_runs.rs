//! Everything that a command plays, as runs that any machine can play.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use rarely_core::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::Shard;
use crate::contestant::Contestant;
use crate::experiment::{Experiment, ExperimentError, Prepared, RunContext};
use crate::run_journal::{self, JournalLine, RunJournal};

/// The stream of random numbers by which worlds are shuffled before they are divided. Results do not depend on it.
const SHUFFLE: (u64, u64) = (0, 0x5A4D);

/// A command as its user writes it, without what its results do not depend on: where to write, threads, the shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWords {
    /// Its name, such as `simulate`.
    pub command: String,
    /// Its arguments, such as `--seed=2`.
    pub arguments: Vec<String>,
}

impl CommandWords {
    /// The line to type, with words in quotation marks where a shell needs them.
    pub fn line(&self) -> String {
        let words = self.arguments.iter().map(|argument| shell_word(argument));
        ["rarely".to_owned(), self.command.clone()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl fmt::Display for CommandWords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.command)?;
        self.arguments.iter().try_for_each(|argument| write!(formatter, " {argument}"))
    }
}

/// Work that is made of independent runs, each with one or several entrants in one world.
pub trait Divisible: Sync {
    /// The number of runs.
    fn runs(&self) -> u64;

    /// For each entrant, the digest of everything that its results depend on.
    fn keys(&self) -> &[String];

    /// How many of its runs a journal has.
    fn finished(&self, journal: &RunJournal) -> usize {
        self.keys().iter().map(|key| journal.count(key, self.runs())).sum()
    }

    /// Plays some entrants, by their numbers, in the world of one run: their results, as they are written.
    ///
    /// # Errors
    /// [`ExperimentError`] of a run that could not be played or saved, or that was stopped.
    fn play(
        &self,
        run: u64,
        entrants: Range<usize>,
        context: &RunContext<'_>,
    ) -> Result<Vec<Box<RawValue>>, ExperimentError>;
}

/// An experiment with its contestants.
struct DivisibleExperiment<'a> {
    prepared: Prepared<'a>,
    contestants: &'a [Contestant],
    keys: Vec<String>,
}

impl Divisible for DivisibleExperiment<'_> {
    fn runs(&self) -> u64 {
        self.prepared.runs()
    }

    fn keys(&self) -> &[String] {
        &self.keys
    }

    fn play(
        &self,
        run: u64,
        entrants: Range<usize>,
        context: &RunContext<'_>,
    ) -> Result<Vec<Box<RawValue>>, ExperimentError> {
        let keys = self.keys[entrants.clone()].iter().map(String::as_str);
        let entrants: Vec<(&Contestant, &str)> = self.contestants[entrants].iter().zip(keys).collect();
        self.prepared.play_world(run, &entrants, context)?.iter().map(written).collect()
    }
}

/// A result as it is written.
pub(crate) fn written(result: &impl Serialize) -> Result<Box<RawValue>, ExperimentError> {
    serde_json::value::to_raw_value(result).map_err(|error| ExperimentError::Journal(error.into()))
}

impl Experiment {
    /// Its runs with these contestants, as part of a [`CommandRuns`].
    ///
    /// # Errors
    /// [`ExperimentError`] of the environment.
    pub fn divisible<'a>(&'a self, contestants: &'a [Contestant]) -> Result<Box<dyn Divisible + 'a>, ExperimentError> {
        let prepared = self.prepare()?;
        let keys = contestants.iter().map(|contestant| prepared.key(contestant)).collect();
        Ok(Box::new(DivisibleExperiment { prepared, contestants, keys }))
    }
}

/// Entrants of one part in the world of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WorldPiece {
    part: usize,
    run: u64,
    entrants: Range<usize>,
}

/// Everything that a command plays.
pub struct CommandRuns<'a> {
    words: CommandWords,
    parts: Vec<Box<dyn Divisible + 'a>>,
    /// Every world of every part, shuffled.
    worlds: Vec<WorldPiece>,
}

impl<'a> CommandRuns<'a> {
    /// What these words play: all parts, in the order of the command.
    pub fn new(words: CommandWords, parts: Vec<Box<dyn Divisible + 'a>>) -> Self {
        let worlds = shuffled_worlds(&parts);
        Self { words, parts, worlds }
    }

    /// The command.
    pub fn words(&self) -> &CommandWords {
        &self.words
    }

    /// The digest of everything that the results depend on.
    pub fn digest(&self) -> String {
        let parts: Vec<_> = self.parts.iter().map(|part| json!([part.runs(), part.keys()])).collect();
        run_journal::key(&json!({ "command": self.words, "parts": parts }))
    }

    /// The number of runs of a shard.
    pub fn runs(&self, shard: Shard) -> u64 {
        self.pieces(shard).iter().map(|piece| piece.entrants.len() as u64).sum()
    }

    /// How many of a shard's runs a journal has.
    pub fn finished(&self, shard: Shard, journal: &RunJournal) -> usize {
        let units = self.units(shard);
        units.iter().filter(|(key, run)| journal.has(key, *run)).count()
    }

    /// The key and the number of every run of a shard, in the order in which they are written.
    pub(super) fn units(&self, shard: Shard) -> Vec<(&str, u64)> {
        let pieces = self.pieces(shard).into_iter();
        pieces
            .flat_map(|piece| {
                self.parts[piece.part].keys()[piece.entrants].iter().map(move |key| (key.as_str(), piece.run))
            })
            .collect()
    }

    /// Plays the runs of a shard, in parallel.
    ///
    /// # Errors
    /// [`ExperimentError`] of a run that could not be played or saved, or that was stopped.
    pub(super) fn play(&self, shard: Shard, context: &RunContext<'_>) -> Result<Vec<JournalLine>, ExperimentError> {
        let play = |piece: &WorldPiece| -> Result<Vec<JournalLine>, ExperimentError> {
            let part = &self.parts[piece.part];
            let results = part.play(piece.run, piece.entrants.clone(), context)?;
            let keys = &part.keys()[piece.entrants.clone()];
            let line = |(key, finished): (&String, _)| JournalLine { key: key.clone(), run: piece.run, finished };
            Ok(keys.iter().zip(results).map(line).collect())
        };
        let played: Result<Vec<Vec<JournalLine>>, _> = self.pieces(shard).par_iter().map(play).collect();
        Ok(played?.concat())
    }

    /// The shard's runs, by world. Worlds are shuffled, so that long and short ones are spread evenly, and their runs are cut into equal
    /// pieces: entrants of one world stay together where they can, because they share what is computed once for it.
    fn pieces(&self, shard: Shard) -> Vec<WorldPiece> {
        let total: u128 = self.worlds.iter().map(|world| world.entrants.len() as u128).sum();
        let cut = |number: u32| total * u128::from(number) / u128::from(shard.count());
        let own = cut(shard.number() - 1)..cut(shard.number());
        let mut pieces = Vec::new();
        let mut first: u128 = 0;
        for world in &self.worlds {
            let end = first + world.entrants.len() as u128;
            let (from, to) = (own.start.clamp(first, end), own.end.clamp(first, end));
            if from < to {
                // Both are at most the number of entrants.
                #[allow(clippy::cast_possible_truncation)]
                let within = |at: u128| world.entrants.start + (at - first) as usize;
                pieces.push(WorldPiece { entrants: within(from)..within(to), ..*world });
            }
            first = end;
        }
        pieces
    }
}

/// Every world of every part, shuffled. Runs that several parts share belong to the first of them.
fn shuffled_worlds(parts: &[Box<dyn Divisible + '_>]) -> Vec<WorldPiece> {
    let mut worlds = Vec::new();
    let mut known: HashMap<&str, u64> = HashMap::new();
    for (at, part) in parts.iter().enumerate() {
        let known_runs: Vec<u64> =
            part.keys().iter().map(|key| known.get(key.as_str()).copied().unwrap_or(0)).collect();
        for run in 0..part.runs() {
            let mut first = 0;
            for entrants in known_runs.chunk_by(|one, other| (run < *one) == (run < *other)) {
                if run >= entrants[0] {
                    worlds.push(WorldPiece { part: at, run, entrants: first..first + entrants.len() });
                }
                first += entrants.len();
            }
        }
        for (key, before) in part.keys().iter().zip(known_runs) {
            known.insert(key, before.max(part.runs()));
        }
    }
    let mut rng = Rng::new(SHUFFLE.0, SHUFFLE.1);
    for last in (1..worlds.len()).rev() {
        worlds.swap(last, rng.below(last + 1));
    }
    worlds
}

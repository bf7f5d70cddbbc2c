//! The files of all shards, checked to be those of one experiment.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rarely_error::{Action, Explain, Remedy, Topic};

use super::Shard;
use super::command_runs::{CommandRuns, CommandWords};
use super::file::{FILE, ShardError, ShardFile};
use crate::run_journal::{self, RunJournal};

/// All shards of one experiment.
#[derive(Debug)]
pub struct ShardSet {
    words: CommandWords,
    digest: String,
    files: Vec<ShardFile>,
}

/// Why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum ShardSetError {
    /// A directory cannot be read.
    #[error("{}: cannot be read", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No directory has a shard.
    #[error("there is no shard in {}", list(directories))]
    None {
        /// The directories.
        directories: Vec<PathBuf>,
    },
    /// No shard is finished yet.
    #[error("no shard is finished: {}", list(directories))]
    Unfinished {
        /// The directories with finished runs of shards.
        directories: Vec<PathBuf>,
    },
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] ShardError),
    /// Two shards are of different commands.
    #[error("{} is a shard of `{words}`, but {} is one of `{other_words}`", path.display(), other.display())]
    Commands {
        /// A shard.
        path: PathBuf,
        /// Its command.
        words: Box<CommandWords>,
        /// Another shard.
        other: PathBuf,
        /// Its command.
        other_words: Box<CommandWords>,
    },
    /// Two shards of one command have other data.
    #[error("{} and {} are shards of the same command, run on different data", path.display(), other.display())]
    Data {
        /// A shard.
        path: PathBuf,
        /// Another.
        other: PathBuf,
    },
    /// The experiment was divided in two ways.
    #[error("{} is shard {shard}, but {} is shard {other_shard}: the experiment was divided in two ways", path.display(), other.display())]
    Counts {
        /// A shard.
        path: PathBuf,
        /// Which it is.
        shard: Shard,
        /// Another.
        other: PathBuf,
        /// Which it is.
        other_shard: Shard,
    },
    /// A shard was given twice.
    #[error("shard {shard} was given twice: {} and {}", path.display(), other.display())]
    Twice {
        /// The shard.
        shard: Shard,
        /// Its file.
        path: PathBuf,
        /// Its other file.
        other: PathBuf,
    },
    /// Some shards are missing.
    #[error("`{words}`: {}", missing_words(missing, *count, unfinished))]
    Missing {
        /// The command.
        words: Box<CommandWords>,
        /// Their numbers.
        missing: Vec<u32>,
        /// How many shards there are.
        count: u32,
        /// Directories with a shard that is not finished.
        unfinished: Vec<PathBuf>,
    },
    /// The command plays something else here than in the shards.
    #[error("`{words}` is another experiment here than in the shards")]
    Changed {
        /// The command.
        words: Box<CommandWords>,
    },
    /// A shard does not have the runs that it should have.
    #[error("{}: has other runs than shard {shard} should have", path.display())]
    Runs {
        /// Its file.
        path: PathBuf,
        /// The shard.
        shard: Shard,
    },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn missing_words(missing: &[u32], count: u32, unfinished: &[PathBuf]) -> String {
    const SHOWN: usize = 10;
    let numbers: Vec<String> = missing.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if missing.len() > SHOWN { format!(" and {} more", missing.len() - SHOWN) } else { String::new() };
    let missing = match missing {
        [only] => format!("shard {only} of {count} is missing"),
        _ => format!("shards {}{more} of {count} are missing", numbers.join(", ")),
    };
    if unfinished.is_empty() { missing } else { format!("{missing}; not finished: {}", list(unfinished)) }
}

impl Explain for ShardSetError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Directory { .. } => Remedy::new("check its name and your permissions"),
            Self::None { .. } => {
                Remedy::with("{action}, and name the directory that it wrote to", Action::RunShard).see(Topic::Shards)
            }
            Self::File(error) => return error.remedy(),
            Self::Commands { .. } => Remedy::new("merge the shards of one command only").see(Topic::Shards),
            Self::Data { .. } => Remedy::new("run all shards on the same data files").see(Topic::Shards),
            Self::Counts { .. } => Remedy::new("merge the shards of one division only").see(Topic::Shards),
            Self::Twice { .. } => Remedy::new("name only one of them"),
            Self::Missing { unfinished: directories, .. } | Self::Unfinished { directories }
                if !directories.is_empty() =>
            {
                Remedy::new("run the command of what is not finished again: it resumes")
            }
            Self::Unfinished { .. } | Self::Missing { .. } => {
                Remedy::with("{action}, or name the directory that has it", Action::RunShard)
            }
            Self::Changed { .. } => Remedy::new("merge where the data files are those that the shards were run on"),
            Self::Runs { .. } => Remedy::new("remove the file and run this shard again"),
        })
    }
}

impl ShardSet {
    /// The shards in these directories, or in directories within them.
    ///
    /// # Errors
    /// [`ShardSetError`] if a file is damaged, or if they are not all the shards of one experiment, each once.
    pub fn read(directories: &[PathBuf]) -> Result<Self, ShardSetError> {
        let mut found: BTreeMap<u32, ShardFile> = BTreeMap::new();
        let mut unfinished = Vec::new();
        for directory in directories.iter().map(|directory| shards_in(directory)) {
            for place in directory? {
                if !place.join(FILE).exists() {
                    unfinished.push(place);
                    continue;
                }
                let file = ShardFile::read(&place.join(FILE))?;
                if let Some(first) = found.values().next() {
                    same_experiment(first, &file)?;
                }
                if let Some(before) = found.get(&file.shard.number()) {
                    let path = before.path.clone();
                    return Err(ShardSetError::Twice { shard: file.shard, path, other: file.path });
                }
                found.insert(file.shard.number(), file);
            }
        }
        let Some(first) = found.values().next() else {
            return Err(match unfinished.as_slice() {
                [] => ShardSetError::None { directories: directories.to_vec() },
                _ => ShardSetError::Unfinished { directories: unfinished },
            });
        };
        let (count, words, digest) = (first.shard.count(), first.header.words.clone(), first.header.digest.clone());
        let missing: Vec<u32> = (1..=count).filter(|number| !found.contains_key(number)).collect();
        if !missing.is_empty() {
            return Err(ShardSetError::Missing { words: Box::new(words), missing, count, unfinished });
        }
        Ok(Self { words, digest, files: found.into_values().collect() })
    }

    /// The command that the shards were run by.
    pub fn words(&self) -> &CommandWords {
        &self.words
    }

    /// How many shards there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// All runs of all shards, for the command to find them finished.
    ///
    /// # Errors
    /// [`ShardSetError`] if the command is another experiment here, or a shard lacks runs.
    pub fn journal(self, workload: &CommandRuns<'_>) -> Result<RunJournal, ShardSetError> {
        if workload.digest() != self.digest {
            return Err(ShardSetError::Changed { words: Box::new(self.words) });
        }
        for file in &self.files {
            let expected = workload.units(file.shard);
            if !expected.into_iter().eq(file.lines.iter().map(|line| (line.key.as_str(), line.run))) {
                return Err(ShardSetError::Runs { path: file.path.clone(), shard: file.shard });
            }
        }
        Ok(RunJournal::of(self.files.into_iter().flat_map(|file| file.lines)))
    }
}

/// The directory, or the directories within it, that have a shard, finished or not.
fn shards_in(directory: &Path) -> Result<Vec<PathBuf>, ShardSetError> {
    let has_shard = |place: &Path| place.join(FILE).exists() || place.join(run_journal::FILE).exists();
    let failed = |source| ShardSetError::Directory { path: directory.to_owned(), source };
    let entries = fs::read_dir(directory).map_err(failed)?.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    if has_shard(directory) {
        return Ok(vec![directory.to_owned()]);
    }
    let mut within: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(|place| has_shard(place)).collect();
    within.sort();
    Ok(within)
}

fn same_experiment(first: &ShardFile, file: &ShardFile) -> Result<(), ShardSetError> {
    let (path, other) = (first.path.clone(), file.path.clone());
    if first.header.words != file.header.words {
        let words = Box::new(first.header.words.clone());
        return Err(ShardSetError::Commands { path, words, other, other_words: Box::new(file.header.words.clone()) });
    }
    if first.header.digest != file.header.digest {
        return Err(ShardSetError::Data { path, other });
    }
    if first.shard.count() != file.shard.count() {
        return Err(ShardSetError::Counts { path, shard: first.shard, other, other_shard: file.shard });
    }
    Ok(())
}

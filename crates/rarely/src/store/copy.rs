//! `rarely store copy`: a log from a file into a database, or back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use rarely_live::engine::Durability;
use rarely_store::{
    ChainFile, Head, PostgresStore, PresentEvents, SqliteLog, chain_file, chain_files, chains_to_postgres,
    copy_chains_from_postgres, copy_from_postgres, copy_to_postgres,
};

use crate::failure::Failure;
use crate::offline::{chain_heading, policies_in};
use crate::output::say;
use crate::postgres::store_address;

/// What to copy.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The store: a file that no server uses, a folder with a copy of all chains, or postgres://USER@HOST/DATABASE, which servers may use
    #[arg(long, value_name = "STORE")]
    from: PathBuf,
    /// The copy: an empty database, a new file, or for a store of several chains a folder, like backup/
    #[arg(long, value_name = "STORE")]
    to: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bar = ProgressBar::new_spinner().with_message("copying the log");
    bar.enable_steady_tick(Duration::from_millis(200));
    let progress = |number| bar.set_position(number);
    let Arguments { from, to } = arguments;
    let copied = match (store_address(from)?, store_address(to)?) {
        (None, Some(address)) if from.is_dir() => {
            let files = files_in(from)?;
            let store = PostgresStore::connect_incomplete(address, Durability::Full)?;
            let heads = chains_to_postgres(&files, &store, PresentEvents::Refuse, progress)?;
            named(&heads, |_| store.address().to_string())
        }
        (None, Some(address)) => {
            let shown = address.to_string();
            vec![(copy_to_postgres(from, address, Durability::Full, progress)?, shown)]
        }
        (Some(address), None) if is_folder(to) => {
            let heads = copy_chains_from_postgres(address, to, progress)?;
            named(&heads, |number| to.join(chain_file(number)).display().to_string())
        }
        (Some(address), None) => vec![(copy_from_postgres(address, to, progress)?, to.display().to_string())],
        (None, None) => {
            return Err(Failure::new("both stores are files").help("use `rarely store backup`"));
        }
        (Some(_), Some(_)) => {
            return Err(
                Failure::new("both stores are databases").help("copy the one to a file, and the file to the other")
            );
        }
    };
    bar.finish_and_clear();
    for (number, (head, to)) in (0_u64..).zip(&copied) {
        let heading = chain_heading(number, copied.len());
        say(&format!("{heading}{} events are in {to}; the last has the hash {}", head.number, head.hash));
    }
    Ok(())
}

/// The ends of logs, each with where it is.
fn named(heads: &[Head], place: impl Fn(u64) -> String) -> Vec<(Head, String)> {
    (0..).zip(heads).map(|(number, head)| (*head, place(number))).collect()
}

/// Whether a path is a folder, or is written like one.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// The files of all chains in a folder, with the policies in them.
pub(super) fn files_in(folder: &Path) -> Result<Vec<ChainFile>, Failure> {
    let mut files = Vec::new();
    for path in chain_files(folder) {
        let policies = policies_in(&SqliteLog::open_read_only(&path)?)?;
        files.push(ChainFile { path, policies });
    }
    Ok(files)
}

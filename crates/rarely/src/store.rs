//! `rarely store`: archives and backups of a store, recovery when its last events are lost, its clock, and a new signing key.

mod archive;
mod copy;
mod restore;
mod rotate_key;
mod store_clock;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rarely_live::event::Recovered;
use rarely_store::{Store, backup};

use crate::failure::Failure;
use crate::offline::{OfflineStore, signing_if_possible};
use crate::output::say;
use crate::postgres::only_a_file;

/// What to do with a store.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Copy a store, which a server may be using, to a new file, and check the copy
    Backup {
        /// The store
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
        /// The new file
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Copy a store from a file into an empty PostgreSQL database, or from there to a new file, and check the copy; a folder has a file for
    /// each chain
    Copy(copy::Arguments),
    /// Move records that are older than their documents want to keep them (`retain`) into Parquet files, and give the space back
    Archive(archive::Arguments),
    /// Replace a store with a backup; refused if a server uses the store, or if it has events that the backup lacks
    Restore(restore::Arguments),
    /// Accept that a log has lost its last events, and record that as an event
    Recover {
        /// The store
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
    },
    /// Show the time of the log beside the system's clock; with --correct, set it back where a wrong clock has put it ahead
    Clock {
        /// The store: a file, or postgres://USER@HOST/DATABASE
        #[arg(long, value_name = "STORE")]
        store: PathBuf,
        /// Set the time of the log back to the system's clock; an event, signed with the key of the log, records it. No server may
        /// use the store
        #[arg(long, requires = "reason")]
        correct: bool,
        /// Why it is corrected, for the log
        #[arg(long, value_name = "TEXT", requires = "correct")]
        reason: Option<String>,
        /// File of the private key [default: beside a store that is a file, named STORE.signing-key]
        #[arg(long, value_name = "FILE")]
        signing_key: Option<PathBuf>,
    },
    /// Replace the key that signs checkpoints; an event, signed with both keys, records it
    RotateKey {
        /// The store, which no server uses: a file, or postgres://USER@HOST/DATABASE
        #[arg(long, value_name = "STORE")]
        store: PathBuf,
        /// File of the private key [default: beside a store that is a file, named STORE.signing-key]
        #[arg(long, value_name = "FILE")]
        signing_key: Option<PathBuf>,
        /// The old key is lost: only the new one signs, and auditors who know only the old key cannot trust the new one
        #[arg(long)]
        lost: bool,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Backup { store, to } => {
            only_a_file(store, "copy the store to a file with `rarely store copy`")?;
            let head = backup(store, to)?;
            say(&format!("{} events are in {}; the last has the hash {}", head.number, to.display(), head.hash));
        }
        Command::Archive(arguments) => archive::run(arguments)?,
        Command::Copy(arguments) => copy::run(arguments)?,
        Command::Restore(arguments) => restore::run(arguments)?,
        Command::Recover { store } => {
            only_a_file(store, "a database has no witness; compare it with checkpoints that were kept elsewhere")?;
            recover(store)?;
        }
        Command::Clock { store, correct, reason, signing_key } => {
            let reason = reason.as_deref().filter(|_| *correct);
            store_clock::run(store, reason, signing_key.as_deref())?;
        }
        Command::RotateKey { store, signing_key, lost } => {
            rotate_key::run(store, signing_key.as_deref(), *lost)?;
        }
    }
    Ok(())
}

fn recover(store: &Path) -> Result<(), Failure> {
    let (head, seen) = Store::accept_loss(store)?;
    let Some(seen) = seen.filter(|seen| *seen != head && seen.number >= head.number) else {
        say(&format!("nothing is lost: the log ends at event {}, the last acknowledged", head.number));
        return Ok(());
    };
    let recovered = Recovered { log_ended: head.number, acknowledged: seen.number };
    let event = OfflineStore::reserve(store)?
        .service()
        .with_engine(signing_if_possible(store, None), |engine| Ok(engine.recovered("console", recovered)?))?;
    say(&if seen.number > head.number {
        format!(
            "events {} to {} are lost; event {event} records this, and the store can be used again",
            head.number + 1,
            seen.number
        )
    } else {
        format!(
            "event {} is not the one that was acknowledged; event {event} records this, and the store can be used again",
            head.number
        )
    });
    Ok(())
}

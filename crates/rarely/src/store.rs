//! `rarely store`: backups of a store, and recovery when its last events are lost.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rarely_live::Engine;
use rarely_live::engine::Durability;
use rarely_live::event::Recovered;
use rarely_store::{Store, backup, restore};

use crate::failure::Failure;
use crate::output::say;
use crate::serve::engine_options;

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
    /// Replace a store with a backup; refused if a server uses the store, or if it has events that the backup lacks
    Restore {
        /// The backup
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
        /// The store
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Accept that a log has lost its last events, and record that as an event
    Recover {
        /// The store
        #[arg(long, value_name = "FILE")]
        store: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Backup { store, to } => {
            let head = backup(store, to)?;
            say(&format!("{} events are in {}; the last has the hash {}", head.number, to.display(), head.hash));
        }
        Command::Restore { from, to } => {
            let restored = restore(from, to)?;
            let before =
                restored.before.map_or_else(String::new, |before| format!("; the store there ended at event {before}"));
            say(&format!("{} events are in {}{before}", restored.head.number, to.display()));
        }
        Command::Recover { store } => recover(store)?,
    }
    Ok(())
}

fn recover(store: &Path) -> Result<(), Failure> {
    let (head, seen) = Store::accept_loss(store)?;
    let Some(seen) = seen.filter(|seen| *seen != head && seen.number >= head.number) else {
        say(&format!("nothing is lost: the log ends at event {}, the last acknowledged", head.number));
        return Ok(());
    };
    let engine = Engine::start(store, engine_options(Durability::Full), |_| {})?;
    let recovered = Recovered { log_ended: head.number, acknowledged: seen.number };
    let written = engine.recovered("console", recovered);
    engine.stop();
    let event = written?;
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

//! `rarely store copy`: a log from a file into a database, or back.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use rarely_live::engine::Durability;
use rarely_store::{copy_from_postgres, copy_to_postgres};

use crate::failure::Failure;
use crate::output::say;
use crate::postgres::store_address;

/// What to copy.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The store: a file that no server uses, or postgres://USER@HOST/DATABASE, which servers may use
    #[arg(long, value_name = "STORE")]
    from: PathBuf,
    /// The copy: an empty database, or a new file
    #[arg(long, value_name = "STORE")]
    to: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bar = ProgressBar::new_spinner().with_message("copying the log");
    bar.enable_steady_tick(Duration::from_millis(200));
    let progress = |number| bar.set_position(number);
    let (head, to) = match (store_address(&arguments.from)?, store_address(&arguments.to)?) {
        (None, Some(to)) => {
            let shown = to.to_string();
            (copy_to_postgres(&arguments.from, to, Durability::Full, progress)?, shown)
        }
        (Some(from), None) => (copy_from_postgres(from, &arguments.to, progress)?, arguments.to.display().to_string()),
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
    say(&format!("{} events are in {to}; the last has the hash {}", head.number, head.hash));
    Ok(())
}

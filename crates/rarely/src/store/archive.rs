//! `rarely store archive`: moves records that are older than their documents want to keep them into files.

use std::path::{Path, PathBuf};

use clap::Args;
use rarely_live::Engine;
use rarely_live::event::ArchiveFile;
use rarely_output::UtcInstant;

use crate::archive_file::write;
use crate::failure::Failure;
use crate::offline::{OfflineStore, signing_if_possible};
use crate::output::{print, say};

/// What to archive, and where to.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The store, which no server uses: a file, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "STORE")]
    store: PathBuf,
    /// Directory for the files; keep it, since what is in it is nowhere else
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only records from before this day or time, such as 2024-07-01 [default: all that are older than `retain` of their document]
    #[arg(long, value_name = "TIME", value_parser = time)]
    before: Option<u64>,
    /// File of the private key [default: beside a store that is a file, named STORE.signing-key]
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { store, out, before, signing_key } = arguments;
    let offline = OfflineStore::reserve(store)?;
    let signing = signing_if_possible(store, signing_key.as_deref());
    let mut parts = 0;
    for log in offline.logs() {
        parts += log.with_engine(signing.clone(), |engine| archived(engine, out, *before))?;
    }
    if parts == 0 {
        say("no record is older than the document of its policy wants to keep it (`retain` in [control])");
    }
    Ok(())
}

/// Archives what is due in one log. Returns how many files were written.
fn archived(engine: &Engine, out: &Path, before: Option<u64>) -> Result<usize, Failure> {
    // A checkpoint covers everything that is archived now.
    engine.sign_checkpoint();
    let mut parts = 0;
    loop {
        let due = engine.due_archives(before)?;
        if due.is_empty() {
            break;
        }
        for due in &due {
            let written = write(out, engine.store_id(), engine.log().as_ref(), due)?;
            let (name, sha256, checkpoint) = (written.name.clone(), written.sha256, written.checkpoint);
            if checkpoint.is_none() {
                say("the log is not signed, so no checkpoint is beside the file");
            }
            let file = ArchiveFile { name, sha256, checkpoint };
            let archived = engine.archive(("console", "console"), due, file)?;
            print(&format!(
                "{}: {} events of {} ({} decisions); event {} says so\n",
                shown(out, &written.name),
                due.events,
                due.policy,
                archived.decisions,
                archived.event
            ))?;
            parts += 1;
        }
    }
    if parts > 0 && !engine.compact() {
        say("the space could not be given back to the system; the next archiving tries again");
    }
    Ok(parts)
}

fn shown(out: &Path, name: &str) -> String {
    out.join(name).display().to_string()
}

fn time(text: &str) -> Result<u64, String> {
    let instant = UtcInstant::parse(text).and_then(|instant| u64::try_from(instant.seconds).ok());
    instant.map(|seconds| seconds * 1000).ok_or_else(|| {
        format!("{text:?} is not a time\nhelp: write a day, or a day and a time: 2024-07-01, 2024-07-01T12:00:00Z")
    })
}

//! `rarely store restore`.

use std::io::{BufRead, IsTerminal as _, Write, stderr, stdin};
use std::path::PathBuf;

use clap::Args;
use rarely_live::Engine;
use rarely_live::engine::Durability;
use rarely_live::event::{BackupRestored, Event, EventError, Recovered};
use rarely_live::replay::{self, ReplayError, for_each_entry};
use rarely_policy::PolicyDocument;
use rarely_store::{
    EventLog, EventLoss, Head, LogEntry, PostgresStore, PresentEvents, Restored, StoreError, chains_to_postgres,
    restore, restore_to_postgres,
};

use super::copy::files_in;
use crate::failure::{Failure, OrFail as _};
use crate::offline::{OfflineLog, OfflineStore, chain_heading, logs_of, signing_if_possible};
use crate::output::say;
use crate::postgres::{store_address, without_password};

/// A backup, and the store that it replaces.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The backup: a file, or a folder with a file for each chain
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The store, which no server uses: a file, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "STORE")]
    to: PathBuf,
    /// Restore also if the store has events that the backup lacks: say what that undoes, ask, and record it as an event
    #[arg(long, requires = "name", requires = "reason")]
    accept_loss: bool,
    /// Your name, for the record
    #[arg(long, value_name = "NAME", requires = "accept_loss")]
    name: Option<String>,
    /// Why these events are given up, for the record
    #[arg(long, value_name = "TEXT", requires = "accept_loss")]
    reason: Option<String>,
    /// Do not ask
    #[arg(long, requires = "accept_loss")]
    yes: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { from, to, accept_loss, yes, .. } = arguments;
    if from.is_dir() {
        return restore_folder(arguments);
    }
    let target = Target::of(arguments)?;
    let first = match target.restore(EventLoss::Refuse) {
        Ok(restored) => {
            say(&format!("{} events are in {}", restored.head.number, without_password(&to.display().to_string())));
            return match restored.before.filter(|before| before.number > restored.head.number) {
                Some(before) => target.record_gap(restored.head, before),
                None => Ok(()),
            };
        }
        Err(StoreError::WouldLose { first, .. }) if *accept_loss => first,
        Err(error @ StoreError::WouldLose { .. }) => {
            let help = "restore a later backup; or give these events up with --accept-loss --name NAME --reason TEXT";
            return Err(Failure::from(error).help(help));
        }
        Err(error) => return Err(error.into()),
    };
    let by = arguments.name.as_deref().unwrap_or_default();
    rarely_server::check_owner(by)?;
    let reason = arguments.reason.as_deref().unwrap_or_default().trim();
    if reason.is_empty() {
        return Err(Failure::new("--reason is empty").help("say in a few words why these events are given up"));
    }
    let logs = logs_of(to)?;
    let Some((_, log)) = logs.first() else { return Ok(()) };
    let before = log.head()?.map_or(Head::EMPTY, |(number, hash)| Head { number, hash });
    tell(&**log, first, before.number)?;
    drop(logs);
    if !yes && !confirmed()? {
        return Err(Failure::new("nothing was restored"));
    }
    let restored = target.restore(EventLoss::Accept)?;
    let event =
        BackupRestored { by: by.to_owned(), reason: reason.to_owned(), from: before.into(), to: restored.head.into() };
    let number = target.recorded(|engine| Ok(engine.backup_restored("console", event)?))?;
    say(&format!(
        "the log went back from event {} to event {}; event {number} records this",
        before.number, restored.head.number
    ));
    Ok(())
}

/// Restores all chains of a store from a folder. Events that the database lacks are added; none is given up.
fn restore_folder(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { from, to, accept_loss, .. } = arguments;
    let Some(address) = store_address(to)? else {
        return Err(Failure::new(format!("{}: a folder is restored into a database", to.display()))
            .help("name it with --to postgres://USER@HOST/DATABASE; or name one of the files with --from"));
    };
    let other = "restore the folder into another, empty database";
    if *accept_loss {
        return Err(Failure::new("--accept-loss is for a store with one log").help(other));
    }
    let store = PostgresStore::connect_incomplete(address, Durability::Full)?;
    let restored = chains_to_postgres(&files_in(from)?, &store, PresentEvents::Complete, |_| ());
    let heads = restored.map_err(|error| match error {
        StoreError::WouldLose { .. } => Failure::from(error).help(other),
        error => error.into(),
    })?;
    for (number, head) in (0..).zip(&heads) {
        say(&format!("{}{} events are in {}", chain_heading(number, heads.len()), head.number, store.address()));
    }
    Ok(())
}

/// A backup, and the store that it replaces. A database stays reserved from the comparison to the record.
struct Target<'a> {
    arguments: &'a Arguments,
    database: Option<OfflineStore>,
}

impl<'a> Target<'a> {
    fn of(arguments: &'a Arguments) -> Result<Self, Failure> {
        let database = store_address(&arguments.to)?.map(OfflineStore::reserve_to_restore).transpose()?;
        Ok(Self { arguments, database })
    }

    fn restore(&self, loss: EventLoss) -> Result<Restored, StoreError> {
        let Arguments { from, to, .. } = self.arguments;
        match self.database.as_ref().map(OfflineStore::service) {
            Some(OfflineLog::Chain { store, lease }) => restore_to_postgres(from, store, lease, loss, |_| ()),
            _ => restore(from, to, loss),
        }
    }

    /// Records that a store, which was moved away, had events that the backup lacks.
    fn record_gap(&self, head: Head, before: Head) -> Result<(), Failure> {
        let gap = Recovered { log_ended: head.number, acknowledged: before.number };
        let number = self.recorded(|engine| Ok(engine.recovered("console", gap)?))?;
        say(&format!("the store that was there ended at event {}; event {number} records the loss", before.number));
        Ok(())
    }

    fn recorded(&self, record: impl FnOnce(&Engine) -> Result<u64, Failure>) -> Result<u64, Failure> {
        let to = &self.arguments.to;
        match &self.database {
            Some(database) => database.service().with_engine(None, record),
            None => OfflineStore::reserve(to)?.service().with_engine(signing_if_possible(to, None), record),
        }
    }
}

/// Says what is lost: what people did, each in a line, and how much else.
fn tell(log: &dyn EventLog, first: u64, last: u64) -> Result<(), Failure> {
    say(&format!("events {first} to {last} would be lost. Among them people did this, which would be undone:"));
    let (mut told, mut others) = (0_u64, 0_u64);
    for_each_entry::<ReplayError>(log, first - 1, None, |entry| {
        match undone(log, &entry)? {
            Some(what) => {
                told += 1;
                say(&format!("  event {}, by {}: {what}", entry.number, entry.actor));
            }
            None => others += 1,
        }
        Ok(())
    })?;
    if told == 0 {
        say("  nothing");
    }
    say(&format!("and {others} other events: decisions, outcomes, reviews and notes"));
    Ok(())
}

/// What a person did by an event, if it takes effect: revocations, stops, keys and signatures.
fn undone(log: &dyn EventLog, entry: &LogEntry) -> Result<Option<String>, ReplayError> {
    let event = match replay::event(log, entry) {
        Err(ReplayError::Event { source: EventError::Kind(kind), .. }) => {
            return Ok(Some(format!("{kind}, which this version of rarely does not know")));
        }
        read => read?,
    };
    let act = match &event {
        Event::TokenCreated(_)
        | Event::TokenRevoked(_)
        | Event::PersonKeyRegistered(_)
        | Event::PersonKeyRevoked(_)
        | Event::PersonErased(_)
        | Event::Archived(_)
        | Event::KeyReplaced(_) => return Ok(event.service_sentence()),
        Event::Registered(_) => "registered".to_owned(),
        Event::Approved(signed) => format!("signed proposal {}", signed.proposal),
        Event::Rejected(signed) => format!("rejected proposal {}", signed.proposal),
        Event::RolledBack(rolled) => format!("rolled back to version {}", rolled.to),
        Event::Proposed(proposed) if proposed.signature.is_some() => format!("signed proposal {}", proposed.proposal),
        Event::Proposed(proposed) if proposed.amendment.is_some() => {
            format!("proposed a document ({})", proposed.proposal)
        }
        Event::Reviewed(reviewed) if reviewed.signature.is_some() => "signed that nothing changes".to_owned(),
        Event::Stopped(_) => "stopped".to_owned(),
        Event::Resumed(_) => "resumed".to_owned(),
        _ => return Ok(None),
    };
    let registered = log.entry(entry.policy)?.map(|entry| replay::event(log, &entry)).transpose()?;
    let name = match registered {
        Some(Event::Registered(registered)) => PolicyDocument::parse(&registered.document, "document").ok(),
        _ => None,
    };
    let name = name.map_or_else(|| entry.policy.to_string(), |document| document.policy().to_owned());
    Ok(Some(format!("policy {name}: {act}")))
}

/// Asks on a terminal.
fn confirmed() -> Result<bool, Failure> {
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Err(Failure::new("there is no terminal to ask on").help("give --yes if this is what you want"));
    }
    ask(&mut stdin().lock(), &mut stderr()).or_fail_with(|| "the answer cannot be read".to_owned())
}

fn ask(answers: &mut impl BufRead, questions: &mut impl Write) -> std::io::Result<bool> {
    write!(questions, "Restore the backup and lose these events? [y/N] ")?;
    questions.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        for (answer, yes) in
            [("y\n", true), ("yes\n", true), ("\n", false), ("", false), ("no\n", false), ("yep\n", false)]
        {
            assert_eq!(ask(&mut answer.as_bytes(), &mut Vec::new()).expect("an answer"), yes, "{answer:?}");
        }
    }
}

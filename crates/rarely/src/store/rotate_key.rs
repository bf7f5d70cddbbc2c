//! `rarely store rotate-key`: another key signs checkpoints.

use std::path::Path;

use rarely_live::event::Event;
use rarely_live::replay::{self, ReplayError, for_each_entry};
use rarely_store::{NoteKey, origin, service_id};

use crate::failure::Failure;
use crate::offline::{OfflineLog, OfflineStore, chain_heading, private_key};
use crate::output::{print, say};
use crate::postgres::is_address;
use crate::serve::silent;

pub(super) fn run(store: &Path, signing_key: Option<&Path>, lost: bool) -> Result<(), Failure> {
    let file = private_key(store, signing_key)?;
    if lost && file.path().exists() {
        return Err(Failure::new(format!("{}: the key is not lost", file.path().display()))
            .help("leave out --lost, or move the file away if it is not the right one"));
    }
    let offline = OfflineStore::reserve(store)?;
    let logs = offline.logs();
    // A replacement that was interrupted is completed: some chains name this key already.
    let begun = if logs.len() > 1 { file.next().read()? } else { None };
    // The service's own log is the last one: with it the new key is put in place.
    for log in logs.iter().rev() {
        if let Some(begun) = &begun
            && (log.number() > 0 || !lost)
            && names(log, begun.key())?
        {
            say(&format!("{}the new key is recorded already", chain_heading(log.number(), logs.len())));
            continue;
        }
        let event = log.with_engine((!lost).then(|| silent(file.clone())), |engine| {
            Ok(engine.replace_signing_key("console", &file, &origin(service_id(engine.store_id())))?)
        })?;
        say(&format!("{}event {event} records the new key", chain_heading(log.number(), logs.len())));
    }
    // The new key signs everything so far. Where the file is still the old one, the start of the service's own log puts the new one in place.
    let mut key = String::new();
    for log in logs {
        let signed = log.with_engine(Some(silent(file.clone())), |engine| {
            Ok(engine.notary().map(|notary| notary.key().to_string()).unwrap_or_default())
        })?;
        if log.number() == 0 {
            key = signed;
        }
    }
    if is_address(store) {
        say(&format!("copy {} to every machine of the service before a replica starts there", file.path().display()));
    }
    print(&format!("{key}\n"))
}

/// Whether a log says that this key, under its own name, has replaced another.
fn names(log: &OfflineLog, key: &NoteKey) -> Result<bool, Failure> {
    let log = log.read()?;
    let mut found = false;
    for_each_entry::<ReplayError>(&*log, 0, Some(0), |entry| {
        if let Ok(Event::KeyReplaced(replaced)) = replay::event(&*log, &entry) {
            found |= replaced.to.named(key.name()) == *key;
        }
        Ok(())
    })?;
    Ok(found)
}

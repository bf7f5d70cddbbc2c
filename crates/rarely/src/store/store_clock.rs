//! `rarely store clock`: the time of a log beside the system's clock.

use std::fmt::Write as _;
use std::path::Path;

use rarely_live::{Engine, replay};
use rarely_output::utc;
use rarely_store::{CLOCK_CORRECTED, EventLog, StoreError, now_ms};

use crate::failure::Failure;
use crate::offline::{OfflineStore, chain_heading, logs_of, private_key};
use crate::output::{print, say};
use crate::serve::silent;

/// Shows the time of each log; with a reason, sets those back that are ahead.
pub(super) fn run(store: &Path, reason: Option<&str>, signing_key: Option<&Path>) -> Result<(), Failure> {
    let logs = logs_of(store)?;
    let system_ms = now_ms();
    let mut ahead = Vec::new();
    for (number, log) in &logs {
        let last_ms = log.last_time_ms()?;
        if reason.is_none() {
            let heading = if logs.len() > 1 { format!("chain {number}\n") } else { String::new() };
            print(&format!("{heading}{}", shown(&**log, last_ms, system_ms)?))?;
        }
        if last_ms > system_ms {
            ahead.push((*number, last_ms));
        }
    }
    let count = logs.len();
    drop(logs);
    let Some(reason) = reason else { return Ok(()) };
    if ahead.is_empty() {
        say("the time of the log is not ahead of the system's clock; nothing is corrected");
        return Ok(());
    }
    let file = private_key(store, signing_key)?;
    if !file.path().exists() {
        return Err(Failure::new(format!("{}: the private key of the log is not there", file.path().display()))
            .help("name its file with --signing-key: a correction must be signed"));
    }
    let offline = OfflineStore::reserve(store)?;
    for (number, last_ms) in ahead {
        let Some(log) = offline.logs().iter().find(|log| log.number() == number) else { continue };
        let correct = |engine: &Engine| Ok(engine.correct_clock("console", system_ms, reason)?);
        let corrected = log.with_engine(Some(silent(file.clone())), correct)?;
        say(&format!(
            "{}event {corrected} sets the time of the log back from {} to {}",
            chain_heading(number, count),
            utc(last_ms),
            utc(system_ms)
        ));
    }
    Ok(())
}

fn shown(log: &dyn EventLog, last_ms: u64, system_ms: u64) -> Result<String, Failure> {
    let number = log.head()?.map_or(0, |(number, _)| number);
    let mut text = format!("last event      {number}, {}\nsystem's clock  {}\n", utc(last_ms), utc(system_ms));
    let _ = match last_ms.checked_sub(system_ms).filter(|ahead_ms| *ahead_ms > 0) {
        None => writeln!(text, "The log is not ahead of the system's clock."),
        Some(ahead_ms) => writeln!(
            text,
            "The log is {} ahead of the system's clock. If that is right now, `rarely store clock --correct --reason …` sets the log back.",
            duration(ahead_ms)
        ),
    };
    replay::for_each_entry(log, 0, None, |entry| {
        if entry.kind != "clock jumped" && entry.kind != CLOCK_CORRECTED {
            return Ok::<_, StoreError>(());
        }
        let said = replay::event(log, &entry).ok().and_then(|event| event.service_sentence()).unwrap_or_default();
        let _ = writeln!(text, "event {}, {}: {said}", entry.number, utc(entry.time_ms));
        Ok(())
    })?;
    Ok(text)
}

/// A length of time in the unit that suits it.
fn duration(milliseconds: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "days"), (3_600_000, "hours"), (60_000, "minutes"), (1_000, "seconds")];
    let fits = UNITS.into_iter().find(|(length, _)| milliseconds >= 2 * length);
    fits.map_or_else(
        || format!("{milliseconds} milliseconds"),
        |(length, name)| format!("{} {name}", milliseconds / length),
    )
}

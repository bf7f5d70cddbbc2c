//! A file with archived events, and the file beside it that shows that they are in the signed log.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use rarely_error::Topic;
use rarely_live::engine::DueArchive;
use rarely_output::{OutputDirectory, ParquetRows, ReadCell, RowCell, RowColumn, read_parquet_rows};
use rarely_store::{
    EventLog, Hash, LogEntry, SignedCheckpoint, StoreError, chain_number, check_range, origin, range_proof,
};
use serde_json::json;

use crate::failure::{Failure, OrFail as _};

/// The format of the file beside the events.
const FORMAT: &str = "rarely archive 1";
const COLUMNS: [(&str, RowColumn); 8] = [
    ("number", RowColumn::Whole),
    ("time_ms", RowColumn::Whole),
    ("elapsed_ms", RowColumn::Whole),
    ("actor", RowColumn::Text),
    ("policy", RowColumn::Whole),
    ("kind", RowColumn::Text),
    ("body", RowColumn::Text),
    ("hash", RowColumn::Text),
];
/// Events read at once.
const BLOCK: usize = 4096;

/// A file that was written, and read again.
pub(crate) struct Written {
    pub(crate) name: String,
    pub(crate) sha256: Hash,
    pub(crate) checkpoint: Option<u64>,
}

/// Writes the events that are due, with the signed checkpoint beside them, and reads them again.
pub(crate) fn write(folder: &Path, id: &str, log: &dyn EventLog, due: &DueArchive) -> Result<Written, Failure> {
    let out = OutputDirectory::create(folder)?;
    let stem = stem(id, due);
    let name = format!("{stem}.parquet");
    let (bytes, hashes) = parquet(log, due)?;
    refuse_other(&folder.join(&name), &bytes)?;
    out.write(&name, &bytes)?;
    let checkpoint = log.checkpoints(Some(due.last - 1))?.into_iter().next();
    let proof = match &checkpoint {
        Some(checkpoint) => range_proof(log, due.first, due.last, checkpoint.size())?,
        None => Vec::new(),
    };
    let before = if due.first > 1 { log.hashes(due.first - 2, 1)?.pop() } else { Some(Hash::ZERO) };
    let sha256 = Hash::of(&bytes);
    out.write_json(
        &format!("{stem}.json"),
        &json!({
            "format": FORMAT, "origin": origin(id), "policy": due.policy, "policy_id": due.id, "first": due.first, "last": due.last,
            "events": due.events, "sha256": sha256, "hash_before": before,
            "checkpoint": checkpoint.as_ref().map(ToString::to_string), "proof": proof,
        }),
    )?;
    for file in [&name, &format!("{stem}.json")] {
        private(&folder.join(file)).or_fail_with(|| format!("{}: cannot be protected", folder.join(file).display()))?;
    }
    sync(folder).or_fail_with(|| format!("{}: cannot be written to the disk", folder.display()))?;
    check(&folder.join(&name), due, before.unwrap_or(Hash::ZERO), (&sha256, &hashes))?;
    if let Some(checkpoint) = &checkpoint
        && !check_range(&proof, due.first, &hashes, checkpoint.size(), &checkpoint.root())
    {
        let problem = "the events are not the ones that were signed".to_owned();
        return Err(StoreError::Proof { problem }.into());
    }
    Ok(Written { name, sha256, checkpoint: checkpoint.map(|checkpoint: SignedCheckpoint| checkpoint.size()) })
}

/// The name of the files, without what follows the point. Chains of one store number their events each for itself.
fn stem(id: &str, DueArchive { first, last, .. }: &DueArchive) -> String {
    match chain_number(id) {
        0 => format!("events-{first}-{last}"),
        chain => format!("chain-{chain}-events-{first}-{last}"),
    }
}

/// A file with this name and other events is the archive of another store, and is not replaced. One with the same events is what an archiving
/// wrote that was interrupted.
fn refuse_other(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    match std::fs::read(path) {
        Ok(there) if there != bytes => {
            Err(Failure::new(format!("{}: the file is there already, with other events", path.display()))
                .help("name a directory of its own for each store")
                .see(Topic::Archives))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).or_fail_with(|| format!("{}: cannot be read", path.display()))
        }
        _ => Ok(()),
    }
}

/// The events as a Parquet file, and the hashes of all events between the first and the last.
fn parquet(log: &dyn EventLog, due: &DueArchive) -> Result<(Vec<u8>, Vec<Hash>), Failure> {
    let columns = COLUMNS.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
    let failed = || "the archive cannot be written".to_owned();
    let mut rows = ParquetRows::new(Vec::new(), columns).or_fail_with(failed)?;
    let (mut hashes, mut after) = (Vec::new(), due.first - 1);
    while after < due.last {
        let block = log.entries(after, None, BLOCK)?;
        let Some(last) = block.last() else { break };
        after = last.number;
        for entry in block.into_iter().take_while(|entry| entry.number <= due.last) {
            let hash = entry.hash.to_string();
            let row = if due.has(&entry) {
                let elapsed = entry.elapsed_ms.map_or(RowCell::Missing, RowCell::Whole);
                let LogEntry { number, time_ms, actor, policy, kind, body, .. } = &entry;
                [
                    RowCell::Whole(*number),
                    RowCell::Whole(*time_ms),
                    elapsed,
                    RowCell::Text(actor),
                    RowCell::Whole(*policy),
                    RowCell::Text(kind),
                    RowCell::Text(body),
                    RowCell::Text(&hash),
                ]
            } else {
                let mut row = [RowCell::Missing; 8];
                (row[0], row[7]) = (RowCell::Whole(entry.number), RowCell::Text(&hash));
                row
            };
            rows.push(&row).or_fail_with(failed)?;
            hashes.push(entry.hash);
        }
    }
    Ok((rows.finish().or_fail_with(failed)?, hashes))
}

/// Reads a file again and checks that every event in it is the one of the log.
fn check(path: &Path, due: &DueArchive, before: Hash, (sha256, hashes): (&Hash, &[Hash])) -> Result<(), Failure> {
    let differs = || Failure::new(format!("{}: what was written is not what is read", path.display()));
    let (mut previous, mut events, mut number) = (before, 0, due.first);
    let mut is_right = true;
    each(path, Some(sha256), |entry, hash| {
        let at = usize::try_from(number - due.first).unwrap_or(usize::MAX);
        is_right &= hashes.get(at) == Some(&hash) && entry.as_ref().is_none_or(|entry| entry.number == number);
        if let Some(entry) = entry {
            events += 1;
            is_right &= entry.expected_hash(&previous) == hash && due.has(&entry);
        }
        (previous, number) = (hash, number + 1);
    })?;
    if is_right && events == due.events && number == due.last + 1 { Ok(()) } else { Err(differs()) }
}

/// The bodies in a file that the log names, by number.
pub(crate) fn bodies(path: &Path, sha256: &Hash, into: &mut HashMap<u64, String>) -> Result<(), Failure> {
    each(path, Some(sha256), |entry, _| into.extend(entry.map(|entry| (entry.number, entry.body))))
}

/// Visits the rows of a file: the event, if it is in it, and the hash.
fn each(path: &Path, sha256: Option<&Hash>, mut visit: impl FnMut(Option<LogEntry>, Hash)) -> Result<(), Failure> {
    let failed = || format!("{}: cannot be read", path.display());
    if let Some(sha256) = sha256 {
        let found = Hash::of(&std::fs::read(path).or_fail_with(failed)?);
        if found != *sha256 {
            return Err(Failure::new(format!(
                "{}: the file has the SHA-256 {found}, and should have {sha256}",
                path.display()
            ))
            .help("use the file that was written when the events were archived, or a copy of it"));
        }
    }
    let names = COLUMNS.map(|(name, _)| name);
    let file = File::open(path).or_fail_with(failed)?;
    let read = read_parquet_rows(file, &names, |row| {
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "a row is no event");
        let [number, time_ms, elapsed_ms, actor, policy, kind, body, hash]: [ReadCell; 8] =
            row.try_into().map_err(|_| invalid())?;
        let hash: Hash = hash.text().and_then(|hash| hash.parse().ok()).ok_or_else(invalid)?;
        let entry = match (number.whole(), time_ms.whole(), policy.whole(), actor.text(), kind.text(), body.text()) {
            (Some(number), Some(time_ms), Some(policy), Some(actor), Some(kind), Some(body)) => {
                Some(LogEntry { number, time_ms, elapsed_ms: elapsed_ms.whole(), actor, policy, kind, body, hash })
            }
            (Some(_), None, None, None, None, None) => None,
            _ => return Err(invalid()),
        };
        visit(entry, hash);
        Ok(())
    });
    read.or_fail_with(failed)
}

/// Only the owner of a file may read it: it has records of people.
#[cfg(unix)]
fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes the names of new files durable.
#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_folder: &Path) -> io::Result<()> {
    Ok(())
}

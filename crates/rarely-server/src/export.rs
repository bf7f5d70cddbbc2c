//! All cases with an outcome as a Parquet file, which `rarely review --data` reads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use rarely_error::{Explain, Remedy};
use rarely_live::engine::PolicyHandle;
use rarely_live::event::{Event, Observed};
use rarely_live::replay::{self, ReplayError, for_each_entry};
use rarely_live::{DocumentEdition, LivePolicy, RecordField};
use rarely_output::{ParquetRows, RowCell, RowColumn, utc};
use rarely_policy::PolicyDocument;
use rarely_store::EventLog;
use tokio::sync::mpsc::{Sender, channel};

use crate::events::{stream, stream_permit};
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

/// Bytes sent at a time.
const CHUNK: usize = 1 << 16;
/// Chunks buffered for a slow reader.
const BUFFERED: usize = 4;

pub(crate) async fn export(request: AuthorizedRequest) -> ApiResult {
    let (handle, log) = (request.policy()?.clone(), request.app.engine.log().clone());
    let until = request.app.engine.committed();
    let (sender, receiver) = channel(BUFFERED);
    let permit = stream_permit(&request.app)?;
    let (app, policy, who) = (request.app.clone(), handle.clone(), request.grant()?.clone());
    blocking(move || app.engine.exported(&policy, &who)).await??;
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut out = ChunkWriter { sender, chunk: Vec::with_capacity(CHUNK) };
        if let Err(error) = write(&handle, log.as_ref(), until, &mut out) {
            // The response has started. Abort it, so that the reader does not take it for complete.
            drop(out.sender.blocking_send(Err(io::Error::other(error.to_string()))));
        }
    });
    let mut response = stream(receiver, "application/vnd.apache.parquet");
    let disposition = HeaderValue::from_static("attachment; filename=\"export.parquet\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Store(#[from] rarely_store::StoreError),
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Stops the walk at the last event; not a failure.
    #[error("done")]
    Done,
}

impl Explain for ExportError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Replay(error) => error.remedy(),
            Self::Store(error) => error.remedy(),
            Self::Write(_) | Self::Done => None,
        }
    }
}

fn write(handle: &PolicyHandle, log: &dyn EventLog, until: u64, out: &mut ChunkWriter) -> Result<(), ExportError> {
    let (corrected, overridden) = corrections(handle, log, until)?;
    // Rows from before an amendment have what the columns of the document in force share with theirs.
    let live = handle.live.lock().clone();
    let mut rows = ParquetRows::new(&mut *out, columns(live.document()))?;
    each(handle, log, until, |number, time_ms, event| {
        let Event::Observed(observed) = event else { return Ok(()) };
        if observed.archived.is_some() || observed.subject.is_some_and(|about| about.erased) {
            return Ok(());
        }
        if observed.decision.is_some_and(|decision| overridden.contains(&decision)) {
            return Ok(());
        }
        let mut observed = observed;
        if let Some((outcome, guardrails)) = corrected.get(&number) {
            observed.outcome = *outcome;
            observed.guardrails.clone_from(guardrails);
        }
        push(&live, log, &mut rows, time_ms, &observed)
    })?;
    rows.finish()?;
    out.flush()?;
    Ok(())
}

/// The outcome, and those of guard-rails.
type CorrectedOutcomes = (f64, BTreeMap<String, f64>);

/// Corrected outcomes, by the event that first reported the outcome; and decisions that were overridden, which are no evidence.
fn corrections(
    handle: &PolicyHandle,
    log: &dyn EventLog,
    until: u64,
) -> Result<(HashMap<u64, CorrectedOutcomes>, HashSet<u64>), ExportError> {
    let (mut corrected, mut overridden) = (HashMap::new(), HashSet::new());
    each(handle, log, until, |_, _, event| {
        match event {
            Event::Corrected(event) => _ = corrected.insert(event.first, (event.outcome, event.guardrails)),
            Event::Overridden(event) => _ = overridden.insert(event.decision),
            _ => {}
        }
        Ok(())
    })?;
    Ok((corrected, overridden))
}

/// Visits every outcome, correction and override of a policy up to an event.
fn each(
    handle: &PolicyHandle,
    log: &dyn EventLog,
    until: u64,
    mut each: impl FnMut(u64, u64, Event) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let walked = for_each_entry(log, 0, Some(handle.id), |entry| {
        if entry.number > until {
            return Err(ExportError::Done);
        }
        if matches!(entry.kind.as_str(), "observed" | "corrected" | "overridden") {
            each(entry.number, entry.time_ms, replay::event(log, &entry)?)?;
        }
        Ok(())
    });
    match walked {
        Err(ExportError::Done) => Ok(()),
        other => other,
    }
}

fn push<W: Write + Send>(
    live: &LivePolicy,
    log: &dyn EventLog,
    rows: &mut ParquetRows<W>,
    time_ms: u64,
    observed: &Observed,
) -> Result<(), ExportError> {
    let about = observed.decision.map(|decision| replay::decision(log, decision)).transpose()?.flatten();
    let (record, option, propensity, version) = match (&observed.elsewhere, &about) {
        (Some(elsewhere), _) => (&elsewhere.record, &elsewhere.option, elsewhere.propensity, None),
        (None, Some(about)) => {
            let decided = &about.decided;
            if decided.archived.is_some() {
                return Ok(());
            }
            (&decided.record, &decided.option, Some(decided.propensity), Some(decided.version))
        }
        (None, None) => return Ok(()),
    };
    // Imported history has its own times.
    let decided_ms = observed.elsewhere.as_ref().and_then(|elsewhere| elsewhere.time_ms);
    let written = utc(decided_ms.unwrap_or(time_ms));
    let under = observed.elsewhere.as_ref().and_then(|elsewhere| elsewhere.edition).or(version).unwrap_or(1);
    let edition = live.edition_of(under);
    let known = edition.reader.encoder().feature_columns();
    let mut cells = Vec::with_capacity(record.len() + 6);
    for column in live.edition().reader.encoder().feature_columns() {
        let at = known.iter().position(|known| known == column);
        let field = at.and_then(|at| record.get(at).map(|field| cell(edition, at, field)));
        cells.push(field.unwrap_or(RowCell::Missing));
    }
    cells.push(RowCell::Text(option));
    cells.push(RowCell::Number(observed.outcome));
    let guarded = live.edition().reader.encoder().guardrail_columns();
    cells.extend(
        guarded.map(|column| observed.guardrails.get(column).map_or(RowCell::Missing, |&one| RowCell::Number(one))),
    );
    cells.push(propensity.map_or(RowCell::Missing, RowCell::Number));
    cells.push(RowCell::Text(&written));
    cells.push(version.map_or(RowCell::Missing, RowCell::Whole));
    cells.push(observed.decision.map_or(RowCell::Missing, RowCell::Whole));
    rows.push(&cells)?;
    Ok(())
}

/// A number for a numeric feature, a level's name for a categorical one.
fn cell<'a>(edition: &'a DocumentEdition, at: usize, field: &'a RecordField) -> RowCell<'a> {
    let feature = &edition.document.features()[at];
    match (feature.levels(), field) {
        (_, RecordField::Missing) => RowCell::Missing,
        (None, RecordField::Number(number)) => RowCell::Number(*number),
        (None, RecordField::Text(text)) => text.trim().parse().map_or(RowCell::Missing, RowCell::Number),
        (Some(_), RecordField::Text(text)) => RowCell::Text(text),
        (Some(levels), RecordField::Number(_)) => {
            let mut context = edition.reader.encoder().blank();
            let offset = edition.document.offset(at);
            if edition.reader.encoder().feature(at, field.value(), &mut context).is_err() {
                return RowCell::Missing;
            }
            let coordinates = &context[offset..offset + levels.len() - 1];
            RowCell::Text(&levels[coordinates.iter().position(|&one| one == 1.0).map_or(0, |at| at + 1)])
        }
    }
}

fn columns(document: &PolicyDocument) -> Vec<(String, RowColumn)> {
    let kind = |levels: bool| if levels { RowColumn::Text } else { RowColumn::Number };
    let mut columns: Vec<(String, RowColumn)> = document
        .feature_columns()
        .iter()
        .map(|feature| (feature.column.clone(), kind(feature.levels().is_some())))
        .collect();
    columns.push((document.option_column().to_owned(), RowColumn::Text));
    columns.push((document.outcome().column.clone(), RowColumn::Number));
    columns.extend(document.guardrails().iter().map(|guardrail| (guardrail.column.clone(), RowColumn::Number)));
    let beside = [
        ("propensity", RowColumn::Number),
        ("time", RowColumn::Text),
        ("version", RowColumn::Whole),
        ("decision", RowColumn::Whole),
    ];
    for (name, kind) in beside {
        // Columns of the document keep their names.
        let mut name = name.to_owned();
        while columns.iter().any(|(known, _)| *known == name) {
            name.insert_str(0, "rarely_");
        }
        columns.push((name, kind));
    }
    columns
}

/// Sends written bytes in chunks.
struct ChunkWriter {
    sender: Sender<Result<Bytes, io::Error>>,
    chunk: Vec<u8>,
}

impl ChunkWriter {
    fn send(&mut self) -> io::Result<()> {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        let sent = self.sender.blocking_send(Ok(chunk.into()));
        sent.map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the reader disconnected"))
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() { Ok(()) } else { self.send() }
    }
}

//! The log of the service: lines on stderr, as text or as JSON. They have no content of records, no token and no query.

use std::io::{self, Write as _};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::ValueEnum;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::{Format, FormatEvent, FormatFields, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Registry, reload};

/// The target of lines for the person who started the service. As text they are as any command's.
const TALK: &str = "rarely::talk";
/// Lines that wait for a slow reader of stderr. More are left out, and counted: no request waits for the log.
const WAITING: usize = 8_192;
/// How long lines gather before the next write.
const GATHERING: Duration = Duration::from_millis(5);

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line, for programs
    Json,
}

/// Which lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What failed
    Error,
    /// Also what needs attention
    Warn,
    /// Also every request, sign-in and checkpoint
    Info,
    /// Everything
    Debug,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

/// Changes the level while the service runs.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

/// A line for the person who started the service.
pub(super) fn tell(text: &str) {
    tracing::info!(target: TALK, "{text}");
}

/// A warning.
pub(super) fn warn(text: &str) {
    tracing::warn!("{text}");
}

/// Changes which lines are written from now on.
pub(super) fn set_level(level: LogLevel) {
    if let Some(handle) = LEVEL.get() {
        // It fails only when the log has ended.
        drop(handle.reload(LevelFilter::from(level)));
    }
}

/// The running log. Dropping it writes what still waits.
pub(super) struct Log {
    lines: Arc<Lines>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Starts the log of this process.
    pub(super) fn start(format: LogFormat, level: LogLevel) -> io::Result<Self> {
        let (send, receive) = sync_channel(WAITING);
        let lines = Arc::new(Lines { send: Mutex::new(Some(send)), dropped: AtomicU64::new(0) });
        let thread = std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(&receive))?;
        let (filter, handle) = reload::Layer::new(LevelFilter::from(level));
        let layer = tracing_subscriber::fmt::layer().with_writer(Queue(lines.clone()));
        let registry = tracing_subscriber::registry().with(filter);
        // Fails if the process has a subscriber already, which is fine.
        drop(match format {
            LogFormat::Text => registry
                .with(layer.with_ansi(false).event_format(TextLine(Format::default().with_ansi(false))))
                .try_init(),
            LogFormat::Json => registry.with(layer.json().flatten_event(true)).try_init(),
        });
        drop(LEVEL.set(handle));
        if format == LogFormat::Json {
            std::panic::set_hook(Box::new(report_panic));
        }
        Ok(Self { lines, thread: Some(thread) })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines.send.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Where a panic happened. Its message may have content of a record.
fn report_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(place, thread = thread.name().unwrap_or_default(), "the program has a fault: a thread panicked");
}

fn write_all(lines: &Receiver<Vec<u8>>) {
    while let Ok(mut group) = lines.recv() {
        for line in lines.try_iter() {
            group.extend(line);
        }
        // There is nowhere to report a failure.
        let _ = io::stderr().write_all(&group);
        // Lines gather meanwhile: under load they share a write, and no request has to wake this thread.
        std::thread::sleep(GATHERING);
    }
}

/// Lines on their way to stderr.
struct Lines {
    /// `None` at the end of the program.
    send: Mutex<Option<SyncSender<Vec<u8>>>>,
    dropped: AtomicU64,
}

impl Lines {
    fn push(&self, line: Vec<u8>) {
        let send = self.send.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(send) = send.as_ref() else {
            let _ = io::stderr().write_all(&line);
            return;
        };
        if let Err(TrySendError::Full(_)) = send.try_send(line) {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                // Past the queue, which is full.
                let _ = writeln!(
                    io::stderr(),
                    "{{\"level\":\"WARN\",\"message\":\"{dropped} lines of the log were left out\"}}"
                );
            }
        }
    }
}

/// Makes a writer for each line.
struct Queue(Arc<Lines>);

impl<'a> MakeWriter<'a> for Queue {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { lines: self.0.clone(), bytes: Vec::new() }
    }
}

/// One line, which goes on its way when it is dropped.
struct Line {
    lines: Arc<Lines>,
    bytes: Vec<u8>,
}

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.lines.push(std::mem::take(&mut self.bytes));
    }
}

/// A line of text: with its time and level, unless it is talk.
struct TextLine(Format<Full>);

impl<S, N> FormatEvent<S, N> for TextLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        if event.metadata().target() != TALK {
            return self.0.format_event(context, writer, event);
        }
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

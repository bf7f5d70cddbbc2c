//! `rarely doctor`: whether an installation can do its work, before it has to.

mod database;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rarely_output::utc;
use rarely_store::{EventLog as _, HeadWitness, PostgresAddress, SqliteLog, now_ms};
use serde::Serialize;

use crate::failure::Failure;
use crate::health;
use crate::output::{OutputFormat, print, print_json};
use crate::postgres::store_address;
use crate::serve::key_file;

/// Below this the disk counts as full.
const LEAST_FREE_BYTES: u64 = 100 << 20;
/// Below this it is said that space runs out.
const LOW_FREE_BYTES: u64 = 1 << 30;
/// Connections that a service is built for, with some files of its own.
const ENOUGH_FILES: u64 = 16_640;

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The store of a service, a file or postgres://USER@HOST/DATABASE; servers may be using it
    #[arg(long, value_name = "STORE", default_value = "rarely.db", env = "RARELY_STORE")]
    store: PathBuf,
    /// File of the private key [default: beside a store that is a file, named STORE.signing-key]
    #[arg(long, value_name = "FILE", env = "RARELY_SIGNING_KEY")]
    signing_key: Option<PathBuf>,
    /// A running service, which is asked whether it can serve requests
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// What stdout gets
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Good,
    Warning,
    Bad,
}

/// One check: what was looked at, what was found, and what to do.
#[derive(Debug, Serialize)]
struct Checkup {
    name: &'static str,
    outcome: Outcome,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Checkup {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Good, found: found.into(), help: None }
    }

    fn warning(name: &'static str, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Warning, found: found.into(), help: Some(help.into()) }
    }

    fn bad(name: &'static str, found: impl Into<String>, help: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Bad, found: found.into(), help: Some(help.into()) }
    }

    /// What a failure says, as a check that ended badly.
    fn failed(name: &'static str, failure: Failure) -> Self {
        let (found, help) = failure.into_parts();
        Self { name, outcome: Outcome::Bad, found, help }
    }
}

/// 0 if nothing is bad, 1 otherwise.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let address = store_address(&arguments.store)?;
    let checks = checks(arguments, address);
    match arguments.format {
        OutputFormat::Json => print_json(&checks)?,
        OutputFormat::Table => print(&text(&checks))?,
    }
    let is_bad = checks.iter().any(|check| check.outcome == Outcome::Bad);
    Ok(ExitCode::from(u8::from(is_bad)))
}

fn checks(arguments: &Arguments, address: Option<PostgresAddress>) -> Vec<Checkup> {
    let mut checks = vec![Checkup::good(
        "program",
        format!("rarely {}, {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH),
    )];
    #[cfg(unix)]
    checks.push(open_files());
    let signing_key = || signing_key(&arguments.store, arguments.signing_key.as_deref());
    match address {
        None => {
            checks.extend(file(&arguments.store));
            checks.extend(arguments.store.exists().then(signing_key));
        }
        Some(address) => {
            checks.extend(database::checks(&address));
            // No file is beside a database.
            checks.extend(arguments.signing_key.is_some().then(signing_key));
        }
    }
    checks.extend(arguments.url.as_deref().map(service));
    checks
}

/// A store that is a file, and where it is or will be.
fn file(store: &Path) -> Vec<Checkup> {
    let directory = store.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut checks = vec![writable(directory)];
    checks.extend(free_space(directory));
    if store.exists() {
        checks.extend(log(store));
        checks.extend(private(store));
    } else {
        let found = format!("{} is not there yet", store.display());
        checks.push(Checkup::warning("store", found, "`rarely serve` creates it; name another with --store"));
    }
    checks
}

fn text(checks: &[Checkup]) -> String {
    let mut lines = String::new();
    for check in checks {
        let outcome = match check.outcome {
            Outcome::Good => "good",
            Outcome::Warning => "warning",
            Outcome::Bad => "bad",
        };
        let _ = writeln!(lines, "{outcome:<8} {:<12} {}", check.name, check.found);
        if let Some(help) = &check.help {
            let _ = writeln!(lines, "{:<21} help: {help}", "");
        }
    }
    lines
}

/// A service raises its limit up to the highest that is allowed.
#[cfg(unix)]
fn open_files() -> Checkup {
    use rustix::process::{Resource, getrlimit};

    match getrlimit(Resource::Nofile).maximum {
        None => Checkup::good("open files", "no limit"),
        Some(most) if most < ENOUGH_FILES => Checkup::warning(
            "open files",
            format!("at most {most}"),
            format!("raise it to {ENOUGH_FILES} for many connections: `ulimit -n`, or LimitNOFILE of systemd"),
        ),
        Some(most) => Checkup::good("open files", format!("at most {most}")),
    }
}

/// Whether files can be created in a directory: the store's, or the one where it will be.
fn writable(directory: &Path) -> Checkup {
    let probe = directory.join(format!(".rarely-doctor-{}", std::process::id()));
    let written =
        fs::File::create_new(&probe).and_then(|mut file| file.write_all(b"rarely").and_then(|()| file.sync_all()));
    // What could not be created cannot be removed.
    let _ = fs::remove_file(&probe);
    match written {
        Ok(()) => Checkup::good("directory", format!("{} can be written to", directory.display())),
        Err(error) => Checkup::bad(
            "directory",
            format!("{} cannot be written to: {error}", directory.display()),
            "run it as the user of the service, or choose another place with --store",
        ),
    }
}

#[cfg(unix)]
fn free_space(directory: &Path) -> Option<Checkup> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let found = format!("{:.1} GB free", free as f64 / 1e9);
    let help = "free some, or move the store: events that cannot be written are refused";
    Some(match free {
        0..LEAST_FREE_BYTES => Checkup::bad("disk", found, help),
        LEAST_FREE_BYTES..LOW_FREE_BYTES => Checkup::warning("disk", found, help),
        _ => Checkup::good("disk", found),
    })
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<Checkup> {
    None
}

/// The log: that it opens, that it has its acknowledged end, and its time beside the clock.
fn log(store: &Path) -> Vec<Checkup> {
    let opened = SqliteLog::open_read_only(store).and_then(|log| {
        let number = log.head()?.map_or(0, |(number, _)| number);
        Ok((number, log.last_time_ms()?, log))
    });
    let (number, last_ms, log) = match opened {
        Ok(opened) => opened,
        Err(error) => return vec![Checkup::failed("store", error.into())],
    };
    let mut checks = vec![Checkup::good("store", format!("{}: {number} events", store.display()))];
    checks.push(
        match HeadWitness::open_read_only(store)
            .and_then(|witness| witness.map_or(Ok(false), |witness| witness.check(&log).map(|()| true)))
        {
            Ok(true) => Checkup::good("witness", "the log has the last acknowledged event"),
            Ok(false) => Checkup::warning(
                "witness",
                format!("{} is not there", HeadWitness::path(store).display()),
                "keep it beside the store: it shows a lost end",
            ),
            Err(error) => Checkup::failed("witness", error.into()),
        },
    );
    checks.push(clock(last_ms));
    checks
}

/// The time of the last event beside the clock of this machine.
fn clock(last_ms: u64) -> Checkup {
    let now = now_ms();
    if last_ms > now {
        return Checkup::warning(
            "clock",
            format!("the last event is of {}, but the clock says {}", utc(last_ms), utc(now)),
            "set the clock; `rarely store clock` shows more",
        );
    }
    Checkup::good("clock", format!("{}, after the last event", utc(now)))
}

/// Whether only the owner can read a file.
#[cfg(unix)]
fn private(path: &Path) -> Option<Checkup> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let found = format!("{} has mode {mode:o}", path.display());
    let help = format!("other people of this machine can read it: chmod 600 {}", path.display());
    (mode & 0o077 != 0).then(|| Checkup::warning("store", found, help))
}

#[cfg(not(unix))]
fn private(_: &Path) -> Option<Checkup> {
    None
}

fn signing_key(store: &Path, named: Option<&Path>) -> Checkup {
    let file = key_file(store, named);
    match file.read() {
        Ok(Some(signer)) => Checkup::good("signing key", format!("{}: {}", file.path().display(), signer.key())),
        Ok(None) => Checkup::warning(
            "signing key",
            format!("{} is not there", file.path().display()),
            "name its file with --signing-key; without one, checkpoints are not signed",
        ),
        Err(error) => Checkup::failed("signing key", error.into()),
    }
}

fn service(url: &str) -> Checkup {
    match health::ask(url) {
        Ok(()) => Checkup::good("service", format!("{url} can serve requests")),
        Err(reason) => {
            Checkup::bad("service", format!("{url}: not ready: {reason}"), "look at its log on standard error")
        }
    }
}

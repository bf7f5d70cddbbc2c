//! `rarely serve`.

pub(crate) mod configuration;
mod logging;
mod notify;
mod openid;
mod replica;
mod traces;
mod witnesses;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use ipnet::IpNet;
use rarely_live::engine::{CHECKPOINT_EVERY, CheckpointOptions, Clock, Durability, EngineOptions, SNAPSHOT_EVERY};
use rarely_live::event::Drawing;
use rarely_live::{Engine, Role, TokenGrant};
use rarely_report::pictures;
use rarely_server::{BasePath, NetworkSettings, Ready, Reloaded, ServeOptions, ServedStore};
use rarely_store::{NoteKey, SigningKeyFile};

use crate::failure::{Failure, OrFail as _, parse};
use crate::output::say;
use crate::postgres::without_password;
use logging::{Log, LogFormat, LogLevel, tell};
use witnesses::{WitnessAddress, Witnesses};

/// What to serve.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The store: one file, created if it does not exist; or postgres://USER@HOST/DATABASE, which several machines share
    #[arg(long, value_name = "STORE")]
    store: PathBuf,
    #[command(flatten)]
    replica: replica::ReplicaArguments,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Certificate chain, as a PEM file
    #[arg(long, value_name = "FILE", requires = "key", help_heading = "TLS")]
    cert: Option<PathBuf>,
    /// Its private key, as a PEM file
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "TLS")]
    key: Option<PathBuf>,
    /// Serve an address that other machines can reach without TLS; a proxy in front of it must provide TLS
    #[arg(long, help_heading = "TLS")]
    insecure: bool,
    /// Proxy in front of the service, as an address or a network such as 10.0.0.0/8: where a request comes from, and by which scheme, is
    /// then read from its headers X-Forwarded-For and X-Forwarded-Proto, or Forwarded; may be given several times
    #[arg(long, value_name = "NETWORK", value_parser = network)]
    trusted_proxy: Vec<IpNet>,
    /// Address at which browsers reach the service, https and a domain: passkeys belong to it [default: localhost on a loopback address,
    /// otherwise none]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Path below which browsers see the service, like /rarely, if it is part of a site; a trusted proxy's X-Forwarded-Prefix wins
    #[arg(long, value_name = "PATH", value_parser = BasePath::parse, default_value = "")]
    base_path: BasePath,
    // Not a comment for rustdoc, which wants links around addresses.
    #[arg(
        help = "Web site whose scripts may call the API from a browser, like https://app.example.org; may be given several times",
        long,
        value_name = "ORIGIN",
        value_parser = NetworkSettings::check_origin
    )]
    cors_origin: Vec<String>,
    /// TOML file with options
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How lines of the log are written to stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Text, help_heading = "Log")]
    log_format: LogFormat,
    /// Which lines are written
    #[arg(long, value_enum, default_value_t = LogLevel::Info, help_heading = "Log")]
    log_level: LogLevel,
    /// Whether a response waits until its event is on disk
    #[arg(long, value_enum, default_value_t = Durable::Full)]
    durability: Durable,
    /// New file for the first admin token of a new store (mode 600), instead of stderr
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    #[command(flatten)]
    openid: openid::ProviderArguments,
    #[command(flatten)]
    notify: notify::NotifyArguments,
    #[command(flatten)]
    traces: traces::TraceArguments,
    /// Private key that signs checkpoints of the log; created if it does not exist (mode 600) [default: beside the store, named
    /// STORE.signing-key]
    #[arg(long, value_name = "FILE", help_heading = "Checkpoints")]
    signing_key: Option<PathBuf>,
    /// Where every checkpoint goes: file:PATH appends it; https://… gets it by POST, and its cosignature is kept; may be given
    /// several times
    #[arg(long, value_name = "WHERE", value_parser = WitnessAddress::parse, help_heading = "Checkpoints")]
    witness: Vec<WitnessAddress>,
    /// Public key of a witness, as name+id+key: only cosignatures of such keys are kept; may be given several times
    #[arg(long, value_name = "KEY", value_parser = parse::<NoteKey>, help_heading = "Checkpoints")]
    witness_key: Vec<NoteKey>,
    /// Events between two checkpoints; one is also signed a minute after an event, and at a stop
    #[arg(long, value_name = "EVENTS", default_value_t = CHECKPOINT_EVERY, help_heading = "Checkpoints")]
    checkpoint_every: u64,
}

/// Threads that wait for the disk.
const BLOCKING_THREADS: usize = 64;

/// Whether a response waits until its event is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Durable {
    /// Every acknowledged event survives a power failure
    Full,
    /// Events survive a crash of the program, but a power failure may lose the last ones
    Relaxed,
}

impl Arguments {
    fn network(&self) -> NetworkSettings {
        NetworkSettings { trusted_proxies: self.trusted_proxy.clone(), cors_origins: self.cors_origin.clone() }
    }

    fn tls(&self) -> Option<(PathBuf, PathBuf)> {
        self.cert.clone().zip(self.key.clone())
    }
}

/// Reads the options again, and changes the log's level. Other options that have changed wait for the next start.
fn reloaded() -> Result<Reloaded, String> {
    let given: Vec<_> = std::env::args_os().collect();
    let arguments = crate::serve_arguments(&given)?;
    logging::set_level(arguments.log_level);
    Ok(Reloaded { tls: arguments.tls(), network: arguments.network() })
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let _log = Log::start(arguments.log_format, arguments.log_level)
        .or_fail_with(|| "the thread of the log cannot be started".to_owned())?;
    let durability = match arguments.durability {
        Durable::Full => Durability::Full,
        Durable::Relaxed => Durability::Relaxed,
    };
    let served = arguments.replica.store(&arguments.store, arguments.signing_key.is_some())?;
    let is_replica = matches!(served, ServedStore::Database(_));
    let signing = checkpoints(arguments);
    let publish = signing.publish.clone();
    let options = ServeOptions {
        store: served,
        listen: arguments.listen,
        tls: arguments.tls(),
        insecure: arguments.insecure,
        network: arguments.network(),
        base_path: arguments.base_path.clone(),
        notifications: arguments.notify.options()?,
        reload: Some(Arc::new(reloaded)),
        public_url: arguments.public_url.clone(),
        engine: EngineOptions { checkpoints: Some(signing), ..engine_options(durability) },
        version: env!("CARGO_PKG_VERSION"),
        openid: arguments.openid.options()?,
        traces: arguments.traces.options(),
    };
    let (store, token_file, format) =
        (arguments.store.clone(), arguments.admin_token_file.clone(), arguments.log_format);
    let bar = ProgressBar::new_spinner().with_message("reading the log");
    bar.enable_steady_tick(Duration::from_millis(200));
    let (progress, done) = (bar.clone(), bar);
    // The server passes on the text of an error of `ready`; it is kept here with its help.
    let refused: Arc<Mutex<Option<Failure>>> = Arc::default();
    let keep = refused.clone();
    let ready = move |ready: &Ready<'_>| {
        done.finish_and_clear();
        if let Some(engine) = ready.engine {
            first_token(engine, token_file.as_deref(), format).map_err(|failure| {
                let text = failure.to_string();
                *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                text
            })?;
            if let Some((notary, latest)) = engine.notary().and_then(|notary| Some((notary, notary.latest()?))) {
                // A witness that is new, or was away, gets the last checkpoint before anything happens.
                publish(notary, &latest);
            }
            announce(engine, &store, durability);
        }
        if ready.engine.is_none() || !is_replica {
            tell(&format!("listening on {}://{}", if ready.secure { "https" } else { "http" }, ready.address));
        }
        Ok(())
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Each thread that waits for the disk keeps memory. Those that have nothing to do are given back.
    runtime.enable_all().max_blocking_threads(BLOCKING_THREADS).thread_keep_alive(Duration::from_secs(2));
    let runtime = runtime.build().or_fail_with(|| "the threads cannot be started".to_owned())?;
    let told = move |number: u64| progress.set_position(number);
    let served = runtime.block_on(rarely_server::serve(options, told, ready));
    match refused.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(failure) => return Err(failure),
        None => served?,
    }
    tell("stopped; every acknowledged event is in the store");
    Ok(())
}

/// A network, or a single address.
fn network(text: &str) -> Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    address
        .or_else(|_| text.parse::<IpNet>())
        .map_err(|_| "expected an address or a network such as 10.0.0.0/8".to_owned())
}

/// Signs checkpoints, and passes them to the witnesses.
fn checkpoints(arguments: &Arguments) -> CheckpointOptions {
    let witnesses = Witnesses::start(&arguments.witness, &arguments.witness_key);
    CheckpointOptions {
        key_file: key_file(&arguments.store, arguments.signing_key.as_deref()),
        every: arguments.checkpoint_every.max(1),
        publish: Arc::new(move |notary, checkpoint| witnesses.publish(notary, checkpoint)),
    }
}

/// The file of the signing key: the named one, or the one beside the store.
pub(crate) fn key_file(store: &Path, named: Option<&Path>) -> SigningKeyFile {
    named.map_or_else(|| SigningKeyFile::beside(store), SigningKeyFile::at)
}

/// Signs checkpoints without passing them on.
pub(crate) fn silent(key_file: SigningKeyFile) -> CheckpointOptions {
    CheckpointOptions { key_file, every: CHECKPOINT_EVERY, publish: Arc::new(|_, _| {}) }
}

/// The engine's options: the system's clock, and the report's pictures.
pub(crate) fn engine_options(durability: Durability) -> EngineOptions {
    let draw = |base: &rarely_review::EvidenceBase<'_>, review: &rarely_review::Review| {
        let drawn = pictures(base, review).into_iter();
        drawn
            .map(|picture| Drawing { title: picture.title, caption: picture.caption, svg: picture.figure.svg() })
            .collect()
    };
    EngineOptions {
        durability,
        clock: Clock::system(),
        draw: Arc::new(draw),
        snapshot_every: SNAPSHOT_EVERY,
        checkpoints: None,
    }
}

/// Creates a token from the system's random numbers. Returns the token to show and the grant to store.
pub(crate) fn new_token(
    name: &str,
    roles: Vec<Role>,
    policies: Option<Vec<String>>,
    expires_ms: Option<u64>,
) -> Result<(String, TokenGrant), Failure> {
    let mut random = [0; 40];
    getrandom::fill(&mut random)
        .map_err(|error| Failure::new(format!("the system gives no random numbers: {error}")))?;
    Ok(TokenGrant::new(random, name, roles, policies, expires_ms))
}

/// What a new administrator needs to know.
const NO_SIGNATURES: &str = "it has the role admin, which does not sign; `rarely token create --role review` makes a token for a person who does";

/// Creates the first token of a store that has none; it is shown once.
fn first_token(engine: &Engine, file: Option<&Path>, format: LogFormat) -> Result<(), Failure> {
    if !engine.tokens().is_empty() {
        return Ok(());
    }
    if file.is_none() && format == LogFormat::Json {
        let failure = Failure::new("the store is new, and its first token must not be in the log");
        return Err(failure.help("name a new file for it with --admin-token-file"));
    }
    let (token, grant) = new_token("admin", vec![Role::Admin], None, None)?;
    let create = || engine.create_token("console", grant).map_err(Failure::from);
    let Some(path) = file else {
        create()?;
        say(&format!("the first token, which is shown only now: {token}"));
        say(NO_SIGNATURES);
        return Ok(());
    };
    // Create the file first: there must be no token that nobody can read.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let unwritable = |error: std::io::Error| {
        let failure = Failure::new(format!("{}: the first token cannot be written here", path.display()));
        failure.caused_by(&error).help("name a new file with --admin-token-file")
    };
    let mut opened = options.open(path).map_err(unwritable)?;
    let made = create().and_then(|_| writeln!(opened, "{token}").and_then(|()| opened.sync_all()).map_err(unwritable));
    if made.is_err() {
        drop(fs::remove_file(path));
    }
    made?;
    tell(&format!("the first token is in {}", path.display()));
    tell(NO_SIGNATURES);
    Ok(())
}

fn announce(engine: &Engine, store: &Path, durability: Durability) {
    let (policies, events) = (engine.policies().len(), engine.committed());
    let durable = match durability {
        Durability::Full => "every event is on disk before it is acknowledged",
        Durability::Relaxed => "RELAXED durability: a power failure may lose the last events",
    };
    let store = without_password(&store.display().to_string());
    tell(&format!("store {store}: {policies} policies, {events} events; {durable}"));
    if let Some(notary) = engine.notary() {
        tell(&format!("checkpoints are signed with the key {}", notary.key()));
    }
}

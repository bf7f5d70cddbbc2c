//! Where checkpoints go, so that a rewritten log is found: files, and services that sign them too.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rarely_store::{Notary, NoteKey, SignedCheckpoint};

use super::logging::{tell, warn};

/// Checkpoints that wait for a slow witness. If it does not keep up, later ones are left out; each covers all before it.
const WAITING: usize = 16;
/// How long to wait before each attempt.
const ATTEMPTS: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];
const TIMEOUT: Duration = Duration::from_secs(10);

/// A place for checkpoints: `file:PATH` or a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WitnessAddress {
    /// A file to which every checkpoint is appended.
    File(PathBuf),
    /// A service that gets every checkpoint by POST. If the path ends with `add-checkpoint`, it gets the request of the
    /// C2SP protocol `tlog-witness`.
    Url(String),
}

impl WitnessAddress {
    /// Reads an address. Plain HTTP is for this machine only.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("file:").filter(|path| !path.is_empty()) {
            return Ok(Self::File(path.into()));
        }
        if is_https_or_local(text) {
            return Ok(Self::Url(text.to_owned()));
        }
        Err(format!(
            "{text:?} is not a witness\nhelp: write file:PATH, https://HOST/PATH or http://127.0.0.1:PORT/PATH"
        ))
    }
}

/// Whether an address is encrypted, or on this machine.
pub(super) fn is_https_or_local(url: &str) -> bool {
    let local = ["http://127.", "http://localhost:", "http://localhost/", "http://[::1]"];
    url.starts_with("https://") || local.iter().any(|start| url.starts_with(start))
}

/// Everyone who gets checkpoints.
pub(crate) struct Witnesses {
    files: Vec<PathBuf>,
    services: Vec<SyncSender<(Arc<Notary>, SignedCheckpoint)>>,
}

impl Witnesses {
    /// Starts a thread for each service. If `keys` is not empty, only cosignatures of these keys are kept.
    pub(crate) fn start(addresses: &[WitnessAddress], keys: &[NoteKey]) -> Self {
        let (mut files, mut services) = (Vec::new(), Vec::new());
        for address in addresses {
            match address {
                WitnessAddress::File(path) => files.push(path.clone()),
                WitnessAddress::Url(url) => {
                    let (send, receive) = sync_channel(WAITING);
                    let service = WitnessService { url: url.clone(), keys: keys.to_vec(), seen: 0 };
                    std::thread::spawn(move || service.run(&receive));
                    services.push(send);
                }
            }
        }
        Self { files, services }
    }

    /// Passes a checkpoint on. Files are written now; services follow.
    pub(crate) fn publish(&self, notary: &Arc<Notary>, checkpoint: &SignedCheckpoint) {
        tell(&format!("checkpoint: {} events, root {}", checkpoint.size(), checkpoint.root()));
        for path in &self.files {
            let append = || {
                let mut file = OpenOptions::new().create(true).append(true).open(path)?;
                writeln!(file, "{checkpoint}")?;
                file.sync_all()
            };
            if let Err(error) = append() {
                warn(&format!("the witness {} does not have this checkpoint: {error}", path.display()));
            }
        }
        for service in &self.services {
            // A full queue means that the witness does not keep up.
            let _ = service.try_send((notary.clone(), checkpoint.clone()));
        }
    }
}

/// A service that signs checkpoints.
struct WitnessService {
    url: String,
    keys: Vec<NoteKey>,
    /// The size of the last checkpoint that it has seen.
    seen: u64,
}

/// Why a request failed, and whether another attempt may help.
enum Refusal {
    Retry(String),
    /// The witness has another size.
    Conflict(u64),
}

impl WitnessService {
    fn run(mut self, inbox: &Receiver<(Arc<Notary>, SignedCheckpoint)>) {
        while let Ok((notary, checkpoint)) = inbox.recv() {
            if let Err(problem) = self.deliver(&notary, &checkpoint) {
                let size = checkpoint.size();
                warn(&format!("the witness {} does not have the checkpoint of {size} events: {problem}", self.url));
            }
        }
    }

    fn deliver(&mut self, notary: &Notary, checkpoint: &SignedCheckpoint) -> Result<(), String> {
        let mut problem = String::new();
        for pause in ATTEMPTS {
            std::thread::sleep(pause);
            match self.post(notary, checkpoint) {
                Ok(lines) => {
                    self.seen = checkpoint.size();
                    let added = notary.add_cosignatures(checkpoint.size(), &lines, &self.keys);
                    let added = added.map_err(|error| error.to_string())?;
                    if added == 0 && !self.keys.is_empty() {
                        return Err("its answer has no signature of a known witness".to_owned());
                    }
                    return Ok(());
                }
                Err(Refusal::Conflict(size)) => self.seen = size,
                Err(Refusal::Retry(why)) => problem = why,
            }
        }
        Err(if problem.is_empty() { "it has seen another log".to_owned() } else { problem })
    }

    fn post(&self, notary: &Notary, checkpoint: &SignedCheckpoint) -> Result<String, Refusal> {
        let retry = |error: &dyn std::fmt::Display| Refusal::Retry(error.to_string());
        let body = self.body(notary, checkpoint).map_err(|error| retry(&error))?;
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
        let agent: ureq::Agent = config.build().into();
        let sent = agent.post(&self.url).header("Content-Type", "text/plain; charset=utf-8").send(body);
        let mut response = sent.map_err(|error| retry(&error))?;
        let status = response.status();
        let text = response.body_mut().with_config().limit(65_536).read_to_string().map_err(|error| retry(&error))?;
        match (status.as_u16(), text.trim().parse()) {
            (409, Ok(size)) => Err(Refusal::Conflict(size)),
            _ if status.is_success() => Ok(text),
            _ => Err(Refusal::Retry(format!("it answered {status}"))),
        }
    }

    /// The checkpoint; for a witness of the C2SP protocol after the proof that it continues what the witness has seen.
    fn body(&self, notary: &Notary, checkpoint: &SignedCheckpoint) -> Result<String, rarely_store::StoreError> {
        if !self.url.ends_with("/add-checkpoint") {
            return Ok(checkpoint.to_string());
        }
        let mut body = format!("old {}\n", self.seen);
        if self.seen > 0 && self.seen < checkpoint.size() {
            for hash in notary.consistency(self.seen, checkpoint.size())? {
                body.push_str(&hash.base64());
                body.push('\n');
            }
        }
        Ok(format!("{body}\n{checkpoint}"))
    }
}

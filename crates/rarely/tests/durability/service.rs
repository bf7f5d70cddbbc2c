//! `rarely serve` as a process that can be killed.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::client::{Answer, request};

pub(crate) const DOCUMENT: &str = r#"
policy = "triage"
options = ["wait", "see"]
outcome = { column = "benefit", range = [0.0, 1.0] }
[[features]]
column = "age"
range = [0, 100]
[change]
explore = "equipoise:0.5"
[control]
approval = "automatic"
review_every = 40
[rule]
threshold = { feature = "age", cuts = [50], options = ["wait", "see"] }
"#;

pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    child: Child,
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_rarely"))
}

pub(crate) fn token_file(store: &Path) -> PathBuf {
    store.with_extension("token")
}

impl Service {
    /// Starts it and waits until it is ready; what it said, if it stopped instead.
    pub(crate) fn start(store: &Path, environment: &[(&str, String)]) -> Result<Self, String> {
        let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let mut command = program();
        command.arg("serve").arg("--store").arg(store).args(["--listen", &address.to_string()]);
        command.arg("--admin-token-file").arg(token_file(store));
        command
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if request(address, "GET", "/readyz", "", "").is_some_and(|answer| answer.status == 200) {
                break;
            }
            if child.try_wait().expect("a process").is_some() {
                let said = child.wait_with_output().expect("what it said").stderr;
                return Err(String::from_utf8_lossy(&said).into_owned());
            }
            assert!(Instant::now() < deadline, "the service is not ready after a minute");
            std::thread::sleep(Duration::from_millis(2));
        }
        // What it says from now on must not fill the pipe.
        let mut said = child.stderr.take().expect("a pipe");
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let token = std::fs::read_to_string(token_file(store)).unwrap_or_default().trim().to_owned();
        Ok(Self { address, token, child })
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Option<Answer> {
        request(self.address, "POST", path, &self.token, body)
    }

    pub(crate) fn get(&self, path: &str) -> Option<Answer> {
        request(self.address, "GET", path, &self.token, "")
    }

    pub(crate) fn decide(&self, key: &str) -> Option<Answer> {
        let age = key.bytes().fold(7_u32, |sum, byte| (sum * 31 + u32::from(byte)) % 100);
        self.post("/v1/policies/triage/decisions", &format!("{{\"record\":{{\"age\":{age}}},\"key\":\"{key}\"}}"))
    }

    pub(crate) fn outcome(&self, decision: u64) -> Option<Answer> {
        let outcome = (decision % 10) as f64 / 10.0;
        self.post("/v1/policies/triage/outcomes", &format!("{{\"decision\":{decision},\"outcome\":{outcome}}}"))
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// As an administrator asks it to.
    pub(crate) fn stop(mut self) {
        let asked = Command::new("kill").args(["-TERM", &self.process().to_string()]).status();
        assert!(asked.is_ok_and(|status| status.success()), "asked to stop");
        assert!(self.child.wait().expect("gone").success(), "it stops in order");
    }

    /// As the power going out takes it.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
    }
}

pub(crate) fn verify(store: &Path) -> Output {
    program().args(["audit", "verify", "--store"]).arg(store).output().expect("the program runs")
}

pub(crate) fn assert_verified(store: &Path, when: &str) {
    let output = verify(store);
    assert!(output.status.success(), "{when}: {output:?}");
}

//! `rarely serve` as a separate process.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{post, record};

pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    child: Child,
    store: OsString,
}

impl Service {
    /// Starts it on a file, and waits until it is ready.
    pub(crate) fn start(program: &str, store: &Path, more: &[&str]) -> Self {
        Self::start_on(program, store.as_os_str(), &store.with_extension("token"), more)
    }

    /// Starts it on a file or a database, and waits until it is ready. The first token is in the file, whoever of several wrote it.
    pub(crate) fn start_on(program: &str, store: &OsStr, token_file: &Path, more: &[&str]) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let child = Command::new(program)
            .arg("serve")
            .arg("--store")
            .arg(store)
            .args(["--listen", &port.to_string()])
            .arg("--admin-token-file")
            .arg(token_file)
            .args(more)
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let mut service = Self { address: port, token: String::new(), child, store: store.to_owned() };
        while !service.is_ready() {
            assert!(service.child.try_wait().expect("a process").is_none(), "the service stopped");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::fs::read_to_string(token_file).expect("a token").trim().clone_into(&mut service.token);
        service
    }

    fn is_ready(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.address) else { return false };
        let sent = stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        sent.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    }

    fn send(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        let request = String::from_utf8_lossy(request).replacen("\r\n", "\r\nConnection: close\r\n", 1);
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
        answer
    }

    /// A policy with this many features, and only its automatic reviews while it is measured.
    pub(crate) fn register(&self, features: usize) {
        self.register_as(&format!("load-{features}"), features);
    }

    pub(crate) fn register_as(&self, name: &str, features: usize) {
        let mut document = format!(
            "policy = \"{name}\"\noptions = [\"one\", \"other\"]\noutcome = {{ column = \"y\", range = [0.0, 1.0] }}\n"
        );
        for feature in 0..features {
            let _ = write!(document, "[[features]]\ncolumn = \"x{feature}\"\nrange = [0, 1]\n");
        }
        document += "[control]\nreview_every = 10000\ndelay = \"independent\"\n[rule]\nthreshold = { feature = \"x0\", cuts = [0.5], options = [\"one\", \"other\"] }\n";
        self.send(&post("/v1/policies", &self.token, "application/toml", &document));
    }

    /// Requests decisions of a policy of this many features, two thousand at a time. Returns their numbers.
    pub(crate) fn decide(&self, features: usize, count: usize) -> Vec<u64> {
        self.decide_by(&format!("load-{features}"), features, count)
    }

    /// Requests decisions of a policy by its name.
    pub(crate) fn decide_by(&self, policy: &str, features: usize, count: usize) -> Vec<u64> {
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count {
            let lines: Vec<String> =
                (0..2000.min(count)).map(|at| format!("{{\"record\":{}}}", record(features, at))).collect();
            let path = format!("/v1/policies/{policy}/decisions");
            let answer = self.send(&post(&path, &self.token, "application/x-ndjson", &lines.join("\n")));
            let body = answer.split_once("\r\n\r\n").expect("a body").1;
            for line in body.lines().filter(|line| !line.is_empty()) {
                let decided: serde_json::Value = serde_json::from_str(line).expect("JSON");
                ids.push(decided["decision"].as_u64().expect("a number"));
            }
        }
        ids
    }

    /// Its current memory, and the most it ever had.
    pub(crate) fn megabytes(&self) -> (u64, u64) {
        (self.status_megabytes("VmRSS:"), self.status_megabytes("VmHWM:"))
    }

    fn status_megabytes(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
    }

    pub(crate) fn stop(mut self) {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(asked.is_ok_and(|status| status.success()), "asked to stop");
        self.child.wait().expect("stopped");
    }

    pub(crate) fn stop_and_verify(self, program: &str) -> &'static str {
        let store = self.store.clone();
        self.stop();
        let verified =
            Command::new(program).args(["audit", "verify", "--store"]).arg(store).stdout(Stdio::null()).status();
        if verified.is_ok_and(|status| status.success()) { "everything fits" } else { "SOMETHING DOES NOT FIT" }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

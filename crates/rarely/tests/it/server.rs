//! A running server, for the tests of `rarely serve`, `token`, `audit` and `store`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::program::Place;

pub(crate) const DOCUMENT: &str = include_str!("../../../rarely-policy/tests/it/example.toml");

/// A running server; it is stopped at the end.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    pub(crate) heard: Vec<String>,
}

impl Server {
    pub(crate) fn start(place: &Place, more: &str) -> Self {
        Self::run(place.rarely(&format!("serve --store s.db --listen 127.0.0.1:0 {more}")))
    }

    /// With few files that it may open.
    #[cfg(unix)]
    pub(crate) fn start_with_files(place: &Place, files: usize) -> Self {
        let served = place.rarely("serve --store s.db --listen 127.0.0.1:0");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {files}; exec \"$@\""), "sh"]).arg(served.get_program());
        command.args(served.get_args()).current_dir(place.path(""));
        Self::run(command)
    }

    pub(crate) fn run(mut command: Command) -> Self {
        let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let mut server = Self { child, url: String::new(), heard: Vec::new() };
        let mut lines = BufReader::new(server.child.stderr.take().expect("its talk")).lines();
        while server.url.is_empty() {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {:?}", server.heard)).expect("a line");
            line.strip_prefix("listening on ").unwrap_or_default().clone_into(&mut server.url);
            server.heard.push(line);
        }
        // What it says later is thrown away, but taken, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        server
    }

    pub(crate) fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
        assert!(self.child.wait().expect("its end").success(), "SIGTERM is a good end");
    }

    pub(crate) fn post(&self, token: &str, path: &str, kind: &str, body: &str) -> (u16, String) {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = agent.post(format!("{}{path}", self.url)).header("authorization", format!("Bearer {token}"));
        let mut response = request.header("content-type", kind).send(body).expect("an answer");
        (response.status().as_u16(), response.body_mut().read_to_string().expect("text"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A store with a policy and a few decisions, and its admin token.
pub(crate) fn used(place: &Place) -> String {
    let server = Server::start(place, "--admin-token-file admin.token");
    let token = place.text("admin.token").trim().to_owned();
    assert_eq!(server.post(&token, "/v1/policies", "application/toml", DOCUMENT).0, 201);
    for systolic in [120, 150, 180] {
        let ask = format!("{{\"record\": {{\"systolic\": {systolic}, \"diabetic\": \"no\"}}}}");
        let (status, answer) =
            server.post(&token, "/v1/policies/hypertension-treatment/decisions", "application/json", &ask);
        assert_eq!(status, 200, "{answer}");
    }
    server.stop();
    token
}

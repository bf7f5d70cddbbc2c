//! What operators need of `rarely serve`: its log, its configuration, signals, and who may read its files.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::program::{Place, talk};
use crate::server::{DOCUMENT, used};

/// A server whose stderr is a file.
pub(crate) struct Logged<'a> {
    place: &'a Place,
    child: Child,
    pub(crate) url: String,
}

impl<'a> Logged<'a> {
    pub(crate) fn start(place: &'a Place, arguments: &str, environment: &[(&str, &str)]) -> Self {
        let mut command = place.rarely(&format!("serve {arguments}"));
        command.envs(environment.iter().copied());
        let talk = File::create(place.path("talk")).expect("a file");
        let child = command.stderr(talk).stdout(Stdio::null()).spawn().expect("it starts");
        let mut server = Self { place, child, url: String::new() };
        let line = server.until(|line| line.contains("listening on "));
        let url = line.split("listening on ").nth(1).expect("an address");
        url.split('"').next().expect("an address").clone_into(&mut server.url);
        server
    }

    /// Waits for a line.
    fn until(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            if let Some(line) = self.place.text("talk").lines().find(|line| wanted(line)) {
                return line.to_owned();
            }
            let ended = self.child.try_wait().expect("its state");
            assert!(ended.is_none() && started.elapsed() < Duration::from_secs(20), "{}", self.place.text("talk"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().expect("kill").success());
    }

    pub(crate) fn stop(mut self) -> String {
        self.signal("-TERM");
        assert!(self.child.wait().expect("its end").success(), "{}", self.place.text("talk"));
        self.place.text("talk")
    }
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

#[test]
fn the_free_space_is_known_from_the_start() {
    let place = Place::new();
    let server = Logged::start(&place, "--store new.db --listen 127.0.0.1:0 --admin-token-file admin.token", &[]);
    let token = format!("Bearer {}", place.text("admin.token").trim());
    let asked = agent().get(format!("{}/metrics", server.url)).header("authorization", &token).call();
    let text = asked.expect("an answer").body_mut().read_to_string().expect("text");
    assert!(text.contains("\nrarely_store_free_bytes "), "{text}");
    server.stop();
}

#[test]
fn every_request_is_a_line_of_json_without_what_it_is_about() {
    let place = Place::new();
    let server = Logged::start(&place, "--store s.db --listen 127.0.0.1:0 --log-format json --admin-token-file t", &[]);
    let token = place.text("t").trim().to_owned();
    let post = |path: &str, kind: &str, body: &str| {
        let request = agent().post(format!("{}{path}", server.url)).header("authorization", format!("Bearer {token}"));
        request.header("content-type", kind).send(body).expect("an answer")
    };
    assert_eq!(post("/v1/policies", "application/toml", DOCUMENT).status(), 201);
    let path = "/v1/policies/hypertension-treatment/decisions";
    let decided = post(path, "application/json", r#"{"record": {"systolic": 171.5, "diabetic": "yes"}}"#);
    assert_eq!(decided.status(), 200);
    let id = decided.headers()["x-request-id"].to_str().expect("text").to_owned();
    let unknown =
        agent().get(format!("{}/v1/policies?secret=hidden", server.url)).header("x-request-id", "forged").call();
    assert_ne!(unknown.expect("an answer").headers()["x-request-id"], "forged", "nobody said that it may be believed");
    let log = server.stop();
    let lines: Vec<Json> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let requests: Vec<&Json> = lines.iter().filter(|line| line["target"] == "rarely::request").collect();
    assert_eq!(requests.len(), 3, "{log}");
    let line = requests.iter().find(|line| line["request_id"] == *id).expect("the decision's line");
    assert_eq!((&line["method"], &line["status"], &line["level"]), (&"POST".into(), &200.into(), &"INFO".into()));
    assert_eq!(line["route"], "/v1/policies/{name}/decisions");
    assert!(line["duration_ms"].as_f64().is_some_and(|took| took > 0.0) && line["timestamp"].is_string(), "{line}");
    for hidden in [token.as_str(), "171.5", "hypertension", "secret", "hidden"] {
        assert!(!log.contains(hidden), "{hidden} is in the log: {log}");
    }
    assert!(log.contains("checkpoint: "), "{log}");
}

#[test]
fn the_first_token_is_not_put_into_a_log_of_json() {
    let place = Place::new();
    let refused = place.rarely("serve --store s.db --listen 127.0.0.1:0 --log-format json").output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    assert!(talk(&refused).contains("help: name a new file for it with --admin-token-file"), "{}", talk(&refused));
    assert!(!talk(&refused).contains("rarely_"), "{}", talk(&refused));
}

#[test]
fn options_come_from_the_command_line_the_environment_and_a_file() {
    let place = Place::new();
    place.write(
        "rarely.toml",
        "store = \"file.db\"\nlisten = \"127.0.0.1:0\"\ncheckpoint-every = 500\ndurability = \"relaxed\"\n\
         log-level = \"error\"\ntrusted-proxy = [\"10.0.0.0/8\", \"127.0.0.1\"]\ninsecure = false\n",
    );
    let environment = [("RARELY_STORE", "environment.db"), ("RARELY_LOG_LEVEL", "warn"), ("RARELY_DURABILITY", "full")];
    let server = Logged::start(&place, "--config rarely.toml --log-level info --admin-token-file t", &environment);
    assert!(server.place.text("talk").contains("every event is on disk"), "the environment wins over the file");
    let told = agent().get(format!("{}/healthz", server.url)).header("x-request-id", "of-the-proxy").call();
    assert_eq!(told.expect("an answer").headers()["x-request-id"], "of-the-proxy", "a list of the file");
    server.stop();
    assert!(place.path("environment.db").exists() && !place.path("file.db").exists());
}

#[test]
fn a_wrong_file_is_refused_with_its_key() {
    let place = Place::new();
    let refused = |contents: &str| {
        place.write("rarely.toml", contents);
        let output = place.rarely("serve --config rarely.toml --store s.db").output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{contents}");
        talk(&output)
    };
    assert_eq!(
        refused("lisen = \"127.0.0.1:0\"\n"),
        "error: rarely.toml: the key \"lisen\" is unknown\nhelp: did you mean \"listen\"?\n"
    );
    let value = refused("listen = \"here\"\n");
    assert!(value.starts_with("error: rarely.toml: invalid value 'here' for '--listen <ADDRESS>'"), "{value}");
    assert!(refused("insecure = 1\n").starts_with("error: rarely.toml: insecure is neither true nor false"));
    assert!(refused("listen = \n").starts_with("error: rarely.toml: TOML parse error at line 1"));
    assert!(refused("config = \"x\"\n").contains("config cannot stand in the file"));
    let alone = refused("cert = \"cert.pem\"\n");
    assert!(alone.contains("--key"), "a certificate needs its key: {alone}");
    let missing = place.rarely("serve --config none.toml").output().expect("it runs");
    assert!(talk(&missing).starts_with("error: none.toml: cannot be read"), "{}", talk(&missing));
}

#[test]
fn a_hang_up_reads_certificate_and_file_again() {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let place = Place::new();
    let renew = || {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
        place.write("cert.pem", made.cert.pem());
        place.write("key.pem", made.signing_key.serialize_pem());
        let root = Certificate::from_pem(made.cert.pem().as_bytes()).expect("a certificate");
        let trusting = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[root])).build();
        ureq::Agent::from(ureq::Agent::config_builder().tls_config(trusting).build())
    };
    let before = renew();
    let file = "store = \"s.db\"\nlisten = \"127.0.0.1:0\"\ncert = \"cert.pem\"\nkey = \"key.pem\"\nadmin-token-file = \"t\"\n";
    place.write("rarely.toml", file);
    let mut server = Logged::start(&place, "--config rarely.toml", &[]);
    let health = format!("{}/healthz", server.url);
    let ask = |agent: &ureq::Agent| agent.get(&health).header("origin", "https://app.example.org").call();
    let allowed =
        |answer: &ureq::http::Response<ureq::Body>| answer.headers().contains_key("access-control-allow-origin");
    let answer = ask(&before).expect("an answer");
    assert!(!allowed(&answer) && answer.headers().contains_key("strict-transport-security"));
    let after = renew();
    place.write("rarely.toml", format!("{file}cors-origin = [\"https://app.example.org\"]\n"));
    server.signal("-HUP");
    server.until(|line| line.contains("the configuration was read again"));
    assert!(allowed(&ask(&after).expect("an answer")), "the new certificate, and the new origin");
    assert!(ask(&before_anew(&before)).is_err(), "the old certificate is gone");
    place.write("rarely.toml", format!("{file}cors-origin = [\"nonsense\"]\n"));
    server.signal("-HUP");
    let refused = server.until(|line| line.contains("the configuration stays as it was"));
    assert!(refused.contains("nonsense"), "{refused}");
    assert!(allowed(&ask(&after).expect("an answer")), "as before");
    server.stop();
}

/// The same trust without the connections that are open.
fn before_anew(agent: &ureq::Agent) -> ureq::Agent {
    agent.config().clone().into()
}

#[test]
fn health_is_an_exit_code() {
    let place = Place::new();
    let server = Logged::start(&place, "--store s.db --listen 127.0.0.1:0 --admin-token-file t", &[]);
    let url = server.url.clone();
    let asked = |url: &str| place.rarely(&format!("health --url {url}")).output().expect("it runs");
    assert_eq!((asked(&url).status.code(), asked(&url).stdout), (Some(0), b"ready\n".to_vec()));
    server.stop();
    let gone = asked(&url);
    assert_eq!(gone.status.code(), Some(1));
    assert!(talk(&gone).starts_with(&format!("{url}: not ready: ")), "{}", talk(&gone));
}

#[test]
fn health_waits_for_a_service_that_starts() {
    let place = Place::new();
    let never = place.rarely("health --url http://127.0.0.1:1 --wait 1").output().expect("it runs");
    assert_eq!(never.status.code(), Some(1), "{}", talk(&never));
    assert_eq!(talk(&never).lines().count(), 1, "the last answer alone is said: {}", talk(&never));
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number");
    let mut waiting = place.rarely(&format!("health --url http://{free} --wait 60")).spawn().expect("it starts");
    let server = Logged::start(&place, &format!("--store s.db --listen {free} --admin-token-file t"), &[]);
    assert!(waiting.wait().expect("its end").success());
    server.stop();
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files_of_a_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    used(&place);
    place.done("store backup --store s.db --to copy.db");
    let mode = |name: &str| fs::metadata(place.path(name)).expect(name).permissions().mode() & 0o777;
    for name in place.names("") {
        assert_eq!(mode(&name), 0o600, "{name}");
    }
    for name in ["s.db", "s.db.head", "s.db.lock", "s.db.snapshot", "s.db.signing-key", "copy.db", "admin.token"] {
        assert!(place.path(name).exists(), "{name}");
    }
}

#[test]
fn traces_go_to_the_collector_that_an_option_names() {
    let place = Place::new();
    let collector = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", collector.local_addr().expect("an address"));
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = collector.accept().expect("a connection");
        let mut taken = String::new();
        while !taken.contains("]}]}]}") {
            let mut part = [0; 4096];
            let read = stream.read(&mut part).expect("a part");
            taken.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").expect("an answer");
        send.send(taken).expect("a receiver");
    });
    let variables = [("OTEL_SERVICE_NAME", "clinic-rarely"), ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=k1")];
    let options = format!("--store s.db --listen 127.0.0.1:0 --admin-token-file t --otlp-endpoint {address}");
    let server = Logged::start(&place, &options, &variables);
    assert_eq!(agent().get(format!("{}/healthz", server.url)).call().expect("an answer").status(), 200);
    // What waits is sent at the end.
    server.stop();
    let taken = receive.recv_timeout(Duration::from_secs(20)).expect("spans");
    for part in ["POST /v1/traces", "api-key: k1", "clinic-rarely", "GET /healthz", "service.version"] {
        assert!(taken.contains(part), "{part}: {taken}");
    }
    let wrong = place.rarely("serve --store s.db --otlp-endpoint localhost:4318").output().expect("it runs");
    assert!(talk(&wrong).contains("expected an address like http://127.0.0.1:4318"), "{}", talk(&wrong));
}

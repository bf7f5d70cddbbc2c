//! `rarely serve`, `token`, `audit` and `store`, as an operator meets them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::program::{Place, data, talk};

const DOCUMENT: &str = include_str!("../../../rarely-policy/tests/it/issue.toml");

/// A running server; it is stopped at the end.
struct Server {
    child: Child,
    url: String,
    heard: Vec<String>,
}

impl Server {
    fn start(place: &Place, more: &str) -> Self {
        let mut command = place.rarely(&format!("serve --store s.db --listen 127.0.0.1:0 {more}"));
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

    fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
        assert!(self.child.wait().expect("its end").success(), "SIGTERM is a good end");
    }

    fn post(&self, token: &str, path: &str, kind: &str, body: &str) -> (u16, String) {
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
fn used(place: &Place) -> String {
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

#[test]
fn the_first_token_is_shown_once() {
    let place = Place::new();
    let server = Server::start(&place, "");
    assert!(server.heard.iter().any(|line| line.contains("rarely_")), "{:?}", server.heard);
    server.stop();
    let server = Server::start(&place, "--durability relaxed");
    assert!(!server.heard.iter().any(|line| line.contains("rarely_")), "{:?}", server.heard);
    assert!(server.heard.iter().any(|line| line.contains("RELAXED")), "{:?}", server.heard);
}

#[test]
fn tls_is_served_and_trusted() {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    place.write("cert.pem", made.cert.pem());
    place.write("key.pem", made.signing_key.serialize_pem());
    let server = Server::start(&place, "--cert cert.pem --key key.pem");
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let root = Certificate::from_pem(made.cert.pem().as_bytes()).expect("a certificate");
    let trusting = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[root])).build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(trusting).build().into();
    let mut response = agent.get(format!("{}/healthz", server.url)).call().expect("an answer by TLS");
    assert!(response.body_mut().read_to_string().expect("text").contains("\"ok\""));
    assert!(ureq::get(format!("{}/healthz", server.url)).call().is_err(), "a stranger's certificate is not trusted");
    let plain = server.url.replace("https://", "http://");
    assert!(ureq::get(format!("{plain}/healthz")).call().is_err(), "nothing is told in the open");
    server.stop();
}

/// A client that never finishes its request does not keep its connection, and keeps nobody else waiting.
#[test]
fn a_slow_client_is_hung_up_on() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    let place = Place::new();
    let server = Server::start(&place, "");
    let address = server.url.strip_prefix("http://").expect("an address");
    let mut slow: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(address).expect("a connection")).collect();
    for stream in &mut slow {
        stream.write_all(b"POST /v1/policies HTTP/1.1\r\nHost: x").expect("sent");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a socket");
    }
    assert_eq!(server.post("", "/v1/policies", "application/toml", "").0, 401, "others are answered meanwhile");
    for mut stream in slow {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("hung up on within half a minute");
    }
    server.stop();
}

#[cfg(unix)]
#[test]
fn the_token_file_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("admin.token", "something else");
    let output =
        place.rarely("serve --store s.db --listen 127.0.0.1:0 --admin-token-file admin.token").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(place.text("admin.token"), "something else");
    Server::start(&place, "--admin-token-file new.token").stop();
    assert_eq!(fs::metadata(place.path("new.token")).unwrap().permissions().mode() & 0o777, 0o600);
    // A store that has tokens leaves the file alone.
    Server::start(&place, "--admin-token-file admin.token").stop();
}

#[test]
fn what_does_not_start_says_why() {
    let place = Place::new();
    let output = place.rarely("serve --store s.db --listen 0.0.0.0:0").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("--insecure"), "{}", talk(&output));
    assert!(!place.path("s.db").exists(), "nothing was made");
    let server = Server::start(&place, "");
    let second = place.rarely("serve --store s.db --listen 127.0.0.1:0").output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(talk(&second).contains("uses this store"), "{}", talk(&second));
    let address = server.url.strip_prefix("http://").unwrap();
    let taken = place.rarely(&format!("serve --store other.db --listen {address}")).output().unwrap();
    assert_eq!(taken.status.code(), Some(2));
    assert!(talk(&taken).contains("--listen"), "{}", talk(&taken));
    let token = place.rarely("token list --store s.db").output().unwrap();
    assert!(token.status.code() == Some(2) && talk(&token).contains("--url"), "{}", talk(&token));
}

#[test]
fn tokens_both_ways() {
    let place = Place::new();
    let admin = used(&place);
    let made = place.done(
        "token create --store s.db --name ann --role decide observe --policy hypertension-treatment --expires 30",
    );
    let token = data(&made).trim().to_owned();
    let id = token.split('_').nth(1).unwrap().to_owned();
    assert!(data(&place.done("token list --store s.db")).contains(&id));
    let server = Server::start(&place, "");
    let ask = "{\"record\": {\"systolic\": 150, \"diabetic\": \"no\"}}";
    let decide = "/v1/policies/hypertension-treatment/decisions";
    assert_eq!(server.post(&token, decide, "application/json", ask).0, 200);
    let there = format!("--url {} --token-file admin.token", server.url);
    place.done(&format!("token revoke {id} {there}"));
    assert_eq!(server.post(&token, decide, "application/json", ask).0, 401);
    let made = data(&place.done(&format!("token create --name ben --role read {there}")));
    assert!(made.starts_with("rarely_") && made.lines().count() == 1);
    let listed = data(&place.done(&format!("token list --format json {there}")));
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["tokens"].as_array().map(Vec::len), Some(3));
    let again =
        place.rarely(&format!("token revoke {id} --url {}", server.url)).env("RARELY_TOKEN", &admin).output().unwrap();
    assert!(again.status.code() == Some(2) && talk(&again).contains("404"), "{}", talk(&again));
    let reserved = place.rarely(&format!("token create --name engine --role read {there}")).output().unwrap();
    assert_eq!(reserved.status.code(), Some(2));
    let king = place.rarely("token create --store s.db --name a --role king").output().unwrap();
    assert!(king.status.code() == Some(2) && talk(&king).contains("no role"), "{}", talk(&king));
}

#[test]
fn an_audit_names_the_event_that_was_changed() {
    let place = Place::new();
    used(&place);
    let fits = data(&place.done("audit verify --store s.db --format json"));
    let fits: serde_json::Value = serde_json::from_str(&fits).unwrap();
    assert_eq!((&fits["fits"], &fits["decisions"]), (&true.into(), &3.into()));
    let head = format!("{}:{}", fits["head"]["number"], fits["head"]["hash"].as_str().unwrap());
    place.done(&format!("audit verify --store s.db --head {head}"));
    let other = format!("{}:{}", fits["head"]["number"], "0".repeat(64));
    let noted = place.rarely(&format!("audit verify --store s.db --head {other}")).output().unwrap();
    assert_eq!(noted.status.code(), Some(1));
    let server = Server::start(&place, "");
    place.done("audit verify --store s.db");
    server.stop();
    assert!(!place.names(".").iter().any(|name| name.contains("audit-")), "no copy is left");

    let mut bytes = fs::read(place.path("s.db")).unwrap();
    let at = bytes.windows(3).position(|window| window == b"180").expect("a record");
    bytes[at + 1] = b'7';
    fs::write(place.path("s.db"), &bytes).unwrap();
    let changed = place.rarely("audit verify --store s.db").output().unwrap();
    assert_eq!(changed.status.code(), Some(1), "{}", talk(&changed));
    assert!(data(&changed).contains("event 5 was changed"), "{}", data(&changed));
    let missing = place.rarely("audit verify --store none.db").output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn backups_are_made_beside_a_server_and_put_back() {
    let place = Place::new();
    used(&place);
    let server = Server::start(&place, "");
    place.done("store backup --store s.db --to copy.db");
    let busy = place.rarely("store restore --from copy.db --to s.db").output().unwrap();
    assert_eq!(busy.status.code(), Some(2));
    server.stop();
    let again = place.rarely("store backup --store s.db --to copy.db").output().unwrap();
    assert_eq!(again.status.code(), Some(2), "nothing is overwritten");
    place.done("store restore --from copy.db --to new.db");
    place.done("audit verify --store new.db");
    // All of the log is lost: the witness still knows how much that was.
    fs::remove_file(place.path("new.db")).unwrap();
    assert!(talk(&place.done("store recover --store new.db")).contains("events 1 to 5 are lost"));
    let nothing = place.rarely("store recover --store none.db").output().unwrap();
    assert_eq!(nothing.status.code(), Some(2), "there is nothing to go on with");
    assert!(talk(&place.done("store recover --store s.db")).contains("nothing is lost"));
    let token = place.path("admin.token");
    assert!(token.exists());
    place.done("audit report --store s.db --out report");
    assert!(place.text("report/changes.csv").contains("registered as version 1"));
    assert!(place.text("report/changes.html").contains("treat from 140 mmHg"));
}

#[test]
fn a_lost_end_is_refused_then_accepted() {
    let place = Place::new();
    let server = Server::start(&place, "--admin-token-file admin.token");
    let token = place.text("admin.token").trim().to_owned();
    server.stop();
    fs::copy(place.path("s.db"), place.path("old.db")).unwrap();
    let server = Server::start(&place, "");
    assert_eq!(server.post(&token, "/v1/policies", "application/toml", DOCUMENT).0, 201);
    server.stop();
    // An old copy is put in the place of the store.
    fs::copy(place.path("old.db"), place.path("s.db")).unwrap();
    let refused = place.rarely("serve --store s.db --listen 127.0.0.1:0").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(talk(&refused).contains("rarely store recover"), "{}", talk(&refused));
    let audited = place.rarely("audit verify --store s.db").output().unwrap();
    assert_eq!(audited.status.code(), Some(1), "{}", talk(&audited));
    assert!(talk(&place.done("store recover --store s.db")).contains("events 2 to 2 are lost"));
    place.done("audit verify --store s.db");
    Server::start(&place, "").stop();
}

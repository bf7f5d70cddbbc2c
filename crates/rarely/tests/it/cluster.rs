//! Several replicas of the service over one PostgreSQL: any of them takes any request, and nothing acknowledged is lost, whatever
//! happens to them or to the database.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::cluster_faults::{FAULTS, Ground, print_table};
use crate::cluster_load::{Load, check_history};
use crate::postgres_server::PostgresServer;
use crate::program::{Place, data, talk};
use crate::server::DOCUMENT;

pub(crate) const POLICY: &str = "/v1/policies/hypertension-treatment";
/// The lease of the tests, in seconds.
pub(crate) const LEASE: u64 = 2;
/// How long anything may take to become possible again.
const PATIENCE: Duration = Duration::from_secs(60);

/// A replica; it is killed at the end.
pub(crate) struct Replica {
    child: Child,
    pub(crate) url: String,
    pub(crate) heard: Arc<Mutex<Vec<String>>>,
}

impl Replica {
    pub(crate) fn start(place: &Place, store: &str, more: &str) -> Self {
        let arguments = format!(
            "serve --store {store} --listen 127.0.0.1:0 --lease {LEASE} --signing-key key --admin-token-file admin.token {more}"
        );
        let mut command = place.rarely(&arguments);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its talk")).lines();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut url = String::new();
        while url.is_empty() {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {heard:?}")).expect("a line");
            line.strip_prefix("listening on ").unwrap_or_default().clone_into(&mut url);
            heard.lock().expect("not poisoned").push(line);
        }
        let told = heard.clone();
        thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| told.lock().expect("not poisoned").push(line));
        });
        Self { child, url, heard }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill").success());
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) {
        drop(self.child.wait());
    }

    #[track_caller]
    pub(crate) fn assert_running(&mut self) {
        assert_eq!(self.child.try_wait().expect("its end"), None, "it ended: {:?}", self.heard);
    }

    /// Ends it as its operator would.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().expect("its end").success(), "{:?}", self.heard);
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
    config.timeout_global(Some(Duration::from_secs(3))).build().into()
}

/// Sends JSON, or another kind of text; the status and the answer.
pub(crate) fn post(agent: &ureq::Agent, url: &str, token: &str, kind: &str, body: &str) -> Option<(u16, Json)> {
    let request = agent.post(url).header("authorization", format!("Bearer {token}")).header("content-type", kind);
    let mut response = request.send(body).ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    Some((response.status().as_u16(), serde_json::from_str(&text).unwrap_or_default()))
}

/// Waits until a condition holds.
#[track_caller]
pub(crate) fn wait_for<R>(what: &str, mut condition: impl FnMut() -> Option<R>) -> R {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < until, "{what}: not within {PATIENCE:?}");
        sleep(Duration::from_millis(20));
    }
}

/// The address of the owner of the policy of [`DOCUMENT`], or of the service before it is registered, while its lease is valid.
pub(crate) fn owner(server: &PostgresServer) -> String {
    let query = "SELECT address FROM rarely.leases WHERE expires > clock_timestamp() AND \
                 chain = (SELECT coalesce(max(chain), 0) FROM rarely.placements WHERE policy = 'hypertension-treatment')";
    wait_for("an owner", || Some(server.query(query)).filter(|address| !address.is_empty()))
}

/// The admin token, once the first owner has written it.
pub(crate) fn admin(place: &Place) -> String {
    wait_for("the first token", || {
        std::fs::read_to_string(place.path("admin.token")).ok().filter(|text| text.ends_with('\n'))
    })
    .trim()
    .to_owned()
}

pub(crate) fn register(url: &str, token: &str) {
    register_as("hypertension-treatment", url, token);
}

/// Registers the policy of [`DOCUMENT`] under another name.
pub(crate) fn register_as(name: &str, url: &str, token: &str) {
    let (agent, document) = (agent(), DOCUMENT.replacen("hypertension-treatment", name, 1));
    wait_for("a registered policy", || {
        post(&agent, &format!("{url}/v1/policies"), token, "application/toml", &document)
            .filter(|(status, _)| [200, 201].contains(status))
    });
}

/// Signs in to the dashboard. Returns the cookie.
pub(crate) fn sign_in(agent: &ureq::Agent, url: &str, token: &str) -> String {
    let form = agent.post(format!("{url}/sign-in")).header("content-type", "application/x-www-form-urlencoded");
    let signed_in = form.send(format!("token={token}")).expect("an answer");
    assert_eq!(signed_in.status().as_u16(), 303);
    signed_in.headers()["set-cookie"].to_str().expect("text").split(';').next().expect("a cookie").to_owned()
}

#[test]
fn any_replica_takes_any_request() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let replicas = [Replica::start(&place, &address, ""), Replica::start(&place, &address, "")];
    let token = admin(&place);
    let owning = owner(&server);
    let follower = replicas.iter().find(|replica| replica.url != owning).expect("one does not own it");
    let first = replicas.iter().find(|replica| replica.url == owning).expect("one owns it");
    register(&follower.url, &token);
    let agent = agent();
    let ask = json!({ "record": { "systolic": 150, "diabetic": "no" }, "key": "visit 1" }).to_string();
    let path = format!("{POLICY}/decisions");
    let answers: Vec<Json> = [follower, first, follower]
        .iter()
        .map(|replica| {
            let (status, answer) =
                post(&agent, &format!("{}{path}", replica.url), &token, "application/json", &ask).expect("an answer");
            assert_eq!(status, 200, "{answer}");
            answer
        })
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "the same key, the same decision: {answers:?}");
    the_dashboard_and_streams_work_through_a_follower(follower, &agent, &token);
    // Nobody believes a header that no replica has written.
    let forged = agent.get(format!("{}/healthz", first.url)).header("rarely-forwarded", "secret 192.0.2.1").call();
    assert_eq!(forged.expect("an answer").status().as_u16(), 200);
    let healthy = agent.get(format!("{}/readyz", follower.url)).call().expect("an answer");
    assert_eq!(healthy.status().as_u16(), 200, "a follower is ready while there is an owner");
    beside_a_running_cluster(&place, &address);
    // The owner ends, and for a while there is none.
    let left: Vec<Replica> = replicas
        .into_iter()
        .filter_map(|replica| {
            if replica.url == owning {
                replica.signal("KILL");
                return None;
            }
            Some(replica)
        })
        .collect();
    let url = format!("{}{path}", left[0].url);
    let mut refused = agent
        .post(&url)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .send(&ask)
        .expect("an answer");
    assert_eq!(refused.status().as_u16(), 503);
    assert_eq!(refused.headers()["retry-after"], "1");
    let problem: Json = serde_json::from_str(&refused.body_mut().read_to_string().expect("text")).expect("JSON");
    assert!(problem["remedy"].as_str().is_some_and(|remedy| remedy.contains("again")), "{problem}");
    let again = wait_for("the other takes over", || {
        post(&agent, &url, &token, "application/json", &ask).filter(|(status, _)| *status == 200)
    });
    assert_eq!(again.1, answers[0], "it has the same log");
    left.into_iter().for_each(Replica::stop);
    place.done(&format!("audit verify --store {address}"));
}

fn the_dashboard_and_streams_work_through_a_follower(follower: &Replica, agent: &ureq::Agent, token: &str) {
    let url = &follower.url;
    let cookie = sign_in(agent, url, token);
    let mut page = agent.get(format!("{url}/")).header("cookie", cookie).call().expect("a page");
    let text = page.body_mut().read_to_string().expect("text");
    assert!(text.contains("hypertension-treatment"), "{text}");
    assert!(page.headers().contains_key("content-security-policy"));
    let stream = agent.get(format!("{url}/v1/events")).header("authorization", format!("Bearer {token}"));
    let stream = stream.header("accept", "text/event-stream").call().expect("a stream");
    let mut beginning = [0; 20];
    stream.into_body().into_reader().read_exact(&mut beginning).expect("it streams");
    assert!(beginning.starts_with(b"id: 1\n"), "{}", String::from_utf8_lossy(&beginning));
}

/// Audits and copies of a database that replicas use, and commands that need a file.
fn beside_a_running_cluster(place: &Place, address: &str) {
    let audited = place.done(&format!("audit verify --store {address}"));
    assert!(data(&audited).contains("the log is consistent"), "{}", data(&audited));
    place.done(&format!("audit report --store {address} --out report"));
    place.done(&format!("store copy --from {address} --to copy.db"));
    place.done("audit verify --store copy.db");
    for (command, words) in [
        (format!("token list --store {address}"), "--url"),
        (format!("store backup --store {address} --to other.db"), "rarely store copy"),
        (format!("store copy --from copy.db --to {address}"), "uses this database"),
        (format!("serve --store {address}"), "--signing-key"),
        ("serve --store s.db --advertise http://10.0.0.1:80".to_owned(), "postgres://"),
        (format!("serve --store {address} --signing-key nowhere --listen 127.0.0.1:0"), "there is no signing key"),
    ] {
        let refused = refused(place, &command);
        assert!(refused.contains(words), "{command}: {refused}");
    }
}

/// What a command that must fail says. One that goes on is ended.
#[track_caller]
pub(crate) fn refused(place: &Place, command: &str) -> String {
    let mut running = place.rarely(command);
    let mut child = running.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let until = Instant::now() + PATIENCE;
    while child.try_wait().expect("its end").is_none() {
        if Instant::now() > until {
            drop(child.kill());
            panic!("{command} is not refused");
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(2), "{command}: {}", talk(&output));
    talk(&output)
}

#[test]
fn nothing_acknowledged_is_lost() {
    harm_is_done("", &["hypertension-treatment"]);
}

/// Each of the policies is in a chain of its own, so that each replica owns some of them.
#[test]
fn nothing_acknowledged_is_lost_with_several_owners() {
    harm_is_done("--chains 3", &["hypertension-treatment", "second", "third"]);
}

/// Three replicas under load. `RARELY_FAULTS` sets the number of faults.
fn harm_is_done(more: &str, policies: &[&str]) {
    let faults: usize = std::env::var("RARELY_FAULTS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let (ground, place) = (Ground::start(faults), Place::new());
    let address = ground.address();
    let start = || Replica::start(&place, &address, more);
    let mut replicas: Vec<Replica> = (0..3).map(|_| start()).collect();
    let token = admin(&place);
    for policy in policies {
        register_as(policy, &replicas[0].url, &token);
    }
    let load = Load::start(4, replicas.iter().map(|replica| replica.url.clone()).collect(), policies, &token);
    let began = Instant::now();
    load.all_go_on_after(began);
    let mut times = Vec::new();
    for (turn, fault) in FAULTS.into_iter().cycle().take(faults).enumerate() {
        let owning = owner(&ground.server);
        let at = replicas.iter().position(|replica| replica.url == owning).expect("one of them");
        let (gone, moment) = fault.happens(turn, &ground, &replicas, at);
        let alive = replicas.iter().enumerate().filter(|(index, _)| Some(*index) != gone);
        let alive: Vec<&str> = alive.map(|(_, replica)| replica.url.as_str()).collect();
        let answered = load.probe(&alive, &token, &format!("probe {turn}"));
        times.push((fault, (answered - moment).as_secs_f64()));
        println!("fault {}: {}: {:.2} s", turn + 1, fault.name(), (answered - moment).as_secs_f64());
        fault.ends(&ground, gone, &mut replicas, &owning, start, &load);
        for replica in &mut replicas {
            replica.assert_running();
        }
        load.all_go_on_after(Instant::now());
    }
    let audited = place.done(&format!("audit verify --store {address}"));
    assert!(data(&audited).contains("the log is consistent"), "beside the running replicas: {}", data(&audited));
    let seconds = began.elapsed().as_secs_f64();
    let histories = load.stop();
    replicas.into_iter().for_each(Replica::stop);
    let requests: usize = histories.iter().map(|history| history.times.len()).sum();
    let events = check_history(&place, &address, &histories);
    print_table(&times);
    println!(
        "{faults} faults in {seconds:.0} s: {requests} requests acknowledged, {events} events, nothing lost or twice"
    );
}

/// The primary ends and its synchronous standby takes over: what was acknowledged is there.
#[test]
fn a_promoted_standby_has_everything() {
    let primary = PostgresServer::start_with("-c wal_level=replica");
    let standby = primary.start_standby();
    let place = Place::new();
    let address = format!("postgres://tester@{},{}/postgres", primary.host(), standby.host());
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&place, &address, "")).collect();
    let token = admin(&place);
    register(&replicas[0].url, &token);
    let urls = replicas.iter().map(|replica| replica.url.clone()).collect();
    let load = Load::start(3, urls, &["hypertension-treatment"], &token);
    load.all_go_on_after(Instant::now());
    sleep(Duration::from_secs(1));
    primary.crash();
    let moment = Instant::now();
    standby.promote();
    let urls: Vec<&str> = replicas.iter().map(|replica| replica.url.as_str()).collect();
    let answered = load.probe(&urls, &token, "probe");
    println!("a standby was promoted: answered again after {:.2} s", (answered - moment).as_secs_f64());
    load.all_go_on_after(Instant::now());
    let histories = load.stop();
    replicas.into_iter().for_each(Replica::stop);
    check_history(&place, &standby.address(), &histories);
}

#[test]
fn a_database_that_may_lose_events_is_refused() {
    let (server, place) = (PostgresServer::start_with("-c fsync=off"), Place::new());
    let address = server.address();
    let serve = format!("serve --store {address} --listen 127.0.0.1:0 --signing-key key");
    let words = refused(&place, &serve);
    assert!(words.contains("fsync = off") && words.contains("--durability relaxed"), "{words}");
    let replica = Replica::start(&place, &address, "--durability relaxed");
    admin(&place);
    replica.stop();
    let words = refused(&place, "serve --store postgres://tester:secret@127.0.0.1:1/x --signing-key key");
    assert!(words.contains("127.0.0.1:1/x") && !words.contains("secret"), "{words}");
}

#[test]
fn replicas_reach_each_other_by_tls() {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let (server, place) = (PostgresServer::start(), Place::new());
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    place.write("cert.pem", made.cert.pem());
    place.write("key.pem", made.signing_key.serialize_pem());
    let more = "--cert cert.pem --key key.pem --replica-ca cert.pem";
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&place, &server.address(), more)).collect();
    let stranger = Replica::start(&place, &server.address(), "--cert cert.pem --key key.pem");
    admin(&place);
    let owning = owner(&server);
    let root = Certificate::from_pem(made.cert.pem().as_bytes()).expect("a certificate");
    let trusting = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[root])).build();
    let config = ureq::Agent::config_builder().http_status_as_error(false).tls_config(trusting);
    let agent: ureq::Agent = config.build().into();
    assert!(owning.starts_with("https://"), "{owning}");
    let ready = |url: &str| agent.get(format!("{url}/readyz")).call().expect("an answer").status().as_u16();
    for replica in &replicas {
        wait_for("it is ready", || (ready(&replica.url) == 200).then_some(()));
    }
    // The last one trusts only authorities that browsers trust, so it does not talk to the owner.
    assert_ne!(stranger.url, owning, "the others were there before");
    assert_eq!(ready(&stranger.url), 503);
}

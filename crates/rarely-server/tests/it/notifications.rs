//! Notices by webhook and by mail: to receivers that fail, are slow or lie, and across restarts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rarely_live::event::{Event, NoticeResult};
use rarely_live::replay;
use rarely_server::{MailServer, NotificationOptions, Notifications, ServiceSettings, Webhook, WebhookSecret};
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, DAY_MS, Service, document};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What a receiver does with a request.
#[derive(Debug, Clone, Copy)]
enum Does {
    Accept,
    Fail,
    /// Answers 200 when nobody waits any more.
    AcceptLate,
    Redirect,
    /// Accepts, and goes on with a body that does not end.
    Ramble,
    HangUp,
}

/// A request as a receiver got it.
#[derive(Debug, Clone)]
struct Got {
    path: String,
    id: String,
    timestamp: u64,
    signature: String,
    body: String,
}

impl Got {
    fn json(&self) -> Json {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// A receiver of webhooks. After its plan it accepts everything.
struct Receiver {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    fn start(plan: &'static [Does]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let seen = got.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = seen.clone();
                std::thread::spawn(move || serve(stream, plan, &seen));
            }
        });
        Self { url, got }
    }

    fn webhook(&self) -> Webhook {
        let secret = WebhookSecret::parse(SECRET).expect("a secret");
        Webhook::new(self.url.clone(), secret).with_timeout(Duration::from_millis(400))
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().expect("what came").clone()
    }

    /// Waits until so many requests have come.
    fn wait_for(&self, count: usize) -> Vec<Got> {
        eventually(|| Some(self.got()).filter(|got| got.len() >= count))
    }
}

fn serve(mut stream: TcpStream, plan: &[Does], seen: &Mutex<Vec<Got>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let found =
            lines.iter().find_map(|line| line.split_once(':').filter(|(known, _)| known.eq_ignore_ascii_case(name)));
        found.map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let mut body = vec![0; header("content-length").parse().expect("a length")];
    reader.read_exact(&mut body).expect("a body");
    let at = {
        let mut seen = seen.lock().expect("what came");
        seen.push(Got {
            path: lines[0].split(' ').nth(1).expect("a path").to_owned(),
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp").parse().expect("a time"),
            signature: header("webhook-signature"),
            body: String::from_utf8(body).expect("text"),
        });
        seen.len() - 1
    };
    // Whoever sent it may have gone.
    let mut answer = |text: &str| drop(stream.write_all(text.as_bytes()));
    match plan.get(at).copied().unwrap_or(Does::Accept) {
        Does::Accept => answer("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"),
        Does::Fail => answer("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n"),
        Does::AcceptLate => {
            std::thread::sleep(Duration::from_millis(1500));
            answer("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        }
        Does::Redirect => answer("HTTP/1.1 307 There\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"),
        Does::HangUp => {}
        Does::Ramble => {
            answer("HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
    }
}

fn eventually<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn options(webhooks: Vec<Webhook>, attempts: usize) -> NotificationOptions {
    let attempts = vec![Duration::from_millis(20); attempts];
    NotificationOptions { webhooks, attempts, ..NotificationOptions::default() }
}

fn start(service: &Service, options: &NotificationOptions) -> Notifications {
    Notifications::start(&service.app, options).expect("threads")
}

/// Waits until a channel is ready: what happens from now on is told.
fn begun(service: &Service, events: usize) {
    eventually(|| (results(service).len() >= events).then_some(()));
}

/// What became of notices, from the log.
fn results(service: &Service) -> Vec<(u64, NoticeResult)> {
    let entries = tokio::task::block_in_place(|| service.app.engine.log().entries(0, None, 10_000)).expect("entries");
    let events = entries.iter().map(|entry| replay::event(service.app.engine.log().as_ref(), entry).expect("an event"));
    events
        .filter_map(|event| if let Event::Notified(told) = event { Some((told.about, told.result)) } else { None })
        .collect()
}

async fn act(service: &Service, act: &str) {
    let signed = json!({ "meaning": "I want this.", "reason": "A test." });
    service.post(&service.admin, &format!("/v1/policies/clinic/{act}"), &signed).await.is(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_notice_arrives_in_the_end_and_once_more_never() {
    static PLAN: [Does; 5] = [Does::Fail, Does::AcceptLate, Does::Redirect, Does::HangUp, Does::Ramble];
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let receiver = Receiver::start(&PLAN);
    let settings = options(vec![receiver.webhook()], 9);
    let notifications = start(&service, &settings);
    begun(&service, 1);
    act(&service, "stop").await;
    let got = receiver.wait_for(5);
    begun(&service, 2);
    assert_eq!(results(&service)[1].1, NoticeResult::Delivered);
    let secret = WebhookSecret::parse(SECRET).expect("a secret");
    for got in &got {
        assert_eq!(
            (got.path.as_str(), &got.id),
            ("/hook", &got_id(&service, results(&service)[1].0)),
            "never elsewhere"
        );
        assert_eq!(got.signature, secret.sign(&got.id, got.timestamp, &got.body));
    }
    let told = got[4].json();
    assert_eq!((&told["type"], &told["data"]["policy"]), (&"policy.stopped".into(), &"clinic".into()));
    act(&service, "resume").await;
    drop(notifications);
    // Nobody listens, and then somebody does again.
    act(&service, "stop").await;
    let notifications = start(&service, &settings);
    let all = receiver.wait_for(6);
    begun(&service, 3);
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(receiver.got().len(), 6, "what was delivered is not delivered again");
    assert_ne!(all[5].id, all[4].id);
    drop(notifications);
    let service = service.restart();
    let notifications = start(&service, &settings);
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(receiver.got().len(), 6, "neither after a restart of the service");
    drop(notifications);
    service.finish();
}

fn got_id(service: &Service, event: u64) -> String {
    format!("rarely_{}_{event}", service.app.engine.store_id())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dead_receiver_is_given_up_and_holds_up_no_other() {
    static NEVER: [Does; 3] = [Does::Fail; 3];
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let (dead, alive) = (Receiver::start(&NEVER), Receiver::start(&[]));
    let notifications = start(&service, &options(vec![dead.webhook(), alive.webhook()], 3));
    begun(&service, 2);
    act(&service, "stop").await;
    alive.wait_for(1);
    dead.wait_for(3);
    begun(&service, 4);
    let found = results(&service);
    assert!(found.iter().any(|(_, result)| *result == NoticeResult::GivenUp), "{found:?}");
    act(&service, "resume").await;
    act(&service, "stop").await;
    assert_eq!(dead.wait_for(4)[3].json()["type"], "policy.stopped", "the next one is tried");
    begun(&service, 6);
    let metrics = service.get(&service.admin, "/metrics").await.text();
    for line in
        ["rarely_notices_delivered_total 3", "rarely_notice_attempts_failed_total 3", "rarely_notices_given_up_total 1"]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    drop(notifications);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_proposal_that_waits_and_expires_is_told() {
    let service = Service::new();
    let text = document("clinic", &format!("{BY_HAND}\nproposal_expires = \"2 days\""));
    service.register(&text).await;
    let receiver = Receiver::start(&[]);
    let notifications = start(&service, &options(vec![receiver.webhook()], 3));
    begun(&service, 1);
    let amended = text.replace("noise = 0.1", "noise = 0.2");
    let proposed = json!({ "document": amended, "reason": "A test." });
    service.post(&service.admin, "/v1/policies/clinic/amendments", &proposed).await.is(201);
    let waits = receiver.wait_for(1)[0].json();
    assert_eq!((&waits["type"], &waits["data"]["proposal"]), (&"proposal.waiting".into(), &1.into()));
    service.wait_ms(3 * DAY_MS);
    assert_eq!(receiver.wait_for(2)[1].json()["type"], "proposal.expired");
    begun(&service, 3);
    drop(notifications);
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_disk_that_fills_is_told_once() {
    let service = Service::with(ServiceSettings {
        store_directory: Some(std::env::temp_dir()),
        ..ServiceSettings::plain("0.0.0")
    });
    let receiver = Receiver::start(&[]);
    let every = Duration::from_millis(50);
    let watched =
        NotificationOptions { low_disk_bytes: u64::MAX, watch_every: every, ..options(vec![receiver.webhook()], 3) };
    let notifications = start(&service, &watched);
    let told = receiver.wait_for(1)[0].json();
    assert_eq!(told["type"], "disk.low");
    assert!(told["data"]["free_bytes"].as_u64().is_some_and(|free| free > 0), "{told}");
    std::thread::sleep(Duration::from_millis(900));
    assert_eq!(receiver.got().len(), 1);
    drop(notifications);
    service.finish();
}

/// A mail server that takes one message per connection, and is busy at first.
fn mail_server(busy: usize) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("smtp://{}", listener.local_addr().expect("an address"));
    let got: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = got.clone();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            take_mail(&stream, number < busy, &seen);
        }
    });
    (url, got)
}

fn take_mail(stream: &TcpStream, busy: bool, seen: &Mutex<Vec<String>>) {
    let mut out = stream.try_clone().expect("a stream");
    let mut say = |text: &str| drop(out.write_all(format!("{text}\r\n").as_bytes()));
    let (mut message, mut in_message) = (String::new(), false);
    say("220 test");
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        match line.split(' ').next().unwrap_or_default() {
            "." if in_message => {
                in_message = false;
                seen.lock().expect("what came").push(std::mem::take(&mut message));
                say("250 taken");
            }
            _ if in_message => message.extend([&*line, "\n"]),
            "DATA" if busy => say("451 busy"),
            "DATA" => {
                in_message = true;
                say("354 go on");
            }
            "QUIT" => return say("221 bye"),
            _ => say("250 ok"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_notice_goes_by_mail() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let (url, got) = mail_server(2);
    let server = MailServer::parse(&url, None, "rarely <rarely@example.org>").expect("a server");
    let people = vec!["ann@example.org".to_owned()];
    let notifications =
        start(&service, &NotificationOptions { mail: Some((server, people)), ..options(Vec::new(), 5) });
    begun(&service, 1);
    act(&service, "stop").await;
    let mail = eventually(|| got.lock().expect("what came").first().cloned());
    begun(&service, 2);
    for part in [
        "Subject: rarely: clinic was stopped",
        "To: ann@example.org",
        "From: rarely <rarely@example.org>",
        "admin stopped the policy",
    ] {
        assert!(mail.contains(part), "{part}: {mail}");
    }
    let id = format!("Message-ID: <{}@rarely.invalid>", got_id(&service, results(&service)[1].0));
    assert!(mail.contains(&id), "{id}: {mail}");
    assert_eq!(results(&service)[1].1, NoticeResult::Delivered);
    drop(notifications);
    service.finish();
}

//! Clients that load a cluster, what they were told, and whether the log agrees.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use rarely_store::{EventLog as _, LogEntry, SqliteLog};
use serde_json::{Value as Json, json};

use crate::cluster::{POLICY, agent, post, wait_for};
use crate::program::Place;

/// What a client was told.
#[derive(Default)]
pub(crate) struct History {
    /// By key: number and option of the decision.
    decisions: BTreeMap<String, (u64, String)>,
    /// Decisions whose outcome was acknowledged.
    outcomes: Vec<u64>,
    /// When each acknowledged request began and ended.
    pub(crate) times: Vec<(Instant, Instant)>,
}

/// Clients that send requests to any replica until each is acknowledged.
pub(crate) struct Load {
    pub(crate) urls: Arc<RwLock<Vec<String>>>,
    stopping: Arc<AtomicBool>,
    histories: Vec<Arc<Mutex<History>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(clients: usize, urls: Vec<String>, token: &str) -> Self {
        let (urls, stopping) = (Arc::new(RwLock::new(urls)), Arc::new(AtomicBool::new(false)));
        let histories: Vec<Arc<Mutex<History>>> = (0..clients).map(|_| Arc::default()).collect();
        let threads = histories.iter().enumerate().map(|(client, history)| {
            let (urls, stopping, history) = (urls.clone(), stopping.clone(), history.clone());
            let token = token.to_owned();
            thread::spawn(move || run_client(client, &urls, &stopping, &history, &token))
        });
        let threads = threads.collect();
        Self { urls, stopping, histories, threads }
    }

    /// Sends requests to these replicas alone until one is acknowledged, and keeps what it was told. Returns when that was.
    pub(crate) fn probe(&self, urls: &[&str], token: &str, name: &str) -> Instant {
        let agent = agent();
        let body = json!({ "record": { "systolic": 150, "diabetic": "no" }, "key": name });
        let (answer, moment) = wait_for("an answer to a probe", || {
            urls.iter().find_map(|url| {
                let path = format!("{url}{POLICY}/decisions");
                let (_, answer) = post(&agent, &path, token, "application/json", &body.to_string())
                    .filter(|(status, _)| *status == 200)?;
                Some((answer, Instant::now()))
            })
        });
        let decision = answer["decision"].as_u64().expect("a number");
        let option = answer["option"].as_str().expect("an option").to_owned();
        let mut history = self.histories[0].lock().expect("not poisoned");
        history.decisions.insert(name.to_owned(), (decision, option));
        moment
    }

    /// Waits until every client has got an answer to a request that it sent after `moment`.
    pub(crate) fn all_go_on_after(&self, moment: Instant) {
        for history in &self.histories {
            wait_for("a client goes on", || {
                let history = history.lock().expect("not poisoned");
                history.times.last().filter(|(began, _)| *began > moment).map(|_| ())
            });
        }
    }

    pub(crate) fn stop(self) -> Vec<History> {
        self.stopping.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().expect("a client ends"));
        let taken =
            self.histories.into_iter().map(|history| std::mem::take(&mut *history.lock().expect("not poisoned")));
        taken.collect()
    }
}

fn run_client(client: usize, urls: &RwLock<Vec<String>>, stopping: &AtomicBool, history: &Mutex<History>, token: &str) {
    let agent = agent();
    // Asks one replica after the other until the request is done; `None` when the load ends first.
    let ask = |mut turn: usize, path: &str, body: &Json| -> Option<Json> {
        while !stopping.load(Ordering::SeqCst) {
            let url = {
                let urls = urls.read().expect("not poisoned");
                format!("{}{POLICY}{path}", urls[turn % urls.len()])
            };
            turn += 1;
            let began = Instant::now();
            match post(&agent, &url, token, "application/json", &body.to_string()) {
                Some((200, answer)) => {
                    history.lock().expect("not poisoned").times.push((began, Instant::now()));
                    return Some(answer);
                }
                Some((503, _)) | None => sleep(Duration::from_millis(30)),
                Some((status, answer)) => panic!("{path}: {status} {answer}"),
            }
        }
        None
    };
    for turn in 0.. {
        let key = format!("client {client}, visit {turn}");
        let record = json!({ "systolic": 100 + (turn * 37 + client * 11) % 100, "diabetic": "no" });
        let Some(answer) = ask(turn + client, "/decisions", &json!({ "record": record, "key": key })) else { return };
        let decision = answer["decision"].as_u64().expect("a number");
        let option = answer["option"].as_str().expect("an option").to_owned();
        history.lock().expect("not poisoned").decisions.insert(key, (decision, option));
        let outcome = f64::from(u32::try_from(turn % 10).expect("small")) / 10.0;
        if ask(turn, "/outcomes", &json!({ "decision": decision, "outcome": outcome })).is_none() {
            return;
        }
        history.lock().expect("not poisoned").outcomes.push(decision);
    }
}

/// Compares what clients were told with the log: nothing lost, nothing twice, no gap. Returns the number of events.
pub(crate) fn check_history(place: &Place, address: &str, histories: &[History]) -> usize {
    place.done(&format!("audit verify --store {address}"));
    place.done(&format!("store copy --from {address} --to history.db"));
    let log = SqliteLog::open_read_only(&place.path("history.db")).expect("a copy");
    let entries: Vec<LogEntry> = log.entries(0, None, usize::MAX).expect("entries");
    let (mut decided, mut observed) = (HashMap::new(), HashMap::<u64, u64>::new());
    for (expected, entry) in (1..).zip(&entries) {
        assert_eq!(entry.number, expected, "no gaps");
        let body: Json = serde_json::from_str(&entry.body).expect("JSON");
        match entry.kind.as_str() {
            "decided" => {
                let key = body["key"].as_str().expect("a key").to_owned();
                let option = body["option"].as_str().expect("an option").to_owned();
                let before = decided.insert(key, (entry.number, option));
                assert_eq!(before, None, "event {}: a key decides once", entry.number);
            }
            "observed" => *observed.entry(body["decision"].as_u64().expect("a decision")).or_default() += 1,
            _ => {}
        }
    }
    let acknowledged: usize = histories.iter().map(|history| history.decisions.len()).sum();
    for history in histories {
        for (key, answer) in &history.decisions {
            assert_eq!(decided.get(key), Some(answer), "{key}: acknowledged, and so in the log as it was answered");
        }
        for decision in &history.outcomes {
            assert_eq!(observed.get(decision), Some(&1), "the outcome of {decision} is there once");
        }
    }
    // A client that stops may leave one request that nobody has acknowledged.
    assert!(decided.len() <= acknowledged + histories.len(), "{} decided, {acknowledged} acknowledged", decided.len());
    entries.len()
}

//! Clients that load a cluster, what they were told, and whether the log agrees.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use rarely_store::{EventLog as _, LogEntry, SqliteLog, chain_files};
use serde_json::{Value as Json, json};

use crate::cluster::{agent, post, wait_for};
use crate::program::Place;

/// What a client was told.
#[derive(Default)]
pub(crate) struct History {
    /// By key: number and option of the decision.
    decisions: BTreeMap<String, (u64, String)>,
    /// Keys of decisions whose outcome was acknowledged.
    outcomes: Vec<String>,
    /// When each acknowledged request began and ended.
    pub(crate) times: Vec<(Instant, Instant)>,
}

/// Clients that send requests about policies in turn, to any replica, until each is acknowledged.
pub(crate) struct Load {
    pub(crate) urls: Arc<RwLock<Vec<String>>>,
    policies: Vec<String>,
    stopping: Arc<AtomicBool>,
    histories: Vec<Arc<Mutex<History>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(clients: usize, urls: Vec<String>, policies: &[&str], token: &str) -> Self {
        let policies: Vec<String> = policies.iter().map(|policy| format!("/v1/policies/{policy}")).collect();
        let (urls, stopping) = (Arc::new(RwLock::new(urls)), Arc::new(AtomicBool::new(false)));
        let histories: Vec<Arc<Mutex<History>>> = (0..clients).map(|_| Arc::default()).collect();
        let threads = histories.iter().enumerate().map(|(client, history)| {
            let (urls, stopping, history) = (urls.clone(), stopping.clone(), history.clone());
            let client = Client { number: client, urls, policies: policies.clone(), stopping, token: token.to_owned() };
            thread::spawn(move || client.run(&history))
        });
        let threads = threads.collect();
        Self { urls, policies, stopping, histories, threads }
    }

    /// Sends requests about the first policy to these replicas alone until one is acknowledged, and keeps what it was told. Returns when that was.
    pub(crate) fn probe(&self, urls: &[&str], token: &str, name: &str) -> Instant {
        let agent = agent();
        let body = json!({ "record": { "systolic": 150, "diabetic": "no" }, "key": name });
        let (answer, moment) = wait_for("an answer to a probe", || {
            urls.iter().find_map(|url| {
                let path = format!("{url}{}/decisions", self.policies[0]);
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

/// One client.
struct Client {
    number: usize,
    urls: Arc<RwLock<Vec<String>>>,
    policies: Vec<String>,
    stopping: Arc<AtomicBool>,
    token: String,
}

impl Client {
    fn run(&self, history: &Mutex<History>) {
        let agent = agent();
        for turn in 0.. {
            let policy = &self.policies[(turn + self.number) % self.policies.len()];
            let key = format!("client {}, visit {turn}", self.number);
            let record = json!({ "systolic": 100 + (turn * 37 + self.number * 11) % 100, "diabetic": "no" });
            let path = format!("{policy}/decisions");
            let asked = json!({ "record": record, "key": key });
            let Some(answer) = self.ask(&agent, history, turn + self.number, &path, &asked) else { return };
            let decision = answer["decision"].as_u64().expect("a number");
            let option = answer["option"].as_str().expect("an option").to_owned();
            history.lock().expect("not poisoned").decisions.insert(key.clone(), (decision, option));
            let outcome = f64::from(u32::try_from(turn % 10).expect("small")) / 10.0;
            let told = json!({ "decision": decision, "outcome": outcome });
            if self.ask(&agent, history, turn, &format!("{policy}/outcomes"), &told).is_none() {
                return;
            }
            history.lock().expect("not poisoned").outcomes.push(key);
        }
    }

    /// Asks one replica after the other until the request is done; `None` when the load ends first.
    fn ask(
        &self,
        agent: &ureq::Agent,
        history: &Mutex<History>,
        mut turn: usize,
        path: &str,
        body: &Json,
    ) -> Option<Json> {
        while !self.stopping.load(Ordering::SeqCst) {
            let url = {
                let urls = self.urls.read().expect("not poisoned");
                format!("{}{path}", urls[turn % urls.len()])
            };
            turn += 1;
            let began = Instant::now();
            match post(agent, &url, &self.token, "application/json", &body.to_string()) {
                Some((200, answer)) => {
                    history.lock().expect("not poisoned").times.push((began, Instant::now()));
                    return Some(answer);
                }
                Some((503, _)) | None => sleep(Duration::from_millis(30)),
                Some((status, answer)) => panic!("{path}: {status} {answer}"),
            }
        }
        None
    }
}

/// Compares what clients were told with the log: nothing lost, nothing twice, no gap in any chain. Returns the number of events.
pub(crate) fn check_history(place: &Place, address: &str, histories: &[History]) -> usize {
    place.done(&format!("audit verify --store {address}"));
    place.done(&format!("store copy --from {address} --to history/"));
    let (mut log, mut events) = (Log::default(), 0);
    for (chain, file) in chain_files(&place.path("history")).iter().enumerate() {
        events += log.read(chain, file);
    }
    let acknowledged: usize = histories.iter().map(|history| history.decisions.len()).sum();
    for history in histories {
        for (key, (decision, option)) in &history.decisions {
            let (_, number, chosen) = log.decided.get(key).unwrap_or_else(|| panic!("{key}: acknowledged, and lost"));
            assert_eq!((number, chosen), (decision, option), "{key}: in the log as it was answered");
        }
        for key in &history.outcomes {
            let (chain, number, _) = log.decided[key];
            assert_eq!(log.observed.get(&(chain, number)), Some(&1), "the outcome of {key} is there once");
        }
    }
    // A client that stops may leave one request that nobody has acknowledged.
    let decided = log.decided.len();
    assert!(decided <= acknowledged + histories.len(), "{decided} decided, {acknowledged} acknowledged");
    events
}

/// What the chains of a log have.
#[derive(Default)]
struct Log {
    /// By key: chain, number and option of the decision.
    decided: HashMap<String, (usize, u64, String)>,
    /// How many outcomes each decision of a chain has.
    observed: HashMap<(usize, u64), u64>,
}

impl Log {
    fn read(&mut self, chain: usize, file: &Path) -> usize {
        let log = SqliteLog::open_read_only(file).expect("a copy");
        let entries: Vec<LogEntry> = log.entries(0, None, usize::MAX).expect("entries");
        for (expected, entry) in (1..).zip(&entries) {
            assert_eq!(entry.number, expected, "no gaps in chain {chain}");
            let body: Json = serde_json::from_str(&entry.body).expect("JSON");
            match entry.kind.as_str() {
                "decided" => {
                    let key = body["key"].as_str().expect("a key").to_owned();
                    let option = body["option"].as_str().expect("an option").to_owned();
                    let before = self.decided.insert(key, (chain, entry.number, option));
                    assert_eq!(before, None, "event {} of chain {chain}: a key decides once", entry.number);
                }
                "observed" => {
                    let decision = body["decision"].as_u64().expect("a decision");
                    *self.observed.entry((chain, decision)).or_default() += 1;
                }
                _ => {}
            }
        }
        entries.len()
    }
}

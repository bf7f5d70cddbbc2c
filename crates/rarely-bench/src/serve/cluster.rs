//! The service on PostgreSQL, with one and three replicas and with several chains, beside the service on a file and beside what the database itself
//! commits, in one run.
//!
//! `rarely-bench serve-postgres PROGRAM`, with a server in `RARELY_TEST_POSTGRES` that keeps what it acknowledges
//! (`RARELY_POSTGRES=durable scripts/with-postgres …`).
//!
//! There are two yardsticks, both of `pgbench` with rows of the size of an event:
//! - *as many connections, one row each*: what the database itself gathers into groups. Each connection waits for its row, as a client of the
//!   service waits for its decision.
//! - *one connection, as many rows in one statement*: the most that requests which wait at the same time can share a commit. No client of the
//!   service is like that but one that sends batches, which is measured beside it.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::client::{Load, load};
use super::service::Service;
use super::{kind, post, record};

const SECONDS: u64 = 3;
const CONNECTIONS: [usize; 3] = [1, 64, 256];
const FEATURES: usize = 5;
const POLICIES: [usize; 2] = [1, 1000];
/// How many replicas, and over how many chains policies are spread; 0 is one owner for all of them.
const SHAPES: [(usize, usize); 3] = [(1, 0), (3, 0), (3, 3)];
/// Bytes of an event of such a decision with its hash and its keys.
const EVENT_BYTES: usize = 400;

pub(crate) fn run() {
    let program = std::env::args().nth(2).unwrap_or_else(|| "target/release/rarely".to_owned());
    let server = std::env::var("RARELY_TEST_POSTGRES").expect("RARELY_TEST_POSTGRES names a server");
    let folder = tempfile::tempdir_in(".").expect("a folder on this disk");
    println!(
        "| store | replicas | chains | policies | connections | decisions per second | p50 ms | p99 ms | outcomes per second | pgbench, a row each, per second | decisions of that | \
         batches of as many, decisions per second | pgbench, as many rows at once, per second | batches of that |"
    );
    println!("|---|{}", "---:|".repeat(13));
    for policies in POLICIES {
        let service = Service::start(&program, &folder.path().join(format!("{policies}.db")), &[]);
        measure(&[service], (0, policies), None);
        // One policy is in one chain.
        for (replicas, chains) in SHAPES.into_iter().filter(|(_, chains)| *chains == 0 || policies > 1) {
            let database = format!("bench_{policies}_{replicas}_{chains}");
            sql(&server, "postgres", &format!("CREATE DATABASE {database}"));
            let store = format!("{server}/{database}");
            let services = start(&program, folder.path(), &store, replicas, chains);
            wait_until_shared_out(&store, replicas, chains);
            measure(&services, (chains, policies), Some((&server, folder.path())));
        }
    }
}

/// Replicas over one database.
fn start(program: &str, folder: &Path, store: &str, replicas: usize, chains: usize) -> Vec<Service> {
    let name = store.rsplit('/').next().unwrap_or_default();
    let [token, key] = ["token", "key"].map(|kind| folder.join(format!("{name}.{kind}")));
    let chains = chains.to_string();
    let more = ["--signing-key", key.to_str().expect("a path that is text"), "--lease", "4", "--chains", &chains];
    (0..replicas).map(|_| Service::start_on(program, OsStr::new(store), &token, &more)).collect()
}

/// Until every chain has an owner, and no replica owns two more than another.
fn wait_until_shared_out(store: &str, replicas: usize, chains: usize) {
    let shared_out = format!(
        "SELECT count(*) = {} AND sum(n) = {} AND max(n) - min(n) < 2 FROM \
         (SELECT count(*) AS n FROM rarely.leases WHERE expires > clock_timestamp() GROUP BY owner) AS each",
        replicas.min(chains + 1),
        chains + 1
    );
    while asked(store, &shared_out) != "t" {
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn measure(services: &[Service], (chains, policies): (usize, usize), database: Option<(&str, &Path)>) {
    let store = if database.is_some() { "PostgreSQL" } else { "SQLite" };
    let service = &services[0];
    for policy in 0..policies {
        service.register_as(&name(policy), FEATURES);
    }
    for connections in CONNECTIONS {
        let decided = decisions(services, policies, connections);
        let known = outcomes(services, policies, connections);
        for load in [&decided, &known] {
            assert_eq!(
                load.failed, 0,
                "every request is answered with 2xx; the first that was not: {}",
                load.first_failure
            );
        }
        let batched = batches(services, policies, connections);
        assert_eq!(
            batched.failed, 0,
            "every batch is answered with 2xx; the first that was not: {}",
            batched.first_failure
        );
        let batched = batched.rate() * connections as f64;
        let shares = database.map(|(server, folder)| {
            let [single, grouped] = [(connections, 1), (1, connections)].map(|shape| pgbench(server, folder, shape));
            [single, decided.rate() / single, batched, grouped, batched / grouped]
        });
        let shares = match shares {
            Some([single, share, batched, grouped, of_batches]) => {
                format!("{single:.0} | {share:.2} | {batched:.0} | {grouped:.0} | {of_batches:.2}")
            }
            None => format!(" | | {batched:.0} | |"),
        };
        println!(
            "| {store} | {} | {chains} | {policies} | {connections} | {:.0} | {:.2} | {:.2} | {:.0} | {shares} |",
            services.len(),
            decided.rate(),
            decided.percentile(0.5),
            decided.percentile(0.99),
            known.rate(),
        );
    }
}

fn name(policy: usize) -> String {
    format!("load-{policy}")
}

fn addresses(services: &[Service]) -> Vec<SocketAddr> {
    services.iter().map(|service| service.address).collect()
}

fn decisions(services: &[Service], policies: usize, connections: usize) -> Load {
    let token = services[0].token.clone();
    let request = move |connection: usize, at: usize| {
        let path = format!("/v1/policies/{}/decisions", name((connection + 7 * at) % policies));
        let body = format!("{{\"record\":{}}}", record(FEATURES, connection + 7 * at));
        post(&path, &token, kind(1), &body)
    };
    load(&addresses(services), connections, Duration::from_secs(SECONDS), request)
}

/// Each outcome is of a decision of its own, made beforehand.
fn outcomes(services: &[Service], policies: usize, connections: usize) -> Load {
    let (service, wanted) = (&services[0], if connections == 1 { 20_000 } else { 80_000 });
    let asked = policies.min(100);
    let ids: Vec<Vec<u64>> =
        (0..asked).map(|policy| service.decide_by(&name(policy), FEATURES, wanted / asked)).collect();
    let token = service.token.clone();
    // Which decision a connection has reached: those of a policy in turn, each of them once.
    let request = move |connection: usize, at: usize| {
        let place = connection + at * connections;
        let (policy, own) = (place % asked, place / asked);
        let decision = ids[policy][own % ids[policy].len()];
        let body = format!("{{\"decision\":{decision},\"outcome\":0.{}}}", decision % 1000);
        post(&format!("/v1/policies/{}/outcomes", name(policy)), &token, kind(1), &body)
    };
    load(&addresses(services), connections, Duration::from_secs(SECONDS), request)
}

/// One connection whose requests have many decisions each.
fn batches(services: &[Service], policies: usize, group: usize) -> Load {
    let token = services[0].token.clone();
    let request = move |connection: usize, at: usize| {
        let path = format!("/v1/policies/{}/decisions", name(7 * at % policies));
        let lines = (0..group).map(|row| format!("{{\"record\":{}}}", record(FEATURES, connection + 7 * at + row)));
        post(&path, &token, kind(2), &lines.collect::<Vec<_>>().join("\n"))
    };
    load(&addresses(services), 1, Duration::from_secs(SECONDS), request)
}

/// Rows per second that `pgbench` commits with so many connections and so many rows in each statement.
fn pgbench(server: &str, folder: &Path, (connections, rows): (usize, usize)) -> f64 {
    sql(server, "postgres", "CREATE TABLE IF NOT EXISTS yardstick(at bigserial PRIMARY KEY, event bytea NOT NULL)");
    let script = folder.join("insert.sql");
    let row = format!("('\\x{}')", "5a".repeat(EVENT_BYTES));
    let values = vec![row; rows].join(",");
    std::fs::write(&script, format!("INSERT INTO yardstick(event) VALUES {values};\n")).expect("written");
    let output = Command::new("pgbench")
        .args(["--no-vacuum", &format!("--client={connections}"), &format!("--time={SECONDS}"), "--file"])
        .arg(&script)
        .arg(format!("{server}/postgres"))
        .output()
        .expect("pgbench runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    rate.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))) * rows as f64
}

/// What a query answers, without a header.
fn asked(store: &str, query: &str) -> String {
    let output =
        Command::new("psql").args(["--quiet", "--tuples-only", "--no-align", "--command", query]).arg(store).output();
    let output = output.expect("psql runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn sql(server: &str, database: &str, statement: &str) {
    let done = Command::new("psql")
        .args(["--quiet", "--command", statement])
        .arg(format!("{server}/{database}"))
        .stderr(std::process::Stdio::null())
        .status();
    assert!(done.is_ok_and(|status| status.success()), "{statement}");
}

//! The service under load, beside what the disk can do and beside a small service in Python, in one run.
//!
//! `rarely-bench serve PROGRAM [YARDSTICK]`: the program is `rarely`; the yardstick the address of a service that answers
//! `POST /decide`.

mod client;
mod cluster;
mod disk;
mod service;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) use self::cluster::run as run_on_postgres;

use self::client::{Load, load};
use self::service::Service;

const SECONDS: u64 = 4;
const CONNECTIONS: [usize; 3] = [1, 64, 256];
const FEATURES: [usize; 2] = [5, 50];
const BATCH: usize = 100;
const LARGE_BATCH: usize = 1000;

pub(crate) fn run() {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let program = arguments.first().map_or("target/release/rarely", String::as_str);
    let yardstick: Option<SocketAddr> = arguments.get(1).map(|address| address.parse().expect("an address"));
    let folder = tempfile::tempdir_in(".").expect("a folder on this disk");
    if std::env::var_os("RARELY_BENCH_EVENTS").is_none() {
        under_load(program, folder.path(), yardstick);
    }
    restart(program, folder.path());
    restart_policies(program, folder.path());
}

fn under_load(program: &str, folder: &Path, yardstick: Option<SocketAddr>) {
    let service = Service::start(program, &folder.join("load.db"), &[]);
    for features in FEATURES {
        service.register(features);
    }
    let disk = disk::appends_a_second(folder, Duration::from_secs(SECONDS));
    println!("The disk's limit, append and fdatasync: {disk:.0} a second.\n");
    println!("| what | features | connections | per second | p50 ms | p99 ms |\n|---|---:|---:|---:|---:|---:|");
    let mut best = Load::default();
    let mut alone = 0.0;
    for features in FEATURES {
        for connections in CONNECTIONS {
            let load = decisions(&service, features, connections, 1);
            print_row("decisions", features, connections, &load, 1);
            if (features, connections) == (5, 256) {
                best = load;
            } else if (features, connections) == (5, 1) {
                alone = load.rate();
            }
        }
    }
    for features in FEATURES {
        for connections in CONNECTIONS {
            let load = decisions(&service, features, connections, BATCH);
            print_row("decisions, 100 at a time", features, connections, &load, BATCH);
        }
    }
    let (single, batches) = std::thread::scope(|scope| {
        let batches = scope.spawn(|| decisions(&service, 5, 4, LARGE_BATCH));
        (decisions(&service, 5, 1, 1), batches.join().expect("a load"))
    });
    print_row("decisions beside the next row", 5, 1, &single, 1);
    print_row("decisions, 1,000 at a time", 5, 4, &batches, LARGE_BATCH);
    for features in FEATURES {
        for connections in CONNECTIONS {
            let load = outcomes(&service, features, connections, 1);
            print_row("outcomes", features, connections, &load, 1);
        }
        let load = outcomes(&service, features, 64, BATCH);
        print_row("outcomes, 100 at a time", features, 64, &load, BATCH);
    }
    if let Some(address) = yardstick {
        for connections in CONNECTIONS {
            let body = |at: usize| format!("{{\"context\":[1.0,0.{},0.5,0.25,0.75]}}", at % 1000);
            let request = move |_, at| post("/decide", "", "application/json", &body(at));
            let load = load(&[address], connections, Duration::from_secs(SECONDS), request);
            print_row("the yardstick, in memory", 5, connections, &load, 1);
            if connections == 256 {
                let ratio = best.rate() / load.rate();
                println!(
                    "\nAt 256 connections: {ratio:.1} × the yardstick (target ≥ 10), p99 {:.1} ms beside its {:.1} ms.",
                    best.percentile(0.99),
                    load.percentile(0.99)
                );
            }
        }
    }
    let (memory, most) = service.megabytes();
    println!(
        "\nOne connection: {:.2} of the disk's limit (target ≥ 0.9). Memory: {memory} MB, at most {most} MB (target ≤ 512).",
        alone / disk
    );
    let verified = service.stop_and_verify(program);
    println!("`rarely audit verify` after all this: {verified}.");
}

fn decisions(service: &Service, features: usize, connections: usize, batch: usize) -> Load {
    let path = format!("/v1/policies/load-{features}/decisions");
    let token = service.token.clone();
    let request = move |connection: usize, at: usize| {
        let lines: Vec<String> =
            (0..batch).map(|line| format!("{{\"record\":{}}}", record(features, connection + 7 * at + line))).collect();
        post(&path, &token, kind(batch), &lines.join("\n"))
    };
    load(&[service.address], connections, Duration::from_secs(SECONDS), request)
}

/// Each outcome is of a decision of its own, made beforehand.
fn outcomes(service: &Service, features: usize, connections: usize, batch: usize) -> Load {
    let wanted = if batch == 1 { 120_000 } else { 400_000 };
    let ids = service.decide(features, wanted);
    let (path, token) = (format!("/v1/policies/load-{features}/outcomes"), service.token.clone());
    let share = ids.len() / connections;
    let request = move |connection: usize, at: usize| {
        let own = &ids[connection * share..(connection + 1) * share];
        let lines: Vec<String> = (0..batch)
            .map(|line| {
                let at = (at * batch + line) % own.len();
                format!("{{\"decision\":{},\"outcome\":0.{}}}", own[at], own[at] % 1000)
            })
            .collect();
        post(&path, &token, kind(batch), &lines.join("\n"))
    };
    load(&[service.address], connections, Duration::from_secs(SECONDS), request)
}

fn restart(program: &str, folder: &Path) {
    let events: usize =
        std::env::var("RARELY_BENCH_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let store = folder.join("restart.db");
    let service = Service::start(program, &store, &["--durability", "relaxed"]);
    service.register(5);
    service.decide(5, events);
    let (memory, _) = service.megabytes();
    service.stop();
    let began = Instant::now();
    let service = Service::start(program, &store, &[]);
    let with_snapshot = began.elapsed();
    service.stop();
    std::fs::remove_file(folder.join("restart.db.snapshot")).expect("a snapshot");
    let began = Instant::now();
    let service = Service::start(program, &store, &[]);
    let without = began.elapsed();
    service.stop();
    println!(
        "\nRestart with {events} events: {:.2} s with a snapshot (target ≤ 2), {:.1} s without; memory {memory} MB.",
        with_snapshot.as_secs_f64(),
        without.as_secs_f64()
    );
}

/// Many policies with a few outcomes each.
fn restart_policies(program: &str, folder: &Path) {
    let policies: usize =
        std::env::var("RARELY_BENCH_POLICIES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let store = folder.join("policies.db");
    let service = Service::start(program, &store, &["--durability", "relaxed"]);
    for number in 0..policies {
        service.register_as(&format!("policy {number}"), 5);
    }
    service.stop();
    let snapshot = folder.join("policies.db.snapshot");
    let written = snapshot.exists();
    let mut seconds = Vec::new();
    for keep in [true, false] {
        if !keep && written {
            std::fs::remove_file(&snapshot).expect("a snapshot");
        }
        let began = Instant::now();
        Service::start(program, &store, &[]).stop();
        seconds.push(began.elapsed().as_secs_f64());
    }
    let kind = if written { "with a snapshot" } else { "as it is (a snapshot would not help, and none was written)" };
    println!("\nRestart with {policies} policies: {:.2} s {kind}, {:.2} s without one.", seconds[0], seconds[1]);
}

fn print_row(what: &str, features: usize, connections: usize, load: &Load, batch: usize) {
    assert_eq!(
        load.failed, 0,
        "{what}: every request is answered with 2xx; the first that was not: {}",
        load.first_failure
    );
    println!(
        "| {what} | {features} | {connections} | {:.0} | {:.2} | {:.2} |",
        load.rate() * batch as f64,
        load.percentile(0.5),
        load.percentile(0.99)
    );
}

/// A person with this many features, each with its own number.
fn record(features: usize, person: usize) -> String {
    let mut text = String::from("{");
    for feature in 0..features {
        let comma = if feature == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\"x{feature}\":0.{:03}", (person * 31 + feature * 17) % 1000);
    }
    text + "}"
}

fn kind(batch: usize) -> &'static str {
    if batch == 1 { "application/json" } else { "application/x-ndjson" }
}

fn post(path: &str, token: &str, kind: &str, body: &str) -> Vec<u8> {
    let authorization = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

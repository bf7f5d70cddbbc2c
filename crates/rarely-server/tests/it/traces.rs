//! Spans of requests, sent to a collector of the test's own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use rarely_server::{ServiceSettings, TraceOptions, Traces};
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document};

/// A request that the collector got: its head and its body.
type Taken = (String, Json);

/// A collector on a loopback port, which answers with a status.
fn collector(status: u16) -> (String, Receiver<Taken>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (send, receive) = channel();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let send = send.clone();
            std::thread::spawn(move || drop(answer(&stream, status, &send)));
        }
    });
    (address, receive)
}

fn answer(stream: &TcpStream, status: u16, send: &Sender<Taken>) -> std::io::Result<()> {
    let (mut reader, mut out) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        drop(send.send((head, serde_json::from_slice(&body).expect("JSON"))));
        write!(out, "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}")?;
    }
}

/// A service whose spans go to an address.
fn traced(endpoint: &str, every: Duration) -> (Service, Arc<Traces>) {
    let headers = vec![("x-key".to_owned(), "secret of the collector".to_owned())];
    let options = TraceOptions { headers, every, ..TraceOptions::new(endpoint.to_owned()) };
    let traces = Arc::new(Traces::start(options, "0.0.0").expect("a thread"));
    let settings = ServiceSettings { traces: Some(traces.clone()), ..ServiceSettings::plain("0.0.0") };
    (Service::with(settings), traces)
}

async fn decide(service: &Service, parent: Option<&str>) {
    let request = Request::post("/v1/policies/clinic/decisions")
        .header("authorization", format!("Bearer {}", service.admin))
        .header("content-type", "application/json");
    let request = parent.iter().fold(request, |request, parent| request.header("traceparent", *parent));
    let body = json!({ "record": { "age": 44.5, "smoker": "no" } }).to_string();
    service.send(request.body(Body::from(body)).expect("a request")).await.is(200);
}

/// The spans of the next batches, until there are so many.
fn spans(taken: &Receiver<Taken>, count: usize) -> Vec<Json> {
    let mut all = Vec::new();
    while all.len() < count {
        let (head, body) = taken.recv_timeout(Duration::from_secs(20)).expect("a batch");
        assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
        assert!(head.to_lowercase().contains("x-key: secret of the collector"), "{head}");
        let resource = &body["resourceSpans"][0];
        assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "rarely", "{body}");
        all.extend(resource["scopeSpans"][0]["spans"].as_array().expect("spans").iter().cloned());
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_is_a_span_without_what_it_is_about() {
    let (address, taken) = collector(200);
    let (service, _traces) = traced(&address, Duration::from_millis(200));
    service.register(&document("clinic", BY_HAND)).await;
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    decide(&service, Some(parent)).await;
    decide(&service, None).await;
    decide(&service, Some("nonsense")).await;
    decide(&service, Some(&parent.replace("-01", "-00"))).await;
    let spans = spans(&taken, 4);
    assert_eq!(spans.len(), 4, "one caller records no trace: {spans:?}");
    let decisions: Vec<&Json> =
        spans.iter().filter(|span| span["name"] == "POST /v1/policies/{name}/decisions").collect();
    assert_eq!(decisions.len(), 3, "{spans:?}");
    let below = &decisions[0];
    assert_eq!(below["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!((&below["parentSpanId"], &below["kind"]), (&"00f067aa0ba902b7".into(), &2.into()));
    let of = |span: &Json, key: &str| {
        let found = span["attributes"].as_array().expect("attributes").iter().find(|one| one["key"] == key);
        found.map(|one| one["value"].clone())
    };
    assert_eq!(of(below, "http.response.status_code"), Some(json!({ "intValue": "200" })));
    assert_eq!(of(below, "http.route"), Some(json!({ "stringValue": "/v1/policies/{name}/decisions" })));
    for new in &decisions[1..] {
        assert_eq!((new["traceId"].as_str().map(str::len), new["spanId"].as_str().map(str::len)), (Some(32), Some(16)));
        assert!(new["parentSpanId"].is_null() && new["traceId"] != below["traceId"], "{new}");
    }
    let nanos = |name: &str| below[name].as_str().and_then(|text| text.parse::<u128>().ok()).expect("a time");
    assert!(nanos("startTimeUnixNano") < nanos("endTimeUnixNano"));
    let all = serde_json::to_string(&spans).expect("text");
    for hidden in ["44.5", "smoker", "clinic", service.admin.as_str()] {
        assert!(!all.contains(hidden), "{hidden}: {all}");
    }
    // They are counted when the collector has answered; the requests that ask are spans too.
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let text = service.get(&service.admin, "/metrics").await.text();
        if text.lines().any(|line| line.starts_with("rarely_spans_delivered_total ") && !line.ends_with(" 0")) {
            assert!(text.contains("rarely_spans_dropped_total 0"), "{text}");
            break;
        }
        assert!(Instant::now() < until, "{text}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_or_fails_holds_nobody_up() {
    // Nobody accepts at the first address, and the second takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let (failing, _taken) = collector(503);
    let silent_address = format!("http://{}", silent.local_addr().expect("an address"));
    for address in [format!("http://{closed}"), silent_address, failing] {
        let (service, traces) = traced(&address, Duration::from_millis(10));
        service.register(&document("clinic", BY_HAND)).await;
        let started = Instant::now();
        for _ in 0..20 {
            decide(&service, None).await;
        }
        assert!(started.elapsed() < Duration::from_secs(4), "{address}: {:?}", started.elapsed());
        service.finish();
        let begun = Instant::now();
        drop(traces);
        assert!(begun.elapsed() < Duration::from_secs(12), "{address}: the end waits for two answers at most");
    }
}

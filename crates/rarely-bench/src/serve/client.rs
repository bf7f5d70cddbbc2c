//! Connections that each send one request after another, and how long each response took.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The result of a load.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Of each response, ascending.
    latencies_ms: Vec<f64>,
    seconds: f64,
    /// Responses other than 2xx.
    pub(crate) failed: usize,
    /// The first of them.
    pub(crate) first_failure: String,
}

impl Load {
    pub(crate) fn rate(&self) -> f64 {
        self.latencies_ms.len() as f64 / self.seconds
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let at = (share * self.latencies_ms.len() as f64) as usize;
        self.latencies_ms.get(at.min(self.latencies_ms.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }
}

/// Opens a number of connections for a time, to the addresses in turn; `request` gives the bytes of a connection's next request.
pub(crate) fn load(
    addresses: &[SocketAddr],
    connections: usize,
    time: Duration,
    request: impl Fn(usize, usize) -> Vec<u8> + 'static,
) -> Load {
    // One thread: the other core is the service's.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let began = Instant::now();
    let (local, request) = (tokio::task::LocalSet::new(), Rc::new(request));
    let mut load = local.block_on(&runtime, async {
        let deadline = began + time;
        let all = (0..connections)
            .map(|connection| one(addresses[connection % addresses.len()], connection, deadline, request.clone()));
        let all: Vec<_> = all.map(tokio::task::spawn_local).collect();
        let mut load = Load::default();
        for part in all {
            let part = part.await.expect("a connection that went well");
            load.latencies_ms.extend(part.latencies_ms);
            load.failed += part.failed;
            if load.first_failure.is_empty() {
                load.first_failure = part.first_failure;
            }
        }
        load
    });
    load.seconds = began.elapsed().as_secs_f64();
    load.latencies_ms.sort_by(f64::total_cmp);
    load
}

async fn one(
    address: SocketAddr,
    connection: usize,
    deadline: Instant,
    request: Rc<impl Fn(usize, usize) -> Vec<u8>>,
) -> Load {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let (mut load, mut buffer, mut at) = (Load::default(), Vec::new(), 0);
    while Instant::now() < deadline {
        let bytes = request(connection, at);
        at += 1;
        let sent = Instant::now();
        stream.write_all(&bytes).await.expect("sent");
        let status = answer(&mut stream, &mut buffer).await;
        load.latencies_ms.push(sent.elapsed().as_secs_f64() * 1e3);
        if !(200..300).contains(&status) {
            load.failed += 1;
            if load.first_failure.is_empty() {
                load.first_failure = String::from_utf8_lossy(&buffer).into_owned();
            }
        }
    }
    load
}

/// Reads one response with a content length.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> u16 {
    buffer.clear();
    let mut end = None;
    loop {
        if let Some(end) = end {
            if buffer.len() >= end {
                break;
            }
        } else if let Some(head) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length:")).map(str::trim);
            let length: usize = length.and_then(|length| length.parse().ok()).expect("an answer says its length");
            end = Some(head + 4 + length);
            continue;
        }
        assert!(
            stream.read_buf(buffer).await.expect("read") > 0,
            "the service hung up: {}",
            String::from_utf8_lossy(buffer)
        );
    }
    String::from_utf8_lossy(&buffer[9..12]).parse().expect("a status")
}

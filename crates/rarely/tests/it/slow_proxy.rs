//! A proxy in front of a server: bytes pass at once, late, or not until further notice.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

/// Passes connections on to a server. It takes no new ones once it is dropped.
pub(crate) struct SlowProxy {
    pub(crate) host: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// By how much every piece of bytes is late.
    delay_ms: AtomicU64,
    stalled: AtomicBool,
    ended: AtomicBool,
}

impl SlowProxy {
    pub(crate) fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (host, server) = (listener.local_addr().expect("its number").to_string(), server.to_owned());
        let shared: Arc<Shared> = Arc::default();
        let used = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if used.ended.load(Ordering::SeqCst) {
                    return;
                }
                // If the server is away, so is the connection.
                let Ok(server) = TcpStream::connect(&server) else { continue };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("an option");
                }
                let (from, to) = (client.try_clone().expect("a stream"), server.try_clone().expect("a stream"));
                let (there, back) = (used.clone(), used.clone());
                thread::spawn(move || pass(from, to, &there));
                thread::spawn(move || pass(server, client, &back));
            }
        });
        Self { host, shared }
    }

    /// From now on every piece of bytes is late by so much, both ways.
    pub(crate) fn delay(&self, by: Duration) {
        self.shared.delay_ms.store(u64::try_from(by.as_millis()).expect("not long"), Ordering::SeqCst);
    }

    /// Whether bytes wait. Nothing is lost, and no connection ends.
    pub(crate) fn stall(&self, stalled: bool) {
        self.shared.stalled.store(stalled, Ordering::SeqCst);
    }
}

impl Drop for SlowProxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.stall(false);
        // The thread waits for a connection.
        drop(TcpStream::connect(&self.host));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        sleep(Duration::from_millis(shared.delay_ms.load(Ordering::SeqCst)));
        while shared.stalled.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(5));
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // Whoever waits at the other end learns that this one is gone.
    drop(to.shutdown(Shutdown::Both));
    drop(from.shutdown(Shutdown::Both));
}

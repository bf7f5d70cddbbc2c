//! The door of the service: how many connections there may be, and how long one may be silent.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum_server::accept::Accept;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::client_address::{is_trusted, network};
use crate::limits::{CONNECTIONS, HEAD_SECONDS, IDLE_SECONDS, RESERVED_FILES};
use crate::network_settings::SharedNetworkSettings;

/// A connection must have sent this much in its first seconds. It is the length of the preface by which HTTP/2 is told from HTTP/1;
/// after it the server's own limits hold.
const FIRST_BYTES: usize = 24;
/// The least time between two lines about refused connections.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Who may connect: one for the whole service.
#[derive(Debug)]
pub(crate) struct Door {
    most: usize,
    most_per_network: usize,
    network: SharedNetworkSettings,
    seats: Mutex<Seats>,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct Seats {
    taken: usize,
    by_network: HashMap<IpNet, usize>,
    /// When refused connections were last reported, and how many there were then.
    told: Option<(Instant, u64)>,
}

/// The place of one connection; dropping it frees the place.
#[derive(Debug)]
struct Seat {
    door: Arc<Door>,
    network: IpNet,
}

impl Door {
    /// Raises the process's limit of open files as far as the system allows, and admits as many connections as that leaves room for.
    /// One address gets at most half of them; a trusted proxy gets all.
    pub(crate) fn open(network: SharedNetworkSettings) -> Self {
        let files = open_files();
        let most = files.map_or(CONNECTIONS, |files| files.saturating_sub(RESERVED_FILES).clamp(16, CONNECTIONS));
        if most < CONNECTIONS {
            tracing::warn!(
                "the system allows {} open files, so that at most {most} connections are served at a time; raise it with `ulimit -n`",
                files.unwrap_or_default()
            );
        }
        Self::with_limits(most, most / 2, network)
    }

    fn with_limits(most: usize, most_per_network: usize, network: SharedNetworkSettings) -> Self {
        Self { most, most_per_network, network, seats: Mutex::default(), refused: AtomicU64::new(0) }
    }

    /// Connections that are open, and how many were refused.
    pub(crate) fn counts(&self) -> (usize, u64) {
        (self.seats.lock().unwrap_or_else(PoisonError::into_inner).taken, self.refused.load(Ordering::Relaxed))
    }

    /// A seat for a connection from this address, if there is one.
    fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let network = network(address);
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let trusted = is_trusted(&address, &self.network.get().trusted_proxies);
        let own = seats.by_network.get(&network).copied().unwrap_or(0);
        if seats.taken < self.most && (trusted || own < self.most_per_network) {
            seats.taken += 1;
            *seats.by_network.entry(network).or_default() += 1;
            return Some(Seat { door: self.clone(), network });
        }
        let refused = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
        let (last, before) = seats.told.map_or((None, 0), |(at, refused)| (Some(at), refused));
        if last.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
            seats.told = Some((Instant::now(), refused));
            let (new, taken) = (refused - before, seats.taken);
            tracing::warn!(
                "{new} connections refused, the last from {address}: {taken} of {} are open, {own} of {} from there",
                self.most,
                self.most_per_network
            );
        }
        None
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.door.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.taken -= 1;
        if let Some(own) = seats.by_network.get_mut(&self.network) {
            *own -= 1;
            if *own == 0 {
                seats.by_network.remove(&self.network);
            }
        }
    }
}

/// Lets connections in by the [`Door`], and watches them.
#[derive(Debug, Clone)]
pub(crate) struct Doorkeeper(pub(crate) Arc<Door>);

impl<S> Accept<TcpStream, S> for Doorkeeper {
    type Stream = WatchedStream;
    type Service = S;
    type Future = std::future::Ready<io::Result<(WatchedStream, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let admitted = || {
            let seat = self.0.admit(stream.peer_addr()?.ip()).ok_or(io::ErrorKind::ConnectionRefused)?;
            stream.set_nodelay(true)?;
            Ok(seat)
        };
        std::future::ready(admitted().map(|seat| (WatchedStream::new(stream, seat), service)))
    }
}

/// A connection that ends if its first bytes do not come soon, or if nothing moves on it for long.
pub(crate) struct WatchedStream {
    stream: TcpStream,
    _seat: Seat,
    read: usize,
    last_moved: Instant,
    deadline: Pin<Box<Sleep>>,
}

impl WatchedStream {
    fn new(stream: TcpStream, seat: Seat) -> Self {
        let now = Instant::now();
        let deadline = Box::pin(sleep_until(now + Duration::from_secs(HEAD_SECONDS)));
        Self { stream, _seat: seat, read: 0, last_moved: now, deadline }
    }

    /// Nothing can be read or written now: an error once that has lasted too long.
    fn still(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            ready!(self.deadline.as_mut().poll(context));
            // The deadline is not moved with every byte; most connections end before it.
            let until = self.last_moved + Duration::from_secs(IDLE_SECONDS);
            if self.read < FIRST_BYTES || until <= Instant::now() {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.deadline.as_mut().reset(until);
        }
    }

    /// The result of a write, watched.
    fn wrote(&mut self, context: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Pending => self.still(context).map(Err),
            Poll::Ready(wrote) => {
                // Whoever got an answer has sent a request, however short.
                self.read = FIRST_BYTES;
                self.last_moved = Instant::now();
                Poll::Ready(wrote)
            }
        }
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => self.still(context).map(Err),
            Poll::Ready(read) => {
                self.read = self.read.saturating_add(buffer.filled().len() - before);
                self.last_moved = Instant::now();
                Poll::Ready(read)
            }
        }
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.wrote(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// How many files this process may have open, after raising the limit as far as it goes.
#[cfg(unix)]
fn open_files() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // It may be refused; then the present limit holds.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok())
}

/// How many files this process may have open, where the system has no such limit.
#[cfg(not(unix))]
fn open_files() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network_settings::NetworkSettings;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn one_address_cannot_take_every_seat() {
        let trusted_proxies = vec!["10.0.0.9/32".parse().expect("a network")];
        let network = NetworkSettings { trusted_proxies, ..NetworkSettings::default() };
        let door = Arc::new(Door::with_limits(6, 3, network.into()));
        let held: Vec<Option<Seat>> = (0..5).map(|_| door.admit(address(1))).collect();
        assert_eq!(held.iter().flatten().count(), 3);
        let proxied: Vec<Option<Seat>> = (0..5).map(|_| door.admit(address(9))).collect();
        assert_eq!(proxied.iter().flatten().count(), 3, "a trusted proxy gets all that are left");
        assert!(door.admit(address(2)).is_none(), "six are taken");
        assert_eq!(door.counts(), (6, 5));
        drop(held);
        assert!(door.admit(address(2)).is_some());
        assert_eq!(door.counts().0, 3);
    }

    #[test]
    fn addresses_of_one_network_count_together() {
        let door = Arc::new(Door::with_limits(6, 1, SharedNetworkSettings::default()));
        let first = door.admit("2001:db8::1".parse().expect("an address"));
        assert!(first.is_some());
        assert!(door.admit("2001:db8::2".parse().expect("an address")).is_none());
        assert!(door.admit("2001:db8:0:1::2".parse().expect("an address")).is_some());
    }
}

//! The id of a request, by which a line of the log, a response and a proxy's log belong together.

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that has the id, in requests of trusted proxies and in every response.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 64;

/// The id of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(String);

impl RequestId {
    /// A new one: different for every request of this process, and for most of other processes.
    pub(crate) fn new() -> Self {
        static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
            let mut start = [0; 8];
            // Without random numbers ids of two processes may be equal, which is no harm.
            let _ = getrandom::fill(&mut start);
            AtomicU64::new(u64::from_be_bytes(start))
        });
        // An odd step visits every number before it comes back.
        Self(format!("{:016x}", NEXT.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)))
    }

    /// The one that a request has, if it is plain.
    pub(crate) fn told(headers: &HeaderMap) -> Option<Self> {
        Self::parse(headers.get(X_REQUEST_ID)?.to_str().ok()?)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let fits = !text.is_empty() && text.len() <= LONGEST && text.bytes().all(plain);
        fits.then(|| Self(text.to_owned()))
    }

    pub(crate) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

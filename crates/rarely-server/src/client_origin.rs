//! How a request reached the service: from which address, by which scheme, and below which path; also through proxies.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, header};
use ipnet::IpNet;

use crate::base_path::BasePath;
use crate::client_address::{forwarded, is_trusted};
use crate::request_id::RequestId;

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// How a request reached the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientOrigin {
    /// Where it comes from.
    pub(crate) address: IpAddr,
    /// Whether the client used TLS.
    pub(crate) https: bool,
    /// The path below which the client sees the service.
    pub(crate) base_path: Arc<BasePath>,
    /// The id of the request.
    pub(crate) request_id: RequestId,
}

impl ClientOrigin {
    /// What the connection says, or, if a trusted proxy holds it, what the proxy says. Without a connection all clients count as the
    /// same. `secure` and `base_path` are what holds if no proxy says otherwise.
    pub(crate) fn of(
        extensions: &Extensions,
        headers: &HeaderMap,
        trusted: &[IpNet],
        secure: bool,
        base_path: &Arc<BasePath>,
    ) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
        let peer = peer.unwrap_or(IpAddr::from([0, 0, 0, 0])).to_canonical();
        if !is_trusted(&peer, trusted) {
            return Self { address: peer, https: secure, base_path: base_path.clone(), request_id: RequestId::new() };
        }
        let prefix = headers.get(X_FORWARDED_PREFIX).and_then(|prefix| prefix.to_str().ok());
        let prefix = prefix.and_then(|prefix| BasePath::parse(prefix).ok()).map(Arc::new);
        Self {
            address: forwarded(peer, headers, trusted),
            https: secure || by_tls(headers),
            base_path: prefix.unwrap_or_else(|| base_path.clone()),
            request_id: RequestId::told(headers).unwrap_or_else(RequestId::new),
        }
    }

    /// A request that a replica makes itself.
    pub(crate) fn replica() -> Self {
        let address = IpAddr::from([0, 0, 0, 0]);
        Self { address, https: true, base_path: Arc::default(), request_id: RequestId::new() }
    }

    /// As another replica is told: without spaces inside its parts.
    pub(crate) fn in_header(&self, secret: &str) -> Option<HeaderValue> {
        let scheme = if self.https { "https" } else { "http" };
        let text = format!("{secret} {} {scheme} {} {}", self.address, self.request_id, self.base_path.as_str());
        let mut value = HeaderValue::from_str(text.trim_end()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// What another replica told. Returns also its secret.
    pub(crate) fn from_header(value: &HeaderValue) -> Option<(&str, Self)> {
        let mut parts = value.to_str().ok()?.split(' ');
        let (secret, address) = (parts.next()?, parts.next()?.parse().ok()?);
        let https = parts.next() == Some("https");
        let request_id = parts.next().and_then(RequestId::parse).unwrap_or_else(RequestId::new);
        let base_path = BasePath::parse(parts.next().unwrap_or_default()).ok()?;
        Some((secret, Self { address, https, base_path: Arc::new(base_path), request_id }))
    }
}

/// Whether a proxy says that the client used TLS. If two headers differ, neither is believed.
fn by_tls(headers: &HeaderMap) -> bool {
    let first = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()?.split(',').next());
    let by_list = first(X_FORWARDED_PROTO).map(|scheme| scheme.trim().eq_ignore_ascii_case("https"));
    let by_standard = first(header::FORWARDED).and_then(|part| {
        let mut pairs = part.split(';').filter_map(|pair| pair.trim().split_once('='));
        let (_, scheme) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("proto"))?;
        Some(scheme.trim().trim_matches('"').eq_ignore_ascii_case("https"))
    });
    match (by_list, by_standard) {
        (Some(one), Some(other)) => one && other,
        (one, other) => one.or(other).unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, headers: &[(&'static str, &'static str)]) -> ClientOrigin {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().expect("an address"), 7)));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let trusted = ["10.0.0.0/8".parse().expect("a network")];
        ClientOrigin::of(&extensions, &map, &trusted, false, &Arc::default())
    }

    #[test]
    fn a_proxy_tells_scheme_and_path() {
        let told = [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-prefix", "/rarely/"),
            ("x-forwarded-for", "192.0.2.1"),
            ("x-request-id", "abc-1"),
        ];
        let origin = seen("10.0.0.1", &told);
        assert_eq!(origin.request_id.to_string(), "abc-1");
        assert_eq!((origin.https, origin.base_path.as_str()), (true, "/rarely"));
        assert_eq!(origin.address.to_string(), "192.0.2.1");
        let stranger = seen("192.0.2.9", &told);
        assert_eq!((stranger.https, stranger.base_path.as_str()), (false, ""), "not a proxy of ours");
        assert_ne!(stranger.request_id.to_string(), "abc-1");
        assert!(seen("10.0.0.1", &[("forwarded", "for=192.0.2.60;proto=https")]).https);
        assert!(!seen("10.0.0.1", &[("x-forwarded-proto", "http")]).https);
        assert!(!seen("10.0.0.1", &[("forwarded", "proto=http"), ("x-forwarded-proto", "https")]).https, "they differ");
        let forged = seen("10.0.0.1", &[("x-forwarded-prefix", "//elsewhere.org")]);
        assert_eq!(forged.base_path.as_str(), "", "not a path of this site");
    }

    #[test]
    fn replicas_tell_each_other_what_they_know() {
        for path in ["", "/rarely"] {
            let base_path = Arc::new(BasePath::parse(path).expect("a path"));
            let origin = ClientOrigin {
                address: IpAddr::from([192, 0, 2, 1]),
                https: true,
                base_path,
                request_id: RequestId::new(),
            };
            let header = origin.in_header("secret").expect("a header");
            assert_eq!(ClientOrigin::from_header(&header), Some(("secret", origin)));
        }
        // As replicas of the version before this one say it.
        let (_, origin) = ClientOrigin::from_header(&HeaderValue::from_static("secret 192.0.2.1")).expect("an origin");
        assert_eq!((origin.https, origin.base_path.as_str()), (false, ""));
    }
}

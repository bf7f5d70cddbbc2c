//! Where a request comes from, also through proxies.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The network that counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that a provider gives to one customer.
pub(crate) fn network(address: IpAddr) -> IpNet {
    let address = address.to_canonical();
    let bits = if address.is_ipv4() { 32 } else { 64 };
    IpNet::new_assert(address, bits).trunc()
}

/// Whether an address is a trusted proxy's.
pub(crate) fn is_trusted(address: &IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(address))
}

/// The address that a request comes from: that of the connection, or, if a trusted proxy holds it, the one that the proxy names. Each
/// proxy appends the address it got the request from, so the last address that no trusted proxy has is the client's.
pub(crate) fn forwarded(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| is_trusted(address, trusted);
    if !is_trusted(&peer) {
        return peer;
    }
    let client = |addresses: Option<Vec<IpAddr>>| {
        let addresses = addresses?;
        addresses.iter().rev().find(|address| !is_trusted(address)).or(addresses.first()).copied()
    };
    let by_list = headers.contains_key(X_FORWARDED_FOR).then(|| client(x_forwarded_for(headers)));
    let by_standard = headers.contains_key(header::FORWARDED).then(|| client(standard(headers)));
    match (by_list, by_standard) {
        (Some(Some(one)), None) | (None, Some(Some(one))) => one,
        // A proxy writes one of the two, and may pass on the other as the client sent it: believed only if they agree.
        (Some(Some(one)), Some(Some(other))) if one == other => one,
        _ => peer,
    }
}

/// The addresses in all headers of a name, split at commas.
fn parts(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = Option<&str>> {
    let lines = headers.get_all(name).into_iter().map(|line| line.to_str().ok());
    lines.flat_map(|line| {
        let found: Vec<Option<&str>> = line.map_or_else(|| vec![None], |line| line.split(',').map(Some).collect());
        found
    })
}

fn x_forwarded_for(headers: &HeaderMap) -> Option<Vec<IpAddr>> {
    parts(headers, X_FORWARDED_FOR).map(|part| address(part?.trim())).collect()
}

/// RFC 7239: `for=192.0.2.60;proto=http, for="[2001:db8::1]:4711"`.
fn standard(headers: &HeaderMap) -> Option<Vec<IpAddr>> {
    let by_part = parts(headers, header::FORWARDED).map(|part| {
        let mut pairs = part?.split(';').filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
        address(value.trim().trim_matches('"'))
    });
    by_part.collect()
}

/// An address with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.split_once(']')).map_or(text, |(address, _)| address);
    let plain = bare.parse().or_else(|_| text.parse::<SocketAddr>().map(|with_port| with_port.ip()));
    plain.ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn seen(peer: &str, headers: &[(&'static str, &'static str)]) -> String {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "::1/128"].map(|network| network.parse().expect("a network")).into();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        forwarded(peer.parse().expect("an address"), &map, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let list = ("x-forwarded-for", "203.0.113.7, 10.1.2.3");
        assert_eq!(seen("198.51.100.1", &[list]), "198.51.100.1", "not a proxy of ours");
        assert_eq!(seen("10.0.0.1", &[list]), "203.0.113.7");
        assert_eq!(
            seen("10.0.0.1", &[("x-forwarded-for", "1.2.3.4, 203.0.113.7")]),
            "203.0.113.7",
            "1.2.3.4 is made up"
        );
        assert_eq!(seen("10.0.0.1", &[("x-forwarded-for", "1.2.3.4"), list]), "203.0.113.7", "two lines are one list");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &[("x-forwarded-for", "203.0.113.7, what")]), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &[("x-forwarded-for", "10.9.9.9, 10.1.2.3")]), "10.9.9.9", "a client inside");
    }

    #[test]
    fn the_standard_header_is_read_too() {
        assert_eq!(seen("::1", &[("forwarded", "for=192.0.2.60;proto=http;by=203.0.113.43")]), "192.0.2.60");
        assert_eq!(seen("::1", &[("forwarded", "proto=http; For=\"[2001:db8:cafe::17]:4711\"")]), "2001:db8:cafe::17");
        assert_eq!(seen("::1", &[("forwarded", "for=192.0.2.60:80, for=10.0.0.5")]), "192.0.2.60");
        assert_eq!(seen("::1", &[("forwarded", "for=unknown")]), "::1");
        let both = [("forwarded", "for=192.0.2.60"), ("x-forwarded-for", "192.0.2.61")];
        assert_eq!(seen("::1", &both), "::1", "one of the two is made up");
    }
}

//! Which chain a request is about: that of the policy in its path, or the one that its path names, or the service's own.

use axum::http::{Method, Uri};

use super::chains::SERVICE;
use super::links::ASKED_AT;
use crate::base_path::BasePath;

/// Before the paths of one chain: what is below is its log alone.
const CHAINS: &str = "/chains/";
/// Paths that go on with the name of a policy.
const POLICIES: [&str; 3] = ["/v1/policies/", "/policies/", "/ofrep/v1/evaluate/flags/"];

/// What a request is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The service itself.
    Service,
    /// The policy with this name.
    Policy(String),
    /// The log of this chain. Its path is below that of the chain.
    Chain { number: u64, below: String },
    /// Another replica asks the owner of this chain.
    Asked(u64),
    /// Nothing: below the path of a chain there is only its log.
    Nothing,
}

impl Target {
    /// What a request is about whose path may begin with a base path.
    pub(super) fn of(method: &Method, uri: &Uri, base_path: &BasePath) -> Self {
        let shortened = base_path.taken_off(uri);
        let path = shortened.as_ref().unwrap_or(uri).path();
        if let Some(number) = path.strip_prefix(ASKED_AT) {
            return number.parse().map_or(Self::Nothing, Self::Asked);
        }
        if let Some(rest) = path.strip_prefix(CHAINS) {
            let (number, below) = rest.split_once('/').unwrap_or((rest, ""));
            let Ok(number) = number.parse() else { return Self::Nothing };
            // What is done to the service is done in its own chain.
            let allowed = method.is_safe() || number == SERVICE || policy(&format!("/{below}")).is_some();
            return if allowed { Self::Chain { number, below: format!("/{below}") } } else { Self::Nothing };
        }
        policy(path).map_or(Self::Service, Self::Policy)
    }
}

/// The name of the policy in a path.
fn policy(path: &str) -> Option<String> {
    let rest = POLICIES.iter().find_map(|known| path.strip_prefix(known))?;
    let name = rest.split('/').next().filter(|name| !name.is_empty())?;
    percent_encoding::percent_decode_str(name).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: &Method, path: &str) -> Target {
        let base_path = BasePath::parse("/base").expect("a path");
        Target::of(method, &path.parse().expect("an address"), &base_path)
    }

    #[test]
    fn the_path_says_what_a_request_is_about() {
        let get = |path: &str| target(&Method::GET, path);
        let named = |name: &str| Target::Policy(name.to_owned());
        assert_eq!(get("/v1/policies/drug%20A/decisions/7"), named("drug A"));
        assert_eq!(get("/base/policies/x?done=registered"), named("x"));
        assert_eq!(get("/ofrep/v1/evaluate/flags/x"), named("x"));
        assert_eq!(get("/replica/chains/2"), Target::Asked(2));
        for path in ["/", "/v1/policies", "/v1/policies/", "/v1/tokens", "/policies", "/v1/events"] {
            assert_eq!(get(path), Target::Service, "{path}");
        }
        for path in ["/chains/x/v1/events", "/chains/", "/replica/chains/one"] {
            assert_eq!(get(path), Target::Nothing, "{path}");
        }
    }

    #[test]
    fn below_a_chain_there_is_its_log() {
        let below = |path: &str| Target::Chain { number: 2, below: path.to_owned() };
        assert_eq!(target(&Method::GET, "/chains/2/v1/events?after=3"), below("/v1/events"));
        assert_eq!(target(&Method::GET, "/base/chains/2"), below("/"));
        assert_eq!(target(&Method::POST, "/chains/2/policies/x/stop"), below("/policies/x/stop"));
        assert_eq!(target(&Method::POST, "/chains/2/v1/tokens"), Target::Nothing);
        assert!(matches!(target(&Method::POST, "/chains/0/v1/tokens"), Target::Chain { number: 0, .. }));
    }
}

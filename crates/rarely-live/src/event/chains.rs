//! Events by which several chains are one log: acts of the service in the chains of policies, and ends of these chains in the service's own.

use rarely_store::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Event, EventError};

/// An act of the service, copied from the service's own chain: from here on it holds for the policies of this chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredAct", into = "StoredAct")]
pub struct Followed {
    /// Its number in the service's own chain.
    pub number: u64,
    /// Its hash there.
    pub hash: Hash,
    /// Its time there.
    pub time_ms: u64,
    /// Who did it.
    pub actor: String,
    /// What was done.
    pub act: Event,
}

/// [`Followed`], as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredAct {
    number: u64,
    hash: String,
    time_ms: u64,
    actor: String,
    kind: String,
    act: Json,
}

impl TryFrom<StoredAct> for Followed {
    type Error = String;

    fn try_from(stored: StoredAct) -> Result<Self, String> {
        let StoredAct { number, hash, time_ms, actor, kind, act } = stored;
        let hash = hash.parse().map_err(|_| "the hash of the act is no hash".to_owned())?;
        let act = Event::parse(&kind, &act.to_string()).map_err(|error: EventError| error.to_string())?;
        if act.is_act_for_all_chains() {
            Ok(Self { number, hash, time_ms, actor, act })
        } else {
            Err(format!("{kind:?} is no act of the service for all chains"))
        }
    }
}

impl From<Followed> for StoredAct {
    fn from(followed: Followed) -> Self {
        let Followed { number, hash, time_ms, actor, act } = followed;
        let (hash, kind) = (hash.to_string(), act.kind().to_owned());
        Self { number, hash, time_ms, actor, kind, act: serde_json::from_str(&act.body()).unwrap_or_default() }
    }
}

/// How far other chains had come: the root of each tree as its last checkpoint has it. A checkpoint of the service's own chain so covers
/// them all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The chains that have grown since the last such event.
    pub chains: Vec<CoveredChain>,
}

/// The end of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredChain {
    /// Its number.
    pub chain: u64,
    /// How many events it had.
    pub size: u64,
    /// The root of their Merkle tree.
    pub root: String,
}

impl Event {
    /// Whether it is an act of the service that holds in every chain: who may do what, and with which keys people sign.
    pub fn is_act_for_all_chains(&self) -> bool {
        matches!(
            self,
            Self::TokenCreated(_) | Self::TokenRevoked(_) | Self::PersonKeyRegistered(_) | Self::PersonKeyRevoked(_)
        )
    }

    /// The kinds of such acts.
    pub(crate) const KINDS_FOR_ALL_CHAINS: [&'static str; 4] =
        ["token created", "token revoked", "person key registered", "person key revoked"];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TokenRevoked;

    #[test]
    fn an_act_is_stored_whole_and_nothing_else_is_an_act() {
        let act = Event::TokenRevoked(TokenRevoked { id: "abc".into() });
        let followed = Followed { number: 7, hash: Hash([3; 32]), time_ms: 5, actor: "ann".into(), act };
        let event = Event::Followed(Box::new(followed));
        let body = event.body();
        assert_eq!(Event::parse("followed", &body).expect("as written"), event);
        let other = body.replace("token revoked", "service started");
        let refused = Event::parse("followed", &other).expect_err("no act").to_string();
        assert!(refused.contains("service started") || refused.contains("invalid"), "{refused}");
        let unknown = body.replace("token revoked", "token eaten");
        assert!(Event::parse("followed", &unknown).is_err());
    }

    #[test]
    fn the_kinds_are_those_of_the_acts() {
        for kind in Event::KINDS {
            let known = Event::KINDS_FOR_ALL_CHAINS.contains(kind);
            let looks_like_one = kind.starts_with("token ") || kind.starts_with("person key ");
            assert_eq!(known, looks_like_one, "{kind}");
        }
    }
}

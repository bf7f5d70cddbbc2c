//! Who owns which chain, and where each policy is.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, Uri, header};
use rarely_store::PostgresStore;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::forward::{Forwarder, OwnerChange};
use super::{LogOwner, unowned};
use crate::client_origin::ClientOrigin;
use crate::division::{ChainRequest, answer};
use crate::problem::ProblemDetails;
use crate::request::blocking;

/// Where the owner of a chain is asked by owners of others, below this path.
pub(super) const ASKED_AT: &str = "/replica/chains/";
/// The longest answer of an owner.
const ANSWER_BYTES: usize = 64 << 20;
/// The most placements that are kept.
const KEPT: usize = 100_000;

/// The owners of all chains, as this replica knows them.
pub(crate) struct Links {
    owners: RwLock<BTreeMap<u64, watch::Receiver<Arc<LogOwner>>>>,
    pub(super) forwarder: Forwarder,
    store: Arc<PostgresStore>,
    /// A policy stays where it is.
    placements: RwLock<HashMap<String, u64>>,
}

impl Links {
    pub(super) fn new(forwarder: Forwarder, store: Arc<PostgresStore>) -> Self {
        Self { owners: RwLock::default(), forwarder, store, placements: RwLock::default() }
    }

    pub(super) fn add(&self, chain: u64, owner: watch::Receiver<Arc<LogOwner>>) {
        self.owners.write().unwrap_or_else(PoisonError::into_inner).insert(chain, owner);
    }

    /// Who owns a chain now, and later.
    pub(super) fn owner(&self, chain: u64) -> Option<watch::Receiver<Arc<LogOwner>>> {
        self.owners.read().unwrap_or_else(PoisonError::into_inner).get(&chain).cloned()
    }

    /// All chains.
    pub(crate) fn chains(&self) -> Vec<u64> {
        self.owners.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// Whether there are other chains than the service's own.
    pub(crate) fn is_divided(&self) -> bool {
        self.owners.read().unwrap_or_else(PoisonError::into_inner).len() > 1
    }

    /// Ends the event streams of all chains that this replica owns.
    pub(super) fn close(&self) {
        for owner in self.owners.read().unwrap_or_else(PoisonError::into_inner).values() {
            if let LogOwner::Own { app, .. } = &**owner.borrow() {
                app.close();
            }
        }
    }

    /// The chain of a policy; that of the service for an unknown one.
    pub(super) async fn placement(&self, policy: &str) -> Result<u64, ProblemDetails> {
        let known = self.placements.read().unwrap_or_else(PoisonError::into_inner).get(policy).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let (store, name) = (self.store.clone(), policy.to_owned());
        let Some(chain) = blocking(move || store.placement(&name)).await?? else { return Ok(0) };
        let mut placements = self.placements.write().unwrap_or_else(PoisonError::into_inner);
        if placements.len() < KEPT {
            placements.insert(policy.to_owned(), chain);
        }
        Ok(chain)
    }

    /// Asks the owner of a chain, which may be this replica.
    pub(super) async fn ask<T: DeserializeOwned>(&self, chain: u64, asked: ChainRequest) -> Result<T, ProblemDetails> {
        let unknown = || unowned(&format!("chain {chain} is not known here yet"));
        let log_owner = self.owner(chain).ok_or_else(unknown)?;
        let owner = log_owner.borrow().clone();
        let answered = match &*owner {
            LogOwner::Own { app, lease, .. } if lease.is_valid() => answer(app, asked).await?,
            LogOwner::Own { .. } => return Err(unowned("this replica has not renewed its lease in time")),
            LogOwner::Nobody(reason) => return Err(unowned(reason)),
            LogOwner::Other(owner) => {
                let body = serde_json::to_vec(&asked).map_err(|_| ProblemDetails::internal())?;
                let mut request = Request::new(body.into());
                *request.method_mut() = Method::POST;
                *request.uri_mut() =
                    Uri::try_from(format!("{ASKED_AT}{chain}")).map_err(|_| ProblemDetails::internal())?;
                let change = OwnerChange { log_owner: log_owner.clone(), owner: owner.clone() };
                let answer = self.forwarder.pass_on(request, owner, &ClientOrigin::replica(), change).await?;
                let (parts, body) = answer.into_parts();
                let body = to_bytes(body, ANSWER_BYTES).await.map_err(|_| unowned("its answer broke off"))?;
                if parts.status != StatusCode::OK {
                    let retry_after = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
                    return Err(ProblemDetails::told(parts.status, &body, retry_after));
                }
                parse(&body)?
            }
        };
        serde_json::from_value(answered).map_err(|_| misunderstood())
    }
}

fn parse(body: &Bytes) -> Result<serde_json::Value, ProblemDetails> {
    serde_json::from_slice(body).map_err(|_| misunderstood())
}

fn misunderstood() -> ProblemDetails {
    ProblemDetails::new(StatusCode::BAD_GATEWAY, "another replica answered with what this version does not understand")
        .with_remedy("run the same version of rarely on all machines")
}

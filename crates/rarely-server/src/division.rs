//! A service whose policies are spread over several chains: what the owner of one chain asks the owners of the others.
//!
//! Chain 0 is the service's own. Its acts are copied into the other chains, each of which is a whole log. Where there is one chain, all of
//! this is that chain alone.

use std::sync::Arc;

use rarely_live::Engine;
use rarely_live::engine::{ChangeError, ErasedStatistics};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::app::App;
use crate::erasures::{ErasureView, StatisticsChoice, erase_here};
use crate::policies::{NewPolicy, register_here};
use crate::problem::ProblemDetails;
use crate::replica::Chains;
use crate::request::blocking;
use crate::views::PolicySummary;

/// What the owner of one chain asks the owner of another.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChainRequest {
    /// Its policies.
    Summaries,
    /// To copy what the service did up to this event.
    Follow {
        /// The event, in the service's own chain.
        act: u64,
    },
    /// To register a policy.
    Register {
        /// Who does it.
        actor: String,
        /// The policy document.
        document: String,
    },
    /// Which of these people it has records of.
    Known {
        /// The people.
        subjects: Vec<String>,
    },
    /// To erase people.
    Erase(EraseRequest),
}

/// Who erases whom, and why.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EraseRequest {
    /// The name of who does it, …
    pub(crate) actor: String,
    /// … and the id.
    pub(crate) person: String,
    /// The people.
    pub(crate) subjects: Vec<String>,
    /// Why.
    pub(crate) reason: String,
    /// What becomes of the statistics.
    pub(crate) statistics: StatisticsChoice,
}

/// Answers the owner of another chain.
pub(crate) async fn answer(app: &App, request: ChainRequest) -> Result<Json, ProblemDetails> {
    let engine = app.engine.clone();
    match request {
        ChainRequest::Summaries => in_json(summaries_here(&engine)),
        ChainRequest::Follow { act } => {
            let chains = app.chains().cloned();
            blocking(move || match chains {
                Some(chains) if engine.followed() < act => chains.follow(&engine),
                _ => Ok(()),
            })
            .await??;
            Ok(Json::Null)
        }
        ChainRequest::Register { actor, document } => {
            in_json(blocking(move || register_here(&engine, &actor, &document)).await??)
        }
        ChainRequest::Known { subjects } => in_json(blocking(move || engine.with_records(&subjects)).await??),
        ChainRequest::Erase(request) => in_json(blocking(move || erase_here(&engine, &request)).await??),
    }
}

/// The path below which the log of a chain is.
pub(crate) fn chain_path(chain: u64) -> String {
    if chain == 0 { String::new() } else { format!("/chains/{chain}") }
}

fn in_json(value: impl Serialize) -> Result<Json, ProblemDetails> {
    serde_json::to_value(value).map_err(|_| ProblemDetails::internal())
}

fn summaries_here(engine: &Engine) -> Vec<PolicySummary> {
    let now_ms = engine.now_ms();
    engine.policies().iter().map(|handle| PolicySummary::new(handle, &handle.live.lock(), now_ms)).collect()
}

impl App {
    /// Asks the owners of all other chains, and returns what each answered.
    async fn ask_others<T: DeserializeOwned>(
        &self,
        request: impl Fn() -> ChainRequest,
    ) -> Result<Vec<(u64, T)>, ProblemDetails> {
        let Some(chains) = self.chains() else { return Ok(Vec::new()) };
        let asked = chains.others().into_iter().map(async |chain| Ok((chain, chains.ask(chain, request()).await?)));
        futures_util::future::try_join_all(asked).await
    }

    /// The policies of all chains, ordered by name.
    pub(crate) async fn summaries(&self) -> Result<Vec<PolicySummary>, ProblemDetails> {
        let mut all = summaries_here(&self.engine);
        for (_, theirs) in self.ask_others::<Vec<PolicySummary>>(|| ChainRequest::Summaries).await? {
            all.extend(theirs);
        }
        all.sort_by(|one, other| one.brief.name.cmp(&other.brief.name));
        Ok(all)
    }

    /// Waits until what the service just did holds in every chain. A chain without an owner has it before it has one again.
    pub(crate) async fn settle(&self, act: u64) {
        if let Some(chains) = self.chains() {
            // What cannot be asked is looked up.
            drop(self.ask_others::<Json>(|| ChainRequest::Follow { act }).await);
            let chains = chains.clone();
            drop(blocking(move || chains.wait_until_followed(act)).await);
        }
    }

    /// Registers a policy, in the chain where it is placed.
    pub(crate) async fn register(
        &self,
        actor: &str,
        document: String,
        name: &str,
    ) -> Result<NewPolicy, ProblemDetails> {
        let (engine, actor) = (self.engine.clone(), actor.to_owned());
        if let Some(chains) = self.chains().cloned() {
            let (placing, name) = (chains.clone(), name.to_owned());
            let chain = blocking(move || placing.place(&name)).await??;
            if !chains.is_own(chain) {
                return chains.ask(chain, ChainRequest::Register { actor, document }).await;
            }
        }
        blocking(move || register_here(&engine, &actor, &document)).await?
    }

    /// Erases people in every chain that has records of them. All of them or none are erased, as far as the owners of all chains answer.
    pub(crate) async fn erase(&self, request: EraseRequest) -> Result<ErasureView, ProblemDetails> {
        let (engine, subjects) = (self.engine.clone(), request.subjects.clone());
        let Some(chains) = self.chains() else {
            return blocking(move || erase_here(&engine, &request)).await?;
        };
        let known = |subjects: &[String]| ChainRequest::Known { subjects: subjects.to_vec() };
        let mut having: Vec<(u64, Vec<String>)> = self.ask_others(|| known(&subjects)).await?;
        having.insert(0, (chains.number(), chains.ask(chains.number(), known(&subjects)).await?));
        if subjects.iter().any(|subject| !having.iter().any(|(_, known)| known.contains(subject)))
            || subjects.is_empty()
        {
            // As a service with one chain says it.
            return Err(ChangeError::NoSubject.into());
        }
        let mut all = ErasureView::default();
        for (chain, subjects) in having.into_iter().filter(|(_, known)| !known.is_empty()) {
            let request = EraseRequest { subjects, ..request.clone() };
            let erased = chains.ask(chain, ChainRequest::Erase(request)).await?;
            all.add(chain, erased);
        }
        Ok(all)
    }

    /// The path below which the log of this chain is.
    pub(crate) fn chain_path(&self) -> String {
        self.chains().map_or_else(String::new, |chains| chain_path(chains.number()))
    }

    /// The chains, if there are several.
    pub(crate) fn chains(&self) -> Option<&Arc<Chains>> {
        self.chains.as_ref().filter(|chains| chains.is_divided())
    }
}

impl From<StatisticsChoice> for ErasedStatistics {
    fn from(choice: StatisticsChoice) -> Self {
        match choice {
            StatisticsChoice::Keep => Self::Keep,
            StatisticsChoice::Forget => Self::Forget,
        }
    }
}

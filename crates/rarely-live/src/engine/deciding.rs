//! Decision requests. Each decision has its own event number and is drawn under the lock that assigns numbers.

use std::sync::Arc;

use rarely_core::Reason;
use rarely_error::{Explain, Remedy};
use rarely_store::{Lookup, LookupKey, PolicyRef, StoreError};

use super::{Engine, OpenSubject, PendingEvent, PolicyHandle, draft};
use crate::decider::Decider;
use crate::document_edition::DocumentEdition;
use crate::event::{Decided, Event};
use crate::live_policy::DecisionRef;
use crate::lookup_key;
use crate::record::RecordField;
use crate::replay::{self, ReplayError};

/// A request for a decision.
#[derive(Debug, Clone)]
pub struct DecisionRequest {
    /// The idempotency key: a request with the same key gets the same response.
    pub key: Option<String>,
    /// The feature values, in the document's order.
    pub record: Vec<RecordField>,
    /// The same values as a context.
    pub context: Vec<f64>,
    /// The document that the record was read with.
    pub edition: Arc<DocumentEdition>,
    /// The person that the decision is about, as the caller names the person: the record is then encrypted, and can be erased.
    pub subject: Option<String>,
    /// The rule of the version that the request names, from [`PolicyHandle::pinned`]; otherwise the policy in force decides.
    pub pinned: Option<Arc<Decider>>,
}

/// The response to a [`DecisionRequest`].
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionResponse {
    /// The decision's event number.
    pub decision: u64,
    /// The chosen option.
    pub option: String,
    /// The policy version that decided.
    pub version: u64,
    /// Why this option.
    pub reason: Reason,
    /// The probability with which it was chosen.
    pub propensity: f64,
}

/// Why a decision request failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DecisionError {
    /// The key was used for another record, or for the same one with another version.
    #[error("the key {key:?} belongs to decision {decision}, which was made for another record or by another version")]
    KeyTaken {
        /// The key.
        key: String,
        /// The decision with this key.
        decision: u64,
    },
    /// The document was amended after the record was read.
    #[error("the policy document was amended while this was decided, so no decision was made")]
    Amended,
    /// The person is being erased.
    #[error("the person is being erased at this moment, so no decision was made")]
    Erasing,
    /// The decision could not be stored.
    #[error("the decision could not be stored, so none was made: {0}")]
    Store(Arc<StoreError>),
    /// An earlier decision could not be read.
    #[error("an earlier decision could not be read: {0}")]
    Replay(Arc<ReplayError>),
}

impl Explain for DecisionError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::KeyTaken { .. } => Some(Remedy::new("use a new key for every new request")),
            Self::Amended | Self::Erasing => Some(Remedy::new("send the request again")),
            Self::Store(error) => error.remedy(),
            Self::Replay(error) => error.remedy(),
        }
    }
}

impl Engine {
    /// Decides each request. All decisions are on disk when this returns. A request whose key was seen before gets the earlier
    /// response.
    pub async fn decide(
        &self,
        handle: &PolicyHandle,
        actor: &str,
        requests: Vec<DecisionRequest>,
    ) -> Vec<Result<DecisionResponse, DecisionError>> {
        let mut responses: Vec<Option<Result<DecisionResponse, DecisionError>>> = vec![None; requests.len()];
        let people = match self.people_of(requests.iter().map(|request| request.subject.as_deref())) {
            Ok(people) => people,
            Err(error) => return requests.iter().map(|_| Err(DecisionError::Store(error.clone()))).collect(),
        };
        let asked: Vec<Asked<'_>> = requests
            .iter()
            .zip(&people)
            .map(|(request, person)| Asked::new(handle.id, request, person.as_ref()))
            .collect();
        loop {
            let as_of = self.look_up(&asked, &mut responses).await;
            let (given, receipt) = self.append(|turn| {
                let in_force = handle.decider();
                let mut given = Vec::new();
                for (at, Asked { request, person, lookup_key }) in
                    asked.iter().enumerate().filter(|(at, _)| responses[*at].is_none())
                {
                    if lookup_key.as_ref().is_some_and(|lookup_key| turn.find(lookup_key, as_of) != Lookup::Absent) {
                        // A concurrent request holds this key; wait for its result.
                        continue;
                    }
                    let decider = request.pinned.as_ref().unwrap_or(&in_force);
                    if !Arc::ptr_eq(&decider.edition, &request.edition) {
                        given.push((at, Err(DecisionError::Amended)));
                        continue;
                    }
                    if person.is_some_and(|person| person.is_closed()) {
                        given.push((at, Err(DecisionError::Erasing)));
                        continue;
                    }
                    let number = turn.number();
                    let decision = decider.decide(&request.context, number);
                    let decided = Decided {
                        key: request.key.clone(),
                        record: request.record.clone(),
                        option: decider.edition.document.options()[decision.arm.index()].clone(),
                        version: decider.version,
                        basis: in_force.basis,
                        reason: decision.reason,
                        propensity: decision.propensity,
                        shadow: decider.shadow(&request.context).map(ToOwned::to_owned),
                        pinned: request.pinned.is_some(),
                        subject: person.map(|person| person.about()),
                        archived: None,
                    };
                    given.push((at, Ok(DecisionResponse::of(number, &decided))));
                    let event = Event::Decided(decided);
                    let draft = draft(actor, PolicyRef::Id(handle.id), &event, lookup_key.clone());
                    turn.push_deferred(draft, PendingEvent { event, about: None, person: person.cloned() });
                }
                given
            });
            let waited = receipt.wait().await;
            for (at, response) in given {
                responses[at] =
                    Some(response.and_then(|made| waited.clone().map(|()| made).map_err(DecisionError::Store)));
            }
            if responses.iter().all(Option::is_some) {
                return responses.into_iter().flatten().collect();
            }
        }
    }

    /// The people with these names. Those that are new get a key.
    pub(super) fn people_of<'a>(
        &self,
        names: impl Iterator<Item = Option<&'a str>> + Clone,
    ) -> Result<Vec<Option<Arc<OpenSubject>>>, Arc<StoreError>> {
        let known: Vec<&str> = names.clone().flatten().collect();
        let mut people = self.subjects.open(self.log().as_ref(), &known).map_err(Arc::new)?.into_iter();
        Ok(names.map(|name| name.and_then(|_| people.next())).collect())
    }

    /// Answers requests whose key was seen before. Returns the last event number that was searched.
    async fn look_up(
        &self,
        asked: &[Asked<'_>],
        responses: &mut [Option<Result<DecisionResponse, DecisionError>>],
    ) -> u64 {
        let open = asked.iter().zip(responses).filter(|(_, response)| response.is_none());
        let keyed: Vec<_> =
            open.filter_map(|(asked, response)| Some((asked, asked.request.key.as_ref()?, response))).collect();
        if keyed.is_empty() {
            return u64::MAX;
        }
        let keys = keyed.iter().filter_map(|(asked, _, _)| asked.lookup_key.clone()).collect();
        match self.writer.look_up(Vec::new(), keys).await {
            Ok(known) => {
                for ((asked, key, response), number) in keyed.into_iter().zip(known.found) {
                    *response = number.map(|number| self.earlier(asked.request, key, number));
                }
                known.as_of
            }
            Err(error) => {
                for (_, _, response) in keyed {
                    *response = Some(Err(DecisionError::Store(error.clone())));
                }
                u64::MAX
            }
        }
    }

    fn earlier(&self, request: &DecisionRequest, key: &str, number: u64) -> Result<DecisionResponse, DecisionError> {
        let found =
            replay::decision(self.log().as_ref(), number).map_err(|error| DecisionError::Replay(Arc::new(error)))?;
        match found {
            Some(DecisionRef { decided, .. }) if request.is_answered_by(&decided) => {
                Ok(DecisionResponse::of(number, &decided))
            }
            _ => Err(DecisionError::KeyTaken { key: key.to_owned(), decision: number }),
        }
    }
}

impl DecisionRequest {
    /// Whether an earlier decision with the same key is the one that is requested.
    fn is_answered_by(&self, earlier: &Decided) -> bool {
        let pinned = self.pinned.as_ref().map(|decider| decider.version);
        earlier.record == self.record && pinned == Some(earlier.version).filter(|_| earlier.pinned)
    }
}

/// A request, the person that it is about, and the key under which it is looked up.
struct Asked<'a> {
    request: &'a DecisionRequest,
    person: Option<&'a Arc<OpenSubject>>,
    lookup_key: Option<LookupKey>,
}

impl<'a> Asked<'a> {
    fn new(policy: u64, request: &'a DecisionRequest, person: Option<&'a Arc<OpenSubject>>) -> Self {
        let lookup_key = request.key.as_deref().map(|key| match person {
            Some(person) => lookup_key::of_request_about(policy, &person.subject.key, key),
            None => lookup_key::of_request(policy, key),
        });
        Self { request, person, lookup_key }
    }
}

impl DecisionResponse {
    fn of(decision: u64, decided: &Decided) -> Self {
        let Decided { option, version, reason, propensity, .. } = decided;
        Self { decision, option: option.clone(), version: *version, reason: *reason, propensity: *propensity }
    }
}

//! Keys of people: registering, listing and revoking them.

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use rarely_live::{Passkey, PersonKeyRecord, PersonPublicKey};
use rarely_store::NoteKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits::{check_owner, check_person};
use crate::page::ListPart;
use crate::policies::json;
use crate::problem::ProblemDetails;
use crate::request::{AuthorizedRequest, blocking};
use crate::route::ApiResult;

/// A key to register.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonKeyRequest {
    /// The person's name, as the owner of a token has it.
    name: String,
    /// The person's id; derived from the name if left out.
    #[serde(default)]
    person: Option<String>,
    /// The public key, as name+id+key.
    key: String,
}

/// A person's key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PersonKeyView {
    /// The id of the key: eight hexadecimal digits.
    id: String,
    /// The person's name.
    name: String,
    /// The person's id.
    person: String,
    /// The public key of a key file, as name+id+key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// A passkey, with its public key as a JSON Web Key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    passkey: Option<Passkey>,
    registered_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_ms: Option<u64>,
}

/// All keys, including revoked ones.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PersonKeyList {
    keys: Vec<PersonKeyView>,
    /// What `after` of the next part is, if the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl From<&PersonKeyRecord> for PersonKeyView {
    fn from(record: &PersonKeyRecord) -> Self {
        Self {
            id: record.key.id(),
            name: record.person.clone(),
            person: record.person_id(),
            key: record.key.note().map(ToString::to_string),
            passkey: record.key.passkey().cloned(),
            registered_ms: record.registered_ms,
            revoked_ms: record.revoked_ms,
        }
    }
}

pub(crate) async fn register(mut request: AuthorizedRequest) -> ApiResult {
    let PersonKeyRequest { name, person, key } = request.json().await?;
    check_owner(&name).map_err(|error| ProblemDetails::from(error).with_field("name"))?;
    check_person(person.as_deref()).map_err(|error| ProblemDetails::from(error).with_field("person"))?;
    let key: NoteKey = key.parse().map_err(|error: rarely_store::NoteKeyError| {
        ProblemDetails::wrong("key", error.to_string(), "write it as name+id+key, as `rarely sign keygen` prints it")
    })?;
    let (app, actor) = (request.app.clone(), request.actor().to_owned());
    let (act, made) = blocking(move || {
        let key = PersonPublicKey::Note(key);
        let act = app.engine.register_person_key(&actor, &name, person.as_deref(), key.clone())?;
        let people = app.engine.people();
        let kept = people.iter().find(|kept| kept.key == key).ok_or_else(ProblemDetails::internal)?;
        Ok::<_, ProblemDetails>((act, json(StatusCode::CREATED, &PersonKeyView::from(kept))))
    })
    .await??;
    request.app.settle(act).await;
    Ok(made)
}

pub(crate) async fn list(request: AuthorizedRequest) -> ApiResult {
    let people = request.app.engine.people();
    let ListPart { items, next } = ListPart::of(&request, people.iter(), |record| record.key.id())?;
    Ok(json(StatusCode::OK, &PersonKeyList { keys: items.into_iter().map(PersonKeyView::from).collect(), next }))
}

pub(crate) async fn revoke(request: AuthorizedRequest) -> ApiResult {
    let (app, actor, id) = (request.app.clone(), request.actor().to_owned(), request.parameter("id").to_owned());
    let act = blocking(move || app.engine.revoke_person_key(&actor, &id)).await??;
    request.app.settle(act).await;
    Ok(StatusCode::NO_CONTENT.into_response())
}

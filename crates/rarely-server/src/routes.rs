//! The routes of the API, each with its access, bodies and responses.

use axum::http::Method;
use futures_util::future::BoxFuture;
use rarely_live::Role::{Admin, Auditor, Decide, Observe, Read, Review};
use serde_json::json;

use crate::page::paged;
use crate::request::AuthorizedRequest;
use crate::route::Access::{AllPolicies, AnyPolicy, Public, ThisPolicy};
use crate::route::{ApiResult, Route};
use crate::{
    beside, decisions, docs, erasures, events, evidence, export, health, history, metrics, ofrep, outcomes,
    person_keys, policies, signing, tokens, transparency,
};

/// An example of a policy document.
const DOCUMENT: &str = "policy = \"hypertension\"\noptions = [\"watch\", \"treat\"]\noutcome = { column = \"wellbeing\", range = [0, 1] }\n\n\
                        [[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n\n\
                        [control]\napproval = \"one\"\n\n\
                        [rule]\nthreshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }\n";

/// Every route of the API.
pub(crate) fn routes() -> Vec<Route> {
    [
        service_routes(),
        policy_routes(),
        change_routes(),
        traffic_routes(),
        history_routes(),
        shadow_routes(),
        log_routes(),
        proof_routes(),
        token_routes(),
        erasure_routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn service_routes() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/healthz", Public, "Checks that the service runs.", health::healthy)
            .returns::<health::Health>(200, "the service runs"),
        Route::new(Method::GET, "/readyz", Public, "Checks that the service can serve requests.", health::ready)
            .returns::<health::Health>(200, "the service can serve requests"),
        Route::new(Method::GET, "/metrics", AllPolicies(Read), "Metrics for Prometheus.", metrics::metrics)
            .returns_text(200, "text/plain", "the metrics"),
        Route::new(Method::GET, "/openapi.json", Public, "This API as OpenAPI 3.1.", docs::openapi)
            .returns::<docs::OpenApi>(200, "the OpenAPI document"),
        Route::new(Method::GET, "/docs", Public, "This API as a page.", docs::docs).returns_text(
            200,
            "text/html",
            "the page",
        ),
        Route::new(Method::GET, "/docs.css", Public, "The style sheet of the page.", docs::style).returns_text(
            200,
            "text/css",
            "the style sheet",
        ),
    ]
}

fn policy_routes() -> Vec<Route> {
    vec![
        Route::new(
            Method::POST,
            "/v1/policies",
            AllPolicies(Admin),
            "Registers a policy document as version 1.",
            policies::register,
        )
        .takes_text("application/toml", DOCUMENT)
        .takes::<policies::Registration>(json!({ "document": DOCUMENT }))
        .returns::<crate::views::PolicyView>(201, "the policy is registered")
        .returns::<crate::views::PolicyView>(200, "the policy was registered before, with the same document")
        .fails(409, "a policy with this name has another document"),
        paged(Route::new(
            Method::GET,
            "/v1/policies",
            AnyPolicy(Read),
            "Lists the policies that the token may read.",
            policies::list,
        ))
        .returns::<policies::Policies>(200, "the policies"),
        Route::new(Method::GET, "/v1/policies/{name}", ThisPolicy(Read), "Gets a policy.", policies::one)
            .returns::<crate::views::PolicyView>(200, "the policy"),
        paged(Route::new(
            Method::GET,
            "/v1/policies/{name}/versions",
            ThisPolicy(Read),
            "Lists the versions of a policy.",
            policies::versions,
        ))
        .returns::<policies::Versions>(200, "the versions"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/versions/{number}",
            ThisPolicy(Read),
            "Gets a version with its policy document.",
            policies::version,
        )
        .returns::<crate::views::VersionView>(200, "the version"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/evidence",
            ThisPolicy(Read),
            "Reviews the rule in force on the data so far, without recording the review.",
            evidence::evidence,
        )
        .returns::<evidence::EvidenceView>(200, "the evidence")
        .fails(409, "the policy has no outcome yet"),
    ]
}

/// A route that needs a signature.
fn signed(
    path: &'static str,
    summary: &'static str,
    handler: fn(AuthorizedRequest) -> BoxFuture<'static, ApiResult>,
) -> Route {
    let example = json!({ "meaning": "I approve this change for the clinic.", "reason": "The evidence is sound." });
    Route::new(Method::POST, path, ThisPolicy(Review), summary, handler)
        .takes::<signing::Signing>(example)
        .returns::<signing::SignedView>(200, "the signature is recorded")
        .fails(409, "this cannot be signed now; the detail says why")
}

fn change_routes() -> Vec<Route> {
    vec![
        paged(Route::new(
            Method::GET,
            "/v1/policies/{name}/proposals",
            ThisPolicy(Read),
            "Lists the proposals of a policy.",
            signing::proposals,
        ))
        .returns::<signing::Proposals>(200, "the proposals"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/proposals/{number}",
            ThisPolicy(Read),
            "Gets a proposal with its evidence.",
            signing::proposal,
        )
        .returns::<crate::views::ProposalView>(200, "the proposal"),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/amendments",
            ThisPolicy(Admin),
            "Proposes another document for the policy, with the rule in force. It comes into force when people have signed the proposal.",
            policies::amend,
        )
        .takes::<policies::Amendment>(
            json!({ "document": DOCUMENT.replace("220", "260"), "reason": "Readings above 220 mmHg occur." }),
        )
        .returns::<crate::views::ProposalView>(201, "the amendment is proposed")
        .returns::<crate::views::ProposalView>(200, "the same document is proposed already")
        .fails(409, "the document cannot replace the one in force, or another proposal is open"),
        signed("/v1/policies/{name}/proposals/{number}/approve", "Approves a proposal with a signature.", |request| {
            Box::pin(signing::approve(request))
        }),
        signed("/v1/policies/{name}/proposals/{number}/reject", "Rejects a proposal with a signature.", |request| {
            Box::pin(signing::reject(request))
        }),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/rollback",
            ThisPolicy(Review),
            "Puts the rule of an older version into force again, as a new version. If two people must sign, proposes it.",
            signing::roll_back,
        )
        .takes::<signing::Rollback>(
            json!({ "to": 1, "meaning": "I go back to the first rule.", "reason": "Complaints." }),
        )
        .returns::<signing::SignedView>(200, "the signature is recorded")
        .fails(409, "this cannot be signed now; the detail says why"),
        signed(
            "/v1/policies/{name}/stop",
            "Stops exploration and changes, and puts the last signed rule in force.",
            |request| Box::pin(signing::stop(request)),
        ),
        signed("/v1/policies/{name}/resume", "Resumes a stopped policy.", |request| Box::pin(signing::resume(request))),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/review",
            ThisPolicy(Review),
            "Reviews the rule in force now. With a signature, signs \"no change\" unless the evidence asks for one.",
            signing::review,
        )
        .takes::<signing::Signing>(json!({ "meaning": "Reviewed, no change.", "reason": "The quarterly meeting." }))
        .body_optional()
        .returns::<signing::ReviewedView>(200, "the review is recorded")
        .fails(409, "the policy has no outcome yet"),
    ]
}

fn traffic_routes() -> Vec<Route> {
    let lines = "one line for each line of the request, in order; a line that fails gets a problem document";
    let decision = json!({ "record": { "systolic": 152 }, "key": "visit 4711", "explain": true });
    let outcome = json!({ "decision": 17, "outcome": 0.8 });
    let observation = json!({ "record": { "systolic": 152 }, "option": "treat", "outcome": 0.8, "key": "case 4711" });
    vec![
        Route::new(
            Method::POST,
            "/v1/policies/{name}/decisions",
            ThisPolicy(Decide),
            "Requests a decision, or a batch of decisions.",
            decisions::decide,
        )
        .takes_text("application/x-ndjson", &format!("{decision}\n"))
        .takes::<decisions::DecisionBody>(decision)
        .returns::<decisions::DecisionView>(200, "the decision, which is on disk")
        .returns_text(200, "application/x-ndjson", lines)
        .fails(409, "the key was used for another record or version, or the policy is stopped and nobody signed the version"),
        Route::new(
            Method::POST,
            "/ofrep/v1/evaluate/flags/{name}",
            AnyPolicy(Decide),
            "Decides for one person, as a flag of OpenFeature (OFREP). Requires the role on the policy that is the flag.",
            ofrep::evaluate,
        )
        .takes::<ofrep::Evaluation>(json!({ "context": { "targetingKey": "patient 4711", "systolic": 152 } }))
        .returns::<ofrep::Evaluated>(200, "the option, with the decision's number, version and propensity")
        .returns::<ofrep::EvaluationFailure>(400, "the context does not fit the policy document, or cannot be parsed")
        .fails(400, "a query parameter is unknown")
        .returns::<ofrep::EvaluationFailure>(404, "there is no such policy"),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/outcomes",
            ThisPolicy(Observe),
            "Reports the outcome of a decision, or a batch of outcomes.",
            outcomes::outcomes,
        )
        .takes_text("application/x-ndjson", &format!("{outcome}\n"))
        .takes::<outcomes::OutcomeReport>(outcome)
        .returns::<outcomes::ReportedView>(200, "the outcome is on disk")
        .returns_text(200, "application/x-ndjson", lines)
        .fails(409, "the decision has another outcome, and this is not a correction")
        .fails(410, "the person was erased, or the record is archived"),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/observations",
            ThisPolicy(Observe),
            "Reports a decision that was made elsewhere with its outcome, or a batch of them.",
            outcomes::observations,
        )
        .takes_text("application/x-ndjson", &format!("{observation}\n"))
        .takes::<outcomes::Observation>(observation)
        .returns::<outcomes::ReportedView>(200, "the observation is on disk")
        .returns_text(200, "application/x-ndjson", lines)
        .fails(409, "the key was used for another observation"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/decisions/{decision}",
            ThisPolicy(Read),
            "Gets everything that is needed to reconstruct a decision.",
            decisions::reconstruct,
        )
        .returns::<decisions::Reconstruction>(200, "the decision"),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/decisions/{decision}/override",
            ThisPolicy(Decide),
            "Records that a person gave another option than was decided. The outcome of such a decision is recorded, and is no evidence.",
            beside::override_decision,
        )
        .takes::<beside::OverrideRequest>(json!({ "option": "watch", "reason": "The patient declined." }))
        .returns::<beside::OverrideView>(200, "the override is recorded")
        .fails(409, "the decision has an outcome already, or was overridden before")
        .fails(410, "the person was erased, or the record is archived"),
    ]
}

fn history_routes() -> Vec<Route> {
    let past = json!({
        "time": "2024-03-01T09:30:00Z", "record": { "systolic": 152 }, "option": "treat", "outcome": 0.8, "key": "case 4711",
    });
    let route = Route::new(
        Method::POST,
        "/v1/policies/{name}/history",
        ThisPolicy(Observe),
        "Imports a decision from before the policy was run here, or a batch of them, the oldest first. Possible until the first decision.",
        history::import,
    );
    vec![
        route
            .takes_text("application/x-ndjson", &format!("{past}\n"))
            .takes::<history::PastDecision>(past)
            .returns::<outcomes::ReportedView>(200, "it is on disk")
            .returns_text(200, "application/x-ndjson", "one line for each line of the request, as for outcomes")
            .fails(
                409,
                "the policy has decided already, a later decision is imported, or the key was used for another one",
            ),
    ]
}

fn shadow_routes() -> Vec<Route> {
    let path = "/v1/policies/{name}/shadow";
    vec![
        Route::new(
            Method::POST,
            path,
            ThisPolicy(Review),
            "Lets a candidate decide beside the rule in force. What it decides is recorded, and nothing acts on it.",
            beside::start_shadow,
        )
        .takes::<beside::ShadowRequest>(json!({ "proposal": 1, "reason": "To see whom it would concern." }))
        .returns::<beside::ShadowView>(201, "the candidate decides from now on")
        .fails(409, "another candidate decides already"),
        Route::new(
            Method::GET,
            path,
            ThisPolicy(Read),
            "Gets the candidate that decides beside the rule in force, and how often it differs.",
            beside::shadow,
        )
        .returns::<beside::ShadowView>(200, "the candidate"),
        Route::new(
            Method::DELETE,
            path,
            ThisPolicy(Review),
            "Ends the candidate that decides beside the rule in force.",
            beside::end_shadow,
        )
        .returns::<beside::ShadowView>(200, "the candidate, as it ended"),
    ]
}

fn log_routes() -> Vec<Route> {
    let stream = |route: Route| {
        route
            .reads("query", "after", "only events with a higher number than this")
            .reads("query", "limit", "at most this many events; ignored for server-sent events")
            .reads("header", "Last-Event-ID", "for server-sent events: replaces `after`")
            .returns_text(200, "application/x-ndjson", "the events so far, one per line")
            .returns_text(200, "text/event-stream", "the events so far and all new ones, if the request accepts this")
    };
    vec![
        stream(Route::new(
            Method::GET,
            "/v1/policies/{name}/events",
            ThisPolicy(Read),
            "Streams the events of a policy.",
            events::of_policy,
        )),
        stream(Route::new(Method::GET, "/v1/events", AllPolicies(Auditor), "Streams all events.", events::of_all)),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/export",
            ThisPolicy(Read),
            "Exports all cases with an outcome, corrections applied, as a file for `rarely review --data`.",
            export::export,
        )
        .returns_text(200, "application/vnd.apache.parquet", "the cases"),
    ]
}

fn proof_routes() -> Vec<Route> {
    let proof = |route: Route| {
        route
            .returns::<transparency::EventProof>(200, "the proof")
            .fails(404, "the event was not found, or the service signs no checkpoints")
            .fails(409, "no checkpoint covers the event yet")
    };
    vec![
        Route::new(
            Method::GET,
            "/v1/checkpoint",
            Public,
            "Gets the last signed checkpoint: size and root of the log's Merkle tree, as a C2SP signed note.",
            transparency::checkpoint,
        )
        .returns_text(200, "text/plain", "the checkpoint")
        .fails(404, "the service signs no checkpoints")
        .fails(409, "there is no checkpoint yet"),
        Route::new(
            Method::GET,
            "/v1/checkpoint/key",
            Public,
            "Gets the public key that signs checkpoints.",
            transparency::key,
        )
        .returns_text(200, "text/plain", "the key, as name+id+key")
        .fails(404, "the service signs no checkpoints"),
        Route::new(
            Method::GET,
            "/v1/checkpoint/consistency",
            Public,
            "Proves that the log with `to` events begins with the log with `from` events.",
            transparency::consistency,
        )
        .reads("query", "from", "the size of the earlier tree, from 1")
        .reads("query", "to", "the size of the later tree; that of the last checkpoint if left out")
        .returns::<transparency::ConsistencyProof>(200, "the proof")
        .fails(404, "the service signs no checkpoints")
        .fails(409, "there is no checkpoint yet")
        .fails(422, "the log has no such sizes"),
        proof(Route::new(
            Method::GET,
            "/v1/policies/{name}/events/{number}/proof",
            ThisPolicy(Read),
            "Proves that an event of a policy is in the log that the last checkpoint covers.",
            transparency::of_policy,
        )),
        proof(Route::new(
            Method::GET,
            "/v1/events/{number}/proof",
            AllPolicies(Auditor),
            "Proves that an event is in the log that the last checkpoint covers.",
            transparency::of_all,
        )),
    ]
}

fn erasure_routes() -> Vec<Route> {
    let route = Route::new(
        Method::POST,
        "/v1/erasures",
        AllPolicies(Admin),
        "Erases people: destroys the keys with which everything about them is encrypted. This cannot be undone.",
        erasures::erase,
    );
    let example = json!({ "subjects": ["patient 4711"], "reason": "requested under article 17" });
    vec![
        route
            .takes::<erasures::ErasureRequest>(example)
            .returns::<erasures::ErasureView>(200, "the people are erased")
            .fails(404, "there is no record of one of them, or the person was erased already"),
    ]
}

fn token_routes() -> Vec<Route> {
    vec![
        Route::new(
            Method::POST,
            "/v1/tokens",
            AllPolicies(Admin),
            "Creates a token. Its secret is shown only in this response.",
            tokens::create,
        )
        .takes::<tokens::TokenRequest>(
            json!({ "name": "clinic", "roles": ["decide", "observe"], "policies": ["hypertension"], "expires": 365 }),
        )
        .returns::<tokens::TokenMade>(201, "the token")
        .fails(409, "the name or the id looks like that of another person"),
        paged(Route::new(
            Method::GET,
            "/v1/tokens",
            AllPolicies(Auditor),
            "Lists all tokens, including revoked ones, without their secrets.",
            tokens::list,
        ))
        .returns::<tokens::TokenList>(200, "the tokens"),
        Route::new(Method::DELETE, "/v1/tokens/{id}", AllPolicies(Admin), "Revokes a token.", tokens::revoke)
            .returns_nothing(204, "the token is revoked")
            .fails(404, "the token was not found, or was revoked before")
            .fails(409, "it is the last token with the role `admin`"),
        Route::new(
            Method::POST,
            "/v1/keys",
            AllPolicies(Admin),
            "Registers a person's public key. From then on this person signs only with it.",
            person_keys::register,
        )
        .takes::<person_keys::PersonKeyRequest>(
            json!({ "name": "ann", "key": "ann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW" }),
        )
        .returns::<person_keys::PersonKeyView>(201, "the key is registered")
        .fails(409, "the key is registered already, or the name or the id looks like that of another person"),
        paged(Route::new(
            Method::GET,
            "/v1/keys",
            AnyPolicy(Read),
            "Lists the keys of people, including revoked ones.",
            person_keys::list,
        ))
        .returns::<person_keys::PersonKeyList>(200, "the keys"),
        Route::new(Method::DELETE, "/v1/keys/{id}", AllPolicies(Admin), "Revokes a person's key.", person_keys::revoke)
            .returns_nothing(204, "the key is revoked")
            .fails(404, "the key was not found, or was revoked before"),
    ]
}

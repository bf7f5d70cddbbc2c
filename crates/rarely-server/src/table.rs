//! Every route of the API.

use axum::http::Method;
use rarely_live::Role::{Admin, Decide, Observe, Read, Review};
use serde_json::json;

use crate::route::Need::{Everywhere, Nothing, Somewhere, There};
use crate::route::Route;
use crate::{decisions, events, evidence, export, open, outcomes, policies, signing, tokens};

const DOCUMENT: &str = "policy = \"hypertension\"\noptions = [\"watch\", \"treat\"]\noutcome = { column = \"wellbeing\", range = [0, 1] }\n\n\
                        [[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n\n\
                        [control]\napproval = \"one\"\n\n\
                        [rule]\nthreshold = { feature = \"systolic\", cuts = [140], options = [\"watch\", \"treat\"] }\n";

/// Every route of the API.
pub(crate) fn routes() -> Vec<Route> {
    [about_the_service(), about_policies(), about_changes(), traffic(), about_the_log(), about_tokens()]
        .into_iter()
        .flatten()
        .collect()
}

fn about_the_service() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/healthz", Nothing, "Whether the service runs.", open::healthy)
            .gives::<open::Health>(200, "it runs"),
        Route::new(Method::GET, "/readyz", Nothing, "Whether the service can be used.", open::ready)
            .gives::<open::Health>(200, "it can be used"),
        Route::new(Method::GET, "/metrics", Everywhere(Read), "Measures, for Prometheus.", open::metrics).gives_text(
            200,
            "text/plain",
            "the measures",
        ),
        Route::new(Method::GET, "/openapi.json", Nothing, "This API, as OpenAPI 3.1.", open::openapi)
            .gives::<open::OpenApi>(200, "the document"),
        Route::new(Method::GET, "/docs", Nothing, "This API, as a page.", open::docs).gives_text(
            200,
            "text/html",
            "the page",
        ),
        Route::new(Method::GET, "/docs.css", Nothing, "The page's style.", open::style).gives_text(
            200,
            "text/css",
            "the style",
        ),
    ]
}

fn about_policies() -> Vec<Route> {
    vec![
        Route::new(
            Method::POST,
            "/v1/policies",
            Everywhere(Admin),
            "Registers a policy document as version 1.",
            policies::register,
        )
        .takes_text("application/toml", DOCUMENT)
        .takes::<policies::Registration>(json!({ "document": DOCUMENT }))
        .gives::<crate::views::PolicyView>(201, "it is registered")
        .gives::<crate::views::PolicyView>(200, "it was registered before, with the same document")
        .refuses(409, "there is a policy of this name with another document"),
        Route::new(
            Method::GET,
            "/v1/policies",
            Somewhere(Read),
            "All policies that the token may see.",
            policies::list,
        )
        .gives::<policies::Policies>(200, "the policies"),
        Route::new(Method::GET, "/v1/policies/{name}", There(Read), "One policy.", policies::one)
            .gives::<crate::views::PolicyView>(200, "the policy"),
        Route::new(Method::GET, "/v1/policies/{name}/versions", There(Read), "All its versions.", policies::versions)
            .gives::<policies::Versions>(200, "the versions"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/versions/{number}",
            There(Read),
            "One version, with its policy document.",
            policies::version,
        )
        .gives::<crate::views::VersionView>(200, "the version"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/evidence",
            There(Read),
            "What the evidence says now; nothing is written down.",
            evidence::evidence,
        )
        .gives::<evidence::EvidenceView>(200, "the evidence")
        .refuses(409, "there is no outcome yet"),
    ]
}

fn about_changes() -> Vec<Route> {
    let signature =
        || json!({ "meaning": "I approve this change for the clinic.", "reason": "The evidence is sound." });
    let sign =
        |path,
         summary,
         handler: fn(crate::call::Call) -> futures_util::future::BoxFuture<'static, crate::route::Answered>| {
            Route::new(Method::POST, path, There(Review), summary, handler)
                .takes::<signing::Signing>(signature())
                .gives::<signing::SignedView>(200, "it is signed")
                .refuses(409, "it cannot be signed now: the detail says why")
        };
    vec![
        Route::new(Method::GET, "/v1/policies/{name}/proposals", There(Read), "All proposals.", signing::proposals)
            .gives::<signing::Proposals>(200, "the proposals"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/proposals/{number}",
            There(Read),
            "One proposal, with all it rests on.",
            signing::proposal,
        )
        .gives::<crate::views::ProposalView>(200, "the proposal"),
        sign("/v1/policies/{name}/proposals/{number}/approve", "Signs for a proposal.", |call| {
            Box::pin(signing::approve(call))
        }),
        sign("/v1/policies/{name}/proposals/{number}/reject", "Signs against a proposal.", |call| {
            Box::pin(signing::reject(call))
        }),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/rollback",
            There(Review),
            "Puts the rule of an older version in force again, as a new version; where two must sign, proposes it.",
            signing::roll_back,
        )
        .takes::<signing::Rollback>(
            json!({ "to": 1, "meaning": "I go back to the first rule.", "reason": "Complaints." }),
        )
        .gives::<signing::SignedView>(200, "it is signed")
        .refuses(409, "it cannot be signed now: the detail says why"),
        sign(
            "/v1/policies/{name}/stop",
            "Goes back to the last signed rule, without exploration or changes.",
            |call| Box::pin(signing::stop(call)),
        ),
        sign("/v1/policies/{name}/resume", "Lets a stopped policy go on.", |call| Box::pin(signing::resume(call))),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/review",
            There(Review),
            "Holds the rule against the evidence now; with a signature, signs that nothing changes if nothing does.",
            signing::review,
        )
        .takes::<signing::Signing>(json!({ "meaning": "Reviewed, no change.", "reason": "The quarterly meeting." }))
        .or_nothing()
        .gives::<signing::ReviewedView>(200, "it is reviewed")
        .refuses(409, "there is no outcome yet"),
    ]
}

fn traffic() -> Vec<Route> {
    let lines = "one line of answer for each line, in order; a wrong line gets a problem";
    let ask = json!({ "record": { "systolic": 152 }, "key": "visit 4711", "explain": true });
    let outcome = json!({ "decision": 17, "outcome": 0.8 });
    let observation = json!({ "record": { "systolic": 152 }, "option": "treat", "outcome": 0.8, "key": "case 4711" });
    vec![
        Route::new(
            Method::POST,
            "/v1/policies/{name}/decisions",
            There(Decide),
            "Which option is a person to get? One, or a batch.",
            decisions::decide,
        )
        .takes_text("application/x-ndjson", &format!("{ask}\n"))
        .takes::<decisions::Asked>(ask)
        .gives::<decisions::DecisionView>(200, "the decision, which is on disk")
        .gives_text(200, "application/x-ndjson", lines)
        .refuses(409, "the key was used for another record"),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/outcomes",
            There(Observe),
            "How decisions went. One, or a batch.",
            outcomes::outcomes,
        )
        .takes_text("application/x-ndjson", &format!("{outcome}\n"))
        .takes::<outcomes::OutcomeReport>(outcome)
        .gives::<outcomes::ReportedView>(200, "it is on disk")
        .gives_text(200, "application/x-ndjson", lines)
        .refuses(409, "another outcome was reported, and this is no correction"),
        Route::new(
            Method::POST,
            "/v1/policies/{name}/observations",
            There(Observe),
            "How decisions went that were taken elsewhere. One, or a batch.",
            outcomes::observations,
        )
        .takes_text("application/x-ndjson", &format!("{observation}\n"))
        .takes::<outcomes::Observation>(observation)
        .gives::<outcomes::ReportedView>(200, "it is on disk")
        .gives_text(200, "application/x-ndjson", lines)
        .refuses(409, "the key was used for another observation"),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/decisions/{decision}",
            There(Read),
            "Everything needed to reconstruct a decision.",
            decisions::reconstruct,
        )
        .gives::<decisions::Reconstruction>(200, "the decision"),
    ]
}

fn about_the_log() -> Vec<Route> {
    let stream = |route: Route| {
        route
            .asks("query", "after", "only events with a number above this one")
            .asks("query", "limit", "at most so many; not for server-sent events")
            .asks("header", "Last-Event-ID", "for server-sent events: as after, and before it")
            .gives_text(200, "application/x-ndjson", "the events up to now, a line each")
            .gives_text(200, "text/event-stream", "the events, and those to come, if the request accepts this")
    };
    vec![
        stream(Route::new(
            Method::GET,
            "/v1/policies/{name}/events",
            There(Read),
            "The policy's audit stream.",
            events::of_policy,
        )),
        stream(Route::new(Method::GET, "/v1/events", Everywhere(Admin), "The whole audit stream.", events::of_all)),
        Route::new(
            Method::GET,
            "/v1/policies/{name}/export",
            There(Read),
            "All cases with an outcome, corrections applied, as a file that `rarely review --data` reads.",
            export::export,
        )
        .gives_text(200, "application/vnd.apache.parquet", "the cases"),
    ]
}

fn about_tokens() -> Vec<Route> {
    vec![
        Route::new(
            Method::POST,
            "/v1/tokens",
            Everywhere(Admin),
            "Makes a token, which is shown this once.",
            tokens::create,
        )
        .takes::<tokens::TokenRequest>(
            json!({ "name": "clinic", "roles": ["decide", "observe"], "policies": ["hypertension"], "expires": 365 }),
        )
        .gives::<tokens::TokenMade>(201, "the token"),
        Route::new(
            Method::GET,
            "/v1/tokens",
            Everywhere(Admin),
            "All tokens that were ever made, without their secrets.",
            tokens::list,
        )
        .gives::<tokens::TokenList>(200, "the tokens"),
        Route::new(Method::DELETE, "/v1/tokens/{id}", Everywhere(Admin), "Takes a token back.", tokens::revoke)
            .nothing(204, "it is taken back")
            .refuses(404, "there is no such token, or it was taken back before"),
    ]
}

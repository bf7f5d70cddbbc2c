//! A route: its path, who may call it, its bodies and its handler. The same value serves requests and describes itself in OpenAPI.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rarely_live::Role;
use serde_json::Value as Json;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::app::App;
use crate::problem::ProblemDetails;
use crate::request::AuthorizedRequest;

/// The result of a handler.
pub(crate) type ApiResult = Result<Response, ProblemDetails>;
type Handler = Arc<dyn Fn(AuthorizedRequest) -> BoxFuture<'static, ApiResult> + Send + Sync>;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everyone, without a token.
    Public,
    /// Tokens with the role on at least one policy.
    AnyPolicy(Role),
    /// Tokens with the role on the policy that the path names.
    ThisPolicy(Role),
    /// Tokens with the role on all policies.
    AllPolicies(Role),
}

/// A parameter of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// `path`, `query` or `header`.
    pub(crate) location: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) whole_number: bool,
}

/// A body of a request or a response.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) media: &'static str,
    pub(crate) schema: Json,
    pub(crate) example: Option<Json>,
}

/// A response that a route declares.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) meaning: &'static str,
    pub(crate) contents: Vec<Content>,
}

/// A route of the API.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) summary: &'static str,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) takes: Vec<Content>,
    pub(crate) body_required: bool,
    pub(crate) replies: Vec<Reply>,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
    handler: Handler,
}

impl Route {
    pub(crate) fn new<F, Fut>(
        method: Method,
        path: &'static str,
        access: Access,
        summary: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(AuthorizedRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ApiResult> + Send + 'static,
    {
        Self {
            method,
            path,
            access,
            summary,
            parameters: path_parameters(path),
            takes: Vec::new(),
            body_required: true,
            replies: Vec::new(),
            schemas: Vec::new(),
            handler: Arc::new(move |request| handler(request).boxed()),
        }
    }

    /// Declares a parameter of the query, or a header.
    pub(crate) fn reads(mut self, location: &'static str, name: &'static str, meaning: &'static str) -> Self {
        self.parameters.push(Parameter { name, location, meaning, whole_number: true });
        self
    }

    /// Declares a parameter that is a text.
    pub(crate) fn reads_text(mut self, location: &'static str, name: &'static str, meaning: &'static str) -> Self {
        self.parameters.push(Parameter { name, location, meaning, whole_number: false });
        self
    }

    /// Declares a request body of this type, as JSON.
    pub(crate) fn takes<T: ToSchema>(mut self, example: Json) -> Self {
        let schema = self.schema::<T>();
        self.takes.push(Content { media: "application/json", schema, example: Some(example) });
        self
    }

    /// Declares a request body of text.
    pub(crate) fn takes_text(mut self, media: &'static str, example: &str) -> Self {
        self.takes.push(Content { media, schema: text(), example: Some(example.into()) });
        self
    }

    /// Makes the request body optional.
    pub(crate) fn body_optional(mut self) -> Self {
        self.body_required = false;
        self
    }

    /// Declares a response with a body of this type, as JSON.
    pub(crate) fn returns<T: ToSchema>(mut self, status: u16, meaning: &'static str) -> Self {
        let schema = self.schema::<T>();
        self.replies_with(status, meaning, Content { media: "application/json", schema, example: None })
    }

    /// Declares a response that is not JSON.
    pub(crate) fn returns_text(self, status: u16, media: &'static str, meaning: &'static str) -> Self {
        self.replies_with(status, meaning, Content { media, schema: text(), example: None })
    }

    /// Several media types may share a status.
    fn replies_with(mut self, status: u16, meaning: &'static str, content: Content) -> Self {
        match self.replies.iter_mut().find(|reply| reply.status == status) {
            Some(reply) => reply.contents.push(content),
            None => self.replies.push(Reply { status, meaning, contents: vec![content] }),
        }
        self
    }

    /// Declares a response without a body.
    pub(crate) fn returns_nothing(mut self, status: u16, meaning: &'static str) -> Self {
        self.replies.push(Reply { status, meaning, contents: Vec::new() });
        self
    }

    /// Declares an error of this route, in addition to those that all routes of its kind share.
    pub(crate) fn fails(self, status: u16, meaning: &'static str) -> Self {
        self.replies_with(status, meaning, problem())
    }

    fn schema<T: ToSchema>(&mut self) -> Json {
        let name = T::name().into_owned();
        T::schemas(&mut self.schemas);
        self.schemas.push((name.clone(), <T as PartialSchema>::schema()));
        serde_json::json!({ "$ref": format!("#/components/schemas/{name}") })
    }

    async fn handle(&self, app: Arc<App>, request: Request) -> Response {
        let unknown = request.uri().query().and_then(|query| self.unknown_parameter(query));
        let result = match (AuthorizedRequest::check(app, self.access, request).await, unknown) {
            (Ok(_), Some(unknown)) => Err(unknown),
            (Ok(request), None) => (self.handler)(request).await,
            (Err(problem), _) => Err(problem),
        };
        result.unwrap_or_else(ProblemDetails::into_response)
    }

    /// The first parameter of a query that the route does not have: a misspelt one must not be ignored.
    fn unknown_parameter(&self, query: &str) -> Option<ProblemDetails> {
        let known: Vec<&str> =
            self.parameters.iter().filter(|known| known.location == "query").map(|known| known.name).collect();
        let names = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split('=').next().unwrap_or(pair));
        let unknown = names.into_iter().find(|name| !known.contains(name))?;
        let remedy = match known.as_slice() {
            [] => "leave it out: this route has no query parameters".to_owned(),
            known => format!("the parameters are {}", known.join(" and ")),
        };
        let shown: String = unknown.chars().take(40).collect();
        Some(
            ProblemDetails::new(StatusCode::BAD_REQUEST, format!("the query parameter {shown:?} is unknown"))
                .with_field("query")
                .with_remedy(remedy),
        )
    }
}

/// The routes as an axum router.
pub(crate) fn router(app: &Arc<App>, routes: Vec<Route>) -> Router {
    let mut router = Router::new();
    for route in routes {
        let filter = MethodFilter::try_from(route.method.clone()).unwrap_or(MethodFilter::GET);
        let (path, route) = (route.path, Arc::new(route));
        let handler = move |State(app): State<Arc<App>>, request: Request| {
            let route = route.clone();
            async move { route.handle(app, request).await }
        };
        router = router.route(path, on(filter, handler));
    }
    router.with_state(app.clone())
}

/// The body of every error.
pub(crate) fn problem() -> Content {
    let schema = serde_json::json!({ "$ref": "#/components/schemas/Problem" });
    Content { media: "application/problem+json", schema, example: None }
}

fn text() -> Json {
    serde_json::json!({ "type": "string" })
}

fn path_parameters(path: &'static str) -> Vec<Parameter> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| Parameter {
            name,
            location: "path",
            meaning: meaning(name),
            whole_number: matches!(name, "number" | "decision"),
        })
        .collect()
}

fn meaning(name: &str) -> &'static str {
    match name {
        "name" => "the policy's name",
        "number" => "the number, from 1",
        "decision" => "the number that `POST …/decisions` returned",
        _ => "the public part of the token, or the id of the key",
    }
}

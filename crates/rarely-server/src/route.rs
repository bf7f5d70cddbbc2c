//! A route: its address, who may call it, what it takes and gives. The same value serves requests and describes itself.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
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
use crate::call::Call;
use crate::problem::Problem;

/// What a handler gives.
pub(crate) type Answered = Result<Response, Problem>;
type Handler = Arc<dyn Fn(Call) -> BoxFuture<'static, Answered> + Send + Sync>;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Everybody.
    Nothing,
    /// Who has the role on some policy.
    Somewhere(Role),
    /// Who has it on the policy that the address names.
    There(Role),
    /// Who has it on all policies.
    Everywhere(Role),
}

/// A parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// `path`, `query` or `header`.
    pub(crate) place: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) whole_number: bool,
}

/// A body that is taken or given.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) media: &'static str,
    pub(crate) schema: Json,
    pub(crate) example: Option<Json>,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) meaning: &'static str,
    pub(crate) contents: Vec<Content>,
}

/// A route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) need: Need,
    pub(crate) summary: &'static str,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) takes: Vec<Content>,
    pub(crate) body_required: bool,
    pub(crate) replies: Vec<Reply>,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
    handler: Handler,
}

impl Route {
    pub(crate) fn new<F, Fut>(method: Method, path: &'static str, need: Need, summary: &'static str, handler: F) -> Self
    where
        F: Fn(Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answered> + Send + 'static,
    {
        Self {
            method,
            path,
            need,
            summary,
            parameters: path_parameters(path),
            takes: Vec::new(),
            body_required: true,
            replies: Vec::new(),
            schemas: Vec::new(),
            handler: Arc::new(move |call| handler(call).boxed()),
        }
    }

    /// It looks at a parameter of the query, or a header.
    pub(crate) fn asks(mut self, place: &'static str, name: &'static str, meaning: &'static str) -> Self {
        self.parameters.push(Parameter { name, place, meaning, whole_number: true });
        self
    }

    /// It takes a body of this type, as JSON.
    pub(crate) fn takes<T: ToSchema>(mut self, example: Json) -> Self {
        let schema = self.schema::<T>();
        self.takes.push(Content { media: "application/json", schema, example: Some(example) });
        self
    }

    /// It takes a text.
    pub(crate) fn takes_text(mut self, media: &'static str, example: &str) -> Self {
        self.takes.push(Content { media, schema: text(), example: Some(example.into()) });
        self
    }

    /// It can be called without a body.
    pub(crate) fn or_nothing(mut self) -> Self {
        self.body_required = false;
        self
    }

    /// It gives a body of this type, as JSON.
    pub(crate) fn gives<T: ToSchema>(mut self, status: u16, meaning: &'static str) -> Self {
        let schema = self.schema::<T>();
        let content = Content { media: "application/json", schema, example: None };
        self.replies.push(Reply { status, meaning, contents: vec![content] });
        self
    }

    /// It gives something else than JSON; several kinds may share a status.
    pub(crate) fn gives_text(mut self, status: u16, media: &'static str, meaning: &'static str) -> Self {
        let content = Content { media, schema: text(), example: None };
        match self.replies.iter_mut().find(|reply| reply.status == status) {
            Some(reply) => reply.contents.push(content),
            None => self.replies.push(Reply { status, meaning, contents: vec![content] }),
        }
        self
    }

    /// It gives nothing but its status.
    pub(crate) fn nothing(mut self, status: u16, meaning: &'static str) -> Self {
        self.replies.push(Reply { status, meaning, contents: Vec::new() });
        self
    }

    /// It may go wrong in this way, beside the ways in which every route of its kind may.
    pub(crate) fn refuses(mut self, status: u16, meaning: &'static str) -> Self {
        self.replies.push(Reply { status, meaning, contents: vec![problem()] });
        self
    }

    fn schema<T: ToSchema>(&mut self) -> Json {
        let name = T::name().into_owned();
        T::schemas(&mut self.schemas);
        self.schemas.push((name.clone(), <T as PartialSchema>::schema()));
        serde_json::json!({ "$ref": format!("#/components/schemas/{name}") })
    }

    async fn answer(&self, app: Arc<App>, request: Request) -> Response {
        let answered = match Call::admit(app, self.need, request).await {
            Ok(call) => (self.handler)(call).await,
            Err(problem) => Err(problem),
        };
        answered.unwrap_or_else(Problem::into_response)
    }
}

/// The routes as a service.
pub(crate) fn router(app: &Arc<App>, routes: Vec<Route>) -> Router {
    let mut router = Router::new();
    for route in routes {
        let filter = MethodFilter::try_from(route.method.clone()).unwrap_or(MethodFilter::GET);
        let (path, route) = (route.path, Arc::new(route));
        let handler = move |State(app): State<Arc<App>>, request: Request| {
            let route = route.clone();
            async move { route.answer(app, request).await }
        };
        router = router.route(path, on(filter, handler));
    }
    router.with_state(app.clone())
}

/// What every problem looks like.
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
            place: "path",
            meaning: meaning(name),
            whole_number: matches!(name, "number" | "decision"),
        })
        .collect()
}

fn meaning(name: &str) -> &'static str {
    match name {
        "name" => "the policy's name",
        "number" => "its number, from 1",
        "decision" => "the number that `POST …/decisions` answered",
        _ => "the token's public part",
    }
}

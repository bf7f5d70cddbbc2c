//! Lists in parts: after which item, and how many.

use axum::http::StatusCode;
use serde::Deserialize;

use crate::problem::ProblemDetails;
use crate::request::AuthorizedRequest;
use crate::route::Route;

/// The part of a list that a request asks for. Without a limit it is the whole rest.
#[derive(Debug, Deserialize)]
struct PageQuery {
    after: Option<String>,
    limit: Option<usize>,
}

/// A part of a list.
pub(crate) struct ListPart<T> {
    pub(crate) items: Vec<T>,
    /// What `after` of the next part is, if there is one.
    pub(crate) next: Option<String>,
}

impl<T> ListPart<T> {
    /// The part of a list that a request asks for. `id` is what `after` names.
    pub(crate) fn of(
        request: &AuthorizedRequest,
        all: impl IntoIterator<Item = T>,
        id: impl Fn(&T) -> String,
    ) -> Result<Self, ProblemDetails> {
        let PageQuery { after, limit } = request.query()?;
        if limit == Some(0) {
            return Err(wrong("the limit is 0", "ask for at least one item"));
        }
        let mut rest = all.into_iter();
        if let Some(after) = after
            && !rest.by_ref().any(|item| id(&item) == after)
        {
            return Err(wrong("`after` names no item of the list", "send `next` of the part before"));
        }
        let items: Vec<T> = rest.by_ref().take(limit.unwrap_or(usize::MAX)).collect();
        let next = rest.next().and(items.last()).map(&id);
        Ok(Self { items, next })
    }
}

fn wrong(detail: &str, remedy: &str) -> ProblemDetails {
    ProblemDetails::new(StatusCode::BAD_REQUEST, detail).with_field("query").with_remedy(remedy)
}

/// Declares the parameters of a list that comes in parts.
pub(crate) fn paged(route: Route) -> Route {
    route
        .reads_text("query", "after", "only what follows this item: `next` of the part before")
        .reads("query", "limit", "at most this many items; without it, all")
        .fails(400, "a query parameter is wrong or unknown")
}

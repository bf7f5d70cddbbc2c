//! Notifies an open page of new events of its policy.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use rarely_live::Role;
use tokio::time::Instant;

use super::Dashboard;
use super::page_error::PageError;
use super::visitor::Visitor;
use crate::events::stream_permit;

/// The shortest time between two messages.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the session is checked.
const CHECK: Duration = Duration::from_secs(15);

/// How long the session of a visitor may stay without being read again; `None` if not at all. A revoked token wakes the stream.
fn until(visitor: &Visitor, now_ms: u64) -> Option<Duration> {
    let Some(expires_ms) = visitor.grant.expires_ms else { return Some(CHECK) };
    expires_ms.checked_sub(now_ms).map(|left_ms| CHECK.min(Duration::from_millis(left_ms)))
}

/// `GET /policies/{name}/live`: the number of the last event, now and after each new event. Ends with the session.
pub(super) async fn follow(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Result<Visitor, Response>,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let visitor = match visitor {
        Ok(visitor) => visitor,
        // Without a session: 204 tells the browser not to reconnect.
        Err(refused) if refused.status().is_redirection() => return Ok(StatusCode::NO_CONTENT.into_response()),
        Err(failed) => return Ok(failed),
    };
    let handle = dashboard.policy(&visitor, &name)?;
    let permit = Arc::new(stream_permit(&dashboard.app)?);
    let (applied, closing) = (dashboard.app.engine.subscribe(), dashboard.app.closing());
    let messages = stream::unfold((applied, closing, None), move |(mut applied, mut closing, sent)| {
        let (dashboard, handle, mut visitor) = (dashboard.clone(), handle.clone(), visitor.clone());
        let permit = permit.clone();
        async move {
            // Held as long as the stream is open.
            let _permit = permit;
            let mut checked = Instant::now();
            if sent.is_some() {
                let ended = tokio::time::timeout(PAUSE, closing.wait_for(|closing| *closing)).await;
                if ended.is_ok() {
                    return None;
                }
            }
            loop {
                applied.borrow_and_update();
                let last = handle.live.lock().state().last_event;
                let is_new = sent != Some(last);
                visitor.grant = dashboard.grant(&visitor.session)?;
                let pause = until(&visitor, dashboard.now_ms())?;
                // Not at every event of another policy: the session may be in a database.
                if is_new || checked.elapsed() >= pause {
                    checked = Instant::now();
                    visitor = dashboard.visitor(&visitor.secret).await.ok()??;
                }
                if !visitor.may(Role::Read, &handle.name) {
                    return None;
                }
                if is_new {
                    return Some((
                        Ok::<_, Infallible>(Event::default().data(last.to_string())),
                        (applied, closing, Some(last)),
                    ));
                }
                tokio::select! {
                    changed = applied.changed() => changed.ok()?,
                    _ = closing.wait_for(|closing| *closing) => return None,
                    () = tokio::time::sleep_until(checked + pause) => {}
                }
            }
        }
    });
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(CHECK)).into_response())
}

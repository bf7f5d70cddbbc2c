//! The candidate that decides beside the rule in force, and the forms that start and end it.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_live::engine::{ChangeError, Engine, PolicyHandle};
use rarely_live::{Role, ShadowRecord};
use rarely_policy::difference;
use serde::Deserialize;

use super::super::format::{count, plural, share, time};
use super::super::layout::{TableCell, csrf, list, rule, table};
use super::super::page_error::PageError;
use super::super::signature_form::RejectedForm;
use super::super::visitor::Visitor;
use super::super::{Dashboard, address, blocking};
use super::PolicyPage;
use crate::beside::CandidateSource;
use crate::limits::{TEXT_CHARACTERS, check_text};

/// The form that starts or ends a candidate.
#[derive(Debug, Deserialize)]
pub(in super::super) struct WatchForm {
    csrf: String,
    #[serde(default)]
    candidate: String,
    reason: String,
}

/// `POST /policies/{name}/shadow`.
pub(in super::super) async fn start(
    from: (State<Arc<Dashboard>>, Visitor),
    Path(name): Path<String>,
    Form(form): Form<WatchForm>,
) -> Result<Response, PageError> {
    change(from, &name, form, |engine, handle, actor, form| {
        let rule = form.candidate.parse::<CandidateSource>()?.rule(&handle.live.lock()).map_err(ChangeError::from)?;
        engine.start_shadow(handle, actor, rule, &form.reason)?;
        Ok("watched")
    })
    .await
}

/// `POST /policies/{name}/shadow/end`.
pub(in super::super) async fn end(
    from: (State<Arc<Dashboard>>, Visitor),
    Path(name): Path<String>,
    Form(form): Form<WatchForm>,
) -> Result<Response, PageError> {
    change(from, &name, form, |engine, handle, actor, form| {
        engine.end_shadow(handle, actor, &form.reason)?;
        Ok("watch-ended")
    })
    .await
}

/// Checks a form and does what it asks for. If that fails, shows the page again with the error and the input.
async fn change(
    (State(dashboard), visitor): (State<Arc<Dashboard>>, Visitor),
    name: &str,
    form: WatchForm,
    make: impl FnOnce(&Engine, &PolicyHandle, &str, &WatchForm) -> Result<&'static str, PageError> + Send + 'static,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let handle = dashboard.policy(&visitor, name)?;
    dashboard.app.authorize(&visitor.grant, Role::Review, Some(name))?;
    let (chosen, reason) = (form.candidate.clone(), form.reason.clone());
    let (engine, changed, actor) = (dashboard.app.engine.clone(), handle.clone(), visitor.grant.name.clone());
    let made = blocking(move || {
        check_text("reason", &form.reason)?;
        make(&engine, &changed, &actor, &form)
    });
    match made.await {
        Ok(done) => Ok(Redirect::to(&address(name, &format!("?done={done}"))).into_response()),
        Err(error) => {
            let rejected = RejectedForm { id: "watch", meaning: String::new(), reason, chosen, error };
            super::page(&dashboard, &visitor, &handle, None, Some(&rejected)).await
        }
    }
}

impl PolicyPage<'_> {
    /// The form that starts a candidate, or ends the one that decides.
    pub(super) fn watch(&self, rejected: Option<&RejectedForm>) -> Markup {
        let rejected = rejected.filter(|rejected| rejected.id == "watch");
        let reason = rejected.map_or("", |rejected| &rejected.reason);
        let (title, about, action, button) = if self.live.shadow().is_some() {
            let about = "What it would have decided stays in the log.";
            ("End the candidate beside the rule", about, "/shadow/end", "End the candidate")
        } else {
            let about = "The rule of a proposal or of another version decides beside the rule in force, so that you see for whom it would \
                         decide otherwise. Nothing acts on it.";
            ("Watch a candidate beside the rule", about, "/shadow", "Watch this candidate")
        };
        let candidates = self.candidates();
        html! {
            @if self.live.shadow().is_some() || !candidates.is_empty() || rejected.is_some() {
                details.act #watch open[rejected.is_some()] {
                    summary { (title) }
                    div.inside {
                        p { (about) }
                        @if let Some(rejected) = rejected { div.notice.bad role="alert" { p { (rejected.error.sentences()) } } }
                        form.sheet method="post" action=(self.link(action)) {
                            (csrf(self.visitor))
                            @if self.live.shadow().is_none() {
                                div.field {
                                    label for="watch-candidate" { "The candidate" }
                                    select #watch-candidate name="candidate" required {
                                        @for (candidate, words) in &candidates {
                                            @let name = candidate.to_string();
                                            option value=(name) selected[rejected.is_some_and(|rejected| rejected.chosen == name)] { (name) ": " (words) }
                                        }
                                    }
                                }
                            }
                            div.field {
                                label for="watch-reason" { "Reason" }
                                input #watch-reason type="text" name="reason" required maxlength=(TEXT_CHARACTERS) value=(reason);
                            }
                            button type="submit" { (button) }
                        }
                    }
                }
            }
        }
    }

    /// Rules that can decide beside the one in force, the newest first: those that differ from it and fit the document.
    fn candidates(&self) -> Vec<(CandidateSource, String)> {
        let proposals = self.state.proposals.iter().rev().map(|proposal| CandidateSource::Proposal(proposal.number));
        let versions = self.state.versions.iter().rev().map(|version| CandidateSource::Version(version.number));
        let in_force = &self.live.version().rule;
        let mut found: Vec<(CandidateSource, String)> = Vec::new();
        for candidate in proposals.chain(versions) {
            let Ok(rule) = candidate.rule(self.live) else { continue };
            if rule == *in_force || self.live.document().check_rule(&rule).is_err() {
                continue;
            }
            let words = rule.words(self.live.document()).join("; ");
            if found.iter().all(|(_, known)| *known != words) {
                found.push((candidate, words));
            }
        }
        found
    }

    pub(super) fn shadow(&self) -> Markup {
        html! { @if let Some(shadow) = self.live.shadow() { (self.candidate(shadow)) } }
    }

    fn candidate(&self, shadow: &ShadowRecord) -> Markup {
        let (document, decided) = (self.live.document(), shadow.decisions());
        let differs = difference((document, document.rule()), (document, &shadow.rule));
        html! {
            h2 #shadow { "A candidate beside the rule" }
            p {
                "Since " (time(shadow.time_ms)) " another rule decides beside the one in force, for every decision. Nothing acts on it. Started by "
                strong { (shadow.by) } ": " (shadow.reason)
            }
            div.sides {
                div { h3 { "In force" } (rule(&document.rule().words(document))) }
                div { h3 { "The candidate" } (rule(&shadow.rule.words(document))) }
            }
            @if !differs.is_empty() { (list(&differs)) }
            @if decided == 0 {
                p { "There was no decision since." }
            } @else {
                p {
                    strong { (count(shadow.different())) " of " (plural(decided, "decision")) " (" (share(shadow.different(), decided)) ")" }
                    " would have been made otherwise."
                }
                (given(shadow))
            }
        }
    }
}

/// What was given and what the candidate would have given, the differences first.
fn given(shadow: &ShadowRecord) -> Markup {
    let decided = shadow.decisions();
    let mut pairs: Vec<(&str, &str, u64)> = shadow.pairs().collect();
    pairs.sort_by_key(|(given, candidate, _)| given == candidate);
    let rows = pairs.into_iter().map(|(given, candidate, times)| {
        vec![
            TableCell::head(given),
            TableCell::left(candidate),
            TableCell::number(format!("{} ({})", count(times), share(times, decided))),
        ]
    });
    let caption = "What was given, and what the candidate would have given";
    table(caption, &["given", "the candidate", "#decisions"], rows)
}

//! One decision explained: why a person got an option.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Form;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use rarely_core::{Context, Reason};
use rarely_live::engine::{OutcomeError, PolicyHandle};
use rarely_live::event::{Corrected, Decided, Event, Observed, Overridden};
use rarely_live::{DocumentEdition, Engine, LivePolicy, RecordField, Role, Version};
use rarely_policy::PolicyDocument;
use rarely_policy::number::short;
use rarely_store::LogEntry;
use serde::Deserialize;

use super::backwards::Backwards;
use super::event_text::reason_text;
use super::format::{measured, percent, time};
use super::layout::{PageLayout, TableCell, csrf, list, rule, table};
use super::page_error::PageError;
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, event_of};
use crate::limits::{TEXT_CHARACTERS, check_text};
use crate::rule_steps;

/// Events searched for the last decisions. Thousands of outcomes of older decisions can follow them.
const SEARCHED: usize = 5000;

/// A decision in a list.
pub(super) struct RecentDecision {
    pub(super) number: u64,
    pub(super) time_ms: u64,
    pub(super) decided: Decided,
    pub(super) outcome: Option<f64>,
}

impl RecentDecision {
    pub(super) fn reason_text(&self) -> &'static str {
        reason_text(self.decided.reason)
    }
}

/// The last decisions of a policy.
pub(super) fn recent(engine: &Engine, policy: u64, most: usize) -> Result<Vec<RecentDecision>, PageError> {
    let log = engine.log().as_ref();
    let last = log.head()?.map_or(0, |(number, _)| number);
    let mut backwards = Backwards::new(log, policy, last + 1);
    let mut found = Vec::new();
    for _ in 0..SEARCHED {
        let Some(entry) = backwards.next()? else { break };
        if entry.kind != "decided" {
            continue;
        }
        if let Event::Decided(decided) = event_of(log, &entry)? {
            let outcome = reports(engine, entry.number)?.last().map(|report| report.outcome);
            let outcome = outcome.filter(|outcome| outcome.is_finite());
            found.push(RecentDecision { number: entry.number, time_ms: entry.time_ms, decided, outcome });
        }
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

/// An outcome that was reported, or its correction.
struct ReportedOutcome {
    entry: LogEntry,
    outcome: f64,
    /// The outcomes of guard-rails, by column.
    guardrails: BTreeMap<String, f64>,
    /// The reason of a correction.
    reason: Option<String>,
}

/// The reported outcomes of a decision, oldest first.
fn reports(engine: &Engine, decision: u64) -> Result<Vec<ReportedOutcome>, PageError> {
    let entries = engine.outcomes_of(decision)?;
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        match event_of(engine.log().as_ref(), &entry)? {
            Event::Observed(Observed { outcome, guardrails, .. }) => {
                found.push(ReportedOutcome { entry, outcome, guardrails, reason: None });
            }
            Event::Corrected(Corrected { outcome, guardrails, reason, .. }) => {
                found.push(ReportedOutcome { entry, outcome, guardrails, reason });
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The form of an override.
#[derive(Debug, Deserialize)]
pub(super) struct OverrideForm {
    csrf: String,
    option: String,
    reason: String,
}

/// `GET /policies/{name}/decisions/{decision}`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path((name, number)): Path<(String, u64)>,
) -> Result<Response, PageError> {
    let handle = dashboard.policy(&visitor, &name)?;
    page(&dashboard, &visitor, &handle, number, None).await
}

/// `POST /policies/{name}/decisions/{decision}/override`.
pub(super) async fn override_decision(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path((name, number)): Path<(String, u64)>,
    Form(form): Form<OverrideForm>,
) -> Result<Response, PageError> {
    visitor.check_form(&form.csrf)?;
    let handle = dashboard.policy(&visitor, &name)?;
    dashboard.app.authorize(&visitor.grant, Role::Decide, Some(&name))?;
    let (engine, overridden, who) = (dashboard.app.engine.clone(), handle.clone(), visitor.grant.clone());
    let (option, reason) = (form.option.clone(), form.reason.clone());
    let recorded = blocking(move || {
        check_text("reason", &reason)?;
        Ok(engine.override_decision(&overridden, &who, number, &option, &reason)?)
    });
    match recorded.await {
        Ok(_) => Ok(Redirect::to(&address(&name, &format!("/decisions/{number}"))).into_response()),
        Err(error) => page(&dashboard, &visitor, &handle, number, Some((&form, &error))).await,
    }
}

/// The page, with the input of a form that was not accepted.
async fn page(
    dashboard: &Arc<Dashboard>,
    visitor: &Visitor,
    handle: &Arc<PolicyHandle>,
    number: u64,
    rejected: Option<(&OverrideForm, &PageError)>,
) -> Result<Response, PageError> {
    let (engine, read, who) = (dashboard.app.engine.clone(), handle.clone(), visitor.grant.clone());
    let (entry, decided, overridden, reports) = blocking(move || {
        let log = engine.log().as_ref();
        let entry = log.entry(number)?.filter(|entry| entry.policy == read.id);
        let event = entry.as_ref().map(|entry| event_of(log, entry)).transpose()?;
        match (entry, event) {
            (Some(entry), Some(Event::Decided(decided))) => {
                engine.decision_read(&read, &who, number)?;
                Ok((entry, decided, engine.override_of(number)?, reports(&engine, number)?))
            }
            _ => Err(OutcomeError::Unknown(number).into()),
        }
    })
    .await?;
    let live = handle.live.lock().clone();
    let version = live.version_of(decided.version)?;
    let view = DecisionPage { live: &live, entry: &entry, decided: &decided, version };
    let got = overridden.as_ref().map_or(&decided.option, |(_, overridden)| &overridden.option);
    let erased_ms = dashboard.app.engine.erased_ms(decided.subject);
    let archive = decided.archived.and_then(|_| handle.archive_file_of(number));
    let is_gone = erased_ms.is_some() || archive.is_some();
    let may_override = overridden.is_none() && reports.is_empty() && !is_gone;
    let content = html! {
        h1 { "Why did this person get " (got) "?" }
        @if let Some((entry, overridden)) = &overridden { (view.overridden(entry, overridden)) }
        (view.short())
        @if let Some(erased_ms) = erased_ms {
            h2 #record { "The person’s data" }
            p { "Erased on " (time(erased_ms)) ". Neither the data of the person nor the outcome can be read any more, and the decision cannot be drawn again." }
            (view.basis())
        } @else if let Some(file) = &archive {
            h2 #record { "The record" }
            p { "Archived in " code { (file) } ". The data of the person and the outcome are in that file alone, and no outcome is taken any more." }
            (view.basis())
        } @else {
            (view.record())
            (view.rule())
            (view.randomness())
            (view.basis())
            (view.outcome(&reports))
        }
        @if may_override && visitor.may(Role::Decide, &handle.name) { (view.override_form(visitor, rejected)) }
        (view.verification())
    };
    let title = format!("Decision {number}");
    let frame = PageLayout::of(dashboard, visitor, &title)
        .under("/", "Policies")
        .under(address(&handle.name, ""), &handle.name);
    let status = rejected.map_or(StatusCode::OK, |(_, error)| error.status());
    Ok((status, frame.html(&content)).into_response())
}

struct DecisionPage<'a> {
    live: &'a LivePolicy,
    entry: &'a LogEntry,
    decided: &'a Decided,
    /// The version that decided.
    version: &'a Version,
}

impl DecisionPage<'_> {
    /// The document under which it was decided.
    fn edition(&self) -> &DocumentEdition {
        self.live.edition_of(self.decided.version)
    }

    fn document(&self) -> &PolicyDocument {
        &self.edition().document
    }

    /// The option that the rule alone gives.
    fn ruled(&self) -> Option<&str> {
        let context = self.edition().reader.context(&self.decided.record).ok()?;
        let rule = rarely_core::Rule::new(self.version.rule.parameters(self.document()));
        let arm = rule.choose(Context::new(&context).ok()?).ok()?;
        self.document().options().get(arm.index()).map(String::as_str)
    }

    fn short(&self) -> Markup {
        let Decided { option, version, reason, pinned, .. } = self.decided;
        html! {
            p {
                (time(self.entry.time_ms)) ", " strong { (self.entry.actor) } " requested a decision, and it was " strong { (option) } ". "
                @match reason {
                    Reason::Policy if *pinned => { "The request named version " (version) ", and this is what its rule gives." },
                    Reason::Policy => { "This is what the rule in force (version " (version) ") gives." },
                    Reason::Pilot => {
                        "The rule in force (version " (version) ") did not decide this. In the pilot, every option is drawn with the same probability, \
                         to learn from its outcomes."
                    },
                    Reason::Equipoise => {
                        "The rule in force (version " (version) ") did not decide this alone. The option was drawn at random from those that the data had \
                         not ruled out for this person, to learn which is better."
                    },
                    other => { "It was chosen " (reason_text(*other)) "." },
                }
            }
        }
    }

    /// What the person got instead.
    fn overridden(&self, entry: &LogEntry, overridden: &Overridden) -> Markup {
        html! {
            div.notice.fair { p {
                "Not because of the policy. " (time(entry.time_ms)) ", " strong { (entry.actor) } " gave " strong { (overridden.option) } " instead of "
                strong { (self.decided.option) } " (event " (entry.number) "). The outcome is recorded, and is no evidence."
                @if !overridden.reason.is_empty() { " Reason: " (overridden.reason) }
            } }
        }
    }

    /// The form of an override. Once there is an outcome, it is evidence about the option that was decided.
    fn override_form(&self, visitor: &Visitor, rejected: Option<(&OverrideForm, &PageError)>) -> Markup {
        let others = self.live.document().options().iter().filter(|option| **option != self.decided.option);
        let (chosen, reason) = rejected.map_or(("", ""), |(form, _)| (&form.option, &form.reason));
        html! {
            details.act #override open[rejected.is_some()] {
                summary { "The person got another option" }
                div.inside {
                    p { "Record it, so that the outcome does not count as one of " strong { (self.decided.option) } ". It is recorded and is no evidence." }
                    @if let Some((_, error)) = rejected { div.notice.bad role="alert" { p { (error.sentences()) } } }
                    form.sheet method="post" action=(address(self.live.document().policy(), &format!("/decisions/{}/override", self.entry.number))) {
                        (csrf(visitor))
                        div.field {
                            label for="override-option" { "The option that the person got" }
                            select #override-option name="option" required {
                                @for option in others { option value=(option) selected[option == chosen] { (option) } }
                            }
                        }
                        div.field {
                            label for="override-reason" { "Reason" }
                            input #override-reason type="text" name="reason" required maxlength=(TEXT_CHARACTERS) value=(reason);
                        }
                        button type="submit" { "Record the override" }
                    }
                }
            }
        }
    }

    fn record(&self) -> Markup {
        let features = self.document().features().iter().zip(&self.decided.record);
        let rows = features.map(|(feature, field)| {
            vec![
                TableCell::head(&feature.column),
                TableCell::number(shown(field)),
                TableCell::left(feature.unit().unwrap_or_default()),
            ]
        });
        html! {
            h2 #record { "The person’s data" }
            @if self.decided.record.is_empty() { p { "None: the policy has no features." } } @else {
                (table("The record", &["feature", "#value", "unit"], rows))
            }
        }
    }

    fn rule(&self) -> Markup {
        let steps = rule_steps::steps(self.document(), &self.version.rule, &self.decided.record);
        html! {
            h2 #rule { "What the rule gives" }
            p { "Version " (self.version.number) ", in force since " (time(self.version.time_ms)) ":" }
            (rule(&self.version.rule.words(self.document())))
            p { "For this person:" }
            (list(&steps))
            @if let Some(ruled) = self.ruled() { p { "So the rule gives " strong { (ruled) } "." } }
        }
    }

    fn randomness(&self) -> Markup {
        let Decided { option, reason, propensity, .. } = self.decided;
        let same = self.ruled().is_some_and(|ruled| ruled == option);
        html! {
            h2 #randomness { "Was the option drawn at random?" }
            p {
                @match reason {
                    Reason::Policy if *propensity >= 1.0 => "No. Everyone with this data gets this option from this version.",
                    Reason::Policy => {
                        "Chance decides first whether the rule decides or an option is drawn. This time the rule decided. A person with this data gets " strong { (option) }
                        " with probability " (percent(*propensity)) ", and otherwise another option that the data had not ruled out."
                    },
                    _ if *propensity >= 1.0 => "Only this option was left to draw: the data had ruled out all others for this person.",
                    _ => {
                        "Yes. A person with this data gets " strong { (option) } " with probability " (percent(*propensity)) "."
                        @if same { " The rule alone gives the same option." } @else { " The rule alone gives another option." }
                    },
                }
            }
        }
    }

    fn basis(&self) -> Markup {
        let (basis, entry) = (self.decided.basis, self.entry);
        html! {
            h2 #basis { "What the decision is based on" }
            p {
                "All events up to event " (basis) ". "
                @if self.decided.reason == Reason::Policy && self.decided.propensity >= 1.0 { "The outcomes had no influence: the rule alone decided." }
                @else { "Their outcomes determine which options were not ruled out." }
            }
            @if let Some(key) = &self.decided.key { p { "Key of the request: " code { (key) } } }
            p { "The decision is event " (entry.number) ". It was recorded " (time(entry.time_ms)) ", before the response was sent." }
        }
    }

    fn outcome(&self, reports: &[ReportedOutcome]) -> Markup {
        let column = &self.document().outcome().column;
        html! {
            h2 #outcome { "The outcome" }
            @if reports.is_empty() { p { "No outcome has been reported yet." } } @else {
                ul {
                    @for (at, report) in reports.iter().enumerate() {
                        li {
                            (time(report.entry.time_ms)) ", " strong { (report.entry.actor) }
                            (if at == 0 { " reported " } else { " corrected it to " }) (column) " " strong { (measured(report.outcome)) }
                            @for (column, value) in &report.guardrails { ", " (column) " " strong { (measured(*value)) } }
                            " (event " (report.entry.number) ")."
                            @if let Some(reason) = &report.reason { " Reason: " (reason) }
                        }
                    }
                }
            }
        }
    }

    fn verification(&self) -> Markup {
        html! {
            h2 #verification { "How to verify this" }
            p {
                "A decision depends only on the policy document, the version in force, the events up to its basis, the seed of the policy and the number of \
                 the decision. " code { "rarely audit verify --store <path>" } " recomputes every decision and compares it with the recorded one."
            }
            (table("What it depends on", &["", ""], [
                vec![TableCell::head("decision"), TableCell::left(self.entry.number.to_string())],
                vec![TableCell::head("version"), TableCell::left(self.decided.version.to_string())],
                vec![TableCell::head("basis (last event)"), TableCell::left(self.decided.basis.to_string())],
                vec![TableCell::head("seed of the policy"), TableCell::left(self.live.state().registration.seed.to_string())],
                vec![TableCell::head("hash of the event"), TableCell::Left(html! { code { (self.entry.hash) } })],
            ]))
        }
    }
}

/// A value as the request had it.
fn shown(field: &RecordField) -> String {
    match field {
        RecordField::Number(number) => short(*number),
        RecordField::Text(text) => text.clone(),
        RecordField::Missing => "missing".to_owned(),
    }
}

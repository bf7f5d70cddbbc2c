//! One decision explained: why did this person get this option?

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};
use rarely_core::{Context, Reason};
use rarely_live::engine::PolicyHandle;
use rarely_live::event::{Decided, Event};
use rarely_live::{Engine, LivePolicy, RecordField, Version};
use rarely_policy::PolicyDocument;
use rarely_policy::number::short;
use rarely_store::LogEntry;

use crate::worked;

use super::backwards::Backwards;
use super::format::{percent, time, value};
use super::layout::{Cell, Frame, list, rule, table};
use super::refusal::Refusal;
use super::told::why;
use super::visitor::Visitor;
use super::{Dashboard, address, blocking, event_of};

/// Events that are looked through for the last decisions: outcomes of older ones can come in thousands after them.
const LOOKED_THROUGH: usize = 5000;

/// A decision in a list.
pub(super) struct Recent {
    pub(super) number: u64,
    pub(super) time_ms: u64,
    pub(super) decided: Decided,
    pub(super) outcome: Option<f64>,
}

impl Recent {
    pub(super) fn why(&self) -> &'static str {
        why(self.decided.reason)
    }
}

/// The last decisions of a policy.
pub(super) fn recent(engine: &Engine, policy: u64, most: usize) -> Result<Vec<Recent>, Refusal> {
    let log = engine.log().as_ref();
    let last = log.head()?.map_or(0, |(number, _)| number);
    let mut backwards = Backwards::new(log, policy, last + 1);
    let mut found = Vec::new();
    for _ in 0..LOOKED_THROUGH {
        let Some(entry) = backwards.next()? else { break };
        if entry.kind != "decided" {
            continue;
        }
        if let Event::Decided(decided) = event_of(&entry)? {
            let outcome = reports(engine, entry.number)?.last().map(|report| report.outcome);
            found.push(Recent { number: entry.number, time_ms: entry.time_ms, decided, outcome });
        }
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

/// What was said of how it went.
struct Report {
    entry: LogEntry,
    outcome: f64,
    /// Why it was corrected, if it was and somebody said so.
    reason: Option<String>,
}

/// What was said of how a decision went, the first first.
fn reports(engine: &Engine, decision: u64) -> Result<Vec<Report>, Refusal> {
    let entries = engine.outcomes_of(decision).map_err(|error| Refusal::fault(error.to_string()))?;
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        match event_of(&entry)? {
            Event::Observed(observed) => found.push(Report { entry, outcome: observed.outcome, reason: None }),
            Event::Corrected(corrected) => {
                found.push(Report { entry, outcome: corrected.outcome, reason: corrected.reason });
            }
            _ => {}
        }
    }
    Ok(found)
}

/// `GET /policies/{name}/decisions/{decision}`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path((name, number)): Path<(String, u64)>,
) -> Result<Html<String>, Refusal> {
    let handle = dashboard.policy(&visitor, &name)?;
    let (engine, policy) = (dashboard.app.engine.clone(), handle.id);
    let missing = format!("The policy {name:?} has made no decision {number}.");
    let (entry, decided, reports) = blocking(move || {
        let log = engine.log().as_ref();
        let entry = log.entry(number)?.filter(|entry| entry.policy == policy);
        let event = entry.as_ref().map(event_of).transpose()?;
        match (entry, event) {
            (Some(entry), Some(Event::Decided(decided))) => Ok((entry, decided, reports(&engine, number)?)),
            _ => Err(Refusal::not_found(missing)),
        }
    })
    .await?;
    let live = handle.live.lock().clone();
    let version = live.version_of(decided.version).map_err(|error| Refusal::fault(error.to_string()))?;
    let view = View { handle: &handle, live: &live, entry: &entry, decided: &decided, version };
    let content = html! {
        h1 { "Why did this person get " (decided.option) "?" }
        (view.short())
        (view.record())
        (view.rule())
        (view.lot())
        (view.known())
        (view.outcome(&reports))
        (view.again())
    };
    let title = format!("Decision {number}");
    let frame = Frame::of(&dashboard, &visitor, &title).under("/", "Policies").under(address(&name, ""), &name);
    Ok(frame.html(&content))
}

struct View<'a> {
    handle: &'a PolicyHandle,
    live: &'a LivePolicy,
    entry: &'a LogEntry,
    decided: &'a Decided,
    /// The version that decided.
    version: &'a Version,
}

impl View<'_> {
    fn document(&self) -> &PolicyDocument {
        self.live.document()
    }

    /// What the rule alone says of this person.
    fn ruled(&self) -> Option<&str> {
        let context = self.handle.reader.context(&self.decided.record).ok()?;
        let rule = rarely_core::Rule::new(self.version.rule.parameters(self.document()));
        let arm = rule.choose(Context::new(&context).ok()?).ok()?;
        self.document().options().get(arm.index()).map(String::as_str)
    }

    fn short(&self) -> Markup {
        let Decided { option, version, reason, .. } = self.decided;
        html! {
            p {
                (time(self.entry.time_ms)) ", " strong { (self.entry.actor) } " asked which option a person is to get; the answer was "
                strong { (option) } ". "
                @match reason {
                    Reason::Policy => { "The rule of version " (version) ", which was in force, says so." },
                    Reason::Pilot => {
                        "Not because of the rule of version " (version) ", which was in force, but because it was the option's turn: at first every option is \
                         given a few times, so that there is something to learn from."
                    },
                    Reason::Equipoise => {
                        "Not because of the rule of version " (version) " alone, which was in force: a lot was drawn among the options that the data had not \
                         ruled out for this person, so that it can be learned which is better."
                    },
                    other => { "Why: " (why(*other)) "." },
                }
            }
        }
    }

    fn record(&self) -> Markup {
        let features = self.document().features().iter().zip(&self.decided.record);
        let rows = features.map(|(feature, field)| {
            vec![
                Cell::head(&feature.column),
                Cell::number(shown(field)),
                Cell::left(feature.unit().unwrap_or_default()),
            ]
        });
        html! {
            h2 #record { "What was known of the person" }
            @if self.decided.record.is_empty() { p { "Nothing: the policy has no features." } } @else {
                (table("The record", &["feature", "#value", "unit"], rows))
            }
        }
    }

    fn rule(&self) -> Markup {
        let steps = worked::steps(self.document(), &self.version.rule, &self.decided.record);
        html! {
            h2 #rule { "What the rule says" }
            p { "Version " (self.version.number) ", in force since " (time(self.version.time_ms)) ":" }
            (rule(&self.version.rule.words(self.document())))
            p { "For this person:" }
            (list(&steps))
            @if let Some(ruled) = self.ruled() { p { "So the rule gives " strong { (ruled) } "." } }
        }
    }

    fn lot(&self) -> Markup {
        let Decided { option, reason, propensity, .. } = self.decided;
        let seen = self.ruled().is_some_and(|ruled| ruled == option);
        html! {
            h2 #lot { "Was a lot drawn?" }
            p {
                @match reason {
                    Reason::Policy if *propensity >= 1.0 => "No. Everybody like this person gets this option from this version.",
                    Reason::Policy => {
                        "A lot decides first whether the rule or chance chooses: this time it fell on the rule. Somebody like this person gets " strong { (option) } " with probability "
                        (percent(*propensity)) "; otherwise another option that the data had not ruled out."
                    },
                    Reason::Pilot => "No lot, but a turn: the option with the fewest outcomes was given.",
                    _ if *propensity >= 1.0 => "One was to be drawn, but only this option was left: the data had ruled out every other for this person.",
                    _ => {
                        "Yes. Somebody like this person gets " strong { (option) } " with probability " (percent(*propensity)) "."
                        @if seen { " It is also what the rule says." } @else { " The rule alone says otherwise." }
                    },
                }
            }
        }
    }

    fn known(&self) -> Markup {
        let (basis, entry) = (self.decided.basis, self.entry);
        html! {
            h2 #known { "What was known then" }
            p {
                "Everything up to event " (basis) " of the log. "
                @if self.decided.reason == Reason::Policy && self.decided.propensity >= 1.0 { "The outcomes until then played no part: the rule alone decided." }
                @else { "Which options were still open follows from the outcomes until then." }
            }
            @if let Some(key) = &self.decided.key { p { "The caller's name for the request: " code { (key) } } }
            p { "This decision is event " (entry.number) ", recorded " (time(entry.time_ms)) " before it was answered." }
        }
    }

    fn outcome(&self, reports: &[Report]) -> Markup {
        let column = &self.document().outcome().column;
        html! {
            h2 #outcome { "How it went" }
            @if reports.is_empty() { p { "No outcome has been reported yet." } } @else {
                ul {
                    @for (at, report) in reports.iter().enumerate() {
                        li {
                            (time(report.entry.time_ms)) ", " strong { (report.entry.actor) }
                            (if at == 0 { " reported " } else { " corrected it to " }) (column) " " strong { (value(report.outcome)) }
                            " (event " (report.entry.number) ")."
                            @if let Some(reason) = &report.reason { " Reason: " (reason) }
                        }
                    }
                }
            }
        }
    }

    fn again(&self) -> Markup {
        html! {
            h2 #again { "How to check this" }
            p {
                "A decision follows from the policy document, the version in force, the events up to its basis, the policy's seed and the decision's own \
                 number, and from nothing else. " code { "rarely audit verify --store <the store>" } " works out every decision again and compares it with \
                 what was answered."
            }
            (table("What it follows from", &["", ""], [
                vec![Cell::head("decision"), Cell::left(self.entry.number.to_string())],
                vec![Cell::head("version"), Cell::left(self.decided.version.to_string())],
                vec![Cell::head("basis (last event known)"), Cell::left(self.decided.basis.to_string())],
                vec![Cell::head("seed of the policy"), Cell::left(self.live.state().registration.seed.to_string())],
                vec![Cell::head("hash of the event"), Cell::Left(html! { code { (self.entry.hash) } })],
            ]))
        }
    }
}

/// A field as it was sent.
fn shown(field: &RecordField) -> String {
    match field {
        RecordField::Number(number) => short(*number),
        RecordField::Text(text) => text.clone(),
    }
}

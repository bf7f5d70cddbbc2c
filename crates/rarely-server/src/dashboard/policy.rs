//! One policy: the rule, the evidence for and against it, how it came about, and what can be done.

pub(super) mod evidence;
mod forms;
mod history;
mod over_time;

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rarely_live::engine::PolicyHandle;
use rarely_live::{LivePolicy, PolicyState as Standing, Role};
use rarely_policy::{Approval, duration};
use rarely_review::{Findings, ThinSupport, Verdict};
use serde::Deserialize;

use super::decision::{Recent, recent};
use super::format::{age, count, percent, plural, share, time};
use super::layout::{Cell, Frame, fact, list, picture, rule, table};
use super::refusal::Refusal;
use super::signing::Typed;
use super::visitor::Visitor;
use super::{Dashboard, address, blocking};
use evidence::Shown;

pub(super) use history::{signed, status};

/// A list of thin places longer than this is folded away.
const SHOWN_PLACES: usize = 8;
/// Decisions that are shown.
const RECENT: usize = 20;

/// What was just done.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Done {
    done: Option<String>,
}

/// `GET /policies/{name}`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(done): Query<Done>,
) -> Result<Response, Refusal> {
    let handle = dashboard.policy(&visitor, &name)?;
    page(&dashboard, &visitor, &handle, done.done.as_deref(), None).await
}

/// The page; with what was typed into a form of it that was not taken.
pub(super) async fn page(
    dashboard: &Arc<Dashboard>,
    visitor: &Visitor,
    handle: &Arc<PolicyHandle>,
    done: Option<&str>,
    typed: Option<&Typed>,
) -> Result<Response, Refusal> {
    let engine = &dashboard.app.engine;
    let evidence = dashboard.evidence.of(engine, handle).await?;
    let decisions = {
        let (engine, handle) = (engine.clone(), handle.clone());
        blocking(move || recent(&engine, handle.id, RECENT)).await?
    };
    // A copy, so that nothing waits for the page.
    let live = handle.live.lock().clone();
    let now_ms = dashboard.now_ms();
    let view = View { handle, live: &live, state: live.state(), visitor, now_ms };
    let content = html! {
        h1 { (handle.name) }
        (view.badges())
        @if let Some(words) = done.and_then(done_words) { div.notice.good role="status" { p { (words) } } }
        (view.waiting())
        (contents())
        (view.in_force(evidence.as_deref()))
        (findings(evidence.as_deref()))
        (view.over_time())
        (view.options())
        (gaps(evidence.as_deref()))
        (view.versions())
        (view.decisions(&decisions))
        (view.plan())
        (view.forms(typed))
        (view.document())
    };
    let mut frame = Frame::of(dashboard, visitor, &handle.name).under("/", "Policies");
    if typed.is_none() {
        // A page with half a form in it is left alone.
        frame = frame.live(address(&handle.name, "/live"), view.state.last_event);
    }
    let status = typed.map_or(StatusCode::OK, |typed| typed.refusal.status);
    Ok((status, frame.html(&content)).into_response())
}

/// A policy at a moment, for somebody.
struct View<'a> {
    handle: &'a PolicyHandle,
    live: &'a LivePolicy,
    state: &'a Standing,
    visitor: &'a Visitor,
    now_ms: u64,
}

impl View<'_> {
    fn link(&self, rest: &str) -> String {
        address(&self.handle.name, rest)
    }

    fn may_review(&self) -> bool {
        self.visitor.may(Role::Review, &self.handle.name)
    }

    fn badges(&self) -> Markup {
        html! {
            ul.badges {
                li { span.badge { "version " (self.live.version().number) } }
                @if self.state.stopped { li { span.badge.bad { "stopped" } } }
                @if self.live.open_proposal().is_some() { li { span.badge.fair { "waits for a signature" } } }
            }
        }
    }

    /// What waits for a signature, or was refused by the plan.
    fn waiting(&self) -> Markup {
        let needed = self.live.signatures_needed();
        html! {
            @if let Some(open) = self.live.open_proposal() {
                div.notice.fair {
                    p {
                        strong { "Proposal " (open.number) " waits for a signature. " }
                        (open.signers.len()) " of " (needed) " signed; it can be signed until " (time(open.expires_ms)) "."
                    }
                    p { a href=(self.link(&format!("/proposals/{}", open.number))) { "Look at the evidence for it" } }
                }
            }
            @if let Some(reasons) = &self.state.reviews.refused {
                div.notice.fair {
                    p { strong { "The evidence asks for a change that the plan does not allow" } ", so it was not proposed:" }
                    (list(reasons))
                }
            }
            @if self.state.stopped {
                div.notice.bad { p {
                    strong { "The policy is stopped: " }
                    "everybody gets what the last signed rule says, nothing is drawn by lot, and no change is proposed until somebody resumes it."
                } }
            }
        }
    }

    fn in_force(&self, evidence: Option<&Shown>) -> Markup {
        let (version, counts) = (self.live.version(), &self.state.counts);
        let decided: u64 = counts.decided.iter().sum();
        let unanswered =
            counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(self.now_ms).iter().sum::<u64>());
        html! {
            h2 #rule { "The rule in force" }
            (rule(&version.rule.words(self.live.document())))
            dl.facts {
                (fact("version", &html! { (version.number) }))
                (fact("in force for", &html! { (age(version.time_ms, self.now_ms)) }))
                (fact("decisions", &html! { (count(decided)) }))
                (fact("outcomes", &html! { (count(self.state.learned.outcomes())) }))
                (fact("unanswered", &html! {
                    @match unanswered { Some(number) => { (count(number)) }, None => span.small { "no time limit set" } }
                }))
                (fact("given to learn, not by the rule", &html! { (share(counts.explored, decided)) }))
                @if let Some(evidence) = evidence {
                    (fact("given a ruled-out option", &html! { (percent(evidence.findings.standing.excluded.share)) }))
                }
            }
        }
    }

    fn over_time(&self) -> Markup {
        let reviews = &self.state.reviews;
        let drawn = over_time::picture(self.live.document(), reviews.points(), &self.state.versions);
        html! {
            h2 #over-time { "Evidence over time" }
            @match &drawn {
                Some(drawing) => (picture(&drawing.svg, &drawing.caption)),
                None => p { "A picture comes with the second review." },
            }
            p {
                @if reviews.count == 0 {
                    "There was no review yet."
                } @else {
                    (plural(reviews.count, "review")) " so far; the last one " (time(reviews.time_ms)) " on "
                    (plural(reviews.outcomes, "outcome")) ": " strong { (reviews.verdict.map_or("", Verdict::name)) } "."
                }
            }
        }
    }

    fn options(&self) -> Markup {
        let counts = &self.state.counts;
        let unanswered = counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(self.now_ms));
        let rows = self.live.document().options().iter().enumerate().map(|(at, option)| {
            let late = unanswered.as_ref().map(|unanswered| unanswered[at]);
            vec![
                Cell::head(option),
                Cell::number(count(counts.decided[at])),
                Cell::number(count(counts.answered[at])),
                Cell::number(count(counts.elsewhere[at])),
                Cell::number(late.map_or_else(|| "–".to_owned(), count)),
                Cell::number(late.map_or_else(|| "–".to_owned(), |late| share(late, counts.decided[at]))),
            ]
        });
        let head = [
            "option",
            "#decisions",
            "#with an outcome",
            "#outcomes from elsewhere",
            "#unanswered",
            "#share unanswered",
        ];
        html! {
            h2 #options { "Options" }
            (table("Decisions and outcomes by option", &head, rows))
            @if let Some(window) = self.live.document().control().outcome_window_ms {
                p.small.muted { "Unanswered: no outcome " (duration::words(window)) " after the decision. A late outcome still counts." }
            } @else {
                p.small.muted { "The document sets no outcome_window, so no decision counts as unanswered." }
            }
            @if counts.corrections > 0 { p.small.muted { (plural(counts.corrections, "correction")) " of outcomes." } }
        }
    }

    fn decisions(&self, decisions: &[Recent]) -> Markup {
        let outcome = &self.live.document().outcome().column;
        let rows = decisions.iter().map(|recent| {
            vec![
                Cell::Name(html! { a href=(self.link(&format!("/decisions/{}", recent.number))) { (recent.number) } }),
                Cell::Whole(time(recent.time_ms)),
                Cell::left(&recent.decided.option),
                Cell::Whole(html! { (recent.why()) }),
                Cell::number(percent(recent.decided.propensity)),
                Cell::number(count(recent.decided.version)),
                Cell::number(recent.outcome.map_or_else(|| "–".to_owned(), super::format::value)),
            ]
        });
        html! {
            h2 #decisions { "Recent decisions" }
            @if decisions.is_empty() { p { "There was none yet." } } @else {
                (table("Recent decisions", &["decision", "time", "option", "why", "#probability", "#version", &format!("#{outcome}")], rows))
                p { a href=(self.link("/audit")) { "Everything that happened" } ", newest first" }
            }
        }
    }

    fn plan(&self) -> Markup {
        let control = self.live.document().control();
        let approval = match control.approval {
            Approval::Automatic => "A change that the evidence justifies comes in force without a signature.",
            Approval::One => "A change needs the signature of one person.",
            Approval::Two => "A change needs the signatures of two different people.",
        };
        let mut lines = vec![approval.to_owned()];
        let after =
            control.review_after_ms.map(|after| format!(", and after {} if there was any", duration::words(after)));
        lines.push(format!(
            "The rule is reviewed every {}{}.",
            plural(control.review_every, "outcome"),
            after.unwrap_or_default()
        ));
        if control.minimum_days_between_changes > 0.0 {
            lines.push(format!("At least {} days lie between two changes.", control.minimum_days_between_changes));
        }
        lines.extend(control.maximum_changes.map(|most| format!("There are at most {}.", plural(most, "change"))));
        lines.push(format!(
            "A proposal that nobody signs lapses after {}.",
            duration::words(control.proposal_expires_ms)
        ));
        let bounds = control.bounds.iter();
        lines.extend(
            bounds.map(|bound| {
                format!("The rule's number “{}” stays within {} to {}.", bound.name, bound.low, bound.high)
            }),
        );
        let explore = self.live.document().change().explore;
        lines.push(if explore == rarely_core::Exploration::NONE {
            "Nothing is drawn by lot: the rule alone decides.".to_owned()
        } else {
            let pilot = match explore.pilot {
                0 => String::new(),
                pilot => format!("each option is given until it has {}; ", plural(pilot.into(), "outcome")),
            };
            let lot = percent(explore.equipoise.get());
            format!(
                "To learn, {pilot}for {lot} of people a lot is drawn among the options that the data do not rule out."
            )
        });
        html! {
            h2 #plan { "The plan agreed beforehand" }
            (list(&lines))
        }
    }

    fn document(&self) -> Markup {
        let birth = &self.state.registration;
        html! {
            h2 #document { "The document" }
            p { "Registered " (time(birth.time_ms)) " by " strong { (birth.author) } " (event " (birth.event) ")." }
            details #document-text { summary { "The document as it was registered" } pre { code { (birth.text) } } }
        }
    }
}

fn contents() -> Markup {
    let parts = [
        ("rule", "The rule in force"),
        ("evidence", "What the data say about it"),
        ("over-time", "Evidence over time"),
        ("options", "Options"),
        ("gaps", "What the data cannot say"),
        ("versions", "Versions"),
        ("decisions", "Recent decisions"),
        ("plan", "The plan agreed beforehand"),
        ("act", "What you can do"),
        ("document", "The document"),
    ];
    html! {
        nav.contents aria-label="On this page" { ol { @for (id, name) in parts { li { a href={ "#" (id) } { (name) } } } } }
    }
}

/// What the data say about the rule in force.
fn findings(evidence: Option<&Shown>) -> Markup {
    html! {
        h2 #evidence { "What the data say about it" }
        @match evidence {
            None => p { "There is no outcome yet, so the data say nothing." },
            Some(Shown { findings, pictures }) => {
                p {
                    span.badge.(tone(findings.verdict.verdict)) { (findings.verdict.verdict) } " " (findings.verdict.sentence)
                    " This rests on " (plural(findings.cases.rows, "outcome")) "."
                }
                @if !findings.verdict.reasons.is_empty() { (list(&findings.verdict.reason_sentences())) }
                @if !findings.standing.boundaries.is_empty() {
                    p { "Where the rule passes from one option to another, and whether the data have ruled that out:" }
                    ul { @for boundary in &findings.standing.boundaries { li { (boundary.sentence) } } }
                }
                p {
                    "Among the last " (count(findings.cases.people)) " people with an outcome: " (findings.standing.excluded.sentence)
                    @if let Some(sentence) = findings.standing.joint_sentence { " " (sentence) }
                }
                @for drawing in pictures { (picture(&drawing.svg, &drawing.caption)) }
                @if findings.checks.iter().any(|check| check.warning.is_some()) {
                    h3 { "Be careful" }
                    ul { @for warning in findings.checks.iter().filter_map(|check| check.warning.as_ref()) { li { (warning) } } }
                }
            }
        }
    }
}

fn gaps(evidence: Option<&Shown>) -> Markup {
    html! {
        h2 #gaps { "What the data cannot say" }
        @if let Some(Shown { findings: Findings { gaps, .. }, .. }) = evidence {
            @if let Some(sentence) = gaps.nothing_sentence { p { (sentence) } }
            @if !gaps.stuck.is_empty() { ul { @for stuck in &gaps.stuck { li { (stuck.sentence) } } } }
            @if let Some(forecast) = &gaps.forecast { h3 { "What would settle it" } p { (forecast.sentence) } }
            @if let Some(meaning) = gaps.thin_meaning { p { (meaning) } (thin(&gaps.thin)) }
        } @else { p { "There is no outcome yet." } }
    }
}

/// Where an option was never or hardly ever tried.
fn thin(places: &[ThinSupport]) -> Markup {
    let rows = places.iter().map(|thin| {
        vec![
            Cell::head(&thin.option),
            Cell::left(&thin.band),
            Cell::number(count(thin.rows)),
            Cell::number(count(thin.tried)),
        ]
    });
    let caption = "Places where an option was never or hardly ever tried";
    let shown = table(caption, &["option", "people", "#cases", "#with this option"], rows);
    html! {
        @if places.len() > SHOWN_PLACES {
            details #thin { summary { (places.len()) " places where an option was never or hardly ever tried" } (shown) }
        } @else { (shown) }
    }
}

fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Keep => "good",
        Verdict::Change => "bad",
        Verdict::CannotTell => "fair",
    }
}

/// What to say after a form was taken.
fn done_words(done: &str) -> Option<&'static str> {
    Some(match done {
        "registered" => "The policy is registered, and its document is version 1.",
        "keep" => "The rule was reviewed: it is kept.",
        "change" => "The rule was reviewed: the evidence asks for a change.",
        "cannot-tell" => "The rule was reviewed: it cannot be told yet whether it should change.",
        "confirmed" => "Your signature stands: reviewed, no change.",
        "not-confirmed" => {
            "The rule was reviewed, and the evidence asks for a change: \u{201c}no change\u{201d} was not signed."
        }
        "approved" => "Your signature stands, and the new version is in force.",
        "signed" => "Your signature stands; another one is needed.",
        "rejected" => "Your refusal stands: the rule in force is kept.",
        "rolled-back" => "The older rule is in force again, as a new version.",
        "rollback-proposed" => "The rollback is proposed, with your signature; another one is needed.",
        "stopped" => "The policy is stopped.",
        "resumed" => "The policy goes on.",
        _ => return None,
    })
}

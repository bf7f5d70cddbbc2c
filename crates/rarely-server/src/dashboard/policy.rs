//! The page of one policy: the rule, the evidence, its history, and the actions.

pub(super) mod evidence;
mod forms;
mod history;
mod over_time;
pub(super) mod shadow;

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rarely_live::engine::PolicyHandle;
use rarely_live::{LivePolicy, PolicyState as Standing, Role};
use rarely_policy::{Approval, SignedWith, duration};
use rarely_review::findings::thin_title;
use rarely_review::{Findings, ThinSupport, Verdict};
use serde::Deserialize;

use super::decision::{RecentDecision, recent};
use super::format::{age, count, percent, plural, share, time};
use super::layout::{PageLayout, TableCell, fact, list, picture, rule, table};
use super::page_error::PageError;
use super::signature_form::{RejectedForm, SigningMeans};
use super::visitor::Visitor;
use super::{Dashboard, address, blocking};
use evidence::Shown;

pub(super) use history::{signed, status};

/// A longer list of sparse places is collapsed.
const SHOWN_PLACES: usize = 8;
/// Recent decisions to show.
const RECENT: usize = 20;

/// The query parameters: what was just done.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PolicyQuery {
    done: Option<String>,
}

/// `GET /policies/{name}`.
pub(super) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(query): Query<PolicyQuery>,
) -> Result<Response, PageError> {
    let handle = dashboard.policy(&visitor, &name)?;
    page(&dashboard, &visitor, &handle, query.done.as_deref(), None).await
}

/// The page, with the input of a form that was not accepted.
pub(super) async fn page(
    dashboard: &Arc<Dashboard>,
    visitor: &Visitor,
    handle: &Arc<PolicyHandle>,
    done: Option<&str>,
    rejected: Option<&RejectedForm>,
) -> Result<Response, PageError> {
    let engine = &dashboard.app.engine;
    let evidence = dashboard.evidence.of(engine, handle).await?;
    let decisions = {
        let (engine, handle) = (engine.clone(), handle.clone());
        blocking(move || recent(&engine, handle.id, RECENT)).await?
    };
    // A copy, so that the lock is not held while the page is rendered.
    let live = handle.live.lock().clone();
    let now_ms = dashboard.now_ms();
    let view = PolicyPage {
        handle,
        live: &live,
        state: live.state(),
        visitor,
        means: SigningMeans::of(dashboard, visitor),
        now_ms,
    };
    let content = html! {
        h1 { (handle.name) }
        (view.badges())
        @if let Some(words) = done.and_then(done_message) { div.notice.good role="status" { p { (words) } } }
        (view.notices())
        (contents(live.shadow().is_some()))
        (view.in_force(evidence.as_deref()))
        (view.shadow())
        (findings(evidence.as_deref()))
        (view.over_time())
        (view.options())
        (gaps(evidence.as_deref()))
        (view.versions())
        (view.decisions(&decisions))
        (view.plan())
        (view.forms(rejected))
        (view.document())
    };
    let mut frame = PageLayout::of(dashboard, visitor, &handle.name).under("/", "Policies").signing();
    if rejected.is_none() {
        // A page with a half-filled form is not updated.
        frame = frame.live(address(&handle.name, "/live"), view.state.last_event);
    }
    let status = rejected.map_or(StatusCode::OK, |rejected| rejected.error.status());
    Ok((status, frame.html(&content)).into_response())
}

/// A policy at one moment, for a visitor.
struct PolicyPage<'a> {
    handle: &'a PolicyHandle,
    live: &'a LivePolicy,
    state: &'a Standing,
    visitor: &'a Visitor,
    means: SigningMeans<'a>,
    now_ms: u64,
}

impl PolicyPage<'_> {
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

    /// Notices: an open proposal, a change that the plan forbids, a stop.
    fn notices(&self) -> Markup {
        html! {
            @if let Some(open) = self.live.open_proposal() {
                @let needed = self.live.signatures_needed_for(open);
                div.notice.fair {
                    p {
                        strong { "Proposal " (open.number) " waits for a signature. " }
                        (open.signers.len()) " of " (needed) " signed. It expires " (time(open.expires_ms)) "."
                    }
                    p { a href=(self.link(&format!("/proposals/{}", open.number))) { "See the evidence" } }
                }
            }
            @if let Some(reasons) = &self.state.reviews.refused {
                div.notice.fair {
                    p { strong { "The evidence calls for a change that the plan does not allow" } ", so it was not proposed:" }
                    (list(reasons))
                }
            }
            @if self.state.stopped {
                div.notice.bad { p {
                    strong { "The policy is stopped: " }
                    "the last signed rule decides, nothing is drawn at random, and no change is proposed until the policy is resumed."
                } }
            }
        }
    }

    fn in_force(&self, evidence: Option<&Shown>) -> Markup {
        let (version, counts) = (self.live.version(), &self.state.counts);
        let decided: u64 = counts.decided.iter().sum();
        let unanswered =
            counts.unanswered.as_ref().map(|unanswered| unanswered.overdue(self.now_ms).iter().sum::<u64>());
        let window = self.live.document().control().outcome_window_ms;
        let waiting = self.state.late.as_ref().map_or(0, |late| late.waiting().reported);
        html! {
            h2 #rule { "The rule in force" }
            (rule(&version.rule.words(self.live.document())))
            dl.facts {
                (fact("version", &html! { (version.number) }))
                (fact("in force for", &html! { (age(version.time_ms, self.now_ms)) }))
                (fact("decisions", &html! { (count(decided)) }))
                (fact("outcomes", &html! { (count(counts.outcomes())) }))
                @if waiting > 0 { (fact("outcomes that wait", &html! { (count(waiting)) })) }
                (fact("unanswered", &html! {
                    @match unanswered { Some(number) => { (count(number)) }, None => span.small { "no time limit" } }
                }))
                (fact("given by exploration", &html! { (share(counts.explored, decided)) }))
                @if let Some(evidence) = evidence {
                    (fact("given a ruled-out option", &html! { (percent(evidence.findings.standing.excluded.share)) }))
                }
            }
            @if let Some(sentence) = self.state.late.as_ref().and_then(|late| late.sentence(window)) {
                p.small.muted { (sentence) }
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
                None => p { "The figure needs two reviews." },
            }
            p {
                @if reviews.count == 0 {
                    "No review yet."
                } @else {
                    (plural(reviews.count, "review")) ". The last one, " (time(reviews.time_ms)) ", on "
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
                TableCell::head(option),
                TableCell::number(count(counts.decided[at])),
                TableCell::number(count(counts.answered[at])),
                TableCell::number(count(counts.elsewhere[at])),
                TableCell::number(late.map_or_else(|| "–".to_owned(), count)),
                TableCell::number(late.map_or_else(|| "–".to_owned(), |late| share(late, counts.decided[at]))),
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
                p.small.muted { "Unanswered: no outcome within " (duration::words(window)) " of the decision. "
                    @match &self.state.late {
                        None => "A late outcome still counts.",
                        Some(late) => {
                            "An outcome that comes later is recorded and not learned from"
                            @if late.too_late() > 0 { ": " (count(late.too_late())) " so far" } "."
                        }
                    }
                }
            } @else {
                p.small.muted { "The document has no outcome_window, so no decision counts as unanswered." }
            }
            @if counts.corrections > 0 { p.small.muted { (plural(counts.corrections, "corrected outcome")) "." } }
        }
    }

    fn decisions(&self, decisions: &[RecentDecision]) -> Markup {
        let outcome = &self.live.document().outcome().column;
        let rows = decisions.iter().map(|recent| {
            vec![
                TableCell::Name(
                    html! { a href=(self.link(&format!("/decisions/{}", recent.number))) { (recent.number) } },
                ),
                TableCell::OneLine(time(recent.time_ms)),
                TableCell::left(&recent.decided.option),
                TableCell::OneLine(html! { (recent.reason_text()) }),
                TableCell::number(percent(recent.decided.propensity)),
                TableCell::number(count(recent.decided.version)),
                TableCell::number(recent.outcome.map_or_else(|| "–".to_owned(), super::format::measured)),
            ]
        });
        html! {
            h2 #decisions { "Recent decisions" }
            @if decisions.is_empty() { p { "No decision yet." } } @else {
                (table("Recent decisions", &["decision", "time", "option", "chosen", "#probability", "#version", &format!("#{outcome}")], rows))
                p { a href=(self.link("/audit")) { "All events" } ", newest first" }
            }
        }
    }

    fn plan(&self) -> Markup {
        let control = self.live.document().control();
        let approval = match control.approval {
            Approval::Automatic => "A change that the evidence calls for comes into force without a signature.",
            Approval::One => "A change requires the signature of one person.",
            Approval::Two => "A change requires the signatures of two different people.",
        };
        let signatures = match self.live.signed_with() {
            SignedWith::Key => "People sign with keys of their own: passkeys or key files. Only a stop needs no key.",
            SignedWith::Token => "People sign with their tokens; whoever has a key signs with it.",
        };
        let mut lines = vec![approval.to_owned(), signatures.to_owned()];
        let after = control
            .review_after_ms
            .map(|after| format!(", or {} after the last review if there is a new outcome", duration::words(after)));
        lines.push(format!(
            "The rule is reviewed after every {}{}.",
            plural(control.review_every, "outcome"),
            after.unwrap_or_default()
        ));
        if control.minimum_days_between_changes > 0.0 {
            lines
                .push(format!("There are at least {} days between two changes.", control.minimum_days_between_changes));
        }
        lines.extend(
            control.maximum_changes.map(|most| format!("There are at most {} in all.", plural(most, "change"))),
        );
        lines.push(format!("A proposal expires after {}.", duration::words(control.proposal_expires_ms)));
        let bounds = control.bounds.iter();
        lines.extend(bounds.map(|bound| {
            format!("The number “{}” of the rule stays between {} and {}.", bound.name, bound.low, bound.high)
        }));
        let guarded = self.live.document().guardrails().iter();
        lines.extend(guarded.map(|guardrail| format!("Guard-rail: {guardrail}.")));
        let explore = self.live.document().change().explore;
        lines.push(if explore == rarely_core::Exploration::NONE {
            "No exploration: the rule alone decides.".to_owned()
        } else {
            let pilot = match explore.pilot {
                0 => String::new(),
                pilot => {
                    let first = u64::from(pilot) * self.live.document().options().len() as u64;
                    format!("the first {} draw every option with the same probability; then, ", plural(first, "decision"))
                }
            };
            if explore.posterior.get() > 0.0 {
                let cap = percent(explore.posterior.get());
                format!(
                    "Exploration: {pilot}where the data leave open which option is best, it is drawn at random; at most {cap} of \
                     people in the same situation get another option than the rule’s."
                )
            } else {
                let share = percent(explore.equipoise.get());
                format!(
                    "Exploration: {pilot}for {share} of people an option is drawn at random from those that the data do not rule out."
                )
            }
        });
        html! {
            h2 #plan { "The plan" }
            (list(&lines))
        }
    }

    fn document(&self) -> Markup {
        let birth = &self.state.registration;
        let amended = self.state.amendments.last();
        html! {
            h2 #document { "The document" }
            p {
                "Registered " (time(birth.time_ms)) " by " strong { (birth.author) } " (event " (birth.event) ")."
                @if let Some(amended) = amended { " Amended " (plural(self.state.amendments.len() as u64, "time")) ", last with version " (amended.version) "." }
            }
            details #document-text {
                summary { "The document as " @if amended.is_some() { "amended" } @else { "registered" } }
                pre tabindex="0" { code { (self.live.edition().text) } }
            }
            p { a href=(self.link("/document")) { "The document with the rule in force, and how to amend it" } }
        }
    }
}

fn contents(has_shadow: bool) -> Markup {
    let parts = [
        ("rule", "The rule in force"),
        ("shadow", "A candidate beside the rule"),
        ("evidence", "What the data say"),
        ("over-time", "Evidence over time"),
        ("options", "Options"),
        ("gaps", "What the data cannot say"),
        ("versions", "Versions"),
        ("decisions", "Recent decisions"),
        ("plan", "The plan"),
        ("act", "Actions"),
        ("document", "The document"),
    ];
    html! {
        nav.contents aria-label="On this page" { ol { @for (id, name) in parts.into_iter().filter(|(id, _)| has_shadow || *id != "shadow") { li { a href={ "#" (id) } { (name) } } } } }
    }
}

/// What the data say about the rule in force.
fn findings(evidence: Option<&Shown>) -> Markup {
    html! {
        h2 #evidence { "What the data say" }
        @match evidence {
            None => p { "There is no outcome yet." },
            Some(Shown { findings, pictures }) => {
                p {
                    span.badge.(tone(findings.verdict.verdict)) { (findings.verdict.verdict) } " " (findings.verdict.sentence)
                    " This rests on " (plural(findings.cases.rows, "outcome")) "."
                }
                @for sentence in findings.missing.iter().flat_map(rarely_review::findings::MissingFinding::sentences) {
                    p { (sentence) }
                }
                @if !findings.verdict.reasons.is_empty() { (list(&findings.verdict.reason_sentences())) }
                @if let Some(sentence) = &findings.verdict.keeping_sentence { p { (sentence) } }
                @if !findings.candidates.rules.is_empty() {
                    h3 { "The rules that were tried" }
                    p { (findings.candidates.sentence) }
                    ul {
                        @for rule in &findings.candidates.rules {
                            @let [name, changed, gain, _, evidence] = &rule.cells;
                            li { (name) ". " (changed) " of people change. Gain per case: " (gain) " (" (evidence) ")." }
                        }
                    }
                }
                @if !findings.standing.boundaries.is_empty() {
                    p { "Where the rule passes from one option to another, and whether the data have ruled that out:" }
                    ul { @for boundary in &findings.standing.boundaries { li { (boundary.sentence) } } }
                }
                p {
                    "Among the last " (count(findings.cases.people)) " people with an outcome: " (findings.standing.excluded.sentence)
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
pub(super) fn thin(places: &[ThinSupport]) -> Markup {
    let rows = places.iter().map(|thin| {
        vec![
            TableCell::head(&thin.option),
            TableCell::left(&thin.band),
            TableCell::number(count(thin.rows)),
            TableCell::number(count(thin.tried)),
        ]
    });
    let title = thin_title(places.len());
    let shown = table(&title, &["option", "people", "#cases", "#with this option"], rows);
    html! {
        @if places.len() > SHOWN_PLACES {
            details #thin { summary { (title) } (shown) }
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

/// The message after a form was accepted.
fn done_message(done: &str) -> Option<&'static str> {
    Some(match done {
        "registered" => "The policy is registered. Its document is version 1.",
        "keep" => "Reviewed: the rule is kept.",
        "change" => "Reviewed: the evidence calls for a change.",
        "cannot-tell" => "Reviewed: the data cannot tell yet whether the rule should change.",
        "confirmed" => "Your signature is recorded: reviewed, no change.",
        "not-confirmed" => "Reviewed: the evidence calls for a change, so \u{201c}no change\u{201d} was not signed.",
        "approved" => "Your signature is recorded, and the new version is in force.",
        "signed" => "Your signature is recorded. One more is required.",
        "rejected" => "Your rejection is recorded. The rule in force is kept.",
        "rolled-back" => "The older rule is in force again, as a new version.",
        "rollback-proposed" => "The rollback is proposed with your signature. One more is required.",
        "stopped" => "The policy is stopped.",
        "resumed" => "The policy is resumed.",
        "watched" => "The candidate decides beside the rule from now on. Nothing acts on it.",
        "watch-ended" => "The candidate decides no more. What it would have decided stays in the log.",
        "amendment" => "The amendment is proposed. It comes into force when it is signed.",
        _ => return None,
    })
}

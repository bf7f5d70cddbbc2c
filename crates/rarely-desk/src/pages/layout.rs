//! The layout of every page: the steps, the content, and the commands that do the same.

use maud::{DOCTYPE, Markup, html};

use crate::access::Refusal;
use crate::problem::Problem;
use crate::session::Session;

/// The steps, in order, each with its page.
const STEPS: [(&str, &str); 4] = [("/", "File"), ("/columns", "Columns"), ("/rule", "Rule"), ("/review", "Review")];

/// A page of a step.
pub(super) struct StepPage<'a> {
    pub(super) step: &'a str,
    pub(super) title: &'a str,
    pub(super) problem: Option<&'a Problem>,
    /// What the commands do, and the commands.
    pub(super) commands: Vec<(&'static str, String)>,
    /// Whether a browser without scripts loads it again by itself.
    pub(super) refreshes: bool,
}

impl<'a> StepPage<'a> {
    pub(super) fn new(step: &'a str, title: &'a str, problem: Option<&'a Problem>) -> Self {
        Self { step, title, problem, commands: Vec::new(), refreshes: false }
    }

    pub(super) fn with_commands(self, commands: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        Self { commands: commands.into_iter().collect(), ..self }
    }

    pub(super) fn markup(&self, session: &Session, content: &Markup) -> Markup {
        let reached = [true, session.answers.is_some(), session.people.is_some(), session.review.is_some()];
        let body = html! {
            header.top { div.banner {
                span.brand { "rarely desk" }
                nav.steps aria-label="Steps" { ol {
                    @for ((address, name), is_reached) in STEPS.iter().zip(reached) {
                        li { @if is_reached {
                            a href=(address) aria-current=[(*address == self.step).then_some("step")] { (name) }
                        } @else { span { (name) } } }
                    }
                } }
            } }
            main #main {
                h1 { (self.title) }
                @if let Some(problem) = self.problem { (problem.markup()) }
                (content)
                @if !self.commands.is_empty() {
                    aside.commands #commands aria-label="The same on the command line" {
                        h2 { "The same on the command line" }
                        @for (what, command) in &self.commands {
                            @if !what.is_empty() { p { (what) } }
                            pre tabindex="0" { code { (command) } }
                        }
                    }
                }
            }
        };
        document(self.title, self.refreshes, &body)
    }
}

fn document(title: &str, refreshes: bool, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – rarely desk" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/assets/desk.css";
                script src="/assets/desk.js" defer {}
                @if refreshes { noscript { meta http-equiv="refresh" content="1"; } }
            }
            body.desk {
                a.skip href="#main" { "Skip to the content" }
                (body)
                footer { p { "This page is served by the program on this machine. Nothing leaves it. Ctrl-C in the terminal ends the desk." } }
            }
        }
    }
}

/// The page of a request that is refused. It is not the person's own, so that it shows nothing of the session.
pub(crate) fn refused(refusal: Refusal) -> Markup {
    let title = "This page is not for you";
    document(title, false, &html! { main #main { h1 { (title) } p { (refusal.sentence()) } p { (refusal.help()) } } })
}

pub(crate) fn not_found() -> Markup {
    let title = "There is no such page";
    document(title, false, &html! { main #main { h1 { (title) } p { a href="/" { "Back to the desk" } } } })
}

/// A choice from a list of values and what they are called.
pub(super) fn select<'a>(
    name: &str,
    label: &str,
    chosen: &str,
    choices: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Markup {
    html! {
        label { span { (label) }
            select name=(name) {
                @for (value, text) in choices { option value=(value) selected[value == chosen] { (text) } }
            }
        }
    }
}

/// A field for a short text.
pub(super) fn field(name: &str, label: &str, value: &str) -> Markup {
    html! { label { span { (label) } input type="text" name=(name) value=(value) autocomplete="off"; } }
}

/// A field for a number. It is text, so that what is wrong is told by the same words everywhere.
pub(super) fn number_field(name: &str, label: &str, value: &str) -> Markup {
    html! { label { span { (label) } input.number type="text" inputmode="decimal" name=(name) value=(value) autocomplete="off"; } }
}

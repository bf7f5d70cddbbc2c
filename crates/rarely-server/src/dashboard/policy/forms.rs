//! What can be done to a policy, as forms.

use maud::{Markup, html};

use super::super::layout::csrf;
use super::super::signing::Typed;
use super::super::signing::{Act, sheet};
use super::View;

impl View<'_> {
    pub(super) fn forms(&self, typed: Option<&Typed>) -> Markup {
        html! {
            h2 #act { "What you can do" }
            @if self.may_review() {
                (self.review())
                (self.confirm(typed))
                (self.roll_back(typed))
                @if self.state.stopped { (self.resume(typed)) } @else { (self.stop(typed)) }
            } @else {
                p { "Your token is for reading. Reviews, signatures, rollbacks and stops need the role review on this policy." }
            }
        }
    }

    fn review(&self) -> Markup {
        let ready = self.state.learned.outcomes() > 0;
        html! {
            form method="post" action=(self.link("/review")) {
                (csrf(self.visitor))
                p { "Hold the rule against everything that is known now. If the evidence justifies a change within the plan, it is proposed." }
                button.plain type="submit" disabled[!ready] { "Review now" }
                @if !ready { p.hint { "There is no outcome yet to review it on." } }
            }
        }
    }

    fn confirm(&self, typed: Option<&Typed>) -> Markup {
        let act = Act {
            id: "confirm",
            title: "Sign “reviewed, no change”",
            about: "The rule is reviewed now. If that justifies no change, your signature says that a person looked at it and keeps it.",
            action: self.link("/confirm"),
            meaning: "I have looked at the evidence, and the rule stays as it is",
            button: "Review and sign",
        };
        html! { @if self.state.learned.outcomes() > 0 { (sheet(self.visitor, &act, &html! {}, typed)) } }
    }

    fn roll_back(&self, typed: Option<&Typed>) -> Markup {
        let in_force = &self.live.version().rule;
        let older: Vec<_> = self.state.versions.iter().rev().filter(|version| version.rule != *in_force).collect();
        let chosen = typed.filter(|typed| typed.act == "rollback").and_then(|typed| typed.to);
        let act = Act {
            id: "rollback",
            title: "Roll back to an older version",
            about: "The rule of an older version comes in force again, as a new version.",
            action: self.link("/rollback"),
            meaning: "I put the older rule in force again",
            button: "Sign and roll back",
        };
        let choice = html! {
            div.field {
                label for="rollback-to" { "Version whose rule is to come in force" }
                select #rollback-to name="to" required {
                    @for version in &older {
                        option value=(version.number) selected[chosen == Some(version.number)] {
                            "version " (version.number) ": " (version.rule.words(self.live.document()).join("; "))
                        }
                    }
                }
            }
        };
        html! { @if !older.is_empty() && !self.state.stopped { (sheet(self.visitor, &act, &choice, typed)) } }
    }

    fn stop(&self, typed: Option<&Typed>) -> Markup {
        let act = Act {
            id: "stop",
            title: "Stop",
            about: "Everybody gets what the last signed rule says; nothing is drawn by lot, and no change is proposed until somebody resumes it. \
                    Decisions go on.",
            action: self.link("/stop"),
            meaning: "I stop this policy",
            button: "Sign and stop",
        };
        sheet(self.visitor, &act, &html! {}, typed)
    }

    fn resume(&self, typed: Option<&Typed>) -> Markup {
        let act = Act {
            id: "resume",
            title: "Resume",
            about: "Lots are drawn and changes proposed again, as the document says.",
            action: self.link("/resume"),
            meaning: "I let this policy go on",
            button: "Sign and resume",
        };
        sheet(self.visitor, &act, &html! {}, typed)
    }
}

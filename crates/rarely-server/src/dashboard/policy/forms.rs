//! The forms of the policy page.

use maud::{Markup, html};
use rarely_live::SignedAct;

use super::super::layout::csrf;
use super::super::signature_form::{RejectedForm, SignatureForm};
use super::PolicyPage;

impl PolicyPage<'_> {
    pub(super) fn forms(&self, rejected: Option<&RejectedForm>) -> Markup {
        html! {
            h2 #act { "Actions" }
            @if self.may_review() {
                (self.review())
                (self.confirm(rejected))
                (self.watch(rejected))
                (self.roll_back(rejected))
                @if self.state.stopped { (self.resume(rejected)) } @else { (self.stop(rejected)) }
            } @else {
                p { "Reviews, signatures, rollbacks and stops require the role " code { "review" } " on this policy." }
            }
        }
    }

    fn review(&self) -> Markup {
        let ready = self.state.learned.outcomes() > 0;
        html! {
            form method="post" action=(self.link("/review")) {
                (csrf(self.visitor))
                p { "Review the rule on all outcomes so far. If the evidence calls for a change that the plan allows, the change is proposed." }
                button.plain type="submit" disabled[!ready] { "Review now" }
                @if !ready { p.hint { "A review needs at least one outcome." } }
            }
        }
    }

    fn confirm(&self, rejected: Option<&RejectedForm>) -> Markup {
        let form = SignatureForm {
            id: "confirm",
            title: "Sign “reviewed, no change”",
            about: "The rule is reviewed now. Unless the evidence calls for a change, your signature records that a person has looked at the evidence and keeps the rule.",
            action: self.link("/confirm"),
            act: None,
            meaning: "I have looked at the evidence, and the rule stays as it is",
            button: "Review and sign",
        };
        html! { @if self.state.learned.outcomes() > 0 { (self.means.form(self.live, &form, &html! {}, rejected)) } }
    }

    fn roll_back(&self, rejected: Option<&RejectedForm>) -> Markup {
        let in_force = &self.live.version().rule;
        let older: Vec<_> = self.state.versions.iter().rev().filter(|version| version.rule != *in_force).collect();
        // A rule that the document in force no longer allows is refused, with the reason.
        let chosen = rejected.filter(|rejected| rejected.id == "rollback").map_or("", |rejected| &rejected.chosen);
        let form = SignatureForm {
            id: "rollback",
            title: "Roll back to an older version",
            about: "The rule of an older version comes into force again, as a new version.",
            action: self.link("/rollback"),
            act: Some((SignedAct::RollBack, 0)),
            meaning: "I put the older rule into force again",
            button: "Sign and roll back",
        };
        let choice = html! {
            div.field {
                label for="rollback-to" { "Version to roll back to" }
                select #rollback-to name="to" required {
                    @for version in &older {
                        option value=(version.number) selected[chosen == version.number.to_string()] {
                            "version " (version.number) ": " (version.rule.words(&self.live.edition_of(version.number).document).join("; "))
                        }
                    }
                }
            }
        };
        html! { @if !older.is_empty() && !self.state.stopped { (self.means.form(self.live, &form, &choice, rejected)) } }
    }

    fn stop(&self, rejected: Option<&RejectedForm>) -> Markup {
        let form = SignatureForm {
            id: "stop",
            title: "Stop",
            about: "The last signed rule comes into force. Decisions continue, but nothing is drawn at random and no change is proposed until the policy \
                    is resumed. A stop never requires a key, so that it works at once.",
            action: self.link("/stop"),
            act: Some((SignedAct::Stop, 0)),
            meaning: "I stop this policy",
            button: "Sign and stop",
        };
        self.means.form(self.live, &form, &html! {}, rejected)
    }

    fn resume(&self, rejected: Option<&RejectedForm>) -> Markup {
        let form = SignatureForm {
            id: "resume",
            title: "Resume",
            about: "The policy explores and proposes changes again, as the document says.",
            action: self.link("/resume"),
            act: Some((SignedAct::Resume, 0)),
            meaning: "I resume this policy",
            button: "Sign and resume",
        };
        self.means.form(self.live, &form, &html! {}, rejected)
    }
}

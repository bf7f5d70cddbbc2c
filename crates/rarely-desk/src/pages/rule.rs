//! The third page: the rule in force, and who gets what by it.

use maud::{Markup, html};
use rarely_policy::{FeatureKind, PolicyDocument};

use super::layout::{StepPage, number_field, select};
use super::preview::preview;
use crate::command_line::CommandLine;
use crate::document::DOCUMENT_NAME;
use crate::preview::Preview;
use crate::problem::Problem;
use crate::rule_answers::{MOST_STEPS, RuleAnswers, RuleForm, RuleStep, coefficient_fields, constant_field, of_option};
use crate::session::Session;

/// The page; `None` if the columns are not checked yet.
pub(crate) fn rule(session: &Session, problem: Option<&Problem>) -> Option<Markup> {
    let (people, answers) = (session.people.as_ref()?, session.answers.as_ref()?);
    let (document, rule) = (&people.document, &answers.rule);
    let found = rule.rule(document).and_then(|rule| Preview::new(people, &rule));
    let page = StepPage::new("/rule", "Which rule is in force?", problem).with_commands([
        (
            "Once the document is saved: is it right, and what does it say?",
            CommandLine::new("policy check").word(DOCUMENT_NAME).text(),
        ),
        ("", CommandLine::new("policy show").word(DOCUMENT_NAME).text()),
    ]);
    let content = html! {
        p { "How are people given an option now? The review judges this rule." }
        form #rule method="post" action="/rule" {
            fieldset.forms { legend { "The form of the rule" }
                @for form in RuleForm::ALL {
                    label.check { input type="radio" name="form" value=(form.name()) checked[form == rule.form]; span { (form.label()) } }
                }
            }
            (everyone(document, rule))
            (threshold(document, rule))
            (score(document, rule))
            (linear(document, rule))
            section aria-label="Who gets what" #preview aria-live="polite" { (preview(&found)) }
            p.actions {
                button type="submit" name="then" value="review" { "Review this rule" }
                button.plain type="submit" name="then" value="show" { "Show who gets what" }
            }
        }
    };
    Some(page.markup(session, &content))
}

fn everyone(document: &PolicyDocument, rule: &RuleAnswers) -> Markup {
    html! {
        fieldset.form.everyone { legend { "Everyone" }
            (select("everyone", "Everyone gets", &rule.everyone, options(document)))
        }
    }
}

fn threshold(document: &PolicyDocument, rule: &RuleAnswers) -> Markup {
    let numbers = document.features().iter().filter(|feature| feature.range().is_some());
    let numbers: Vec<(&str, &str)> =
        numbers.map(|feature| (feature.column.as_str(), feature.column.as_str())).collect();
    html! {
        fieldset.form.threshold { legend { "A threshold" }
            @if numbers.is_empty() { p { "No feature is a number, so that no threshold is possible." } } @else {
                (select("feature", "The feature that decides", &rule.feature, numbers))
                (steps("threshold", "value", document, &rule.threshold))
            }
        }
    }
}

fn score(document: &PolicyDocument, rule: &RuleAnswers) -> Markup {
    html! {
        fieldset.form.score { legend { "A score" }
            p { "What each feature adds to the score; an empty field adds nothing." }
            div.grid {
                @for (name, label) in weights(document) { (number_field(&name, &label, rule.coefficient(&name))) }
            }
            (steps("score", "score", document, &rule.score))
        }
    }
}

fn linear(document: &PolicyDocument, rule: &RuleAnswers) -> Markup {
    html! {
        fieldset.form.linear { legend { "A score for each option" }
            p { "What each feature adds to an option's score; an empty field adds nothing. The option with the highest score is given." }
            @for (at, option) in document.options().iter().enumerate() {
                fieldset { legend { (option) }
                    div.grid {
                        @if document.has_intercept() {
                            (number_field(&constant_field(at), "constant", rule.coefficient(&constant_field(at))))
                        }
                        @for (name, label) in weights(document) {
                            @let name = format!("{}{name}", of_option(at));
                            (number_field(&name, &label, rule.coefficient(&name)))
                        }
                    }
                }
            }
        }
    }
}

/// The fields of the weights in a score, with their labels.
fn weights(document: &PolicyDocument) -> Vec<(String, String)> {
    let features = document.features().iter().enumerate();
    let fields = features.flat_map(|(at, feature)| {
        let label = |level: Option<&str>| weight_label(&feature.column, &feature.kind, level);
        coefficient_fields(at, feature).into_iter().map(move |(name, level)| (name, label(level.as_deref())))
    });
    fields.collect()
}

fn weight_label(column: &str, kind: &FeatureKind, level: Option<&str>) -> String {
    match (kind, level) {
        (FeatureKind::Numeric { unit: Some(unit), .. }, _) => format!("{column}, for each {unit}"),
        (FeatureKind::Levels(_), Some(level)) => format!("{column}: {level}"),
        _ => format!("{column}, for each unit"),
    }
}

/// The options from the lowest values to the highest, with the cut from which each applies.
fn steps(name: &str, what: &str, document: &PolicyDocument, filled: &[RuleStep]) -> Markup {
    let blank = RuleStep::default();
    html! {
        @for at in 0..document.options().len().min(MOST_STEPS) {
            @let step = filled.get(at).unwrap_or(&blank);
            // A form that nobody has filled in has the options in their own order.
            @let option = if step.option.is_empty() { document.options()[at].as_str() } else { step.option.as_str() };
            div.step {
                @if at == 0 {
                    (select(&format!("{name}.option.{at}"), &format!("With the lowest {what}, people get"), option, options(document)))
                } @else {
                    (number_field(&format!("{name}.cut.{at}"), &format!("From this {what} on"), &step.cut))
                    (select(&format!("{name}.option.{at}"), "people get", option, options(document)))
                }
            }
        }
        p.hint { "A value equal to a cut gets the upper option. Leave a cut empty to leave its option out." }
    }
}

fn options(document: &PolicyDocument) -> impl Iterator<Item = (&str, &str)> {
    document.options().iter().map(|option| (option.as_str(), option.as_str()))
}

//! What a reader of one screen needs: what to do, the rule now and then, the gain, the people, and one reason.

use serde::Serialize;

use super::candidates::CandidatesFinding;
use super::numbers::{count, interval_with_unit, percent};
use super::proposal::{ProposalFinding, RuleFinding};
use super::verdict::VerdictFinding;
use crate::verdict::Verdict;

/// A rule that is longer than this, in characters, is not written out in the lead.
const LONGEST_RULE: usize = 130;

/// What a reader of one screen needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeadFinding {
    /// What to do.
    pub headline: &'static str,
    /// The rule now and as proposed, the gain, and the people whom it concerns.
    pub facts: Vec<LeadFact>,
    /// Why.
    pub sentence: String,
}

/// A number, or a rule, by its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeadFact {
    /// What it is.
    pub name: &'static str,
    /// Its value, with its unit.
    pub value: String,
}

impl LeadFinding {
    pub(super) fn new(
        unit: &str,
        (verdict, rule): (&VerdictFinding, &RuleFinding),
        proposal: Option<&ProposalFinding>,
        candidates: &CandidatesFinding,
    ) -> Self {
        let headline = match verdict.verdict {
            Verdict::Change => "Change the rule",
            Verdict::Keep => "Keep the rule",
            Verdict::CannotTell => "Keep the rule for now: the data do not decide",
        };
        let fact = |name, value| LeadFact { name, value };
        let mut facts = vec![fact("Rule now", in_short(rule))];
        if let Some(proposal) = proposal {
            let impact = &proposal.impact;
            let share = impact.changed as f64 / impact.people.max(1) as f64;
            let people = format!("{} of {} ({})", count(impact.changed), count(impact.people), percent(share));
            facts.extend([
                fact("Proposed rule", in_short(&proposal.rule)),
                fact("Gain per case", interval_with_unit(proposal.certificate.gain, unit)),
                fact("People who get another option", people),
            ]);
        } else {
            let best = candidates.best.and_then(|best| candidates.rules.get(best));
            facts.extend(
                best.map(|best| fact("Gain per case of the best other rule", interval_with_unit(best.gain, unit))),
            );
            let people =
                best.map_or_else(String::new, |best| format!("; the best other rule: {}", percent(best.changed_share)));
            facts.push(fact("People who get another option", format!("none now{people}")));
        }
        Self { headline, facts, sentence: why(verdict, proposal) }
    }
}

/// One sentence why.
fn why(verdict: &VerdictFinding, proposal: Option<&ProposalFinding>) -> String {
    match proposal {
        Some(proposal) if verdict.verdict == Verdict::Change => {
            let because = &proposal.cause_clause;
            let first = because.chars().next().into_iter().flat_map(char::to_uppercase);
            format!("Why: {}{}.", first.collect::<String>(), because.chars().skip(1).collect::<String>())
        }
        _ => verdict
            .reasons
            .first()
            .map_or_else(|| verdict.sentence.clone(), |reason| format!("Why: {}", reason.sentence)),
    }
}

/// A rule in one line; a long one by its form.
fn in_short(rule: &RuleFinding) -> String {
    let line = rule.lines.join("; ");
    if line.chars().count() <= LONGEST_RULE {
        return line;
    }
    match &rule.rule {
        rarely_policy::WrittenRule::Linear(_) => "the option with the highest score; the scores are below".to_owned(),
        _ => format!("by a score of several features, below; {}", rule.lines[1..].join("; ")),
    }
}

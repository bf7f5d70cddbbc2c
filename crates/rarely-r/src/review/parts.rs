//! The parts of a review as R has them: texts, data frames, lists.

use extendr_api::prelude::*;
use rarely_core::Interval;
use rarely_review::findings::ProposalFinding;
use rarely_review::{Findings, ReviewJson};

use super::HeldReview;
use crate::json::Json;
use crate::problem::{self, Problem};
use crate::values::{count, data_frame, named_list, numbers, optional, plain};

pub(super) fn findings(found: &HeldReview) -> Findings {
    Findings::new(&found.document.checked, &found.review)
}

/// Everything of a review but its pictures and its page.
pub(super) fn of(found: HeldReview) -> Result<Robj, Problem> {
    let findings = findings(&found);
    let failed = |error: serde_json::Error| Problem::new(problem::REVIEW, error.to_string());
    let json = ReviewJson::new(&findings);
    let text = serde_json::to_string_pretty(&json).map_err(failed)? + "\n";
    let state = found.tally.to_text().map_err(|error| super::reviewing(&error))?;
    let statements = statements(&Json::of(&findings)?);
    let proposal = findings.proposal.as_ref().map(|proposal| of_proposal(&found, proposal)).transpose()?;
    let fields: Vec<(&str, Robj)> = vec![
        ("policy", findings.policy.as_str().into()),
        ("verdict", findings.verdict.verdict.name().into()),
        ("sentence", findings.verdict.sentence.as_str().into()),
        ("reasons", findings.verdict.reason_sentences().into()),
        ("keeping_costs_at_most", optional(findings.verdict.keeping_costs_at_most)),
        ("rows", count(findings.cases.rows).into()),
        ("rejected_count", count(findings.cases.rejected).into()),
        ("rejected", found.rejected.clone().into()),
        ("findings", statements),
        ("boundaries", boundaries(&findings)),
        ("candidates", candidates(&findings)),
        ("estimates", estimates(&findings)),
        ("proposal", optional(proposal)),
        ("numbers", plain(&json)?),
        ("json", text.into()),
        ("text", rarely_report::text(&findings, None).into()),
        ("state", state.into()),
        ("handle", ExternalPtr::new(found).into()),
    ];
    let (names, values): (Vec<&str>, Vec<Robj>) = fields.into_iter().unzip();
    Ok(named_list(names, values))
}

/// Every sentence of a review in reading order, with the part of the review that it stands in.
fn statements(findings: &Json) -> Robj {
    let (mut parts, mut sentences) = (Vec::new(), Vec::new());
    let mut add = |part: &str, sentence: &str| {
        parts.push(part.trim_start_matches('.').to_owned());
        sentences.push(sentence.to_owned());
    };
    walk("", findings, &mut add);
    data_frame([("part", parts.into()), ("sentence", sentences.into())])
}

/// Fields called `sentence` hold whole sentences (`rarely_review::findings`).
fn walk(part: &str, value: &Json, add: &mut impl FnMut(&str, &str)) {
    match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Json::Text(sentence) if name.ends_with("sentence") => add(part, sentence),
                    Json::Array(all) if name.ends_with("sentences") => {
                        for sentence in all {
                            if let Json::Text(sentence) = sentence {
                                add(part, sentence);
                            }
                        }
                    }
                    inner => walk(&format!("{part}.{name}"), inner, add),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| walk(part, item, add)),
        Json::Null | Json::Flag(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

fn boundaries(findings: &Findings) -> Robj {
    let all = &findings.standing.boundaries;
    let option = |at: usize| all.iter().map(|boundary| boundary.options[at].clone()).collect::<Vec<_>>();
    data_frame([
        ("first", option(0).into()),
        ("second", option(1).into()),
        ("plausible", all.iter().map(|boundary| boundary.plausible).collect::<Vec<_>>().into()),
        ("angle_degrees", all.iter().map(|boundary| boundary.angle_degrees).collect::<Vec<_>>().into()),
        ("threshold", numbers(all.iter().map(|boundary| boundary.threshold))),
        ("sentence", all.iter().map(|boundary| boundary.sentence.clone()).collect::<Vec<_>>().into()),
    ])
}

fn candidates(findings: &Findings) -> Robj {
    let all = &findings.candidates.rules;
    let gains = |end: fn(&Interval) -> f64| all.iter().map(|rule| end(&rule.gain)).collect::<Vec<_>>();
    let plain = |end: fn(&Interval) -> f64| numbers(all.iter().map(|rule| rule.plain.as_ref().map(end)));
    data_frame([
        ("rule", all.iter().map(|rule| rule.rule.lines.join("; ")).collect::<Vec<_>>().into()),
        ("kind", all.iter().map(|rule| rule.kind_words).collect::<Vec<_>>().into()),
        ("changed_share", all.iter().map(|rule| rule.changed_share).collect::<Vec<_>>().into()),
        ("gain", gains(|gain| gain.estimate).into()),
        ("gain_lower", gains(|gain| gain.lower).into()),
        ("gain_upper", gains(|gain| gain.upper).into()),
        ("plain_lower", plain(|gain| gain.lower)),
        ("plain_upper", plain(|gain| gain.upper)),
        ("evidence", all.iter().map(|rule| rule.evidence_words.clone()).collect::<Vec<_>>().into()),
    ])
}

fn estimates(findings: &Findings) -> Robj {
    let each = || findings.estimates.iter().flat_map(|of| of.coefficients.iter().map(move |one| (&of.option, one)));
    data_frame([
        ("option", each().map(|(option, _)| option.clone()).collect::<Vec<_>>().into()),
        ("term", each().map(|(_, one)| one.name.clone()).collect::<Vec<_>>().into()),
        ("unit", each().map(|(_, one)| one.unit.clone()).collect::<Vec<_>>().into()),
        ("estimate", each().map(|(_, one)| one.value).collect::<Vec<_>>().into()),
    ])
}

fn of_proposal(found: &HeldReview, proposal: &ProposalFinding) -> Result<Robj, Problem> {
    let applied = rarely_policy::apply(&found.document.text, &proposal.rule.rule);
    let applied = applied.map_err(|error| Problem::explain(problem::DOCUMENT, &error))?;
    let certificate = &proposal.certificate;
    let Interval { estimate, lower, upper } = certificate.gain;
    let gain = named_list(["estimate", "lower", "upper"], [estimate, lower, upper].map(Robj::from));
    let certified_by: Vec<&str> = certificate.certified_by.iter().map(|by| by.name()).collect();
    let lines = &certificate.lines;
    let column = |of: fn(&rarely_review::findings::CertificateLine) -> String| lines.iter().map(of).collect::<Vec<_>>();
    let certificate_lines = data_frame([
        ("name", column(|line| line.name.to_owned()).into()),
        ("value", column(|line| line.value.clone()).into()),
        ("meaning", column(|line| line.meaning.clone()).into()),
    ]);
    let fields: [(&str, Robj); 11] = [
        ("rule", proposal.rule.lines.clone().into()),
        ("changes", proposal.changes.clone().into()),
        ("cause", proposal.cause_clause.as_str().into()),
        ("sentence", proposal.sentence.as_str().into()),
        ("gain", gain),
        ("changed_share", certificate.changed_share.into()),
        ("excluded_share_after", certificate.excluded_after.into()),
        ("certified_by", certified_by.into()),
        ("certificate", certificate_lines),
        ("against", proposal.against.sentences().into()),
        ("document", applied.into()),
    ];
    let (names, values): (Vec<&str>, Vec<Robj>) = fields.into_iter().unzip();
    Ok(named_list(names, values))
}

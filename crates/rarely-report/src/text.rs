//! Findings as text, for people who read them on a terminal.

use std::fmt::Write as _;

use rarely_output::TextTable;
use rarely_review::Findings;
use rarely_review::findings::numbers::count;
use rarely_review::findings::{
    AssumptionFinding, CandidatesFinding, CheckFinding, DIGEST_TITLE, GapsFinding, ImpactFinding, MissingFinding,
    OffPolicyFinding, ProposalFinding, StandingFinding,
};

/// The whole review. Lines of its table are no longer than `width`, if there is one.
pub fn text(findings: &Findings, width: Option<u16>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", findings.policy, findings.cases.summary);
    if let Some(sentence) = &findings.cases.people_sentence {
        let _ = writeln!(text, "{sentence}");
    }
    section(&mut text, "What rows lack", findings.missing.iter().flat_map(MissingFinding::sentences));
    let _ = writeln!(text, "\nVerdict: {}", findings.verdict.verdict);
    lines(&mut text, [&findings.verdict.sentence]);
    lines(&mut text, findings.verdict.reasons.iter().map(|reason| &reason.sentence));
    lines(&mut text, &findings.verdict.keeping_sentence);
    section(&mut text, "The rule in force", &findings.rule.lines);
    section(&mut text, "What the data say about it", standing(&findings.standing));
    tried(&mut text, &findings.candidates);
    section(&mut text, "What rules are worth by propensities", findings.off_policy.iter().flat_map(worth));
    if let Some(proposal) = &findings.proposal {
        proposed(&mut text, proposal, width);
    }
    section(&mut text, "What the data cannot say", gaps(&findings.gaps));
    section(&mut text, "Are straight lines good enough?", findings.checks.iter().flat_map(check));
    section(&mut text, "Assumptions", findings.assumptions.iter().map(AssumptionFinding::line));
    text
}

/// A heading with lines under it; nothing if there are none.
fn section(text: &mut String, heading: &str, content: impl IntoIterator<Item = impl AsRef<str>>) {
    let mut content = content.into_iter().peekable();
    if content.peek().is_some() {
        let _ = writeln!(text, "\n{heading}");
        lines(text, content);
    }
}

fn lines(text: &mut String, lines: impl IntoIterator<Item = impl AsRef<str>>) {
    for line in lines {
        let _ = writeln!(text, "  {}", line.as_ref());
    }
}

/// The rules that were tried, each with its gain and what that rests on.
fn tried(text: &mut String, candidates: &CandidatesFinding) {
    let rules = candidates.rules.iter().map(|rule| {
        let [name, changed, gain, plain, evidence] = &rule.cells;
        let plain = rule.plain.map_or_else(String::new, |_| format!("; plain 95 %: {plain}"));
        let further = [&rule.not_confirmed, &rule.model_free_sentence].into_iter().flatten();
        let further: String = further.map(|sentence| format!("\n    {sentence}")).collect::<Vec<_>>().concat();
        format!("{name}\n    {changed} of people change; gain per case {gain}{plain}\n    {evidence}{further}")
    });
    section(text, "Rules that were tried", rules);
}

/// How values are computed, and that of each rule.
fn worth(values: &OffPolicyFinding) -> impl Iterator<Item = String> {
    let rules = values.rules.iter().map(|rule| {
        let words = rule.rule.lines.join(", ");
        format!("{}: {words}\n    {}", rule.name, rule.sentence)
    });
    std::iter::once(values.sentence.clone()).chain(rules)
}

fn standing(standing: &StandingFinding) -> impl Iterator<Item = &str> {
    let boundaries = standing.boundaries.iter().map(|boundary| boundary.sentence.as_str());
    boundaries.chain([standing.excluded.sentence.as_str()])
}

fn proposed(text: &mut String, proposal: &ProposalFinding, width: Option<u16>) {
    section(text, "Proposed rule", &proposal.rule.lines);
    lines(text, &proposal.form_sentence);
    if proposal.exact.differs {
        lines(text, [format!("With all digits: {}", proposal.exact.text)]);
    }
    let certificate = &proposal.certificate;
    section(text, "Certificate", certificate.lines.iter().map(|line| format!("{}: {}", line.name, line.value)));
    lines(text, [format!("{}: {}", DIGEST_TITLE.to_lowercase(), certificate.digest)]);
    let _ = writeln!(text, "\nWho changes");
    *text += &impact(&proposal.impact, width);
    section(text, "What speaks against it", proposal.against.points.iter().map(|point| &point.sentence));
}

fn impact(impact: &ImpactFinding, width: Option<u16>) -> String {
    let mut table = TextTable::new(&["  band", "people", "change", "from → to", "gain per case"], &[3, 4]);
    for band in &impact.bands {
        table.row([
            format!("  {}", band.band),
            count(band.people),
            band.changed_share.clone(),
            band.moves.join(", "),
            band.gain_text.clone(),
        ]);
    }
    table.text(width)
}

fn gaps(gaps: &GapsFinding) -> impl Iterator<Item = &String> {
    let stuck = gaps.stuck.iter().map(|stuck| &stuck.sentence);
    stuck.chain(&gaps.thin_sentences).chain(gaps.forecast.as_ref().map(|forecast| &forecast.sentence))
}

fn check(check: &CheckFinding) -> Vec<String> {
    let warning = check.warning.as_ref().map(|warning| format!("  WARNING: {warning}"));
    std::iter::once(check.sentence.clone()).chain(warning).collect()
}

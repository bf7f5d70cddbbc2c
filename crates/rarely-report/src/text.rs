//! Findings as text, for people who read them on a terminal.

use std::fmt::Write as _;

use rarely_output::TextTable;
use rarely_review::Findings;
use rarely_review::findings::numbers::count;
use rarely_review::findings::{
    AssumptionFinding, CandidatesFinding, CheckFinding, DIGEST_TITLE, FairnessFinding, GapsFinding, ImpactFinding,
    LevelFinding, MissingFinding, OffPolicyFinding, ProposalFinding, StandingFinding,
};

use crate::cut_picture::cut_picture;

/// With more options than this the text is a summary: pairs of options, and bands of each, are too many to read on a terminal.
const MOST_OPTIONS: usize = 6;
/// Lines of a section in a summary.
const SUMMARY_LINES: usize = 5;

/// The whole review, or a summary of one with more than six options. On a terminal, which has a `width`, lines of its table are no longer than that, and the cuts
/// are drawn.
pub fn text(findings: &Findings, width: Option<u16>) -> String {
    let most = if findings.estimates.len() > MOST_OPTIONS { SUMMARY_LINES } else { usize::MAX };
    let mut text = Sections { text: String::new(), most, width };
    text.review(findings);
    text.text
}

/// A text that grows section by section.
struct Sections {
    text: String,
    /// Lines of a section.
    most: usize,
    width: Option<u16>,
}

impl Sections {
    fn review(&mut self, findings: &Findings) {
        let _ = writeln!(self.text, "{}: {}", findings.policy, findings.cases.summary);
        if let Some(sentence) = &findings.cases.people_sentence {
            let _ = writeln!(self.text, "{sentence}");
        }
        self.section("What rows lack", findings.missing.iter().flat_map(MissingFinding::sentences));
        let _ = writeln!(self.text, "\nVerdict: {}", findings.verdict.verdict);
        self.lines([&findings.verdict.sentence]);
        self.lines(findings.verdict.reasons.iter().map(|reason| &reason.sentence));
        self.lines(&findings.verdict.keeping_sentence);
        self.section("The rule in force", &findings.rule.lines);
        self.section("What the data say about it", standing(&findings.standing));
        if let Some(width) = self.width {
            self.section("Its cuts", cut_picture(&findings.standing.boundaries, width));
        }
        self.tried(&findings.candidates);
        self.section("What rules are worth by propensities", findings.off_policy.iter().flat_map(worth));
        if let Some(proposal) = &findings.proposal {
            self.proposed(proposal);
        }
        if let Some(found) = &findings.fairness {
            self.fairness(found);
        }
        self.section("What the data cannot say", gaps(&findings.gaps));
        self.section("Are straight lines good enough?", findings.checks.iter().flat_map(check));
        self.section("Assumptions", findings.assumptions.iter().map(AssumptionFinding::line));
        if self.is_summary() {
            self.text +=
                "\nThis is a summary, because there are many options. The page of the review has everything.\n";
        }
    }

    fn is_summary(&self) -> bool {
        self.most < usize::MAX
    }

    /// A heading with lines under it; nothing if there are none.
    fn section(&mut self, heading: &str, content: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut content = content.into_iter().peekable();
        if content.peek().is_some() {
            let _ = writeln!(self.text, "\n{heading}");
            self.lines(content);
        }
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut lines = lines.into_iter();
        for line in lines.by_ref().take(self.most) {
            let _ = writeln!(self.text, "  {}", line.as_ref());
        }
        self.left_out(lines.count());
    }

    fn left_out(&mut self, lines: usize) {
        if lines > 0 {
            let _ = writeln!(self.text, "  … and {} more", count(lines as u64));
        }
    }

    /// The rules that were tried, each with its gain and what that rests on.
    fn tried(&mut self, candidates: &CandidatesFinding) {
        let summary = self.is_summary();
        let rules = candidates.rules.iter().map(|rule| {
            let [name, changed, gain, plain, evidence] = &rule.cells;
            let name = if summary { rule.kind_words } else { name };
            let plain = rule.plain.map_or_else(String::new, |_| format!("; plain 95 %: {plain}"));
            let guarded = rule.guardrails.iter().map(|guardrail| &guardrail.sentence);
            let further = [&rule.not_confirmed, &rule.model_free_sentence].into_iter().flatten().chain(guarded);
            let further: String = further.map(|sentence| format!("\n    {sentence}")).collect::<Vec<_>>().concat();
            format!("{name}\n    {changed} of people change; gain per case {gain}{plain}\n    {evidence}{further}")
        });
        self.section("Rules that were tried", rules);
    }

    fn proposed(&mut self, proposal: &ProposalFinding) {
        self.section("Proposed rule", &proposal.rule.lines);
        self.lines(&proposal.form_sentence);
        if proposal.exact.differs && !self.is_summary() {
            self.lines([format!("With all digits: {}", proposal.exact.text)]);
        }
        let certificate = &proposal.certificate;
        self.section("Certificate", certificate.lines.iter().map(|line| format!("{}: {}", line.name, line.value)));
        self.lines([format!("{}: {}", DIGEST_TITLE.to_lowercase(), certificate.digest)]);
        self.text += "\nWho changes\n";
        self.impact(&proposal.impact);
        self.section("What speaks against it", proposal.against.points.iter().map(|point| &point.sentence));
    }

    fn impact(&mut self, impact: &ImpactFinding) {
        let mut table = TextTable::new(&["  band", "people", "change", "from → to", "gain per case"], &[3, 4]);
        for band in impact.bands.iter().take(self.most) {
            table.row([
                format!("  {}", band.band),
                count(band.people),
                band.changed_share.clone(),
                band.moves.join(", "),
                band.gain_text.clone(),
            ]);
        }
        self.text += &table.text(self.width);
        self.left_out(impact.bands.len().saturating_sub(self.most));
    }

    /// What the change does for whom, by columns that are no features.
    fn fairness(&mut self, found: &FairnessFinding) {
        self.section(FairnessFinding::TITLE, [&found.sentence]);
        let mut header = FairnessFinding::COLUMNS;
        header[0] = "  who";
        let mut table = TextTable::new(&header, &[3, 4]);
        for level in &found.levels {
            let mut cells = level.cells.clone();
            cells[0].insert_str(0, "  ");
            table.row(cells);
        }
        self.text += &table.text(self.width);
        self.lines(found.levels.iter().filter_map(LevelFinding::not_confirmed_sentence));
    }
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

fn gaps(gaps: &GapsFinding) -> impl Iterator<Item = &String> {
    let stuck = gaps.stuck.iter().map(|stuck| &stuck.sentence);
    stuck.chain(&gaps.thin_sentences).chain(gaps.forecast.as_ref().map(|forecast| &forecast.sentence))
}

fn check(check: &CheckFinding) -> Vec<String> {
    let warning = check.warning.as_ref().map(|warning| format!("  WARNING: {warning}"));
    std::iter::once(check.sentence.clone()).chain(warning).collect()
}

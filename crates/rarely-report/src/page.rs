//! Findings as one self-contained page, for a reader who knows the policy but no statistics.

mod further;
mod model;

use rarely_plot::{Page, PageCell, Tone};
use rarely_review::findings::numbers::count;
use rarely_review::findings::{
    CandidatesFinding, CertificateLine, DIGEST_TITLE, ImpactFinding, MissingFinding, OffPolicyFinding, ProposalFinding,
    thin_title,
};
use rarely_review::{Findings, ThinSupport, Verdict};

use crate::Picture;

/// A list of thin places longer than this is folded away.
const SHOWN_PLACES: usize = 8;

/// What a review was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewSources {
    /// The command or the call, as it was typed.
    pub command: String,
    /// The files of the log, or what else it is called.
    pub data: Vec<String>,
    /// The file of the people, if they are not the log's.
    pub population: Option<String>,
}

/// The page: the verdict, the evidence, the proposal, and what speaks against it.
pub fn page(findings: &Findings, pictures: &[Picture], sources: &ReviewSources) -> String {
    review_page(findings, pictures, sources).html()
}

/// The same, as a page that another one may contain.
pub fn review_page(findings: &Findings, pictures: &[Picture], sources: &ReviewSources) -> Page {
    let mut page = Page::new(format!("Review of the policy {}", findings.policy));
    let mut report = Report { findings, pictures, page: &mut page };
    report.verdict();
    report.evidence();
    report.candidates();
    report.guardrails();
    report.off_policy();
    if let Some(proposal) = &findings.proposal {
        report.proposal(proposal);
        report.impact(&proposal.impact);
        report.against(proposal);
    }
    report.fairness();
    report.gaps();
    report.checks();
    report.estimates();
    report.assumptions();
    report.sources(sources);
    page
}

struct Report<'a> {
    findings: &'a Findings,
    pictures: &'a [Picture],
    page: &'a mut Page,
}

impl Report<'_> {
    fn verdict(&mut self) {
        let (cases, found, lead) = (&self.findings.cases, &self.findings.verdict, &self.findings.lead);
        let facts: Vec<(String, String)> =
            lead.facts.iter().map(|fact| (fact.name.to_owned(), fact.value.replace(" %", "\u{a0}%"))).collect();
        self.page.lead((tone(found.verdict), lead.headline), &facts, &lead.sentence);
        let people = cases.people_sentence.as_ref().map_or_else(String::new, |sentence| format!(" {sentence}"));
        let gain = self.findings.proposal.as_ref().map_or_else(String::new, |found| format!(" {}", found.sentence));
        self.page
            .heading("The answer")
            .paragraph(&format!("{}{gain}", found.sentence))
            .paragraph(&format!("The log has {}.{people}", cases.summary));
        for sentence in self.findings.missing.iter().flat_map(MissingFinding::sentences) {
            self.page.paragraph(sentence);
        }
        if let Some(sentence) = &found.keeping_sentence {
            self.page.paragraph(sentence);
        }
        self.page.paragraph("The rule in force:").list(self.findings.rule.lines.clone());
        self.pictures(&["decision-boundary", "score-distribution", "option-shares", "observed-outcomes"]);
    }

    fn evidence(&mut self) {
        let (found, standing) = (&self.findings.verdict, &self.findings.standing);
        self.page.heading("What the data say about the rule in force");
        if !found.reasons.is_empty() {
            self.page.list(found.reason_sentences());
        }
        self.page.paragraph(
            "Between each two options the rule has a boundary: on one side a person gets the first, on the other side the second. A boundary is \
             plausible if the data have not ruled it out.",
        );
        self.page.list(standing.boundaries.iter().map(|boundary| boundary.sentence.clone()));
        self.page.paragraph(&standing.excluded.sentence);
    }

    fn candidates(&mut self) {
        let found = &self.findings.candidates;
        if found.rules.is_empty() {
            return;
        }
        self.page.heading("The rules that were tried").paragraph(&found.sentence);
        let rows = found.rules.iter().map(|rule| {
            let [name, changed, gain, plain, evidence] = &rule.cells;
            vec![
                PageCell::Text(name.clone()),
                PageCell::Number(changed.clone()),
                PageCell::Number(gain.clone()),
                PageCell::Number(plain.clone()),
                PageCell::Text(evidence.clone()),
            ]
        });
        self.page.table(&CandidatesFinding::COLUMNS, rows.collect::<Vec<_>>());
        let model_free: Vec<String> = found
            .rules
            .iter()
            .filter_map(|rule| {
                rule.model_free_sentence.as_ref().map(|sentence| format!("{}: {sentence}", rule.kind_words))
            })
            .collect();
        if !model_free.is_empty() {
            self.page.subheading("About gains by the propensities of the log").list(model_free);
        }
        let reasons = found.rules.iter().filter_map(|rule| rule.not_confirmed.clone());
        let reasons: Vec<String> = reasons.collect();
        if !reasons.is_empty() {
            self.page.collapsed("Why some gains could not be confirmed by least squares", |page| {
                page.list(reasons);
            });
        }
    }

    fn off_policy(&mut self) {
        let Some(found) = &self.findings.off_policy else { return };
        self.page.heading("What rules are worth by propensities").paragraph(&found.sentence);
        let (known, refused): (Vec<_>, Vec<_>) = found.rules.iter().partition(|rule| rule.value.is_some());
        let rows = known.iter().map(|rule| {
            let numbers = rule.cells.iter().skip(1).map(|cell| PageCell::Number(cell.clone()));
            let name = format!("{}: {}", rule.name, rule.rule.lines.join(", "));
            std::iter::once(PageCell::Text(name)).chain(numbers).collect::<Vec<PageCell>>()
        });
        let rows: Vec<Vec<PageCell>> = rows.collect();
        if !rows.is_empty() {
            self.page.table(&OffPolicyFinding::COLUMNS, rows);
        }
        let refused: Vec<String> = refused.iter().map(|rule| format!("{}: {}", rule.name, rule.sentence)).collect();
        if !refused.is_empty() {
            self.page.list(refused);
        }
    }

    fn proposal(&mut self, proposal: &ProposalFinding) {
        self.page.heading("The proposed rule");
        self.page.paragraph(&format!("Why it is proposed: {}.", proposal.cause_clause));
        let (old, new) = (&self.findings.rule.lines, &proposal.rule.lines);
        let line = |lines: &[String], at: usize| PageCell::Text(lines.get(at).cloned().unwrap_or_default());
        let rows = (0..old.len().max(new.len())).map(|at| vec![line(old, at), line(new, at)]);
        self.page.table(&["in force", "proposed"], rows.collect::<Vec<_>>());
        self.page.paragraph("What changes:").list(proposal.changes.clone());
        if let Some(sentence) = &proposal.form_sentence {
            self.page.paragraph(sentence);
        }
        let row = |line: &CertificateLine| {
            vec![
                PageCell::Text(line.name.to_owned()),
                PageCell::Text(line.value.clone()),
                PageCell::Text(line.meaning.clone()),
            ]
        };
        let rows = proposal.certificate.lines.iter().map(row);
        self.page.subheading("How sure that is").table(&["", "value", "what it means"], rows);
        self.pictures(&["gain"]);
        let exact = &proposal.exact;
        if exact.differs {
            self.page.collapsed("The same rule with all its digits", |page| {
                page.paragraph(exact.sentence);
                page.command(&serde_json::to_string_pretty(&exact.rule.rule).unwrap_or_default());
            });
        }
    }

    fn impact(&mut self, impact: &ImpactFinding) {
        self.page.heading("Who changes").paragraph(&format!("{} {}", impact.sentence, impact.meaning));
        let rows = impact.bands.iter().map(|band| {
            vec![
                PageCell::Line(band.band.clone()),
                PageCell::Number(count(band.people)),
                PageCell::Number(band.changed_share.clone()),
                PageCell::Text(band.moves.iter().map(|moved| together(moved)).collect::<Vec<_>>().join(", ")),
                PageCell::Number(band.gain_text.clone()),
                PageCell::Number(band.untried_share.clone()),
            ]
        });
        let header = ["band", "people", "change", "from → to", "gain per case", "of the changed: untried"];
        self.page.table(&header, rows.collect::<Vec<_>>());
        if let Some(sentence) = &impact.unchanged_sentence {
            self.page.paragraph(sentence);
        }
    }

    fn against(&mut self, proposal: &ProposalFinding) {
        self.page.heading("What speaks against the change");
        match proposal.against.nothing_sentence {
            Some(sentence) => _ = self.page.paragraph(sentence),
            None => _ = self.page.list(proposal.against.sentences()),
        }
    }

    fn gaps(&mut self) {
        let gaps = &self.findings.gaps;
        self.page.heading("What the data cannot say");
        if let Some(sentence) = gaps.nothing_sentence {
            self.page.paragraph(sentence);
        }
        if !gaps.stuck.is_empty() {
            self.page.list(gaps.stuck.iter().map(|stuck| stuck.sentence.clone()));
        }
        if let Some(meaning) = gaps.thin_meaning {
            self.page.paragraph(meaning);
            self.thin(&gaps.thin);
        }
        if let Some(forecast) = &gaps.forecast {
            self.page.subheading("What would settle it").paragraph(&forecast.sentence);
        }
    }

    fn thin(&mut self, places: &[ThinSupport]) {
        let row = |thin: &ThinSupport| {
            let cells = [thin.option.clone(), thin.band.clone(), count(thin.rows), count(thin.tried)];
            cells.map(PageCell::Line).to_vec()
        };
        let rows: Vec<Vec<PageCell>> = places.iter().map(row).collect();
        let header = ["option", "band", "cases in the band", "with this option"];
        if rows.len() > SHOWN_PLACES {
            self.page.collapsed(&thin_title(rows.len()), |page| {
                page.table(&header, rows);
            });
        } else {
            self.page.table(&header, rows);
        }
    }

    fn sources(&mut self, sources: &ReviewSources) {
        let people = match &sources.population {
            Some(file) => format!("People: {file}"),
            None => "People: a sample of the log's own".to_owned(),
        };
        let mut lines: Vec<String> = sources.data.iter().map(|file| format!("Log: {file}")).collect();
        lines.extend([people, format!("Program: rarely {}", env!("CARGO_PKG_VERSION"))]);
        self.page.heading("How this page was made").command(&sources.command).list(lines);
        if let Some(proposal) = &self.findings.proposal {
            self.page.paragraph(&format!("{DIGEST_TITLE}:")).command(&proposal.certificate.digest.to_string());
        }
    }

    fn pictures(&mut self, names: &[&str]) {
        for picture in self.pictures.iter().filter(|picture| names.contains(&picture.name)) {
            self.page.figure(&picture.figure, &picture.caption);
        }
    }
}

/// What a verdict says at a glance.
pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Keep => Tone::Good,
        Verdict::Change => Tone::Bad,
        Verdict::CannotTell => Tone::Fair,
    }
}

/// Words that stay on one line.
pub(crate) fn together(text: &str) -> String {
    text.replace(' ', "\u{a0}").replace('–', "\u{2060}–\u{2060}")
}

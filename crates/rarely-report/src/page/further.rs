//! Guard-rails, and what a change does for whom.

use rarely_plot::PageCell;
use rarely_review::findings::{FairnessFinding, LevelFinding};

use super::{Report, together};

impl Report<'_> {
    /// What each rule does to outcomes that must not get worse.
    pub(super) fn guardrails(&mut self) {
        let rules = self.findings.candidates.rules.iter();
        let sentences = rules
            .flat_map(|rule| rule.guardrails.iter().map(move |found| format!("{}: {}", rule.cells[0], found.sentence)));
        let sentences: Vec<String> = sentences.collect();
        if !sentences.is_empty() {
            self.page.subheading("Outcomes that must not get worse").list(sentences);
        }
    }

    pub(super) fn fairness(&mut self) {
        let Some(found) = &self.findings.fairness else { return };
        self.page.heading(FairnessFinding::TITLE).paragraph(&found.sentence);
        let rows = found.levels.iter().map(|level| {
            let [who, cases, changed, options, gain] = level.cells.clone();
            vec![
                PageCell::Text(who),
                PageCell::Number(cases),
                PageCell::Number(changed),
                PageCell::Text(options),
                PageCell::Number(together(&gain)),
            ]
        });
        self.page.table(&FairnessFinding::COLUMNS, rows.collect::<Vec<_>>());
        let reasons: Vec<String> = found.levels.iter().filter_map(LevelFinding::not_confirmed_sentence).collect();
        if !reasons.is_empty() {
            self.page.list(reasons);
        }
    }
}

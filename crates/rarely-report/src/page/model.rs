//! The part of the page about the model: whether straight lines fit, what they are, and what was assumed.

use rarely_plot::{PageCell, Tone};
use rarely_review::Check;
use rarely_review::findings::numbers::count;
use rarely_review::findings::{ASSUMPTIONS_MEANING, AssumptionFinding, CheckFinding};

use super::Report;

impl Report<'_> {
    pub(super) fn checks(&mut self) {
        self.page.heading("Are straight lines good enough?").paragraph(
            "The review takes each option's mean outcome to be a straight line in every feature. The checks look for places where it is not.",
        );
        let checks = &self.findings.checks;
        let warnings: Vec<String> = checks.iter().filter_map(|check| check.warning.clone()).collect();
        if !warnings.is_empty() {
            self.page.paragraph("Be careful:").list(warnings);
        }
        let bend = format!(
            "The largest bend, in {}, between the middle and the ends of a feature, and how likely so much bend is by chance if the line is \
             straight.",
            self.findings.outcome
        );
        self.table(
            "Are the propensities right?",
            "For each option, the mean over all cases of one over its propensity where it was given: about 1 if the propensities are right. The \
             effective cases are as many as equal weights would need.",
            &CheckFinding::PROPENSITY,
            |check| matches!(check, Check::Propensity(_)),
        );
        self.pictures(&["overlap"]);
        self.table("Do the lines bend?", &bend, &CheckFinding::CURVATURE, |check| matches!(check, Check::Curvature(_)));
        self.table(
            "Is the noise as declared?",
            "How far outcomes lie from their option's line, as a standard deviation. If that is more than was assumed, every interval here is \
             too short.",
            &CheckFinding::NOISE,
            |check| matches!(check, Check::Noise(_)),
        );
        self.table(
            "What do people next to a cut show?",
            "Where one option gives way to the next, people just below and just above the cut are alike. The difference between their outcomes is \
             compared with the straight lines' there. In brackets is the 95 % interval; a number after ± is the standard error.",
            &CheckFinding::JUMP,
            |check| matches!(check, Check::Jump(_)),
        );
    }

    /// The checks of one kind, if there are any.
    fn table(&mut self, title: &str, explanation: &str, header: &[&str], wanted: fn(&Check) -> bool) {
        let checks = self.findings.checks.iter().filter(|found| wanted(&found.check));
        let rows: Vec<Vec<PageCell>> = checks.map(row).collect();
        if !rows.is_empty() {
            let header: Vec<&str> = header.iter().copied().chain([""]).collect();
            self.page.subheading(title).paragraph(explanation).table(&header, rows);
        }
    }

    pub(super) fn estimates(&mut self) {
        let (estimates, outcome) = (&self.findings.estimates, &self.findings.outcome);
        self.page.heading("What each option is estimated to do").paragraph(&format!(
            "The estimated mean {outcome} of an option is its constant plus what each feature adds. A feature with a unit adds this much per unit; a \
             level adds this much compared with the first level."
        ));
        let header = ["", "unit"].into_iter().chain(estimates.iter().map(|estimate| estimate.option.as_str()));
        let text = |text: &str| PageCell::Text(text.to_owned());
        let cases = self.findings.cases.per_option.values().map(|rows| PageCell::Text(count(*rows)));
        let mut rows = vec![[text("cases"), text("")].into_iter().chain(cases).collect::<Vec<PageCell>>()];
        let first = estimates.first().map_or(&[][..], |estimate| &estimate.coefficients);
        for (at, coefficient) in first.iter().enumerate() {
            let values = estimates.iter().map(|estimate| text(&estimate.coefficients[at].text));
            rows.push([text(&coefficient.name), text(&coefficient.unit)].into_iter().chain(values).collect());
        }
        self.page.table(&header.collect::<Vec<_>>(), rows);
        self.pictures(&["estimates"]);
    }

    pub(super) fn assumptions(&mut self) {
        self.page.heading("What was assumed").paragraph(ASSUMPTIONS_MEANING);
        let row = |assumption: &AssumptionFinding| {
            [assumption.name.to_owned(), assumption.value.clone(), assumption.explanation()]
                .map(PageCell::Text)
                .to_vec()
        };
        let rows: Vec<Vec<PageCell>> = self.findings.assumptions.iter().map(row).collect();
        self.page.table(&["assumption", "value", "what it means"], rows);
    }
}

fn row(found: &CheckFinding) -> Vec<PageCell> {
    let (tone, word) = match (&found.warning, found.note) {
        (Some(_), _) => (Tone::Fair, "careful"),
        (None, Some(note)) => (Tone::Fair, note),
        (None, None) => (Tone::Good, "fine"),
    };
    let cells = found.cells.iter().map(|cell| PageCell::Line(cell.clone()));
    cells.chain([PageCell::Badge(tone, word.to_owned())]).collect()
}

//! A review as one self-contained page, for a reader who knows the policy and no statistics.

mod model;

use rarely_core::Interval;
use rarely_policy::number::short;
use rarely_policy::{PolicyDocument, difference};
use rarely_review::words::{self, percent};
use rarely_review::{Ground, Proposal, Remedy, Review, Verdict};

use crate::Picture;
use rarely_plot::value_text as three;
use rarely_plot::{Page, PageCell, Tone};

/// A list of thin places longer than this is folded away.
const SHOWN_PLACES: usize = 8;

/// What a review was made from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    /// The command or the call, as it was typed.
    pub command: String,
    /// The files of the log, or what else it is called.
    pub data: Vec<String>,
    /// The file of the people, if they are not the log's.
    pub population: Option<String>,
}

/// The page: the verdict, the evidence, the proposal, and what speaks against it.
pub fn page(ground: &Ground<'_>, review: &Review, pictures: &[Picture], sources: &Sources) -> String {
    let mut page = Page::new(format!("Review of the policy {}", ground.document.policy()));
    let mut report = Report { document: ground.document, review, pictures, page: &mut page };
    report.answer();
    report.evidence();
    if let Some(proposal) = &review.proposal {
        report.proposal(proposal);
        report.who(proposal);
        report.against(proposal);
    }
    report.gaps();
    report.checks();
    report.estimates();
    report.assumptions();
    report.sources(sources);
    page.html()
}

struct Report<'a> {
    document: &'a PolicyDocument,
    review: &'a Review,
    pictures: &'a [Picture],
    page: &'a mut Page,
}

impl Report<'_> {
    fn answer(&mut self) {
        let (document, review) = (self.document, self.review);
        let rule = document.rule().words(document);
        let counts = document.options().iter().zip(&review.per_option);
        let counts: Vec<String> = counts.map(|(option, rows)| format!("{option} {rows}")).collect();
        let rejected = match review.rejected {
            0 => String::new(),
            rejected => format!(" {rejected} rows could not be used."),
        };
        self.page.heading("The answer").paragraph(&format!(
            "The question: should the rule in force be kept or changed, given {} past cases ({})?{rejected} Shares of people are taken over {} people.",
            review.rows(),
            counts.join(", "),
            review.people
        ));
        let (tone, sentence) = self.verdict();
        self.page.table(
            &["verdict", "in short"],
            [vec![PageCell::Badge(tone, review.verdict.name().to_owned()), PageCell::Text(sentence)]],
        );
        self.page.paragraph("The rule in force:").list(rule);
    }

    fn verdict(&self) -> (Tone, String) {
        match (self.review.verdict, &self.review.proposal) {
            (Verdict::Change, Some(proposal)) => {
                let changes = difference((self.document, self.document.rule()), (self.document, &proposal.rule));
                let changed = percent(proposal.certificate.gain.changed_share);
                let sentence = format!(
                    "Change the rule, because {}. Proposed: {}. {changed} of people get another option, and a case is expected to gain {}.",
                    proposal.cause,
                    changes.join("; "),
                    self.gain(proposal.certificate.gain.interval)
                );
                (Tone::Bad, sentence)
            }
            (Verdict::CannotTell, _) => {
                let why = self.review.reasons.first().map_or_else(String::new, |reason| format!(", because {reason}"));
                let sentence = format!(
                    "It cannot be told from this log whether the rule should change{why}. Keep it for now; what would settle it is below."
                );
                (Tone::Fair, sentence)
            }
            _ if self.review.reasons.is_empty() => {
                (Tone::Good, "Keep the rule: nothing in the log rules it out.".to_owned())
            }
            _ => (Tone::Good, "Keep the rule, for the reason below.".to_owned()),
        }
    }

    fn evidence(&mut self) {
        let (document, standing) = (self.document, &self.review.standing);
        self.page.heading("What the data say of the rule in force");
        if !self.review.reasons.is_empty() {
            self.page.list(self.review.reasons.iter().cloned());
        }
        self.page.paragraph(
            "Between each two options the rule has a boundary: on one side a person gets the first, on the other side the second. A boundary is \
             plausible if the data have not ruled it out. Degrees say how far it would have to be turned to become plausible.",
        );
        self.page.list(standing.boundaries.iter().map(|pair| words::boundary(document, pair)));
        let together = match (standing.jointly_plausible, standing.boundaries.iter().all(|pair| pair.plausible)) {
            (true, _) => "",
            (false, true) => " Each boundary is plausible by itself, but not all of them at once.",
            (false, false) => " The rule as a whole is ruled out.",
        };
        let excluded = if standing.excluded_share > 0.0 {
            let share = percent(standing.excluded_share);
            format!(
                "{share} of people are now given an option that the data rule out: for them another option is certainly better."
            )
        } else {
            "Nobody is now given an option that the data rule out.".to_owned()
        };
        self.page.paragraph(&format!("{excluded}{together}"));
        self.pictures(&["decision-boundary", "score-distribution", "option-shares"]);
    }

    fn proposal(&mut self, proposal: &Proposal) {
        let document = self.document;
        self.page.heading("The proposed rule");
        self.page.paragraph(&format!("Why it is proposed: {}.", proposal.cause));
        let (old, new) = (document.rule().words(document), proposal.rule.words(document));
        let line = |lines: &[String], at: usize| PageCell::Text(lines.get(at).cloned().unwrap_or_default());
        let rows = (0..old.len().max(new.len())).map(|at| vec![line(&old, at), line(&new, at)]);
        self.page.table(&["in force", "proposed"], rows.collect::<Vec<_>>());
        let changes = difference((document, document.rule()), (document, &proposal.rule));
        self.page.paragraph("What changes:").list(changes);
        if let Some(note) = &proposal.note {
            self.page.paragraph(note);
        }
        self.certificate(proposal);
        self.pictures(&["gain"]);
        if proposal.exact != proposal.rule {
            let gain = self.gain(proposal.exact_certificate.gain.interval);
            self.page.collapsed("The same rule to all its digits", |page| {
                page.paragraph(&format!(
                    "The proposed rule is rounded to the fewest digits for which it passes the same tests. Unrounded it would gain {gain}:"
                ));
                page.command(&serde_json::to_string_pretty(&proposal.exact).unwrap_or_default());
            });
        }
    }

    fn certificate(&mut self, proposal: &Proposal) {
        let certificate = &proposal.certificate;
        let surety = surety(self.document);
        let values = [
            self.gain(certificate.gain.interval),
            percent(certificate.gain.changed_share),
            format!("{} now, {} then", percent(certificate.excluded_before), percent(certificate.excluded_after)),
            words::certified(proposal.certified_by()),
        ];
        let rows = words::certificate(&surety).into_iter().zip(values).map(|((name, meaning), value)| {
            vec![PageCell::Text(name.to_owned()), PageCell::Text(value), PageCell::Text(meaning)]
        });
        self.page.subheading("How sure that is").table(&["", "value", "what it means"], rows);
    }

    fn who(&mut self, proposal: &Proposal) {
        let (document, who) = (self.document, &proposal.who);
        let unit = words::gain_unit(self.document);
        self.page.heading("Who changes").paragraph(&format!(
            "{} of {} people get another option. The gain of a band is over all its people, changed or not, in {unit}; it is followed by the range that \
             the data allow. Untried: the new option was hardly ever given to people like them, so what it does there is extrapolated.",
            who.changed,
            who.people
        ));
        let rows = who.bands.iter().filter(|band| band.changed > 0).map(|band| {
            let share = |part: usize, whole: usize| percent(part as f64 / whole.max(1) as f64);
            let moves = band.moves.iter().map(|&(from, to, count)| {
                together(&format!("{} → {} ({count})", document.options()[from], document.options()[to]))
            });
            vec![
                PageCell::Text(together(&band.band.words(document))),
                PageCell::Number(band.people.to_string()),
                PageCell::Number(share(band.changed, band.people)),
                PageCell::Text(moves.collect::<Vec<_>>().join(", ")),
                PageCell::Number(interval(band.gain)),
                PageCell::Number(share(band.untried, band.changed)),
            ]
        });
        let header = ["band", "people", "change", "from → to", "gain a case", "of the changed: untried"];
        self.page.table(&header, rows.collect::<Vec<_>>());
        let still = who.bands.iter().filter(|band| band.changed == 0).count();
        match still {
            0 => {}
            1 => _ = self.page.paragraph("In one other band nobody changes."),
            _ => _ = self.page.paragraph(&format!("In {still} other bands nobody changes.")),
        }
    }

    fn against(&mut self, proposal: &Proposal) {
        self.page.heading("What speaks against the change");
        let found = words::against(self.document, proposal);
        if found.is_empty() {
            self.page.paragraph(
                "Nothing was found: in no band does the range of the gain include harm, and no gain rests on options that were hardly ever tried.",
            );
        } else {
            self.page.list(found);
        }
    }

    fn gaps(&mut self) {
        let (document, gaps) = (self.document, &self.review.gaps);
        self.page.heading("What the log cannot say");
        if gaps.thin.is_empty() && gaps.stuck.is_empty() && gaps.remedy.is_none() {
            self.page.paragraph("Every option was tried on people of every band, and the log tells the options apart.");
            return;
        }
        let stuck = gaps.stuck.iter().map(|stuck| {
            format!(
                "{} may be best for {} of people but was given in {} of the cases: unless it is tried, the data will never tell.",
                document.options()[stuck.arm.index()],
                percent(stuck.plausible_share),
                percent(stuck.played_share)
            )
        });
        let stuck: Vec<String> = stuck.collect();
        if !stuck.is_empty() {
            self.page.list(stuck);
        }
        if !gaps.thin.is_empty() {
            let rows: Vec<Vec<PageCell>> = gaps
                .thin
                .iter()
                .map(|thin| {
                    let band = together(&thin.band);
                    [thin.option.clone(), band, thin.rows.to_string(), thin.tried.to_string()]
                        .map(PageCell::Text)
                        .to_vec()
                })
                .collect();
            self.page.paragraph(
                "What an option does where it was never or hardly tried is extrapolated along a straight line from people who are different:",
            );
            let header = ["option", "band", "cases in the band", "with this option"];
            if rows.len() > SHOWN_PLACES {
                let summary = format!("{} places where an option was never or hardly tried", rows.len());
                self.page.collapsed(&summary, |page| {
                    page.table(&header, rows);
                });
            } else {
                self.page.table(&header, rows);
            }
        }
        if let Some(remedy) = &gaps.remedy {
            self.page.subheading("What would settle it").paragraph(&settle(remedy));
        }
    }

    fn sources(&mut self, sources: &Sources) {
        let people = match &sources.population {
            Some(file) => format!("People: {file}"),
            None => "People: a sample of the log's own".to_owned(),
        };
        let mut lines: Vec<String> = sources.data.iter().map(|file| format!("Log: {file}")).collect();
        lines.extend([people, format!("Program: rarely {}", env!("CARGO_PKG_VERSION"))]);
        self.page.heading("How this page was made").command(&sources.command).list(lines);
        if let Some(proposal) = &self.review.proposal {
            self.page.paragraph("Fingerprint of the statistics:").command(&proposal.certificate.digest.to_string());
        }
    }

    fn pictures(&mut self, names: &[&str]) {
        for picture in self.pictures.iter().filter(|picture| names.contains(&picture.name)) {
            self.page.figure(&picture.figure, &picture.caption);
        }
    }

    /// `0.031 wellbeing (0.021 to 0.041)`.
    fn gain(&self, gain: Interval) -> String {
        format!(
            "{} {} ({} to {})",
            three(gain.estimate),
            words::gain_unit(self.document),
            three(gain.lower),
            three(gain.upper)
        )
    }
}

fn settle(remedy: &Remedy) -> String {
    let cases = match (remedy.cases, remedy.cases_nine_tenths) {
        (Some(half), Some(most)) => {
            format!(
                "after {half} further cases the question was settled in half of the simulations, after {most} in nine of ten"
            )
        }
        (Some(half), None) => format!("after {half} further cases the question was settled in half of the simulations"),
        _ => format!(
            "after {} further cases it was still open in {} of {} simulations",
            remedy.most_cases,
            remedy.simulated - remedy.settled,
            remedy.simulated
        ),
    };
    format!(
        "Let the policy draw lots among the plausible options for a few people: set explore = \"{}\" under [change] in the policy document. Simulated \
         on what the data leave possible, {cases}.",
        remedy.explore
    )
}

/// The probability with which everything holds.
fn surety(document: &PolicyDocument) -> String {
    format!("{} %", short(100.0 * (1.0 - document.evidence().error_probability)))
}

fn interval(interval: Interval) -> String {
    let text = format!("{} ({} to {})", three(interval.estimate), three(interval.lower), three(interval.upper));
    together(&text)
}

/// Words that stay on one line.
fn together(text: &str) -> String {
    text.replace(' ', "\u{a0}").replace('–', "\u{2060}–\u{2060}")
}

//! The claims with their verdicts, as a section of the page.

use crate::report::style::tone_of;
use crate::reproduction::{Claim, ClaimVerdict, Measurement, Reading};
use rarely_plot::{Page, PageCell};

/// How many of the paper's claims hold, in a sentence or two.
pub(super) fn count(claims: &[Claim]) -> String {
    let papers = || claims.iter().filter(|claim| !claim.ours);
    let count = |verdict: ClaimVerdict| papers().filter(|claim| claim.verdict() == verdict).count();
    let only_as_published = papers().filter(|claim| claim.verdict() != ClaimVerdict::Holds).filter(|claim| {
        claim.reading(Reading::Published).is_some_and(|reading| reading.judgement.verdict == ClaimVerdict::Holds)
    });
    format!(
        "Of the paper's {} claims {} hold, {} do not hold, {} are not settled; of those that do not hold or are not settled, {} hold as \
         published.",
        papers().count(),
        count(ClaimVerdict::Holds),
        count(ClaimVerdict::DoesNotHold),
        count(ClaimVerdict::NotSettled),
        only_as_published.count(),
    )
}

/// The section.
pub(super) fn section(page: &mut Page, claims: &[Claim]) {
    page.heading("Claims and verdicts");
    page.paragraph(&count(claims));
    page.paragraph(
        "Each claim in our words. It holds if everything that we measured for it meets its condition with the whole of its 95 % \
         interval. It does not hold if something misses its condition with the whole of its interval, which is wider where a claim \
         rests on several measurements: any one of them could refute it by chance. Otherwise it is not settled; “would \
         settle it” is the number of runs that would, with a probability of 80 % if the effect is as measured. The verdict is by \
         valid sets or exact; “as published” is the same judged by what the authors ran; “pairing repaired” is that on every realisation, \
         each child with its own outcomes.",
    );
    page.table(
        &["verdict", "as published", "pairing repaired", "where", "claim", "the paper says", "runs"],
        claims.iter().map(row),
    );
    page.collapsed("What was measured for each claim", |page| {
        for claim in claims {
            page.subheading(claim.text);
            page.table(
                &["profile", "measured", "value", "95 % interval", "runs", "holds if", ""],
                claim.measured.iter().map(measured),
            );
            if let Some(note) = &claim.note {
                page.paragraph(note);
            }
        }
    });
}

fn badge(verdict: ClaimVerdict) -> PageCell {
    PageCell::Badge(tone_of(verdict), verdict.words().to_owned())
}

fn row(claim: &Claim) -> Vec<PageCell> {
    let reading = |profile| {
        let reading = claim.reading(profile);
        reading.map_or_else(|| PageCell::Text(String::new()), |reading| badge(reading.judgement.verdict))
    };
    let runs = claim.runs.map_or_else(|| "exact".to_owned(), |runs| runs.to_string());
    let runs = match (claim.verdict(), claim.judgement.runs_needed) {
        (ClaimVerdict::NotSettled, Some(needed)) => format!("{runs}; about {needed} would settle it"),
        _ => runs,
    };
    let claim_text = claim.note.as_ref().map_or_else(|| claim.text.to_owned(), |note| format!("{} {note}", claim.text));
    vec![
        badge(claim.verdict()),
        reading(Reading::Published),
        reading(Reading::Repaired),
        PageCell::Text(claim.figure.to_owned()),
        PageCell::Text(claim_text),
        PageCell::Text(claim.paper.to_owned()),
        PageCell::Text(runs),
    ]
}

fn measured(found: &Measurement) -> Vec<PageCell> {
    let interval = match (found.low, found.high) {
        (Some(low), Some(high)) => format!("{} to {}", short(low), short(high)),
        _ => String::new(),
    };
    let word = match found.judgement.verdict {
        ClaimVerdict::Holds => "yes".to_owned(),
        ClaimVerdict::DoesNotHold => "no".to_owned(),
        ClaimVerdict::NotSettled => found.judgement.words(),
    };
    vec![
        PageCell::Text(found.profile.words().to_owned()),
        PageCell::Text(found.what.clone()),
        PageCell::Number(short(found.value)),
        PageCell::Number(interval),
        PageCell::Number(found.runs.map_or_else(String::new, |runs| runs.to_string())),
        PageCell::Text(found.holds_if.clone()),
        PageCell::Badge(tone_of(found.judgement.verdict), word),
    ]
}

/// A number with about three digits that matter.
pub(super) fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

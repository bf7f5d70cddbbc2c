//! A review as text: the evidence, then the recommendation, then what speaks against it.

use std::fmt::Write as _;

use rarely_policy::number::short;
use rarely_policy::{PolicyDocument, difference};
use rarely_review::words::{self, percent, range};
use rarely_review::{Check, Ground, Proposal, Review, SAMPLE_SIZE};

use rarely_output::TextTable;

/// The whole review, for people who read it on a terminal. Lines of its table are no longer than `width`, if there is one.
pub fn text(ground: &Ground<'_>, review: &Review, width: Option<u16>) -> String {
    let (document, found) = (ground.document, review);
    let mut text = String::new();
    let counts = document.options().iter().zip(&found.per_option).map(|(option, rows)| format!("{option} {rows}"));
    let counts: Vec<String> = counts.collect();
    let _ = writeln!(
        text,
        "{}: {} rows ({}), {} rejected",
        document.policy(),
        found.rows(),
        counts.join(", "),
        found.rejected
    );
    let own = found.rows().min(SAMPLE_SIZE as u64);
    if found.people as u64 != own {
        let _ = writeln!(text, "shares and gains are taken over the population given, {} people", found.people);
    } else if own < found.rows() {
        let _ = writeln!(text, "shares and gains are taken over a sample of {own} of these people");
    }
    let _ = writeln!(text, "\nVerdict: {}", found.verdict.name());
    section(&mut text, "", found.reasons.iter().cloned());
    section(&mut text, "The rule in force", document.rule().words(document));
    let mut why: Vec<String> = found.standing.boundaries.iter().map(|pair| words::boundary(document, pair)).collect();
    why.push(format!(
        "{} of people are given an option that the data rule out",
        percent(found.standing.excluded_share)
    ));
    section(&mut text, "What the data say of it", why);
    if let Some(proposal) = &found.proposal {
        text += &proposed(document, proposal, width);
    }
    section(&mut text, "What the log cannot say", gaps(document, found));
    section(&mut text, "Is the straight line good enough?", found.checks.iter().map(|found| check(document, found)));
    section(&mut text, "Assumptions", assumptions(document));
    text
}

/// A heading with lines under it; nothing if there are none.
fn section(text: &mut String, heading: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    if !heading.is_empty() {
        let _ = writeln!(text, "\n{heading}");
    }
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

fn proposed(document: &PolicyDocument, proposal: &Proposal, width: Option<u16>) -> String {
    let mut text = String::new();
    let mut lines = vec![format!("because {}", proposal.cause)];
    lines.extend(proposal.note.clone());
    lines.extend(proposal.rule.words(document));
    let mut changes = difference((document, document.rule()), (document, &proposal.rule));
    changes.push(format!("{} of people change option", percent(proposal.certificate.gain.changed_share)));
    lines.push(format!("that is: {}", changes.join("; ")));
    if proposal.exact != proposal.rule {
        let exact = serde_json::to_string(&proposal.exact).unwrap_or_default();
        lines.push(format!("to all digits: {exact}"));
    }
    section(&mut text, "Proposed", lines);
    let certificate = &proposal.certificate;
    let mut lines = vec![
        format!("gain {} {} a case", range(certificate.gain.interval), gained(document)),
        format!(
            "{} of people are given an option that the data rule out, {} now",
            percent(certificate.excluded_after),
            percent(certificate.excluded_before)
        ),
    ];
    let reasons = proposal.certified_by().into_iter().map(|name| match name {
        "plausible" => "every boundary of it is plausible",
        "gain" => "it is certain to gain",
        "theorem-3" => "Theorem 3: it cannot do harm, whoever the people are",
        other => other,
    });
    let reasons: Vec<&str> = reasons.collect();
    if !reasons.is_empty() {
        lines.push(format!("certified: {}", reasons.join("; ")));
    }
    lines.push(format!("digest of the statistics {}", certificate.digest));
    section(&mut text, "Certificate", lines);
    let _ = writeln!(text, "\nWho changes");
    text += &who(document, proposal, width);
    section(&mut text, "Evidence against", words::against(document, proposal));
    text
}

fn who(document: &PolicyDocument, proposal: &Proposal, width: Option<u16>) -> String {
    let mut table = TextTable::new(&["  band", "people", "change", "from → to", "gain a case"], &[3, 4]);
    for band in proposal.who.bands.iter().filter(|band| band.changed > 0) {
        let moves = band
            .moves
            .iter()
            .map(|&(from, to, count)| format!("{} → {} {count}", document.options()[from], document.options()[to]));
        let moves: Vec<String> = moves.collect();
        table.row([
            format!("  {}", band.band.words(document)),
            band.people.to_string(),
            percent(band.changed as f64 / band.people as f64),
            moves.join(", "),
            range(band.gain),
        ]);
    }
    table.text(width)
}

fn gaps(document: &PolicyDocument, found: &Review) -> Vec<String> {
    let names = document.options();
    let mut lines = Vec::new();
    for stuck in &found.gaps.stuck {
        lines.push(format!(
            "{} may be best for {} of people but is given to {}: without exploration the data will never tell",
            names[stuck.arm.index()],
            percent(stuck.plausible_share),
            percent(stuck.played_share)
        ));
    }
    for option in names {
        let bands: Vec<String> = found
            .gaps
            .thin
            .iter()
            .filter(|thin| thin.option == *option)
            .map(
                |thin| {
                    if thin.tried == 0 { thin.band.clone() } else { format!("{} ({})", thin.band, times(thin.tried)) }
                },
            )
            .collect();
        if !bands.is_empty() {
            lines.push(format!("{option} was never or hardly tried at {}", bands.join(", ")));
        }
    }
    if let Some(remedy) = &found.gaps.remedy {
        let cases = match (remedy.cases, remedy.cases_nine_tenths) {
            (Some(half), Some(most)) => {
                format!("about {half} further cases would settle it ({most} in nine of ten simulations)")
            }
            (Some(half), None) => format!("about {half} further cases would settle it in half of the simulations"),
            _ => format!(
                "but {} of {} simulations were still open after {} cases: it takes more, or the options hardly differ",
                remedy.simulated - remedy.settled,
                remedy.simulated,
                remedy.most_cases
            ),
        };
        lines.push(format!("remedy: explore = \"{}\"; {cases}", remedy.explore));
    }
    lines
}

fn check(document: &PolicyDocument, check: &Check) -> String {
    let unit = words::unit(document);
    let with_unit = |value: f64| if unit.is_empty() { short(value) } else { format!("{} {unit}", short(value)) };
    let line = match check {
        Check::Curvature { option, p_value, largest_bend, feature, .. } => match (p_value, largest_bend, feature) {
            (Some(p), Some(bend), Some(feature)) => {
                format!("{option}: bends by {} over the range of {feature} (p = {})", three(*bend), three(*p))
            }
            (Some(p), ..) => format!("{option}: no feature can bend (p = {})", three(*p)),
            _ => format!("{option}: not tested"),
        },
        Check::Noise { option, declared, found, .. } => {
            format!(
                "{option}: scatters by {} about its line; the declared noise is {}",
                three(*found),
                short(*declared)
            )
        }
        Check::Jump { options: [lower, upper], cut, local, standard_error, bandwidth, model, .. } => {
            let local = match (local, standard_error, bandwidth) {
                (Some(local), Some(error), Some(width)) => {
                    format!("{} ± {} by people within {} of it", three(*local), three(*error), with_unit(*width))
                }
                _ => "no local estimate".to_owned(),
            };
            format!("{upper} less {lower} at {}: {local}, {} by the model", with_unit(*cut), three(*model))
        }
    };
    match check.warning() {
        Some(warning) => format!("{line}\n    WARNING: {warning}"),
        None => line,
    }
}

/// What a gain is counted in.
fn gained(document: &PolicyDocument) -> String {
    let outcome = document.outcome();
    let better = if document.outcome_sign() < 0.0 { "less " } else { "" };
    format!("{better}{}", outcome.column)
}

fn assumptions(document: &PolicyDocument) -> Vec<String> {
    let evidence = document.evidence();
    let noise = if evidence.noise.is_none() { " (half the outcome's range)" } else { "" };
    let bound =
        if evidence.norm_bound.is_none() { format!(" ({})", document.norm_bound_reason()) } else { String::new() };
    vec![
        format!("noise {}{noise}", short(document.noise())),
        format!("norm bound {}{bound}", short(document.norm_bound())),
        format!("penalty {}, error probability {}", short(evidence.penalty), short(evidence.error_probability)),
        format!("algorithm {}, minimum gain {}", document.change().algorithm, short(document.change().minimum_gain)),
    ]
}

/// Three digits are enough to read.
fn three(value: f64) -> String {
    words::number(value, 3)
}

/// `once`, `3 times`.
fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

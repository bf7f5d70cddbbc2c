//! `rarely audit report`.

use std::collections::BTreeMap;
use std::path::Path;

use rarely_live::event::{Event, Proposed, Signature};
use rarely_live::replay::{self, ReplayError, for_each_entry};
use rarely_live::{ENGINE_ACTOR, EngineState, LivePolicy, Signer, VersionOrigin};
use rarely_output::{ColumnTable, OutputDirectory, TableColumn, utc};
use rarely_plot::{Page, PageCell};
use rarely_store::{EventLog, LogEntry};

use crate::failure::Failure;
use crate::offline::{chain_heading, logs_of};
use crate::output::say;
use crate::postgres::without_password;

/// The heading of what is about no policy. A policy cannot have this name: it has a slash.
const SERVICE: &str = "service / people";

/// A change, signature, proposal, refusal or reading.
struct HistoryLine {
    policy: String,
    event: u64,
    time: String,
    what: String,
    by: String,
    /// What it was signed with.
    signed: String,
    /// The version in force afterwards.
    version: u64,
    rule: String,
    meaning: String,
    reason: String,
    evidence: String,
    hash: String,
}

pub(super) fn run(store: &Path, policy: Option<&str>, out: &Path) -> Result<(), Failure> {
    let logs = logs_of(store)?;
    let mut histories = Vec::new();
    for (number, log) in &logs {
        histories.push(History::read(&**log, &chain_heading(*number, logs.len()))?);
    }
    if let Some(name) = policy {
        if histories.iter().all(|history| history.world.named(name).is_none()) {
            let store = without_password(&store.display().to_string());
            return Err(Failure::new(format!("{store}: there is no policy {name:?}")));
        }
        for history in &mut histories {
            history.lines.retain(|line| line.policy == name);
        }
    }
    let lines: Vec<&HistoryLine> = histories.iter().flat_map(|history| &history.lines).collect();
    let directory = OutputDirectory::create(out)?;
    directory.write("changes.csv", csv(&lines))?;
    directory.write("changes.html", page(store, &histories, &lines).html())?;
    say(&format!("{} entries are in {} and changes.csv", lines.len(), directory.path().join("changes.html").display()));
    Ok(())
}

/// What happened in one log.
struct History {
    world: EngineState,
    lines: Vec<HistoryLine>,
}

impl History {
    /// `heading` comes before what is about no policy.
    fn read(log: &dyn EventLog, heading: &str) -> Result<Self, ReplayError> {
        let mut world = EngineState::default();
        let mut lines = Vec::new();
        for_each_entry::<ReplayError>(log, 0, None, |entry| {
            let event = replay::event(log, &entry)?;
            world.apply_entry(log, &entry, &event)?;
            match world.policy(entry.policy) {
                Some(live) => lines.extend(line(&live.lock(), &entry, &event)),
                None => lines.extend(service_line(heading, &entry, &event)),
            }
            Ok(())
        })?;
        Ok(Self { world, lines })
    }
}

fn line(live: &LivePolicy, entry: &LogEntry, event: &Event) -> Option<HistoryLine> {
    let (what, signature, rule, evidence) = described(live, event)?;
    let signed = signature.as_ref().filter(|_| entry.actor != ENGINE_ACTOR).map(Signature::means).unwrap_or_default();
    let (meaning, reason) = signature.map(|signature| (signature.meaning, signature.reason)).unwrap_or_default();
    Some(HistoryLine {
        policy: live.document().policy().to_owned(),
        event: entry.number,
        time: utc(entry.time_ms),
        what,
        by: entry.actor.clone(),
        signed,
        version: live.version().number,
        rule,
        meaning,
        reason,
        evidence,
        hash: entry.hash.to_string(),
    })
}

/// An event about the service or its people.
fn service_line(heading: &str, entry: &LogEntry, event: &Event) -> Option<HistoryLine> {
    let nothing = String::new;
    Some(HistoryLine {
        policy: format!("{heading}{SERVICE}"),
        event: entry.number,
        time: utc(entry.time_ms),
        what: event.service_sentence()?,
        by: entry.actor.clone(),
        signed: nothing(),
        version: 0,
        rule: nothing(),
        meaning: nothing(),
        reason: nothing(),
        evidence: nothing(),
        hash: entry.hash.to_string(),
    })
}

/// What happened, the signature, the rule it is about, and the evidence; `None` for decisions and outcomes.
fn described(live: &LivePolicy, event: &Event) -> Option<(String, Option<Signature>, String, String)> {
    let document = live.document();
    let in_force = || document.rule().words(document).join("; ");
    let nothing = String::new;
    Some(match event {
        Event::Registered(_) => ("registered as version 1".to_owned(), None, in_force(), nothing()),
        Event::Reviewed(reviewed) => {
            let signature = reviewed.signature.clone()?;
            let evidence = format!(
                "{} after {} outcomes; statistics {}",
                reviewed.verdict.name(),
                reviewed.point.outcomes,
                reviewed.digest
            );
            ("reviewed, no change".to_owned(), Some(signature), in_force(), evidence)
        }
        Event::Proposed(proposed) => {
            let what = match (proposed.rollback, &proposed.amendment) {
                (Some(to), _) => format!("proposal {}: back to version {to}", proposed.proposal),
                (None, Some(amendment)) => format!(
                    "proposal {}: another document, because {}: {}",
                    proposed.proposal,
                    amendment.reason,
                    amendment.difference.join("; ")
                ),
                (None, None) => format!("proposal {}", proposed.proposal),
            };
            (what, proposed.signature.clone(), proposed.rule.words(document).join("; "), basis(proposed))
        }
        Event::Refused(refused) => {
            let evidence = format!("{}; statistics {}", refused.cause, refused.digest);
            let what = format!("outside the plan: {}", refused.reasons.join("; "));
            (what, None, refused.words.join("; "), evidence)
        }
        Event::Approved(signed) => {
            let done = match live.version().origin {
                VersionOrigin::Proposal { proposal } | VersionOrigin::Amendment { proposal }
                    if proposal == signed.proposal =>
                {
                    "put in force"
                }
                _ => "signed",
            };
            (format!("proposal {} {done}", signed.proposal), Some(signed.signature.clone()), in_force(), nothing())
        }
        Event::Rejected(signed) => {
            (format!("proposal {} rejected", signed.proposal), Some(signed.signature.clone()), nothing(), nothing())
        }
        Event::Expired(expired) => (format!("proposal {} expired", expired.proposal), None, nothing(), nothing()),
        Event::RolledBack(rolled) => {
            (format!("rolled back to version {}", rolled.to), Some(rolled.signature.clone()), in_force(), nothing())
        }
        Event::Stopped(signature) => ("stopped".to_owned(), Some(signature.clone()), in_force(), nothing()),
        Event::Resumed(signature) => ("resumed".to_owned(), Some(signature.clone()), in_force(), nothing()),
        Event::Corrected(corrected) => {
            let reason = corrected.reason.as_deref().unwrap_or("none given");
            let what = format!(
                "outcome of decision {} corrected from {} to {}; reason: {reason}",
                corrected.decision, corrected.from, corrected.outcome
            );
            (what, None, nothing(), nothing())
        }
        other => (other.service_sentence()?, None, nothing(), nothing()),
    })
}

fn basis(proposed: &Proposed) -> String {
    let Some(case) = &proposed.case else { return String::new() };
    let certified: Vec<&str> = case.certified_by.iter().map(|by| by.name()).collect();
    let certified = certified.join(", ");
    format!("{}; {} outcomes; certified by {certified}; statistics {}", case.cause, proposed.outcomes, proposed.digest)
}

fn csv(lines: &[&HistoryLine]) -> String {
    let texts = |field: fn(&HistoryLine) -> &String| lines.iter().map(|line| field(line).clone()).collect::<Vec<_>>();
    ColumnTable::default()
        .texts("policy", texts(|line| &line.policy))
        .counts("event", lines.iter().map(|line| line.event))
        .texts("time", texts(|line| &line.time))
        .texts("what", texts(|line| &line.what))
        .texts("by", texts(|line| &line.by))
        .texts("signed", texts(|line| &line.signed))
        .with("version", TableColumn::Count(lines.iter().map(|line| line.version).collect()))
        .texts("rule", texts(|line| &line.rule))
        .texts("meaning", texts(|line| &line.meaning))
        .texts("reason", texts(|line| &line.reason))
        .texts("evidence", texts(|line| &line.evidence))
        .texts("hash", texts(|line| &line.hash))
        .to_csv()
}

fn page(store: &Path, histories: &[History], lines: &[&HistoryLine]) -> Page {
    let ends: Vec<String> = histories.iter().map(|history| history.world.applied().to_string()).collect();
    let mut page = Page::new("History of changes");
    page.paragraph(&format!(
        "Every version, proposal, refusal, stop, signature, correction, export and reading of a record in {}, up to event {}. Times are UTC. `rarely audit verify` checks the log \
         from which this was written.",
        without_password(&store.display().to_string()),
        // Of several logs in order of their numbers.
        ends.join(", ")
    ));
    let mut policies: BTreeMap<&str, Vec<&HistoryLine>> = BTreeMap::new();
    for line in lines {
        policies.entry(&line.policy).or_default().push(line);
    }
    for (name, lines) in policies {
        page.heading(name);
        let named = |world: &EngineState| world.named(name).and_then(|id| world.policy(id).cloned());
        for live in histories.iter().filter_map(|history| named(&history.world)) {
            versions(&mut page, &live.lock());
        }
        page.subheading("Everything that was done");
        let rows = lines.iter().map(|line| {
            let text = |text: &String| PageCell::Text(text.clone());
            let words = [&line.meaning, &line.reason]
                .into_iter()
                .filter(|words| !words.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join(" – ");
            vec![
                PageCell::Number(line.event.to_string()),
                PageCell::Text(minute(&line.time)),
                text(&line.what),
                PageCell::Text([line.by.as_str(), &line.signed].join(" ").trim().to_owned()),
                PageCell::Text(words),
                text(&line.rule),
                PageCell::Text(brief(&line.evidence)),
                PageCell::Text(brief(&line.hash)),
            ]
        });
        page.table(&["event", "time", "what", "by", "meaning – reason", "rule", "evidence", "hash"], rows);
    }
    page
}

/// A time to the minute, on one line; the CSV has it to the millisecond.
fn minute(time: &str) -> String {
    time.chars().take(16).collect::<String>().replace('T', "\u{a0}").replace('-', "\u{2011}")
}

/// Shortens hashes to their first digits; the CSV has them in full.
fn brief(text: &str) -> String {
    let hash_word = |word: &&str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words =
        text.split(' ').map(|word| if hash_word(&word) { format!("{}…", &word[..12]) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

fn versions(page: &mut Page, live: &LivePolicy) {
    page.subheading("Versions");
    let rows = live.state().versions.iter().map(|version| {
        let origin = match version.origin {
            VersionOrigin::Registration => "registered".to_owned(),
            VersionOrigin::Proposal { proposal } => format!("proposal {proposal}"),
            VersionOrigin::Amendment { proposal } => format!("the document was amended by proposal {proposal}"),
            VersionOrigin::Rollback { to } => format!("rolled back to version {to}"),
            VersionOrigin::Stop { to } => format!("stopped: back to version {to}"),
        };
        let signers: Vec<String> = version
            .signers
            .iter()
            .map(|Signer { name, signature, .. }| {
                format!("{name} {} ({} – {})", signature.means(), signature.meaning, signature.reason)
            })
            .collect();
        let signed = match (&version.origin, signers.is_empty()) {
            (VersionOrigin::Registration, _) => format!("registered by {}", live.state().registration.author),
            (_, true) => "no signature required by the plan".to_owned(),
            _ => signers.join("; "),
        };
        vec![
            PageCell::Number(version.number.to_string()),
            PageCell::Text(minute(&utc(version.time_ms))),
            PageCell::Text(version.rule.words(&live.edition_of(version.number).document).join("; ")),
            PageCell::Text(origin),
            PageCell::Text(signed),
        ]
    });
    page.table(&["version", "in force since", "rule", "by", "signed by"], rows.collect::<Vec<_>>());
}

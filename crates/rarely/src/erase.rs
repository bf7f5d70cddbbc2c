//! `rarely erase`: erases a person, in a store that no server uses or through a running server.

use clap::Args;
use rarely_live::Engine;
use rarely_live::engine::{ChangeError, ErasedStatistics};
use rarely_store::Subject;
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::offline::{OfflineLog, chain_heading};
use crate::output::{print, say};
use crate::token::{TokenPlace, on_log, reserved};

/// Whom to erase, where, and why.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: TokenPlace,
    /// The person, exactly as decision requests have it in `subject`; may be given several times
    #[arg(long, value_name = "TEXT", required = true)]
    subject: Vec<String>,
    /// Why; the log keeps it for good, so do not name the person
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Compute the statistics again without what was learned from the person [default: it stays in the sums]
    #[arg(long)]
    forget_statistics: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { place, subject, reason, forget_statistics } = arguments;
    let answer = if let Some(server) = place.server()? {
        let statistics = if *forget_statistics { "forget" } else { "keep" };
        let body = json!({ "subjects": subject, "reason": reason, "statistics": statistics });
        server.request("POST", "/v1/erasures", Some(&body))?
    } else {
        let statistics = if *forget_statistics { ErasedStatistics::Forget } else { ErasedStatistics::Keep };
        offline(place, subject, reason, statistics)?
    };
    if answer["scrubbed"] == false {
        say("what is left of the key in free space is overwritten at the next start of the service");
    }
    print(&format!(
        "erased: the records of {} decisions and {} outcomes cannot be read any more ({})\n",
        answer["decisions"],
        answer["outcomes"],
        answer["said"].as_str().map_or_else(
            || format!("event {}", answer["events"].as_array().and_then(|events| events.last()).unwrap_or(&json!(0))),
            ToOwned::to_owned
        )
    ))
}

/// Erases people in every log of a store that has records of them.
fn offline(
    place: &TokenPlace,
    subjects: &[String],
    reason: &str,
    statistics: ErasedStatistics,
) -> Result<Json, Failure> {
    let (store, signing) = reserved(place)?;
    let logs = store.logs();
    let known = match logs {
        // The engine says if somebody has no record.
        [_] => vec![subjects.to_vec()],
        _ => known_in(logs, subjects)?,
    };
    let (mut decisions, mut outcomes, mut scrubbed, mut said) = (0, 0, true, Vec::new());
    for (log, subjects) in logs.iter().zip(known).filter(|(_, subjects)| !subjects.is_empty()) {
        let erase = |engine: &Engine| Ok(engine.erase(("console", "console"), &subjects, reason, statistics)?);
        let erased = on_log(log, signing.clone(), erase)?;
        decisions += erased.decisions;
        outcomes += erased.outcomes;
        scrubbed &= erased.scrubbed;
        let event = erased.events.last().copied().unwrap_or_default();
        said.push(format!("{}event {event}", chain_heading(log.number(), logs.len())));
    }
    Ok(json!({ "decisions": decisions, "outcomes": outcomes, "scrubbed": scrubbed, "said": said.join("; ") }))
}

/// Of these people, those of whom each log has records. Refused if one has none anywhere.
fn known_in(logs: &[OfflineLog], subjects: &[String]) -> Result<Vec<Vec<String>>, Failure> {
    let mut known = Vec::new();
    for log in logs {
        let log = log.read()?;
        let Some(secret) = log.subject_secret()? else { return Err(ChangeError::NoSubject.into()) };
        let mut of_log = Vec::new();
        for subject in subjects {
            of_log.extend(log.subject(&Subject::digest(&secret, subject))?.map(|_| subject.clone()));
        }
        known.push(of_log);
    }
    if subjects.iter().all(|subject| known.iter().any(|of_log| of_log.contains(subject))) {
        Ok(known)
    } else {
        Err(ChangeError::NoSubject.into())
    }
}

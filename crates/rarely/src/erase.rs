//! `rarely erase`: erases a person, in a store that no server uses or through a running server.

use clap::Args;
use rarely_live::engine::ErasedStatistics;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{print, say};
use crate::token::{TokenPlace, on_store};

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
        let erased =
            on_store(place, |engine| Ok(engine.erase(("console", "console"), subject, reason, statistics)?))?;
        json!({ "decisions": erased.decisions, "outcomes": erased.outcomes, "events": erased.events, "scrubbed": erased.scrubbed })
    };
    if answer["scrubbed"] == false {
        say("what is left of the key in free space is overwritten at the next start of the service");
    }
    print(&format!(
        "erased: the records of {} decisions and {} outcomes cannot be read any more (event {})\n",
        answer["decisions"],
        answer["outcomes"],
        answer["events"].as_array().and_then(|events| events.last()).unwrap_or(&json!(0))
    ))
}

//! `rarely health`: whether a service can serve requests, for containers and scripts.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::output::{print, say};

/// Longest time for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Which service.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address of the service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080", env = "RARELY_HEALTH_URL")]
    url: String,
}

/// 0 if it is ready, 1 if it is not.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT)).build().into();
    let answer = agent.get(format!("{}/readyz", arguments.url.trim_end_matches('/'))).call();
    let mut answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            say(&format!("{}: not ready: {error}", arguments.url));
            return Ok(ExitCode::from(1));
        }
    };
    if answer.status() == 200 {
        print("ready\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let body = answer.body_mut().with_config().limit(65_536).read_to_string().unwrap_or_default();
    let detail = serde_json::from_str::<serde_json::Value>(&body).ok();
    let detail = detail.as_ref().and_then(|problem| problem["detail"].as_str());
    say(&format!("{}: not ready: {}", arguments.url, detail.unwrap_or("it answers with an error")));
    Ok(ExitCode::from(1))
}

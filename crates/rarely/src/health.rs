//! `rarely health`: whether a service can serve requests, for containers and scripts.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use crate::failure::Failure;
use crate::output::{print, say};

/// Longest time for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two questions.
const PAUSE: Duration = Duration::from_millis(100);

/// Which service.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address of the service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080", env = "RARELY_HEALTH_URL")]
    url: String,
    /// Ask until it is ready, at most so long
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    wait: u32,
}

/// 0 if it is ready, 1 if it is not.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let until = Instant::now() + Duration::from_secs(arguments.wait.into());
    let answer = loop {
        match ask(&arguments.url) {
            Err(_) if Instant::now() < until => thread::sleep(PAUSE),
            answer => break answer,
        }
    };
    match answer {
        Ok(()) => print("ready\n").map(|()| ExitCode::SUCCESS),
        Err(reason) => {
            say(&format!("{}: not ready: {reason}", arguments.url));
            Ok(ExitCode::from(1))
        }
    }
}

/// Asks a service whether it is ready; if it is not, why.
pub(crate) fn ask(url: &str) -> Result<(), String> {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT)).build().into();
    let address = format!("{}/readyz", url.trim_end_matches('/'));
    let mut answer = agent.get(address).call().map_err(|error| error.to_string())?;
    if answer.status() == 200 {
        return Ok(());
    }
    let body = answer.body_mut().with_config().limit(65_536).read_to_string().unwrap_or_default();
    let detail = serde_json::from_str::<serde_json::Value>(&body).ok();
    let detail = detail.as_ref().and_then(|problem| problem["detail"].as_str());
    Err(detail.unwrap_or("it answers with an error").to_owned())
}

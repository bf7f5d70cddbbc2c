//! `rarely import`: sends decisions of the past to a running server, the oldest first.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::failure::{Failure, OrFail as _};
use crate::output::{print, say};
use crate::running_server::RunningServer;

/// Lines that are sent at once.
const LINES: usize = 1000;
/// Bytes after which no line is added.
const BYTES: usize = 1 << 20;

/// What to import, and where to.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The policy, which has not decided yet
    #[arg(long, value_name = "NAME")]
    policy: String,
    /// File with a JSON object per line: time, record, option, outcome, and if there are any guardrails, key, propensity and subject; the
    /// oldest first; - is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The running server
    #[arg(long, value_name = "URL")]
    url: String,
    /// File of the token, which has the role `observe` [default: the environment variable RARELY_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// What became of the lines so far.
#[derive(Default)]
struct ImportCounts {
    imported: u64,
    repeated: u64,
    refused: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { policy, data, url, token_file } = arguments;
    let server = RunningServer::at(url, token_file.as_deref())?;
    let unreadable = || format!("{}: cannot be read", data.display());
    let lines: Box<dyn BufRead> = if data.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(data).or_fail_with(unreadable)?))
    };
    let path = format!("/v1/policies/{policy}/history");
    let (mut counts, mut batch, mut numbers) = (ImportCounts::default(), String::new(), Vec::new());
    for (number, line) in (1_u64..).zip(lines.lines()) {
        let line = line.or_fail_with(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        batch.push_str(&line);
        batch.push('\n');
        numbers.push(number);
        if numbers.len() == LINES || batch.len() >= BYTES {
            send(&server, &path, (&mut batch, &mut numbers), &mut counts)?;
        }
        // What follows a line that was refused would not be in the order of times.
        if counts.refused > 0 {
            break;
        }
    }
    if !numbers.is_empty() {
        send(&server, &path, (&mut batch, &mut numbers), &mut counts)?;
    }
    let ImportCounts { imported, repeated, refused } = counts;
    print(&format!("{imported} decisions imported, {repeated} known already, {refused} refused\n"))?;
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Sends a batch, and says which of its lines were refused and why.
fn send(
    server: &RunningServer,
    path: &str,
    (batch, numbers): (&mut String, &mut Vec<u64>),
    counts: &mut ImportCounts,
) -> Result<(), Failure> {
    let answers = server.send_lines(path, std::mem::take(batch))?;
    for (number, answer) in std::mem::take(numbers).into_iter().zip(answers) {
        if answer["event"].is_null() {
            counts.refused += 1;
            let words = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
            say(&format!("error: line {number}: {}", words("detail")));
            if !answer["remedy"].is_null() {
                say(&format!("help: {}", words("remedy")));
            }
        } else if answer["repeated"] == true {
            counts.repeated += 1;
        } else {
            counts.imported += 1;
        }
    }
    Ok(())
}

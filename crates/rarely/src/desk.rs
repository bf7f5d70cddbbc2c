//! `rarely desk`: a page for people without a shell.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use tokio::runtime::Builder;

use crate::failure::{Failure, OrFail as _};
use crate::output::say;

/// How to open it.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Port of this machine [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Do not start a browser; open the address that is printed instead
    #[arg(long)]
    no_open: bool,
    /// Folder below which the page saves its files [default: the current one]
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = arguments.folder.canonicalize().map_err(|error| {
        let failure = Failure::new(format!("{}: cannot be used", arguments.folder.display())).caused_by(&error);
        failure.help("name a folder that exists with --folder")
    })?;
    if !folder.is_dir() {
        let failure = Failure::new(format!("{}: is not a folder", arguments.folder.display()));
        return Err(failure.help("name a folder that exists with --folder"));
    }
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.or_fail_with(|| "the threads cannot be started".to_owned())?;
    let ready = |address: &str| {
        say(&format!("the desk is open at {address}"));
        say("the address works once, in one browser; Ctrl-C closes the desk and removes its temporary files");
        if !arguments.no_open && !browse(address) {
            say("no browser could be started: open the address in one");
        }
    };
    let served = runtime.block_on(rarely_desk::serve(arguments.port, folder, ready, stopped()));
    // A review that is running is not waited for.
    runtime.shutdown_background();
    served?;
    say("closed");
    Ok(())
}

/// Whether a program was found that opens the address in the person's browser.
fn browse(address: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

/// Ends at Ctrl-C, and on Unix when the terminal is closed or the program is told to end.
async fn stopped() {
    let interrupted = async {
        // Without a handler Ctrl-C would end the program at once; that is then all that can be done.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let told = async {
        use tokio::signal::unix::{SignalKind, signal};
        match (signal(SignalKind::terminate()), signal(SignalKind::hangup())) {
            (Ok(mut terminate), Ok(mut hangup)) => {
                tokio::select! { _ = terminate.recv() => {}, _ = hangup.recv() => {} }
            }
            _ => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let told = std::future::pending::<()>();
    tokio::select! { () = interrupted => {}, () = told => {} }
}

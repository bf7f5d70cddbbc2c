//! `rarely completions` and `rarely man`: what shells and `man` need, from the definition of the command line.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::{Failure, OrFail as _};
use crate::output::{print, say};

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Directory for a page of the program and one of each command: rarely.1, rarely-review.1, …
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Prints a script that a shell reads at its start.
pub(crate) fn run_completions(arguments: &CompletionArguments, mut program: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "rarely", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Writes the manual.
pub(crate) fn run_man(arguments: &ManArguments, program: Command) -> Result<(), Failure> {
    let cannot_write = || format!("{}: cannot be written", arguments.out.display());
    fs::create_dir_all(&arguments.out).or_fail_with(cannot_write)?;
    let mut pages = 0;
    write_pages(&program.disable_help_subcommand(true), "rarely", &arguments.out, &mut pages)
        .or_fail_with(cannot_write)?;
    say(&format!("{pages} pages are in {}", arguments.out.display()));
    Ok(())
}

/// The page of a command, and those of the commands below it. `typed` is how it is called; its page is named with hyphens.
fn write_pages(command: &Command, typed: &str, out: &Path, pages: &mut usize) -> std::io::Result<()> {
    let name = typed.replace(' ', "-");
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.clone()).bin_name(typed)).render(&mut page)?;
    fs::write(out.join(format!("{name}.1")), page)?;
    *pages += 1;
    let mut below = command.get_subcommands();
    below.try_for_each(|below| write_pages(below, &format!("{typed} {}", below.get_name()), out, pages))
}

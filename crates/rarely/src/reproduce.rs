//! `rarely reproduce`.
use clap::Args;
use miette::Report;
#[derive(Debug, Args)]
pub(crate) struct Arguments {}
pub(crate) fn run(_: &Arguments) -> Result<(), Report> { Ok(()) }

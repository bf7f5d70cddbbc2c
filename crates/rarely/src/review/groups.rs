//! `rarely review --by`: many groups at once.

use std::fs;
use std::process::ExitCode;

use rarely_data::Columns;
use rarely_output::OutputDirectory;
use rarely_policy::{PolicyDocument, apply_groups};
use rarely_report::{groups_text, write_groups};
use rarely_review::{GroupEvidence, GroupTallies, GroupsFinding, GroupsJson, UnusedRows, Verdict};

use super::{Arguments, sources};
use crate::failure::{Failure, OrFail as _};
use crate::log::LogOptions;
use crate::output::{OutputFormat, print, print_json, say, width};
use crate::{postgres, state};

/// The document with its groups, if it has some or the command names their column.
pub(super) fn grouped(arguments: &Arguments, document: &PolicyDocument) -> Result<Option<PolicyDocument>, Failure> {
    let grouped = match (&arguments.by, document.groups()) {
        (Some(column), _) => document.grouped_by(column)?,
        (None, Some(_)) => document.clone(),
        (None, None) => return Ok(None),
    };
    refuse(arguments)?;
    Ok(Some(grouped))
}

/// What a review of groups cannot do.
fn refuse(arguments: &Arguments) -> Result<(), Failure> {
    let refused = |what: &str, help: &str| Err(Failure::new(format!("{what} in a review of groups")).help(help));
    if !arguments.state.is_empty() || arguments.save_state.is_some() {
        return refused("statistics cannot be saved or continued", "give all logs of the groups with --data");
    }
    let in_a_database = arguments.log.data.iter().any(|path| postgres::is_address(path));
    if arguments.engine.sums.is_some() || in_a_database {
        return refused("the sums of an engine cannot be used", "give the rows as files with --data");
    }
    if !arguments.population.population.is_empty() {
        return refused(
            "a population cannot be given",
            "leave --population out: the people of each group are those of the log",
        );
    }
    Ok(())
}

pub(super) fn run(arguments: &Arguments, document: &PolicyDocument) -> Result<ExitCode, Failure> {
    let directory = arguments.out.as_deref().map(OutputDirectory::create).transpose()?;
    let columns = columns(arguments, document);
    let mut shares = GroupTallies::shared(document);
    let walked = arguments.log.share(document, &columns, &mut shares, |tallies, case| {
        tallies.add_row(&case.group, &case.row());
    })?;
    let unused = UnusedRows { rejected: walked.rejected, dropped: walked.missing.dropped_rows() };
    let mut evidence = GroupEvidence::new(GroupTallies::joined(shares, unused)?)?;
    if arguments.log.can_be_read_again() {
        let mut second = evidence.second_reading()?;
        arguments.log.walk_again(document, &columns, |case| second.add_row(&case.group, &case.row()))?;
        evidence = evidence.with_second_reading(second);
    }
    let found = evidence.review()?;
    let findings = GroupsFinding::new(&found);
    if let Some(directory) = &directory {
        let base = |group| evidence.base(group).map_err(Failure::from);
        write_groups(directory, &findings, &found.groups, base, &sources(arguments, &walked.read_as))?;
        say(&format!("the report is {}", directory.path().join("review.html").display()));
    }
    match arguments.format {
        OutputFormat::Table => print(&groups_text(&findings, width()))?,
        OutputFormat::Json => print_json(&GroupsJson::new(&findings))?,
    }
    apply(arguments, document, &findings)?;
    Ok(if findings.verdict == Verdict::Keep { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn columns(arguments: &Arguments, document: &PolicyDocument) -> Columns {
    let columns = LogOptions::columns(document);
    let time = arguments.time_column.clone().or(columns.time.clone());
    Columns { time, group: document.groups().map(|groups| groups.column.clone()), ..columns }
}

/// Puts the proposed rules of the groups into a copy of the document.
fn apply(arguments: &Arguments, document: &PolicyDocument, found: &GroupsFinding) -> Result<(), Failure> {
    let Some(path) = &arguments.apply else { return Ok(()) };
    let rules = found.proposed_rules();
    let (Some(groups), false) = (document.groups(), rules.is_empty()) else {
        say(&format!("there is no change to apply; {} was not written", path.display()));
        return Ok(());
    };
    let original = fs::read_to_string(&arguments.policy)
        .or_fail_with(|| format!("{}: cannot be read", arguments.policy.display()))?;
    let text = apply_groups(&original, &groups.column, &rules)?;
    state::write_new(path, text.as_bytes())?;
    say(&format!("the document with the proposed rules is in {}", path.display()));
    Ok(())
}

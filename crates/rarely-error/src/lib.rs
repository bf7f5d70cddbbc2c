//! What a caller can do about an error.
//!
//! An error's [`Display`](fmt::Display) says what went wrong and where. What to do about it is a value of its own, the
//! [`Remedy`], because each front end says it differently: the command line names a flag, Python an argument, the service a
//! route. A library names neither; it names the [`Action`].
//!
//! ```
//! use rarely_error::{Action, Remedy};
//! let remedy = Remedy::with("correct them, or {action}", Action::RaiseRejectLimit);
//! assert_eq!(remedy.to_string(), "correct them, or raise the reject limit");
//! assert_eq!(remedy.worded(|_| Some("raise `--reject-limit`")), "correct them, or raise `--reject-limit`");
//! ```

mod number;
mod topic;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

pub use number::scientific;
pub use topic::Topic;

/// An error that knows what its reader can do about it.
pub trait Explain: Error {
    /// What to do, if anything can be done.
    fn remedy(&self) -> Option<Remedy>;
}

/// What an error and its causes say, each once.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// What to do about an error: an instruction without a capital or a full stop, as in "save the file as UTF-8"; and the topic of the
/// book that says more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    text: Cow<'static, str>,
    action: Option<Action>,
    topic: Option<Topic>,
}

/// Where the action's name stands in the text of a [`Remedy`].
const PLACE: &str = "{action}";

impl Remedy {
    /// An instruction that reads the same in every front end.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), action: None, topic: None }
    }

    /// An instruction with `{action}` where each front end names the action in its own way.
    pub fn with(text: impl Into<Cow<'static, str>>, action: Action) -> Self {
        let text = text.into();
        debug_assert!(text.contains(PLACE), "the text says where the action is named");
        Self { text, action: Some(action), topic: None }
    }

    /// Names the topic of the book that explains the error.
    #[must_use]
    pub fn see(mut self, topic: Topic) -> Self {
        self.topic = Some(topic);
        self
    }

    /// The action that it names, if it names one.
    pub fn action(&self) -> Option<Action> {
        self.action
    }

    /// The topic of the book that explains the error, if one does.
    pub fn topic(&self) -> Option<Topic> {
        self.topic
    }

    /// The instruction in a front end's words: `name` gives its name for an action, or `None` for the neutral one.
    pub fn worded<'a>(&self, name: impl FnOnce(Action) -> Option<&'a str>) -> String {
        match self.action {
            Some(action) => self.text.replace(PLACE, name(action).unwrap_or(action.neutral())),
            None => self.text.clone().into_owned(),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.worded(|_| None))
    }
}

/// Something that a caller can do with `rarely` itself, and that each front end names in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Allow more rows to be left out.
    RaiseRejectLimit,
    /// Write somewhere else.
    ChooseOutputDirectory,
    // Of rarely-store and rarely-live.
    /// Create a new store.
    CreateStore,
    /// Give up the acknowledged events that a store has lost.
    AcceptLoss,
    /// Replace a store with a backup.
    RestoreBackup,
    /// Check the whole log.
    VerifyLog,
    /// Replace the key that signs checkpoints, although the old one is lost.
    ReplaceSigningKey,
    /// Accept that a power failure may lose the last acknowledged events.
    AcceptRelaxedDurability,
    /// List a policy's proposals.
    ListProposals,
    /// List a policy's versions.
    ListVersions,
    /// Have a policy reviewed.
    RequestReview,
    /// Let a stopped policy continue.
    ResumePolicy,
    /// Ask a policy for a decision.
    RequestDecision,
    /// Report an outcome that replaces an earlier one.
    CorrectOutcome,
    /// Report a first outcome.
    ReportOutcome,
    /// Create an access token.
    CreateToken,
    /// Name the column with the probability of each logged option.
    NamePropensityColumn,
    /// Give statistics that a review saved.
    GiveSavedStatistics,
    /// Print the statement by which an engine computes the sums of a log.
    PrintStatement,
    // Of rarely-data and rarely-lab.
    /// Say whether numbers have a decimal point or a decimal comma.
    ChooseDecimalMark,
    /// Name the encoding of a text file.
    NameEncoding,
    /// Name the sheet of a workbook.
    NameSheet,
    /// Use the realisations of IHDP that are part of the program.
    UseEmbeddedRealisations,
    /// Simulate in the linear environment.
    UseLinearEnvironment,
    /// Declare the noise of the outcomes.
    DeclareNoise,
    /// Run one shard of an experiment.
    RunShard,
    // Of rarely-server.
    /// Serve an address that other machines can reach without TLS.
    AllowPlainHttp,
    /// Listen on another address.
    ChooseListenAddress,
    /// Name the address at which other replicas reach this one.
    NameReplicaAddress,
}

impl Action {
    /// Its name where no front end has a better one.
    fn neutral(self) -> &'static str {
        match self {
            Self::RaiseRejectLimit => "raise the reject limit",
            Self::ChooseOutputDirectory => "choose another output directory",
            Self::CreateStore => "create a store there",
            Self::AcceptLoss => "accept the loss of the missing events",
            Self::RestoreBackup => "restore a backup",
            Self::VerifyLog => "verify the log",
            Self::ReplaceSigningKey => "replace the lost key",
            Self::AcceptRelaxedDurability => "accept relaxed durability",
            Self::ListProposals => "list the policy's proposals",
            Self::ListVersions => "list the policy's versions",
            Self::RequestReview => "request a review",
            Self::ResumePolicy => "resume the policy",
            Self::RequestDecision => "the decision request",
            Self::CorrectOutcome => "report this outcome as a correction",
            Self::ReportOutcome => "report it as a first outcome",
            Self::CreateToken => "create a token",
            Self::NamePropensityColumn => "name the column with the propensities",
            Self::GiveSavedStatistics => "give statistics that a review saved",
            Self::PrintStatement => "print the statement",
            Self::ChooseDecimalMark => "write decimal = \".\" or decimal = \",\" under [data] in the policy document",
            Self::NameEncoding => {
                "write its encoding, such as encoding = \"windows-1252\", under [data] in the policy document"
            }
            Self::NameSheet => "write sheet = \"NAME\" under [data] in the policy document",
            Self::UseEmbeddedRealisations => "use the embedded realisations",
            Self::UseLinearEnvironment => "use the linear environment",
            Self::DeclareNoise => "declare the standard deviation of the noise",
            Self::RunShard => "run the shard",
            Self::AllowPlainHttp => "allow plain HTTP",
            Self::ChooseListenAddress => "choose another address",
            Self::NameReplicaAddress => "name an address like http://host:port",
        }
    }
}

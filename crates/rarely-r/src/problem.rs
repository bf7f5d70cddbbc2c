//! Errors as R knows them: the libraries' messages, what to do about them, and the class of the condition.

use extendr_api::prelude::*;
use rarely_error::{Action, Explain, Remedy, Topic, with_causes};

/// What went wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    family: &'static str,
    message: String,
    help: Option<String>,
    topic: Option<Topic>,
}

/// The classes of conditions: `rarely_document_error` and so on.
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const DATA: &str = "data";
pub(crate) const REVIEW: &str = "review";
pub(crate) const EXPERIMENT: &str = "experiment";
pub(crate) const SETTINGS: &str = "settings";
pub(crate) const CONTEXT: &str = "context";
pub(crate) const OBSERVE: &str = "observe";
pub(crate) const FIGURE: &str = "figure";
pub(crate) const ARGUMENT: &str = "argument";
pub(crate) const RESTORE: &str = "restore";
pub(crate) const INTERRUPTED: &str = "interrupted";

impl Problem {
    pub(crate) fn new(family: &'static str, message: impl Into<String>) -> Self {
        Self { family, message: message.into(), help: None, topic: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// What an error and its causes say, and what to do about it.
    pub(crate) fn explain(family: &'static str, error: &impl Explain) -> Self {
        let remedy = error.remedy();
        let topic = remedy.as_ref().and_then(Remedy::topic);
        Self { family, message: with_causes(error), help: remedy.map(|remedy| remedy.worded(named)), topic }
    }

    /// The same with the place before the message.
    pub(crate) fn at(self, place: &str) -> Self {
        Self { message: format!("{place}{}", self.message), ..self }
    }

    /// The same with the page that explains it.
    pub(crate) fn see(self, topic: Topic) -> Self {
        Self { topic: Some(topic), ..self }
    }

    /// The same with another line of help.
    pub(crate) fn also(self, help: &str) -> Self {
        let help = self.help.map_or_else(|| help.to_owned(), |first| format!("{first}\nhelp: {help}"));
        Self { help: Some(help), ..self }
    }
}

/// A value of R's, or the problem in its place.
pub(crate) fn answer<T: Into<Robj>>(found: Result<T, Problem>) -> Robj {
    match found {
        Ok(value) => value.into(),
        Err(problem) => {
            let help = problem.help.map_or_else(|| Robj::from(()), Robj::from);
            let see = problem.topic.map_or_else(|| Robj::from(()), |topic| topic.page().into());
            let values: [Robj; 4] = [problem.family.into(), problem.message.into(), help, see];
            let list = crate::values::named_list(["family", "message", "help", "see"], values);
            crate::values::with_class(list, &["rarely_problem"])
        }
    }
}

/// What this package calls an action.
fn named(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::RaiseRejectLimit => "raise `reject_limit`",
        Action::GiveSavedStatistics => "give the `state` of a review",
        Action::ChooseOutputDirectory => "give another directory as `out`",
        Action::NamePropensityColumn => "write propensity = \"COLUMN\" under [evidence] in the document",
        Action::UseLinearEnvironment => "leave out `environment`",
        Action::DeclareNoise => "declare the standard deviation of the noise with `declared_noise`",
        _ => return None,
    })
}

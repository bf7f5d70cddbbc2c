//! What went wrong, in the words of the page.

use std::error::Error;
use std::path::Path;

use maud::{Markup, html};
use rarely_error::{Action, Explain, Remedy, Topic};

/// What went wrong, why, what to do about it, and where the book explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    what: String,
    causes: Vec<String>,
    help: Vec<String>,
    topic: Option<Topic>,
}

impl Problem {
    /// A problem that the desk found itself.
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), causes: Vec::new(), help: vec![help.into()], topic: None }
    }

    /// An error of a library.
    pub(crate) fn of(error: &impl Explain) -> Self {
        let remedy = error.remedy();
        let topic = remedy.as_ref().and_then(Remedy::topic);
        let help = remedy.map(|remedy| remedy.worded(named)).into_iter().collect();
        Self { help, topic, ..Self::caused(error.to_string(), error) }
    }

    /// An error of the system.
    pub(crate) fn system(what: impl Into<String>, error: &dyn Error, help: impl Into<String>) -> Self {
        let caused = Self::caused(what.into(), error);
        let mut causes = vec![error.to_string()];
        causes.extend(caused.causes);
        Self { causes, help: vec![help.into()], ..caused }
    }

    fn caused(what: String, error: &dyn Error) -> Self {
        let (mut causes, mut next) = (Vec::new(), error.source());
        while let Some(error) = next {
            causes.push(error.to_string());
            next = error.source();
        }
        causes.retain(|cause| !what.contains(cause.as_str()));
        Self { what, causes, help: Vec::new(), topic: None }
    }

    /// Adds what to do about it.
    pub(crate) fn also(mut self, help: &str) -> Self {
        self.help.push(help.to_owned());
        self
    }

    /// The same without the folder of temporary files: the person knows a file by its own name.
    pub(crate) fn without(mut self, folder: &Path) -> Self {
        let prefix = format!("{}/", folder.display());
        for text in std::iter::once(&mut self.what).chain(&mut self.causes).chain(&mut self.help) {
            *text = text.replace(&prefix, "");
        }
        self
    }

    /// On a page.
    pub(crate) fn markup(&self) -> Markup {
        html! {
            section.problem role="alert" aria-label="What went wrong" {
                p { strong { (sentence(&self.what)) } }
                @for cause in &self.causes { p { "Cause: " (cause) } }
                @for help in &self.help { p { "What to do: " (help) "." } }
                @if let Some(topic) = self.topic { p { "In the book: " code { (topic.page()) } } }
            }
        }
    }
}

/// A message as a sentence.
fn sentence(what: &str) -> String {
    let end = if what.ends_with('.') { "" } else { "." };
    format!("{what}{end}")
}

/// What the page calls an action.
fn named(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::RaiseRejectLimit => "allow more rows to be left out, in the field “Bad rows to leave out”",
        Action::ChooseOutputDirectory => "name another folder",
        Action::NamePropensityColumn => "give a column the role “probability of the option”",
        Action::ChooseDecimalMark => "choose the decimal mark under “How the file is written”",
        Action::NameEncoding => "choose its encoding under “How the file is written”",
        Action::NameSheet => "name it under “How the file is written”",
        _ => return None,
    })
}

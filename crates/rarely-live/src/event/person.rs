//! People: what events tell about them is encrypted, and is erased by destroying a key.

use rarely_store::{EventLog, LogEntry, SubjectKey, SubjectTag};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Event, EventError};
use crate::learned::LearnedSums;
use crate::replay::ReplayError;

/// The person that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SubjectTag", into = "SubjectTag")]
pub struct AboutPerson {
    /// Stands for the person in the log.
    pub tag: SubjectTag,
    /// Whether the key was destroyed: what the event tells about the person is then empty, and numbers are not numbers.
    pub erased: bool,
}

/// People were erased: their keys were destroyed with this event. There is one for each policy that decided about them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonErased {
    /// Who they were in the log.
    pub subjects: Vec<SubjectTag>,
    /// Why.
    pub reason: String,
    /// The id of the person who did it.
    pub person: String,
    /// Decisions about them.
    pub decisions: u64,
    /// Outcomes and corrections of these decisions, and outcomes of decisions made elsewhere.
    pub outcomes: u64,
    /// Decisions whose outcome cannot come any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<u64>,
    /// The sums at this event, with what was learned from these people; absent if the statistics forget them too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Box<LearnedSums>>,
}

impl From<SubjectTag> for AboutPerson {
    fn from(tag: SubjectTag) -> Self {
        Self { tag, erased: false }
    }
}

impl From<AboutPerson> for SubjectTag {
    fn from(about: AboutPerson) -> Self {
        about.tag
    }
}

/// The fields that tell about a person, by kind of event.
pub(super) fn private_fields(kind: &str) -> &'static [&'static str] {
    match kind {
        "decided" => &["key", "record"],
        "observed" => &["outcome", "guardrails", "elsewhere.key", "elsewhere.record"],
        "corrected" => &["from", "outcome", "from_guardrails", "guardrails", "reason"],
        "overridden" => &["reason"],
        _ => &[],
    }
}

impl Event {
    /// The person that it is about, if one was named.
    pub fn about_person(&self) -> Option<AboutPerson> {
        match self {
            Self::Decided(decided) => decided.subject,
            Self::Observed(observed) => observed.subject,
            Self::Corrected(corrected) => corrected.subject,
            Self::Overridden(overridden) => overridden.subject,
            _ => None,
        }
    }

    /// Whether the person that it is about was erased.
    pub fn is_erased(&self) -> bool {
        self.about_person().is_some_and(|about| about.erased)
    }

    /// Its body, with what it tells about the person encrypted.
    ///
    /// # Panics
    /// Never: events are objects of strings, numbers and lists.
    pub(crate) fn sealed_body(&self, key: &SubjectKey) -> String {
        let kind = self.kind();
        let mut body: Map<String, Json> = serde_json::from_str(&self.body()).expect("events are objects");
        let mut private = Map::new();
        for &path in private_fields(kind) {
            if let Some(value) = place(&mut body, path).and_then(|(outer, field)| outer.remove(field)) {
                private.insert(path.to_owned(), value);
            }
        }
        body.insert("sealed".to_owned(), key.seal(kind, &Json::Object(private).to_string()).into());
        Json::Object(body).to_string()
    }

    /// The event in an entry. What it tells about a person is decrypted, or left empty if the person was erased.
    pub(crate) fn open(log: &dyn EventLog, entry: &LogEntry) -> Result<Self, ReplayError> {
        if let Some(by) = entry.archived_by() {
            return Self::of_stub(log, entry, by);
        }
        let fail = |source| ReplayError::Event { number: entry.number, source };
        let (kind, invalid) = (entry.kind.as_str(), |problem: &str| EventError::Body {
            kind: entry.kind.clone(),
            problem: problem.to_owned(),
        });
        if private_fields(kind).is_empty() || !entry.body.contains("\"sealed\":") {
            return Self::parse(kind, &entry.body).map_err(fail);
        }
        let body: Map<String, Json> =
            serde_json::from_str(&entry.body).map_err(|error| fail(invalid(&error.to_string())))?;
        let (Some(Json::String(sealed)), Some(Json::String(tag))) = (body.get("sealed"), body.get("subject")) else {
            return Self::parse(kind, &entry.body).map_err(fail);
        };
        let tag: SubjectTag = tag.parse().map_err(|_| fail(invalid("its subject is no tag")))?;
        let Some(key) = log.subject_key(&tag)? else {
            let mut erased = Self::emptied(kind, body).map_err(fail)?;
            erased.mark_erased();
            return Ok(erased);
        };
        let opened = key.open(kind, sealed).and_then(|text| serde_json::from_str::<Map<String, Json>>(&text).ok());
        let opened = opened.ok_or_else(|| fail(invalid("it cannot be decrypted with the key of the person")))?;
        Self::of_parts(kind, body, opened).map_err(fail)
    }

    /// The event without its record and outcome.
    pub(super) fn emptied(kind: &str, body: Map<String, Json>) -> Result<Self, EventError> {
        let nothing = private_fields(kind).iter().filter_map(|path| {
            let value = match *path {
                "record" | "elsewhere.record" => Json::Array(Vec::new()),
                "outcome" | "from" => Json::from(0.0),
                "reason" if kind == "overridden" => Json::from(""),
                _ => return None,
            };
            Some(((*path).to_owned(), value))
        });
        let mut event = Self::of_parts(kind, body, nothing.collect())?;
        match &mut event {
            Self::Observed(observed) => observed.outcome = f64::NAN,
            Self::Corrected(corrected) => (corrected.from, corrected.outcome) = (f64::NAN, f64::NAN),
            _ => {}
        }
        Ok(event)
    }

    pub(super) fn mark_erased(&mut self) {
        let subject = match self {
            Self::Decided(decided) => &mut decided.subject,
            Self::Observed(observed) => &mut observed.subject,
            Self::Corrected(corrected) => &mut corrected.subject,
            Self::Overridden(overridden) => &mut overridden.subject,
            _ => return,
        };
        if let Some(about) = subject {
            about.erased = true;
        }
    }

    fn of_parts(kind: &str, mut body: Map<String, Json>, private: Map<String, Json>) -> Result<Self, EventError> {
        body.remove("sealed");
        for (path, value) in private {
            if let Some((outer, field)) = place(&mut body, &path) {
                outer.insert(field.to_owned(), value);
            }
        }
        Self::parse(kind, &Json::Object(body).to_string())
    }
}

/// The object that has a field, and the field's name in it.
pub(super) fn place<'a, 'b>(
    body: &'a mut Map<String, Json>,
    path: &'b str,
) -> Option<(&'a mut Map<String, Json>, &'b str)> {
    match path.split_once('.') {
        Some((outer, field)) => Some((body.get_mut(outer)?.as_object_mut()?, field)),
        None => Some((body, path)),
    }
}

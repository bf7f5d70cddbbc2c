//! Records: the feature values of one case, as a program sends them and as the log stores them.

use std::collections::BTreeMap;

use rarely_core::Arm;
use rarely_error::{Explain, Remedy, Topic};
use rarely_policy::{Encoder, FieldValue, Missing, PolicyDocument, ValueError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The value of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecordField {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Nothing, where the document says what that means.
    Missing,
}

/// Why a record is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecordError {
    /// A feature is missing.
    #[error("the record has no {column}")]
    Absent {
        /// The feature.
        column: String,
        /// All features.
        columns: Vec<String>,
    },
    /// Not a number or a text.
    #[error("{column} is {found}")]
    Nested {
        /// The feature.
        column: String,
        /// What was found.
        found: &'static str,
    },
    /// A value that the document does not allow.
    #[error("{problem}")]
    Value {
        /// The feature.
        column: String,
        /// What is wrong with it.
        problem: ValueError,
    },
    /// The wrong number of values.
    #[error("the record has {found} values, but the policy has {expected} features")]
    Length {
        /// Features of the policy.
        expected: usize,
        /// Values found.
        found: usize,
    },
}

impl Explain for RecordError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Absent { columns, .. } => {
                Some(Remedy::new(format!("send every feature of the policy document: {}", columns.join(", "))))
            }
            Self::Nested { .. } => Some(Remedy::new("send a number or a text")),
            Self::Value { problem, .. } => problem.remedy(),
            Self::Length { .. } => None,
        }
    }
}

impl RecordError {
    /// The invalid feature.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Absent { column, .. } | Self::Nested { column, .. } | Self::Value { column, .. } => Some(column),
            Self::Length { .. } => None,
        }
    }
}

impl RecordField {
    /// The value for the encoder.
    pub fn value(&self) -> FieldValue<'_> {
        match self {
            Self::Number(number) => FieldValue::Number(*number),
            Self::Text(text) => FieldValue::Text(text),
            Self::Missing => FieldValue::Missing,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Json {
        match self {
            Self::Number(number) => Json::from(*number),
            Self::Text(text) => Json::from(text.as_str()),
            Self::Missing => Json::Null,
        }
    }
}

/// Why the outcomes of guard-rails are invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GuardrailError {
    /// One is missing.
    #[error("the report has no {column}")]
    Absent {
        /// Its column.
        column: String,
        /// All of them.
        columns: Vec<String>,
    },
    /// One that the document does not have.
    #[error("the policy document has no guard-rail {column:?}")]
    Unknown {
        /// The name.
        column: String,
        /// All of them.
        columns: Vec<String>,
    },
    /// One is out of range.
    #[error(transparent)]
    Value(ValueError),
}

impl Explain for GuardrailError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Absent { columns, .. } => Some(
                Remedy::new(format!("report every guard-rail with the outcome: {}", columns.join(", ")))
                    .see(Topic::Guardrails),
            ),
            Self::Unknown { columns, .. } if columns.is_empty() => {
                Some(Remedy::new("leave it out: the document has no guard-rails").see(Topic::Guardrails))
            }
            Self::Unknown { columns, .. } => {
                Some(Remedy::new(format!("the guard-rails are {}", columns.join(", "))).see(Topic::Guardrails))
            }
            Self::Value(error) => error.remedy(),
        }
    }
}

/// Reads records for one document.
#[derive(Debug, Clone)]
pub struct RecordReader {
    encoder: Encoder,
}

impl RecordReader {
    /// A reader for the records of a document.
    pub fn new(document: &PolicyDocument) -> Self {
        Self { encoder: document.encoder() }
    }

    /// The document's encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The feature values of a JSON record in the document's order, and their context. Fields that the document does not name
    /// are ignored and not stored. One that is absent or null is missing, where the document says what a missing value counts as.
    ///
    /// # Errors
    /// [`RecordError`] names the feature.
    pub fn read(&self, mut record: Map<String, Json>) -> Result<(Vec<RecordField>, Vec<f64>), RecordError> {
        let columns = self.encoder.feature_columns();
        let mut fields = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let counts = matches!(self.encoder.missing(at), Missing::Level | Missing::Indicator);
            let absent = || RecordError::Absent { column: column.clone(), columns: columns.to_vec() };
            let nested = |found| RecordError::Nested { column: column.clone(), found };
            fields.push(match record.remove(column) {
                None | Some(Json::Null) if counts => RecordField::Missing,
                value => match value.ok_or_else(absent)? {
                    Json::Number(number) => {
                        RecordField::Number(number.as_f64().ok_or_else(|| nested("too large a number"))?)
                    }
                    Json::String(text) => RecordField::Text(text),
                    Json::Bool(flag) => RecordField::Text(flag.to_string()),
                    Json::Null => return Err(nested("null")),
                    Json::Array(_) => return Err(nested("a list")),
                    Json::Object(_) => return Err(nested("an object")),
                },
            });
        }
        let context = self.context(&fields)?;
        Ok((fields, context))
    }

    /// The context of a stored record.
    ///
    /// # Errors
    /// [`RecordError`] names the feature.
    pub fn context(&self, fields: &[RecordField]) -> Result<Vec<f64>, RecordError> {
        let columns = self.encoder.feature_columns();
        if fields.len() != columns.len() {
            return Err(RecordError::Length { expected: columns.len(), found: fields.len() });
        }
        let mut context = self.encoder.blank();
        for (at, field) in fields.iter().enumerate() {
            let wrong = |problem| RecordError::Value { column: columns[at].clone(), problem };
            self.encoder.feature(at, field.value(), &mut context).map_err(wrong)?;
        }
        self.encoder.derive(&mut context);
        Ok(context)
    }

    /// The arm of the option with this name.
    ///
    /// # Errors
    /// [`ValueError`] lists the options.
    pub fn option(&self, name: &str) -> Result<Arm, ValueError> {
        self.encoder.option(FieldValue::Text(name))
    }

    /// The reward of an outcome under an option: less the option's cost.
    ///
    /// # Errors
    /// [`ValueError`] if it is out of range.
    pub fn reward(&self, outcome: f64, arm: Arm) -> Result<f64, ValueError> {
        Ok(self.encoder.outcome(FieldValue::Number(outcome))? - self.encoder.cost(arm))
    }

    /// The outcomes of the document's guard-rails in the good direction, in the document's order. Every one must be there: those that are
    /// left out would be those that went wrong, or those that nobody looked at.
    ///
    /// # Errors
    /// `GuardrailError` names the column.
    pub fn guardrails(&self, reported: &BTreeMap<String, f64>) -> Result<Vec<f64>, GuardrailError> {
        let columns = || self.encoder.guardrail_columns().cloned().collect::<Vec<_>>();
        if let Some(unknown) =
            reported.keys().find(|name| !self.encoder.guardrail_columns().any(|known| known == *name))
        {
            return Err(GuardrailError::Unknown { column: unknown.clone(), columns: columns() });
        }
        let read = self.encoder.guardrail_columns().enumerate().map(|(at, column)| {
            let absent = || GuardrailError::Absent { column: column.clone(), columns: columns() };
            let value = FieldValue::Number(*reported.get(column).ok_or_else(absent)?);
            self.encoder.guardrail(at, value).map_err(GuardrailError::Value)
        });
        read.collect()
    }

    /// Whether an outcome is one that the document allows.
    ///
    /// # Errors
    /// [`ValueError`] if it is out of range.
    pub fn check_outcome(&self, outcome: f64) -> Result<(), ValueError> {
        self.encoder.outcome(FieldValue::Number(outcome)).map(|_| ())
    }
}

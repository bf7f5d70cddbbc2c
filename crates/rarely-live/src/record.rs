//! A person's record, as a program sends it and as the log keeps it.

use rarely_core::Arm;
use rarely_policy::{Encoder, FieldValue, PolicyDocument, ValueError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// One feature of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

/// Why a record cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecordError {
    /// A feature is not in it.
    #[error("the record has no {column}; send every feature of the policy document: {}", columns.join(", "))]
    Absent {
        /// The feature.
        column: String,
        /// All features.
        columns: Vec<String>,
    },
    /// A list or an object where a value is needed.
    #[error("{column} is {found}; send a number or a text")]
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
        /// What is wrong, and what to do.
        problem: ValueError,
    },
    /// Another number of values than the document has features.
    #[error("a record of {found} values, where the policy has {expected} features")]
    Length {
        /// Features of the policy.
        expected: usize,
        /// Values found.
        found: usize,
    },
}

impl RecordError {
    /// The feature that is wrong.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Absent { column, .. } | Self::Nested { column, .. } | Self::Value { column, .. } => Some(column),
            Self::Length { .. } => None,
        }
    }
}

impl Field {
    /// As the encoder takes it.
    pub fn value(&self) -> FieldValue<'_> {
        match self {
            Self::Number(number) => FieldValue::Number(*number),
            Self::Text(text) => FieldValue::Text(text),
        }
    }

    /// As JSON.
    pub fn json(&self) -> Json {
        match self {
            Self::Number(number) => Json::from(*number),
            Self::Text(text) => Json::from(text.as_str()),
        }
    }
}

/// Reads records for one document.
#[derive(Debug, Clone)]
pub struct Reader {
    encoder: Encoder,
}

impl Reader {
    /// For the records of a document.
    pub fn new(document: &PolicyDocument) -> Self {
        Self { encoder: document.encoder() }
    }

    /// The document's encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The features of a JSON record in the document's order, and their context. What the document does not name is left out: it
    /// is neither used nor kept.
    ///
    /// # Errors
    /// [`RecordError`] names the feature.
    pub fn read(&self, mut record: Map<String, Json>) -> Result<(Vec<Field>, Vec<f64>), RecordError> {
        let columns = self.encoder.feature_columns();
        let mut fields = Vec::with_capacity(columns.len());
        for column in columns {
            let absent = || RecordError::Absent { column: column.clone(), columns: columns.to_vec() };
            let nested = |found| RecordError::Nested { column: column.clone(), found };
            fields.push(match record.remove(column).ok_or_else(absent)? {
                Json::Number(number) => Field::Number(number.as_f64().ok_or_else(|| nested("too large a number"))?),
                Json::String(text) => Field::Text(text),
                Json::Bool(flag) => Field::Text(flag.to_string()),
                Json::Null => return Err(nested("null")),
                Json::Array(_) => return Err(nested("a list")),
                Json::Object(_) => return Err(nested("an object")),
            });
        }
        let context = self.context(&fields)?;
        Ok((fields, context))
    }

    /// The context of a record that was kept.
    ///
    /// # Errors
    /// [`RecordError`] names the feature.
    pub fn context(&self, fields: &[Field]) -> Result<Vec<f64>, RecordError> {
        let columns = self.encoder.feature_columns();
        if fields.len() != columns.len() {
            return Err(RecordError::Length { expected: columns.len(), found: fields.len() });
        }
        let mut context = self.encoder.blank();
        for (at, field) in fields.iter().enumerate() {
            let wrong = |problem| RecordError::Value { column: columns[at].clone(), problem };
            self.encoder.feature(at, field.value(), &mut context).map_err(wrong)?;
        }
        Ok(context)
    }

    /// The arm of an option's name.
    ///
    /// # Errors
    /// [`ValueError`] names the options there are.
    pub fn option(&self, name: &str) -> Result<Arm, ValueError> {
        self.encoder.option(FieldValue::Text(name))
    }

    /// The reward of an outcome.
    ///
    /// # Errors
    /// [`ValueError`] if it is outside its range.
    pub fn reward(&self, outcome: f64) -> Result<f64, ValueError> {
        self.encoder.outcome(FieldValue::Number(outcome))
    }
}

//! A policy's document as it was registered or amended, ready to read records.

use std::sync::Arc;

use rarely_policy::PolicyDocument;
use serde_json::{Map, Value as Json};

use crate::engine::DecisionRequest;
use crate::live_policy::inconsistent;
use crate::objection::Objection;
use crate::record::{RecordError, RecordField, RecordReader};

/// A document of a policy, from the version that put it in force until the next amendment. Its options and features do not change.
#[derive(Debug)]
pub struct DocumentEdition {
    /// The first version under this document.
    pub version: u64,
    /// The document, exactly as received.
    pub text: String,
    /// The same, parsed. The rule in force may be another one: see [`LivePolicy::document`](crate::LivePolicy::document).
    pub document: PolicyDocument,
    /// Reads its records.
    pub reader: RecordReader,
}

impl DocumentEdition {
    pub(crate) fn parse(version: u64, text: &str) -> Result<Arc<Self>, Objection> {
        let document = PolicyDocument::parse(text, "document").map_err(inconsistent)?.as_live();
        let reader = RecordReader::new(&document);
        Ok(Arc::new(Self { version, text: text.to_owned(), document, reader }))
    }

    /// A request for a decision about a JSON record.
    ///
    /// # Errors
    /// [`RecordError`] names the feature.
    pub fn request(
        self: &Arc<Self>,
        key: Option<String>,
        record: Map<String, Json>,
    ) -> Result<DecisionRequest, RecordError> {
        let (record, context) = self.reader.read(record)?;
        Ok(DecisionRequest { key, record, context, edition: self.clone(), subject: None, pinned: None })
    }

    /// A request for a decision about the feature values of a record, in the document's order.
    ///
    /// # Errors
    /// [`RecordError`] names the feature.
    pub fn request_of(
        self: &Arc<Self>,
        key: Option<String>,
        record: Vec<RecordField>,
    ) -> Result<DecisionRequest, RecordError> {
        let context = self.reader.context(&record)?;
        Ok(DecisionRequest { key, record, context, edition: self.clone(), subject: None, pinned: None })
    }
}

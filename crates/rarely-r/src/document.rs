//! A policy document, from its file or its text.
#![allow(unsafe_code, reason = "what #[extendr] expands to")]

use std::fs;
use std::path::Path;

use extendr_api::prelude::*;
use rarely_data::Columns;
use rarely_policy::{DocumentError, PolicyDocument};

use crate::problem::{self, Problem, answer};
use crate::values::named_list;

/// What messages call a document that is not a file.
const UNNAMED: &str = "the document";

/// A document that was checked, its text, and what messages call it.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) checked: PolicyDocument,
    pub(crate) text: String,
    pub(crate) source: String,
}

impl Document {
    /// From its path, or from its text, which has more than one line.
    fn of(path_or_text: &str) -> Result<Self, Problem> {
        let read = || -> Result<(String, String), DocumentError> {
            if path_or_text.contains('\n') {
                return Ok((path_or_text.to_owned(), UNNAMED.to_owned()));
            }
            let path = Path::new(path_or_text);
            let text =
                fs::read_to_string(path).map_err(|source| DocumentError::Io { file: path.to_owned(), source })?;
            Ok((text, path_or_text.to_owned()))
        };
        let read = read().and_then(|(text, source)| {
            let checked = PolicyDocument::parse(&text, &source)?;
            Ok(Self { checked, text, source })
        });
        read.map_err(|error| Problem::explain(problem::DOCUMENT, &error))
    }

    /// From the text and the name that an object of R's keeps.
    pub(crate) fn kept(text: String, source: String) -> Result<Self, Problem> {
        let checked = PolicyDocument::parse(&text, &source);
        let checked = checked.map_err(|error| Problem::explain(problem::DOCUMENT, &error))?;
        Ok(Self { checked, text, source })
    }

    /// The same, with the log's own name of the option column.
    pub(crate) fn with_option_column(self, column: Option<String>) -> Self {
        match column {
            Some(column) => Self { checked: self.checked.with_option_column(column), ..self },
            None => self,
        }
    }

    /// The columns that a log needs.
    pub(crate) fn log_columns(&self, time: Option<String>) -> Vec<String> {
        let document = &self.checked;
        let features = document.feature_columns().iter().map(|feature| feature.column.clone());
        let log = document.log_columns();
        let named = [&log.key, &log.cluster, &log.weight, &log.propensity].into_iter().flatten();
        let several = log.propensities.iter().chain(&log.fairness);
        let guarded = document.guardrails().iter().map(|guardrail| &guardrail.column);
        let named = named.chain(several).chain(guarded).cloned();
        let always = [document.outcome().column.clone(), document.option_column().to_owned()];
        features.chain(always).chain(named).chain(time.or(Columns::of(document).time)).collect()
    }
}

/// A document as a list of R's.
#[extendr]
fn document(path_or_text: &str) -> Robj {
    answer(Document::of(path_or_text).map(|document| {
        let checked = &document.checked;
        let features: Vec<String> = checked.feature_columns().iter().map(|feature| feature.column.clone()).collect();
        let fields: [(&str, Robj); 8] = [
            ("name", checked.policy().into()),
            ("options", checked.options().to_vec().into()),
            ("features", features.into()),
            ("outcome", checked.outcome().column.as_str().into()),
            ("option_column", checked.option_column().into()),
            ("rule", checked.rule().words(checked).into()),
            ("text", document.text.as_str().into()),
            ("source", document.source.as_str().into()),
        ];
        let (names, values): (Vec<&str>, Vec<Robj>) = fields.into_iter().unzip();
        named_list(names, values)
    }))
}

extendr_module! {
    mod document;
    fn document;
}

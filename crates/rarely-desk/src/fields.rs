//! The fields of a form that was sent.

use std::collections::HashMap;

/// The fields by name. A name that came twice has its last value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(HashMap<String, String>);

impl Fields {
    pub(crate) fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A field without blanks around it; `None` if it is empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Replaces a text by a field, if the form has it.
    pub(crate) fn text(&self, name: &str, into: &mut String) {
        if let Some(text) = self.get(name) {
            text.trim().replace("\r\n", "\n").clone_into(into);
        }
    }
}

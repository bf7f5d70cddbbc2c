//! The names of options and levels, as records have them.

use crate::FieldValue;
use crate::code::{canonical_code, number_of_code};
use crate::number::read;

/// Up to this many names are searched one by one, more by bisection.
const FEW_NAMES: usize = 8;

/// Names that are looked up row by row.
#[derive(Debug, Clone)]
pub(super) struct Names {
    all: Vec<String>,
    /// Each name as a number, for files that store words like "1" as numbers.
    numbers: Vec<Option<f64>>,
    /// What an option is called besides its name in the data; empty if nothing has another name.
    labels: Vec<String>,
    /// Indices sorted by name, if there are many.
    sorted: Vec<usize>,
}

impl Names {
    pub(super) fn new(names: &[String]) -> Self {
        let mut sorted: Vec<usize> = Vec::new();
        if names.len() > FEW_NAMES {
            sorted.extend(0..names.len());
            sorted.sort_by_key(|&at| names[at].as_str());
        }
        let numbers = names.iter().map(|name| read(name).or_else(|| number_of_code(name))).collect();
        Self { all: names.to_vec(), numbers, labels: Vec::new(), sorted }
    }

    /// Options with their codes in the data and their labels; data that we wrote have the labels.
    pub(super) fn of_options(codes: &[String], labels: &[String]) -> Self {
        let labels = if codes == labels { Vec::new() } else { labels.to_vec() };
        Self { labels, ..Self::new(codes) }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(String::as_str)
    }

    #[inline]
    pub(super) fn find(&self, value: FieldValue<'_>) -> Option<usize> {
        match value {
            FieldValue::Missing => None,
            FieldValue::Number(number) => self.numbers.iter().position(|known| *known == Some(number)),
            // Spaces are rare: trim only if the text itself is not a name.
            FieldValue::Text(text) => self.find_text(text).or_else(|| self.find_other(text.trim())),
        }
    }

    /// A name with spaces around it, a label, or a code that is written in another way.
    #[inline(never)]
    fn find_other(&self, text: &str) -> Option<usize> {
        let label = || self.labels.iter().position(|label| label == text);
        let code = || {
            let code = canonical_code(text)?;
            self.all.iter().position(|name| canonical_code(name) == Some(code))
        };
        self.find_text(text).or_else(label).or_else(code)
    }

    #[inline]
    fn find_text(&self, text: &str) -> Option<usize> {
        if self.sorted.is_empty() {
            return self.all.iter().position(|name| name == text);
        }
        let found = self.sorted.binary_search_by(|&at| self.all[at].as_str().cmp(text));
        found.ok().map(|place| self.sorted[place])
    }
}

//! Finds the place of a value in the text.

use std::ops::Range;

use toml_edit::{Document as Tree, Item, Table, TableLike, Value};

/// One step from the top of a document to a place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// Into the value of a key.
    In(String),
    /// To the key itself.
    Key(String),
    /// To an element of a list.
    At(usize),
}

/// A path through the document, e.g. `rule.threshold.cuts[0]`.
pub(crate) type Path = Vec<PathStep>;

/// A path of keys.
pub(crate) fn keys(names: &[&str]) -> Path {
    names.iter().map(|name| PathStep::In((*name).to_owned())).collect()
}

/// The bytes of the value at a path, or of its nearest ancestor that exists.
pub(crate) fn span(text: &str, path: &[PathStep]) -> Range<usize> {
    let Ok(tree) = Tree::parse(text) else { return 0..0 };
    let mut place = Place::Table(tree.as_table());
    let mut found = None;
    for step in path {
        let Some((next, range)) = place.step(step) else { break };
        found = range.or(found);
        place = next;
    }
    found.unwrap_or(0..0)
}

/// Line and column of a byte, from 1; columns count characters.
pub(crate) fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Table(&'a Table),
    Item(&'a Item),
    Value(&'a Value),
    End,
}

impl<'a> Place<'a> {
    fn step(self, step: &PathStep) -> Option<(Self, Option<Range<usize>>)> {
        match step {
            PathStep::In(name) => {
                let (key, item) = self.table()?.get_key_value(name)?;
                // A table that is only implied by its parts has no span.
                Some((Place::Item(item), item.span().or_else(|| key.span())))
            }
            PathStep::Key(name) => Some((Place::End, self.table()?.get_key_value(name)?.0.span())),
            PathStep::At(index) => match self {
                Place::Item(Item::ArrayOfTables(tables)) => {
                    let table = tables.get(*index)?;
                    Some((Place::Table(table), table.span()))
                }
                Place::Item(item) => Self::element(item.as_value()?, *index),
                Place::Value(value) => Self::element(value, *index),
                Place::Table(_) | Place::End => None,
            },
        }
    }

    fn element(value: &'a Value, index: usize) -> Option<(Self, Option<Range<usize>>)> {
        let element = value.as_array()?.get(index)?;
        Some((Place::Value(element), element.span()))
    }

    fn table(self) -> Option<&'a dyn TableLike> {
        match self {
            Place::Table(table) => Some(table),
            Place::Item(item) => item.as_table_like(),
            Place::Value(value) => value.as_inline_table().map(|table| table as &dyn TableLike),
            Place::End => None,
        }
    }
}

//! NDJSON: one JSON object on each line. Only the wanted keys are read; an absent key and `null` are missing values.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};
use rarely_policy::{FieldValue, TextEncoding};
use serde::de::{self, DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::input::Input;
use super::{FileError, LogError, Rejection, RowProblem, Values, no_such_column, trimmed};
use crate::{DataError, Location, number};

/// Lines at the beginning of a file in which every wanted key must be seen at least once.
const LINES_FOR_NAMES: u64 = 1000;

/// A file being read.
pub(super) struct NdjsonReader {
    file: PathBuf,
    input: Input,
    /// All keys of the first lines, in the order of appearance.
    names: Vec<String>,
    /// The slot of each wanted key: a key that is wanted twice has one slot.
    slot_of: Vec<usize>,
    line: u64,
    object: Object,
}

/// The wanted values of an object.
#[derive(Default)]
struct Object {
    keys: HashMap<String, usize>,
    slots: Vec<ValueSlot>,
    /// The text of all slots, concatenated.
    text: String,
    /// The first problem in valid JSON: its slot, and what is wrong.
    problem: Option<(usize, RowProblem)>,
}

#[derive(Clone, Copy, PartialEq)]
enum ValueSlot {
    Absent,
    Null,
    Number(f64),
    /// From, to.
    Text(usize, usize),
}

/// The values of a line.
#[derive(Clone, Copy)]
pub(crate) struct NdjsonFields<'a> {
    reader: &'a NdjsonReader,
}

impl NdjsonReader {
    /// Opens a file and looks for the keys in its first lines.
    pub(super) fn open(path: &Path, wanted: &[String]) -> Result<Self, DataError> {
        let names = names_of(path)?;
        let mut object = Object::default();
        let mut slot_of = Vec::with_capacity(wanted.len());
        for name in wanted {
            if !names.contains(name) {
                return Err(no_such_column(path, name, &names));
            }
            let next = object.keys.len();
            slot_of.push(*object.keys.entry(name.clone()).or_insert(next));
        }
        object.slots = vec![ValueSlot::Absent; object.keys.len()];
        Ok(Self { file: path.to_owned(), input: open(path)?, names, slot_of, line: 0, object })
    }

    /// A reader for pieces of this file.
    pub(super) fn of_pieces(&self) -> Self {
        let (names, slot_of) = (self.names.clone(), self.slot_of.clone());
        let object = Object { keys: self.object.keys.clone(), slots: self.object.slots.clone(), ..Object::default() };
        Self { file: self.file.clone(), input: self.input.piece(), names, slot_of, line: 0, object }
    }

    /// Takes the next lines of the file out of its reader; false if there are none.
    pub(super) fn take_piece(&mut self, from: &mut Self) -> Result<bool, DataError> {
        self.line = 0;
        from.input.move_rows(&mut self.input, |text| Some(memrchr(b'\n', text)? + 1))
    }

    /// The lines of a piece that was read to its end.
    pub(super) fn lines(&self) -> u64 {
        // The line that was not found is counted, too.
        self.line.saturating_sub(1)
    }

    /// All keys of the first lines.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The next line that is not blank, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<NdjsonFields<'_>>, LogError> {
        let Some((line, taken)) = next_line(&mut self.input, &mut self.line)? else { return Ok(None) };
        let read = self.object.read(line);
        let location = |character| Location::Character { file: self.file.clone(), line: self.line, character };
        let rejected = match (read, self.object.problem.take()) {
            (Err((character, problem)), _) => Some((location(character), problem)),
            (Ok(()), Some((slot, problem))) => Some((self.location(slot), problem)),
            (Ok(()), None) => None,
        };
        self.input.take(taken);
        match rejected {
            Some((location, problem)) => Err(LogError::Row(Box::new(Rejection { location, problem }))),
            None => Ok(Some(NdjsonFields { reader: self })),
        }
    }

    /// Bytes read and bytes in total.
    pub(super) fn progress(&self) -> (u64, u64) {
        self.input.progress()
    }

    fn location(&self, slot: usize) -> Location {
        let name = self.object.keys.iter().find(|(_, known)| **known == slot).map_or("no name", |(name, _)| name);
        Location::Key { file: self.file.clone(), line: self.line, name: name.to_owned() }
    }
}

impl NdjsonFields<'_> {
    /// The line.
    pub(super) fn line(self) -> u64 {
        self.reader.line
    }
}

impl Values for NdjsonFields<'_> {
    #[inline]
    fn value(&self, wanted: usize) -> FieldValue<'_> {
        let object = &self.reader.object;
        match object.slots[self.reader.slot_of[wanted]] {
            ValueSlot::Absent | ValueSlot::Null => FieldValue::Missing,
            ValueSlot::Number(value) => FieldValue::Number(value),
            ValueSlot::Text(from, to) => trimmed(&object.text[from..to]),
        }
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        match self.value(wanted) {
            FieldValue::Number(number) => Some(number),
            FieldValue::Text(text) => number::finite(text.as_bytes()),
            FieldValue::Missing => None,
        }
    }

    fn location(&self, wanted: usize) -> Location {
        self.reader.location(self.reader.slot_of[wanted])
    }
}

impl Object {
    /// Reads a line. An error says at which byte, from 1.
    fn read(&mut self, line: &[u8]) -> Result<(), (usize, RowProblem)> {
        self.slots.fill(ValueSlot::Absent);
        self.text.clear();
        self.problem = None;
        let text = std::str::from_utf8(line)
            .map_err(|error| (error.valid_up_to() + 1, RowProblem::NotUtf8 { found: number::shown(line) }))?;
        if !text.trim_start().starts_with('{') {
            let character = text.len() - text.trim_start().len() + 1;
            return Err((character, RowProblem::NotObject { found: number::shown(text.trim().as_bytes()) }));
        }
        let mut parser = serde_json::Deserializer::from_str(text);
        let read = parser.deserialize_map(self).and_then(|()| parser.end());
        read.map_err(|error| {
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
            (error.column(), RowProblem::NotJson { found: number::shown(text.trim().as_bytes()), problem })
        })
    }
}

/// Opens a file of JSON, which is UTF-8.
fn open(path: &Path) -> Result<Input, DataError> {
    Ok(Input::open(path, Some(TextEncoding::Utf8))?.0)
}

/// The next line that is not blank, and the bytes that it takes with its end. Counts lines.
fn next_line<'a>(input: &'a mut Input, line: &mut u64) -> Result<Option<(&'a [u8], usize)>, DataError> {
    *line += 1;
    let (end, taken) = loop {
        let rest = input.rest();
        let (end, taken) = match memchr(b'\n', rest) {
            Some(end) => (end, end + 1),
            None if input.more(*line)? => continue,
            None if input.rest().is_empty() => return Ok(None),
            None => (input.rest().len(), input.rest().len()),
        };
        if !input.rest()[..end].trim_ascii().is_empty() {
            break (end, taken);
        }
        input.take(taken);
        *line += 1;
    };
    Ok(Some((&input.rest()[..end], taken)))
}

/// The keys of the first lines, in the order of appearance.
fn names_of(path: &Path) -> Result<Vec<String>, DataError> {
    let mut input = open(path)?;
    let (mut line, mut objects) = (0, 0);
    let mut names = Names::default();
    while line < LINES_FOR_NAMES
        && let Some((text, taken)) = next_line(&mut input, &mut line)?
    {
        // A line that cannot be read is no reason to stop: it is rejected later.
        objects += u64::from(serde_json::Deserializer::from_slice(text).deserialize_map(&mut names).is_ok());
        input.take(taken);
    }
    if objects == 0 {
        return Err(FileError::NoObject { file: path.to_owned() }.into());
    }
    Ok(names.in_order)
}

/// Names as they appear, each once.
#[derive(Default)]
struct Names {
    in_order: Vec<String>,
    seen: std::collections::HashSet<String>,
}

impl<'de> Visitor<'de> for &mut Names {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<Map: MapAccess<'de>>(self, mut map: Map) -> Result<(), Map::Error> {
        while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
            if self.seen.insert(name.clone()) {
                self.in_order.push(name);
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for &mut Object {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<Map: MapAccess<'de>>(self, mut map: Map) -> Result<(), Map::Error> {
        while let Some(slot) = map.next_key_seed(KeySeed(&self.keys))? {
            match slot {
                None => drop(map.next_value::<IgnoredAny>()?),
                Some(slot) => {
                    let repeated = self.slots[slot] != ValueSlot::Absent;
                    map.next_value_seed(ValueSeed { object: self, slot })?;
                    if repeated {
                        self.problem.get_or_insert((slot, RowProblem::RepeatedKey));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads a key: its slot, if it is wanted.
struct KeySeed<'a>(&'a HashMap<String, usize>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.get(key).copied())
    }
}

/// Reads a value into its slot.
struct ValueSeed<'a> {
    object: &'a mut Object,
    slot: usize,
}

impl ValueSeed<'_> {
    fn nested(self, found: &'static str) {
        self.object.problem.get_or_insert((self.slot, RowProblem::Nested { found }));
        self.object.slots[self.slot] = ValueSlot::Null;
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.object.slots[self.slot] = ValueSlot::Null;
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.object.slots[self.slot] = ValueSlot::Number(value);
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.visit_str(if value { "true" } else { "false" })
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        let from = self.object.text.len();
        self.object.text.push_str(value);
        self.object.slots[self.slot] = ValueSlot::Text(from, self.object.text.len());
        Ok(())
    }

    fn visit_seq<Seq: SeqAccess<'de>>(self, mut seq: Seq) -> Result<(), Seq::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.nested("an array");
        Ok(())
    }

    fn visit_map<Map: MapAccess<'de>>(self, mut map: Map) -> Result<(), Map::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.nested("an object");
        Ok(())
    }
}

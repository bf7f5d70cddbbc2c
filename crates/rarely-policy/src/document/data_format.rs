//! How the files of a log are written, where what is found in them is not to decide (`[data]`).

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;

use crate::document::locate::keys;
use crate::names::shown;
use crate::rule::DocumentFault;

/// How the files of a log are written. What is `None` is found in each file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataFormat {
    /// The character between the fields of a text file.
    pub separator: Option<FieldSeparator>,
    /// The decimal mark of its numbers.
    pub decimal: Option<DecimalMark>,
    /// The encoding of its characters.
    pub encoding: Option<TextEncoding>,
    /// The sheet of a workbook; the first if none is named.
    pub sheet: Option<String>,
}

impl DataFormat {
    /// The table `[data]` of a document; empty if it would say nothing.
    ///
    /// ```
    /// use rarely_policy::{DataFormat, DecimalMark};
    /// let format = DataFormat { decimal: Some(DecimalMark::Comma), ..DataFormat::default() };
    /// assert_eq!(format.table(), "\n# How the files of a log are written.\n[data]\ndecimal = \",\"\n");
    /// assert_eq!(DataFormat::default().table(), "");
    /// ```
    pub fn table(&self) -> String {
        let separator = self.separator.map(|separator| match separator {
            FieldSeparator::TAB => "tab".to_owned(),
            other => char::from(other.byte()).to_string(),
        });
        let decimal = self.decimal.map(|decimal| if decimal == DecimalMark::Comma { "," } else { "." }.to_owned());
        let encoding = self.encoding.map(|encoding| encoding.name().to_owned());
        let keys =
            [("separator", separator), ("decimal", decimal), ("encoding", encoding), ("sheet", self.sheet.clone())];
        let line = |(key, value): (&str, Option<String>)| Some(format!("{key} = {}\n", toml_edit::Value::from(value?)));
        let lines: String = keys.into_iter().filter_map(line).collect();
        if lines.is_empty() { lines } else { format!("\n# How the files of a log are written.\n[data]\n{lines}") }
    }

    /// This format, and where it leaves something open, another.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            separator: self.separator.or(other.separator),
            decimal: self.decimal.or(other.decimal),
            encoding: self.encoding.or(other.encoding),
            sheet: self.sheet.or_else(|| other.sheet.clone()),
        }
    }
}

/// The character between two fields: any of ASCII that is no letter, digit, blank, point, minus sign or quotation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSeparator(u8);

impl FieldSeparator {
    /// A comma.
    pub const COMMA: Self = Self(b',');
    /// A semicolon.
    pub const SEMICOLON: Self = Self(b';');
    /// A tab.
    pub const TAB: Self = Self(b'\t');
    /// A vertical bar.
    pub const BAR: Self = Self(b'|');

    /// The character.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// Of a character, if it can be one.
    pub fn of(byte: u8) -> Option<Self> {
        let can_be = byte == b'\t' || byte.is_ascii_punctuation() && !b".-\"'".contains(&byte);
        can_be.then_some(Self(byte))
    }
}

impl FromStr for FieldSeparator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = [("comma", b','), ("semicolon", b';'), ("tab", b'\t'), ("\\t", b'\t'), ("bar", b'|')];
        let named = named.into_iter().find(|(name, _)| *name == text).map(|(_, byte)| byte);
        let byte = named.or(if let [byte] = text.as_bytes() { Some(*byte) } else { None });
        byte.and_then(Self::of).ok_or_else(|| "a separator is one character, such as ; or |, or tab".to_owned())
    }
}

impl fmt::Display for FieldSeparator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b',' => formatter.write_str("comma-separated"),
            b';' => formatter.write_str("semicolon-separated"),
            b'\t' => formatter.write_str("tab-separated"),
            byte => write!(formatter, "separated by {}", char::from(byte)),
        }
    }
}

/// The mark before the decimals of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalMark {
    /// `1,234.56`.
    Point,
    /// `1.234,56`.
    Comma,
}

impl DecimalMark {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

impl FromStr for DecimalMark {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "." | "point" => Ok(Self::Point),
            "," | "comma" => Ok(Self::Comma),
            _ => Err("a decimal mark is . or ,".to_owned()),
        }
    }
}

impl fmt::Display for DecimalMark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Point => "decimal point",
            Self::Comma => "decimal comma",
        })
    }
}

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// Windows-1252, of which Latin-1 is a part.
    Windows1252,
}

impl TextEncoding {
    /// Its name in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Windows1252 => "windows-1252",
        }
    }
}

impl FromStr for TextEncoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text.to_ascii_lowercase().replace('_', "-").as_str() {
            "utf-8" | "utf8" => Self::Utf8,
            "utf-16" | "utf-16le" => Self::Utf16Le,
            "utf-16be" => Self::Utf16Be,
            "windows-1252" | "cp1252" | "latin-1" | "latin1" | "iso-8859-1" => Self::Windows1252,
            _ => return Err("an encoding is utf-8, utf-16le, utf-16be or windows-1252 (latin-1)".to_owned()),
        })
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Windows1252 => "Windows-1252",
        })
    }
}

/// How the files of a log are written, where what is found in them is not to decide.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Data")]
pub(crate) struct TomlData {
    /// The character between the fields of a text file: ",", ";", "|", "tab".
    separator: Option<String>,
    /// The decimal mark of its numbers: "." or ",". Of 162.320 it says whether this is more or less than a thousand.
    decimal: Option<String>,
    /// The encoding of its characters: "utf-8", "utf-16le", "utf-16be" or "windows-1252", which Latin-1 is a part of.
    encoding: Option<String>,
    /// The sheet of a workbook; the first if none is named.
    #[schemars(length(min = 1))]
    sheet: Option<String>,
}

impl TomlData {
    pub(super) fn check(&self) -> Result<DataFormat, DocumentFault> {
        Ok(DataFormat {
            separator: read("separator", self.separator.as_deref())?,
            decimal: read("decimal", self.decimal.as_deref())?,
            encoding: read("encoding", self.encoding.as_deref())?,
            sheet: self.sheet.clone(),
        })
    }
}

fn read<T: FromStr<Err = String>>(key: &str, text: Option<&str>) -> Result<Option<T>, DocumentFault> {
    let wrong = |text: &str, what: String| {
        DocumentFault::new(keys(&["data", key]), format!("the {key} is {}", shown(text)), what)
    };
    text.map(|text| text.parse().map_err(|what| wrong(text, what))).transpose()
}

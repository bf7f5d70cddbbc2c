//! A number, or the one word that says how to derive it.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A word that can replace a number.
pub(crate) trait Word {
    const TEXT: &'static str;
}

/// "bounded".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounded;

/// "auto".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Auto;

impl Word for Bounded {
    const TEXT: &'static str = "bounded";
}

impl Word for Auto {
    const TEXT: &'static str = "auto";
}

/// A number, or the one word that says how to derive it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NumberOr<W> {
    pub(crate) number: Option<f64>,
    word: std::marker::PhantomData<W>,
}

impl<W> NumberOr<W> {
    pub(crate) const WORD: Self = Self { number: None, word: std::marker::PhantomData };
}

impl<'de, W: Word> Deserialize<'de> for NumberOr<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<W>(std::marker::PhantomData<W>);

        impl<W: Word> Visitor<'_> for Either<W> {
            type Value = NumberOr<W>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a number or {:?}", W::TEXT)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(NumberOr { number: Some(number), word: self.0 })
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                if text == W::TEXT {
                    Ok(NumberOr::WORD)
                } else {
                    Err(E::invalid_value(de::Unexpected::Str(text), &self))
                }
            }
        }

        deserializer.deserialize_any(Either(std::marker::PhantomData))
    }
}

impl<W: Word> JsonSchema for NumberOr<W> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("NumberOr{}", W::TEXT).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number" }, { "const": W::TEXT }] })
    }
}

impl<W: Word> serde::Serialize for NumberOr<W> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.number {
            Some(number) => serializer.serialize_f64(number),
            None => serializer.serialize_str(W::TEXT),
        }
    }
}

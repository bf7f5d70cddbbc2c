//! Serialises the numbers of a rule: whole numbers without a decimal point.

use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::number::whole;
use crate::rule::Coefficient;

/// A list of numbers.
pub(super) fn list<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.iter().map(|number| Number(*number)))
}

struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match whole(self.0) {
            Some(number) => serializer.serialize_i64(number),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl Serialize for Coefficient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Slope(slope) => Number(*slope).serialize(serializer),
            Self::Levels(levels) => {
                serializer.collect_map(levels.iter().map(|(level, number)| (level, Number(*number))))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Coefficient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Coefficient;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number, or a table with a number for each level")
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Coefficient, E> {
                Ok(Coefficient::Slope(number))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Coefficient, E> {
                Ok(Coefficient::Slope(number as f64))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Coefficient, E> {
                Ok(Coefficient::Slope(number as f64))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Coefficient, A::Error> {
                let mut levels = IndexMap::new();
                while let Some((level, number)) = map.next_entry()? {
                    levels.insert(level, number);
                }
                Ok(Coefficient::Levels(levels))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Coefficient {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Coefficient".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a feature adds: per unit of a number, or per level.",
            "anyOf": [{ "type": "number" }, { "type": "object", "additionalProperties": { "type": "number" } }]
        })
    }
}

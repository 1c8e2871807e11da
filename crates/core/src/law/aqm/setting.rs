//! Parameters that can set themselves.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::law::session::{Refused, within};

/// A number, or `"auto"`: one that follows from the link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Setting {
    /// It follows from the link.
    #[default]
    Auto,
    /// It is this.
    Is(f64),
}

impl Setting {
    /// What is set, or else `automatic`.
    pub(super) fn or(self, automatic: f64) -> f64 {
        match self {
            Setting::Auto => automatic,
            Setting::Is(value) => value,
        }
    }

    /// Refuses what is set outside `low..=high`.
    pub(super) fn within(self, field: &'static str, low: f64, high: f64) -> Result<(), Refused> {
        match self {
            Setting::Auto => Ok(()),
            Setting::Is(value) => within(field, value, low, high),
        }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Setting::Auto => to.serialize_str("auto"),
            Setting::Is(value) => to.serialize_f64(*value),
        }
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Setting, D::Error> {
        struct Settings;
        impl de::Visitor<'_> for Settings {
            type Value = Setting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or \"auto\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Setting, E> {
                Ok(Setting::Is(number as f64))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Setting, E> {
                Ok(Setting::Is(number as f64))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Setting, E> {
                Ok(Setting::Is(number))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Setting, E> {
                if text == "auto" {
                    return Ok(Setting::Auto);
                }
                Err(E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        from.deserialize_any(Settings)
    }
}

impl JsonSchema for Setting {
    fn schema_name() -> Cow<'static, str> {
        "Setting".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, or \"auto\": it follows from the link.",
            "anyOf": [{ "type": "number" }, { "const": "auto" }],
        })
    }
}

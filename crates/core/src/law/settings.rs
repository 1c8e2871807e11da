//! What the settings of all laws share: ranges, refusals, and parameters that
//! set themselves by the link that a law stands at.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::{Rate, Time};

/// The link that a law stands at, as parameters that set themselves depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Capacity at the start.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// What a parameter has against its value: the field and the message.
pub type Refused = (Cow<'static, str>, String);

/// A number as a message shows it: one of hundreds of digits by its power of ten.
pub fn number(value: f64) -> String {
    let digits = value.abs();
    if digits == 0.0 || (1e-6..1e15).contains(&digits) || !digits.is_finite() {
        return format!("{value}");
    }
    format!("{value:e}")
}

/// Refuses a number outside `low..=high`.
///
/// # Errors
/// The field and the range.
pub fn within(field: &'static str, value: f64, low: f64, high: f64) -> Result<(), Refused> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let value = number(value);
    Err((field.into(), format!("{value} is out of range: write a number from {low} to {high}")))
}

/// Refuses a span of time outside `low..=high`.
///
/// # Errors
/// The field and the range.
pub fn within_time(field: &'static str, value: Time, low: Time, high: Time) -> Result<(), Refused> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((field.into(), format!("{value} is out of range: write a time from {low} to {high}")))
}

/// Refuses an epoch shorter than 1 ms or longer than 1 h.
///
/// # Errors
/// The field and the range.
pub fn check_epoch(epoch: Time) -> Result<(), Refused> {
    if (Time::from_ms(1)..=Time::from_secs(3_600)).contains(&epoch) {
        return Ok(());
    }
    Err(("epoch".into(), format!("{epoch} is out of range: write a time from 1ms to 1h")))
}

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
    pub fn or(self, automatic: f64) -> f64 {
        match self {
            Setting::Auto => automatic,
            Setting::Is(value) => value,
        }
    }

    /// Refuses what is set outside `low..=high`.
    ///
    /// # Errors
    /// The field and the range.
    pub fn within(self, field: &'static str, low: f64, high: f64) -> Result<(), Refused> {
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

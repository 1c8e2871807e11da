//! What the settings of all laws share: ranges, refusals, and parameters that
//! set themselves by the link that a law stands at.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::{Frequency, Length, Rate, Size, Time};

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

/// Requires a name for a user's own law.
///
/// # Errors
/// The field, and what to write there.
pub fn named(name: &str) -> Result<(), Refused> {
    if name.is_empty() {
        let what = "a law needs a name: name the class or function";
        return Err(("name".into(), what.to_owned()));
    }
    Ok(())
}

/// Bounds of a value as a declaration writes them; `above`: the lower one does not belong to them.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Whether the value must be above the lower bound.
    pub above: bool,
    /// The lower bound.
    pub low: &'static str,
    /// The upper bound; empty: there is none.
    pub high: &'static str,
}

impl Bounds {
    /// As a message says them.
    fn text(self) -> String {
        let Bounds { above, low, high } = self;
        match (above, high) {
            (true, "") => format!("above {low}"),
            (false, "") => format!("from {low}"),
            (true, high) => format!("above {low}, up to {high}"),
            (false, high) => format!("from {low} to {high}"),
        }
    }
}

/// A value outside of its bounds: as a message shows it, and what would be right.
#[derive(Debug)]
pub struct Outside {
    /// The value.
    pub shown: String,
    /// What to write.
    pub wanted: String,
}

impl Outside {
    /// As what a table has against a field.
    pub fn of(self, field: &'static str) -> Refused {
        (field.into(), format!("{} is out of range: write {}", self.shown, self.wanted))
    }
}

/// A value that a declaration gives as a default, or bounds.
pub trait Value: Sized {
    /// The value of this text; none: the text is not one.
    fn of(text: &str) -> Option<Self>;

    /// Refuses a value outside the bounds.
    ///
    /// # Errors
    /// The value, and the range.
    fn within(&self, bounds: Bounds) -> Result<(), Outside>;
}

/// Implements [`Value`]: `Type: "what it is called", how a message shows it`.
macro_rules! values {
    ($($Type:ty: $kind:literal, $shown:expr;)+) => {
        $(impl Value for $Type {
            fn of(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn within(&self, bounds: Bounds) -> Result<(), Outside> {
                let bound = |text| <$Type>::of(text).expect("a bound is written as its type is");
                let least: Self = bound(bounds.low);
                let low = *self > least || !bounds.above && *self == least;
                if low && (bounds.high.is_empty() || *self <= bound(bounds.high)) {
                    return Ok(());
                }
                let shown = $shown(*self).to_string();
                Err(Outside { shown, wanted: format!("{} {}", $kind, bounds.text()) })
            }
        })+
    };
}

values! {
    bool: "true or false", std::convert::identity;
    u8: "a number", std::convert::identity;
    u32: "a number", std::convert::identity;
    i64: "a number", std::convert::identity;
    u64: "a number", std::convert::identity;
    f64: "a number", number;
    Time: "a time", std::convert::identity;
    Size: "a size", std::convert::identity;
    Rate: "a rate", std::convert::identity;
    Frequency: "a rate", std::convert::identity;
}

impl<T: Value> Value for Option<T> {
    fn of(text: &str) -> Option<Option<T>> {
        T::of(text).map(Some)
    }

    fn within(&self, bounds: Bounds) -> Result<(), Outside> {
        self.as_ref().map_or(Ok(()), |value| value.within(bounds))
    }
}

impl<T: Value> Value for Vec<T> {
    fn of(text: &str) -> Option<Vec<T>> {
        T::of(text).map(|one| vec![one])
    }

    fn within(&self, bounds: Bounds) -> Result<(), Outside> {
        self.iter().try_for_each(|each| each.within(bounds))
    }
}

impl Value for Length {
    fn of(text: &str) -> Option<Length> {
        text.parse().ok()
    }

    /// A length has a unit: its bounds are always those of a buffer.
    fn within(&self, bounds: Bounds) -> Result<(), Outside> {
        let sound = match *self {
            Length::Packets(packets) => packets > 0,
            Length::Bytes(bytes) => bytes > 0,
            Length::Bdp(factor) => factor > 0.0 && factor <= 1000.0,
            Length::Time(time) => time > Time::ZERO && time <= Time::from_secs(3_600),
        };
        let outside = || Outside {
            shown: format!("a buffer of {self}"),
            wanted: format!("a length {}", bounds.text()),
        };
        sound.then_some(()).ok_or_else(outside)
    }
}

impl Value for String {
    fn of(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    /// In any: a text has no order.
    fn within(&self, _: Bounds) -> Result<(), Outside> {
        Ok(())
    }
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
}

impl Value for Setting {
    fn of(text: &str) -> Option<Setting> {
        if text == "auto" { Some(Setting::Auto) } else { text.parse().ok().map(Setting::Is) }
    }

    fn within(&self, bounds: Bounds) -> Result<(), Outside> {
        match self {
            Setting::Auto => Ok(()),
            Setting::Is(value) => value.within(bounds),
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
        struct SettingVisitor;
        impl de::Visitor<'_> for SettingVisitor {
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
        from.deserialize_any(SettingVisitor)
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

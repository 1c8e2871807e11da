//! What the settings of all laws share: ranges, refusals, and parameters that
//! set themselves by the link that a law stands at.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::{Rate, Size, Time};

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

/// Bounds of a value as `settings!` writes them; `above`: the lower one does not belong to them.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Whether the value must be above the lower bound.
    pub above: bool,
    /// The lower bound.
    pub low: &'static str,
    /// The upper bound.
    pub high: &'static str,
}

/// A value of a setting.
pub trait Value: Sized {
    /// The value of this text; none: the text is not one.
    fn of(text: &str) -> Option<Self>;

    /// Refuses a value outside the bounds.
    ///
    /// # Errors
    /// The field and the range.
    fn within(&self, field: &'static str, bounds: Bounds) -> Result<(), Refused>;
}

/// Implements [`Value`]: `Type: "what it is called", how a message shows it`.
macro_rules! values {
    ($($Type:ty: $kind:literal, $shown:expr;)+) => {
        $(impl Value for $Type {
            fn of(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn within(&self, field: &'static str, bounds: Bounds) -> Result<(), Refused> {
                let Bounds { above, low, high } = bounds;
                let bound = |text| Self::of(text).expect("a bound is written as its type is");
                let (least, most): (Self, Self) = (bound(low), bound(high));
                if *self <= most && (*self > least || !above && *self == least) {
                    return Ok(());
                }
                let range = match above {
                    true => format!("above {low}, up to {high}"),
                    false => format!("from {low} to {high}"),
                };
                let shown = $shown(*self);
                Err((field.into(), format!("{shown} is out of range: write {} {range}", $kind)))
            }
        })+
    };
}

values! {
    bool: "true or false", std::convert::identity;
    u8: "a number", std::convert::identity;
    u32: "a number", std::convert::identity;
    f64: "a number", number;
    Time: "a time", std::convert::identity;
    Size: "a size", std::convert::identity;
    Rate: "a rate", std::convert::identity;
}

impl<T: Value> Value for Option<T> {
    fn of(text: &str) -> Option<Option<T>> {
        T::of(text).map(Some)
    }

    fn within(&self, field: &'static str, bounds: Bounds) -> Result<(), Refused> {
        self.as_ref().map_or(Ok(()), |value| value.within(field, bounds))
    }
}

/// Makes the settings of a law, `Config` (or `Name`, after `"NameInTheSchema" as Name`), from one
/// entry for each; `in_range` checks their ranges,
/// and `check` too where the name of the schema is followed by `check`
/// (`check_at`: `check` takes the link).
///
/// ```text
/// settings! {
///     /// Parameters of this law.
///     "NameInTheSchema", check:
///     key: type = default [low to high] "What it is" ("source");
/// }
/// ```
///
/// The default is a literal, of times and sizes in quotes. The range and the source may be left
/// out; `[above low to high]` leaves out the lower bound itself. A default in braces is any
/// expression; the words then are the whole documentation, with default and range.
#[macro_export]
macro_rules! settings {
    ($(#[$about:meta])* $name:literal $(, $check:ident)?: $($settings:tt)+) => {
        $crate::settings! { $(#[$about])* $name as Config $(, $check)?: $($settings)+ }
    };
    (
        $(#[$about:meta])* $name:literal as $Config:ident $(, $check:ident)?:
        $($(#[$attribute:meta])* $key:ident: $Type:ty = $default:tt $([$($range:tt)+])?
            $what:literal $(($source:literal))?;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default, rename_all = "snake_case")]
        #[schemars(rename = $name)]
        pub struct $Config {
            $(
                $(#[$attribute])*
                #[doc = $crate::settings!(@doc $what, $default, [$($($range)+)?], [$($source)?])]
                pub $key: $Type,
            )+
        }

        impl Default for $Config {
            fn default() -> $Config {
                $Config { $($key: $crate::settings!(@default $Type, $default),)+ }
            }
        }

        impl $Config {
            $($crate::settings!(@$check);)?

            /// Whether every value is in the range of its setting.
            ///
            /// # Errors
            /// The field that is not, and what would be right.
            pub fn in_range(&self) -> Result<(), $crate::law::settings::Refused> {
                $($($crate::settings!(@within self, $key, $($range)+)?;)?)+
                Ok(())
            }
        }
    };
    (@check) => {
        /// Whether every value is in range.
        ///
        /// # Errors
        /// The field that is not, and what would be right.
        pub fn check(&self) -> Result<(), $crate::law::settings::Refused> {
            self.in_range()
        }
    };
    (@check_at) => {
        /// Whether every value is in range, at any link.
        ///
        /// # Errors
        /// The field that is not, and what would be right.
        pub fn check(
            &self,
            _: $crate::law::settings::Link,
        ) -> Result<(), $crate::law::settings::Refused> {
            self.in_range()
        }
    };
    (@doc $what:literal, { $default:expr }, $range:tt, []) => { $what };
    (@doc $what:literal, $default:literal, [$($range:tt)*], [$($source:literal)?]) => {
        concat!(
            $what, "; default ", $default, $crate::settings!(@range $($range)*), $(" (", $source, ")",)? "."
        )
    };
    (@range) => { "" };
    (@range above $low:literal to $high:literal) => { concat!(", above ", $low, ", up to ", $high) };
    (@range $low:literal to $high:literal) => { concat!(", ", $low, " to ", $high) };
    (@default $Type:ty, { $default:expr }) => { $default };
    (@default $Type:ty, $default:literal) => {
        <$Type as $crate::law::settings::Value>::of(concat!($default)).expect("a default is written as its type is")
    };
    (@within $self:ident, $key:ident, above $low:literal to $high:literal) => {
        $crate::settings!(@within $self, $key, true, $low, $high)
    };
    (@within $self:ident, $key:ident, $low:literal to $high:literal) => {
        $crate::settings!(@within $self, $key, false, $low, $high)
    };
    (@within $self:ident, $key:ident, $above:literal, $low:literal, $high:literal) => {{
        let bounds =
            $crate::law::settings::Bounds { above: $above, low: concat!($low), high: concat!($high) };
        $crate::law::settings::Value::within(&$self.$key, stringify!($key), bounds)
    }};
}

/// Makes a table of a document in which a key may be followed by its range, as in `share: f64 [0
/// to 1]`: the range is written into the documentation of the key, and `out_of_range` checks it.
///
/// For tables whose keys are needed or have defaults that are no literals; else [`settings!`].
#[macro_export]
macro_rules! keys {
    (
        $(#[$about:meta])*
        $visible:vis struct $Table:ident {
            $($(#[$attribute:meta])* pub $key:ident: $Type:ty $([$($range:tt)+])?,)+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$about])*
        $visible struct $Table {
            $(
                $(#[$attribute])*
                $(#[doc = $crate::keys!(@doc $($range)+)])?
                pub $key: $Type,
            )+
        }

        impl $Table {
            /// The keys that are out of range, and what would be right.
            $visible fn out_of_range(
                &self,
            ) -> impl Iterator<Item = $crate::law::settings::Refused> + use<> {
                [$($($crate::settings!(@within self, $key, $($range)+).err(),)?)+]
                    .into_iter()
                    .flatten()
            }
        }
    };
    (@doc above $low:literal to $high:literal) => { concat!("Above ", $low, ", up to ", $high, ".") };
    (@doc $low:literal to $high:literal) => { concat!("From ", $low, " to ", $high, ".") };
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

    fn within(&self, field: &'static str, bounds: Bounds) -> Result<(), Refused> {
        match self {
            Setting::Auto => Ok(()),
            Setting::Is(value) => value.within(field, bounds),
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

//! Values of a transport's settings that are words, or a number or a time or else a word.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use tidegate_core::law::settings::{Bounds, Outside, Value};
use tidegate_core::units::{Time, parse::UnitError};

/// ECN codepoint of packets whose sender does not respond (RFC 3168, RFC 9331).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    /// ECT(0): a queue may mark it.
    Ect0,
    /// ECT(1): it is taken for L4S traffic.
    Ect1,
}

/// Whether ACKs are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DelayedAck {
    /// Yes, for the time that is usual, or no.
    Usual(bool),
    /// Yes, for up to this time.
    UpTo(Time),
}

/// Makes the type of a whole number or else a word, which stands for the greatest number: what is
/// expected in place of a wrong value, and the schema of the number and of the word.
macro_rules! number_or_word {
    (
        $(#[$doc:meta])*
        $Name:ident or $WORD:ident = $word:literal: $expecting:literal;
        $text:literal, $number:tt, $other:tt
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $Name(pub u32);

        impl $Name {
            #[doc = concat!("The word, ", $word, ".")]
            pub const $WORD: $Name = $Name(u32::MAX);
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                if *self == $Name::$WORD { to.serialize_str($word) } else { self.0.serialize(to) }
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$Name, D::Error> {
                struct Either;
                impl Visitor<'_> for Either {
                    type Value = $Name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$Name, E> {
                        match u32::try_from(number) {
                            Ok(number) if number != u32::MAX => Ok($Name(number)),
                            _ => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                        }
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$Name, E> {
                        if text == $word {
                            return Ok($Name::$WORD);
                        }
                        Err(E::invalid_value(de::Unexpected::Str(text), &self))
                    }
                }
                from.deserialize_any(Either)
            }
        }

        impl Value for $Name {
            fn of(text: &str) -> Option<$Name> {
                if text == $word { Some($Name::$WORD) } else { text.parse().ok().map($Name) }
            }

            fn within(&self, bounds: Bounds) -> Result<(), Outside> {
                if *self == $Name::$WORD {
                    return Ok(());
                }
                self.0.within(bounds).map_err(|outside| Outside {
                    wanted: format!(concat!("{}, or \"", $word, "\""), outside.wanted),
                    ..outside
                })
            }
        }

        impl JsonSchema for $Name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $text, "anyOf": [$number, $other] })
            }
        }
    };
}

number_or_word! {
    /// A whole number, or `"none"`: no bound.
    Bound or NONE = "none": "a whole number from 0 to 4294967294, or \"none\"";
    "A whole number, or \"none\".",
    { "type": "integer", "minimum": 0, "maximum": u32::MAX - 1 },
    { "const": "none" }
}

number_or_word! {
    /// How many pages a user loads.
    PageCount or UNLIMITED = "unlimited": "a number of pages, as in 5, or \"unlimited\"";
    "How many pages a user loads.",
    { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
    { "const": "unlimited", "description": "One after the other until the run ends." }
}

impl Serialize for DelayedAck {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            DelayedAck::Usual(on) => to.serialize_bool(*on),
            DelayedAck::UpTo(time) => time.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for DelayedAck {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DelayedAck, D::Error> {
        struct Delays;
        impl Visitor<'_> for Delays {
            type Value = DelayedAck;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false, true or a time, as in \"40ms\"")
            }
            fn visit_bool<E: de::Error>(self, on: bool) -> Result<DelayedAck, E> {
                Ok(DelayedAck::Usual(on))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<DelayedAck, E> {
                let time = text.parse().map_err(|error: UnitError| {
                    E::custom(format!("{}\n{}; or false, or true", error.what, error.help))
                })?;
                Ok(DelayedAck::UpTo(time))
            }
        }
        from.deserialize_any(Delays)
    }
}

impl JsonSchema for DelayedAck {
    fn schema_name() -> Cow<'static, str> {
        "DelayedAck".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "false, true or how long an ACK may wait.",
            "anyOf": [{ "type": "boolean" }, generator.subschema_for::<Time>()],
        })
    }
}

impl Value for DelayedAck {
    fn of(text: &str) -> Option<DelayedAck> {
        text.parse().ok().map(DelayedAck::UpTo)
    }

    fn within(&self, bounds: Bounds) -> Result<(), Outside> {
        match self {
            DelayedAck::Usual(_) => Ok(()),
            DelayedAck::UpTo(time) => time.within(bounds),
        }
    }
}

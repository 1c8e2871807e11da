//! Transport of a class, as it is written: a profile and what differs from it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer, ser};
use tidegate_core::units::{Rate, Size, Time, parse::UnitError};

use crate::profile::TcpDoc;

/// A control other than TCP's own: its settings, and those of TCP.
///
/// Reading expects the two in tables of their own, as `rearrange` puts them; writing gives the
/// form of the document, one table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "O: Default + serde::de::DeserializeOwned")]
pub(crate) struct ControlDoc<O> {
    /// The control's own settings.
    pub own: O,
    /// The rest.
    pub tcp: TcpDoc,
}

impl<O: Serialize> Serialize for ControlDoc<O> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        together([toml::Value::try_from(&self.own), toml::Value::try_from(&self.tcp)], to)
    }
}

/// Several tables as one.
pub(crate) fn together<S: Serializer>(
    tables: impl IntoIterator<Item = Result<toml::Value, toml::ser::Error>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut whole = toml::Table::new();
    for table in tables {
        if let toml::Value::Table(table) = table.map_err(ser::Error::custom)? {
            whole.extend(table);
        }
    }
    whole.serialize(to)
}

impl<O: JsonSchema> JsonSchema for ControlDoc<O> {
    fn schema_name() -> Cow<'static, str> {
        O::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = O::json_schema(generator);
        let tcp = TcpDoc::json_schema(generator);
        let own = schema.ensure_object().get_mut("properties");
        if let (Some(own), Some(tcp)) = (
            own.and_then(|own| own.as_object_mut()),
            tcp.get("properties").and_then(|tcp| tcp.as_object()),
        ) {
            own.extend(tcp.clone());
        }
        schema
    }
}

/// UDP at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table, as in { rate = \"2Mbit\", packet = \"1000B\" }")]
pub(crate) struct UdpDoc {
    /// Rate of each flow, headers included.
    pub rate: Rate,
    /// Size of a packet, its headers of 28 B included; default 1000B, 29B to 65000B.
    #[serde(default = "kilobyte")]
    pub packet: Size,
    /// Packets are sent in bursts at `rate`; default: continuously.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<BurstDoc>,
}

fn kilobyte() -> Size {
    Size::from_bytes(1000)
}

/// Bursts of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table, as in { packets = 40, every = \"1s\" }")]
pub(crate) struct BurstDoc {
    /// Packets of a burst, from 1.
    pub packets: u32,
    /// From the start of one burst to that of the next: at least the time that a burst takes.
    pub every: Time,
}

/// A whole number, or `"none"`: no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound(pub u32);

impl Bound {
    /// No bound.
    pub const NONE: Bound = Bound(u32::MAX);
}

/// Whether ACKs are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DelayedAck {
    /// Yes, for the time that is usual, or no.
    Usual(bool),
    /// Yes, for up to this time.
    UpTo(Time),
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if *self == Bound::NONE { to.serialize_str("none") } else { to.serialize_u32(self.0) }
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bound, D::Error> {
        struct Bounds;
        impl Visitor<'_> for Bounds {
            type Value = Bound;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 to 4294967294, or \"none\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Bound, E> {
                match u32::try_from(number) {
                    Ok(number) if number != u32::MAX => Ok(Bound(number)),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bound, E> {
                if text == "none" {
                    return Ok(Bound::NONE);
                }
                Err(E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        from.deserialize_any(Bounds)
    }
}

impl JsonSchema for Bound {
    fn schema_name() -> Cow<'static, str> {
        "Bound".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A whole number, or \"none\".",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": u32::MAX - 1 },
                { "const": "none" },
            ],
        })
    }
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

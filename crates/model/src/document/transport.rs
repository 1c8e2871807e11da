//! Transport of a class, as it is written: a profile and what differs from it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer, ser};
use tidegate_core::units::{Rate, Size, Time, parse::UnitError};

use crate::control::TcpControl;
use crate::profile::{HyStart, LossRule, LostSyn, MaxRto, Profile, Recovery, TimerRule};

/// A control beside TCP's own: what it can be told itself, and what TCP can be told.
///
/// Reading expects the two apart, as `rearrange` puts them; writing gives the
/// form of the document, in which they stand together.
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
    /// Packets come in bursts at `rate`; default: without a break.
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

/// TCP: a profile, and settings that replace the profile's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table, as in { profile = \"linux\", mss = \"1000B\" }"
)]
pub(crate) struct TcpDoc {
    /// The era that the settings start from; default rfc.
    pub profile: Profile,
    /// Payload of a full segment, 64B to 65000B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Size>,
    /// Headers on every packet, 20B to 500B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Size>,
    /// Retransmission timeout before the first sample, 1ms to 1h.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Time>,
    /// Least retransmission timeout, 1us to 1h.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Time>,
    /// Greatest retransmission timeout: a time, or the greatest back-off factor, as in "64x".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<MaxRto>,
    /// Initial window in segments, 1 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Initial slow-start threshold in segments, from 1, or "none".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Bound>,
    /// Largest window in segments, from 1, or "none".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Bound>,
    /// How losses within a window are repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Short for recovery = "sack"; false makes a profile with sack a newreno.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether every second segment is acknowledged: false, true, or how long an ACK may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAck>,
    /// Acknowledgements at the start, and after a segment that had arrived already, that are not delayed, 0 to 255; default 22 in the profile linux-6.18, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_acks: Option<u8>,
    /// Data segments at the start that the pace of bbr does not hold back, 0 to 255; default 10 in the profile linux-6.18, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unpaced: Option<u8>,
    /// Whether a last short segment waits until all else is acknowledged (RFC 896).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Whether the FIN waits until all data is acknowledged (unless it rides on a last segment that is short or the only one), as ns-2's FullTcp does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fin_waits: Option<bool>,
    /// Whether the FIN rides on the last segment where it need not wait; false: it is a packet of its own behind it, as in ns-2 before March 2002.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fin_rides: Option<bool>,
    /// What a lost SYN does to the start of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_syn: Option<LostSyn>,
    /// How long a retransmission timeout stays backed off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_rule: Option<TimerRule>,
    /// What a loss does to the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_rule: Option<LossRule>,
    /// Whether the first two duplicates let out a new segment each (RFC 3042); default true in the profiles rfc and linux, and with the loss rule one-way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Clock granularity of round-trip measurements, up to 10s; 0s: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Time>,
    /// Whether every segment is timed (RFC 7323) or one per round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether a connection is opened by a handshake; false: it is open from the start, and its data goes at once; default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Whether both ends understand marks (RFC 3168), as queues with `ecn` set them; default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Which control decides about the window: reno, cubic or bbr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<TcpControl>,
    /// Most segments by which one ACK opens the window in slow start, from 1, or "none" (RFC 3465, L); 0: it counts as one everywhere, whatever it acknowledges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_counting: Option<Bound>,
    /// How cubic leaves its first slow start before losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hystart: Option<HyStart>,
    /// Whether a cut of the window is spread over recovery (RFC 6937); with sack only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr: Option<bool>,
    /// Whether losses are noticed by time (RFC 8985, section 6); with sack only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rack: Option<bool>,
    /// Whether the tail of a flight is probed before the timeout (RFC 8985, section 7); with sack only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tlp: Option<bool>,
    /// Retries of a SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_retries: Option<SynRetriesDoc>,
}

/// Retries of a SYN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table, as in { linear = 4, limit = 6, jitter = 0.0 }"
)]
pub(crate) struct SynRetriesDoc {
    /// How many retries wait just the initial RTO before the wait starts to double.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<u32>,
    /// Retries in all, after which the flow gives up, or "none".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Bound>,
    /// Each wait is stretched by a uniform draw of up to this share of itself, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
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

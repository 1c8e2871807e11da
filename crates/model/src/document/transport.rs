//! Transport of a class, as it is written: a profile and what differs from it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer, ser};
use tidegate_core::keys;
use tidegate_core::units::{Rate, Size, Time};

use super::bound::Codepoint;
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

keys! {
    /// UDP at a constant rate.
    #[serde(deny_unknown_fields, expecting = "a table, as in { rate = \"2Mbit\", packet = \"1000B\" }")]
    pub(crate) struct UdpDoc {
        /// Rate of each flow, headers included.
        pub rate: Rate,
        /// Size of a packet, its headers of 28 B included; default 1000B.
        #[serde(default = "kilobyte")]
        pub packet: Size ["29B" to "65000B"],
        /// Packets are sent in bursts at `rate`; default: continuously.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub burst: Option<BurstDoc>,
        /// ECN codepoint of its packets; default none. A mark does not slow it down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub ecn: Option<Codepoint>,
    }
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

keys! {
    /// QUIC by a real stack, whose own code makes and reads every datagram.
    #[serde(
        deny_unknown_fields,
        default,
        expecting = "a table, as in { stack = \"quinn\", control = \"cubic\" }"
    )]
    pub(crate) struct QuicDoc {
        /// The stack: quinn, which `make stacks` builds in, or one of your own by the name under which
        /// it is handed in; default quinn.
        pub stack: String,
        /// Its congestion control; default cubic.
        pub control: QuicControl,
        /// What protects its packets; default null.
        pub crypto: QuicCrypto,
        /// Size of a full packet, headers of IP and UDP included; default 1500B.
        pub packet: Size ["1228B" to "9000B"],
    }
}

impl Default for QuicDoc {
    fn default() -> QuicDoc {
        let (stack, packet) = ("quinn".to_owned(), Size::from_bytes(1500));
        QuicDoc { stack, control: QuicControl::default(), crypto: QuicCrypto::default(), packet }
    }
}

/// The congestion control of a stack of QUIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuicControl {
    /// CUBIC (RFC 9438), as the stack has it.
    #[default]
    Cubic,
    /// NewReno (RFC 9002, 7), as the stack has it.
    NewReno,
}

/// What protects the packets of a stack of QUIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuicCrypto {
    /// Nothing: messages and packets have the lengths of TLS 1.3, and no contents.
    #[default]
    Null,
    /// TLS 1.3 by rustls: a whole handshake, and packets that are encrypted.
    Rustls,
}

//! Transport of a class, as it is written: a profile and what differs from it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tidegate_core::law::keys::{Table, table, written};
use tidegate_core::law::media::laws::MediaLaw;
use tidegate_core::units::{Rate, Size, Time};
use tidegate_core::{keys, settings};

use super::bound::Codepoint;
use crate::document::amount::Amount;
use crate::profile::TcpDoc;

/// A control other than TCP's own: its settings, and those of TCP, in one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ControlDoc<O>(pub (O, TcpDoc));

impl<'de, O: Table> Deserialize<'de> for ControlDoc<O> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ControlDoc<O>, D::Error> {
        table(from).map(ControlDoc)
    }
}

impl<O: Table> Serialize for ControlDoc<O> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        written(&self.0, to)
    }
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
    "UdpDoc" as pub(crate) UdpDoc = "a table, as in { rate = \"2Mbit\", packet = \"1000B\" }":
    rate: Rate = required "Rate of each flow, headers included";
    packet: Size = "1000B" ["29B" to "65000B"] "Size of a packet, its headers of 28 B included";
    burst: Option<BurstDoc> = none "Packets are sent in bursts at `rate`; default: continuously";
    on_off: Option<OnOffDoc> = none "Each flow sends and is silent in turn, for times that may be drawn; default: it is never silent";
    ecn: Option<Codepoint> = none "ECN codepoint of its packets; default none" + "A mark does not slow it down, but for media.";
    media: Option<MediaDoc> = none "What it sends are the frames of an encoder, whose rate follows reports of the receiver: `rate` is the highest; default: always `rate`";
}

keys! {
    /// An encoder whose rate follows reports of the receiver.
    "MediaDoc" as pub(crate) MediaDoc = "a table, as in { control = { law = \"nada\" } }":
    control: MediaLaw = { MediaLaw::default() } "How its rate is controlled; default nada";
    least: Rate = "150kbit" ["1kbit" to "10Gbit"] "Its lowest rate, headers included";
    start: Option<Rate> = none "Its rate at the beginning; default `least`";
    frames: u32 = 30 [1 to 240] "Frames per second";
    spread: f64 = 0.15 [0 to 1] "How much the sizes of frames differ: the scale of their Laplace distribution, in mean sizes";
    reaction: Time = "200ms" ["0s" to "10s"] "How long the encoder keeps a rate before it takes another";
    key_frames: Option<KeyFramesDoc> = none "Frames that are larger, in place of smaller ones between them; default none";
    feedback: Time = "100ms" ["1ms" to "10s"] "Time between two reports of the receiver";
}

keys! {
    /// Frames that need no other.
    "KeyFramesDoc" as pub(crate) KeyFramesDoc = "a table, as in { every = 300, size = 5 }":
    every: u32 = required [2 to 100000] "The first of so many frames is one";
    size: f64 = required [1 to 1000] "Its size, in mean sizes of frames; less than `every`";
}

keys! {
    /// Times of sending and of silence in turn; a flow begins with one of sending.
    "OnOffDoc" as pub(crate) OnOffDoc = "a table, as in { on = { exponential = { mean = \"1s\" } }, off = \"2s\" }":
    on: Amount<Time> = required "How long it sends at a time: a time or a distribution" + "One packet at least.";
    off: Amount<Time> = required "How long it is silent then: a time or a distribution";
}

keys! {
    /// Bursts of packets.
    "BurstDoc" as pub(crate) BurstDoc = "a table, as in { packets = 40, every = \"1s\" }":
    packets: u32 = required [from 1] "Packets of a burst";
    every: Time = required "From the start of one burst to that of the next: at least the time that a burst takes";
}

settings! {
    /// QUIC by a real stack, whose own code makes and reads every datagram.
    "QuicDoc" as pub(crate) QuicDoc = "a table, as in { stack = \"quinn\", control = \"cubic\" }":
    stack: String = "quinn" "The stack: quinn or noq, or smoltcp of TCP, which `make stacks` builds in, or one of your own by the name under which it is handed in";
    control: QuicControl = { QuicControl::default() } "Its congestion control; default cubic";
    crypto: QuicCrypto = { QuicCrypto::default() } "What protects its packets; default null";
    packet: Size = "1500B" ["1228B" to "9000B"] "Size of a full packet, headers of IP and UDP included";
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

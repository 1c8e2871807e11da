//! Random loss on a link, as it is written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use tidegate_core::keys;

use crate::scenario::{Burst, Loss};

/// Shares of the packets that the link loses, each independently of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct LossDoc {
    /// Of packets with payload.
    pub data: f64,
    /// Of packets without: ACK, SYN, a FIN alone.
    pub ack: f64,
    /// What the link loses besides, in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<LossBurstDoc>,
}

keys! {
    /// Losses in bursts (Gilbert-Elliott): a packet outside of a burst begins one with probability `enter`, and each later one ends it with probability `leave`.
    ///
    /// In the long run the share enter / (enter + leave) of the packets is in bursts, and the mean burst has 1 / leave packets.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, expecting = "a table, as in { enter = 0.001, leave = 0.2 }")]
    pub(crate) struct LossBurstDoc {
        /// Probability that a packet outside of a burst begins one.
        pub enter: f64 [0 to 1],
        /// Probability that a burst is over before its next packet.
        pub leave: f64 [0 to 1],
        /// Share of the packets of a burst that are lost; default 1.
        #[serde(default = "all")]
        pub inside: f64 [0 to 1],
        /// Share of the other packets that are lost; default 0.
        #[serde(default)]
        pub outside: f64 [0 to 1],
    }
}

fn all() -> f64 {
    1.0
}

impl LossDoc {
    /// The same as the scenario has it.
    pub fn as_loss(&self) -> Loss {
        let burst = self.burst.map(|doc| Burst {
            enter: doc.enter,
            leave: doc.leave,
            inside: doc.inside,
            outside: doc.outside,
        });
        Loss { data: self.data, ack: self.ack, burst }
    }
}

/// The form with a key for each.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a table, as in { data = 0.01, ack = 0 }")]
#[derive(Default)]
struct Each {
    /// Share of packets with payload, 0 to 1; default 0.
    data: f64,
    /// Share of packets without payload (ACK, SYN, a FIN alone), 0 to 1; default 0.
    ack: f64,
    /// Losses in bursts, of packets of any kind; default none.
    burst: Option<LossBurstDoc>,
}

impl<'de> Deserialize<'de> for LossDoc {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LossDoc, D::Error> {
        struct Shares;
        impl<'de> Visitor<'de> for Shares {
            type Value = LossDoc;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share, as in 0.01, or { data = 0.01, ack = 0 }")
            }
            fn visit_f64<E: de::Error>(self, share: f64) -> Result<LossDoc, E> {
                Ok(LossDoc { data: share, ack: share, burst: None })
            }
            fn visit_i64<E: de::Error>(self, share: i64) -> Result<LossDoc, E> {
                self.visit_f64(share as f64)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LossDoc, A::Error> {
                let each = Each::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(LossDoc { data: each.data, ack: each.ack, burst: each.burst })
            }
        }
        from.deserialize_any(Shares)
    }
}

impl JsonSchema for LossDoc {
    fn schema_name() -> Cow<'static, str> {
        "Loss".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Share of the packets that a link loses, each independently of the others; or also in bursts.",
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                Each::json_schema(generator),
            ],
        })
    }
}

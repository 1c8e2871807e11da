//! Random loss on a link, as it is written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use tidegate_core::keys;
use tidegate_core::law::settings::number;

use crate::scenario::{Burst, Loss};

keys! {
    /// The form with a key for each.
    "LossEach" as Each = "a table, as in { data = 0.01, ack = 0 }":
    data: f64 = 0 [0 to 1] "Share of packets with payload";
    ack: f64 = 0 [0 to 1] "Share of packets without payload (ACK, SYN, a FIN alone)";
    burst: Option<Burst> = none "Losses in bursts, of packets of any kind; default none";
}

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Loss, D::Error> {
        struct Shares;
        impl<'de> Visitor<'de> for Shares {
            type Value = Loss;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share, as in 0.01, or { data = 0.01, ack = 0 }")
            }
            fn visit_f64<E: de::Error>(self, share: f64) -> Result<Loss, E> {
                if !(0.0..=1.0).contains(&share) {
                    let shown = number(share);
                    let wanted = "a share from 0 to 1";
                    return Err(E::invalid_value(de::Unexpected::Other(&shown), &wanted));
                }
                Ok(Loss { data: share, ack: share, burst: None })
            }
            fn visit_i64<E: de::Error>(self, share: i64) -> Result<Loss, E> {
                self.visit_f64(share as f64)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loss, A::Error> {
                let each = Each::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Loss { data: each.data, ack: each.ack, burst: each.burst })
            }
        }
        from.deserialize_any(Shares)
    }
}

impl JsonSchema for Loss {
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

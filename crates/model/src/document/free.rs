//! Links spelled out one by one, and routes that replace the shortest paths.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use tidegate_core::keys;
use tidegate_core::units::{Length, Rate, Time};

use crate::scenario::{Loss, PacketKind};

keys! {
    /// A link between two nodes; its name is that of the port from `from` to `to`.
    ///
    /// Nodes are what links name. The port in the other direction has `.reverse`
    /// behind the name.
    #[serde(
        deny_unknown_fields,
        expecting = "a table, as in { from = \"client\", to = \"r1\", rate = \"10Mbit\", delay = \"5ms\" }"
    )]
    pub(crate) struct FreeLink {
        /// Node at one end.
        pub from: String,
        /// Node at the other end.
        pub to: String,
        /// Capacity.
        pub rate: Rate,
        /// Propagation delay.
        pub delay: Time,
        /// Length of the buffer in packets, bytes, time or bdp; default 1bdp. In time or bdp it follows a change of capacity.
        #[serde(default = "super::one_bdp")]
        pub buffer: Length,
        /// Share of the packets that the link loses after their transmission; default 0. Or for packets with payload and for those without: { data = 0.01, ack = 0 }.
        #[serde(default)]
        pub loss: Loss,
        /// What the link adds to the length of a path; default 1. Packets take the shortest path.
        #[serde(default = "super::one")]
        pub cost: u32 [1 to 1000000],
        /// What is different in the other direction; default nothing.
        #[serde(default, skip_serializing_if = "Reverse::is_empty")]
        pub reverse: Reverse,
        /// Whether there is no other direction; default false.
        #[serde(default)]
        pub one_way: bool,
    }
}

keys! {
    /// The other direction of a link; keys that are left out are as in the first direction.
    #[derive(Default)]
    #[serde(
        deny_unknown_fields,
        default,
        expecting = "a table, as in { rate = \"1Mbit\", delay = \"250ms\" }"
    )]
    pub(crate) struct Reverse {
        /// Capacity.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate: Option<Rate>,
        /// Propagation delay.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delay: Option<Time>,
        /// Length of the buffer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub buffer: Option<Length>,
        /// Share of the packets that the link loses.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub loss: Option<Loss>,
        /// What the link adds to the length of a path.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cost: Option<u32> [1 to 1000000],
    }
}

impl Reverse {
    pub fn is_empty(&self) -> bool {
        *self == Reverse::default()
    }
}

/// A route that replaces the shortest path at one node. Of several that fit a packet the first counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table, as in { at = \"r1\", to = \"server\", via = \"detour\" }"
)]
pub(crate) struct RouteDoc {
    /// The node that sends packets another way.
    pub at: String,
    /// Destinations of these packets: a node or a list of nodes.
    pub to: Names,
    /// The link that they take from this node.
    pub via: String,
    /// Which packets: data, ack, syn, syn-ack, fin, rst, or a list of these; default all.
    ///
    /// A packet is of one kind: fin if the sender has no more data, even where
    /// data comes with it; ack if it carries nothing else. Packets whose
    /// headers cannot be read are of no kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<Several<PacketKind>>,
}

/// A name or a list of names.
pub(crate) type Names = Several<String>;

/// What one of [`Several`] is called in messages.
pub(crate) trait Item {
    /// What can be written.
    const EXPECTING: &str = "a name in quotes, or a list of names";
}

impl Item for String {}
impl Item for PacketKind {}
impl Item for Time {
    const EXPECTING: &str = "a time with its unit, as in \"20ms\", or a list of times";
}

/// One thing or a list of things, each written as a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Several<T>(pub Vec<T>);

impl<T> Several<T> {
    /// Just one.
    pub fn one(thing: T) -> Several<T> {
        Several(vec![thing])
    }
}

impl<T: Serialize> Serialize for Several<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(to),
            several => several.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de> + Item> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Several<T>, D::Error> {
        struct Texts<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Item> Visitor<'de> for Texts<T> {
            type Value = Several<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTING)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Several<T>, E> {
                T::deserialize(de::value::StrDeserializer::new(text)).map(|one| Several(vec![one]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Several<T>, A::Error> {
                let mut several = Vec::new();
                while let Some(item) = items.next_element()? {
                    several.push(item);
                }
                Ok(Several(several))
            }
        }
        from.deserialize_any(Texts(std::marker::PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Several<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Several{}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

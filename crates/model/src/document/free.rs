//! Links spelled out one by one, and routes that replace the shortest paths.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use tidegate_core::keys;
use tidegate_core::law::settings::{Bounds, Outside, Value};
use tidegate_core::units::{Length, Rate, Time};

use crate::scenario::{Loss, NodeEnd, PacketKind};

keys! {
    /// A link between two nodes; its name is that of the port from `from` to `to`.
    ///
    /// Nodes are what links name. The port in the other direction has `.reverse`
    /// behind the name.
    "FreeLink" as pub(crate) FreeLink = "a table, as in { from = \"client\", to = \"r1\", rate = \"10Mbit\", delay = \"5ms\" }":
    from: String = required "Node at one end";
    to: String = required "Node at the other end";
    rate: Rate = required "Capacity";
    delay: Time = required ["0s" to "1h"] "Propagation delay";
    buffer: Length = "1bdp" [above 0 to "1000bdp or 1h"] "Length of the buffer in packets, bytes, time or bdp" + "In time or bdp it follows a change of capacity.";
    loss: Loss = { Loss::default() } "Share of the packets that the link loses after their transmission; default 0" + "Or for packets with payload and for those without: { data = 0.01, ack = 0 }.";
    cost: u32 = 1 [1 to 1000000] "What the link adds to the length of a path" + "Packets take the shortest path.";
    reverse: Reverse = { Reverse::default() } quiet "What is different in the other direction; default nothing";
    one_way: bool = false "Whether there is no other direction";
    users: Option<NodeEnd> = none "At which end of the link the users are; default: not said" + "Tables then say of its ports which is down, to the users, and which up.";
}

keys! {
    /// The other direction of a link; keys that are left out are as in the first direction.
    #[derive(Default)]
    "Reverse" as pub(crate) Reverse = "a table, as in { rate = \"1Mbit\", delay = \"250ms\" }":
    rate: Option<Rate> = none "Capacity";
    delay: Option<Time> = none ["0s" to "1h"] "Propagation delay";
    buffer: Option<Length> = none [above 0 to "1000bdp or 1h"] "Length of the buffer";
    loss: Option<Loss> = none "Share of the packets that the link loses";
    cost: Option<u32> = none [1 to 1000000] "What the link adds to the length of a path";
}

keys! {
    /// A route that replaces the shortest path at one node. Of several that fit a packet the first counts.
    "RouteDoc" as pub(crate) RouteDoc = "a table, as in { at = \"r1\", to = \"server\", via = \"detour\" }":
    at: String = required "The node that sends packets another way";
    to: Names = required "Destinations of these packets: a node or a list of nodes";
    via: String = required "The link that they take from this node";
    flags: Option<Several<PacketKind>> = none "Which packets: data, ack, syn, syn-ack, fin, rst, or a list of these; default all" + "A packet is of one kind: fin if the sender has no more data, even where data comes with it; ack if it carries nothing else. Packets whose headers cannot be read are of no kind.";
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

impl<T: Value> Value for Several<T> {
    fn of(text: &str) -> Option<Several<T>> {
        T::of(text).map(Several::one)
    }

    fn within(&self, bounds: Bounds) -> Result<(), Outside> {
        self.0.within(bounds)
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

//! Pages of a class, as they are written.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use tidegate_core::keys;
use tidegate_core::units::{Size, Time};

use super::amount::{Amount, Count, Spread};
use super::size::SizeDoc;

keys! {
    /// Users who load pages: each page is a set of objects that is fetched over a few connections.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, expecting = "a table, as in { objects = 20, connections = 6 }")]
    pub(crate) struct PagesDoc {
        /// Objects of a page, its document not counted: a number or a distribution, rounded up to whole numbers from 1 to 10000; default 1. Their size is the `size` of the class.
        #[serde(default = "one_object")]
        pub objects: Amount<Count>,
        /// Size of the document, which is fetched first: the objects are asked for when it has arrived. Default: a page has no document, and all objects are asked for at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub document: Option<SizeDoc>,
        /// The most connections that a user has open at once; default: 6, as browsers have to one host (HTTP/1.1), or 1 over QUIC (HTTP/3). A connection is opened where an object waits and none of those open is free.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub connections: Option<u32> [1 to 256],
        /// Requests that may wait for their answers on one connection; default: 1 with several connections (HTTP/1.1), 100 with one (HTTP/2, HTTP/3).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub concurrent: Option<u32> [1 to 10000],
        /// Whether connections stay open for further objects and pages; default true. With false each object has a connection of its own.
        #[serde(default = "yes")]
        pub persistent: bool,
        /// Bytes of a request, without headers of TCP and IP; default 400B, from 1B up to the payload of a packet. Requests that are sent at once share packets.
        #[serde(default = "request")]
        pub request: Size,
        /// How long the server takes from a request to the first byte of its answer: a time or a distribution; default 0s.
        #[serde(default = "at_once")]
        pub server: Amount<Time>,
        /// Pages that a user loads one after the other, or "unlimited"; default 1.
        #[serde(default)]
        pub count: PageCount,
        /// From a loaded page to the start of the next: a time or a distribution; default 0s.
        #[serde(default = "at_once")]
        pub think: Amount<Time>,
    }
}

fn one_object() -> Amount<Count> {
    Amount(Spread::Constant(Count(1.0)))
}

fn yes() -> bool {
    true
}

pub(crate) fn request() -> Size {
    Size::from_bytes(400)
}

pub(crate) fn at_once() -> Amount<Time> {
    Amount(Spread::Constant(Time::ZERO))
}

/// How many pages a user loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PageCount {
    /// So many.
    Number(u64),
    /// One after the other until the run ends.
    Unlimited,
}

impl Default for PageCount {
    fn default() -> PageCount {
        PageCount::Number(1)
    }
}

impl Serialize for PageCount {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            PageCount::Number(number) => to.serialize_u64(*number),
            PageCount::Unlimited => to.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for PageCount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PageCount, D::Error> {
        struct Pages;
        impl Visitor<'_> for Pages {
            type Value = PageCount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of pages, as in 5, or \"unlimited\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<PageCount, E> {
                u64::try_from(number)
                    .map(PageCount::Number)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PageCount, E> {
                match text {
                    "unlimited" => Ok(PageCount::Unlimited),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        from.deserialize_any(Pages)
    }
}

impl JsonSchema for PageCount {
    fn schema_name() -> Cow<'static, str> {
        "PageCount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How many pages a user loads.",
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
                { "const": "unlimited", "description": "One after the other until the run ends." },
            ],
        })
    }
}

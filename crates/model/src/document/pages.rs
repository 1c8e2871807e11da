//! Pages of a class, as they are written.

use tidegate_core::keys;
use tidegate_core::units::{Size, Time};

use super::amount::{Amount, Count, Spread};
use super::bound::PageCount;
use super::size::SizeDoc;

keys! {
    /// Users who load pages: each page is a set of objects that is fetched over a few connections.
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
        #[serde(default = "one_page")]
        pub count: PageCount,
        /// From a loaded page to the start of the next: a time or a distribution; default 0s.
        #[serde(default = "at_once")]
        pub think: Amount<Time>,
    }
}

fn one_object() -> Amount<Count> {
    Amount(Spread::Constant(Count(1.0)))
}

fn one_page() -> PageCount {
    PageCount(1)
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

//! Pages of a class, as they are written.

use tidegate_core::keys;
use tidegate_core::units::{Size, Time};

use super::amount::{Amount, Count, Spread};
use super::bound::PageCount;
use super::size::SizeDoc;

keys! {
    /// Users who load pages: each page is a set of objects that is fetched over a few connections.
    "PagesDoc" as pub(crate) PagesDoc = "a table, as in { objects = 20, connections = 6 }":
    objects: Amount<Count> = { Amount(Spread::Constant(Count(1.0))) } "Objects of a page, its document not counted: a number or a distribution, rounded up to whole numbers from 1 to 10000; default 1" + "Their size is the `size` of the class.";
    document: Option<SizeDoc> = none "Size of the document, which is fetched first: the objects are asked for when it has arrived" + "Default: a page has no document, and all objects are asked for at once.";
    connections: Option<u32> = none [1 to 256] "The most connections that a user has open at once; default: 6, as browsers have to one host (HTTP/1.1), or 1 over QUIC (HTTP/3)" + "A connection is opened where an object waits and none of those open is free.";
    concurrent: Option<u32> = none [1 to 10000] "Requests that may wait for their answers on one connection; default: 1 with several connections (HTTP/1.1), 100 with one (HTTP/2, HTTP/3)";
    persistent: bool = true "Whether connections stay open for further objects and pages" + "With false each object has a connection of its own.";
    cancels: bool = false quiet "Whether a connection that is not open yet when the page has come is given up" + "With false it goes on trying, and closes once it is open.";
    request: Size = { request() } "Bytes of a request, without headers of TCP and IP; default 400B, from 1B up to the payload of a packet" + "Requests that are sent at once share packets.";
    server: Amount<Time> = { at_once() } "How long the server takes from a request to the first byte of its answer: a time or a distribution; default 0s" + "With 0s an answer enters a queue before the SYN+ACKs of connections that are opened with the request; with 10us behind them, as from a real server.";
    count: PageCount = 1 [1 to 1000000] "Pages that a user loads one after the other, or \"unlimited\"";
    think: Amount<Time> = { at_once() } "From a loaded page to the start of the next: a time or a distribution; default 0s";
}

pub(crate) fn request() -> Size {
    Size::from_bytes(400)
}

pub(crate) fn at_once() -> Amount<Time> {
    Amount(Spread::Constant(Time::ZERO))
}

//! What drives the connections of a class whose users do more than one flow each.

use tidegate_core::law::video::Rule;
use tidegate_core::units::{Rate, Time};

use super::Amount;

/// What drives the connections of a class.
#[derive(Clone, PartialEq, Debug)]
pub enum App {
    /// Viewers of video; their size is unlimited.
    Video(Video),
    /// Users who load pages; the size of the class is then that of an object.
    Pages(Pages),
}

/// The video of a class, and its player.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    /// The available rates, ascending; never empty.
    pub ladder: Vec<Rate>,
    /// Packets of a segment at each of them.
    pub packets: Vec<u32>,
    /// Playing time of a segment.
    pub segment: Time,
    /// The playing time that fits the buffer, at least two segments.
    pub buffer: Time,
    /// Playing time in the buffer at which playback begins.
    pub start: Time,
    /// Segments of the film (`u32::MAX`: longer than the run).
    pub segments: u32,
    /// How a player chooses rates.
    pub rule: Rule,
}

/// Pages that users load, and the connections over which they do.
#[derive(Clone, PartialEq, Debug)]
pub struct Pages {
    /// Objects of a page, its document not counted.
    pub objects: Amount,
    /// Bytes of the document, which is fetched first; none: there is none.
    pub document: Option<Amount>,
    /// The most connections that a user has open at once.
    pub connections: u32,
    /// Requests that may wait for their answers on one connection.
    pub concurrent: u32,
    /// Whether connections stay open for further objects and pages.
    pub persistent: bool,
    /// Whether a connection that is not open yet when the page has come is given up.
    pub cancels: bool,
    /// Bytes of a request, without headers; no more than the payload of a packet.
    pub request: u32,
    /// From a request to the first byte of its answer, at the server, in seconds.
    pub server: Amount,
    /// Pages of a user ([`u32::MAX`]: one after the other until the run ends).
    pub count: u32,
    /// From a loaded page to the start of the next, in seconds.
    pub think: Amount,
}

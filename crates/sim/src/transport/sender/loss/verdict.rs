//! What a loss detector is asked, and what it answers.

use tidegate_core::packet::Packet;

/// An acknowledgement that the record of outstanding segments has taken note of.
pub(in super::super) struct Ack<'a> {
    pub(in super::super) packet: &'a Packet,
    /// Its blocks have new segments.
    pub(in super::super) told: bool,
    /// How many segments its number is the first to acknowledge.
    pub(in super::super) segments: u32,
}

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Event {
    Nothing,
    /// Segments are lost: recovery begins.
    Loss,
    /// Everything from the oldest segment on is sent again.
    GoBack,
}

/// What is sent at an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Sends {
    /// What the window allows.
    Window,
    /// One new segment (limited transmit, RFC 3042).
    One,
    Nothing,
}

/// What a detector makes of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LossVerdict {
    pub(in super::super) event: Event,
    /// The oldest segment is sent again, whatever the window.
    pub(in super::super) again: bool,
    pub(in super::super) sends: Sends,
    /// An acknowledgement of something new restarts the retransmission timer.
    pub(in super::super) restarts: bool,
}

impl LossVerdict {
    /// Nothing is lost.
    pub(in super::super) const WINDOW: LossVerdict =
        LossVerdict { event: Event::Nothing, again: false, sends: Sends::Window, restarts: true };
}

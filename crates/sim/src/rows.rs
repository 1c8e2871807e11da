//! One row per flow: its cold record while it runs, its result when it is over.

use tidegate_core::packet::{Flags, Packet};
use tidegate_core::units::Time;

/// Size of a flow without end.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// What is known of one flow; [`Time::NEVER`]: has not happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Bytes to send, or [`UNLIMITED`].
    pub(crate) size: u64,
    /// First SYN sent.
    pub(crate) start: Time,
    /// The opening packet that got through passed its last gate.
    pub(crate) admitted: Time,
    /// It reached the receiver.
    pub(crate) reached: Time,
    /// Last byte delivered.
    pub(crate) data_done: Time,
    /// FIN acknowledged.
    pub(crate) closed: Time,
    /// Refused for good, or out of patience or retries.
    pub(crate) gave_up: Time,
    /// In-order bytes at the receiver.
    pub(crate) delivered: u64,
    /// Of these, bytes that were there at the end of the warm-up.
    pub(crate) delivered_warm: u64,
    /// Data transmissions, first ones and repeated ones.
    pub(crate) sent: u64,
    /// Data transmissions beyond the first of each segment.
    pub(crate) retransmitted: u32,
    /// Expiries of the retransmission timer.
    pub(crate) timeouts: u32,
    /// SYNs sent.
    pub(crate) syn_tries: u16,
    /// Traffic class.
    pub(crate) class: u16,
}

impl Row {
    pub(crate) fn new(class: u16, size: u64, start: Time) -> Row {
        Row {
            size,
            start,
            admitted: Time::NEVER,
            reached: Time::NEVER,
            data_done: Time::NEVER,
            closed: Time::NEVER,
            gave_up: Time::NEVER,
            delivered: 0,
            delivered_warm: 0,
            sent: 0,
            retransmitted: 0,
            timeouts: 0,
            syn_tries: 0,
            class,
        }
    }

    /// The session is admitted with this packet, unless it was before: when the last gate on its way
    /// let it pass, or without one now.
    pub(crate) fn admit(&mut self, packet: &Packet, now: Time) {
        if self.admitted == Time::NEVER {
            self.reached = now;
            self.admitted = if packet.flags.has(Flags::ADMITTED) { packet.sent } else { now };
        }
    }

    /// Whether the flow has closed or given up.
    pub(crate) fn is_over(&self) -> bool {
        self.closed != Time::NEVER || self.gave_up != Time::NEVER
    }

    /// Whether the flow has closed with all that it had to send: a flow of UDP that lost data, or
    /// whose data is under way, has closed at its sender alone.
    pub(crate) fn is_complete(&self, udp: bool) -> bool {
        let short = udp && self.size != UNLIMITED && self.data_done == Time::NEVER;
        self.closed != Time::NEVER && !short
    }

    /// Whether the flow is admitted and not over.
    pub(crate) fn is_open(&self) -> bool {
        self.admitted != Time::NEVER && !self.is_over()
    }
}

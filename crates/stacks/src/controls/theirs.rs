//! What a control of another project is told, and asked.

use tidegate_core::units::Time;

/// A packet that is under way, or was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) number: u64,
    pub(super) sent: Time,
}

/// How things stand at an acknowledgement.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) now: Time,
    /// The round trip that it measures, if it does.
    pub(super) rtt: Option<Time>,
    /// Bytes under way behind it.
    pub(super) in_flight: u64,
    /// Whether the sender has too little to send.
    pub(super) limited: bool,
}

/// Their control, told in the words of RFC 9002.
pub(super) trait Theirs: Send {
    /// The handshake has measured this round trip.
    fn on_handshake(&mut self, rtt: Time, now: Time);
    /// A packet of a full size leaves.
    fn on_sent(&mut self, packet: &Packet, limited: bool);
    /// Packets are acknowledged, the earliest first.
    fn on_acked(&mut self, packets: &[Packet], at: &Standing);
    /// Packets are lost, the earliest first.
    fn on_lost(&mut self, packets: &[Packet], now: Time, persistent: bool);
    /// A mark comes back with the acknowledgement of this packet.
    fn on_mark(&mut self, newest: &Packet, now: Time);
    /// A packet does not count any more: what it carried has come by another one.
    fn on_discarded(&mut self) {}
    /// What was lost was not.
    fn on_spurious(&mut self) {}
    /// The window is full.
    fn on_full(&mut self) {}
    /// Bytes that may be under way.
    fn window(&self) -> u64;
    /// The slow-start threshold in bytes.
    fn ssthresh(&self) -> Option<u64>;
    /// Bytes a second at which it wants to send.
    fn rate(&self) -> Option<u64> {
        None
    }
    /// When it wants the next packet to leave.
    fn departure(&self) -> Option<Time> {
        None
    }
    /// Whether one packet may leave whatever the window.
    fn is_urgent(&self) -> bool {
        false
    }
}

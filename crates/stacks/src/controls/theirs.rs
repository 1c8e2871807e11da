//! What a control of another project is told, and asked.

use tidegate_core::units::Time;

/// A packet that is under way, or was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) number: u64,
    pub(super) sent: Time,
}

/// What an acknowledgement says of packets.
pub(super) struct News<'a> {
    /// Those that it acknowledges, the earliest first.
    pub(super) arrived: &'a [Packet],
    /// Those that are lost by it, the earliest first.
    pub(super) lost: &'a [Packet],
    /// Whether that is persistent congestion (RFC 9002, 7.6).
    pub(super) persistent: bool,
    /// How many more marks the receiver has counted.
    pub(super) marks: u32,
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
    /// An acknowledgement: what it tells, in the order in which the stack of the control says it.
    /// Here that of quinn-proto and noq-proto (`Connection::on_ack_received`).
    fn on_news(&mut self, news: &News<'_>, at: &Standing) {
        self.on_acked(news.arrived, at);
        if !news.lost.is_empty() {
            self.on_lost(news.lost, at.now, news.persistent);
        }
        if let Some(newest) = news.arrived.last().filter(|_| news.marks > 0) {
            self.on_marks(newest, news.marks, at.now);
        }
    }
    /// Packets are acknowledged, the earliest first.
    fn on_acked(&mut self, packets: &[Packet], at: &Standing);
    /// Packets are lost, the earliest first.
    fn on_lost(&mut self, packets: &[Packet], now: Time, persistent: bool);
    /// The acknowledgement of this packet tells of so many more marks.
    fn on_marks(&mut self, newest: &Packet, marks: u32, now: Time);
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

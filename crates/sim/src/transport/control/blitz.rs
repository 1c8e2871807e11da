//! Blitz: no feedback control at all (blitz, 2.1).
//!
//! The file leaves as fast as the link of its host takes it, in one burst whose
//! packets have priority levels 0, 1, 2, ... When a packet is lost a new burst
//! begins with it, at the highest priority, level 0. Switches along the way
//! sort the bursts out (`pushout`).
//!
//! Settled here, as the paper leaves it open:
//! - A loss is noticed by duplicate acknowledgements, as in TCP by three of
//!   them; the retransmission timer stands behind.
//! - One loss starts one burst. Packets carry the number of their burst, and
//!   the receiver hands it back when a packet lies beyond the hole; duplicates
//!   that earlier bursts bring about, or packets that the receiver has had
//!   before, mean nothing. So a restart is lost only if packets of its own
//!   burst say so: a round trip later, however long the queue has made that.
//! - An acknowledgement from beyond the present packet of the burst moves the
//!   burst on to there, at the priority that it has reached.
//! - The host's link sets the pace, so that nothing queues in the host, where
//!   a restart could not overtake it. A host with several links is not paced.

use tidegate_core::packet::Ext;
use tidegate_core::units::{Pace, Time};
use tidegate_model::profile::Tcp;

use super::{CongestionEvent, Control, Feedback, RateSample, Signal};

/// A sender without a window.
#[derive(Clone, Copy, Debug)]
pub struct Blitz {
    /// Time that a full packet takes on the host's link.
    gap: Option<Time>,
    /// Level of the next packet.
    level: u32,
    /// Number of the present burst.
    burst: u32,
    open: bool,
}

impl Blitz {
    /// A new connection of a host with this link.
    pub fn new(tcp: &Tcp, access: Option<Pace>) -> Blitz {
        Blitz {
            gap: access.map(|pace| pace.of(u64::from(tcp.mss + tcp.header))),
            level: 0,
            burst: 0,
            open: !tcp.handshake,
        }
    }

    fn begin_burst(&mut self) {
        self.level = 0;
        self.burst = self.burst.wrapping_add(1);
    }
}

impl Control for Blitz {
    fn cwnd(&self) -> f64 {
        f64::INFINITY
    }

    fn gap(&self) -> Option<Time> {
        self.gap
    }

    fn header(&mut self, _now: Time) -> Ext {
        let level = self.level;
        self.level = self.level.saturating_add(1);
        Ext::Priority { level, burst: self.burst }
    }

    fn on_feedback(&mut self, _: &Feedback<'_>) {
        // the first burst begins after the handshake
        if !std::mem::replace(&mut self.open, true) {
            self.level = 0;
        }
    }

    fn tells_of_loss(&self, ext: &Ext) -> bool {
        match *ext {
            Ext::Priority { burst, .. } | Ext::SackWith { word: burst, .. } => burst == self.burst,
            _ => false,
        }
    }

    fn on_ack(&mut self, _: &RateSample<'_>) {}

    fn on_congestion(&mut self, signal: Signal, _: &CongestionEvent) {
        if signal == Signal::Loss {
            self.begin_burst();
        }
    }

    fn on_timeout(&mut self, _: &CongestionEvent, _: bool) {
        self.begin_burst();
    }
}

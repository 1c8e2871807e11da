//! Blitz: no feedback control (blitz, 2.1).
//!
//! A file is sent at the rate of its host's link, in one burst whose packets have the priority
//! levels 0, 1, 2, ... When a packet is lost, a new burst starts with it, at level 0, the highest
//! priority. Switches on the path drop the packets of lowest priority (`pushout`).
//!
//! Settled here, as the paper leaves it open:
//! - A loss is detected by three duplicate acknowledgements, as in TCP, or else by the
//!   retransmission timer.
//! - One loss starts one burst. Packets carry the number of their burst, and the receiver returns it
//!   when a packet arrives after a hole. Duplicates caused by earlier bursts, or by packets that
//!   the receiver already has, are ignored. So the first packet of a new burst counts as lost only
//!   if packets of the same burst show it: a round trip later, however long the queue is.
//! - An acknowledgement beyond the current packet of the burst moves the burst forward to there; its
//!   priority level stays.
//! - What an application sends next over the same connection, when all before it has arrived, is a
//!   file of its own, and so a new burst.
//! - The rate of the host's link is the pace, so that no queue builds up in the host, where a new
//!   burst could not overtake it. A host with several links is not paced.

use tidegate_core::packet::Ext;
use tidegate_core::units::{Pace, Time};
use tidegate_model::profile::Tcp;

use super::{CongestionEvent, Control, Feedback, RateSample, Signal};

/// A sender without a window.
#[derive(Clone, Copy, Debug)]
pub struct Blitz {
    /// Transmission time of a full packet on the host's link.
    gap: Option<Time>,
    /// Level of the next packet.
    level: u32,
    /// Number of the current burst.
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

    fn on_fresh_data(&mut self) {
        self.begin_burst();
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

#[cfg(test)]
mod tests {
    use tidegate_model::profile::Profile;

    use super::*;

    /// blitz, 2.1: the levels of a burst are 0, 1, 2, ...; a further file begins at 0 again, in a
    /// burst of its own.
    #[test]
    fn a_further_file_is_a_burst_of_its_own() {
        let mut blitz = Blitz::new(&Profile::Rfc.tcp(), None);
        let header = |level, burst| Ext::Priority { level, burst };
        assert_eq!(blitz.header(Time::ZERO), header(0, 0));
        assert_eq!(blitz.header(Time::ZERO), header(1, 0));
        blitz.on_fresh_data();
        assert_eq!(blitz.header(Time::ZERO), header(0, 1));
    }
}

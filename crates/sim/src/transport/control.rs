//! Congestion controls: how much may be in flight, and how fast.

mod reno;

use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::profile::LostSyn;

pub use reno::Reno;

/// What an acknowledgement of new data tells a control.
#[derive(Clone, Copy, Debug)]
pub struct Acked<'a> {
    /// When it came.
    pub now: Time,
    /// Segments newly acknowledged.
    pub segments: u32,
    /// Segments still in flight.
    pub flight: u32,
    /// Smoothed round-trip time ([`Time::ZERO`]: not measured yet).
    pub srtt: Time,
    /// Whether it echoes a mark (or one before did and the receiver does not
    /// know yet that it was heeded): no time to open the window.
    pub marked: bool,
    /// The extension header that the receiver echoed.
    pub ext: &'a Ext,
}

/// The part of a sender that decides how much it may send.
///
/// Repair (what is sent again, and when) is the sender's; a control is told
/// and answers with a window and, if it paces, a gap. Windows are in segments.
pub trait Control: Send {
    /// Segments that may be in flight.
    fn cwnd(&self) -> f64;
    /// Least time between two data packets; none: not paced.
    fn gap(&self) -> Option<Time> {
        None
    }
    /// The extension header of the next data packet.
    fn header(&mut self, _now: Time) -> Ext {
        Ext::None
    }
    /// New data was acknowledged outside recovery.
    fn on_ack(&mut self, ack: &Acked<'_>);
    /// Losses were noticed by duplicate acknowledgements; recovery begins.
    fn on_loss(&mut self, flight: u32);
    /// The same, in a window that a mark has cut already: once is enough.
    fn on_loss_after_mark(&mut self, flight: u32) {
        self.on_loss(flight);
    }
    /// A queue on the way marked a packet instead of losing it (RFC 3168):
    /// told once a round trip, and nothing needs repair.
    fn on_mark(&mut self, _flight: u32) {}
    /// One more duplicate acknowledgement in recovery without SACK.
    fn on_duplicate(&mut self) {}
    /// Part of what was outstanding at the loss was acknowledged (RFC 6582, 3.2 step 3).
    fn on_partial(&mut self, _segments: u32) {}
    /// Recovery is over.
    fn on_recovered(&mut self, _flight: u32) {}
    /// The retransmission timer expired; `again`: for the same segment as before.
    fn on_timeout(&mut self, flight: u32, again: bool);
    /// The connection is open, after at least one lost SYN.
    fn on_lost_syn(&mut self, _rule: LostSyn) {}
}

impl Control for Box<dyn Control> {
    fn cwnd(&self) -> f64 {
        (**self).cwnd()
    }
    fn gap(&self) -> Option<Time> {
        (**self).gap()
    }
    fn header(&mut self, now: Time) -> Ext {
        (**self).header(now)
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        (**self).on_ack(ack);
    }
    fn on_loss(&mut self, flight: u32) {
        (**self).on_loss(flight);
    }
    fn on_loss_after_mark(&mut self, flight: u32) {
        (**self).on_loss_after_mark(flight);
    }
    fn on_mark(&mut self, flight: u32) {
        (**self).on_mark(flight);
    }
    fn on_duplicate(&mut self) {
        (**self).on_duplicate();
    }
    fn on_partial(&mut self, segments: u32) {
        (**self).on_partial(segments);
    }
    fn on_recovered(&mut self, flight: u32) {
        (**self).on_recovered(flight);
    }
    fn on_timeout(&mut self, flight: u32, again: bool) {
        (**self).on_timeout(flight, again);
    }
    fn on_lost_syn(&mut self, rule: LostSyn) {
        (**self).on_lost_syn(rule);
    }
}

//! Congestion controls: how much may be in flight, and how fast.

mod any;
mod blitz;
mod quick_start;
mod rate;
mod reno;
mod vcp;
mod xcp;

use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::profile::LostSyn;

pub(crate) use any::Any;
pub use blitz::Blitz;
pub use quick_start::QuickStart;
pub use rate::Granted;
pub use reno::Reno;
pub use vcp::Vcp;
pub use xcp::Xcp;

/// What a packet from the receiver says beside its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// The extension header, as the receiver handed it back.
    pub ext: &'a Ext,
    /// When it came.
    pub now: Time,
    /// Smoothed round-trip time ([`Time::ZERO`]: not measured yet).
    pub srtt: Time,
    /// Whether it opens the connection or acknowledges anything new.
    pub new: bool,
}

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
    /// The extension header of the next data packet, or of the SYN.
    fn header(&mut self, _now: Time) -> Ext {
        Ext::None
    }
    /// A packet has come back from the receiver, in or outside recovery; called
    /// before whatever else it brings about.
    #[inline]
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}
    /// Whether the first duplicates may let packets out too (RFC 3042).
    #[inline]
    fn limited_transmit(&self) -> bool {
        false
    }
    /// Whether lost packets are sent again only when all have been sent once,
    /// every two round trips (RCP's own way).
    #[inline]
    fn repairs_late(&self) -> bool {
        false
    }
    /// A duplicate acknowledgement has come: whether everything from the missing
    /// segment on is sent once more now; none: losses are repaired as TCP does.
    #[inline]
    fn goes_back(&mut self) -> Option<bool> {
        None
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

//! Congestion controls: how much may be in flight, and how fast.
//!
//! A control is a file here, declared below, a line in [`any`], and its name in
//! the registry of the model (`control.rs` there).

mod any;
mod app_limited;
mod bbr;
mod blitz;
mod cubic;
mod hystart;
mod quick_start;
mod rate;
mod reno;
mod vcp;
mod xcp;

use tidegate_core::packet::Ext;
use tidegate_core::units::Time;
use tidegate_model::profile::LostSyn;

pub(crate) use any::Any;
pub(crate) use app_limited::AppLimited;
pub use bbr::Bbr;
pub use blitz::Blitz;
pub use cubic::Cubic;
pub use quick_start::QuickStart;
pub use rate::Granted;
pub use reno::Reno;
pub use vcp::Vcp;
pub use xcp::Xcp;

/// What a packet from the receiver carries apart from its acknowledgement number.
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

/// What a control learns from an acknowledgement of data that was not acknowledged before.
#[derive(Clone, Copy, Debug)]
pub struct RateSample<'a> {
    /// When it came.
    pub now: Time,
    /// Segments that it is the first to acknowledge cumulatively.
    pub segments: u32,
    /// Segments that it is the first to acknowledge, cumulatively or by a block
    /// (RFC 2018).
    pub delivered: u32,
    /// Behind the last segment acknowledged cumulatively.
    pub una: u32,
    /// Behind the last segment sent.
    pub sent: u32,
    /// Segments still in flight.
    pub flight: u32,
    /// Smoothed round-trip time ([`Time::ZERO`]: not measured yet).
    pub srtt: Time,
    /// The round trip that it measures itself ([`Time::ZERO`]: none).
    pub rtt: Time,
    /// Whether it came in recovery, or ended it.
    pub recovering: bool,
    /// Whether it echoes a mark (or one before did and the receiver does not
    /// know yet of the response): the window must not open.
    pub marked: bool,
    /// The extension header that the receiver echoed.
    pub ext: &'a Ext,
    /// How fast data is delivered, for a control that asks ([`Control::samples_rate`]).
    pub rate: Option<DeliveryRate>,
}

/// How fast data was delivered while the segment newly acknowledged was under way.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryRate {
    /// Segments delivered over the interval.
    pub delivered: u32,
    /// The longer of the times over which they were sent and acknowledged
    /// ([`Time::ZERO`]: no sample).
    pub interval: Time,
    /// Whether the sender had less to send than the window allowed.
    pub limited: bool,
    /// Segments delivered before the segment was sent, of the whole connection.
    pub before: u64,
    /// Segments delivered now, of the whole connection.
    pub total: u64,
    /// Segments thought to be in the network before the acknowledgement, and after it.
    pub flight: (u32, u32),
    /// Segments newly marked lost.
    pub losses: u32,
}

impl RateSample<'_> {
    /// Segments by which it may open the window: none in recovery (RFC 5681,
    /// 3.2), and none with the echo of a mark (RFC 3168, 6.1.2).
    #[inline]
    pub fn opens(&self) -> u32 {
        if self.recovering || self.marked { 0 } else { self.segments }
    }
}

/// Why a sender takes the path to be congested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Losses were noticed by acknowledgements; recovery begins.
    Loss,
    /// The same, in a window that a mark has cut already: it is not cut twice.
    LossAfterMark,
    /// A queue on the path marked a packet instead of dropping it (RFC 3168):
    /// reported once a round trip; nothing has to be sent again.
    Mark,
}

/// The state of a sender at a sign of congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// The present time.
    pub now: Time,
    /// Segments in flight.
    pub flight: u32,
    /// The window that was in force, with what duplicates had added.
    pub window: f64,
    /// Behind the last segment sent.
    pub sent: u32,
}

/// The part of a sender that decides how much it may send.
///
/// The sender repairs losses: it decides what is sent again and when, and what
/// duplicates add to the window meanwhile. The control hears of events and answers
/// with a window in segments and, if it paces, with a gap. Four methods have no
/// default; the others do nothing by default.
pub trait Control: Send {
    /// Segments that may be in flight.
    fn cwnd(&self) -> f64;
    /// An acknowledgement covers data that was not acknowledged before.
    fn on_ack(&mut self, sample: &RateSample<'_>);
    /// The path is congested.
    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent);
    /// The retransmission timer expired; `again`: for the same segment as before.
    fn on_timeout(&mut self, at: &CongestionEvent, again: bool);

    /// Least time between two data packets; none: not paced.
    fn gap(&self) -> Option<Time> {
        None
    }
    /// The extension header of the next data packet, or of the SYN.
    fn header(&mut self, _now: Time) -> Ext {
        Ext::None
    }
    /// A data packet leaves; with it so many segments are in flight.
    #[inline]
    fn on_sent(&mut self, _now: Time, _flight: u32) {}
    /// A packet has come from the receiver, in recovery or outside of it. Called
    /// before the sender does anything else about the packet.
    #[inline]
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}
    /// Recovery is over; `window`: what was in force in it, with what duplicates had added.
    fn on_recovered(&mut self, _window: f64) {}
    /// The connection is open, after at least one lost SYN.
    fn on_lost_syn(&mut self, _rule: LostSyn) {}
    /// The sender restarts from this window after an idle period; the slow-start
    /// threshold becomes at least `ssthresh`.
    fn on_idle(&mut self, _window: f64, _ssthresh: f64) {}
    /// Whether it asks for the delivery rate.
    #[inline]
    fn samples_rate(&self) -> bool {
        false
    }
    /// Whether its window applies in recovery too, in place of the one of PRR.
    #[inline]
    fn keeps_window(&self) -> bool {
        false
    }
    /// Whether the first duplicates let packets out (limited transmit, RFC 3042).
    #[inline]
    fn limited_transmit(&self) -> bool {
        false
    }
    /// Whether a duplicate acknowledgement with this header means the loss of an
    /// outstanding segment. Asked where the sender goes back to the loss.
    fn tells_of_loss(&self, _ext: &Ext) -> bool {
        true
    }
}

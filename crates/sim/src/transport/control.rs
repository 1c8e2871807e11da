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

/// What an acknowledgement tells a control that says something new of the data.
#[derive(Clone, Copy, Debug)]
pub struct RateSample<'a> {
    /// When it came.
    pub now: Time,
    /// Segments that it acknowledges cumulatively and none before did.
    pub segments: u32,
    /// Segments that it says have arrived and none before did, cumulatively or
    /// by a block (RFC 2018).
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

/// What made a sender believe that the way is congested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Losses were noticed by acknowledgements; recovery begins.
    Loss,
    /// The same, in a window that a mark has cut already: once is enough.
    LossAfterMark,
    /// A queue on the way marked a packet instead of losing it (RFC 3168):
    /// told once a round trip, and nothing needs repair.
    Mark,
}

/// The state of a sender that has to give way.
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
/// Repair (what is sent again, and when) is the sender's, and so is what
/// duplicates add to a window meanwhile; a control is told and answers with a
/// window and, if it paces, a gap. Windows are in segments. Only four methods
/// have to be there; the rest do nothing unless they are written.
pub trait Control: Send {
    /// Segments that may be in flight.
    fn cwnd(&self) -> f64;
    /// An acknowledgement said something new of the data.
    fn on_ack(&mut self, sample: &RateSample<'_>);
    /// The way is congested.
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
    /// A packet has come back from the receiver, in or outside recovery; called
    /// before whatever else it brings about.
    #[inline]
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}
    /// Recovery is over; `window`: what was in force in it, with what duplicates had added.
    fn on_recovered(&mut self, _window: f64) {}
    /// The connection is open, after at least one lost SYN.
    fn on_lost_syn(&mut self, _rule: LostSyn) {}
    /// The sender was silent for long, and starts again from this window; the
    /// slow-start threshold becomes at least `ssthresh`.
    fn on_idle(&mut self, _window: f64, _ssthresh: f64) {}
    /// Whether it asks for the delivery rate.
    #[inline]
    fn samples_rate(&self) -> bool {
        false
    }
    /// Whether its window holds in recovery too, and is not spread over it (PRR).
    #[inline]
    fn keeps_window(&self) -> bool {
        false
    }
    /// Whether the first duplicates may let packets out too (RFC 3042).
    #[inline]
    fn limited_transmit(&self) -> bool {
        false
    }
    /// Whether a duplicate acknowledgement with this header tells of a loss
    /// among what is under way, where the sender goes back on losses.
    fn tells_of_loss(&self, _ext: &Ext) -> bool {
        true
    }
}

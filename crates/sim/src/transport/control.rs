//! Congestion controls: how much may be in flight, and at which rate.
//!
//! A new control inside TCP takes one file here, its declaration below, and a line in the registry
//! of the model (`tcp_controls!` of `profile.rs`); one with settings of its own a line in `any`,
//! and one in the model's `control.rs`.

#[macro_use]
mod forward;

mod any;
mod app_limited;
mod bbr;
pub mod bbr3;
mod blitz;
mod cubic;
pub(crate) mod dctcp;
mod hystart;
mod ledbat;
mod prague;
mod quick_start;
mod rate;
mod reno;
mod start;
mod vcp;
mod xcp;

use tidegate_core::packet::{Ext, Flags};
use tidegate_core::units::Time;
use tidegate_model::profile::LostSyn;

pub(crate) use any::Any;
pub(crate) use app_limited::AppLimited;
pub use bbr::Bbr;
pub use bbr3::Bbr3;
pub use blitz::Blitz;
pub use cubic::Cubic;
pub use dctcp::{Dctcp, Marks};
pub use ledbat::Ledbat;
pub use prague::Prague;
pub use quick_start::QuickStart;
pub use rate::Granted;
pub use reno::Reno;
pub use vcp::Vcp;
pub use xcp::Xcp;

/// The content of a packet from the receiver, without its acknowledgement number.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// The extension header, as returned by the receiver.
    pub ext: &'a Ext,
    /// When it arrived.
    pub now: Time,
    /// Smoothed round-trip time ([`Time::ZERO`]: not measured yet).
    pub srtt: Time,
    /// Whether it opens the connection or acknowledges new data.
    pub new: bool,
    /// Its header flags.
    pub flags: Flags,
}

/// An acknowledgement of new data, as the control sees it.
#[derive(Clone, Copy, Debug)]
pub struct RateSample<'a> {
    /// When it arrived.
    pub now: Time,
    /// Segments that are newly acknowledged by the acknowledgement number.
    pub segments: u32,
    /// Segments that are newly acknowledged, by the number or by a SACK block (RFC 2018).
    pub delivered: u32,
    /// The segment after the last one acknowledged by number.
    pub una: u64,
    /// The segment after the last one sent.
    pub sent: u64,
    /// Segments still in flight.
    pub flight: u32,
    /// Smoothed round-trip time ([`Time::ZERO`]: not measured yet).
    pub srtt: Time,
    /// The round-trip sample of this acknowledgement ([`Time::ZERO`]: none).
    pub rtt: Time,
    /// Whether it arrived in recovery, or ended it.
    pub recovering: bool,
    /// Whether it echoes a mark, or an earlier one did and the receiver has not seen the response
    /// yet: the window must not grow.
    pub marked: bool,
    /// Whether the sender had too little to send to fill the window, which must not grow then (RFC
    /// 9438, 5.8).
    pub unused: bool,
    /// Whether what arrives out of order opens the window too.
    pub any_order: bool,
    /// The extension header that the receiver echoed.
    pub ext: &'a Ext,
    /// The delivery-rate sample, for a control that asks for it ([`Control::samples_rate`]).
    pub rate: Option<DeliveryRate>,
}

#[cfg(test)]
impl RateSample<'static> {
    /// An acknowledgement of one segment in order, for tests of controls.
    pub(crate) fn of_one(now: Time, rtt: Time, una: u64, sent: u64) -> RateSample<'static> {
        RateSample {
            now,
            segments: 1,
            delivered: 1,
            una,
            sent,
            flight: 100,
            srtt: rtt,
            rtt,
            recovering: false,
            marked: false,
            unused: false,
            any_order: false,
            ext: &Ext::None,
            rate: None,
        }
    }
}

/// A delivery-rate sample: how fast data was delivered since the acknowledged segment was sent.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryRate {
    /// Segments delivered in the interval.
    pub delivered: u32,
    /// The interval: the longer of the times in which they were sent and acknowledged
    /// ([`Time::ZERO`]: no sample).
    pub interval: Time,
    /// Whether the sender had less to send than the window allowed (application-limited).
    pub limited: bool,
    /// Segments delivered on the connection before the segment was sent.
    pub before: u64,
    /// Segments delivered on the connection now.
    pub total: u64,
    /// Segments estimated to be in flight before and after the acknowledgement.
    pub flight: (u32, u32),
    /// Segments newly marked lost.
    pub losses: u32,
    /// Segments marked lost on the connection so far, each as often as it was; modulo 2^32.
    pub lost: u32,
    /// Segments in flight when the newest segment acknowledged was sent, itself included, and
    /// segments marked lost since then.
    pub sent_with: (u32, u32),
}

/// A segment that is marked lost, as a control hears of it that asks ([`Control::hears_losses`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// Its number.
    pub seq: u32,
    /// Segments in flight when it was sent, itself included.
    pub in_flight: u32,
    /// Segments marked lost since then, itself included.
    pub lost: u32,
    /// Whether the sender was application-limited then.
    pub limited: bool,
    /// Segments delivered on the connection now.
    pub total: u64,
}

/// A data packet that leaves, as a control hears of it that asks ([`Control::hears_packets`]).
///
/// Packets have numbers as in QUIC: each sending of a segment is a packet with the next number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaving {
    /// When it leaves.
    pub now: Time,
    /// The packet by which the same segment was sent before, if that is still under way: it does not
    /// count as such any more.
    pub replaces: Option<u32>,
    /// Whether there is nothing to send behind it, or nothing that the receiver offers to take.
    pub last: bool,
}

/// What has become of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SentOutcome {
    /// The segment has arrived that was sent last by this packet.
    Arrived(u32),
    /// The same, as an earlier packet brought it: a timestamp tells.
    Earlier(u32),
    /// The packet is marked lost.
    Lost(u32),
}

impl RateSample<'_> {
    /// Segments that may grow the window: those that are newly delivered, so that what a block has
    /// told of before does not count again (Linux: `tcp_cong_avoid`); none without an advance, unless
    /// reordering is high (Linux: `tcp_may_raise_cwnd`), in recovery (RFC 5681, 3.2), with the echo of a
    /// mark (RFC 3168, 6.1.2), and where the window is not used.
    #[inline]
    pub fn opens(&self) -> u32 {
        let advances = self.segments > 0 || self.any_order;
        let stays = self.recovering || self.marked || self.unused || !advances;
        if stays { 0 } else { self.delivered }
    }
}

/// Why the sender considers the path congested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Acknowledgements show a loss; recovery begins.
    Loss,
    /// The same, in a window of data that was already reduced for a mark: it is not reduced twice.
    LossAfterMark,
    /// A queue on the path marked a packet instead of dropping it (RFC 3168). Reported once per
    /// round trip; nothing is retransmitted.
    Mark,
}

/// The state of the sender at a congestion event.
#[derive(Clone, Copy, Debug, Default)]
pub struct CongestionEvent {
    /// The current time.
    pub now: Time,
    /// Segments in flight.
    pub flight: u32,
    /// The window until now, including its inflation by duplicate acknowledgements.
    pub window: f64,
    /// The segment after the last one sent.
    pub sent: u64,
    /// What the connection has counted; zeros where no times of sending are kept.
    pub counts: Counts,
}

/// What a connection has counted so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Segments delivered.
    pub delivered: u64,
    /// When the last of them was acknowledged, or data sent with nothing outstanding.
    pub delivered_at: Time,
    /// Segments marked lost, each as often as it was; modulo 2^32.
    pub lost: u32,
}

/// How full the segments of a sender are.
pub(crate) trait Payloads {
    /// Bytes that the first `segments` segments lack of full ones, that of the end of all data
    /// not counted.
    #[inline(always)]
    fn lacking(&self, _segments: u32) -> u64 {
        0
    }
}

/// What a lost SYN does to a window and a slow-start threshold.
pub fn after_lost_syn([cwnd, ssthresh]: [&mut f64; 2], rule: LostSyn) {
    match rule {
        LostSyn::Nothing => {}
        LostSyn::CutSsthresh => *ssthresh = 2.0,
        LostSyn::Rfc | LostSyn::Linux => *cwnd = 1.0,
    }
}

/// What a restart from `window` after an idle period does to a window and a slow-start threshold.
pub fn after_idle([cwnd, threshold]: [&mut f64; 2], window: f64, ssthresh: f64) {
    *threshold = threshold.max(ssthresh);
    *cwnd = window;
}

/// The congestion control of a sender: decides how much it may send.
///
/// The sender itself repairs losses: it decides what is retransmitted and when, and how duplicates
/// inflate the window meanwhile. The control is told of events and returns a window in segments
/// and, if it paces, a gap. Four methods have no default; the others do nothing by default.
pub trait Control: Send {
    /// Segments that may be in flight.
    fn cwnd(&self) -> f64;
    /// An acknowledgement covers new data.
    fn on_ack(&mut self, sample: &RateSample<'_>);
    /// An acknowledgement covers a part of the oldest segment: `segments` and `delivered` are 0. Only
    /// a control that counts acknowledgements in place of data has to do with it.
    fn on_part(&mut self, _sample: &RateSample<'_>) {}
    /// The path is congested.
    fn on_congestion(&mut self, signal: Signal, at: &CongestionEvent);
    /// The retransmission timer expired; `again`: for the same segment as before.
    fn on_timeout(&mut self, at: &CongestionEvent, again: bool);

    /// Shortest time between two data packets; none: not paced.
    fn gap(&self) -> Option<Time> {
        None
    }
    /// When the next data packet may leave, whatever the gap; none: it goes by the gap. Asked of
    /// a control that paces.
    fn departure(&self) -> Option<Time> {
        None
    }
    /// The extension header of the next data packet, or of the SYN.
    fn header(&mut self, _now: Time) -> Ext {
        Ext::None
    }
    /// A data packet is sent; with it, `flight` segments are in flight.
    #[inline]
    fn on_sent(&mut self, _now: Time, _flight: u32) {}
    /// Data is sent while none is in the network, of a sender that had too little to send
    /// (application-limited). Called after [`Control::on_sent`], where times of sending are kept.
    fn on_restart(&mut self, _now: Time) {}
    /// A packet from the receiver has arrived, in recovery or outside of it. Called before the
    /// sender processes the packet.
    #[inline]
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}
    /// Recovery is over; `window`: the last window in it, including inflation by duplicates.
    fn on_recovered(&mut self, _window: f64) {}
    /// Its slow-start threshold in segments, for who looks at it; none: it has none.
    fn ssthresh(&self) -> Option<f64> {
        None
    }
    /// Its congestion window and slow-start threshold, for the rules that follow; none: it has no
    /// such threshold.
    fn window_and_threshold(&mut self) -> Option<[&mut f64; 2]> {
        None
    }
    /// The connection is open after at least one lost SYN.
    fn on_lost_syn(&mut self, rule: LostSyn) {
        if let Some(window) = self.window_and_threshold() {
            after_lost_syn(window, rule);
        }
    }
    /// After the timeout these segments are still in the network, as they were sent last: the window
    /// is what it became and as many (Linux: `tcp_enter_loss`).
    fn on_spared(&mut self, segments: u32) {
        if let Some([cwnd, _]) = self.window_and_threshold() {
            *cwnd += f64::from(segments);
        }
    }
    /// Whether it has more to undo than a window and a threshold.
    fn undoes(&self) -> bool {
        false
    }
    /// A cut was not needed: window and threshold are at least what they were before it (zeros for
    /// a control that has no threshold). What a control keeps besides stays that of a loss.
    fn on_undone(&mut self, before: [f64; 2]) {
        if let Some(own) = self.window_and_threshold() {
            own.into_iter().zip(before).for_each(|(own, before)| *own = own.max(before));
        }
    }
    /// The sender restarts from this window after an idle period; the slow-start
    /// threshold becomes at least `ssthresh`.
    fn on_idle(&mut self, window: f64, ssthresh: f64) {
        if let Some(own) = self.window_and_threshold() {
            after_idle(own, window, ssthresh);
        }
    }
    /// The application hands in data where nothing is in flight.
    fn on_fresh_data(&mut self) {}
    /// Whether it uses delivery-rate samples.
    #[inline]
    fn samples_rate(&self) -> bool {
        false
    }
    /// Whether Linux paces it: the gap after a packet is fixed when it leaves, and one that leaves
    /// late makes up for up to half of the next (`tcp_update_skb_after_send`). Else a changed pace
    /// counts at once, from the last packet on.
    #[inline]
    fn linux_paces(&self) -> bool {
        false
    }
    /// Whether it hears of each segment that is marked lost, and of losses that were none.
    #[inline]
    fn hears_losses(&self) -> bool {
        false
    }
    /// A segment is marked lost. Called before [`Control::on_congestion`], and after
    /// [`Control::on_timeout`].
    fn on_lost(&mut self, _lost: &Lost, _now: Time) {}
    /// Whether it hears of each packet that leaves, and of what becomes of it.
    #[inline]
    fn hears_packets(&self) -> bool {
        false
    }
    /// A packet leaves. Called after [`Control::on_sent`].
    fn on_leaving(&mut self, _leaving: &Leaving) {}
    /// What an acknowledgement or a timer shows of packets. Called before [`Control::on_ack`] and
    /// [`Control::on_congestion`], and after [`Control::on_timeout`].
    fn on_outcomes(&mut self, _outcomes: &[SentOutcome], _now: Time) {}
    /// All segments that were marked lost in this recovery have arrived as they were first sent:
    /// none was lost.
    fn on_spurious(&mut self) {}
    /// Whether it keeps the rate low on purpose: what is sent now counts as application-limited.
    #[inline]
    fn holds_back(&self) -> bool {
        false
    }
    /// Whether its window also applies in recovery, instead of PRR's.
    #[inline]
    fn keeps_window(&self) -> bool {
        false
    }
    /// Whether the first duplicates let new packets out (limited transmit, RFC 3042).
    #[inline]
    fn limited_transmit(&self) -> bool {
        false
    }
    /// Whether a duplicate acknowledgement with this header means that an outstanding segment is
    /// lost. Called where the sender goes back to the lost segment.
    fn tells_of_loss(&self, _ext: &Ext) -> bool {
        true
    }
}

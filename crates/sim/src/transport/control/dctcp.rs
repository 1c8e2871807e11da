//! DCTCP: the window falls by the share of packets that were marked (RFC 8257).
//!
//! | symbol             | here            | value | meaning                                       |
//! |--------------------|-----------------|-------|-----------------------------------------------|
//! | `DCTCP.Alpha`      | `Marks::alpha`  | 1 at first | smoothed share of marked packets         |
//! | g                  | `G`             | 1/16  | weight of a round trip's share (3.3, 4.2)     |
//! | M                  | `Marks::share`  |       | share of marked packets of one round trip     |
//! | `DCTCP.WindowEnd`  | `Marks::round_end` |    | the round trip is over behind this segment    |
//! | cwnd, ssthresh     | `window`        |       | Reno's window and threshold, in segments      |
//! | `r.cep`            | `Marks::counter` |      | marked packets that the receiver has counted, modulo 8 (RFC 9768) |
//!
//! 1. Once a round trip: `alpha = (1 - g) alpha + g M` (3.3, step 6).
//! 2. Marks cut the window once a round trip: `cwnd (1 - alpha / 2)` (step 9).
//! 3. A loss halves it, as RFC 5681 does (3.5). Between cuts it grows as Reno's,
//!    by packets that are not marked.
//!
//! Departures: the receiver tells of marks by the counter of AccECN (RFC 9768, 3.2.2) in place of
//! 3.2's echo, which is ambiguous where acknowledgements are delayed. Where acknowledgements of more
//! than seven marks in a row are lost the counter is ambiguous too: the least number is taken.

use tidegate_core::packet::Flags;
use tidegate_model::profile::Tcp;

use super::{CongestionEvent, Control, Feedback, RateSample, Reno, Signal};

/// Weight of a round trip's share.
const G: f64 = 1.0 / 16.0;

/// The counter that AccECN starts from (RFC 9768, 3.2.1).
pub(crate) const FIRST: u8 = 5;

/// What a receiver puts into its acknowledgements after so many marked packets (RFC 9768,
/// 3.2.2): the counter modulo 8, in the flags AE, CWR and ECE.
pub(crate) fn counted(marks: u8) -> Flags {
    let counter = FIRST.wrapping_add(marks) & 7;
    [Flags::ECE, Flags::CWR, Flags::AE]
        .into_iter()
        .zip([1, 2, 4])
        .filter(|(_, bit)| counter & bit != 0)
        .fold(Flags::NONE, |flags, (flag, _)| flags.with(flag))
}

/// The counter that an acknowledgement carries.
pub(crate) fn counter(flags: Flags) -> u8 {
    let bit = |flag, bit| if flags.has(flag) { bit } else { 0 };
    bit(Flags::ECE, 1) | bit(Flags::CWR, 2) | bit(Flags::AE, 4)
}

/// What a sender knows of the marks on its packets.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Smoothed share of marked packets.
    pub alpha: f64,
    /// Whether any packet was marked yet.
    pub seen: bool,
    counter: u8,
    /// Marks that no acknowledgement of new data has accounted for.
    news: u32,
    /// Packets acknowledged in this round trip, and marked ones.
    acked: u32,
    marked: u32,
    round_end: u64,
    /// A cut holds until this segment is acknowledged.
    cut_end: u64,
}

impl Marks {
    /// None yet.
    pub fn new() -> Marks {
        Marks {
            alpha: 1.0,
            seen: false,
            counter: FIRST,
            news: 0,
            acked: 0,
            marked: 0,
            round_end: 0,
            cut_end: 0,
        }
    }

    /// A packet has come from the receiver.
    pub fn heard(&mut self, feedback: &Feedback<'_>) {
        // what opens a connection carries no counter
        if feedback.flags.has(Flags::SYN) {
            return;
        }
        let counter = counter(feedback.flags);
        self.news += u32::from(counter.wrapping_sub(self.counter) & 7);
        self.counter = counter;
        self.seen |= self.news > 0;
    }

    /// Counts an acknowledgement: how many marked segments it tells of.
    pub fn count(&mut self, sample: &RateSample<'_>) -> u32 {
        let marked = std::mem::take(&mut self.news).min(sample.delivered);
        self.acked += sample.delivered;
        self.marked += marked;
        marked
    }

    /// Whether a round trip is over.
    pub fn round_over(&self, una: u64) -> bool {
        una > self.round_end
    }

    /// A round trip is over: the share of marked packets in it counts from now on.
    pub fn next_round(&mut self, sent: u64) {
        self.alpha = (1.0 - G) * self.alpha + G * self.share();
        self.restart_round(sent);
    }

    /// The next round trip begins, and alpha stays as it is.
    pub fn restart_round(&mut self, sent: u64) {
        (self.acked, self.marked, self.round_end) = (0, 0, sent);
    }

    /// Share of marked packets so far in this round trip.
    fn share(&self) -> f64 {
        f64::from(self.marked) / f64::from(self.acked.max(1))
    }

    /// Whether marks may cut the window: not twice in a round trip.
    pub fn may_cut(&mut self, una: u64, sent: u64) -> bool {
        let may = una > self.cut_end || self.cut_end == 0;
        if may {
            self.cut_end = sent;
        }
        may
    }
}

impl Default for Marks {
    fn default() -> Marks {
        Marks::new()
    }
}

/// Window of a DCTCP sender: Reno's, but for what marks do.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    window: Reno,
    marks: Marks,
}

impl Dctcp {
    /// A new connection under a class's settings.
    pub fn new(tcp: &Tcp) -> Dctcp {
        Dctcp { window: Reno::new(tcp), marks: Marks::new() }
    }
}

impl Control for Dctcp {
    forward! { in window:
        ref cwnd() -> f64;
        ref ssthresh() -> Option<f64>;
        mut on_part(sample: &RateSample<'_>);
        mut on_congestion(signal: Signal, at: &CongestionEvent);
        mut on_recovered(window: f64);
        mut on_timeout(at: &CongestionEvent, again: bool);
        mut window_and_threshold() -> Option<[&mut f64; 2]>;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.marks.heard(feedback);
    }

    fn on_ack(&mut self, sample: &RateSample<'_>) {
        let marked = self.marks.count(sample);
        if self.marks.round_over(sample.una) {
            self.marks.next_round(sample.sent);
        }
        if marked > 0 && !sample.recovering && self.marks.may_cut(sample.una, sample.sent) {
            self.window.cut_to(self.cwnd() * (1.0 - self.marks.alpha / 2.0));
        }
        let segments = sample.segments.saturating_sub(marked);
        self.window.on_ack(&RateSample { segments, ..*sample });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use tidegate_core::packet::Ext;
    use tidegate_core::units::Time;
    use tidegate_model::profile::Profile;

    use super::*;

    /// An acknowledgement of `segments` more with the counter after `marks` marks.
    pub(crate) fn acknowledge(
        control: &mut impl Control,
        una: u64,
        segments: u32,
        marks: u8,
        srtt: Time,
    ) {
        let (now, ext) = (Time::from_ms(una), Ext::None);
        let flags = Flags::ACK.with(counted(marks));
        control.on_feedback(&Feedback { ext: &ext, now, srtt, new: true, flags });
        let of_one = RateSample::of_one(now, srtt, una, una + 100);
        control.on_ack(&RateSample { segments, delivered: segments, ..of_one });
    }

    /// RFC 9768, 3.2.2.3, by hand: the counter starts at 5; after three marks it is 0.
    #[test]
    fn the_counter_has_three_bits() {
        assert_eq!(counted(0), Flags::AE.with(Flags::ECE));
        assert_eq!(counted(2), Flags::AE.with(Flags::CWR).with(Flags::ECE));
        assert_eq!(counted(3), Flags::NONE);
        for marks in 0..=255 {
            assert_eq!(counter(counted(marks)), (marks.wrapping_add(5)) & 7);
        }
    }

    /// RFC 8257, 3.3, by hand: alpha is 1 at first, and 15/16 after a round trip without marks. A
    /// mark then cuts the window by 15/32, once. Two marks on 101 packets make alpha
    /// 15/16 * 15/16 + 2/101/16.
    #[test]
    fn the_window_falls_by_the_share_of_marks() {
        let mut tcp = Profile::Rfc.tcp();
        (tcp.initial_window, tcp.initial_ssthresh) = (100, 100);
        let mut dctcp = Dctcp::new(&tcp);
        let srtt = Time::from_ms(1);
        acknowledge(&mut dctcp, 1, 1, 0, srtt);
        assert!((dctcp.marks.alpha - 0.9375).abs() < 1e-12, "{}", dctcp.marks.alpha);
        for una in 2..=100 {
            acknowledge(&mut dctcp, una, 1, 0, srtt);
        }
        let before = dctcp.cwnd();
        acknowledge(&mut dctcp, 101, 1, 5, srtt);
        // of 100 packets only one mark can be on the one acknowledged last
        assert_eq!(dctcp.marks.marked, 1);
        assert!((dctcp.cwnd() - before * (1.0 - 0.9375 / 2.0)).abs() < 1e-9);
        let cut = dctcp.cwnd();
        acknowledge(&mut dctcp, 102, 1, 6, srtt);
        assert!(dctcp.cwnd() <= cut, "one cut a round trip, and no growth by a marked packet");
        assert!((dctcp.marks.alpha - (0.9375 * 0.9375 + 2.0 / 101.0 / 16.0)).abs() < 1e-9);
    }
}

//! The controls of s2n-quic-core.

use std::collections::BTreeMap;
use std::time::Duration;

use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::bbr::BbrCongestionController;
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, CubicCongestionController, RttEstimator};
use s2n_quic_core::time::Timestamp;
use s2n_quic_core::time::clock::{Clock, NoopClock};
use tidegate_core::units::Time;

use super::theirs::{News, Packet, Standing, Theirs};
use crate::draws::Draws;

/// CUBIC (RFC 8312) with hybrid slow start, paced.
pub(super) fn cubic(mtu: u16, seed: u64) -> impl Theirs {
    S2n::new(CubicCongestionController::new(mtu, Default::default()), mtu, seed)
}

/// BBR, version 2.
pub(super) fn bbr2(mtu: u16, seed: u64) -> impl Theirs {
    S2n::new(BbrCongestionController::new(mtu, Default::default()), mtu, seed)
}

struct S2n<C: CongestionController> {
    control: C,
    mtu: u16,
    rtt: RttEstimator,
    draws: Random,
    /// What it wants to know again of each packet under way.
    infos: BTreeMap<u64, C::PacketInfo>,
}

impl<C: CongestionController> S2n<C> {
    fn new(control: C, mtu: u16, seed: u64) -> S2n<C> {
        let draws = Random(Draws::new(seed));
        S2n { control, mtu, rtt: RttEstimator::default(), draws, infos: BTreeMap::new() }
    }

    fn measure(&mut self, rtt: Time, now: Time) {
        let space = PacketNumberSpace::ApplicationData;
        self.rtt.update_rtt(Duration::ZERO, duration(rtt), timestamp(now), true, space);
    }
}

/// The earliest instant that it knows stands for the start of the run.
fn timestamp(now: Time) -> Timestamp {
    NoopClock.get_time() + duration(now)
}

fn duration(time: Time) -> Duration {
    Duration::from_nanos(time.ps() / 1_000)
}

impl<C: CongestionController> Theirs for S2n<C> {
    fn on_handshake(&mut self, rtt: Time, now: Time) {
        self.measure(rtt, now);
    }

    fn on_sent(&mut self, packet: &Packet, limited: bool) {
        let (sent, size) = (timestamp(packet.sent), usize::from(self.mtu));
        let info = self.control.on_packet_sent(sent, size, Some(limited), &self.rtt, &mut Silent);
        self.infos.insert(packet.number, info);
    }

    /// As `Manager::process_acks` of s2n-quic-transport has it: losses and marks come first.
    fn on_news(&mut self, news: &News<'_>, at: &Standing) {
        let Some(newest) = news.arrived.last() else { return };
        if let Some(rtt) = at.rtt {
            self.measure(rtt, at.now);
            let (sent, now) = (timestamp(newest.sent), timestamp(at.now));
            self.control.on_rtt_update(sent, now, &self.rtt, &mut Silent);
        }
        self.on_lost(news.lost, at.now, news.persistent);
        if news.marks > 0 {
            self.on_marks(newest, news.marks, at.now);
        }
        self.on_acked(news.arrived, at);
    }

    fn on_acked(&mut self, packets: &[Packet], at: &Standing) {
        let Some(newest) = packets.last() else { return };
        let (sent, now) = (timestamp(newest.sent), timestamp(at.now));
        let mut last = None;
        for packet in packets {
            last = self.infos.remove(&packet.number).or(last);
        }
        let Some(info) = last else { return };
        let bytes = packets.len() * usize::from(self.mtu);
        let (rtt, draws) = (&self.rtt, &mut self.draws);
        self.control.on_ack(sent, bytes, info, rtt, draws, now, &mut Silent);
    }

    fn on_lost(&mut self, packets: &[Packet], now: Time, persistent: bool) {
        let mut last = None;
        for packet in packets {
            let Some(info) = self.infos.remove(&packet.number) else { continue };
            let burst = last.is_none_or(|before| packet.number != before + 1);
            last = Some(packet.number);
            let (now, draws) = (timestamp(now), &mut self.draws);
            let size = u32::from(self.mtu);
            self.control.on_packet_lost(size, info, persistent, burst, draws, now, &mut Silent);
        }
    }

    fn on_marks(&mut self, _: &Packet, marks: u32, now: Time) {
        self.control.on_explicit_congestion(marks.into(), timestamp(now), &mut Silent);
    }

    fn on_discarded(&mut self) {
        self.control.on_packet_discarded(usize::from(self.mtu), &mut Silent);
    }

    fn window(&self) -> u64 {
        self.control.congestion_window().into()
    }

    fn ssthresh(&self) -> Option<u64> {
        None
    }

    fn departure(&self) -> Option<Time> {
        let due = self.control.earliest_departure_time();
        let since =
            due.map_or(Duration::ZERO, |due| due.saturating_duration_since(timestamp(Time::ZERO)));
        Some(Time::from_ns(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX / 1_000)))
    }

    fn is_urgent(&self) -> bool {
        self.control.requires_fast_retransmission()
    }
}

/// Random numbers from the seed.
struct Random(Draws);

impl random::Generator for Random {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

/// Nobody listens to its events.
struct Silent;

impl Publisher for Silent {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}

    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}

    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}

    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

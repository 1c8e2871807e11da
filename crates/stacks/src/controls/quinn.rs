//! The controls of quinn-proto.

use std::sync::Arc;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use tidegate_core::units::Time;

use super::theirs::{Packet, Standing, Theirs};
use crate::quinn::{Estimator, instant};

/// CUBIC (RFC 8312).
pub(super) fn cubic(mtu: u16, seed: u64) -> impl Theirs {
    Quinn::new(CubicConfig::default(), mtu, seed)
}

/// NewReno (RFC 9002, 7).
pub(super) fn new_reno(mtu: u16, seed: u64) -> impl Theirs {
    Quinn::new(NewRenoConfig::default(), mtu, seed)
}

struct Quinn {
    control: Box<dyn Controller>,
    size: u64,
    seed: u64,
    /// The estimator of the round trip, and what the control is given of it; made with the first
    /// sample.
    estimator: Option<Estimator>,
    rtt: Option<RttEstimator>,
}

impl Quinn {
    fn new(config: impl ControllerFactory, mtu: u16, seed: u64) -> Quinn {
        let control = Arc::new(config).build(instant(Time::ZERO), mtu);
        Quinn { control, size: mtu.into(), seed, estimator: None, rtt: None }
    }

    fn measure(&mut self, rtt: Time) {
        let seed = self.seed;
        let estimator = self.estimator.get_or_insert_with(|| Estimator::new(rtt, seed));
        self.rtt = estimator.measure(rtt).or(self.rtt);
    }
}

impl Theirs for Quinn {
    fn on_handshake(&mut self, rtt: Time, _: Time) {
        self.measure(rtt);
    }

    fn on_sent(&mut self, packet: &Packet, _: bool) {
        self.control.on_sent(instant(packet.sent), self.size, packet.number);
    }

    fn on_acked(&mut self, packets: &[Packet], at: &Standing) {
        at.rtt.into_iter().for_each(|rtt| self.measure(rtt));
        let (Some(rtt), Some(newest)) = (&self.rtt, packets.last()) else { return };
        let now = instant(at.now);
        for packet in packets {
            self.control.on_ack(now, instant(packet.sent), self.size, at.limited, rtt);
        }
        self.control.on_end_acks(now, at.in_flight, at.limited, Some(newest.number));
    }

    fn on_lost(&mut self, packets: &[Packet], now: Time, persistent: bool) {
        let Some(newest) = packets.last() else { return };
        let lost = packets.len() as u64 * self.size;
        self.control.on_congestion_event(instant(now), instant(newest.sent), persistent, lost);
    }

    fn on_marks(&mut self, newest: &Packet, _: u32, now: Time) {
        self.control.on_congestion_event(instant(now), instant(newest.sent), false, 0);
    }

    fn window(&self) -> u64 {
        self.control.window()
    }

    fn ssthresh(&self) -> Option<u64> {
        self.control.metrics().ssthresh
    }

    fn rate(&self) -> Option<u64> {
        Some(self.control.metrics().pacing_rate? / 8)
    }
}

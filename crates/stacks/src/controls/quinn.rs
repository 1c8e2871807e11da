//! The controls of quinn-proto.

#[path = "estimated.rs"]
mod estimated;

use quinn_proto as proto;
use tidegate_core::units::Time;

use super::theirs::{Packet, Standing, Theirs};
use crate::quinn as stack;
use estimated::Estimated;
pub(super) use estimated::{cubic, new_reno};
use stack::instant;

impl Theirs for Estimated {
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

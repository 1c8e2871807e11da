//! The controls of noq-proto.

#[path = "estimated.rs"]
mod estimated;

use noq_proto as proto;
use tidegate_core::units::Time;

use super::theirs::{Packet, Standing, Theirs};
use crate::noq as stack;
use estimated::Estimated;
pub(super) use estimated::{cubic, new_reno};
use stack::instant;

impl Theirs for Estimated {
    fn on_handshake(&mut self, rtt: Time, _: Time) {
        self.measure(rtt);
    }

    fn on_sent(&mut self, packet: &Packet, _: bool) {
        let now = instant(packet.sent);
        self.control.on_packet_sent(now, self.size as u16, packet.number);
        self.control.on_sent(now, self.size, packet.number);
    }

    fn on_acked(&mut self, packets: &[Packet], at: &Standing) {
        at.rtt.into_iter().for_each(|rtt| self.measure(rtt));
        let (Some(rtt), Some(newest)) = (&self.rtt, packets.last()) else { return };
        let now = instant(at.now);
        for packet in packets {
            let (sent, number) = (instant(packet.sent), packet.number);
            self.control.on_ack(now, sent, self.size, number, at.limited, rtt);
        }
        self.control.on_end_acks(now, at.in_flight, at.limited, Some(newest.number));
    }

    fn on_lost(&mut self, packets: &[Packet], now: Time, persistent: bool) {
        let Some(newest) = packets.last() else { return };
        let (now, lost) = (instant(now), packets.len() as u64 * self.size);
        for packet in packets {
            self.control.on_packet_lost(self.size as u16, packet.number, now);
        }
        let (sent, number) = (instant(newest.sent), newest.number);
        self.control.on_congestion_event(now, sent, persistent, false, lost, number);
    }

    fn on_marks(&mut self, newest: &Packet, _: u32, now: Time) {
        let (sent, number) = (instant(newest.sent), newest.number);
        self.control.on_congestion_event(instant(now), sent, false, true, 0, number);
    }

    fn on_spurious(&mut self) {
        self.control.on_spurious_congestion_event();
    }

    fn on_full(&mut self) {
        self.control.on_cwnd_limited();
    }

    fn window(&self) -> u64 {
        self.control.window()
    }

    fn ssthresh(&self) -> Option<u64> {
        self.control.metrics().ssthresh
    }

    fn rate(&self) -> Option<u64> {
        self.control.metrics().pacing_rate
    }
}

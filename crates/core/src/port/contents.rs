//! The packets that are in a port, and what its gate has counted, for measurements.

use super::Port;
use super::stage::Stage;
use crate::law::session::Counts;
use crate::packet::Packet;

impl<C> Port<C> {
    /// What the gate has counted so far; none: there is no gate.
    pub fn gate_counts(&self) -> Option<&Counts> {
        self.staged.as_ref()?.stages.gate.as_ref().map(Stage::counts)
    }
}

impl<C: Default> Port<C> {
    /// The waiting packets (call [`Port::advance`] first).
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        let staged = self.staged.iter().flat_map(|staged| staged.waiting.all_packets());
        self.ring.all_waiting().chain(staged)
    }

    /// The packets that wait or are in transmission or propagation.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        let on_link = self.staged.iter().flat_map(|staged| staged.on_link());
        self.ring.all_in_flight().chain(on_link).chain(self.waiting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Limit;
    use crate::units::{Rate, Time};

    /// 1500 B take 12 ms at 1 Mbit/s: of three that come at once one is in
    /// transmission and two wait; when the first has left, one waits, and the
    /// first is under way for 20 ms more.
    #[test]
    fn what_waits_and_what_is_under_way_are_told_apart() {
        let rate = Rate::from_bps(1_000_000);
        let mut port: Port = Port::new(0, rate, Time::from_ms(20), Limit::Packets(10));
        let mut packet = Packet { size: 1500, ..Packet::default() };
        for seq in 0..3 {
            packet.seq = seq;
            port.arrive(&packet, (), Time::ZERO);
        }
        let numbers = |packets: &mut dyn Iterator<Item = &Packet>| -> Vec<u32> {
            packets.map(|packet| packet.seq).collect()
        };
        assert_eq!(numbers(&mut port.waiting()), [1, 2]);
        port.advance(Time::from_ms(12));
        assert_eq!(numbers(&mut port.waiting()), [2]);
        assert_eq!(numbers(&mut port.held()), [0, 1, 2]);
    }
}

//! Which packets of UDP have arrived, so that one that a link delivers twice counts once.
//!
//! A receiver knows a copy by its number, as that of RTP does (RFC 3550, 5.1).

use std::collections::BTreeMap;

use tidegate_core::packet::Packet;

use super::super::ranges::Ranges;

/// The numbers that have arrived, of each flow.
#[derive(Clone, Default)]
pub(super) struct Copies(BTreeMap<u32, Ranges>);

/// A flow remembers so many ranges of numbers. What lies between the first of them was lost long
/// ago: were it to arrive yet, it would count as a copy.
const RANGES: usize = 4096;
/// Numbers begin anew after the last one of 32 bits.
const LAP: u32 = 1 << 31;

impl Copies {
    /// Whether this packet has arrived before; it has now.
    pub(super) fn has(&mut self, packet: &Packet) -> bool {
        let ranges = self.0.entry(packet.flow).or_default();
        if ranges.last().is_some_and(|(_, end)| end.saturating_sub(packet.seq) > LAP) {
            *ranges = Ranges::default();
        }
        let new = ranges.insert(packet.seq, packet.seq.saturating_add(1));
        ranges.keep(RANGES);
        !new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers 0, 1, 3, 1, 3 and 2 of one flow, and 1 of another: the second 1 and 3 are copies.
    #[test]
    fn the_second_of_a_number_is_a_copy() {
        let mut copies = Copies::default();
        let mut has = |flow, seq| copies.has(&Packet { flow, seq, ..Packet::default() });
        let one = [0, 1, 3, 1, 3, 2].map(|seq| has(7, seq));
        assert_eq!(one, [false, false, false, true, true, false]);
        assert!(!has(8, 1));
    }
}

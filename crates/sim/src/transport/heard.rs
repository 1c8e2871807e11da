//! What controls hear of single segments, for those that ask for more than counts.

use super::control::{Lost, SentOutcome};

/// What a control has not heard of yet.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Segments marked lost; none: it does not ask.
    pub(super) lost: Option<Vec<Lost>>,
    /// What has become of packets; none: it does not ask.
    pub(super) outcomes: Option<Vec<SentOutcome>>,
    /// Packets that have left.
    packets: u32,
}

impl Heard {
    /// The number of the next packet.
    pub(super) fn number(&mut self) -> u32 {
        self.packets += 1;
        self.packets - 1
    }

    /// A segment is marked lost that was sent last by this packet.
    pub(super) fn lose(&mut self, lost: Lost, packet: u32) {
        self.lost.iter_mut().for_each(|list| list.push(lost));
        self.outcomes.iter_mut().for_each(|list| list.push(SentOutcome::Lost(packet)));
    }

    /// A segment has arrived that was sent last by this packet; `earlier`: another one brought it.
    pub(super) fn arrive(&mut self, packet: u32, earlier: bool) {
        let outcome =
            if earlier { SentOutcome::Earlier(packet) } else { SentOutcome::Arrived(packet) };
        self.outcomes.iter_mut().for_each(|list| list.push(outcome));
    }
}
